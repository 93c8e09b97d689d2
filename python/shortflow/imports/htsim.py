"""htsim's connection matrices (`.cm`) and topologies (`.topo`).

Source: htsim's `sim/datacenter/connection_matrix.cpp` and `fat_tree_topology.cpp` (Broadcom, csg-htsim).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shortflow.imports import columns
from shortflow.imports.files import File
from shortflow.imports.parts import Flows, Format, Link, Network, Node, Options, Part, Value
from shortflow.imports.units import seconds_per_unit
from shortflow.lazy import pl
from shortflow.quantities import counted

_ENDS = re.compile(r"(\d+)->(\d+)")
_ENDLESS = 10**15
"""Bytes of a connection of size 0, which sends until the end."""
_DEFAULT = {"topology.rate": "100Gbps", "topology.rtt": "12us"}
"""htsim's own rate, and six links of 1 us each way."""
LinkOf = Callable[[str, str, int], Link]


def _is_matrix(file: File) -> bool:
    head = [columns.fields(line) for line in file.head_lines()[:3]]
    return [row[0] for row in head[:2]] == ["Nodes", "Connections"]


@dataclass
class _Connection:
    line: int
    source: str
    destination: str
    values: Mapping[str, str]
    start: float | None
    """Start in seconds; none until the trigger's time is known."""
    size: int


def _matrix(file: File, options: Options) -> Part:
    part = Part()
    counts: dict[str, int] = {}
    found: list[_Connection] = []
    unit = seconds_per_unit(options.time or "ps")
    for number, line in file.lines():
        words = columns.fields(line)
        if words[0] in ("Nodes", "Connections", "Triggers", "Failures") and len(words) > 1:
            counts[words[0]] = file.whole(number, words[0], words[1])
        elif ends := _ENDS.fullmatch(words[0]):
            found.append(_connection(file, number, ends, words[1:], counts.get("Nodes", 0), unit))
        elif words[0] == "failure":
            part.left_out.append(f"The failure in line {number}: [faults] has outages of links.")
        elif words[0] != "trigger":
            raise file.wrong(number, "line", line, "source->destination id 1 start 0 size 2000000")
    if len(found) != counts.get("Connections", len(found)):
        raise file.wrong(0, "Connections", counts["Connections"], f"{len(found)}, as many as the file lists")
    if not found:
        raise columns.empty(file, "connections such as 0->1 id 1 start 0 size 2000000")
    _put_triggered(found, part)
    endless = sum(each.size == _ENDLESS for each in found)
    if endless:
        part.notes.append(f"{counted(endless, 'connection')} without a size: {_ENDLESS:,} bytes, which no run ends.")
    started = [each for each in found if each.start is not None]
    if not started:
        raise file.wrong(found[0].line, "start", "", "a connection that no other one triggers")
    table = pl.DataFrame(
        {
            "start": [each.start for each in started],
            "source": [each.source for each in started],
            "destination": [each.destination for each in started],
            "bytes": [each.size for each in started],
        },
        schema={"start": pl.Float64, "source": pl.String, "destination": pl.String, "bytes": pl.Int64},
    )
    said = f"in {options.time}, as given" if options.time else "in picoseconds; older versions have us: give --time us"
    part.notes.append(f"Starts are {said}. Sizes are in bytes.")
    priorities = {each.values["prio"] for each in found if "prio" in each.values}
    if priorities:
        part.left_out.append(f"Priorities {', '.join(sorted(priorities))}: a scheme sets priorities.")
    part.flows = Flows(table.sort("start", maintain_order=True), file.origin(found[0].line, found[-1].line))
    _put_hosts(part, file, counts.get("Nodes", 0))
    return part


def _put_hosts(part: Part, file: File, nodes: int) -> None:
    """The network that htsim takes without a topology: a fat tree of so many hosts, if there is one."""
    k = next((k for k in range(4, 80, 2) if k**3 == 4 * nodes), None)
    if k:
        tree: dict[str, str | int] = {"topology.kind": "fat-tree", "topology.k": k, **_DEFAULT}
        why = f"assumed: htsim's own network for the {nodes} nodes of {file.name}"
        part.values |= {key: Value(value, why, is_assumed=True) for key, value in tree.items()}
    elif nodes:
        why = f"assumed: the nodes of {file.name}"
        part.values |= {"topology.hosts": Value(nodes, why, is_assumed=True)}


def _connection(
    file: File, number: int, ends: re.Match[str], words: Sequence[str], nodes: int, unit: float
) -> _Connection:
    words = [word for word in words if word != "addon"]
    values = dict(zip(words[::2], words[1::2], strict=False))
    for field_, text in (("source", ends[1]), ("destination", ends[2])):
        if nodes and int(text) >= nodes:
            raise file.wrong(number, field_, text, f"a node from 0 to {nodes - 1}")
    start = file.number(number, "start", values["start"]) * unit if "start" in values else None
    if start is None and "trigger" not in values:
        raise file.wrong(number, "start", "", "a start in picoseconds, or a trigger")
    size = file.whole(number, "size", values.get("size", "0"))
    return _Connection(number, ends[1], ends[2], values, start, size or _ENDLESS)


def _put_triggered(found: Sequence[_Connection], part: Part) -> None:
    """Flows that wait for others have no time of their own."""
    waiting = [each for each in found if each.start is None]
    if waiting:
        part.left_out.append(
            f"{counted(len(waiting), 'connection')} that a trigger starts, first in line {waiting[0].line}: no flow of "
            "a trace waits for others. Traffic of kind ring, queries or mapreduce has such flows."
        )


@dataclass
class _Tier:
    values: dict[str, float] = field(default_factory=dict)

    def of(self, key: str, default: float) -> float:
        return self.values.get(key, default)


def _is_topology(file: File) -> bool:
    first = [columns.fields(line)[0] for line in file.head_lines()[:12]]
    return first[:1] == ["Nodes"] and "Tiers" in first and "Connections" not in first


def _topology(file: File, _: Options) -> Part:
    top: dict[str, int] = {}
    tiers: dict[int, _Tier] = {}
    values: dict[str, float] | None = None
    for number, line in file.lines():
        words = columns.fields(line)
        if len(words) < 2:
            raise file.wrong(number, "line", line, "a key and a number")
        if words[0] == "Tier":
            values = tiers.setdefault(file.whole(number, "Tier", words[1]), _Tier()).values
        elif values is None:
            top[words[0]] = file.whole(number, words[0], words[1])
        else:
            values[words[0]] = file.number(number, words[0], words[1])
    for key in ("Nodes", "Tiers"):
        if key not in top:
            raise file.wrong(0, key, "", "a line with it")
    count = top["Tiers"]
    if count not in (2, 3) or set(tiers) != set(range(count)):
        raise file.wrong(0, "Tiers", count, f"2 or 3, with tables Tier 0 to Tier {count - 1}")
    part = Part()
    links, nodes = _links(file, top, tiers)
    part.network = Network(nodes, links, file.origin())
    for number_, tier in sorted(tiers.items()):
        if tier.of("Switch_Latency_ns", 0) > 0:
            part.notes.append(f"The switch latency of tier {number_} is added to the delay of its links below.")
        queue = {key: value for key, value in tier.values.items() if "Queue" in key}
        if queue:
            part.left_out.append(f"Queues of tier {number_}: {', '.join(queue)}; give switch.buffer with --set.")
    return part


def _links(file: File, top: Mapping[str, int], tiers: Mapping[int, _Tier]) -> tuple[list[Link], list[Node]]:
    """Hosts below racks, racks below aggregation by pods, all below the core, as htsim wires them."""
    nodes, count = top["Nodes"], top["Tiers"]
    down = [int(tiers[each].of("Radix_Down", 0)) for each in range(count)]
    up = [int(tiers[each].of("Radix_Up", 0)) for each in range(count - 1)]
    if not all(down) or not all(up):
        raise file.wrong(0, "Radix_Down and Radix_Up", "", "numbers above zero in each tier")
    bundle = [max(int(tiers[each].of("Bundle", 1)), 1) for each in range(count)]
    racks = nodes // down[0]
    pods = 1 if count == 2 else nodes // top.get("Podsize", nodes)
    per_pod = racks // max(pods, 1)
    if not racks or racks * down[0] != nodes or not pods or per_pod * pods != racks:
        raise file.wrong(0, "Nodes", nodes, f"a multiple of Radix_Down {down[0]} and of the pod's size")

    def link(a: str, b: str, tier: int) -> Link:
        rate = tiers[tier].of("Downlink_speed_Gbps", 100) * bundle[tier]
        delay = tiers[tier].of("Downlink_Latency_ns", 1000) + tiers[tier].of("Switch_Latency_ns", 0)
        return Link(a, b, f"{rate:.12g}Gbps", f"{delay:.12g}ns")

    found = [link(str(host), f"tor{host // down[0]}", 0) for host in range(nodes)]
    listed = [Node(str(host), True) for host in range(nodes)] + [
        Node(f"tor{rack}", False, "tor") for rack in range(racks)
    ]
    aggs = up[0] // bundle[1]
    names = "spine" if count == 2 else "agg"
    for pod in range(pods):
        listed += [Node(f"{names}{pod * aggs + each}", False, names) for each in range(aggs)]
        for rack in range(pod * per_pod, (pod + 1) * per_pod):
            found += [link(f"tor{rack}", f"{names}{pod * aggs + each}", 1) for each in range(aggs)]
    if count == 3:
        found += _core_links(link, pods * aggs, aggs, up[1] // bundle[2])
        listed += [Node(f"core{each}", False, "core") for each in range(aggs * (up[1] // bundle[2]))]
    return found, listed


def _core_links(link: LinkOf, aggregations: int, aggs: int, uplinks: int) -> Iterator[Link]:
    """The j-th aggregation switch of each pod reaches the j-th group of core switches."""
    for agg in range(aggregations):
        for each in range(uplinks):
            yield link(f"agg{agg}", f"core{(agg % aggs) * uplinks + each}", 2)


MATRIX = Format(
    "htsim-cm",
    "htsim's connection matrix (.cm): a trace of flows",
    "lines Nodes 16 and Connections 15, then rows such as 1->0 id 1 start 0 size 2000000",
    _is_matrix,
    _matrix,
)
TOPOLOGY = Format(
    "htsim-topo",
    "htsim's topology (.topo): a network of two or three tiers",
    "lines Nodes 32, Tiers 2, Podsize 32, then tables Tier 0, Tier 1 with Radix_Down, Downlink_speed_Gbps …",
    _is_topology,
    _topology,
)
