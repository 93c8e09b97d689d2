"""The network of a scenario in a form for arithmetic: links, shortest paths, framing and queues.

The simulator names the ports. The keys of `[topology]` give rates and delays.
"""

import csv
import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shortflow import _core
from shortflow.errors import ConfigError
from shortflow.quantities import parse
from shortflow.scenario import Scenario

Pair = tuple[str, str]
"""Sending and receiving node."""

_ACROSS = {"star": 2, "dumbbell": 3, "parking-lot": 4, "single-rooted-tree": 4, "two-tier-tree": 4, "leaf-spine": 4}
"""Number of links on the longest path. The links share the round-trip time equally."""
_ETHERNET_HEADER, _ETHERNET_SHORTEST, _ETHERNET_GAP = 18, 64, 20
UNLIMITED = float("inf")


class Wire(NamedTuple):
    """One direction of a link."""

    rate_bps: float
    delay_s: float


@dataclass(frozen=True)
class Framing:
    """Sizes of packets in bytes, from `[tcp]`."""

    mss: float
    header: float
    ethernet: bool

    def on_wire(self, payload: float) -> float:
        """Bytes of one packet on a link, including preamble and gap of Ethernet."""
        packet = payload + self.header
        return max(packet + _ETHERNET_HEADER, _ETHERNET_SHORTEST) + _ETHERNET_GAP if self.ethernet else packet

    @property
    def in_queue(self) -> float:
        """Bytes of a full packet in a queue."""
        return self.on_wire(self.mss) - (_ETHERNET_GAP if self.ethernet else 0)

    @property
    def efficiency(self) -> float:
        """Payload of a full packet divided by its bytes on the wire: the largest share of a link's rate for goodput."""
        return self.mss / self.on_wire(self.mss)

    def flow_bytes(self, size: float) -> float:
        """Bytes of a flow on a link, including the header of each segment."""
        full, last = divmod(size, self.mss)
        return full * self.on_wire(self.mss) + (self.on_wire(last) if last else 0.0)


@dataclass(frozen=True, eq=False)
class Network:
    """Links by port, and the values of a scenario that arithmetic needs."""

    links: Mapping[Pair, Wire]
    hosts: Sequence[str]
    framing: Framing
    values: Mapping[str, str]
    """All values of the scenario, by key."""
    tiers: Mapping[str, str]
    """Tier of each switch, from the file of nodes. Empty without such a file."""

    @classmethod
    def of(cls, scenario: Scenario) -> "Network":
        """The network of a scenario."""
        values = {each["key"]: each["value"] for each in scenario.resolved()}
        ports = [(a, b) for a, _, b in (name.partition("->") for name in scenario.core.ports())]
        links = _links(ports, values, scenario)
        file = values.get("topology.node_file")
        nodes = list(_rows(scenario, file)) if file else []
        if file:
            switches = {row["name"] for row in nodes if row["kind"] == "switch"}
        else:
            switches = {node for port in ports for node in port if not node.startswith("h")}
        hosts = [name for name in dict.fromkeys(a for a, _ in ports) if name not in switches]
        framing = Framing(
            base_value(values, "tcp.mss"), base_value(values, "tcp.header"), values["tcp.wire"] == "ethernet"
        )
        tiers = {row["name"]: row.get("tier", "") for row in nodes}
        return cls(links, sorted(hosts, key=_place_of), framing, values, tiers)

    @functools.cached_property
    def after(self) -> dict[str, list[str]]:
        """Neighbours of each node."""
        found = defaultdict(list)
        for a, b in self.links:
            found[a].append(b)
        return dict(found)

    @functools.cached_property
    def _hosts(self) -> frozenset[str]:
        return frozenset(self.hosts)

    def is_host(self, node: str) -> bool:
        """True if the node is a host."""
        return node in self._hosts

    def rack(self, host: str) -> str:
        """The first switch of a host."""
        return self.after[host][0]

    @functools.cache  # noqa: B019 (one network a command)
    def distances(self, destination: str) -> dict[str, int]:
        """Number of links from each node to a host. Paths lead over switches only."""
        found, edge = {destination: 0}, [destination]
        while edge:
            reached = []
            for node in edge:
                if node != destination and self.is_host(node):
                    continue
                for other in self.after[node]:
                    if other not in found:
                        found[other] = found[node] + 1
                        reached.append(other)
            edge = reached
        return found

    def next_hops(self, node: str, destination: str) -> list[str]:
        """Neighbours of a node on shortest paths to a host."""
        distances = self.distances(destination)
        return [each for each in self.after[node] if distances.get(each, -1) == distances[node] - 1]

    def path(self, source: str, destination: str) -> list[Pair]:
        """The first of the shortest paths between two hosts."""
        found, node = [], source
        while node != destination:
            following = self.next_hops(node, destination)[0]
            found.append((node, following))
            node = following
        return found

    def spread(self, demands: Mapping[Pair, float]) -> dict[Pair, float]:
        """Total demand on each link, from demands by (source, destination). Equal next hops get equal shares."""
        total: dict[Pair, float] = defaultdict(float)
        towards: dict[str, dict[str, float]] = defaultdict(dict)
        for (source, destination), demand in demands.items():
            towards[destination][source] = towards[destination].get(source, 0.0) + demand
        for destination, sources in towards.items():
            distances, waiting = self.distances(destination), defaultdict(dict)  # type: ignore[var-annotated]
            for source, demand in sources.items():
                waiting[distances[source]][source] = demand
            for distance in range(max(waiting, default=0), 0, -1):
                for node, demand in waiting[distance].items():
                    following = self.next_hops(node, destination)
                    for each in following:
                        share = demand / len(following)
                        total[node, each] += share
                        waiting[distance - 1][each] = waiting[distance - 1].get(each, 0.0) + share
        return dict(total)

    def round_trip_s(self, path: Iterable[Pair]) -> float:
        """Round-trip time in seconds, with transmission of one full packet and its ACK on each link."""
        return self.ideal_s(self.framing.mss, list(path))

    def ideal_s(self, size: float, path: Sequence[Pair]) -> float:
        """Completion time of a flow in an empty network, until its last byte is acknowledged, in seconds.

        Switches store and forward.
        """
        framing, links = self.framing, [self.links[port] for port in path]
        full, last = divmod(size, framing.mss)
        if not last:
            full, last = full - 1, framing.mss
        slowest = first = done = arrived = 0.0
        for link in links:
            one = framing.on_wire(framing.mss) * 8 / link.rate_bps
            slowest = max(slowest, one)
            first += one + link.delay_s
            arrived = first + slowest * (full - 1) if full else 0.0
            done = max(done, arrived - link.delay_s) + framing.on_wire(last) * 8 / link.rate_bps + link.delay_s
        back = (self.links[b, a] for a, b in path)
        return max(done, arrived) + sum(framing.on_wire(0) * 8 / link.rate_bps + link.delay_s for link in back)

    def slowest(self, path: Iterable[Pair]) -> Pair:
        """The slowest link of a path. Of equally slow links, the last one."""
        return min(reversed(list(path)), key=lambda port: self.links[port].rate_bps)

    def queue(self, port: Pair, key: str) -> float:
        """`buffer` or `mark_above` of a port in bytes. Infinite if unlimited."""
        if self.is_host(port[0]):
            return self.bytes_of(self.values[f"host.{key}"])
        tier = self.tier(port[0])
        up = [f"switch.{tier}.up"] if self._leads_up(port) else []
        tables = (f"switch.{port[0]}->{port[1]}", *up, f"switch.{tier}", "switch")
        return self.bytes_of(next(self.values[name] for each in tables if (name := f"{each}.{key}") in self.values))

    def tier(self, switch: str) -> str:
        """Tier of a switch, as in the names of the scenario's tables."""
        if switch in self.tiers:
            return self.tiers[switch]
        if self.values["topology.kind"] == "parking-lot":
            # All switches of a parking lot have the stem `s`, so the stem does not give the tier.
            return {"s0": "first", "s1": "second", "s2": "last"}[switch]
        return switch.rstrip("0123456789")

    def bytes_of(self, value: str) -> float:
        """A size in bytes. Packets count as full packets. Infinite for words."""
        found = parse(value)
        if found is None:
            return UNLIMITED
        return found.number * (self.framing.in_queue if found.unit == "pkt" else found.factor)

    def uplinks_beyond(self, share: float) -> Iterator[Pair]:
        """Uplinks of each switch except the first ones, which are the given share of its uplinks and at least one.

        Switches with one uplink are left out.
        """
        for switch in self.after:
            above = [each for each in self.after[switch] if self._leads_up((switch, each))]
            if not self.is_host(switch) and len(above) > 1:
                yield from ((switch, each) for each in above[max(round(len(above) * share), 1) :])

    def _leads_up(self, port: Pair) -> bool:
        if self.is_host(port[1]):
            return False
        if self.values["topology.kind"] == "parking-lot":
            return port[1] > port[0]
        return self._heights[port[1]] > self._heights[port[0]]

    @functools.cached_property
    def _heights(self) -> dict[str, int]:
        found, edge = dict.fromkeys(self.hosts, 0), list(self.hosts)
        while edge:
            reached = dict.fromkeys(other for node in edge for other in self.after[node] if other not in found)
            found.update(dict.fromkeys(reached, found[edge[0]] + 1))
            edge = list(reached)
        return found


def base_value(values: Mapping[str, str], key: str, default: float = UNLIMITED) -> float:
    """A value in base units (s, B, bps). `default` for words and missing keys."""
    found = parse(values.get(key, ""))
    return default if found is None else found.number * found.factor


def hosts_of(text: str, network: Network) -> list[str]:
    """Hosts in the value of a key such as `all`, `0-19`, `22` or `[0, 4]`, by number or name."""
    found: list[str] = []
    if text == "all":
        return list(network.hosts)
    for part in (each.strip().strip("\"'") for each in text.strip("[]").split(",")):
        low, dash, high = part.partition("-")
        if part.isdecimal():
            found.append(network.hosts[int(part)])
        elif dash and low.isdecimal() and high.isdecimal():
            found += network.hosts[int(low) : int(high) + 1]
        elif network.is_host(part):
            found.append(part)
    return found


def _place_of(name: str) -> tuple[str, int]:
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0)


def _links(ports: Sequence[Pair], values: Mapping[str, str], scenario: Scenario) -> dict[Pair, Wire]:
    """Rate and delay of each port: from the file of links, or from the tiers of its two ends."""
    if values["topology.kind"] == "explicit":
        return _links_of_file(values, scenario)
    kind, rate, rtt = values["topology.kind"], base_value(values, "topology.rate"), base_value(values, "topology.rtt")

    def of(key: str, default: float) -> float:
        return base_value(values, f"topology.{key}", default)

    def given(*keys: str) -> dict[str, float]:
        return {key: of(key, -1.0) for key in keys if f"topology.{key}" in values}

    rates: dict[frozenset[str], float]
    delays: dict[frozenset[str], float] = {}
    edge = rtt / (2 * _ACROSS.get(kind, 2))
    match kind:
        case "dumbbell":
            rates = {_tiers("s0", "s1"): of("bottleneck", rate)}
        case "parking-lot":
            rates = {
                _tiers("s0", "s1"): of("first_bottleneck", rate),
                _tiers("s1", "s2"): of("second_bottleneck", rate),
            }
        case "chain":
            trunks = int(of("hops", 1))
            edge = _rest(rtt, {"trunk_delay": trunks}, given("trunk_delay"), 2 + trunks)
            rates, delays = {_TRUNK: of("trunk_rate", rate)}, {_TRUNK: of("trunk_delay", edge)}
        case "fat-tree":
            edge = _rest(rtt, {"uplink_delay": 2, "core_delay": 2}, given("uplink_delay", "core_delay"), 6)
            rates = {_UP: of("uplink_rate", rate), _CORE: of("core_rate", of("uplink_rate", rate))}
            delays = {_UP: of("uplink_delay", edge), _CORE: of("core_delay", edge)}
        case _:
            if "topology.uplink_delay" in values:
                edge = _rest(rtt, {"uplink_delay": 2}, given("uplink_delay"), 4)
            if kind == "single-rooted-tree" and of("racks", 1) == 1:
                edge = rtt / 4
            rates, delays = {_UP: of("uplink_rate", rate)}, {_UP: of("uplink_delay", edge)}

    def link(port: Pair) -> Wire:
        if any(_place_of(node)[0] == "h" for node in port):
            return Wire(rate, edge)
        place = next((each for each in (_tiers(*port), _place(port)) if each in rates), None)
        return Wire(rates[place], delays.get(place, edge)) if place else Wire(rate, edge)

    return {port: link(port) for port in ports}


_TRUNK, _UP, _CORE = frozenset({"trunk"}), frozenset({"up"}), frozenset({"core"})


def _tiers(a: str, b: str) -> frozenset[str]:
    return frozenset({a, b})


def _place(port: Pair) -> frozenset[str]:
    """Kind of a link between two switches."""
    tiers = {_place_of(node)[0] for node in port}
    if tiers == {"s"}:
        return _TRUNK
    return _CORE if tiers == {"agg", "core"} else _UP


def _rest(rtt: float, links: Mapping[str, int], given: Mapping[str, float], across: int) -> float:
    """Delay of links without a delay of their own: an equal share of the rest of the round-trip time.

    A path has `across` links. `links` has the number of these links that each key is about, and `given` the delays by
    key.
    """
    taken = sum(links[key] * delay for key, delay in given.items())
    return (rtt / 2 - taken) / max(across - sum(links[key] for key in given), 1)


def _links_of_file(values: Mapping[str, str], scenario: Scenario) -> dict[Pair, Wire]:
    file = values["topology.file"]
    if not file.endswith(".csv"):
        raise ConfigError(f"topology.file: {file}: `shortflow expect` reads networks from edge lists (.csv) only")
    found: dict[Pair, Wire] = {}
    for row in _rows(scenario, file):
        rate = parse(row.get("rate") or values.get("topology.rate", ""))
        delay = parse(row.get("delay") or values.get("topology.delay", ""))
        if rate and delay:
            link = Wire(rate.number * rate.factor, delay.number * delay.factor)
            found[row["a"], row["b"]] = found[row["b"], row["a"]] = link
    return found


def _rows(scenario: Scenario, file: str) -> Iterator[dict[str, str]]:
    lines = _core.read_file(str(scenario.directory / file)).decode().splitlines()
    rows = csv.DictReader(line for line in lines if line.strip() and not line.lstrip().startswith("#"))
    return ({key.strip(): (value or "").strip() for key, value in row.items() if key} for row in rows)
