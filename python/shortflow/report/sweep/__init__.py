"""Runs over a grid: put in order, drawn, and shown on the page and in the terminal."""
