"""Sec. II-B: what the weights are for, and that they do no harm when all flows are congested."""

import numpy as np
import polars as pl

from shortflow.lab import Data, Figure, Finding, Study, all_hold, at_least, drops_in_run, lower, within
from shortflow.metrics.stats import estimate
from shortflow.papers.l2dct.fig08 import cuts
from shortflow.papers.l2dct.setup import LONG_FLOWS
from shortflow.result import RunResult

SHORT_BYTES = 190_000
"""Below the first knee of the profile, so that the weight is the largest throughout."""

TWO = Study(
    {
        "title": "Flows of 190 KB join a long one, one after the other",
        "duration": "3s",
        "topology": {"kind": "dumbbell", "pairs": 2, "rate": "10Gbps", "bottleneck": "1Gbps", "rtt": "300us"},
        "switch": {"buffer": "250pkt", "mark_above": "20pkt"},
        "tcp": {"rto_min": "10ms"},
        "traffic": [
            {"kind": "long-lived", "flows": 1, "from": 0, "to": 2},
            {
                "kind": "incast",
                "flows": 1,
                "from": 1,
                "to": 3,
                "at": "500ms",
                "jitter": "5ms",
                "repeat": 25,
                "sizes": {"kind": "fixed", "value": f"{SHORT_BYTES}B"},
            },
        ],
        "measure": {"sample_every": "100us"},
    },
    schemes=("dctcp", "l2dct"),
)
SEVERE = Study(
    LONG_FLOWS,
    schemes=("tcp-ecn", "l2dct"),
    settings={"flows": 80, "duration": "3s"},
    quick_settings={"duration": "2s"},
    seeds=1,
    quick_seeds=1,
)

goal1 = Figure("l2dct/sec2b-goal1", "Sec. II-B", "Long flows yield to a short one", {"two": TWO})
goal3 = Figure("l2dct/sec2b-goal3", "Sec. II-B", "Severe congestion", {"severe": SEVERE})


def _share(result: RunResult) -> float:
    """The short flow's share of the bytes that arrive from both during its life, mean over the flows."""
    rate = result.samples.filter(kind="throughput_bps", subject="long").sort("time_s")
    times = rate["time_s"].to_numpy()
    arrived = np.cumsum(rate["value"].to_numpy() * np.diff(times, prepend=0.0)) / 8
    short = result.flows.filter(pl.col("class") == "short")
    starts, ends = (np.interp(short[column].to_numpy(), times, arrived) for column in ("start_s", "finish_s"))
    return float((SHORT_BYTES / (SHORT_BYTES + ends - starts)).mean())


@goal1.claim(
    "sec2b-goal1-long-yield",
    "a short flow gets more than an even share from a long one",
    "its share of the bytes that both send during its life is above that under DCTCP, with the whole paired interval, "
    "and the latter at least 45 %",
    because=(
        "the order holds, but a flow of 190 KB leaves slow start at its first mark and ends before it has its share: "
        "with DCTCP one of 20 MB gets 47 %"
    ),
)
def yields(two: Data) -> Finding:
    l2dct = two.measured(_share, "l2dct")
    return all_hold(
        {
            "DCTCP's share over L2DCT's": lower(two.measured_change(_share, "dctcp", "l2dct"), l2dct=l2dct.value),
            "DCTCP's share": at_least(two.measured(_share, "dctcp"), 0.45),
        }
    )


def _last_alpha(result: RunResult) -> float:
    """Mean alpha of all flows in the second half of the run."""
    late = (pl.col("kind") == "alpha") & (pl.col("time_s") > result.meta["duration_s"] / 2)
    return float(result.samples.filter(late)["value"].to_numpy().mean())


@goal3.claim(
    "sec2b-goal3-severe",
    "under extreme congestion all flows back off like TCP, here 80 long ones",
    "in the second half of the run alpha is above 0.98 and the mean cut at a mark within 5 % of a half; no collapse",
)
def severe(severe: Data) -> Finding:
    alpha = severe.measured(_last_alpha, "l2dct")
    (runs,) = severe.runs.values()
    pairs = zip((run for run in runs if run.scheme.name == "l2dct"), severe.results("l2dct"), strict=True)
    halves = [cuts(run, result.meta["duration_s"] / 2, result.meta["duration_s"]) for run, result in pairs]
    use = severe.mean("l2dct", "utilisation")
    drops = {name.replace("-", "_"): severe.measured(drops_in_run, name).value for name in severe.study.schemes}
    return all_hold(
        {
            "alpha": at_least(alpha, 0.98),
            "cut": within(estimate([half["long"] for half in halves]), 0.475, 0.525),
            "utilisation": at_least(use, 0.95, **{f"drops of {name}": value for name, value in drops.items()}),
        }
    )
