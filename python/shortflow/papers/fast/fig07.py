"""Figs. 7 to 9: the queries again while a flow of 10 MB fills the root's link, and what becomes of that flow."""

from collections.abc import Sequence

import polars as pl

from shortflow.lab import (
    Data,
    Drawing,
    Figure,
    Finding,
    Line,
    Study,
    all_hold,
    at_least,
    at_most,
    curves,
    fact,
    lower,
    within,
)
from shortflow.metrics.stats import Estimate
from shortflow.papers.fast.fig04 import query_ms
from shortflow.papers.fast.fig05 import counts, per_query, queries_with_three
from shortflow.papers.fast.setup import ALONE, DCTCP, HOST_QUEUE, PORT, ROOT, SCHEMES, WORKERS, query, tree
from shortflow.result import RunResult

ROUNDS = 10
PERIOD_MS = 2000
K_BYTES = 30_000
HEAD_START_MS = 10
"""How long the 10 MB have been under way when the root asks: the paper says only that they fill the link."""

BULK = {
    "kind": "incast",
    "class": "bulk",
    "flows": 1,
    "from": 99,
    "to": ROOT,
    "sizes": {"kind": "fixed", "value": "10MB"},
    "repeat": ROUNDS,
    "every": f"{PERIOD_MS}ms",
}
STARTS_MS = [i * PERIOD_MS + HEAD_START_MS for i in range(ROUNDS)]

BACKGROUND = Study(
    {
        **tree(
            "Queries beside a flow of 10 MB to the same root, one every 2 s",
            f"{ROUNDS * PERIOD_MS}ms",
            [BULK, *(query(at=f"{start}ms") for start in STARTS_MS)],
        ),
        "parameters": {"workers": 40},
        "measure": {"ports": [PORT], "sample_every": "1ms"},
    },
    SCHEMES,
    over={"workers": WORKERS},
    settings=DCTCP,
)
"""Ten rounds in a run, each with a new flow of 10 MB and one query."""

BOTH = {"background": BACKGROUND, "alone": ALONE}

fig7 = Figure("fast/fig7", "Fig. 7", "Mean query time beside a flow of 10 MB", BOTH)
fig8 = Figure("fast/fig8", "Fig. 8", "Timeouts per query beside a flow of 10 MB", BOTH)
fig9 = Figure("fast/fig9", "Fig. 9", "Throughput of the flow of 10 MB", {"background": BACKGROUND})


@fig7.drawing
def times(background: Data) -> Sequence[Drawing]:
    return [curves(background, "workers", "query_time_s", x_label="workers", title="Mean query time beside 10 MB")]


@fig8.drawing
def timeouts(background: Data) -> Sequence[Drawing]:
    return [counts(background, "Timeouts per query beside 10 MB")]


@fig9.drawing
def throughput(background: Data) -> Sequence[Drawing]:
    lines = []
    for scheme in SCHEMES:
        found = [background.measured(bulk_mbps, scheme, workers=n).value for n in WORKERS]
        lines.append(Line(scheme, WORKERS, found))
    return [Drawing("Throughput of the flow of 10 MB", "workers", "throughput (Mbps)", lines)]


def bulk_mbps(result: RunResult) -> float:
    """10 MB over the time that they take, mean over the rounds."""
    bulk = result.flows.filter(pl.col("class") == "bulk")
    return float((bulk["size_bytes"] * 8e-6 / bulk["fct_s"]).to_numpy().mean())


def queue_before_queries(result: RunResult) -> float:
    """Bytes in the port to the root when the root asks, mean over the rounds."""
    queue = result.samples.filter((pl.col("kind") == "queue_bytes") & (pl.col("subject") == PORT))
    at_start = queue.filter((pl.col("time_s") * 1e3).round().cast(pl.Int64).is_in(STARTS_MS))
    return float(at_start["value"].to_numpy().mean())


def above(value: Estimate, other: Estimate) -> bool:
    """Whether a value lies above another with its whole interval."""
    return (value.ci95 or (value.value,))[0] > (other.ci95 or (other.value,))[-1]


@fig7.claim(
    "fig7-newreno-281ms",
    "beside 10 MB NewReno needs 281 ms for 100 workers",
    "80 to 500 ms, and above the time without",
)
def newreno(background: Data, alone: Data) -> Finding:
    found = background.measured(query_ms, "tcp", workers=100)
    without = alone.measured(query_ms, "tcp", workers=100)
    return all_hold(
        {"ms": within(found, 80, 500), "above the time alone": fact(above(found, without), alone=without.value)}
    )


@fig7.claim("fig7-fast-below-35ms", "beside 10 MB FaST stays under 35 ms", "no mean above 50 ms", because=HOST_QUEUE)
def fast_stays_low(background: Data) -> Finding:
    means = [background.measured(query_ms, "fast", workers=n) for n in WORKERS]
    return at_most(max(means, key=lambda found: found.value), 50)


@fig7.claim(
    "fig7-order",
    "beside 10 MB FaST is faster than DCTCP, and NewReno by far the slowest",
    "lower with the whole paired interval for each of 50 to 100 workers, DCTCP by at least 30 % below NewReno",
    because="FaST needs less than DCTCP and DCTCP less than NewReno, but with 60 to 80 workers DCTCP not 30 % less; "
    "no choice makes all gaps that large",
)
def order(background: Data) -> Finding:
    many = [n for n in WORKERS if n >= 50]
    fast = {f"fast over dctcp, {n}": lower(background.change("fast", "dctcp", "query_time_s", workers=n)) for n in many}
    dctcp = {
        f"dctcp over tcp, {n}": lower(background.change("dctcp", "tcp", "query_time_s", workers=n), by=0.3)
        for n in many
    }
    return all_hold(fast | dctcp)


@fig7.claim(
    "fig7-all-slower",
    "beside 10 MB all queries take longer than alone",
    "every mean above the one alone, intervals apart",
)
def slower(background: Data, alone: Data) -> Finding:
    findings = {}
    for scheme in SCHEMES:
        for n in WORKERS:
            found, without = (data.measured(query_ms, scheme, workers=n) for data in (background, alone))
            findings[f"{scheme} {n}"] = fact(above(found, without), ms=found.value, alone=without.value)
    return all_hold(findings)


@fig7.claim(
    "fig7-newreno-backoffs",
    "many of NewReno's flows back off again and again, as their retransmissions are lost too",
    "more queries with a worker of three timeouts than alone, with 100 workers",
)
def backoffs(background: Data, alone: Data) -> Finding:
    found, without = (data.measured(queries_with_three, "tcp", workers=100) for data in (background, alone))
    return fact(above(found, without), share_of_queries=found.value, alone=without.value)


@fig8.claim(
    "fig8-slight-increase",
    "the 10 MB add slightly to the timeouts of NewReno and DCTCP",
    "more than alone, intervals apart, from the onset on (where either has a timeout); slightly: less than twice as "
    "many over all n",
    because="three times as many, since the queries take longer beside the window of a long flow that waits in its "
    "sender's own port; with --choice receive-window=128KiB NewReno has 1.3 times as many",
)
def slight_increase(background: Data, alone: Data) -> Finding:
    ratios, findings = {}, {}
    for scheme in ("tcp", "dctcp"):
        sums = [0.0, 0.0]
        for n in WORKERS:
            found, without = (data.measured(per_query, scheme, workers=n) for data in (background, alone))
            sums = [sums[0] + found.value, sums[1] + without.value]
            if found.value or without.value:
                findings[f"{scheme} {n}"] = fact(above(found, without), beside=found.value, alone=without.value)
        ratios[f"{scheme}: times as many"] = at_most(sums[0] / sums[1], 2.0)
    return all_hold({**ratios, **findings})


@fig8.claim(
    "fig8-fast-onset-30",
    "beside 10 MB FaST has its first timeouts at 30 workers",
    "the first mean above 0.1 per query from 20 to 50 workers",
    because=HOST_QUEUE,
)
def fast_onset(background: Data) -> Finding:
    late = [n for n in WORKERS if background.measured(per_query, "fast", workers=n).value > 0.1]
    return within(float(min(late, default=0)), 20, 50)


@fig8.claim(
    "fig8-fast-same-overall",
    "from there on FaST has as many timeouts as alone",
    "within 25 % or 5 timeouts for each of 60 to 100 workers",
    because="as in Fig. 7; with --choice receive-window=128KiB it differs for 60 workers only (16 timeouts, alone 0)",
)
def fast_same(background: Data, alone: Data) -> Finding:
    findings = {}
    for n in (n for n in WORKERS if n >= 60):
        found, without = (data.measured(per_query, "fast", workers=n).value for data in (background, alone))
        near = abs(found - without) <= max(5.0, 0.25 * without)
        findings[str(n)] = fact(near, beside=found, alone=without)
    return all_hold(findings)


@fig9.claim(
    "fig9-newreno-high-below-50",
    "below 50 workers NewReno's 10 MB are the fastest, FaST's and DCTCP's alike",
    "NewReno at least 5 % faster than both, FaST within 10 % of DCTCP",
    because="up to 40 workers NewReno's 10 MB are as fast as DCTCP's within 2 %, and no choice makes them 5 % faster",
)
def few(background: Data) -> Finding:
    findings = {}
    for n in (n for n in WORKERS if n < 50):
        for scheme in ("dctcp", "fast"):
            change = background.measured_change(bulk_mbps, "tcp", scheme, workers=n)
            findings[f"tcp over {scheme}, {n}"] = at_least(change, 0.05)
        change = background.measured_change(bulk_mbps, "fast", "dctcp", workers=n)
        findings[f"fast over dctcp, {n}"] = within(change, -0.1, 0.1)
    return all_hold(findings)


@fig9.claim(
    "fig9-fast-matches-above-50",
    "above 50 workers FaST's 10 MB are as fast as NewReno's",
    "within 15 % for each of 60 to 100 workers",
    because=HOST_QUEUE,
)
def many_workers(background: Data) -> Finding:
    many = [n for n in WORKERS if n > 50]
    changes = {str(n): background.measured_change(bulk_mbps, "fast", "tcp", workers=n) for n in many}
    return all_hold({n: within(change, -0.15, 0.15) for n, change in changes.items()})


@fig9.claim(
    "sec53-ecn-keeps-room",
    "DCTCP's and FaST's long flows leave room in the buffer, NewReno's fills it",
    "queue when the root asks: DCTCP's and FaST's at least 30 % below NewReno's, with their whole paired intervals, "
    "and NewReno's at least twice K",
    because="one flow at the rate of its own link keeps no queue in the switch, whatever its window",
)
def room(background: Data) -> Finding:
    change = {
        scheme: background.measured_change(queue_before_queries, scheme, "tcp", workers=50)
        for scheme in ("dctcp", "fast")
    }
    bytes_ = {scheme: background.measured(queue_before_queries, scheme, workers=50).value for scheme in SCHEMES}
    lows = {scheme: lower(found, by=0.3, bytes=bytes_[scheme]) for scheme, found in change.items()}
    return all_hold({**lows, "tcp (bytes)": at_least(bytes_["tcp"], 2 * K_BYTES)})
