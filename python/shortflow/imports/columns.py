"""Columns of numbers in a file: a million rows at once, and errors that name the line."""

import re
from collections.abc import Sequence

from shortflow.errors import ConfigError
from shortflow.imports.files import File
from shortflow.lazy import pl

LINE = "line"
"""Column with the number of a row's line."""
_BLANKS = re.compile(r"[ \t]+")


def rows(
    file: File, first: int, names: Sequence[str], count: int | None = None, separator: str | None = None
) -> "pl.DataFrame":
    """Rows as texts, with their lines, from line `first` on: `count` of them, or all.

    Without a separator, any run of blanks and tabs separates. Rows may have more fields than names, not fewer. Empty
    lines and comments are left out.
    """
    lines = pl.DataFrame({"text": file.text.split("\n")}).with_row_index(LINE, offset=1).slice(first - 1)
    text = pl.col("text").str.strip_chars()
    lines = lines.with_columns(text).filter(text.str.contains(r"^[^#%;]"))
    lines = lines.head(count) if count is not None else lines
    if count is not None and lines.height < count:
        raise file.wrong(0, "number of rows", lines.height, f"the {count:,} of the first line")
    if separator is None:
        lines = lines.with_columns(pl.col("text").str.replace_all(r"[ \t]+", " "))
    fields = pl.col("text").str.split_exact(separator or " ", len(names) - 1).struct.rename_fields(list(names))
    found = lines.select(LINE, fields.alias("fields")).unnest("fields")
    return found.with_columns(pl.col(name).str.strip_chars() for name in names)


def numbers(
    file: File, table: "pl.DataFrame", name: str, expected: str, least: float = 0, *, is_whole: bool = False
) -> "pl.Series":
    """A column as numbers of at least `least`. A `ConfigError` names the first line with another value."""
    found = table[name].cast(pl.Float64, strict=False)
    right = found.is_finite() & (found >= least)
    if is_whole:
        right &= found == found.floor()
    check(file, table, name, right, expected)
    return found.cast(pl.Int64) if is_whole else found


def check(file: File, table: "pl.DataFrame", name: str, right: "pl.Series", expected: str) -> None:
    """Raises a `ConfigError` for the first row that is not right."""
    wrong = (~right.fill_null(False)).arg_true()
    if len(wrong):
        row = table.row(int(wrong[0]), named=True)
        value = row[name]
        raise file.wrong(row[LINE], name, "" if value is None else value, expected)


def fields(line: str) -> list[str]:
    """Fields of a line between blanks."""
    return _BLANKS.split(line.strip())


def is_whole(text: str) -> bool:
    """True for digits alone."""
    return text.isascii() and text.isdigit()


def empty(file: File, what: str) -> ConfigError:
    """The error for a file without data."""
    return ConfigError(f"{file.path}: is empty; expected {what}")
