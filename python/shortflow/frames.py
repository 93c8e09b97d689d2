"""Data frames from users, converted to Polars."""

from pathlib import Path
from typing import TypeAlias

from shortflow.lazy import pd, pl

FrameSource: TypeAlias = "str | Path | pl.DataFrame | pd.DataFrame"
"""A file, or a data frame in Python."""


def as_polars(source: object) -> "pl.DataFrame | None":
    """A Polars frame unchanged, or a pandas frame converted. None for any other object."""
    if isinstance(source, pl.DataFrame):
        return source
    try:
        found = pl.from_pandas(source)
    except (TypeError, ValueError, ModuleNotFoundError):
        return None
    return found if isinstance(found, pl.DataFrame) else None
