"""Files of HPCC's ns-3 simulator and its descendants (conweave, SimAI): `topology.txt` and `flow.txt`.

Source: HPCC's `simulation/mix` and README (Alibaba Edu, High-Precision-Congestion-Control), SimAI's `topo` folder.
"""

import itertools
import re
from collections.abc import Callable, Sequence

from shortflow.imports import columns
from shortflow.imports.files import MOST, File
from shortflow.imports.networks import completed, few
from shortflow.imports.parts import Flows, Format, Link, Network, Node, Options, Part
from shortflow.imports.rates import of_data_rate, written
from shortflow.imports.units import bytes_per_unit, seconds_per_unit
from shortflow.lazy import pl
from shortflow.quantities import counted

_WIDTHS = (4, 5, 6)
"""Possible numbers of fields in a flow. Conweave omits the port; later generators also omit the priority group."""
_LARGEST_PORT = 65_535
_PORT = "a destination port up to 65535"
_OLD = ("source", "destination", "class", "packets", "start", "end")
"""Fields of a flow in DCQCN's simulator, from which HPCC's simulator derives."""
_WORDS = {"s": "seconds"}
_TIME = re.compile(r"\d+(?:\.\d*)?(?:e[-+]?\d+)?(?:ps|ns|us|ms|s)")


def _head(file: File) -> list[list[str]]:
    return [columns.fields(line) for line in file.head_lines()[:4]]


def _is_topology(file: File) -> bool:
    """True if the first line has three or more whole numbers, and one of the next three lines is a link with a rate."""
    head = _head(file)
    if len(head) < 2 or not 3 <= len(head[0]) <= 6:
        return False
    return all(map(columns.is_whole, head[0][:3])) and any(_has_form_of_link(" ".join(line)) for line in head[1:])


def _topology(file: File, options: Options) -> Part:
    lines = list(file.lines())
    if not lines:
        raise columns.empty(file, "a line of the numbers of nodes, switches and links")
    (first, head), rest = lines[0], lines[1:]
    counts = columns.fields(head)
    is_simai = len(counts) >= 5
    if len(counts) < 3:
        raise file.wrong(first, "first line", head, "the numbers of nodes, switches and links")
    numbers = [file.whole(first, "first line", text) for text in counts[: 5 if is_simai else 3]]
    nvswitches = 0
    if is_simai:  # nodes, GPUs per server, NVSwitches, switches, links, type of GPU
        nodes, servers, nvswitches, switches, links = numbers
        switches += nvswitches
    else:
        nodes, switches, links = numbers
    named: list[int] = []
    while len(named) < switches and rest:  # the list of switches may span several lines
        number, line = rest.pop(0)
        named += (file.whole(number, "switch", text) for text in columns.fields(line))
    if len(named) != switches or any(each >= nodes for each in named):
        raise file.wrong(first + 1, "switches", len(named), f"{switches} numbers of nodes below {nodes}")
    if len(rest) < links:
        raise file.wrong(first, "number of links", links, f"{len(rest)}, as many as the file lists")
    part = Part()
    found = [_link(file, number, line, nodes) for number, line in rest[:links]]
    _say_losses(file, rest[:links], part)
    alone = [number for number, line in rest[:links] if columns.is_number(columns.fields(line)[2])]
    if alone:
        of = f"line{'' if len(alone) == 1 else 's'} {few(map(str, alone))}"
        part.notes.append(f"Rates without a unit are in bit/s, as ns-3 reads them: {of}.")
    _say_rest(part, [line for _, line in rest[links:]], f"{links} links", _has_form_of_link, "link")
    if is_simai:
        part.notes.append(f"SimAI's form: {servers} GPUs a server. A GPU is a host.")
        found = _without_nvswitches(found, {str(each) for each in named[:nvswitches]}, part)
    joined = {int(end) for link in found for end in (link.a, link.b)}
    lone = [each for each in range(nodes) if each not in joined and each not in named[:nvswitches]]
    if lone:
        part.left_out.append(f"{counted(len(lone), 'node')} without a link: {few(map(str, lone))}.")
    switch = set(named)
    listed = [Node(str(each), each not in switch) for each in range(nodes) if each in joined]
    origin = file.origin(rest[0][0], rest[links - 1][0]) if links else file.origin(first)
    part.network = Network(listed, found, origin, str(file.path))
    return completed(part, options)


def _say_rest(part: Part, rest: Sequence[str], read: str, has_form: Callable[[str], bool], word: str) -> None:
    """Reports lines beyond the number in the first line, which HPCC also ignores."""
    more = sum(map(has_form, rest))
    if more:
        part.left_out.append(
            f"{counted(more, f'further {word}')}. The first line says {read}, and HPCC reads only these."
        )
    if len(rest) > more:
        part.left_out.append(f"{counted(len(rest) - more, 'line')} of remarks after the {word}s.")


def _has_form_of_link(line: str) -> bool:
    fields = columns.fields(line)
    return len(fields) in (4, 5) and of_data_rate(fields[2]) is not None and bool(_TIME.fullmatch(fields[3]))


def _without_nvswitches(links: list[Link], nvswitches: set[str], part: Part) -> list[Link]:
    """Links of the network between servers. Links to NVSwitches are left out, because a host has one link."""
    found = [link for link in links if link.a not in nvswitches and link.b not in nvswitches]
    part.left_out.append(
        f"NVSwitches ({len(nvswitches)}) and their {counted(len(links) - len(found), 'link')}. A host has one link, so "
        "flows within a server cross the network."
    )
    return found


def _say_losses(file: File, links: Sequence[tuple[int, str]], part: Part) -> None:
    """Reports links that lose packets at random."""
    rates: dict[str, list[int]] = {}
    for number, line in links:
        values = columns.fields(line)
        if len(values) > 4 and file.number(number, "error rate", values[4], 0, 1) > 0:
            rates.setdefault(values[4], []).append(number)
    for rate, lines in rates.items():
        of = f"the link in line {lines[0]}" if len(lines) == 1 else f"the links in lines {few(map(str, lines))}"
        part.left_out.append(f"The error rate {rate} of {of}: set `loss` in [faults] for such losses.")


def _link(file: File, number: int, line: str, nodes: int) -> Link:
    values = columns.fields(line)
    if len(values) < 4:
        raise file.wrong(number, "link", line, "source, destination, rate, delay, error rate")
    for field, text in (("source", values[0]), ("destination", values[1])):
        if not columns.is_whole(text) or int(text) >= nodes:
            raise file.wrong(number, field, text, f"a node from 0 to {nodes - 1}")
    rate, delay = of_data_rate(values[2]), values[3]
    if not rate:
        raise file.wrong(number, "rate", values[2], "a rate above zero such as 100Gbps, or 12.5GBps in bytes")
    if not _TIME.fullmatch(delay):
        raise file.wrong(number, "delay", delay, "a time such as 1us or 0.001ms")
    return Link(values[0], values[1], written(rate), delay, number)


def _is_flows(file: File) -> bool:
    """True for one number in the first line, then rows of four to six numbers with the start last."""
    head = _head(file)
    if len(head) < 2 or len(head[0]) != 1 or not columns.is_whole(head[0][0]):
        return False
    if _is_old(head[1]):
        return all(map(columns.is_whole, head[1][:4])) and all(map(columns.is_number, head[1][4:]))
    return len(head[1]) in _WIDTHS and all(map(columns.is_whole, head[1][:-1]))


def _is_old(row: Sequence[str]) -> bool:
    """True if port, bytes and start are instead packets, start and end, as in DCQCN's simulator."""
    if len(row) != len(_OLD):
        return False
    return not columns.is_whole(row[4]) or (columns.is_whole(row[3]) and int(row[3]) > _LARGEST_PORT)


def _flows(file: File, options: Options) -> Part:
    lines = list(itertools.islice(file.lines(), 2))
    if len(lines) < 2:
        raise columns.empty(file, "the number of flows, then a row for each")
    (first, head), (second, row) = lines
    count = file.whole(first, "first line", head, 1)
    width = len(columns.fields(row))
    if width not in _WIDTHS:
        raise file.wrong(second, "row", row, "source, destination, (class, port,) bytes, start")
    is_old = _is_old(columns.fields(row))
    names = [*("source", "destination"), *("class", "port")[: width - min(_WIDTHS)], "bytes", "start"]
    names = list(_OLD) if is_old else names
    unit = options.time or "s"
    table = columns.rows(file, first + 1, names)
    rest = table[count:]
    table = table.head(count)
    if table.height < count or not _has_form_of_flow(" ".join(map(str, table.row(-1)[1:])), width):
        listed = sum(_has_form_of_flow(" ".join(map(str, row[1:])), width) for row in table.iter_rows())
        if listed < count:
            raise file.wrong(first, "number of flows", count, f"{listed}, as many as the file lists")
    # Division instead of multiplication, because 10 us times 1e-6 is 9.999999999999999e-06 s.
    start = columns.numbers(file, table, "start", f"a start in {unit}") / round(1 / seconds_per_unit(unit))
    part = Part()
    part.notes.append(f"Starts are in {_WORDS.get(unit, unit)} and sizes in bytes of payload.")
    size = _packets(file, table, options.unit, part) if is_old else _bytes(file, table, options.unit)
    flows = table.select(columns.LINE, "source", "destination").with_columns(size, start)
    lines_after = rest.select(pl.concat_str(pl.exclude(columns.LINE), separator=" ", ignore_nulls=True)).to_series()
    _say_rest(part, lines_after.to_list(), counted(count, "flow"), lambda text: _has_form_of_flow(text, width), "flow")
    classes = table["class"].unique().sort().to_list() if "class" in names else []
    if len(classes) > 1:
        columns.check(file, table, "class", table["class"].str.contains(r"^\d{1,4}$"), "a priority group such as 3")
        flows = flows.with_columns(("pg" + table["class"]).alias("class"))
        part.notes.append(f"Priority groups are classes: {few((f'pg{each}' for each in classes), 8)}.")
    elif classes:
        part.left_out.append(
            f"The priority group, {classes[0]} of all flows. One group for all flows separates nothing."
        )
    if "port" in names:
        port = table["port"].cast(pl.Float64, strict=False)
        columns.check(file, table, "port", port.is_between(0, _LARGEST_PORT), _PORT)
        part.left_out.append(
            "The destination port of each flow. Paths follow from a hash of the flow's number instead."
        )
    part.flows = Flows(flows, file.origin(int(table[columns.LINE][0]), int(table[columns.LINE][-1])), str(file.path))
    return part


def _bytes(file: File, table: "pl.DataFrame", unit: str | None) -> "pl.Series":
    if unit not in (None, "B"):
        raise file.wrong(int(table[columns.LINE][0]), "--unit", unit, "B: the flows of this form have sizes in bytes")
    return columns.numbers(file, table, "bytes", "a whole number of bytes above zero", 1, is_whole=True)


def _packets(file: File, table: "pl.DataFrame", unit: str | None, part: Part) -> "pl.Series":
    """Sizes in bytes of flows that count packets. The user gives the payload of a packet."""
    line, first = int(table[columns.LINE][0]), table["packets"][0]
    if unit is None:
        raise file.wrong(
            line, "packets", first, "a unit: DCQCN's form counts packets. Give their payload, as in --unit 1000B"
        )
    count = columns.numbers(file, table, "packets", "a whole number of packets above zero", 1, is_whole=True)
    part.notes[0] = f"Starts are in seconds. Sizes are in packets, of {unit} as given: the form of DCQCN's simulator."
    part.left_out.append("The end time of each flow. A flow sends all of its packets instead.")
    size = (count.cast(pl.Float64) * bytes_per_unit(unit)).alias("bytes")
    columns.check(file, table, "packets", size <= MOST, f"at most {MOST:g} bytes")
    return size.cast(pl.Int64)


def _has_form_of_flow(text: str, width: int) -> bool:
    fields = columns.fields(text)
    return len(fields) == width and all(map(columns.is_whole, fields[:2]))


TOPOLOGY = Format(
    "hpcc-topology",
    "HPCC's, conweave's and SimAI's topology.txt: a network",
    "a line of the numbers of nodes, switches and links, then the switches, then links such as 0 16 100Gbps 1us 0",
    _is_topology,
    _topology,
    options=(
        "host_names",
        "hosts_at",
    ),
)
FLOWS = Format(
    "hpcc-flows",
    "HPCC's and conweave's flow.txt: a trace of flows",
    "a line of the number of flows, then rows: source, destination, (priority group, port,) bytes, start in seconds",
    _is_flows,
    _flows,
    options=("time", "unit"),
)
