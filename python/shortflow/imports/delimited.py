"""Rows of numbers in a text, separated by commas, semicolons, tabs, bars, colons or blanks."""

import csv
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from shortflow.imports.comments import commented, grouped
from shortflow.imports.files import File
from shortflow.imports.units import data_amount
from shortflow.quantities import counted

_CERTAIN = (";", "|", "\t")
_WRAPPERS = "\"'[](){} \t"
"""Characters around fields, as in lists of programming languages."""
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?%?")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_MILLIONS = re.compile(r"\d{1,3}(?:\.\d{3}){2,}")
_GROUPS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
"""Thousands separated by commas, unless another field of the file has a decimal comma."""
_BLANKS = re.compile(r"[ \u00a0\u202f'’]")
_SPACED = re.compile(rf"[1-9]\d{{0,2}}(?:{_BLANKS.pattern}\d{{3}})+(?:[.,]\d+)?")
"""Thousands separated by blanks or apostrophes."""
_UNSURE = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_POINT = re.compile(r"(?:0?|\d{4,})\.\d+%?|\d+\.(?:\d{0,2}|\d{4,})%?|\d[\d.]*e[-+]?\d+", re.IGNORECASE)
"""Numbers whose point is certainly a decimal point."""
_BLANK_UNIT = re.compile(r"(?<![\w.,])(\d[\d.,]*) +(?=(?:[KMGT]i?)?(?:B|bytes?)\b)", re.IGNORECASE)
"""The blank between a number and its unit of bytes, which separates no fields."""
_REMARK = re.compile(r"\s(?:#|//).*$")
_NAMES = {";": "semicolons", "|": "bars", "\t": "tabs", ",": "commas", ":": "colons", "": "blanks"}
_LOOKED_AT = 200


@dataclass(frozen=True)
class Grid:
    """Fields of a text."""

    header: Sequence[str]
    """Names of the columns. Empty without a header."""
    header_line: int
    lines: Sequence[int]
    """Line number of each row."""
    rows: Sequence[Sequence[str]]
    """Fields of each row. Numbers have decimal points."""
    separator: str
    """The separator. Empty for blanks."""
    has_decimal_comma: bool
    remarks: int = 0
    """Number of lines without a number below the rows."""
    above: int = 0
    """Number of lines without a number above the header."""

    @property
    def width(self) -> int:
        """Largest number of fields in the first rows."""
        return max(map(len, self.rows[:_LOOKED_AT]), default=0)

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns. Empty without a header, or if the words of the header cannot be assigned to columns."""
        if self.width == 1 and self.header:
            return [" ".join(self.header)]
        return self.header if self.separator or len(self.header) == self.width else []

    def name(self, place: int) -> str:
        """Name of a column. The whole header if its words cannot be assigned to columns. Empty without a header."""
        if self.header and not self.names:
            return " ".join(self.header)
        return self.names[place] if place < len(self.names) else ""

    @property
    def about(self) -> str:
        """The separator in words."""
        return f"separated by {_NAMES[self.separator]}" + (", decimal commas" if self.has_decimal_comma else "")


def grid(file: File) -> Grid:
    """The fields of a file. Of the lines without a number before the first row, the last is the header."""
    return _grid(file, list(file.lines()))


def head(file: File) -> Grid:
    """The fields of the first lines of a file."""
    return _grid(file, [(0, line) for line in file.head_lines()[:_LOOKED_AT]])


def _parts(line: str) -> list[str]:
    """Rows of a line. A list such as [[1, 0.5], [2, 1]] has several rows in a line."""
    found = _BLANK_UNIT.sub(r"\1", _REMARK.sub("", line))
    if not found.startswith(("[", "(", "{")):
        return [found]
    return [part for part in re.split(r"[\])}]\s*,?", found) if any(letter.isalnum() for letter in part)] or [found]


def _grid(file: File, several: Sequence[tuple[int, str]]) -> Grid:
    lines = [(number, part) for number, line in several for part in _parts(line)]
    sample = [line for _, line in lines if any(letter.isdigit() for letter in line)][:_LOOKED_AT]
    separator = _separator(sample or [line for _, line in lines])
    split: Iterable[tuple[int, Sequence[str]]] = ((number, _fields(line, separator)) for number, line in lines)
    rows = [(number, row) for number, row in split if any(row)]
    if separator:
        # Without a separator, a blank ends a field, so `1 000` is two fields.
        rows = [
            (number, [_BLANKS.sub("", field) if _SPACED.fullmatch(field) else field for field in row])
            for number, row in rows
        ]
    fields = [field for _, row in rows[:_LOOKED_AT] for field in row]
    with_comma = [field for field in fields if "," in field]
    has_comma = any(_DECIMAL_COMMA.fullmatch(field) and not _GROUPS.fullmatch(field) for field in with_comma)
    has_comma |= any(_MILLIONS.fullmatch(field) for field in fields)
    has_comma |= any(_THOUSANDS.fullmatch(field) for field in with_comma)
    if with_comma or has_comma:
        plain = _with_point if has_comma else _without_commas
        rows = [(number, [plain(field) for field in row]) for number, row in rows]
    first = next((place for place, (_, row) in enumerate(rows) if any(map(is_amount, row))), len(rows))
    line, header = rows[first - 1] if 0 < first <= len(rows) else (0, [])
    end = len(rows)
    while end > first and not any(map(is_amount, rows[end - 1][1])):
        end -= 1
    found = rows[first:end]
    width = max((len(row) for _, row in found[:_LOOKED_AT]), default=0)
    line, header = commented(file.remarks(), width, separator) if not header else (line, header)
    if not separator:
        header = grouped(header, width)
    return Grid(
        header,
        line,
        [number for number, _ in found],
        [row for _, row in found],
        separator,
        has_comma,
        remarks=len(rows) - end,
        above=max(first - 1, 0),
    )


def _separator(lines: Sequence[str]) -> str:
    """The sign that separates fields; empty for blanks."""

    def separates(sign: str) -> bool:
        return len(lines) > 0 and sum(sign in line for line in lines) > 0.8 * len(lines)

    certain = next((sign for sign in _CERTAIN if separates(sign)), None)
    if certain:
        return certain
    if separates(","):
        # If no comma is at the end of a word, commas are within numbers, such as decimal commas.
        tokens = [line.split() for line in lines]
        blanks = all(len(row) > 1 and not any(token.endswith(",") for token in row[:-1]) for row in tokens)
        return "" if blanks else ","
    return ":" if separates(":") else ""


def _fields(line: str, separator: str) -> list[str]:
    if separator and '"' in line:
        parts = next(csv.reader([line.rstrip(",")], delimiter=separator, skipinitialspace=True), [])
    else:
        parts = line.rstrip(",").split(separator or None)
    found = [_bare(part) for part in parts]
    while found and not found[-1] and separator:  # a separator at the end of the line
        found.pop()
    return found


def _bare(part: str) -> str:
    """A field without the characters around it. Brackets inside a field, as in `size (KB)`, stay."""
    text = part.strip("\"' \t")
    is_inside = any(text.count(a) == text.count(b) > 0 for a, b in ("()", "[]", "{}"))
    return text if is_inside and text[:1].isalnum() else text.strip(_WRAPPERS)


def _with_point(field: str) -> str:
    plain = field.replace(".", "") if _THOUSANDS.fullmatch(field) else field
    return plain.replace(",", ".") if _DECIMAL_COMMA.fullmatch(plain) else plain


def _without_commas(field: str) -> str:
    return field.replace(",", "") if _GROUPS.fullmatch(field) else field


def squared(file: File, found: Grid, lines: Sequence[int], rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Rows of equal width, padded with empty fields.

    The width is that of the header, or of the first row without a header. A `ConfigError` names a row of another width.
    """
    width = len(found.names) or len(rows[0])
    for line, row in zip(lines, rows, strict=True):
        if len(row) > width or (not found.names and len(row) < width):
            expected = "the header" if found.names else "the rows before"
            raise file.wrong(line, "row", (found.separator or " ").join(row), f"{width} fields, as in {expected}")
    return [[*row, *[""] * (width - len(row))] for row in rows]


def not_read(found: Grid, taken: Collection[int]) -> list[str]:
    """Sentences on data that a distribution cannot have: other columns, lines above the header or below the rows."""
    sentences = []
    if found.above:
        sentences.append(f"{counted(found.above, 'line')} above the header.")
    others = [name for place, name in enumerate(found.names) if name and place not in taken]
    if others:
        noun = "Columns" if len(others) > 1 else "Column"
        sentences.append(f"{noun} {', '.join(others)}. A distribution has only sizes.")
    if found.remarks:
        sentences.append(f"{counted(found.remarks, 'line')} of remarks after the rows.")
    return sentences


def check_points(file: File, found: Grid, place: int) -> None:
    """Raises `ConfigError` for sizes such as 1.000 if no number of the file shows whether points separate thousands."""
    if found.has_decimal_comma or any(_POINT.fullmatch(field) for row in found.rows for field in row):
        return
    for line, row in zip(found.lines, found.rows, strict=True):
        if place < len(row) and _UNSURE.fullmatch(row[place]):
            text = row[place]
            expected = f"{text.replace('.', '')} or {text}0, as no number tells whether points separate thousands"
            raise file.wrong(line, "size", text, f"{expected} or decimals")


def is_amount(text: str) -> bool:
    """True for a number alone, with a unit of data, or in per cent."""
    return number(text) is not None


def number(text: str) -> float | None:
    """The number in a field, in bytes if the field has a unit of data. Per cent stay per cent. None for other texts.

    A unit that may mean bits or bytes counts as bytes here, and so does a prefix alone, such as `3K`. `sizes.in_bytes`
    refuses both.
    """
    try:
        return float(text.removesuffix("%"))
    except ValueError:
        found = data_amount(text) or data_amount(f"{text}B")
    return found[0] * (found[1].size or 1.0) if found else None


def shared(file: File, line: int, field: str, text: str) -> float:
    """The number in a field of shares or counts. Per cent stay per cent. Raises `ConfigError` below 0."""
    try:
        found = float(text.removesuffix("%"))
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise file.wrong(line, field, text, "a number from 0 on")
    return found
