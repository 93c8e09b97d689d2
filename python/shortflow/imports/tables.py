"""Tables of which no format knows the columns."""

from shortflow.errors import ConfigError
from shortflow.imports.delimited import grid
from shortflow.imports.files import File
from shortflow.imports.headings import meaning

_KNOWN = (
    "start,source,destination,bytes for a trace of flows, bytes,cumulative or bytes,count for a distribution of sizes, "
    "or bytes for samples of sizes"
)


def unclear(file: File) -> ConfigError | None:
    """The error about a table whose columns nothing tells; None for a text that is no table of numbers."""
    found = grid(file)
    if not found.rows and len(found.header) > 1 and all(map(meaning, found.header)):
        return file.wrong(found.header_line, "header", (found.separator or " ").join(found.header), "rows below it")
    if len(found.rows) < 2 or len({len(row) for row in found.rows}) > 1:
        return None
    if found.names:
        text = (found.separator or " ").join(found.header)
        return file.wrong(found.header_line, "header", text, f"columns of known names: {_KNOWN}")
    text = (found.separator or " ").join(found.rows[0])
    if found.width == 1:
        return file.wrong(found.lines[0], "row", text, "ten rows or more, or a first line with the header bytes")
    expected = f"a first line with the names of the {found.width} columns: {_KNOWN}"
    return file.wrong(found.lines[0], "row", text, f"{expected}. HPCC's flow.txt begins with its number of flows")
