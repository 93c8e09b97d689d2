"""Sec. II-B: what the weights are for, and that they do no harm when all flows are congested."""

import polars as pl

from shortflow._core import Law
from shortflow.papers.l2dct.setup import LINK_BPS, LONG_FLOWS, PAYLOAD_SHARE
from shortflow.reproduction import Data, Figure, Finding, Study, all_hold, at_least, lower, within
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


@goal1.claim(
    "sec2b-goal1-long-yield",
    "a short flow gets more than an even share from a long one",
    "its share of the link over its lifetime is above DCTCP's, and DCTCP's is at least 45 %",
    because=(
        "the order holds, but a flow of 190 KB leaves slow start at its first mark and ends before it has its share: "
        "with DCTCP one of 20 MB gets 47 %"
    ),
)
def yields(two: Data) -> Finding:
    share = {
        name: SHORT_BYTES * 8 / two.mean(name, "afct_short_s").value / (LINK_BPS * PAYLOAD_SHARE)
        for name in two.study.schemes
    }
    return all_hold(
        {
            "FCT over DCTCP's": lower(two.change("l2dct", "dctcp", "afct_short_s"), l2dct_share=share["l2dct"]),
            "DCTCP's share": at_least(share["dctcp"], 0.45),
        }
    )


def _last_alpha(result: RunResult) -> float:
    """Mean alpha of all flows in the second half of the run."""
    late = (pl.col("kind") == "alpha") & (pl.col("time_s") > result.meta["duration_s"] / 2)
    return float(result.samples.filter(late)["value"].to_numpy().mean())


def _cut(alpha: float, weight: float) -> float:
    law = Law("l2dct", [("initial_alpha", str(alpha)), ("w_max", str(weight)), ("w_min", str(weight))], 1000.0)
    law.congestion("ecn-echo")
    return 1 - law.cwnd / 1000.0


@goal3.claim(
    "sec2b-goal3-severe",
    "under extreme congestion all flows back off like TCP",
    "80 long flows: alpha above 0.98, cuts at that alpha within 5 % of a half for both weights, and no collapse",
)
def severe(severe: Data) -> Finding:
    alpha = severe.measured(_last_alpha, "l2dct")
    use = severe.mean("l2dct", "utilisation")
    drops = {name.replace("-", "_"): severe.mean(name, "drops").value for name in severe.study.schemes}
    return all_hold(
        {
            "alpha": at_least(alpha, 0.98),
            "cut of a long flow": within(_cut(alpha.value, 0.125), 0.475, 0.525),
            "cut of a short flow": within(_cut(alpha.value, 2.5), 0.475, 0.525),
            "utilisation": at_least(use, 0.95, **{f"drops of {name}": value for name, value in drops.items()}),
        }
    )
