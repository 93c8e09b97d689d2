"""Sec. 4: visible behaviour of the queue: marks, waits, and order of completion."""

import math

import numpy as np
import polars as pl

from shortflow import Estimate
from shortflow.api.metrics import kendall_tau
from shortflow.api.runs import Result, completion
from shortflow_papers import lab
from shortflow_papers.papers.common import burst_of, flows, ns_study, number_of, paired, series
from shortflow_papers.papers.pecn.setup import BURST, BURST_AND_BACKGROUND, DCTCP_CODE, star

PACKET_S = 1500 * 8 / 1e9
BURST_AT_S = 1.5
MARKING, ORDERED = ("pecn", "pecn-pmark"), ("pecn", "pecn-edf")

PAIR = star(
    "Two long flows through one port, of equal or of different size and so priority",
    3,
    [burst_of(host, 2, size, name) for name, host, size in (("first", 0, "200MB"), ("second", 1, "$second"))],
    duration="1s",
    drain="1ms",
    parameters={"second": "400MB"},
)

# Short flows come from hosts without a long flow. The queue therefore always has a packet of lower priority.
MARKED = ns_study(
    BURST_AND_BACKGROUND,
    MARKING,
    settings={**DCTCP_CODE, "flows": 17, "traffic.1.from": "0-16", "background_start": "1.4s"},
)
# The one short flow has one packet. No packet has a higher priority, so the flow's mean wait is that of this packet.
ORDER = ns_study(
    BURST_AND_BACKGROUND,
    ("dctcp", "pecn"),
    settings={**MARKED.settings, "flows": 1, "smallest": "1KB", "largest": "1.4KB"},
)
SORTED = ns_study(BURST, ("dctcp", *ORDERED), settings=DCTCP_CODE, seeds=20)
QUEUE = ns_study(BURST_AND_BACKGROUND, ("dctcp", "pecn"), settings={**DCTCP_CODE, "measure.sample_every": "100us"})
PAIRS = ns_study(
    PAIR,
    ("dctcp", "pecn"),
    over={"second": ("200MB", "400MB")},
    settings={**DCTCP_CODE, "traffic.1.jitter": "1ms", "traffic.2.jitter": "1ms"},
)


def _pmark_policy(runs: lab.Data) -> lab.Finding:
    short = {
        scheme: sum(int(flows(result, "short")["marks"].sum()) for result in runs.results(scheme)) for scheme in MARKING
    }
    long = sum(int(result.flows["marks"].sum()) for result in runs.results("pecn-pmark")) - short["pecn-pmark"]
    return lab.fact(short["pecn-pmark"] == 0 < min(short["pecn"], long), long_pmark=long, **short)


def _longest_wait(scheme: str) -> lab.Quantity:
    @number_of(f"longest wait of a short flow's only packet in a switch with {scheme}", "s")
    def seconds(runs: lab.Data) -> Estimate:
        waits = [flows(result, "short")["switch_queueing_s"].max() for result in runs.results(scheme)]
        return Estimate(max(wait for wait in waits if isinstance(wait, float)), None, len(waits))

    return seconds


def rank_by(result: Result, by: str) -> float:
    """Kendall's rank correlation of a column of the flow table with the FCT. Unfinished flows rank last."""
    every = completion(result.flows, result.meta)
    return kendall_tau(every[by].to_numpy(), every["fct_s"].fill_null(math.inf).to_numpy())


def _tau(scheme: str, column: str) -> lab.Quantity:
    name = f"Kendall's tau of {column.partition('_')[0]} and FCT"
    return lab.level(scheme, lab.Measure(name, "", lambda result: rank_by(result, column)))


def _over(ours: str, theirs: str, column: str, second: str) -> lab.Quantity:
    """Relative difference of one flow from the other one in a column of the flow table, paired by run."""

    name = {"switch_queueing_s": "wait in the switch", "acked_bytes": "bytes"}[column]

    @number_of(f"{name} of the {ours} flow over the {theirs} one of {second}", lab.RELATIVE, 0.0)
    def relative(pairs: lab.Data) -> Estimate:
        results = pairs.results("pecn", second=second)
        own, other = ([float(flows(run, name)[column].item()) for run in results] for name in (ours, theirs))
        return paired(own, other, f"{column} is zero for the {theirs} flow")

    return relative


WAIT, MORE = ("first", "second", "switch_queueing_s"), ("second", "first", "acked_bytes")


@number_of("throughputs of unequal flows apart, beyond those of equal ones")
def beyond_equal(pairs: lab.Data) -> float:
    unequal, equal = (next(iter(_over(*MORE, size).points({"pairs": pairs}).values())) for size in ("400MB", "200MB"))
    return abs(unequal.value) - abs(equal.value)


@lab.per_run("median queue outside of the burst", "packets")
def median_queue(result: Result) -> float:
    """Median queue of two long flows in packets, from 0.2 s until the burst."""
    steady = (pl.col("time_s") > 0.2) & (pl.col("time_s") < BURST_AT_S)
    return float(np.median(series(result, "queue_pkt").filter(steady)["value"].to_numpy()))


marking = lab.Figure("pecn/marking", "Sec. 4.1", "Whom pMark marks", {"runs": MARKED})
marking.claim("pecn/sec41-pmark-policy", equation=True).says(
    "above the threshold pMark marks the packet with the lowest priority instead of the arriving one",
    lab.decided(
        "beside long flows, whose packets are always queued, no short flow is ever marked; under pECN some are",
        _pmark_policy,
    ),
)
dequeue = lab.Figure("pecn/dequeue", "Sec. 4.2", "Order of departures", {"runs": ORDER})
dequeue.claim("pecn/sec42-dequeue-policy", equation=True).says(
    "the port always sends the packet with the highest priority",
    _longest_wait("pecn").within(high=PACKET_S),
    _longest_wait("dctcp").within(low=2 * PACKET_S),
)
sorting = lab.Figure("pecn/sorting", "Sec. 4.2", "Shortest job first and earliest deadline first", {"runs": SORTED})
sorting.claim("pecn/sec42-edf-sjf").says(
    "priorities from deadlines give earliest deadline first, from sizes shortest job first",
    _tau("pecn", "size_bytes").within(low=0.95),
    _tau("pecn-edf", "deadline_s").within(low=0.95),
    because="deadlines sort the flows less than sizes do, as marks end slow start early and large flows then need "
    "many round trips",
)
growth = lab.Figure("pecn/growth", "Sec. 4.3", "Two long flows", {"pairs": PAIRS})
growth.claim("pecn/sec43-priority-faster-growth").says(
    "flows of high priority grow faster, since their packets wait less",
    _over(*WAIT, "400MB").below(),
    _over(*MORE, "400MB").below(),
    beyond_equal.within(low=0.0),
)
search = lab.Figure("pecn/search", "Sec. 4.2", "The queue that is searched", {"runs": QUEUE})
search.claim("pecn/sec4-queue-limited").says(
    "ECN keeps the queue short, so that the search stays cheap",
    lab.level("pecn", median_queue).within(high=30),
    shows=[lab.level("pecn", "queue_max_pkt")],
)
