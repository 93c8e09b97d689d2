"""The expected numbers of a scenario, topic by topic."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from shortflow.expect.demands import Demand
from shortflow.expect.expected import ALONE, IDEAL_PS, IDEAL_SRPT, ITSELF, UTILISATION, Expected, Reading
from shortflow.expect.formulas import Server
from shortflow.expect.network import UNLIMITED, Pair, base_value
from shortflow.expect.numbers import Arithmetic, name_of, thinned
from shortflow.theory import Bottleneck, LongFlows, gain_bound, threshold_bound

_HOTTEST = 3
"""Maximum number of groups of equally used links to show."""
_WITHOUT_STEADY_STATE = ("periodic", "incast", "trace")


def expected_numbers(of: Arithmetic) -> Iterator[Expected]:
    """All expected numbers."""
    for topic in (_rates, _alone, _loads, _shares, _slowdowns, _bursts, _queue, _timers):
        yield from topic(of)


def several(names: Sequence[str]) -> str:
    """The first of several names, and the number of the other names."""
    others = {1: "", 2: " and 1 other"}.get(len(names), f" and {len(names) - 1} others")
    return f"{names[0]}{others}"


def _rates(of: Arithmetic) -> Iterator[Expected]:
    rates: dict[float, list[str]] = defaultdict(list)
    for port, link in of.network.links.items():
        rates[link.rate_bps].append(name_of(port))
    for rate, ports in sorted(rates.items()):
        yield Expected("payload rate", several(ports), rate * of.network.framing.efficiency)


def _alone(of: Arithmetic) -> Iterator[Expected]:
    network = of.network
    for demand in of.classes:
        paths = of.paths(demand)
        trips = [network.round_trip_s(path) for path in paths]
        yield Expected("round trip", demand.flow_class, sum(trips) / len(trips))
        slowest = [network.links[network.slowest(path)].rate_bps for path in paths]
        products = [rate * trip / 8 for rate, trip in zip(slowest, trips, strict=True)]
        packets = sum(products) / len(products) / network.framing.in_queue
        yield Expected("bandwidth-delay product", demand.flow_class, packets)
        if demand.sizes:
            sizes = thinned(demand.sizes)
            times = [network.ideal_s(size, paths[place % len(paths)]) for place, size in enumerate(sizes)]
            reading = Reading(ALONE, flow_class=demand.flow_class)
            mean = sum(times) / len(times)
            yield Expected("completion time alone", demand.flow_class, mean, reading, of.scatter(demand))


def _loads(of: Arithmetic) -> Iterator[Expected]:
    alike: dict[float, list[Pair]] = defaultdict(list)
    for port, use in of.use.items():
        alike[round(min(use, 1.0), 6)].append(port)
    for use in [each for each in sorted(alike, reverse=True) if each][:_HOTTEST]:
        names = [name_of(port) for port in alike[use]]
        scatter = of.scatter() * of.load(alike[use][0]) / use if use < 1 else 0.0
        yield Expected("use", several(names), use, Reading(UTILISATION, ports=frozenset(names)), scatter)


def _shares(of: Arithmetic) -> Iterator[Expected]:
    totals: dict[str, float] = defaultdict(float)
    limits: dict[str, dict[str, None]] = defaultdict(dict)
    for group, rate, port in of.shares:
        totals[group.flow_class] += group.flows * rate * of.network.framing.efficiency
        limits[group.flow_class][name_of(port) if port else "tcp.receive_window"] = None
    for name, total in totals.items():
        at = f"{name}, limited at {several(list(limits[name]))}"
        yield Expected("goodput together", at, total, Reading(f"goodput_{name}_bps"))


def _slowdowns(of: Arithmetic) -> Iterator[Expected]:
    for demand in of.classes:
        if not demand.per_s or demand.together > 1 or demand.kind in _WITHOUT_STEADY_STATE:
            continue
        # Of all links on the paths of the class, the one with the highest load adds the most waiting.
        name, port = demand.flow_class, max(of.network.spread(demand.pairs), key=of.load)
        load = of.load(port)
        if load >= 1:
            yield Expected("load of finite flows", f"{name} at {name_of(port)}", load)
            continue
        server = Server(of.works(demand, port), load, round(of.limited.get(port, 0.0)))
        long = f", {server.endless} long" if server.endless else ""
        at = f"{name} at {name_of(port)}, load {load:.2f}{long}"
        yield Expected("mean by PS", at, server.ps_mean(), Reading(f"slowdown_{name}", IDEAL_PS))
        yield Expected("p99 by PS", at, server.ps_short(0.99), Reading(f"slowdown_p99_{name}", IDEAL_PS))
        mean = sum(slowdown * weight for slowdown, weight in server.srpt())
        yield Expected("mean by SRPT", at, mean, Reading(f"slowdown_{name}", IDEAL_SRPT))


def _bursts(of: Arithmetic) -> Iterator[Expected]:
    for demand in of.classes:
        name = demand.flow_class
        if demand.kind == "ring":
            path = of.paths(demand)[0]
            step = of.network.ideal_s(demand.mean, path) - of.network.ideal_s(1, path) / 2
            yield Expected("time of a collective", name, demand.steps * step, Reading("collective_time_s"))
        if demand.together > 1 and demand.kind != "arrivals":
            yield from _burst(of, demand)


def _burst(of: Arithmetic, demand: Demand) -> Iterator[Expected]:
    name, network = demand.flow_class, of.network
    times, port = of.burst_of(demand)
    at = f"{name}: {demand.together} at {name_of(port)}"
    if demand.kind == "incast":
        yield Expected("mean, shortest first", at, times.shortest_first, Reading(f"afct_{name}_s", IDEAL_SRPT))
        yield Expected("mean, equal shares", at, times.shared, Reading(f"afct_{name}_s", IDEAL_PS))
    if demand.kind in ("incast", "queries"):
        yield Expected("last of all", at, times.last, Reading(f"p100_{name}_s", ITSELF))
    path = of.paths(demand)[0]
    if demand.task:
        request = network.round_trip_s(path) / 2 if demand.task == "query" else 0.0
        time = demand.compute_s + request + times.last
        yield Expected(f"time of a {demand.task}", at, time, Reading(f"{demand.task}_time_s"))
    framing, buffer = network.framing, network.queue(port, "buffer")
    first = min(base_value(network.values, "tcp.initial_window", 10.0), math.ceil(demand.mean / framing.mss))
    yield Expected("packets of first windows", at, demand.together * first)
    if buffer != UNLIMITED:
        product = network.links[port].rate_bps * network.round_trip_s(path) / 8
        yield Expected("flows that fit", at, Bottleneck(product, 0.0, buffer, framing.in_queue).most_flows(2))


def _queue(of: Arithmetic) -> Iterator[Expected]:
    network, packet = of.network, of.network.framing.in_queue
    port = max(of.limited or of.use, key=lambda each: (of.limited or of.use)[each], default=None)
    product = _product(of, port) if port else None
    if port is None or product is None:
        return
    at = name_of(port)
    threshold, buffer = (network.queue(port, key) / packet for key in ("mark_above", "buffer"))
    if buffer != UNLIMITED:
        yield Expected("buffer over C·RTT", at, buffer / product)
    if not of.marks or threshold == UNLIMITED:
        return
    yield Expected("K over its bound", at, threshold / threshold_bound(product))
    yield Expected("least K, weight 2.5", at, threshold_bound(product, 2.5))
    yield Expected("largest gain g", at, gain_bound(product, threshold))
    if not of.limited or any(demand.sizes for demand in of.demands):
        return
    flows = LongFlows(product, threshold, of.limited[port], exact=True)
    low, high = max(flows.queue_min, 0.0), flows.queue_max
    ports = network.values.get("measure.ports", "").strip("[]").split(",")
    measured = [each.strip(" \"'") for each in ports if each.strip()] == [at]
    sampled = measured and "measure.sample_every" in network.values
    yield Expected("largest queue", at, high, Reading("queue_p99_pkt") if sampled else None)
    yield Expected("mean queue", at, (low + high) / 2, Reading("queue_mean_pkt") if measured else None)
    yield Expected("marks", several([name_of(each) for each in of.limited]), _marks(of), Reading("marks"))


def _product(of: Arithmetic, port: Pair) -> float | None:
    """Bandwidth-delay product of a link in packets, with the mean round-trip time of paths over the link."""
    paths = [path for demand in of.demands for path in of.paths(demand) if port in path]
    if not paths:
        return None
    trip = sum(map(of.network.round_trip_s, paths)) / len(paths)
    return of.network.links[port].rate_bps * trip / 8 / of.network.framing.in_queue


def _marks(of: Arithmetic) -> float:
    """Number of packets marked on all links that backlogged flows fill."""
    framing, total = of.network.framing, 0.0
    for port, flows in of.limited.items():
        product, threshold = _product(of, port), of.network.queue(port, "mark_above") / framing.in_queue
        if product is not None and threshold != UNLIMITED:
            packets = of.network.links[port].rate_bps * of.seconds / 8 / framing.on_wire(framing.mss)
            total += packets * min(LongFlows(product, threshold, flows, exact=True).alpha, 1.0)
    return total


def _timers(of: Arithmetic) -> Iterator[Expected]:
    least = base_value(of.network.values, "tcp.rto_min", 0.0)
    trips = [of.network.round_trip_s(path) for demand in of.classes for path in of.paths(demand)]
    if not least or not trips:
        return
    yield Expected("RTO_min over round trip", "longest path", least / max(trips))
    for demand in of.classes:
        if demand.sizes:
            alone = of.network.ideal_s(demand.mean, of.paths(demand)[0])
            yield Expected("slowdown with a timeout", demand.flow_class, 1 + least / alone)
