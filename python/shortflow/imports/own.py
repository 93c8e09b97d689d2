"""The files that a scenario names, in the core's own form where they are of another."""

from pathlib import Path

from shortflow.errors import ConfigError
from shortflow.imports.delimited import number
from shortflow.imports.files import File
from shortflow.imports.formats import recognised
from shortflow.imports.parts import Options, SizeTable
from shortflow.imports.traffic import sizes_text

_COLUMNS = 2
_SIZES, _SHARES = ("bytes", "size", "size_bytes"), ("cumulative", "cdf", "share")
"""Headers of the core's form."""
_ROUNDING = 1e-9


def converted(directory: Path, names: list[str]) -> dict[str, tuple[str, str]]:
    """Texts in the core's form and notes, by name, of files of sizes in another form."""
    found = {}
    for name in names:
        path = directory / name
        if not path.is_file() or _is_own(file := File(path)):
            continue  # the core reads the file, and has the errors about it
        form = recognised(file)
        part = form.read(file, Options())
        if part.sizes is None:
            raise ConfigError(f"{path}: has the format {form.name}; expected a distribution of sizes")
        found[name] = (sizes_text(part.sizes), f"{name}: {' '.join(part.notes)}")
    return found


def _is_own(file: File) -> bool:
    """True for lines of a size and a share between commas, and for files without numbers: the core has their errors."""
    lines = [[field.strip() for field in line.split(",")] for line in file.head_lines()]
    if not any(letter.isdigit() for line in lines for field in line for letter in field):
        return True
    if file.data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) or any(
        len(line) != _COLUMNS for line in lines
    ):
        return False
    if not any(letter.isdigit() for letter in "".join(lines[0])):
        if lines[0][0].lower() not in _SIZES or lines[0][1].lower() not in _SHARES:
            return False
        lines = lines[1:]
    shares = [number(line[1]) for line in lines]
    right = [share for share in shares if share is not None]
    return right == shares and max(right) <= 1 + _ROUNDING and right == sorted(right)


def described(path: Path, unit: str | None) -> tuple[str, SizeTable, list[str]]:
    """Format, distribution and notes of a file of sizes."""
    file = File(path)
    form = recognised(file)
    part = form.read(file, Options(unit))
    if part.sizes is None:
        raise ConfigError(f"{path}: has the format {form.name}; expected a distribution of sizes")
    return form.name, part.sizes, part.notes
