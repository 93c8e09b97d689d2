"""The judge of all questions: estimates, verdicts by bands, and comparisons with the best of several."""
