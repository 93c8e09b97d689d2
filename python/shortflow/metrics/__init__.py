"""Metrics of runs, and statistics over seeds."""
