"""htsim's connection matrices (`.cm`) and topologies (`.topo`).

Source: htsim's `sim/datacenter/connection_matrix.cpp` and `fat_tree_topology.cpp` (Broadcom, csg-htsim).
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from shortflow.imports import columns
from shortflow.imports.files import MOST, File
from shortflow.imports.networks import few
from shortflow.imports.parts import Flows, Format, Link, Network, Node, Options, Part, Value
from shortflow.imports.units import seconds_per_unit
from shortflow.lazy import pl
from shortflow.quantities import counted

_ENDS = re.compile(r"(\d+)->(\d+)")
_WORDS = ("id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger", "prio")
_COUNTS = ("Nodes", "Connections", "Triggers", "Failures")
_MOST_NODES, _MOST_LINKS = 100_000, 2_000_000
_DEFAULT = {"topology.rate": "100Gbps", "topology.rtt": "12us"}
"""htsim's default rate, and the round-trip time of six links of 1 us each way."""
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
    """Start in seconds. None if a trigger starts the connection."""
    size: int
    """Bytes. 0 for a connection that sends until the end."""


@dataclass(frozen=True)
class _Trigger:
    line: int
    kind: str
    """One of oneshot, multishot and barrier."""
    count: int
    """Number of activations for which a barrier waits."""


def _matrix(file: File, options: Options) -> Part:
    part = Part()
    counts: dict[str, int] = {}
    lines: dict[str, int] = {}
    failures = 0
    found: list[_Connection] = []
    triggers: dict[str, _Trigger] = {}
    for number, line in file.lines():
        words = columns.fields(line)
        if words[0] in _COUNTS and len(words) > 1:
            if words[0] in lines:
                raise file.wrong(number, words[0], words[1], f"each count once; line {lines[words[0]]} has it")
            lines[words[0]] = number
            most = _MOST_NODES if words[0] == "Nodes" else MOST
            counts[words[0]] = file.whole(number, words[0], words[1], 0, most)
        elif ends := _ENDS.fullmatch(words[0]):
            found.append(_connection(file, number, ends, words[1:], counts.get("Nodes", 0), options))
        elif words[0] == "trigger":
            _add_trigger(file, number, words[1:], triggers)
        elif words[0] == "failure":
            failures += 1
            part.left_out.append(f"The failure in line {number}: [faults] has outages of links.")
        else:
            raise file.wrong(number, "line", line, "source->destination id 1 start 0 size 2000000")
    listed = {"Connections": len(found), "Triggers": len(triggers), "Failures": failures}
    for name, of_file in listed.items():
        if counts.get(name, of_file) != of_file:
            raise file.wrong(lines[name], name, counts[name], f"{of_file}, as many as the file lists")
    if not found:
        raise columns.empty(file, "connections such as 0->1 id 1 start 0 size 2000000")
    _check_ids(file, found)
    started = _put_flows(file, found, triggers, part)
    if not started:
        raise file.wrong(found[0].line, "start", "", "a connection that no other one triggers")
    said = f"in {options.time}, as given" if options.time else "in picoseconds; older versions have us: give --time us"
    part.notes.append(f"Starts are {said}. Sizes are in bytes.")
    priorities = {each.values["prio"] for each in found if "prio" in each.values}
    if priorities:
        part.left_out.append(f"Priorities {', '.join(sorted(priorities))}: a scheme sets priorities.")
    _put_hosts(part, file, counts.get("Nodes", 0))
    return part


def _put_hosts(part: Part, file: File, nodes: int) -> None:
    """Assumes the network that htsim builds without a topology: a fat tree with this number of hosts, if one exists."""
    k = next((k for k in range(4, 80, 2) if k**3 == 4 * nodes), None)
    if k:
        tree: dict[str, str | int] = {"topology.kind": "fat-tree", "topology.k": k, **_DEFAULT}
        why = f"assumed: htsim's own network for the {nodes} nodes of {file.name}"
        part.values |= {key: Value(value, why, is_assumed=True) for key, value in tree.items()}
    elif nodes:
        why = f"assumed: the nodes of {file.name}"
        part.values |= {"topology.hosts": Value(nodes, why, is_assumed=True)}


def _connection(
    file: File, number: int, ends: re.Match[str], words: Sequence[str], nodes: int, options: Options
) -> _Connection:
    values: dict[str, str] = {}
    for key, value in zip_longest(words[::2], words[1::2]):
        if key not in _WORDS or value is None or key in values:
            raise file.wrong(number, "word", key, f"each of {', '.join(_WORDS)} at most once, and a value behind each")
        values[key] = value
    for field_, text in (("source", ends[1]), ("destination", ends[2])):
        if nodes and int(text) >= nodes:
            raise file.wrong(number, field_, text, f"a node from 0 to {nodes - 1}")
    if ("start" in values) == ("trigger" in values):
        raise file.wrong(number, "start", values.get("start", ""), "a start in picoseconds, or a trigger, and not both")
    start = None
    if "start" in values:
        start = file.number(number, "start", values["start"])
        if start % 1 and not options.time:
            raise file.wrong(
                number, "start", values["start"], "whole picoseconds. Older versions have microseconds: give --time us"
            )
        start /= round(1 / seconds_per_unit(options.time or "ps"))  # 10 us times 1e-6 is 9.999999999999999e-06 s
    size = file.whole(number, "size", values.get("size", "0"))
    return _Connection(number, ends[1], ends[2], values, start, size)


def _add_trigger(file: File, number: int, words: Sequence[str], triggers: dict[str, _Trigger]) -> None:
    text = " ".join(words)
    found = re.fullmatch(r"id (\d+) (?:(oneshot|multishot)|(?:count (\d+) )?barrier(?: count (\d+))?)", text)
    if not found:
        raise file.wrong(number, "trigger", text, "id 1 oneshot, id 1 multishot, or id 1 barrier count 2")
    if found[1] in triggers:
        raise file.wrong(number, "trigger", found[1], "each trigger once")
    count = int(found[3] or found[4] or 0)
    triggers[found[1]] = _Trigger(number, found[2] or "barrier", count)


def _check_ids(file: File, found: Sequence[_Connection]) -> None:
    seen: dict[str, int] = {}
    for each in found:
        if (of := each.values.get("id")) is not None and seen.setdefault(of, each.line) != each.line:
            raise file.wrong(each.line, "id", of, f"each id once; line {seen[of]} has it")


def _put_flows(file: File, found: Sequence[_Connection], triggers: Mapping[str, _Trigger], part: Part) -> bool:
    """Adds flows by start, then each waiting flow after the flows for which it waits.

    Returns True if at least one connection has a start.
    """
    known = [place for place, each in enumerate(found) if each.start is not None]
    after = _waits(file, found, triggers, part)
    order = [place for place in sorted(known, key=lambda place: found[place].start or 0.0) if found[place].size]
    followers: dict[int, list[int]] = defaultdict(list)
    left = {place: len(needed) for place, needed in after.items() if found[place].size}
    for place in left:
        for each in after[place]:
            followers[each].append(place)
    for place in order:  # the list grows in the loop
        for follower in followers[place]:
            left[follower] -= 1
            if not left[follower]:
                order.append(follower)
    rows = {place: number for number, place in enumerate(order, start=1)}
    endless = [each for each in found if not each.size and each.start is not None]
    lost = len(found) - len(order) - len(endless)
    if lost:
        part.left_out.append(
            f"{counted(lost, 'connection')} that can never start: their triggers wait for connections that are left "
            "out or never end."
        )
    if endless:
        part.endless = [(each.start or 0.0, each.source, each.destination) for each in endless]
        said = "sends" if len(endless) == 1 else "send"
        part.notes.append(f"{counted(len(endless), 'connection')} of size 0 {said} until the end of the run.")
    if order:
        table = {
            columns.LINE: [found[place].line for place in order],
            "start": [found[place].start or 0.0 for place in order],
            "source": [found[place].source for place in order],
            "destination": [found[place].destination for place in order],
            "bytes": [found[place].size for place in order],
        }
        if after:
            table["after"] = [" ".join(str(rows[each]) for each in after.get(place, ())) for place in order]
        part.flows = Flows(pl.DataFrame(table), file.origin(found[0].line, found[-1].line), str(file.path))
    return bool(known)


def _waits(
    file: File, found: Sequence[_Connection], triggers: Mapping[str, _Trigger], part: Part
) -> Mapping[int, Sequence[int]]:
    """Connections for which each triggered connection waits, by position.

    Connections whose trigger has no counterpart are left out.
    """
    fires: dict[str, list[int]] = defaultdict(list)
    for place, each in enumerate(found):
        for key in ("send_done_trigger", "recv_done_trigger"):
            if key in each.values:
                fires[each.values[key]].append(place)
    waits: dict[int, Sequence[int]] = {}
    no_counterpart: list[str] = []
    for place, each in enumerate(found):
        name = each.values.get("trigger")
        if name is None:
            continue
        trigger = triggers.get(name)
        if trigger is None:
            raise file.wrong(each.line, "trigger", name, "a trigger of the file, such as `trigger id 1 oneshot`")
        needed = len(fires[name]) if trigger.kind == "barrier" and not trigger.count else trigger.count
        if len(fires[name]) != (needed if trigger.kind == "barrier" else 1):
            no_counterpart.append(f"{name} in line {trigger.line}")
        else:
            waits[place] = fires[name]
    if no_counterpart:
        part.left_out.append(
            f"Connections of triggers {few(dict.fromkeys(no_counterpart))}: a flow waits here for all connections that "
            "activate its trigger. These triggers wait for some of several connections, or for none."
        )
    if any("send_done_trigger" in found[each].values for needed in waits.values() for each in needed):
        part.notes.append(
            f"{counted(len(waits), 'triggered connection')}: the last byte of the connections before starts each. In "
            "htsim a send_done_trigger waits for the ACK of that byte."
        )
    return waits


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
        raise file.wrong(top.lines["Tiers"], "Tiers", count, f"a table Tier {missing[0]} too")
    if more := [each for each in tiers if each >= count]:
        raise file.wrong(tiers[more[0]].line, "Tier", more[0], f"a tier from 0 to {count - 1}, as Tiers is {count}")
    part = Part()
    links, nodes = _links(file, top, tiers)
    part.network = Network(nodes, links, file.origin())
    for number_, tier in sorted(tiers.items()):
        for key, value in _LINK.items():
            if key not in tier.values:
                part.notes.append(f"Tier {number_} has no {key}: assumed {value:g}.")
        if tier.of("Switch_Latency_ns", 0) > 0:
            part.notes.append(
                f"Half of the switch latency of tier {number_} is added to the delay of the links on either side."
            )
        _say_left_out(part, number_, tier)
    if count == 2 and top.of("Podsize", top.values["Nodes"]) != top.values["Nodes"]:
        part.left_out.append(f"Podsize {top.values['Podsize']:g}: the racks of two tiers are one pod.")
    others = [key for key in top.values if key not in _TOP]
    if others:
        part.left_out.append(f"Keys above the tiers without a counterpart: {few(others)}.")
    return part


def _say_left_out(part: Part, number: int, tier: _Tier) -> None:
    """Reports keys of a tier that the network does not have."""
    queues = [f"{key} {value:.12g}" for key, value in tier.values.items() if "queue" in key.lower()]
    if queues:
        part.left_out.append(
            f"{' and '.join(queues)} of tier {number}: the file does not say whether these are bytes or packets. Give "
            "--set switch.buffer=150KB, or switch.TIER.buffer and switch.TIER.up.buffer for one tier."
        )
    if "Oversubscribed" in tier.values:
        part.left_out.append(
            f"Oversubscribed {tier.values['Oversubscribed']:.12g} of tier {number}: the links follow from Radix_Down, "
            "Radix_Up and the rates."
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


MATRIX = Format(
    "htsim-cm",
    "htsim's connection matrix (.cm): a trace of flows",
    "lines Nodes 16 and Connections 15, then rows such as 1->0 id 1 start 0 size 2000000",
    _is_matrix,
    _matrix,
    options=("time",),
)
TOPOLOGY = Format(
    "htsim-topo",
    "htsim's topology (.topo): a network of two or three tiers",
    "lines Nodes 32, Tiers 2, Podsize 32, then tables Tier 0, Tier 1 with Radix_Down, Downlink_speed_Gbps …",
    _is_topology,
    _topology,
)
