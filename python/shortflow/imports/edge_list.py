"""Shortflow's own edge list `a,b,rate,delay`, with or without a table of nodes `name,kind,tier`."""

import csv
from collections.abc import Iterator, Mapping, Sequence

from shortflow.errors import did_you_mean
from shortflow.imports.files import File
from shortflow.imports.networks import completed, few, plain_name
from shortflow.imports.parts import Format, Link, Network, Node, Options, Part
from shortflow.imports.rates import written
from shortflow.quantities import parse

_LINKS = ("a", "b", "rate", "delay")
_NODES = ("name", "kind", "tier")
_KINDS = ("host", "switch")
Rows = Sequence[tuple[int, Mapping[str, str]]]
"""Line numbers, and the fields of each line by column."""


def _is_of(file: File) -> bool:
    return _header(file) is not None


def _header(file: File) -> tuple[str, ...] | None:
    """Columns of a list of links or nodes. None for another file."""
    head = file.head_lines()[:1]
    names = tuple(each.strip() for each in head[0].split(",")) if head else ()
    return next((names for of in (_LINKS, _NODES) if len(names) >= 2 and names == of[: len(names)]), None)


def _read_all(files: Sequence[File], options: Options) -> Part:
    of_kind = {"links": list[File](), "nodes": list[File]()}
    for file in files:
        columns = _header(file)
        if columns is None:
            raise file.wrong(1, "header", (file.head_lines() or [""])[0], "a,b,rate,delay or name,kind,tier")
        of_kind["links" if columns[0] == _LINKS[0] else "nodes"].append(file)
    for kind, named in of_kind.items():
        if len(named) > 1:
            raise named[1].wrong(1, "file", named[1].name, f"one list of {kind}; the first is {named[0].name}")
    if not of_kind["links"]:
        raise files[0].wrong(1, "links", "no file", "a list of links too, with the header a,b,rate,delay")
    (file,) = of_kind["links"]
    part = Part()
    rows = list(_rows(file, _header(file) or ()))
    if not rows:
        raise file.wrong(1, "rows", 0, "a link a row, such as h0,rack1,10Gbps,2us")
    known = dict(
        _node(of_nodes, *row) for of_nodes in of_kind["nodes"] for row in _rows(of_nodes, _header(of_nodes) or ())
    )
    seen: dict[tuple[str, str], int] = {}
    for number, row in rows:
        seen.setdefault((row["a"], row["b"]), number)
        if other := seen.get((row["b"], row["a"])):
            if row["a"] == row["b"]:
                raise file.wrong(number, "b", row["b"], "another node than a")
            both = f"each link once, and line {other} has this one from the other end. A link has two directions"
            raise file.wrong(number, "a,b", f"{row['a']},{row['b']}", both)
        for column in _LINKS[:2]:
            if not row[column] or (of_kind["nodes"] and row[column] not in known):
                hint = did_you_mean(row[column], known)
                raise file.wrong(number, column, row[column], f"the name of a node{hint}")
    names = known or dict.fromkeys(plain_name(row[column]) for _, row in rows for column in _LINKS[:2])
    nodes = [known.get(name) or Node(name, name.startswith("h")) for name in names]
    if not known and not options.host_names and any(node.is_host for node in nodes):
        part.notes.append("Nodes whose name begins with h are hosts. --host-names names other ones.")
    links = [_link(file, number, row) for number, row in rows]
    _say_units(part, rows)
    part.network = Network(nodes, links, file.origin(rows[0][0], rows[-1][0]), str(file.path))
    return completed(part, options)


def _rows(file: File, columns: Sequence[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    for number, line in list(file.lines())[1:]:
        fields = [each.strip() for each in next(csv.reader([line]))]
        if len(fields) != len(columns):
            raise file.wrong(number, "row", line, f"{len(columns)} fields: {','.join(columns)}")
        yield number, dict(zip(columns, fields, strict=True))


def _node(file: File, number: int, row: Mapping[str, str]) -> tuple[str, Node]:
    if row["kind"] not in _KINDS:
        raise file.wrong(number, "kind", row["kind"], "host or switch")
    return row["name"], Node(plain_name(row["name"]), row["kind"] == "host", row.get("tier", ""))


def _link(file: File, number: int, row: Mapping[str, str]) -> Link:
    rate, delay = row.get("rate", ""), row.get("delay", "")
    of_rate, of_delay = parse(rate), parse(delay)
    if rate and (not of_rate or of_rate.number <= 0 or of_rate.base not in ("bps", "")):
        raise file.wrong(number, "rate", rate, "a rate above zero such as 10Gbps")
    if delay and (not of_delay or of_delay.number < 0 or of_delay.base not in ("s", "")):
        raise file.wrong(number, "delay", delay, "a time such as 2us")
    return Link(
        plain_name(row["a"]),
        plain_name(row["b"]),
        written(of_rate.number * of_rate.factor) if of_rate else "",
        delay if not of_delay or of_delay.unit else f"{delay}s",
        number,
    )


def _say_units(part: Part, rows: Rows) -> None:
    """Notes rates and delays without a unit, which edge lists have in bit/s and seconds."""
    for column, unit in (("rate", "bit/s"), ("delay", "seconds")):
        alone = [number for number, row in rows if (found := parse(row.get(column, ""))) and not found.unit]
        if alone:
            lines = f"line{'' if len(alone) == 1 else 's'} {few(map(str, alone))}"
            part.notes.append(f"A {column} without a unit is in {unit}, as in every edge list: {lines}.")


EDGES = Format(
    "edge-list",
    "Shortflow's own edge list, with or without a list of nodes: a network",
    "the header a,b,rate,delay, then a link a row such as h0,rack1,10Gbps,2us; nodes have the header name,kind,tier",
    _is_of,
    lambda file, options: _read_all([file], options),
    _read_all,
    options=("host_names", "hosts_at"),
)
