"""Sec. 4: what the queue does, seen from outside: who is marked, who waits, in what order flows finish."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shortflow.errors import ConfigError
from shortflow.lab import Data, Drawing, Figure, Finding, Line, Study, all_hold, at_least, at_most, fact, lower
from shortflow.metrics.stats import Estimate, estimate, kendall_tau, paired_difference
from shortflow.papers.pecn.setup import BURST, BURST_AND_BACKGROUND, NEWRENO, TCP, fct_over
from shortflow.result import RunResult
from shortflow.store.frames import completion

PACKET_S = 1500 * 8 / 1e9
BURST_AT_S = 1.5
MARKING, ORDERED = ("pecn", "pecn-pmark"), ("pecn", "pecn-edf")

PAIR: Mapping[str, object] = {
    "title": "Two long flows through one port, of equal or of different size and so priority",
    "duration": "1s",
    "drain": "1ms",
    "parameters": {"second": "400MB"},
    "topology": {"kind": "star", "hosts": 3, "rate": "1Gbps", "rtt": "120us"},
    "switch": {"buffer": "256KB", "mark_above": "30KB"},
    "tcp": TCP,
    "traffic": [
        {
            "kind": "incast",
            "class": name,
            "flows": 1,
            "from": host,
            "to": 2,
            "sizes": {"kind": "fixed", "value": size},
        }
        for name, host, size in (("first", 0, "200MB"), ("second", 1, "$second"))
    ],
}

# Short flows from hosts without a long one: there is always a packet of lower priority in the queue.
MARKED = Study(
    BURST_AND_BACKGROUND,
    MARKING,
    settings={**NEWRENO, "flows": 17, "traffic.1.from": "0-16", "background_start": "1.4s"},
)
# One short flow of one packet: no packet of higher priority is ever in its way, and its mean wait is that packet's.
ORDER = Study(
    BURST_AND_BACKGROUND,
    ("dctcp", "pecn"),
    settings={**MARKED.settings, "flows": 1, "smallest": "1KB", "largest": "1.4KB"},
)
SORTED = Study(BURST, ORDERED, settings=NEWRENO, seeds=20)
QUEUE = Study(BURST_AND_BACKGROUND, ("pecn",), settings={**NEWRENO, "measure.sample_every": "100us"}, quick_seeds=1)
PAIRS = Study(
    PAIR,
    ("pecn",),
    over={"second": ("200MB", "400MB")},
    settings={**NEWRENO, "traffic.1.jitter": "1ms", "traffic.2.jitter": "1ms"},
)

marking = Figure("pecn/marking", "Sec. 4.1", "Whom pMark marks", {"runs": MARKED})
dequeue = Figure("pecn/dequeue", "Sec. 4.2", "Who is sent first", {"runs": ORDER})
sorting = Figure("pecn/sorting", "Sec. 4.2", "Shortest job first and earliest deadline first", {"runs": SORTED})
growth = Figure("pecn/growth", "Sec. 4.3", "Two long flows", {"pairs": PAIRS})
search = Figure("pecn/search", "Sec. 4.2", "The queue that is searched", {"runs": QUEUE})


def _marks(result: RunResult) -> int:
    """Marks of the short flows."""
    return int(result.flows.filter(pl.col("class") == "short")["marks"].sum())


@marking.claim(
    "sec41-pmark-policy",
    "above the threshold pMark marks the packet with the lowest priority instead of the arriving one",
    "beside long flows, whose packets are always queued, no short flow is ever marked; under pECN some are",
)
def pmark_policy(runs: Data) -> Finding:
    short = {scheme: sum(_marks(result) for result in runs.results(scheme)) for scheme in MARKING}
    long = sum(int(result.flows["marks"].sum()) for result in runs.results("pecn-pmark")) - short["pecn-pmark"]
    return fact(short["pecn-pmark"] == 0 < min(short["pecn"], long), long_pmark=long, **short)


@dequeue.claim(
    "sec42-dequeue-policy",
    "the port always sends the packet with the highest priority",
    "the packet of a short flow of one waits in a switch no longer than the transmission of another takes; under DCTCP "
    "more than twice as long",
)
def dequeue_policy(runs: Data) -> Finding:
    def longest(scheme: str) -> float:
        short = pl.col("class") == "short"
        waits = [result.flows.filter(short)["switch_queueing_s"].max() for result in runs.results(scheme)]
        return max(wait for wait in waits if isinstance(wait, float))

    return all_hold(
        {
            "pecn (s)": at_most(longest("pecn"), PACKET_S),
            "dctcp (s)": at_least(longest("dctcp"), 2 * PACKET_S),
        }
    )


def rank_by(result: RunResult, by: str) -> float:
    """Kendall's rank correlation of a column with the completion time; flows that never ended took the longest."""
    flows = completion(result.flows, result.meta)
    return kendall_tau(flows[by].to_numpy(), flows["fct_s"].fill_null(math.inf).to_numpy())


@sorting.drawing
def order(runs: Data) -> Sequence[Drawing]:
    drawings = []
    for scheme, column, label, factor in (
        ("pecn", "size_bytes", "size (KB)", 1e-3),
        ("pecn-edf", "deadline_s", "deadline (ms)", 1e3),
    ):
        line = fct_over(runs.results(scheme)[0], column, factor, scheme)
        drawings.append(Drawing(f"Completion time under {scheme}, one run", label, "FCT (ms)", [line]))
    return drawings


@sorting.claim(
    "sec42-edf-sjf",
    "priorities from deadlines give earliest deadline first, from sizes shortest job first",
    "Kendall's tau with the FCT above 0.95 for 80 flows, mean over the runs",
    because=(
        "sizes sort the flows; deadlines do so less, as marks end slow start early and large flows then need many "
        "round trips, whatever their priority: tau is 0.84, and 0.95 where marked ACKs, too, open the window"
    ),
)
def edf_and_sjf(runs: Data) -> Finding:
    taus = {
        "size": estimate([rank_by(result, "size_bytes") for result in runs.results("pecn")]),
        "deadline": estimate([rank_by(result, "deadline_s") for result in runs.results("pecn-edf")]),
    }
    return all_hold({name: at_least(tau, 0.95) for name, tau in taus.items()})


def _over(ours: str, theirs: str, results: Sequence[RunResult], column: str) -> Estimate:
    """How far one flow lies above the other in a column, paired over the seeds."""
    sides = [
        [float(result.flows.filter(pl.col("class") == name)[column].item()) for result in results]
        for name in (ours, theirs)
    ]
    found = paired_difference(*sides)
    if found is None:
        raise ConfigError(f"{column}: is zero for the {theirs} flow, so nothing can be relative to it")
    return found


@growth.claim(
    "sec43-priority-faster-growth",
    "flows of high priority grow faster, since their packets wait less",
    "the smaller of two long flows waits less and gets more, with the 95 % intervals; two equal ones differ less",
)
def faster_growth(pairs: Data) -> Finding:
    results = {second: pairs.results("pecn", second=second) for second in ("200MB", "400MB")}
    waits = {second: _over("first", "second", runs, "switch_queueing_s") for second, runs in results.items()}
    data = {second: _over("second", "first", runs, "acked_bytes") for second, runs in results.items()}
    return all_hold(
        {
            "wait of the smaller": lower(waits["400MB"], equal_sizes=waits["200MB"].value),
            "throughput of the larger": lower(data["400MB"], equal_sizes=data["200MB"].value),
            "beyond that of equal ones": at_least(abs(data["400MB"].value) - abs(data["200MB"].value), 0.0),
        }
    )


def _queue(result: RunResult) -> pl.DataFrame:
    """The sampled length of the measured port's queue, in packets."""
    return result.samples.filter(pl.col("kind") == "queue_pkt").sort("time_s")


@search.drawing
def queue(runs: Data) -> Sequence[Drawing]:
    samples = _queue(runs.results("pecn")[0]).filter(pl.col("time_s") > BURST_AT_S - 0.02)
    line = Line("pecn", samples["time_s"].to_list(), samples["value"].to_list(), markers=False)
    return [Drawing("Queue towards the receiver, one run", "time (s)", "queue (packets)", [line])]


@search.claim(
    "sec4-queue-limited",
    "ECN keeps the queue short, so that the search stays cheap",
    "median of at most 30 packets beside two long flows outside of the burst of 80",
)
def queue_limited(runs: Data) -> Finding:
    steady = (pl.col("time_s") > 0.2) & (pl.col("time_s") < BURST_AT_S)

    def median(result: RunResult) -> float:
        return float(np.median(_queue(result).filter(steady)["value"].to_numpy()))

    return at_most(runs.measured(median, "pecn"), 30, largest=runs.mean("pecn", "queue_max_pkt").value)
