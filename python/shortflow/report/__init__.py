"""Output for people: terminal tables, plots and pages."""
