"""Tables of a run: the columns that the core declares, and their types."""

import numpy  # noqa: F401  # polars would import it in Rust, where Ctrl-C is a panic
import polars as pl

from shortflow import _core

KINDS = {"text": pl.String(), "real": pl.Float64(), "count": pl.UInt64(), "small": pl.UInt32(), "flag": pl.Boolean()}
"""Types of columns in Polars, by the kinds of the core."""
_DECLARED = dict(_core.columns())
TABLES = {table: {name: KINDS[kind] for name, kind, _, _ in columns} for table, columns in _DECLARED.items()}
"""Tables of a run by name, with their columns except those that name the run."""
OPTIONAL = {table: {name for name, _, optional, _ in columns if optional} for table, columns in _DECLARED.items()}
"""Columns in which rows may have no value."""
ABOUT = {table: {name: about for name, _, _, about in columns} for table, columns in _DECLARED.items()}
"""Meaning of each column."""


def check_columns(name: str, table: pl.DataFrame) -> None:
    """Raises `ValueError` for a missing column or a wrong type."""
    wanted, found = TABLES[name], table.schema
    if missing := sorted(wanted.keys() - found.keys()):
        raise ValueError(f"without {', '.join(missing)}, or written by another version")
    for column, dtype in wanted.items():
        if found[column] != dtype:
            raise ValueError(f"{column}: found {found[column]} in place of {dtype}, or written by another version")
        if column not in OPTIONAL[name] and table[column].null_count():
            raise ValueError(f"{column}: rows without one")
