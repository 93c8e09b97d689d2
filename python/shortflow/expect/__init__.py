"""Numbers to expect of a scenario, by arithmetic, and likely causes of a measured number that differs."""
