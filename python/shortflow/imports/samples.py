"""Raw samples: one size a row, or one flow a row with a column of sizes. They become a distribution of steps."""

import re

from shortflow.imports.columns import empty
from shortflow.imports.delimited import Grid, check_points, grid, head, number, sized
from shortflow.imports.files import MOST, File
from shortflow.imports.parts import Format, Options, Part, SizeTable
from shortflow.imports.units import unit_of
from shortflow.lazy import np
from shortflow.quantities import counted

_SIZE = re.compile(
    r"(flow|message|msg|response|request)?[ _-]*(size|bytes|length|octets)([ _(-]*(in )?[kmgt]?i?b(ytes|its?)?\)?)?$",
    re.IGNORECASE,
)
_MOST = 10_000
"""Most distinct sizes. More become groups of equally many flows, each of its mean size."""
_FEWEST = 10
"""Fewest rows of a single column that are samples."""


def _is_samples(file: File) -> bool:
    found = head(file)
    if not found.rows:
        return False
    if len(found.rows[0]) == 1:
        alone = [row for row in found.rows if len(row) == 1 and number(row[0]) is not None]
        return len(alone) == len(found.rows) and (len(alone) >= _FEWEST or bool(found.header))
    return _size_column(found) is not None


def _size_column(found: Grid) -> int | None:
    named = [place for place, name in enumerate(found.header) if _SIZE.fullmatch(name)]
    return named[0] if len(named) == 1 else None


def _read(file: File, options: Options) -> Part:
    found = grid(file)
    place = _size_column(found) or 0
    if not found.rows:
        raise empty(file, "a size a line")
    check_points(file, found, place)
    sizes = []
    for line, row in zip(found.lines, found.rows, strict=True):
        sizes.append(sized(file, line, "size", row[place] if place < len(row) else ""))
    name = found.name(place)
    factor, unit = unit_of(file, name, options.unit, sizes)
    scaled = np.round(np.array(sizes) * factor)
    if scaled.max() > MOST:
        raise file.wrong(found.lines[int(scaled.argmax())], "size", f"{scaled.max():g} B", f"at most {MOST:g} bytes")
    part = Part(sizes=SizeTable(distribution(scaled), file.origin(found.lines[0], found.lines[-1]), is_steps=True))
    column = f", column {name}" if name else ""
    part.notes.append(
        f"{counted(len(sizes), 'sample')}, one a row{column}; {unit}; steps: flows have the sizes of the samples; mean "
        f"{scaled.mean():,.1f} B."
    )
    if len(np.unique(scaled)) > _MOST:
        part.notes.append(f"More than {_MOST:,} distinct sizes: groups of equally many flows have their mean size.")
    if not scaled.mean() > 0:
        raise file.wrong(0, "sizes", 0, "a size above zero")
    return part


def distribution(sizes: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[tuple[float, float]]:
    """Rows of size and cumulative share. The mean stays that of the samples."""
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
