"""Runs over a grid: ordering, plots, and views for page and terminal."""
