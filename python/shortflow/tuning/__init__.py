"""Tunes a scheme's parameters for a goal: a search on common seeds, then a check on fresh ones."""
