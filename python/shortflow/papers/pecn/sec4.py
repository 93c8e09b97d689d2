"""Sec. 4: visible behaviour of the queue: marks, waits, and order of completion."""

import math
from collections.abc import Mapping

import numpy as np
import polars as pl

from shortflow import lab
from shortflow.errors import TooLittle
from shortflow.metrics.stats import Estimate, kendall_tau, paired_difference
from shortflow.papers.pecn.setup import BURST, BURST_AND_BACKGROUND, NEWRENO, TCP
from shortflow.papers.traffic import burst
from shortflow.result import Result
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
    "traffic": [burst(host, 2, size, name) for name, host, size in (("first", 0, "200MB"), ("second", 1, "$second"))],
}

# Short flows from hosts without a long flow: the queue always has a packet of lower priority.
MARKED = lab.Study(
    BURST_AND_BACKGROUND,
    MARKING,
    settings={**NEWRENO, "flows": 17, "traffic.1.from": "0-16", "background_start": "1.4s"},
)
# One short flow of one packet: nothing of higher priority precedes it, so its mean wait is the packet's.
ORDER = lab.Study(
    BURST_AND_BACKGROUND,
    ("dctcp", "pecn"),
    settings={**MARKED.settings, "flows": 1, "smallest": "1KB", "largest": "1.4KB"},
)
SORTED = lab.Study(BURST, ("dctcp", *ORDERED), settings=NEWRENO, seeds=20)
QUEUE = lab.Study(BURST_AND_BACKGROUND, ("dctcp", "pecn"), settings={**NEWRENO, "measure.sample_every": "100us"})
PAIRS = lab.Study(
    PAIR,
    ("dctcp", "pecn"),
    over={"second": ("200MB", "400MB")},
    settings={**NEWRENO, "traffic.1.jitter": "1ms", "traffic.2.jitter": "1ms"},
)


def _marks(result: Result) -> int:
    """Marks of the short flows."""
    return int(result.flows.filter(pl.col("class") == "short")["marks"].sum())


def _pmark_policy(runs: lab.Data) -> lab.Finding:
    short = {scheme: sum(_marks(result) for result in runs.results(scheme)) for scheme in MARKING}
    long = sum(int(result.flows["marks"].sum()) for result in runs.results("pecn-pmark")) - short["pecn-pmark"]
    return lab.fact(short["pecn-pmark"] == 0 < min(short["pecn"], long), long_pmark=long, **short)


def _longest_wait(scheme: str) -> lab.Quantity:
    def seconds(runs: lab.Data) -> Estimate:
        short = pl.col("class") == "short"
        flows = [lab.some(result.flows.filter(short), "short flows") for result in runs.results(scheme)]
        waits = [each["switch_queueing_s"].max() for each in flows]
        return Estimate(max(wait for wait in waits if isinstance(wait, float)), None, len(waits))

    return lab.computed(f"longest wait of a short flow's only packet in a switch with {scheme}", seconds, "s")


def rank_by(result: Result, by: str) -> float:
    """Kendall's rank correlation of a column with the FCT; unfinished flows rank last."""
    flows = completion(result.flows, result.meta)
    return kendall_tau(flows[by].to_numpy(), flows["fct_s"].fill_null(math.inf).to_numpy())


def _tau(scheme: str, column: str) -> lab.Quantity:
    name = f"Kendall's tau of {column.partition('_')[0]} and FCT"
    return lab.level(scheme, lab.Measure(name, "", lambda result: rank_by(result, column)))


def _over(ours: str, theirs: str, column: str, second: str) -> lab.Quantity:
    """Paired relative difference of one flow from the other in a column."""

    def relative(pairs: lab.Data) -> Estimate:
        results = pairs.results("pecn", second=second)
        sides = [
            [float(lab.some(result.flows.filter(pl.col("class") == name), name)[column].item()) for result in results]
            for name in (ours, theirs)
        ]
        found = paired_difference(*sides)
        if found is None:
            raise TooLittle(f"{column}: is zero for the {theirs} flow, so nothing can be relative to it")
        return found

    name = {"switch_queueing_s": "wait in the switch", "acked_bytes": "bytes"}[column]
    text = f"{name} of the {ours} flow over the {theirs} one of {second}"
    return lab.computed(text, relative, lab.RELATIVE, 0.0)


WAIT, MORE = ("first", "second", "switch_queueing_s"), ("second", "first", "acked_bytes")


def _beyond_equal(pairs: lab.Data) -> float:
    """Throughput difference of unequal flows minus that of equal flows."""
    unequal, equal = (next(iter(_over(*MORE, size).points({"pairs": pairs}).values())) for size in ("400MB", "200MB"))
    return abs(unequal.value) - abs(equal.value)


@lab.measure("median queue outside of the burst", "packets")
def median_queue(result: Result) -> float:
    """Beside two long flows, from 0.2 s to the burst."""
    steady = (pl.col("kind") == "queue_pkt") & (pl.col("time_s") > 0.2) & (pl.col("time_s") < BURST_AT_S)
    return float(np.median(result.samples.filter(steady)["value"].to_numpy()))


marking = lab.Figure("pecn/marking", "Sec. 4.1", "Whom pMark marks", {"runs": MARKED}).decides(
    lab.Claim("pecn/sec41-pmark-policy", equation=True).says(
        "above the threshold pMark marks the packet with the lowest priority instead of the arriving one",
        lab.decided(
            "beside long flows, whose packets are always queued, no short flow is ever marked; under pECN some are",
            _pmark_policy,
        ),
    )
)
dequeue = lab.Figure("pecn/dequeue", "Sec. 4.2", "Order of departures", {"runs": ORDER}).decides(
    lab.Claim("pecn/sec42-dequeue-policy", equation=True).says(
        "the port always sends the packet with the highest priority",
        _longest_wait("pecn").at_most(PACKET_S),
        _longest_wait("dctcp").at_least(2 * PACKET_S),
    )
)
sorting = lab.Figure(
    "pecn/sorting", "Sec. 4.2", "Shortest job first and earliest deadline first", {"runs": SORTED}
).decides(
    lab.Claim("pecn/sec42-edf-sjf").says(
        "priorities from deadlines give earliest deadline first, from sizes shortest job first",
        _tau("pecn", "size_bytes").at_least(0.95),
        _tau("pecn-edf", "deadline_s").at_least(0.95),
        because="deadlines sort the flows less than sizes do, as marks end slow start early and large flows then need "
        "many round trips",
    )
)
growth = lab.Figure("pecn/growth", "Sec. 4.3", "Two long flows", {"pairs": PAIRS}).decides(
    lab.Claim("pecn/sec43-priority-faster-growth").says(
        "flows of high priority grow faster, since their packets wait less",
        _over(*WAIT, "400MB").below(),
        _over(*MORE, "400MB").below(),
        lab.computed("throughputs of unequal flows apart, beyond those of equal ones", _beyond_equal).at_least(0.0),
    )
)
search = lab.Figure("pecn/search", "Sec. 4.2", "The queue that is searched", {"runs": QUEUE}).decides(
    lab.Claim("pecn/sec4-queue-limited").says(
        "ECN keeps the queue short, so that the search stays cheap",
        lab.level("pecn", median_queue).at_most(30),
        shows=[lab.level("pecn", "queue_max_pkt")],
    )
)
