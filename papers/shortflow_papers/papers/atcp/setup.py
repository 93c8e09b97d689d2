"""Shared by ATCP's figures: the synthetic trace, the chain it crosses, and size classes (Sec. III).

Hot links of the paper carry tens of flows at once, and a large one more than 95 % of the time. Here a constant number
of large flows is always active. The number is calibrated to TCP's published medians (2.3 s for medium flows, 200 ms for
all). Large flows form a class; their completion times follow from their rate.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from shortflow import Estimate
from shortflow.api.metrics import nearest_rank
from shortflow.api.runs import Result
from shortflow.api.scenarios import Settings
from shortflow_papers import lab
from shortflow_papers.lab.study import Value
from shortflow_papers.papers.common import ns_study, paired, recorded
from shortflow_papers.papers.unspecified import NS2

Floats = npt.NDArray[np.float64]
Table = Mapping[str, object]
Band = tuple[float, float]

SMALL: Band = (0, 100e3)
MEDIUM: Band = (100e3, 10e6)
LARGE: Band = (10e6, float("inf"))
ALL: Band = (0, float("inf"))
SIZES = {SMALL: "small", MEDIUM: "medium", LARGE: "large", ALL: "all"}

SMALL_SIZES = {"kind": "log-uniform", "min": "1KB", "max": "100KB"}
MEDIUM_SIZES = {"kind": "log-uniform", "min": "100KB", "max": "10MB"}
LARGE_SIZES = {"kind": "log-uniform", "min": "10MB", "max": "1GB"}
LARGE_FLOWS = 16
"""Large flows per link, calibrated on TCP alone. Medians of medium flows are 1.95 s with NewReno and 1.87 s with SACK
(paper: 2.3 s), so they do not tell which recovery the paper has."""
NON_LARGE_SIZES = {"kind": "mixture", "parts": [{"share": 80 / 99, **SMALL_SIZES}, {"share": 19 / 99, **MEDIUM_SIZES}]}
INTERARRIVAL = {"kind": "log-normal", "sigma": 1.8}
"""80 % of the inter-arrival times are within two orders of magnitude, as in Fig. 3(d)."""

TRACE_MEAN_BYTES = 2_577_000
"""Mean of 80 % small, 19 % medium, and 1 % large flows of 10 MB to 1 GB, all log-uniform."""

BUFFER = {"buffer": "50pkt"}
"""ns-2's `limit_`."""
SWITCH = {"buffer": "$buffer", "mark_above": "20pkt"}
TCP = {"rto_min": "200ms", "initial_window": 2}

BASE: Settings = {**NS2, "transport.recovery": "newreno"}
"""Equal recovery for all schemes, so only window laws differ."""

TRACE_SETTINGS: Mapping[str, Value] = {
    **BASE,
    "duration": "1000s",
    "warmup": "40s",
    "drain": "3000s",
    "measure.sample_every": "off",
}
"""The warm-up ends after large flows have sent the 10 MB of the high weight. All other flows run to completion."""
QUICK_TRACE = {"duration": "140s"}

OTHERS = round(0.99 * 100e6 / 8 / TRACE_MEAN_BYTES, 4)
"""Small and medium flows per second for a trace that fills 100 Mbps with its large flows."""
LARGE_RATE = round(0.01 * 100e6 / 8 / TRACE_MEAN_BYTES, 5)
"""Large flows per second of that trace."""
END_TO_END = ("0-3", "16-19")


def chain(title: str, parameters: Table, traffic: Sequence[Table]) -> dict[str, object]:
    """Four hops of 100 Mbps and 50 us; hosts 4i to 4i+3 are at node i of five."""
    return {
        "title": title,
        "duration": TRACE_SETTINGS["duration"],
        "warmup": TRACE_SETTINGS["warmup"],
        "drain": TRACE_SETTINGS["drain"],
        "parameters": {**BUFFER, **parameters},
        "topology": {
            "kind": "chain",
            "hops": 4,
            "hosts_per_switch": 4,
            "rate": "1Gbps",
            "trunk_rate": "100Mbps",
            "trunk_delay": "50us",
            "rtt": "440us",
        },
        "switch": SWITCH,
        "tcp": TCP,
        "traffic": traffic,
        "measure": {"ports": ["s0->s1", "s1->s2", "s2->s3", "s3->s4"]},
    }


def across(flow_class: str, ends: tuple[str, str], **rate: Value) -> dict[str, object]:
    """Flows from one group of hosts to another, with the trace's inter-arrival times."""
    return {
        "kind": "arrivals",
        "class": flow_class,
        "pattern": "all-to-all",
        "from": ends[0],
        "to": ends[1],
        "interarrival": INTERARRIVAL,
        "sizes": NON_LARGE_SIZES,
        **rate,
    }


def large(flows: Value, ends: tuple[str, str | int]) -> dict[str, object]:
    """Large flows that are always active."""
    return {"kind": "long-lived", "class": "large", "flows": flows, "from": ends[0], "to": ends[1], "stagger": "100ms"}


TRACE = chain(
    "The trace on a chain of four 100 Mbps hops: small and medium flows beside large ones that are always there",
    {"others": OTHERS, "large": LARGE_FLOWS},
    [across("other", END_TO_END, rate_per_s="$others"), large("$large", ("0-3", 16))],
)


def traced(
    scenario: Table = TRACE, schemes: Sequence[str] = ("tcp", "atcp"), over: Mapping[str, Sequence[Value]] | None = None
) -> lab.Study:
    """A study of the trace."""
    return ns_study(scenario, schemes, over or {}, TRACE_SETTINGS, quick=QUICK_TRACE)


def times(result: Result, band: Band, flow_class: str = "") -> Floats:
    """Completion times of flows in a band of sizes (lower end excluded), without the warm-up.

    With `flow_class`, of that class only. ∞ for unfinished flows.
    """
    flows = result.flows if not flow_class else result.flows.filter(result.flows["class"] == flow_class)
    flows = flows.filter(
        (flows["start_s"] >= result.meta["warmup_s"])
        & (flows["size_bytes"] > band[0])
        & (flows["size_bytes"] <= band[1])
    )
    return flows["fct_s"].fill_null(math.inf).to_numpy()


def median(band: Band, flow_class: str = "", percent: float = 50) -> lab.Measure:
    """Median or other percentile of completion times in a band of sizes."""
    name = "median" if percent == 50 else f"percentile {percent:g}"
    return lab.Measure(
        f"{name} of {SIZES[band]} flows", "s", lambda result: nearest_rank(times(result, band, flow_class), percent)
    )


def mean(band: Band) -> lab.Measure:
    """Mean completion time in a band of sizes."""
    return lab.Measure(f"mean of {SIZES[band]} flows", "s", lambda result: float(times(result, band).mean()))


LARGE_TIME = lab.Measure(
    "time of large flows",
    "s/bit",
    lambda result: 1.0 / recorded(result, "flow_goodput_large_bps", "large flow that moves"),
)
"""Seconds per bit: large flows have no end."""


def in_time(band: Band, deadline_s: float, flow_class: str = "") -> lab.Measure:
    """Share of a band of sizes that finishes by a deadline."""
    return lab.Measure(
        f"share of {SIZES[band]} flows done in {1e3 * deadline_s:g} ms",
        "",
        lambda result: float((times(result, band, flow_class) <= deadline_s).mean()),
    )


def over_tcp(metric: lab.MetricOrMeasure, study: str = "") -> lab.Quantity:
    """Paired relative difference of ATCP from TCP."""
    return lab.change("atcp", "tcp", metric, study)


def relative(results: Sequence[Result], baseline: Sequence[Result], measure: lab.Measure) -> Estimate:
    """Relative difference between two lists of results, paired by position."""
    return paired([measure(result) for result in results], [measure(result) for result in baseline])
