"""Fig. 4: the mean query time over the number of workers; and what Sec. 4 and Sec. 6 say of these queries."""

from collections.abc import Sequence

import polars as pl

from shortflow.lab import (
    Data,
    Drawing,
    Figure,
    Finding,
    Study,
    all_hold,
    at_least,
    at_most,
    curves,
    drops_in_run,
    fact,
    for_information,
    lower,
    timeouts_in_run,
    within,
)
from shortflow.papers.fast.setup import ALONE, BRISK_START, PORT, SCHEMES, WORKERS, queries, tree
from shortflow.result import RunResult

TIMEOUT_S = 0.010
"""A query that takes longer has waited for a retransmission timeout."""

AXIS = "workers"

NAGLE = queries(("fast",), {"transport.nagle": ("false", "true")}, {"workers": 60})
KNEE = queries(("fast",), {"workers": (45, 50)})
ONE_BYTE = {
    "kind": "incast",
    "class": "ping",
    "flows": 1,
    "from": 99,
    "to": 0,
    "sizes": {"kind": "fixed", "value": "1B"},
}
PING = Study(
    tree("One byte from one rack to another", "1s", [ONE_BYTE]),
    ("tcp",),
    {"tcp.ack_every": (1,)},
    seeds=1,
    quick_seeds=1,
)

fig4 = Figure("fast/fig4", "Fig. 4", "Mean query time", {"alone": ALONE, "knee": KNEE})
network = Figure("fast/fig3", "Fig. 3", "The longest round trip of the tree", {"ping": PING})
grain = Figure("fast/sec4", "Sec. 4", "Small segments", {"alone": ALONE, "nagle": NAGLE})
losses = Figure("fast/sec6", "Sec. 6", "Flows without loss", {"alone": ALONE})


@fig4.drawing
def times(alone: Data) -> Sequence[Drawing]:
    return [curves(alone, "workers", "query_time_s", x_label=AXIS, title="Mean query time")]


def query_ms(result: RunResult) -> float:
    """The mean query time in milliseconds."""
    return result.metrics["query_time_s"] * 1e3


@network.claim("sec51-longest-rtt", "propagation across racks and back takes 200 us", "relative error below 1e-9")
def longest_round_trip(ping: Data) -> Finding:
    found = ping.mean("tcp", "afct_ping_s", tcp__ack_every=1).value
    # A data packet of 41 bytes and an ACK of 40 cross two links at 1 Gbps and two at 10 Gbps.
    sending = (41 + 40) * 8 * (2 / 1e9 + 2 / 10e9)
    return fact(abs(found - sending - 200e-6) < 200e-6 * 1e-9, rtt_us=(found - sending) * 1e6)


@fig4.claim(
    "fig4-low-n",
    "with 10 to 30 workers no transport loses anything and all answer quickly",
    "no timeout in 95 % of the queries, and a mean below 10 ms",
    because=BRISK_START,
)
def few_workers(alone: Data) -> Finding:
    findings = {}
    for scheme in SCHEMES:
        for n in (10, 20, 30):
            findings[f"{scheme} {n}: ms"] = at_most(alone.mean(scheme, "query_time_s", workers=n).value * 1e3, 10.0)
            quiet = alone.measured(queries_without_timeout, scheme, workers=n).value
            findings[f"{scheme} {n}: without timeout"] = at_least(quiet, 0.95)
    return all_hold(findings)


def queries_without_timeout(result: RunResult) -> float:
    """The share of queries none of whose flows had a timeout."""
    late = result.flows.filter(pl.col("timeouts") > 0)["task"].n_unique()
    return 1.0 - late / result.metrics["query_count"]


def _at_100(data: Data, scheme: str, low_ms: float, high_ms: float) -> Finding:
    return within(data.measured(query_ms, scheme, workers=100), low_ms, high_ms)


@fig4.claim("fig4-newreno-72ms", "NewReno needs 72 ms for 100 workers", "30 to 140 ms")
def newreno_at_100(alone: Data) -> Finding:
    return _at_100(alone, "tcp", 30, 140)


@fig4.claim("fig4-dctcp-43ms", "DCTCP needs 43 ms for 100 workers", "20 to 80 ms")
def dctcp_at_100(alone: Data) -> Finding:
    return _at_100(alone, "dctcp", 20, 80)


@fig4.claim("fig4-fast-16ms", "FaST needs 16 ms for 100 workers", "9 to 30 ms")
def fast_at_100(alone: Data) -> Finding:
    return _at_100(alone, "fast", 9, 30)


@fig4.claim(
    "fig4-order-100",
    "for many workers FaST is faster than DCTCP, and DCTCP than NewReno",
    "lower with the whole paired interval for each of 60 to 100 workers",
    because="DCTCP's mean is the lower one, but not with the interval of three seeds with ten queries each; at full "
    "scale it agrees",
)
def order(alone: Data) -> Finding:
    many = [n for n in WORKERS if n >= 60]
    fast = {f"fast over dctcp, {n}": lower(alone.change("fast", "dctcp", "query_time_s", workers=n)) for n in many}
    dctcp = {f"dctcp over tcp, {n}": lower(alone.change("dctcp", "tcp", "query_time_s", workers=n)) for n in many}
    return all_hold(fast | dctcp)


@fig4.claim(
    "fig4-fast-flat-to-50",
    "FaST's query time stays low up to 50 workers",
    "below 10 ms at 50 workers, and no timeout up to 45",
)
def flat(alone: Data, knee: Data) -> Finding:
    low = [n for n in WORKERS if n <= 40]
    findings = {"seconds at 50": at_most(knee.mean("fast", "query_time_s", workers=50), TIMEOUT_S)}
    findings |= {f"timeouts at {n}": at_most(alone.measured(timeouts_in_run, "fast", workers=n), 0.0) for n in low}
    return all_hold(findings | {"timeouts at 45": at_most(knee.measured(timeouts_in_run, "fast", workers=45), 0.0)})


@fig4.claim(
    "fig4-onset",
    "NewReno and DCTCP slow down by a timeout from more than 30 workers on",
    "the first mean above 10 ms from 30 to 50 workers",
    because=BRISK_START,
)
def onset(alone: Data) -> Finding:
    def first(scheme: str) -> float:
        slow = [n for n in WORKERS if alone.mean(scheme, "query_time_s", workers=n).value > TIMEOUT_S]
        return float(min(slow, default=0))

    return all_hold({scheme: within(first(scheme), 30, 50) for scheme in ("tcp", "dctcp")})


@grain.claim(
    "sec4-alpha-needed-for-fine-grain",
    "with many flows the window falls below one segment, which is what makes segments small",
    "at least 30 % of the segments after probing below the MSS with 60 workers, the last one of a flow not counted",
)
def small_segments(alone: Data) -> Finding:
    return at_least(alone.measured(share_of_small_segments, "fast", workers=60), 0.30)


def share_of_small_segments(result: RunResult) -> float:
    """At least this share of segments after probing is smaller than the MSS, from the packets that arrive.

    10 KB are three probes of 730 bytes and 7810 bytes more, so that at most five of the later segments are whole. The
    last one is what is left over and does not count. Packets are those of the port to the root without the ACKs of its
    requests; all queries are over within the measured time.
    """
    answers = result.flows.filter(pl.col("class") == "query").height
    (packets,) = result.ports.filter(pl.col("port") == PORT)["tx_packets"]
    later = packets / answers - 1 - 3
    return float((later - 5 - 1) / later)


@grain.claim(
    "sec4-nagle-off",
    "waiting for whole segments makes queries much slower",
    "for information: the ratio with 60 workers; the paper gives no number",
)
def nagle(nagle: Data) -> Finding:
    off, on = (nagle.measured(query_ms, "fast", transport__nagle=setting).value for setting in ("false", "true"))
    return for_information(
        "waiting for a segment of the current size costs little, as the flows that wait have shrunk their segments",
        on / off,
        with_ms=on,
        without_ms=off,
    )


@losses.claim(
    "sec6-50-flows-no-loss", "FaST carries 50 flows at once without a loss", "no drop in at least 90 % of the queries"
)
def fifty_flows(alone: Data) -> Finding:
    # Nothing is retransmitted unless something is lost.
    clean = alone.measured(queries_without_loss, "fast", workers=50)
    return at_least(clean, 0.90, drops=alone.measured(drops_in_run, "fast", workers=50).value)


def queries_without_loss(result: RunResult) -> float:
    """The share of queries none of whose flows retransmitted."""
    lossy = result.flows.filter(pl.col("retransmits") > 0)["task"].n_unique()
    return 1.0 - lossy / result.metrics["query_count"]
