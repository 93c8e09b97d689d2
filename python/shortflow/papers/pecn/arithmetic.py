"""Secs. 1, 3 and 5: consequences of rates, sizes and delays alone."""

from shortflow import lab
from shortflow.papers.pecn.setup import BURST
from shortflow.papers.theory import threshold_bound
from shortflow.scenario import load_scenario

HOPS = 5


def _waiting(queue_bytes: float) -> dict[str, float]:
    """Drain time of a queue at 1 Gbps, and five times as much, in seconds."""
    one = queue_bytes * 8 / 1e9
    return {"one hop": one, "five hops": HOPS * one}


def _query_deadline_ms() -> float:
    """Deadline for two levels of queries, answers twice as long, and 100 ms per aggregator."""
    worker, aggregator, levels = 40.0, 100.0, 2
    return (300.0 - worker - levels * aggregator) / (levels * (1 + 2))


def _oversubscription() -> float:
    note = next(note for note in load_scenario(BURST).traffic_notes() if note.startswith("topology"))
    return float(note.rpartition(" ")[2])


eq1 = lab.Figure("pecn/eq1", "Eq. 1", "The lower bound of the marking threshold")
eq1.claim("pecn/eq1-threshold").says(
    "K has to exceed a seventh of the bandwidth-delay product: K > C*RTT/7",
    lab.equal(lambda: {"bound_kb": (threshold_bound(10e9 * 200e-6 / 8) / 1e3, 250 / 7)}),
)
delays = lab.Figure("pecn/delays", "Sec. 1", "Delay of a full queue")
delays.claim("pecn/sec1-full-buffer-delay").says(
    "a full buffer of 512 KB at 1 Gbps costs about 4 ms, five of them 20 ms",
    lab.computed(
        "wait in 512 KB over the printed wait",
        lambda: {
            name: wait / paper for (name, wait), paper in zip(_waiting(512e3).items(), (4e-3, 20e-3), strict=True)
        },
    ).within(0.97, 1.03),
)
delays.claim("pecn/sec1-short-queue-delay").says(
    "30 KB at 1 Gbps cost 240 us, over five hops 1.2 ms",
    lab.equal(lambda: {n: (w, e) for (n, w), e in zip(_waiting(30e3).items(), (240e-6, 1.2e-3), strict=True)}),
)
fig1 = lab.Figure("pecn/fig1", "Fig. 1", "Time for a query below two levels of aggregation")
fig1.claim("pecn/fig1-query-deadline", "Fig. 1, Sec. 3.1").says(
    "of 300 ms a query has 10 ms", lab.equal(lambda: {"query_deadline_ms": (_query_deadline_ms(), 10.0)})
)
tree = lab.Figure("pecn/tree", "Sec. 5", "The simulated tree")
tree.claim("pecn/sec5-oversubscription").says(
    "racks are oversubscribed by a factor of two", lab.equal(lambda: {"oversubscription": (_oversubscription(), 2.0)})
)
