"""Numbers expected of a scenario before any run, by arithmetic, and the suspects of a measured number outside them."""
