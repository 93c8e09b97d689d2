"""The parameters of a scheme that serve a goal best: searched with common seeds, then checked on fresh ones."""
