"""Typed scenarios: a class for each table and kind, with the keys of scenario files.

The classes are generated at import from the core's declarations. `spec.pyi`, written by `make setup`, serves editors
and type checkers.
"""

from shortflow.declared import classes

globals().update(classes())
