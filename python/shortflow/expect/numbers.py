"""Arithmetic of a scenario: loads, rates of long flows, and utilisation of links."""

import functools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from shortflow.expect.demands import Demand, demands
from shortflow.expect.formulas import Burst, Group, Work, burst, max_min
from shortflow.expect.network import Network, Pair, base_value
from shortflow.scenario import Scenario

PAIRS = 200
"""Number of host pairs whose paths are taken, roughly: up to twice as many if a class has more."""
_SIZES = 400
"""Maximum number of sizes over which means of a distribution are taken."""


def name_of(port: Pair) -> str:
    """Name of a port in the simulator."""
    return f"{port[0]}->{port[1]}"


def thinned(sizes: Sequence[float]) -> list[float]:
    """At most `_SIZES` of the sorted sizes, evenly spaced."""
    count = min(_SIZES, len(sizes))
    return [sizes[int((place + 0.5) * len(sizes) / count)] for place in range(count)]


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """A scenario with a scheme's kind of queue, and its arithmetic."""

    scenario: Scenario
    network: Network
    demands: Sequence[Demand]
    marks: bool
    """True if the scheme's switches mark above a threshold."""

    @classmethod
    def of(cls, scenario: Scenario, *, marks: bool) -> "Arithmetic":
        """The arithmetic of a scenario."""
        network = Network.of(scenario)
        return cls(scenario, network, demands(scenario, network), marks)

    @functools.cached_property
    def seconds(self) -> float:
        """Measured time in seconds."""
        return base_value(self.network.values, "duration") - base_value(self.network.values, "warmup", 0.0)

    @property
    def classes(self) -> list[Demand]:
        """One demand of each class."""
        return list({demand.flow_class: demand for demand in self.demands}.values())

    def paths(self, demand: Demand) -> list[list[Pair]]:
        """Paths of a class, for a limited number of host pairs."""
        pairs = list(demand.pairs)
        return [self.network.path(*pair) for pair in pairs[:: max(len(pairs) // PAIRS, 1)]]

    @functools.cached_property
    def loads(self) -> dict[Pair, float]:
        """Load of each link in bit/s by finite flows with known start times, including headers and ACKs."""
        data: dict[Pair, float] = defaultdict(float)
        back: dict[Pair, float] = defaultdict(float)
        framing, every = self.network.framing, base_value(self.network.values, "tcp.ack_every", 1.0)
        for demand in self.demands:
            if not demand.per_s:
                continue
            sizes = thinned(demand.sizes)
            per_byte = sum(map(framing.flow_bytes, sizes)) / sum(sizes)
            packets = demand.mean * sum(-(-size // framing.mss) for size in sizes) / sum(sizes)
            for (source, destination), share in demand.carried.items():
                data[source, destination] += demand.per_s * share * demand.mean * per_byte * 8
                back[destination, source] += demand.per_s * share * packets / every * framing.on_wire(0) * 8
        found: dict[Pair, float] = defaultdict(float)
        for each in (data, back):
            for port, load in self.network.spread(each).items():
                found[port] += load
        return dict(found)

    def load(self, port: Pair) -> float:
        """Load of a link by finite flows, as a share of its rate."""
        return self.loads.get(port, 0.0) / self.network.links[port].rate_bps

    @functools.cached_property
    def shares(self) -> list[tuple[Group, float, Pair | None]]:
        """Groups of backlogged flows with the max-min rate of one flow and the link that limits the rate."""
        groups = []
        window = self.network.bytes_of(self.network.values.get("tcp.receive_window", "unlimited"))
        for demand in self.demands:
            if not demand.backlogged:
                continue
            alike = demand.kind == "permutation"
            for each in [demand.pairs] if alike else [{pair: share} for pair, share in demand.pairs.items()]:
                flows = demand.backlogged * sum(each.values())
                use = self.network.spread({pair: demand.backlogged * share for pair, share in each.items()})
                trip = self.network.round_trip_s(self.network.path(*next(iter(each))))
                groups.append(Group(demand.flow_class, flows, use, window * 8 / trip))
        left = {port: link.rate_bps - self.loads.get(port, 0.0) for port, link in self.network.links.items()}
        rates = max_min(groups, left)
        return [(group, rate, port) for group, (rate, port) in zip(groups, rates, strict=True)]

    @functools.cached_property
    def limited(self) -> dict[Pair, float]:
        """Number of backlogged flows that each link limits."""
        found: dict[Pair, float] = defaultdict(float)
        for group, _, limit in self.shares:
            for port in [limit] if limit else []:
                crossing = group.use[port]
                full = [each for each, share in group.use.items() if math.isclose(share, crossing)]
                for each in full if len(full) > 1 and group.flows > crossing else [port]:
                    found[each] += crossing
        return dict(found)

    @functools.cached_property
    def use(self) -> dict[Pair, float]:
        """Expected utilisation of each link, including ACKs."""
        total: dict[Pair, float] = defaultdict(float, self.loads)
        framing, every = self.network.framing, base_value(self.network.values, "tcp.ack_every", 1.0)
        ack = framing.on_wire(0) / framing.on_wire(framing.mss) / every
        for group, rate, _ in self.shares:
            for (a, b), share in group.use.items():
                total[a, b] += share * rate
                total[b, a] += share * rate * ack
        rates = {port: link.rate_bps for port, link in self.network.links.items()}
        # On a full link, ACKs take their share of the rate from data.
        return {
            port: min(load, max(rates[port], self.loads.get(port, 0.0))) / rates[port] for port, load in total.items()
        }

    def works(self, demand: Demand, port: Pair) -> list[Work]:
        """Service time and latency of each size of a class on a link."""
        sizes, paths = thinned(demand.sizes), self.paths(demand)
        through = next((path for path in paths if port in path), paths[0])
        rate, found = self.network.links[port].rate_bps, []
        for size in sizes:
            service = self.network.framing.flow_bytes(size) * 8 / rate
            found.append(Work(service, max(self.network.ideal_s(size, through) - service, 0.0), 1 / len(sizes)))
        return found

    def burst_of(self, demand: Demand) -> tuple[Burst, Pair]:
        """Completion times of a burst of a class, and the link that its flows share."""
        path = self.paths(demand)[0]
        port = self.network.slowest(path)
        count = max(demand.together, 1)
        sizes = [demand.sizes[int((place + 0.5) / count * len(demand.sizes))] for place in range(count)]
        rate = self.network.links[port].rate_bps
        services = [self.network.framing.flow_bytes(size) * 8 / rate for size in sizes]
        latency = self.network.ideal_s(sizes[-1], path) - services[-1]
        return burst(services, latency, round(self.limited.get(port, 0.0))), port

    def scatter(self, *of: Demand) -> float:
        """Relative standard deviation in one seed, of the total bytes of all demands, or of the mean size of one
        demand.
        """
        first = second = 0.0
        for demand in of or self.demands:
            if demand.per_s and demand.kind != "trace":
                flows, sizes = demand.per_s * self.seconds, demand.sizes
                square = sum(size * size for size in sizes) / len(sizes)
                mean = sum(sizes) / len(sizes)
                first += flows * mean
                second += flows * (square - mean * mean if of else square)
        return math.sqrt(max(second, 0.0)) / first if first else 0.0

    @functools.cached_property
    def has_equal_paths(self) -> bool:
        """True if a pair of hosts has several shortest paths."""
        pairs = [pair for demand in self.demands for pair in list(demand.pairs)[:PAIRS]]
        return any(
            len(self.network.next_hops(node, pair[1])) > 1 for pair in pairs for node, _ in self.network.path(*pair)
        )

    @functools.cached_property
    def from_start(self) -> "Arithmetic":
        """Arithmetic of all flows until `duration`.

        Flows of the warm-up are not measured, but cost as much simulation time.
        """
        if not base_value(self.network.values, "warmup", 0.0):
            return self
        return Arithmetic.of(self.scenario.with_({"warmup": "0s"}), marks=self.marks)

    def packet_hops(self) -> float:
        """Expected packet-hops of data and ACKs until `duration`: the cost of a simulation."""
        if self.from_start is not self:
            return self.from_start.packet_hops()
        network, packets_per_s = self.network, 0.0
        full = network.framing.on_wire(network.framing.mss) * 8
        for demand in self.demands:
            paths = self.paths(demand)
            length = sum(map(len, paths)) / len(paths)
            if demand.per_s:
                sizes = thinned(demand.sizes)
                packets = demand.mean * sum(-(-size // network.framing.mss) for size in sizes) / sum(sizes)
                packets_per_s += demand.per_s * packets * length
            elif demand.is_closed:
                receivers = len({destination for _, destination in demand.pairs})
                packets_per_s += network.links[network.slowest(paths[0])].rate_bps / full * length * receivers
        packets_per_s += sum(rate * sum(group.use.values()) for group, rate, _ in self.shares) / full
        acks = 1 / base_value(network.values, "tcp.ack_every", 1.0)
        return (1 + acks) * packets_per_s * base_value(network.values, "duration")
