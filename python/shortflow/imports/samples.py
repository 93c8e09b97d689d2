"""Raw samples: one size per row, or one flow per row with a column of sizes. They become a distribution of steps."""

from shortflow.imports.columns import LINE, empty
from shortflow.imports.delimited import Grid, check_points, grid, head, not_read, number, squared
from shortflow.imports.files import File
from shortflow.imports.headings import GENERIC, SIZE, meaning, sizes_among
from shortflow.imports.parts import Format, Options, Part, SizeTable
from shortflow.imports.sizes import Heading, in_bytes
from shortflow.lazy import np, pl
from shortflow.quantities import counted

_MOST = 10_000
"""Maximum number of distinct sizes. More sizes become groups of equally many flows with their mean size."""
_FEWEST = 10
"""Minimum number of rows for which a single column counts as samples."""


def _is_samples(file: File) -> bool:
    found = head(file)
    if not found.rows:
        return False
    if found.width == 1:
        alone = all(number(row[0]) is not None for row in found.rows if row)
        if found.names:
            return alone and meaning(found.names[0]) in (SIZE, GENERIC)
        return alone and len(found.rows) >= _FEWEST
    return len(sizes_among(found.names)) == 1


def _size_column(file: File, found: Grid) -> int:
    """The column of sizes. A `ConfigError` names the header if there is no such column, or more than one."""
    sizes = sizes_among(found.names)
    if len(sizes) == 1 and found.names.count(found.names[sizes[0]]) == 1:
        return sizes[0]
    known = [meaning(name) for name in found.names]
    if sizes or found.width > 1 or (known and known[0] not in ("", GENERIC)):
        expected = "one column of sizes, such as bytes or flow_size"
        separator = found.separator or " "
        if not found.header:
            raise file.wrong(found.lines[0], "row", separator.join(found.rows[0]), f"{expected}, named in a first line")
        raise file.wrong(found.header_line, "header", separator.join(found.header), expected)
    return 0


def _read(file: File, options: Options) -> Part:
    found = grid(file)
    if not found.rows:
        raise empty(file, "a size a line")
    place = _size_column(file, found)
    check_points(file, found, place)
    rows = squared(file, found, found.lines, found.rows)
    table = pl.DataFrame({LINE: found.lines, "bytes": [row[place] for row in rows]})
    scaled, unit = in_bytes(file, table, Heading(found.name(place), found.header_line), options.unit)
    sizes = scaled.round().to_numpy()
    part = Part(sizes=SizeTable(distribution(sizes), file.origin(found.lines[0], found.lines[-1]), is_steps=True))
    column = f", column {found.name(place)}" if found.header else ""
    part.notes.append(
        f"{counted(len(sizes), 'sample')}, one a row{column}; {unit}; steps: flows have the sizes of the samples; mean "
        f"{sizes.mean():,.1f} B."
    )
    part.left_out += not_read(found, [place])
    if len(np.unique(sizes)) > _MOST:
        part.notes.append(f"More than {_MOST:,} distinct sizes: groups of equally many flows have their mean size.")
    if not sizes.mean() > 0:
        raise file.wrong(0, "sizes", 0, "a size above zero")
    return part


def distribution(sizes: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[tuple[float, float]]:
    """Rows of size and cumulative share. The mean is that of the samples, up to rounding of sizes."""
    values, counts = np.unique(sizes, return_counts=True)
    if len(values) > _MOST:
        groups = np.array_split(np.sort(sizes), _MOST)
        values, counts = np.unique([round(float(group.mean())) for group in groups], return_counts=True)
    shares = np.cumsum(counts) / counts.sum()
    return list(zip(values.tolist(), shares.tolist(), strict=True))


SAMPLES = Format(
    "size-samples",
    "raw samples of flow sizes, one size or one flow a row: a cdf",
    "one size a line, or a header with a column such as bytes or flow_size",
    _is_samples,
    _read,
    options=("unit",),
)
