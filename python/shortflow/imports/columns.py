"""Columns of numbers in a file: vectorised over up to a million rows, with errors that name the line."""

import csv
import math
import re
from collections.abc import Mapping, Sequence

from shortflow.errors import ConfigError
from shortflow.imports.files import MOST, SEMICOLON, File
from shortflow.lazy import pl

LINE = "line"
"""Column with the line number of a row."""
_BLANKS = re.compile(r"[ \t]+")


def rows(file: File, first: int, names: Sequence[str], separator: str | None = None) -> "pl.DataFrame":
    """Rows from line `first` on, as texts with their line numbers.

    Without a separator, any run of blanks and tabs separates fields, and surplus fields are dropped. With a separator,
    fields may be in quotes, and a row with more fields than names raises `ConfigError`. Missing fields are null. Empty
    lines and comments are left out.
    """
    lines = pl.DataFrame({"text": file.text.split("\n")}).with_row_index(LINE, offset=1).slice(first - 1)
    text = pl.col("text").str.strip_chars()
    comments = "#%" if separator == SEMICOLON else "#%;"
    lines = lines.with_columns(text).filter(text.str.contains(f"^[^{comments}]"))
    if separator is not None:
        lines = lines.filter(text.str.contains(f'[^{re.escape(separator)}" \\t]'))  # drop rows of empty cells
    if separator is None:
        lines = lines.with_columns(pl.col("text").str.replace_all(r"[ \t]+", " "))
    elif lines["text"].str.contains('"', literal=True).any():
        return _quoted(file, lines, names, separator)
    else:
        signs = pl.col("text").str.strip_chars_end(separator + " ").str.count_matches(separator, literal=True)
        surplus = lines.filter(signs >= len(names))
        if surplus.height:
            raise _too_many(file, surplus.row(0, named=True), names)
    fields = pl.col("text").str.split_exact(separator or " ", len(names) - 1).struct.rename_fields(list(names))
    found = lines.select(LINE, fields.alias("fields")).unnest("fields")
    return found.with_columns(pl.col(name).str.strip_chars() for name in names)


def _quoted(file: File, lines: "pl.DataFrame", names: Sequence[str], separator: str) -> "pl.DataFrame":
    """Rows whose fields may be in quotes."""
    found: list[list[str | None]] = []
    for number, text in lines.iter_rows():
        try:
            row = next(csv.reader([text], delimiter=separator, skipinitialspace=True), [])
        except csv.Error as error:
            raise file.wrong(number, "row", text, f"fields separated by {separator!r}: {error}") from error
        fields = [field.strip() for field in row]
        while len(fields) > len(names) and not fields[-1]:
            fields.pop()
        if len(fields) > len(names):
            raise _too_many(file, {LINE: number, "text": text}, names)
        found.append([*fields, *[None] * (len(names) - len(fields))])
    table = pl.DataFrame(found, schema=dict.fromkeys(names, pl.String), orient="row")
    return lines.select(LINE).hstack(table)


def _too_many(file: File, row: Mapping[str, object], names: Sequence[str]) -> ConfigError:
    return file.wrong(int(str(row[LINE])), "row", row["text"], f"{len(names)} fields, as in the header")


def numbers(
    file: File,
    table: "pl.DataFrame",
    name: str,
    expected: str,
    least: float = 0,
    *,
    is_whole: bool = False,
    field: str = "",
) -> "pl.Series":
    """A column as numbers from `least` to `MOST`. A `ConfigError` names the first line with another value.

    `field` is the column's name in errors.
    """
    found = table[name].cast(pl.Float64, strict=False)
    right = found.is_between(least, MOST)
    if is_whole:
        right &= found == found.floor()
    check(file, table, name, right, expected, field)
    return found.cast(pl.Int64) if is_whole else found


def check(file: File, table: "pl.DataFrame", name: str, right: "pl.Series", expected: str, field: str = "") -> None:
    """Raises a `ConfigError` that names the first row for which `right` is not true."""
    wrong = (~right.fill_null(False)).arg_true()
    if len(wrong):
        row = table.row(int(wrong[0]), named=True)
        value = row[name]
        raise file.wrong(row[LINE], field or name, "" if value is None else value, expected)


def fields(line: str) -> list[str]:
    """Fields of a line that blanks separate."""
    return _BLANKS.split(line.strip())


def is_number(text: str) -> bool:
    """True for a finite number, whole or not."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def is_whole(text: str) -> bool:
    """True for a text of digits only."""
    return text.isascii() and text.isdigit()


def empty(file: File, what: str) -> ConfigError:
    """The error about a file without data."""
    return ConfigError(f"{file.path}: is empty; expected {what}")
