"""The expected numbers of a scenario, each with its formula and source."""

import functools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shortflow.expect.demands import Demand, demands
from shortflow.expect.formulas import Burst, Group, Server, Work, burst, max_min
from shortflow.expect.network import UNLIMITED, Network, Port, number
from shortflow.papers.theory import Bottleneck, LongFlows, gain_bound, threshold_bound
from shortflow.scenario import Scenario

_PAIRS = 200
"""Pairs of hosts from which round trips are taken."""
_SIZES = 400
"""Sizes from which means over a distribution are taken."""
IDEAL_PS, IDEAL_SRPT, ITSELF = "ideal-ps", "ideal-srpt", ""


class Reading(NamedTuple):
    """The number of a run to compare with."""

    metric: str
    """A metric, the mean `utilisation` of ports, or `ideal` of a class: the mean completion time alone."""
    of: str = ""
    """The class."""
    scheme: str = ITSELF
    """An ideal scheduler; empty for the scheme itself."""
    ports: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Expected:
    """One expected number."""

    topic: str
    name: str
    subject: str
    value: float
    unit: str
    formula: str
    source: str
    reading: Reading | None = None
    simulated: float | None = None


def name_of(port: Port) -> str:
    """A port as the simulator names it."""
    return f"{port[0]}->{port[1]}"


def several(ports: Sequence[Port]) -> str:
    """The first of several ports, and the number of the others."""
    return name_of(ports[0]) + (f" and {len(ports) - 1} others" if len(ports) > 1 else "")


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """All that is expected of a scenario under a scheme's queue."""

    scenario: Scenario
    network: Network
    demands: Sequence[Demand]
    marks: bool
    """The scheme's switches mark above a threshold."""

    @classmethod
    def of(cls, scenario: Scenario, *, marks: bool) -> "Arithmetic":
        """The arithmetic of a scenario."""
        network = Network.of(scenario)
        return cls(scenario, network, demands(scenario, network), marks)

    @functools.cached_property
    def seconds(self) -> float:
        """Measured time."""
        return number(self.network.values, "duration") - number(self.network.values, "warmup", 0.0)

    def numbers(self) -> Iterator[Expected]:
        """All expected numbers, topic by topic."""
        yield from self._rates()
        yield from self._alone()
        yield from self._loads()
        yield from self._shares()
        yield from self._slowdowns()
        yield from self._bursts()
        yield from self._threshold()
        yield from self._timers()

    # Links and flows alone.

    def _rates(self) -> Iterator[Expected]:
        framing, rates = self.network.framing, defaultdict(list)
        for port, link in self.network.links.items():
            rates[link.rate_bps].append(port)
        for rate, ports in sorted(rates.items()):
            yield Expected(
                "links",
                "payload rate",
                several(ports),
                rate * framing.efficiency,
                "bps",
                f"{rate / 1e9:g} Gbps · {framing.mss:g} B / {framing.on_wire(framing.mss):g} B",
                "headers, RFC 9293 and IEEE 802.3",
            )

    def typical(self, demand: Demand) -> list[list[Port]]:
        """Paths of the class, up to a number of pairs."""
        pairs = list(demand.pairs)
        return [self.network.path(*pair) for pair in pairs[:: max(len(pairs) // _PAIRS, 1)]]

    def _alone(self) -> Iterator[Expected]:
        for demand in self._once_a_class():
            paths = self.typical(demand)
            trips = [self.network.round_trip_s(path) for path in paths]
            yield Expected(
                "alone",
                "round trip",
                demand.flow_class,
                sum(trips) / len(trips),
                "s",
                "propagation both ways + one full packet and its ACK on each link",
                "store and forward",
            )
            slowest = [self.network.links[self.network.slowest(path)].rate_bps for path in paths]
            products = [rate * trip / 8 for rate, trip in zip(slowest, trips, strict=True)]
            yield Expected(
                "alone",
                "bandwidth-delay product",
                demand.flow_class,
                sum(products) / len(products) / self.network.framing.in_queue,
                "pkt",
                "C · RTT",
                "definition",
            )
            if demand.sizes:
                sizes = thinned(demand.sizes)
                times = [self.network.ideal_s(size, paths[place % len(paths)]) for place, size in enumerate(sizes)]
                yield Expected(
                    "alone",
                    "completion time alone",
                    demand.flow_class,
                    sum(times) / len(times),
                    "s",
                    "full packets at the slowest link + latency, mean over sizes",
                    "docs/known-results.md",
                    Reading("ideal", demand.flow_class),
                )

    def _once_a_class(self) -> list[Demand]:
        return list({demand.flow_class: demand for demand in self.demands}.values())

    # Loads and shares.

    @functools.cached_property
    def loads(self) -> dict[Port, float]:
        """Bits per second of finite flows with known times on each link, headers and ACKs included."""
        data: dict[Port, float] = defaultdict(float)
        back: dict[Port, float] = defaultdict(float)
        framing, every = self.network.framing, number(self.network.values, "tcp.ack_every", 1.0)
        for demand in self.demands:
            if not demand.per_s:
                continue
            sizes = thinned(demand.sizes)
            per_byte = sum(map(framing.flow_bytes, sizes)) / sum(sizes)
            packets = demand.mean * sum(-(-size // framing.mss) for size in sizes) / sum(sizes)
            for (source, destination), share in demand.pairs.items():
                data[source, destination] += demand.per_s * share * demand.mean * per_byte * 8
                back[destination, source] += demand.per_s * share * packets / every * framing.on_wire(0) * 8
        found: dict[Port, float] = defaultdict(float)
        for each in (data, back):
            for port, load in self.network.spread(each).items():
                found[port] += load
        return dict(found)

    @functools.cached_property
    def shares(self) -> list[tuple[Group, float, Port | None]]:
        """Backlogged flows with their max-min rates and limiting links."""
        groups = []
        window = self.network.bytes_of(self.network.values.get("tcp.receive_window", "unlimited"))
        for demand in self.demands:
            if not demand.backlogged:
                continue
            pairs = (
                [demand.pairs]
                if demand.kind == "permutation"
                else [{pair: share} for pair, share in demand.pairs.items()]
            )
            for each in pairs:
                flows = demand.backlogged * sum(each.values())
                use = self.network.spread({pair: demand.backlogged * share for pair, share in each.items()})
                trip = self.network.round_trip_s(self.network.path(*next(iter(each))))
                groups.append(Group(demand.flow_class, flows, use, window * 8 / trip))
        left = {port: link.rate_bps - self.loads.get(port, 0.0) for port, link in self.network.links.items()}
        rates = max_min(groups, left)
        return [(group, rate, port) for group, (rate, port) in zip(groups, rates, strict=True)]

    @functools.cached_property
    def use(self) -> dict[Port, float]:
        """Expected busy share of each link."""
        total = dict(self.loads)
        for group, rate, _ in self.shares:
            for port, share in group.use.items():
                total[port] = total.get(port, 0.0) + share * rate
        return {port: load / self.network.links[port].rate_bps for port, load in total.items()}

    def _loads(self) -> Iterator[Expected]:
        alike: dict[float, list[Port]] = defaultdict(list)
        for port, use in self.use.items():
            alike[round(min(use, 1.0), 6)].append(port)
        for use in sorted(alike, reverse=True)[:3]:
            yield Expected(
                "load",
                "use",
                several(alike[use]),
                use,
                "share",
                "flows/s · mean bytes with headers + ACKs + shares of long flows, over the rate",
                "docs/scenario-reference.md",
                Reading("utilisation", ports=frozenset(map(name_of, alike[use]))),
            )

    def _shares(self) -> Iterator[Expected]:
        totals: dict[str, float] = defaultdict(float)
        limits: dict[str, dict[str, None]] = defaultdict(dict)
        for group, rate, port in self.shares:
            totals[group.flow_class] += group.flows * rate * self.network.framing.efficiency
            limits[group.flow_class][name_of(port) if port else "tcp.receive_window"] = None
        for name, total in totals.items():
            places = list(limits[name])
            at = places[0] + (f" and {len(places) - 1} others" if len(places) > 1 else "")
            yield Expected(
                "load",
                "goodput together",
                f"{name}, limited at {at}",
                total,
                "bps",
                "max-min shares of what finite flows leave, times payload over packet",
                "Bertsekas and Gallager, Sec. 6.5.2",
                Reading(f"goodput_{name}_bps"),
            )

    # Queues of flows.

    def endless_at(self, port: Port) -> int:
        """Backlogged flows that a link limits."""
        return round(sum(group.flows for group, _, limit in self.shares if limit == port))

    def hottest_of(self, demand: Demand) -> tuple[Port, float]:
        """The link of a class's paths with the highest load of finite flows, and this load."""
        ports = self.network.spread(demand.pairs)
        return max(
            ((port, self.loads.get(port, 0.0) / self.network.links[port].rate_bps) for port in ports),
            key=lambda at: at[1],
        )

    def _works(self, demand: Demand, port: Port) -> list[Work]:
        """The class's sizes at a link."""
        sizes = thinned(demand.sizes)
        through = next((path for path in self.typical(demand) if port in path), self.typical(demand)[0])
        rate, found = self.network.links[port].rate_bps, []
        for size in sizes:
            service = self.network.framing.flow_bytes(size) * 8 / rate
            found.append(Work(service, max(self.network.ideal_s(size, through) - service, 0.0), 1 / len(sizes)))
        return found

    def _slowdowns(self) -> Iterator[Expected]:
        for demand in self._once_a_class():
            if not demand.per_s or demand.together > 1 or demand.kind in ("periodic", "incast", "trace"):
                continue
            port, load = self.hottest_of(demand)
            if load >= 1:
                yield Expected(
                    "slowdown",
                    "load of finite flows",
                    f"{demand.flow_class} at {name_of(port)}",
                    load,
                    "x",
                    "no steady state from 1 on",
                    "definition",
                )
                continue
            server = Server(self._works(demand, port), load, self.endless_at(port))
            at = f"{demand.flow_class} at {name_of(port)}, load {load:.2f}" + (
                f", {server.endless} long flows" if server.endless else ""
            )
            yield Expected(
                "slowdown",
                "mean by PS",
                at,
                server.ps_mean(),
                "x",
                "(latency + service (K + 1)/(1 - load)) / alone",
                "M/G/1-PS: Kleinrock II, Sec. 4.4; van den Berg and Boxma 1991",
                Reading(f"slowdown_{demand.flow_class}", scheme=IDEAL_PS),
            )
            yield Expected(
                "slowdown",
                "p99 by PS",
                at,
                server.ps_short(0.99),
                "x",
                "flows so short that the others stay: negative binomial number",
                "M/G/1-PS in steady state",
                Reading(f"slowdown_p99_{demand.flow_class}", scheme=IDEAL_PS),
            )
            srpt = server.srpt()
            yield Expected(
                "slowdown",
                "mean by SRPT",
                at,
                sum(slowdown * weight for slowdown, weight in srpt),
                "x",
                "waiting of Schrage and Miller + residence, over alone",
                "M/G/1-SRPT: Schrage and Miller 1966",
                Reading(f"slowdown_{demand.flow_class}", scheme=IDEAL_SRPT),
            )

    def burst_of(self, demand: Demand) -> tuple[Burst, Port]:
        """A burst of the class, and the link where it meets."""
        path = self.typical(demand)[0]
        port = self.network.slowest(path)
        count = max(demand.together, 1)
        sizes = [demand.sizes[int((place + 0.5) / count * len(demand.sizes))] for place in range(count)]
        rate = self.network.links[port].rate_bps
        services = [self.network.framing.flow_bytes(size) * 8 / rate for size in sizes]
        latency = self.network.ideal_s(sizes[-1], path) - services[-1]
        return burst(services, latency, self.endless_at(port)), port

    def _bursts(self) -> Iterator[Expected]:
        for demand in self._once_a_class():
            name = demand.flow_class
            if demand.kind == "ring":
                path = self.typical(demand)[0]
                step = self.network.ideal_s(demand.mean, path) - self.network.ideal_s(1, path) / 2
                yield Expected(
                    "bursts",
                    "time of a collective",
                    name,
                    demand.steps * step,
                    "s",
                    f"{demand.steps} steps of one chunk, one way each",
                    "nccl-tests, doc/PERFORMANCE.md",
                    Reading("collective_time_s"),
                )
            if demand.together < 2 or demand.kind == "arrivals":
                continue
            times, port = self.burst_of(demand)
            at = f"{name}: {demand.together} at {name_of(port)}"
            own = demand.kind in ("incast", "queries")
            for label, value, metric, scheme in (
                ("mean, shortest first", times.shortest_first, f"afct_{name}_s", IDEAL_SRPT),
                ("mean, equal shares", times.shared, f"afct_{name}_s", IDEAL_PS),
                ("last of all", times.last, f"p100_{name}_s", ITSELF),
            ):
                if demand.kind == "incast" or (own and not scheme):
                    formula = "sums of service times in order of size + latency"
                    yield Expected(
                        "bursts",
                        label,
                        at,
                        value,
                        "s",
                        formula,
                        "pECN, ComSIS 2016, Sec. 3",
                        Reading(metric, scheme=scheme),
                    )
            if demand.task:
                request = self.network.round_trip_s(self.typical(demand)[0]) / 2 if demand.task == "query" else 0.0
                yield Expected(
                    "bursts",
                    f"time of a {demand.task}",
                    at,
                    demand.compute_s + request + times.last,
                    "s",
                    "half a round trip + compute + all bytes at the link",
                    "pECN, ComSIS 2016, Sec. 3",
                    Reading(f"{demand.task}_time_s"),
                )
            yield from self._fan_in(demand, port, at)

    def _fan_in(self, demand: Demand, port: Port, at: str) -> Iterator[Expected]:
        """First windows against the buffer."""
        framing, buffer = self.network.framing, self.network.queue(port, "buffer")
        first = number(self.network.values, "tcp.initial_window", 10.0)
        packets = demand.together * min(first, math.ceil(demand.mean / framing.mss))
        yield Expected(
            "bursts",
            "packets of the first windows",
            at,
            packets,
            "pkt",
            "flows · initial window",
            "FaST, KSII TIIS 2014, Sec. 3",
        )
        if buffer != UNLIMITED:
            product = self.network.links[port].rate_bps * self.network.round_trip_s(self.typical(demand)[0]) / 8
            limit = Bottleneck(product, 0.0, buffer, framing.in_queue)
            yield Expected(
                "bursts",
                "flows that fit, 2 packets each",
                at,
                limit.most_flows(2),
                "",
                "(C · RTT + buffer) / 2 packets",
                "FaST, KSII TIIS 2014, Eq. 7",
            )

    @functools.cached_property
    def has_equal_paths(self) -> bool:
        """True if a pair of hosts has several shortest paths."""
        pairs = [pair for demand in self.demands for pair in list(demand.pairs)[:_PAIRS]]
        return any(
            len(self.network.next_hops(node, pair[1])) > 1 for pair in pairs for node, _ in self.network.path(*pair)
        )

    # Marks and timers.

    def bottleneck(self) -> tuple[Port, int] | None:
        """The link that limits most backlogged flows, and their number."""
        flows: dict[Port, float] = defaultdict(float)
        for group, _, limit in self.shares:
            if limit:
                flows[limit] += group.flows
        if not flows:
            return None
        port = max(flows, key=lambda each: flows[each])
        return port, round(flows[port])

    def _threshold(self) -> Iterator[Expected]:
        found = self.bottleneck()
        port = found[0] if found else max(self.use, key=lambda each: self.use[each], default=None)
        if port is None:
            return
        trips = [
            self.network.round_trip_s(path) for demand in self.demands for path in self.typical(demand) if port in path
        ]
        if not trips:
            return
        packet, at = self.network.framing.in_queue, name_of(port)
        product = self.network.links[port].rate_bps * sum(trips) / len(trips) / 8 / packet
        threshold, buffer = (self.network.queue(port, key) / packet for key in ("mark_above", "buffer"))
        if buffer != UNLIMITED:
            yield Expected(
                "queue",
                "buffer over bandwidth-delay product",
                at,
                buffer / product,
                "x",
                "buffer / (C · RTT)",
                "rule of one product: Villamizar and Song 1994",
            )
        if not self.marks or threshold == UNLIMITED:
            return
        yield Expected(
            "queue",
            "K over its bound",
            at,
            threshold / threshold_bound(product),
            "x",
            "K / (C · RTT / 7)",
            "DCTCP, SIGCOMM 2010, Eq. 13",
        )
        yield Expected(
            "queue",
            "least K of a scheme with weight 2.5",
            at,
            threshold_bound(product, 2.5),
            "pkt",
            "w^w C · RTT / (2 (w + 1)^(w + 1) - w^w)",
            "L2DCT, INFOCOM 2013, Eq. 13",
        )
        yield Expected(
            "queue",
            "largest gain g",
            at,
            gain_bound(product, threshold),
            "",
            "1.386 / sqrt(2 (C · RTT + K))",
            "DCTCP, SIGCOMM 2010, Eq. 15",
        )
        if found is None or any(demand.sizes for demand in self.demands):
            return
        flows = LongFlows(product, threshold, found[1], exact=True)
        low, high = max(flows.queue_min, 0.0), flows.queue_max
        lone = at in _measured_ports(self.network.values) and len(_measured_ports(self.network.values)) == 1
        yield Expected(
            "queue",
            "largest queue",
            at,
            high,
            "pkt",
            "K + N",
            "DCTCP, SIGCOMM 2010, Eq. 10",
            Reading("queue_max_pkt") if lone else None,
        )
        yield Expected(
            "queue",
            "mean queue",
            at,
            (low + high) / 2,
            "pkt",
            "middle of K + N and K + N - A",
            "DCTCP, SIGCOMM 2010, Eqs. 8 to 12",
            Reading("queue_mean_pkt") if lone else None,
        )
        packets = (
            self.network.links[port].rate_bps
            * self.seconds
            / 8
            / self.network.framing.on_wire(self.network.framing.mss)
        )
        yield Expected(
            "queue",
            "marks",
            at,
            packets * min(flows.alpha, 1.0),
            "",
            "packets · alpha",
            "DCTCP, SIGCOMM 2010, Eq. 6",
            Reading("marks"),
        )

    def _timers(self) -> Iterator[Expected]:
        least = number(self.network.values, "tcp.rto_min", 0.0)
        trips = [self.network.round_trip_s(path) for demand in self._once_a_class() for path in self.typical(demand)]
        if not least or not trips:
            return
        yield Expected(
            "timers",
            "RTO_min over round trip",
            "longest path",
            least / max(trips),
            "x",
            "tcp.rto_min / RTT",
            "RFC 6298",
        )
        for demand in self._once_a_class():
            if demand.sizes:
                alone = self.network.ideal_s(demand.mean, self.typical(demand)[0])
                yield Expected(
                    "timers",
                    "slowdown with one timeout",
                    demand.flow_class,
                    1 + least / alone,
                    "x",
                    "1 + RTO_min / alone",
                    "RFC 6298",
                )

    def packet_hops(self) -> float:
        """Expected packets over links, data and ACKs, in the whole run: the cost of a simulation."""
        seconds = number(self.network.values, "duration")
        packet = self.network.framing.on_wire(self.network.framing.mss) * 8
        bits = sum(min(use, 1.0) * self.network.links[port].rate_bps for port, use in self.use.items())
        for demand in self.demands:
            if demand.is_closed:
                paths = self.typical(demand)
                port = self.network.slowest(paths[0])
                receivers = len({destination for _, destination in demand.pairs})
                bits += self.network.links[port].rate_bps * len(paths[0]) * receivers
        return 2 * bits * seconds / packet


def _measured_ports(values: Mapping[str, str]) -> list[str]:
    return [each.strip(" \"'") for each in values.get("measure.ports", "").strip("[]").split(",") if each.strip()]


def thinned(sizes: Sequence[float]) -> list[float]:
    """Evenly chosen of sorted sizes."""
    count = min(_SIZES, len(sizes))
    return [sizes[int((place + 0.5) * len(sizes) / count)] for place in range(count)]
