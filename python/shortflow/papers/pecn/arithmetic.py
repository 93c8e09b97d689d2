"""Sec. 1, 3 and 5: what follows from rates, sizes and delays alone."""

from shortflow._core import dctcp_threshold_bound
from shortflow.lab import Figure, Finding, all_hold, fact, within
from shortflow.papers.pecn.setup import BURST
from shortflow.scenario import load_scenario

EXACT = "relative error below 1e-9"
GIGABIT = 1e9
HOPS = 5

eq1 = Figure("pecn/eq1", "Eq. 1", "The lower bound of the marking threshold")
delays = Figure("pecn/delays", "Sec. 1", "What a queue costs")
fig1 = Figure("pecn/fig1", "Fig. 1", "What two levels of aggregation leave for a query")
tree = Figure("pecn/tree", "Sec. 5", "The simulated tree")


def _is(value: float, exact: float) -> bool:
    return abs(value - exact) <= 1e-9 * abs(exact)


def _waiting_s(queue_bytes: float) -> float:
    """The time that a queue takes to drain at 1 Gbps."""
    return queue_bytes * 8 / GIGABIT


@eq1.claim("eq1-threshold", "K has to exceed a seventh of the bandwidth-delay product", EXACT)
def threshold() -> Finding:
    bdp = 10e9 * 200e-6 / 8
    bound = dctcp_threshold_bound(bdp)
    return fact(_is(bound, 250e3 / 7), bound_kb=bound / 1e3)


@delays.claim(
    "sec1-full-buffer-delay",
    "a full buffer of 512 KB at 1 Gbps costs about 4 ms, five of them 20 ms",
    "4.096 and 20.48 ms, within 3 % of the rounded values",
)
def full_buffer() -> Finding:
    one = _waiting_s(512e3) * 1e3
    return all_hold({"one hop (ms)": within(one, 3.9, 4.12), "five hops (ms)": within(HOPS * one, 19.4, 20.6)})


@delays.claim("sec1-short-queue-delay", "30 KB at 1 Gbps cost 240 us, over five hops 1.2 ms", EXACT)
def short_queue() -> Finding:
    one = _waiting_s(30e3)
    return fact(_is(one, 240e-6) and _is(HOPS * one, 1.2e-3), one_hop_us=one * 1e6, five_hops_ms=HOPS * one * 1e3)


@fig1.claim("fig1-query-deadline", "of 300 ms a query has 10 ms", EXACT)
def query_deadline() -> Finding:
    """Two levels, each with a query and an answer that takes twice as long, and 100 ms of each aggregator."""
    worker, aggregator, levels = 40.0, 100.0, 2
    query = (300.0 - worker - levels * aggregator) / (levels * (1 + 2))
    return fact(_is(query, 10.0), query_deadline_ms=query)


@tree.claim("sec5-oversubscription", "racks are oversubscribed by a factor of two", EXACT)
def oversubscription() -> Finding:
    note = next(note for note in load_scenario(BURST).traffic_notes() if note.startswith("topology"))
    factor = float(note.rpartition(" ")[2])
    return fact(_is(factor, 2.0), oversubscription=factor)
