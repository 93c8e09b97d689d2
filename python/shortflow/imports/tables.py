"""Errors about tables whose columns no format recognises."""

from collections import Counter
from collections.abc import Sequence

from shortflow.errors import ConfigError
from shortflow.imports.delimited import grid, number
from shortflow.imports.files import File
from shortflow.imports.headings import GENERIC, INDEX, meaning
from shortflow.quantities import counted

_KNOWN = (
    "start,source,destination,bytes for a trace of flows, bytes,cumulative or bytes,count for a distribution of sizes, "
    "or bytes for samples of sizes"
)


def unclear(file: File) -> ConfigError | None:
    """The error about a table with unknown columns. None for a text that is not a table of numbers."""
    found = grid(file)
    if not found.rows and len(found.header) > 1 and all(map(meaning, found.header)):
        return file.wrong(found.header_line, "header", (found.separator or " ").join(found.header), "rows below it")
    widths = Counter(map(len, found.rows))
    width, usual = widths.most_common(1)[0] if widths else (0, 0)
    numbers = sum(None not in map(number, row) for row in found.rows)
    if len(found.rows) < 2 or numbers < len(found.rows) / 2:
        return None
    if usual < len(found.rows):
        place = next(place for place, row in enumerate(found.rows) if len(row) != width)
        text = (found.separator or " ").join(found.rows[place])
        return file.wrong(found.lines[place], "row", text, f"{counted(width, 'field')}, as in the other rows")
    if found.names:
        text = _shown(found.header, found.separator)
        return file.wrong(found.header_line, "header", text, f"columns of known names: {_KNOWN}")
    text = _shown(found.rows[0], found.separator)
    if found.width == 1:
        return file.wrong(found.lines[0], "row", text, "ten rows or more, or a first line with the header bytes")
    expected = f"a first line with the names of the {found.width} columns: {_KNOWN}"
    return file.wrong(found.lines[0], "row", text, f"{expected}. HPCC's flow.txt begins with its number of flows")


def _shown(fields: Sequence[str], separator: str | None) -> str:
    """A first line to show in an error: a line of numbers, or a line with a known name.

    A scenario may name any file, so the contents of another line are not shown.
    """
    if None not in map(number, fields) or any(meaning(each) not in ("", GENERIC, INDEX) for each in fields):
        return (separator or " ").join(fields)
    return f"{counted(len(fields), 'field')} without a known name"
