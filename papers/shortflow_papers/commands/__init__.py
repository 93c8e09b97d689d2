"""Commands that this package adds to `shortflow`."""
