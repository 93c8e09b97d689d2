"""htsim's connection matrices (`.cm`): flows, and triggers that start flows when others end.

Source: htsim's `sim/datacenter/connection_matrix.cpp` (Broadcom, csg-htsim).
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from shortflow.imports import columns
from shortflow.imports.files import MOST, File
from shortflow.imports.networks import few
from shortflow.imports.parts import Flows, Format, Options, Part, Value
from shortflow.imports.units import seconds_per_unit
from shortflow.lazy import pl
from shortflow.quantities import counted

_ENDS = re.compile(r"(\d+)->(\d+)")
_WORDS = ("id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger", "prio")
_COUNTS = ("Nodes", "Connections", "Triggers", "Failures")
_MOST_NODES = 100_000
_DEFAULT = {"topology.rate": "100Gbps", "topology.rtt": "12us"}
"""htsim's default rate, and the round-trip time of six links of 1 us each way."""


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
            part.left_out.append(f"The failure in line {number}. Use [faults] for outages of links.")
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
        raise file.wrong(found[0].line, "start", "", "a connection without a trigger")
    said = (
        f"in {options.time}, by --time"
        if options.time
        else "in picoseconds (older versions of htsim write microseconds: give --time us)"
    )
    part.notes.append(f"Starts are {said}. Sizes are in bytes.")
    priorities = {each.values["prio"] for each in found if "prio" in each.values}
    if priorities:
        part.left_out.append(f"Priorities {', '.join(sorted(priorities))}. Schemes set priorities instead.")
    _put_hosts(part, file, counts.get("Nodes", 0))
    return part


def _put_hosts(part: Part, file: File, nodes: int) -> None:
    """Assumes the network that htsim builds without a topology: a fat tree with this number of hosts, if one exists."""
    k = next((k for k in range(4, 80, 2) if k**3 == 4 * nodes), None)
    if k:
        tree: dict[str, str | int] = {"topology.kind": "fat-tree", "topology.k": k, **_DEFAULT}
        why = f"assumed: htsim's default network for the {nodes} nodes of {file.name}"
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
            raise file.wrong(number, "word", key, f"each of {', '.join(_WORDS)} at most once, followed by a value")
        values[key] = value
    for field_, text in (("source", ends[1]), ("destination", ends[2])):
        if nodes and int(text) >= nodes:
            raise file.wrong(number, field_, text, f"a node from 0 to {nodes - 1}")
    if ("start" in values) == ("trigger" in values):
        raise file.wrong(number, "start", values.get("start", ""), "either a start in picoseconds or a trigger")
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
            f"{counted(lost, 'connection')} that can never start, because their triggers wait for connections that are "
            "left out or never end."
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
            f"Connections of triggers {few(dict.fromkeys(no_counterpart))}. In Shortflow, a flow waits for all "
            "connections that activate its trigger. These triggers wait for some of several connections, or for none."
        )
    if any("send_done_trigger" in found[each].values for needed in waits.values() for each in needed):
        part.notes.append(
            f"{counted(len(waits), 'triggered connection')}, each started by the arrival of the last byte of the "
            "connections before. In htsim a send_done_trigger waits for the ACK of this byte."
        )
    return waits


MATRIX = Format(
    "htsim-cm",
    "htsim's connection matrix (.cm): a trace of flows",
    "lines Nodes 16 and Connections 15, then rows such as 1->0 id 1 start 0 size 2000000",
    _is_matrix,
    _matrix,
    options=("time",),
)
