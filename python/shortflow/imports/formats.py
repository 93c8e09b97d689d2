"""All formats, and recognition of a file's format."""

from collections.abc import Sequence

from shortflow.errors import ConfigError, unknown_name
from shortflow.imports import (
    containerlab,
    edge_list,
    flow_tables,
    graphml,
    hpcc,
    hpcc_config,
    htsim_matrix,
    htsim_topology,
    lldp,
    netbox,
    samples,
    size_tables,
    sonic,
    zeek,
)
from shortflow.imports.files import File
from shortflow.imports.parts import Format, Options, Part
from shortflow.imports.tables import unclear

FORMATS: Sequence[Format] = (
    hpcc.TOPOLOGY,
    hpcc.FLOWS,
    graphml.GRAPHML,
    containerlab.CONTAINERLAB,
    sonic.SONIC,
    netbox.NETBOX,
    lldp.LLDP,
    htsim_matrix.MATRIX,
    htsim_topology.TOPOLOGY,
    zeek.LOG,
    hpcc_config.CONFIG,
    edge_list.EDGES,
    flow_tables.FLOWS,
    size_tables.SIZES,
    samples.SAMPLES,
)
"""Formats in the order of recognition. A format comes after the more specific formats that it includes."""


def recognised(file: File, name: str | None = None) -> Format:
    """The format with this name, or the format recognised by the file's contents. A `ConfigError` lists the formats."""
    if name is not None:
        known = {each.name: each for each in FORMATS}
        if name not in known:
            raise unknown_name("format", name, known)
        return known[name]
    if found := known_format(file):
        return found
    begins = "\n".join(f"  {each.name}: {each.begins}" for each in FORMATS)
    what = "of no known format" if file.data else "is empty"
    raise ConfigError(f"{file.path}: {what}. Give one with --format. First lines of known formats:\n{begins}")


def known_format(file: File) -> Format | None:
    """The format that the file's contents have; None if there is none. Raises `ConfigError` for an unclear table."""
    if not file.data:
        return None
    found = next((each for each in FORMATS if each.is_of(file)), None)
    if found is None and (error := unclear(file)):
        raise error
    return found


def read_all(files: Sequence[File], name: str | None, options: Options) -> list[tuple[File, Format, Part]]:
    """Reads files. If only one file is given, also reads the files that it names.

    A format with `read_all` reads all of its files together.
    """
    found: list[tuple[File, Format, Part]] = []
    together: dict[str, tuple[Format, list[File]]] = {}

    def read(file: File) -> list[str]:
        """Reads a file, or keeps it for its format's `read_all`. Returns the further files that it names."""
        form = recognised(file, name)
        if form.read_all:
            together.setdefault(form.name, (form, []))[1].append(file)
            return []
        part = form.read(file, options)
        found.append((file, form, part))
        return part.more

    distinct = list(dict.fromkeys(files))
    named = [more for file in distinct for more in read(file)]
    if len(distinct) == 1:
        for more in named:
            read(File(distinct[0].path.parent / more))
    for form, of_form in together.values():
        assert form.read_all
        found.append((of_form[0], form, form.read_all(of_form, options)))
    return found
