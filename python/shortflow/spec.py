"""Scenarios as typed values: a class for each table and kind, with the keys that files have.

They are made when this is imported, from the core's declarations; `spec.pyi`, which `make setup` writes, is for
editors and type checkers.
"""

from shortflow.declared import classes

globals().update(classes())
