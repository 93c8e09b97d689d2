"""Size files that a scenario names, converted to the core's form if they have another form."""

from collections.abc import Sequence
from pathlib import Path

from shortflow.errors import ConfigError
from shortflow.imports import edge_list, flow_tables, samples, size_tables
from shortflow.imports.columns import is_number
from shortflow.imports.delimited import grid, number
from shortflow.imports.files import File
from shortflow.imports.formats import known_format
from shortflow.imports.parts import Options, Part, SizeTable
from shortflow.imports.sizes import looks_like_packets
from shortflow.imports.tables import unclear
from shortflow.imports.traffic import sizes_text
from shortflow.lazy import pl

_COLUMNS = 2
_BYTES, _SHARES = ("bytes", "size_bytes"), ("cumulative", "cdf", "share")
"""Headers of the core's form."""
_ROUNDING = 1e-9
_READ = (size_tables.SIZES, samples.SAMPLES, flow_tables.FLOWS)
"""Formats that are read, the last for its error about the missing column. Other formats are refused by their names,
because their errors ask for hosts, links or settings."""


def converted(directory: Path, names: list[str]) -> dict[str, tuple[str, str]]:
    """Texts in the core's form, with notes, of size files in another form, by name.

    Raises `ConfigError` for a file that is not a distribution.
    """
    found = {}
    for name in names:
        path = directory / name
        if not path.is_file() or _is_own(file := File(path)):
            continue  # the core reads the file and reports its errors
        _, sizes, notes = _read(file, Options())
        found[name] = (sizes_text(sizes), f"{name}: {' '.join(notes)}")
    return found


def _is_own(file: File) -> bool:
    """True for lines of a size and a share separated by a comma.

    Also true without numbers: the core reports the error.
    """
    lines = [[field.strip() for field in line.split(",")] for line in file.head_lines()]
    if not any(letter.isdigit() for line in lines for field in line for letter in field):
        return True
    if file.data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) or any(
        len(line) != _COLUMNS for line in lines
    ):
        return False
    says_bytes = lines[0][0].lower() in _BYTES
    if not any(letter.isdigit() for letter in "".join(lines[0])):
        if not says_bytes or lines[0][1].lower() not in _SHARES:
            return False
        lines = lines[1:]
    shares = [number(line[1]) for line in lines]
    right = [share for share in shares if share is not None]
    if right != shares or max(right) > 1 + _ROUNDING or right != sorted(right):
        return False
    return _are_bytes([line[0] for line in lines], says_bytes=says_bytes)


def _are_bytes(texts: Sequence[str], *, says_bytes: bool) -> bool:
    """True if sizes are certainly bytes: whole numbers, and either with units or too large to be packets."""
    sizes = [size for text in texts if is_number(text) and (size := float(text)) >= 0]
    if any(size % 1 for size in sizes):
        return False
    return says_bytes or len(sizes) < len(texts) or not looks_like_packets(pl.Series(sizes, dtype=pl.Float64))


def described(path: Path, unit: str | None) -> tuple[str, SizeTable, list[str]]:
    """Format, distribution and notes of a size file. Raises `ConfigError` for another kind of file."""
    return _read(File(path), Options(unit))


def _read(file: File, options: Options) -> tuple[str, SizeTable, list[str]]:
    """Format, distribution, and notes, with sentences on data that was left out."""
    form = known_format(file)
    # The columns of a table of numbers may be called `a,b`, as those of an edge list are.
    if form is edge_list.EDGES and (error := unclear(file)):
        raise error
    part = form.read(file, options) if form in _READ else Part()
    if form and part.sizes:
        return form.name, part.sizes, [*part.notes, *(f"Left out: {each}" for each in part.left_out)]
    # The message does not quote the line, because a scenario of somebody else may name any file of this computer.
    line = "" if form else "".join(f":{line}" for line in grid(file).lines[:1])
    what = f"has the format {form.name}" if form else "is not a table of numbers" if file.data else "is empty"
    raise ConfigError(
        f"{file.path}{line}: {what}; expected a size and a share in each line, such as 3KB 0.2, or one size"
    )
