"""Tables of a run: the columns that the core declares, and their types."""

import numpy  # noqa: F401  # imported before polars does so from Rust, where Ctrl-C becomes a panic
import polars as pl

from shortflow import _core

KINDS = {"text": pl.String(), "real": pl.Float64(), "count": pl.UInt64(), "small": pl.UInt32(), "flag": pl.Boolean()}
"""Polars type of each kind of column that the core declares."""
_DECLARED = dict(_core.columns())
TABLES = {table: {name: KINDS[kind] for name, kind, _, _ in columns} for table, columns in _DECLARED.items()}
"""Columns and types of each table of a run. Columns that name the run are not included."""
OPTIONAL = {table: {name for name, _, optional, _ in columns if optional} for table, columns in _DECLARED.items()}
"""Columns of each table that may have null values."""
ABOUT = {table: {name: about for name, _, _, about in columns} for table, columns in _DECLARED.items()}
"""Meaning of each column."""


def check_columns(name: str, table: pl.DataFrame) -> None:
    """Raises `ValueError` for a missing column, a wrong type, or a null in a column that must have values."""
    wanted, found = TABLES[name], table.schema
    if missing := sorted(wanted.keys() - found.keys()):
        raise ValueError(f"has no {', '.join(missing)}, or was written by another version")
    for column, dtype in wanted.items():
        if found[column] != dtype:
            raise ValueError(f"{column}: found {found[column]} in place of {dtype}, or was written by another version")
        if column not in OPTIONAL[name] and (empty := table[column].null_count()):
            raise ValueError(
                f"{column}: {empty:,} of {table.height:,} rows have no value; expected a value in each row"
            )
