"""Runs the papers' recipes: a verdict for every claim, and the report."""
