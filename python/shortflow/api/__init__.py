"""Public names for packages that build on Shortflow, beside those of `shortflow`: papers, and commands of their own."""
