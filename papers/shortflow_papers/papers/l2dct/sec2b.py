"""Sec. II-B: purpose of the weights, and no harm when all flows are congested."""

import numpy as np
import polars as pl

from shortflow import Estimate
from shortflow.api.judge import estimate
from shortflow.api.runs import Result
from shortflow_papers import lab
from shortflow_papers.papers.common import burst_of, flows, ns_study, number_of, series
from shortflow_papers.papers.l2dct.fig08 import cuts
from shortflow_papers.papers.l2dct.setup import LONG_FLOWS, bottleneck

SHORT_BYTES = 190_000
"""Size below the weight's first knee, so that flows keep the largest weight."""

TWO = ns_study(
    bottleneck(
        "Flows of 190 KB join a long one, one after the other",
        2,
        [
            {"kind": "long-lived", "flows": 1, "from": 0, "to": 2},
            burst_of(1, 3, f"{SHORT_BYTES}B", at="500ms", jitter="5ms", repeat=25),
        ],
        duration="3s",
        measure={"sample_every": "100us"},
    ),
    ("dctcp", "l2dct"),
)
SEVERE = ns_study(
    LONG_FLOWS,
    ("tcp-ecn", "dctcp", "l2dct"),
    settings={"flows": 80, "duration": "3s"},
    quick={"duration": "2s"},
    seeds=1,
)


@lab.per_run("short flow's share")
def share(result: Result) -> float:
    """Short flow's share of the bytes that arrive from both flows in its lifetime; mean over the short flows."""
    rate = series(result, "throughput_bps", "long")
    times = rate["time_s"].to_numpy()
    arrived = np.cumsum(rate["value"].to_numpy() * np.diff(times, prepend=0.0)) / 8
    short = flows(result, "short")
    starts, ends = (np.interp(short[column].to_numpy(), times, arrived) for column in ("start_s", "finish_s"))
    return float((SHORT_BYTES / (SHORT_BYTES + ends - starts)).mean())


@lab.per_run("alpha in the second half of the run")
def last_alpha(result: Result) -> float:
    """Mean of alpha over the flows and the second half of the run."""
    late = series(result, "alpha").filter(pl.col("time_s") > result.meta["duration_s"] / 2)
    return float(late["value"].to_numpy().mean())


@number_of("mean cut at a mark then")
def mean_cut(severe: lab.Data) -> Estimate:
    pairs = zip(severe.runs_of("l2dct"), severe.results("l2dct"), strict=True)
    halves = [cuts(run, result.meta["duration_s"] / 2, result.meta["duration_s"]) for run, result in pairs]
    return estimate([half["long"] for half in halves])


goal1 = lab.Figure("l2dct/sec2b-goal1", "Sec. II-B", "Long flows yield to a short one", {"two": TWO})
goal1.claim("l2dct/sec2b-goal1-long-yield").says(
    "a short flow gets more from a long one than it would with DCTCP",
    lab.change("l2dct", "dctcp", share).above(),
    shows=[lab.level(("dctcp", "l2dct"), share)],
)
goal3 = lab.Figure("l2dct/sec2b-goal3", "Sec. II-B", "Severe congestion", {"severe": SEVERE})
goal3.claim("l2dct/sec2b-goal3-severe", "Sec. II-B, VI").says(
    "under extreme congestion all flows back off like TCP, here 80 long ones",
    lab.level("l2dct", last_alpha).within(low=0.98),
    mean_cut.within(0.475, 0.525),
    lab.level("l2dct", "utilisation").within(low=0.95),
    shows=[lab.level(("tcp-ecn", "l2dct"), lab.drops_in_run)],
)
