"""All formats, and the format of a file."""

from collections.abc import Sequence
from pathlib import Path

from shortflow.errors import ConfigError, unknown_name
from shortflow.imports import containerlab, graphml, hpcc, lldp, netbox, sonic
from shortflow.imports.files import File
from shortflow.imports.parts import Format, Options, Part

FORMATS: Sequence[Format] = (
    hpcc.TOPOLOGY,
    hpcc.FLOWS,
    graphml.GRAPHML,
    containerlab.CONTAINERLAB,
    sonic.SONIC,
    netbox.NETBOX,
    lldp.LLDP,
)
"""In order of recognition: a form that others contain comes after them."""


def recognised(file: File, name: str | None = None) -> Format:
    """The format of this name, or that of the file's contents. A `ConfigError` lists the formats."""
    if name is not None:
        known = {each.name: each for each in FORMATS}
        if name not in known:
            raise unknown_name("format", name, known)
        return known[name]
    found = next((each for each in FORMATS if each.is_of(file)), None)
    if found is None:
        begins = "\n".join(f"  {each.name}: {each.begins}" for each in FORMATS)
        raise ConfigError(f"{file.path}: of no known format. Give one with --format. Files begin so:\n{begins}")
    return found


def read_all(paths: Sequence[Path], name: str | None, options: Options) -> list[tuple[File, Format, Part]]:
    """Reads files, and those that they name."""
    found, waiting = [], list(dict.fromkeys(paths))
    known = {path.resolve() for path in waiting}
    together: dict[str, tuple[Format, list[File]]] = {}
    while waiting:
        file = File(waiting.pop(0))
        form = recognised(file, name)
        if form.read_all:
            together.setdefault(form.name, (form, []))[1].append(file)
            continue
        part = form.read(file, options)
        found.append((file, form, part))
        named = [file.path.parent / each for each in part.more]
        waiting += [path for path in named if path.resolve() not in known]
        known |= {path.resolve() for path in named}
    for form, files in together.values():
        assert form.read_all
        found.append((files[0], form, form.read_all(files, options)))
    return found
