"""Data frames that users give, as Polars has them."""

from pathlib import Path
from typing import TypeAlias

from shortflow.lazy import pd, pl

FrameSource: TypeAlias = "str | Path | pl.DataFrame | pd.DataFrame"
"""A file, or a data frame in Python."""


def as_polars(source: object) -> "pl.DataFrame | None":
    """A frame of Polars as it is, one of pandas converted; None for anything else."""
    if isinstance(source, pl.DataFrame):
        return source
    try:
        found = pl.from_pandas(source)
    except (TypeError, ValueError, ModuleNotFoundError):
        return None
    return found if isinstance(found, pl.DataFrame) else None
