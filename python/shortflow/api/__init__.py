"""Public names for packages that build on Shortflow, in addition to the names of `shortflow`."""
