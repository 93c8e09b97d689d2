"""`list`: names for the command line."""

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from shortflow import _core, imports, installed
from shortflow.declared import all_declared, is_kind
from shortflow.errors import ConfigError, unknown_name
from shortflow.front import options as given
from shortflow.front.command import Answer, Arg, Opt, command
from shortflow.front.listed import Entry, Listed
from shortflow.front.terminal import working
from shortflow.imports.drawing import PERCENTILES, shares_by_size, sparkline
from shortflow.metrics.catalogue import STATISTICS, possible
from shortflow.records import Declared
from shortflow.report.blocks import Block, Words, text_section
from shortflow.scenario import load_scenario, shipped_scenarios
from shortflow.scheme import load_schemes

Entries = Sequence[Entry]


def _complete(context: typer.Context) -> list[str]:
    """Names of the kind on the command line."""
    kind = context.params.get("kind")
    return [_name(entry) for entry in _entries(kind)] if kind in KINDS else []


@command
def list_(
    kind: Annotated[
        str | None, Arg("Kind of names: schemes, scenarios, metrics, figures, …", "KIND", complete=lambda: list(KINDS))
    ] = None,
    names: Annotated[
        Sequence[str] | None, Arg("Names to show in detail, such as 'l2dct*'.", "NAME", many=True, complete=_complete)
    ] = None,
    *,
    long: Annotated[bool, Opt("Show the details of every name: parameters, defaults and ranges.")] = False,
    unit: Annotated[str | None, given.UNIT] = None,
) -> Answer:
    """List schemes, scenarios, metrics and other names; with a name, show its details.

    The kinds are schemes, ideal (schedulers), parameter-sets, transports, queues, topologies, routing, traffic, sizes,
    tables (the other keys of scenarios), scenarios, metrics, formats (of `import`), figures, claims and choices. `list
    sizes FILE` shows the flow-size distribution in FILE: mean, percentiles and a drawing.
    """
    if kind is None:
        raise ConfigError(f"list: expected a kind: {', '.join(KINDS)}")
    if kind not in KINDS:
        raise unknown_name("list", kind, KINDS)
    if kind == "sizes" and names and all(Path(name).is_file() for name in names):
        found = [_sizes_of(Path(name), unit) for name in names]
        return Answer(lambda: found, (block for each in found for block in _drawn(each)))
    if unit:
        raise ConfigError("--unit: belongs to a file of sizes, as in `list sizes FILE --unit packets`")
    details = _added(kind).details if kind in ADDED else DETAILS.get(kind)
    if long and not details:
        raise ConfigError(f"--long: {kind} have no details; kinds with details: {', '.join(DETAILED)}")
    entries = _matching(kind, _entries(kind), names or [])
    if kind in ADDED and (names or long) and (worked_out := _added(kind).worked_out):
        with working(_added(kind).working):
            entries = [worked_out(entry) for entry in entries]
    shown = details if names or long else None
    return Answer(lambda: entries, _blocks(kind, entries, shown))


def _added(kind: str) -> Listed:
    """A kind of names that another package adds."""
    found: Listed = installed.load_added(installed.NAMES, kind)
    return found


def _blocks(kind: str, entries: Entries, details: Callable[[Entry], Iterator[str]] | None) -> Iterator[Block]:
    rows: list[tuple[str, str]] = []
    for several in [[entry] for entry in entries] if details else [entries]:
        rows += _one_line_each(several)
        rows += [("", f"  {line}") for entry in several for line in (details(entry) if details else ())]
    yield text_section(kind, ("name", "meaning"), rows)
    if kind in DETAILED and not details:
        yield Words(f"`shortflow list {kind} NAME` shows the details of one, --long all details.")


def _sizes_of(path: Path, unit: str | None) -> dict[str, Any]:
    """The distribution of a file: format, notes, mean and percentiles in bytes, and a drawing."""
    form, sizes, notes = imports.own.described(path, unit)
    percentiles = {f"p{percent:g}": sizes.percentile(percent) for percent in PERCENTILES}
    shares, below = shares_by_size(sizes)
    return {
        "file": str(path),
        "format": form,
        "notes": notes,
        "mean_bytes": sizes.mean,
        "percentiles_bytes": percentiles,
        "largest_bytes": sizes.percentile(100),
        "drawing": {"flows": shares, "bytes": below},
    }


def _drawn(found: Mapping[str, Any]) -> Iterator[Block]:
    rows = [(name, f"{size:,.0f} B") for name, size in found["percentiles_bytes"].items()]
    rows = [("mean", f"{found['mean_bytes']:,.1f} B"), *rows, ("largest", f"{found['largest_bytes']:,.0f} B")]
    yield text_section(f"{found['file']} ({found['format']})", ("flow size", "value"), rows)
    flows, weights = (sparkline(found["drawing"][of]) for of in ("flows", "bytes"))
    scale = f"{found['percentiles_bytes']['p1']:,.0f} B to {found['largest_bytes']:,.0f} B, logarithmic"
    yield Words("\n".join([f"flows {flows}", f"bytes {weights}  {scale}", *found["notes"]]))


def _entries(kind: str) -> Entries:
    if kind == "scenarios":
        return [{"name": name, "summary": load_scenario(name).title} for name in shipped_scenarios()]
    if kind == "metrics":
        return [{"name": name, "unit": each.unit, "summary": each.about} for name, each in STATISTICS.items()]
    if kind == "formats":
        return [{"name": each.name, "summary": each.summary, "begins": each.begins} for each in imports.formats.FORMATS]
    if kind == "tables":
        return [
            {"name": _table_name(each), "summary": each["summary"], "parameters": each["keys"]}
            for each in all_declared()
            if not is_kind(each) or each["table"] in ("deadline", "interarrival")
        ]
    return _added(kind).entries() if kind in ADDED else _core.registry()[kind]


def _table_name(declared: Declared) -> str:
    """Name of a table or of one of its kinds. `scenario` for keys outside of tables."""
    return f"{declared['table']}.{declared['name']}" if is_kind(declared) else declared["name"] or "scenario"


def _matching(kind: str, entries: Entries, patterns: Sequence[str]) -> list[Entry]:
    """Entries whose name matches a pattern (default: all).

    The name of a paper matches all its figures, claims and choices. The name of a metric matches its statistic.
    """
    if kind == "schemes":
        entries = [*entries, *(made for name in patterns for made in _with_values(name, entries))]
    known = list(dict.fromkeys(_name(entry) for entry in entries))
    of_papers = list(dict.fromkeys(str(entry["paper"]) for entry in entries if "paper" in entry))
    found: set[str] = set()
    for pattern in patterns:
        names = fnmatch.filter(known, pattern) or fnmatch.filter(known, f"{pattern}/*")
        names += fnmatch.filter(of_papers, pattern)
        if kind == "metrics" and not names:  # the metric of a shipped scenario stands for its statistic
            classes = {each for scenario in shipped_scenarios() for each in load_scenario(scenario).classes}
            metric = possible(sorted(classes)).get(pattern)
            names = [metric.statistic.pattern] if metric else []
        if not names:
            raise unknown_name(f"name in `list {kind}`", pattern, [*known, *of_papers])
        found.update(names)
    return [entry for entry in entries if not patterns or found & {_name(entry), entry.get("paper")}]


def _with_values(scheme: str, entries: Entries) -> Iterator[Entry]:
    """The entry of a scheme with settings, such as `dctcp@linux`."""
    base = re.split("[@+]", scheme)[0].strip()
    for entry in entries if base != scheme else ():
        if entry["name"] == base:
            values = {key: value for key, value, _ in load_schemes([scheme])[0].resolved()}
            own = [{**each, "default": values.get(each["name"], each["default"])} for each in entry["parameters"]]
            yield {**entry, "name": scheme, "parameters": own}


def _name(entry: Entry) -> str:
    return str(entry["id"] if "id" in entry else entry["name"])


def _one_line_each(entries: Entries) -> Iterator[tuple[str, str]]:
    """Names with summaries, and sources in brackets. Equal entries of several papers are merged."""
    sources: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        source = str(entry.get("source") or entry.get("paper") or "")
        unit = f" ({entry['unit']})" if entry.get("unit") else ""
        # The value that recipes take comes first.
        values = [entry["taken"], ", ".join(list(entry["values"])[1:])] if "values" in entry else []
        about = f"{entry['summary']}{unit}{': ' if values else ''}{', or '.join(values)}"
        sources.setdefault((_name(entry), about), []).append(source)
    for (name, about), found in sources.items():
        yield name, f"{about} [{', '.join(found)}]" if any(found) else about


def _parameters(entry: Entry) -> Iterator[str]:
    """Parameters with defaults and ranges."""
    for parameter in entry["parameters"]:
        default = f" = {parameter['default']}" if parameter["default"] else ""
        about = f": {parameter['summary']}" if parameter["summary"] else ""
        expected = f" ({parameter['expected']})" if parameter["expected"] else ""
        yield f"{parameter['name']}{default}{about}{expected}"


def _format(entry: Entry) -> Iterator[str]:
    """The beginning of a format's files."""
    yield f"begins with {entry['begins']}"


DETAILS: Mapping[str, Callable[[Entry], Iterator[str]]] = {
    **dict.fromkeys([*_core.registry(), "tables"], _parameters),
    "formats": _format,
}
DETAILED = (*_core.registry(), "tables", "claims", "choices", "formats")
"""Kinds with details."""
ADDED = tuple(installed.PACKAGED[installed.NAMES])
"""Kinds that other packages of this project add."""
KINDS = (*_core.registry(), "tables", "scenarios", "metrics", "formats", *ADDED)
