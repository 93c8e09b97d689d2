"""`import`: files of other tools as a scenario."""

import functools
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from shortflow._core import registry
from shortflow.errors import ConfigError
from shortflow.frames import FrameSource, as_polars
from shortflow.front import options as given
from shortflow.front.command import Answer, Arg, Opt, showing
from shortflow.imports.files import File
from shortflow.imports.formats import FORMATS, read_all
from shortflow.imports.hosts import HostsAt, read_hosts
from shortflow.imports.parts import Format, Options, Part, Value
from shortflow.imports.scenario import FILE, draft, retold, toml
from shortflow.imports.summary import Summary, summary
from shortflow.imports.values import toml_value, typed_value
from shortflow.quantities import plain_number, scale_for
from shortflow.report.blocks import Block, Words, text_section
from shortflow.scenario import Scenario, Settings, as_pairs, load_scenario
from shortflow.scheme import load_schemes
from shortflow.store.files import new_directory

_SCHEMES = "schemes.toml"
"""Name of the file with the imported schemes."""


@dataclass(frozen=True)
class Imported:
    """A scenario made from files of other tools."""

    path: Path
    """File of the scenario."""
    summary: Summary
    schemes: Sequence[str]
    """Schemes of the files, in the form that `compare` takes."""

    @functools.cached_property
    def scenario(self) -> Scenario:
        """The scenario, loaded on first use."""
        return load_scenario(str(self.path))

    def __repr__(self) -> str:
        """Path and sizes."""
        found = self.summary
        return f"<Imported {self.path}: {found['hosts']} hosts, {found['flows']} flows>"


def _answer(found: Imported, _: Mapping[str, Any]) -> Answer:
    about = {"scenario": str(found.path), **found.summary, "schemes": found.schemes}
    return Answer(lambda: about, _blocks(found))


def _blocks(found: Imported) -> Iterator[Block]:
    about = found.summary
    yield text_section("", ("imported", "value"), list(_rows(about)))
    for heading, texts in (
        ("Left out", about["left_out"]),
        ("Assumed", about["assumed"]),
        ("How the files were read", about["notes"]),
    ):
        if texts:
            yield Words("\n".join([f"{heading}:", *(f"  {text}" for text in texts)]))
    words = ["shortflow", "compare", str(found.path), "--schemes", ",".join(found.schemes) or "dctcp,tcp"]
    yield Words(f"Run it: {shlex.join(words)}", "code")
    if about["assumed"]:
        yield Words("Change an assumed value with --set KEY=VALUE.")


def _rows(about: Summary) -> Iterator[tuple[str, str]]:
    yield from about["files"].items()
    for key in ("hosts", "switches", "links", "flows", "bytes"):
        if about[key] is not None:
            yield key, f"{about[key]:,}"
    if about["span_s"] is not None:
        scale = scale_for("s", [about["span_s"]])
        yield "span", f"{about['span_s'] / scale.divisor:,.4g}{scale.suffix}"
    if about["load"] is not None and about["busiest_load"] is not None:
        mean, most = (plain_number(float(f"{load:.3g}")) for load in (about["load"], about["busiest_load"]))
        yield "load", f"{mean} of receivers' links on average, {most} at {about['busiest']} (the highest)"


def _file(source: FrameSource) -> File:
    """A file, or a data frame of Polars or pandas as a file."""
    if isinstance(source, str | Path):
        return File(Path(source))
    table = as_polars(source)
    if table is None:
        raise ConfigError(f"import: expected a file or a data frame, not {type(source).__name__}")
    return File(Path("data frame"), table.write_csv().encode())


def _schemes(schemes: Sequence[Value], place: Path) -> tuple[dict[str, str], list[str]]:
    """Text of a scheme file by its name, if a scheme has settings, and the reference of each scheme for `compare`."""
    known = {entry["name"]: (entry["transport"], entry["queue"]) for entry in registry()["schemes"]}
    tables, references = [], []
    for scheme in schemes:
        text = str(scheme.value)
        try:
            (found,) = load_schemes([text])
        except ConfigError as error:
            raise ConfigError(f"{scheme.origin}: {error}") from error
        base = text.partition("+")[0]
        if base == text:
            references.append(text)
            continue
        transport, queue = known.get(base) or base.split(" over ")
        name = f"{transport}-imported"
        settings = {key: typed_value(value) for key, value, origin in found.resolved() if origin != "default"}
        tables.append(
            f"# {scheme.origin}: {text}\n[[scheme]]\nname = {toml_value(name)}\ntransport = {toml_value(transport)}\n"
            f"queue = {toml_value(queue)}\n\n[scheme.set]\n"
            + "".join(f"{toml_value(key)} = {toml_value(value)}\n" for key, value in settings.items())
        )
        references.append(f"{place / _SCHEMES}:{name}")
    return ({_SCHEMES: "\n".join(tables)} if tables else {}), references


def _check_taken(parts: Sequence[tuple[File, Format, Part]], options: Options) -> None:
    """Raises `ConfigError` for an option that applies to no file."""
    taken = {name for _, form, _ in parts for name in form.options}
    taken |= {"hosts"} if any(part.flows or part.endless for _, _, part in parts) else set()
    for name in ("unit", "time", "hosts", "host_names", "hosts_at", "queue"):
        if getattr(options, name) not in (None, (), [], {}) and name not in taken:
            formats = ", ".join(dict.fromkeys(form.name for _, form, _ in parts))
            raise ConfigError(f"--{name.replace('_', '-')}: no file of {formats} takes it; leave it out")


@showing(_answer)
def import_files(
    paths: Annotated[
        "Sequence[FrameSource] | FrameSource", Arg("Files to import together into one scenario.", "PATH", many=True)
    ],
    *,
    out: Annotated[str | Path, Opt("New directory to write the scenario to.", "DIR", read=Path)],
    format_: Annotated[
        str | None,
        Opt(
            "Format of the files (default: recognised by their contents).",
            "NAME",
            "--format",
            complete=lambda: [each.name for each in FORMATS],
        ),
    ] = None,
    unit: Annotated[str | None, given.UNIT] = None,
    time: Annotated[
        str | None, Opt("Unit of the start times if their file names none: ps, ns, us, ms or s.", "UNIT")
    ] = None,
    hosts: Annotated[
        str | Path | None,
        Opt("CSV file with the columns address and host, which assigns each address to a host.", "FILE", read=Path),
    ] = None,
    host_names: Annotated[
        Sequence[str],
        Opt("Names of the nodes that are hosts, such as 'srv*'. Repeat for more.", "PATTERN", many=True, default=None),
    ] = (),
    hosts_at: Annotated[
        Sequence[str],
        Opt(
            "Add hosts to switches: 4x10Gbps adds four to every switch, 'leaf*=8x25Gbps' eight to each leaf.",
            "[PATTERN=]COUNTxRATE",
            many=True,
            default=None,
        ),
    ] = (),
    queue: Annotated[int | None, given.whole("Queue of the switch's ports whose settings are imported.", 0, 63)] = None,
    settings: Annotated[
        Settings | None,
        Opt(
            "Set a key of the scenario, such as topology.rate=25Gbps.",
            "KEY=VALUE",
            "--set",
            many=True,
            read=given.parse_settings,
        ),
    ] = None,
) -> Imported:
    """Import files of other simulators and of switches as a scenario.

    `shortflow import topology.txt flow.txt --out mine` makes a scenario of HPCC's files. `shortflow list formats`
    prints all formats. In Python, a data frame of Polars or pandas with one flow per row may take the place of a file.

    The scenario is DIR/scenario.toml, where each value names the file and line that it comes from. The summary lists
    the contents that were left out, and the values that no file has and that were assumed.

    The answer has the loaded `scenario` and the `summary` as a mapping. A `ConfigError` names file, line,
    field, value and what was expected.
    """
    place = Path(out)
    if place.exists() or place.is_symlink():
        raise ConfigError(f"--out: {place} exists; name a new directory")
    several = list(paths) if isinstance(paths, list | tuple) else [paths]
    if not several:
        raise ConfigError("import: expected one or more files")
    added = [HostsAt.parse(each) for each in hosts_at or ()]
    table = read_hosts(Path(hosts)) if hosts else {}
    wanted = Options(unit, time, table, host_names or (), added, queue)
    parts = read_all([_file(each) for each in several], format_, wanted)
    _check_taken(parts, wanted)
    made = draft(parts, wanted, dict(as_pairs(settings)))
    schemes, references = _schemes(made.schemes, place)
    with new_directory(place) as directory:
        for name, text in {**made.texts, **schemes, FILE: toml(made)}.items():
            (directory / name).write_text(text, "utf-8")
        try:
            load_scenario(str(directory / FILE))
        except ConfigError as error:
            raise retold(made, error) from error
    return Imported(place / FILE, summary(made, {file.name: form.name for file, form, _ in parts}), references)
