"""The numbers that runs are judged by, and the statistics over seeds."""
