"""htsim's topologies (`.topo`): fat trees of two or three tiers.

Source: htsim's `sim/datacenter/fat_tree_topology.cpp` (Broadcom, csg-htsim).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from shortflow.imports import columns
from shortflow.imports.files import File
from shortflow.imports.networks import few
from shortflow.imports.parts import Format, Link, Network, Node, Options, Part

_MOST_NODES, _MOST_LINKS = 100_000, 2_000_000
LinkOf = Callable[[str, str, int], Link]
_WHOLE = ("Radix_Down", "Radix_Up", "Bundle")
_LINK = {"Downlink_speed_Gbps": 100.0, "Downlink_Latency_ns": 1000.0}
"""Keys of the links below a tier, with the assumed values of missing keys."""
_READ = (*_WHOLE, *_LINK, "Switch_Latency_ns", "Oversubscribed")
_TOP = ("Nodes", "Tiers", "Podsize")
_EXAMPLES = {"Nodes": 32, "Tiers": 2}
_CASES = {key.lower(): key for key in (*_READ, "Nodes", "Tiers", "Podsize", "Tier", "Connections")}


@dataclass
class _Tier:
    line: int = 0
    values: dict[str, float] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def of(self, key: str, default: float) -> float:
        return self.values.get(key, default)


def _is_topology(file: File) -> bool:
    first = [_key(columns.fields(line)[0]) for line in file.head_lines()[:12]]
    return first[:1] == ["Nodes"] and "Tiers" in first and "Connections" not in first


def _key(word: str) -> str:
    """A key in the spelling of this module. htsim ignores the case of a topology's keys."""
    return _CASES.get(word.lower(), word)


def _keys(file: File) -> tuple[_Tier, Mapping[int, _Tier]]:
    """Keys above the tables, and the tables of the tiers."""
    top, tiers = _Tier(1), dict[int, _Tier]()
    table = top
    for number, line in file.lines():
        words = columns.fields(line)
        if len(words) < 2:
            raise file.wrong(number, "line", line, "a key and a number")
        words[0] = _key(words[0])
        if words[0] == "Tier":
            level = file.whole(number, "Tier", words[1], 0, 2)
            if level in tiers:
                raise file.wrong(number, "Tier", level, f"each tier once; line {tiers[level].line} has it")
            table = tiers.setdefault(level, _Tier(number))
            continue
        if words[0] in table.lines:
            raise file.wrong(number, words[0], words[1], f"each key once; line {table.lines[words[0]]} has it")
        table.lines[words[0]] = number
        if table is top:
            table.values[words[0]] = file.whole(number, words[0], words[1], 0, _MOST_NODES)
        elif words[0] in _WHOLE:
            table.values[words[0]] = file.whole(number, words[0], words[1], 1, _MOST_NODES)
        else:
            table.values[words[0]] = file.number(number, words[0], words[1])
    return top, tiers


def _topology(file: File, _: Options) -> Part:
    top, tiers = _keys(file)
    for key in ("Nodes", "Tiers"):
        if key not in top.values:
            raise file.wrong(1, key, "nothing", f"a line such as {key} {_EXAMPLES[key]}")
    count = int(top.values["Tiers"])
    if count not in (2, 3):
        raise file.wrong(top.lines["Tiers"], "Tiers", count, "2 or 3")
    if missing := [each for each in range(count) if each not in tiers]:
        raise file.wrong(top.lines["Tiers"], "Tiers", count, f"also a table Tier {missing[0]}")
    if more := [each for each in tiers if each >= count]:
        raise file.wrong(tiers[more[0]].line, "Tier", more[0], f"a tier from 0 to {count - 1}, as Tiers is {count}")
    part = Part()
    links, nodes = _links(file, top, tiers)
    part.network = Network(nodes, links, file.origin())
    for number_, tier in sorted(tiers.items()):
        for key, value in _LINK.items():
            if key not in tier.values:
                part.notes.append(f"Tier {number_} has no {key}; the import assumes {value:g}.")
        if tier.of("Switch_Latency_ns", 0) > 0:
            part.notes.append(
                f"Half of the switch latency of tier {number_} is added to the delay of the links on either side."
            )
        _say_left_out(part, number_, tier)
    if count == 2 and top.of("Podsize", top.values["Nodes"]) != top.values["Nodes"]:
        part.left_out.append(f"Podsize {top.values['Podsize']:g}. With two tiers, all racks are one pod.")
    others = [key for key in top.values if key not in _TOP]
    if others:
        part.left_out.append(f"Keys above the tiers without a counterpart: {few(others)}.")
    return part


def _say_left_out(part: Part, number: int, tier: _Tier) -> None:
    """Reports keys of a tier that the network does not have."""
    queues = [f"{key} {value:.12g}" for key, value in tier.values.items() if "queue" in key.lower()]
    if queues:
        part.left_out.append(
            f"{' and '.join(queues)} of tier {number}: the file does not say whether the numbers are bytes or "
            "packets. Give --set switch.buffer=150KB, or switch.TIER.buffer and switch.TIER.up.buffer for one tier."
        )
    if "Oversubscribed" in tier.values:
        part.left_out.append(
            f"Oversubscribed {tier.values['Oversubscribed']:.12g} of tier {number}. The links follow from Radix_Down, "
            "Radix_Up and the rates instead."
        )
    others = [key for key in tier.values if key not in _READ and "queue" not in key.lower()]
    if others:
        part.left_out.append(f"Keys of tier {number} without a counterpart: {few(others)}.")


def _links(file: File, top: _Tier, tiers: Mapping[int, _Tier]) -> tuple[list[Link], list[Node]]:
    """Links and nodes as htsim wires them: hosts to racks, racks to the aggregation of their pod, all to the core."""
    nodes, count = int(top.values["Nodes"]), int(top.values["Tiers"])
    for each in range(count):
        for key in ("Radix_Down", "Radix_Up")[: 1 if each == count - 1 else 2]:
            if key not in tiers[each].values:
                raise file.wrong(tiers[each].line, f"Tier {each}", "no " + key, f"a line such as {key} 8")
    down = [int(tiers[each].values["Radix_Down"]) for each in range(count)]
    up = [int(tiers[each].values["Radix_Up"]) for each in range(count - 1)]
    bundle = [max(int(tiers[each].of("Bundle", 1)), 1) for each in range(count)]
    racks = nodes // down[0]
    pods = 1 if count == 2 else nodes // max(int(top.of("Podsize", nodes)), 1)
    per_pod = racks // max(pods, 1)
    if not racks or racks * down[0] != nodes or not pods or per_pod * pods != racks:
        size = f" and of Podsize {top.of('Podsize', nodes):g}" if count > 2 else ""
        raise file.wrong(top.lines["Nodes"], "Nodes", nodes, f"a multiple of Radix_Down {down[0]} of tier 0{size}")

    def link(a: str, b: str, tier: int) -> Link:
        rate = tiers[tier].of("Downlink_speed_Gbps", _LINK["Downlink_speed_Gbps"]) * bundle[tier]
        # A path crosses each of its switches once, so each of its two links there gets half of the switch's latency.
        switches = [tiers[each].of("Switch_Latency_ns", 0) for each in (tier, tier - 1) if each >= 0]
        delay = tiers[tier].of("Downlink_Latency_ns", _LINK["Downlink_Latency_ns"]) + sum(switches) / 2
        return Link(a, b, f"{rate:.12g}Gbps", f"{delay:.12g}ns")

    found = [link(str(host), f"tor{host // down[0]}", 0) for host in range(nodes)]
    listed = [Node(str(host), True) for host in range(nodes)] + [
        Node(f"tor{rack}", False, "tor") for rack in range(racks)
    ]
    aggs = up[0] // bundle[1]
    uplinks = up[1] // bundle[2] if count == 3 else 0
    for tier, links in ((1, aggs), (2, uplinks))[: count - 1]:
        if not links:
            least = f"at most Radix_Up {up[tier - 1]} of tier {tier - 1}"
            raise file.wrong(tiers[tier].lines["Bundle"], "Bundle", bundle[tier], least)
    if nodes + racks * aggs + pods * aggs * uplinks > _MOST_LINKS:
        links = nodes + racks * aggs + pods * aggs * uplinks
        raise file.wrong(top.lines["Nodes"], "links", links, f"at most {_MOST_LINKS:,}")
    names = "spine" if count == 2 else "agg"
    for pod in range(pods):
        listed += [Node(f"{names}{pod * aggs + each}", False, names) for each in range(aggs)]
        for rack in range(pod * per_pod, (pod + 1) * per_pod):
            found += [link(f"tor{rack}", f"{names}{pod * aggs + each}", 1) for each in range(aggs)]
    if count == 3:
        found += _core_links(link, pods * aggs, aggs, uplinks)
        listed += [Node(f"core{each}", False, "core") for each in range(aggs * uplinks)]
    return found, listed


def _core_links(link: LinkOf, aggregations: int, aggs: int, uplinks: int) -> Iterator[Link]:
    """Links from aggregation to core: switch j of each pod reaches group j of the core switches."""
    for agg in range(aggregations):
        for each in range(uplinks):
            yield link(f"agg{agg}", f"core{(agg % aggs) * uplinks + each}", 2)


TOPOLOGY = Format(
    "htsim-topo",
    "htsim's topology (.topo): a network of two or three tiers",
    "lines Nodes 32, Tiers 2, Podsize 32, then tables Tier 0, Tier 1 with Radix_Down, Downlink_speed_Gbps …",
    _is_topology,
    _topology,
)
