"""What ATCP's figures share: the synthetic trace, the chain it crosses, and how sizes are classed (Sec. III).

On a hot link of the paper there are tens of flows at once, and a large one more than 95 % of the time. Here some large
flows are always there, as many as TCP's published medians take (2.3 s for medium flows, 200 ms for all); they are told
from the others by class, and their completion times by their rate.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from shortflow import lab
from shortflow.errors import TooLittle
from shortflow.lab.study import Value
from shortflow.metrics.stats import Estimate, nearest_rank, paired_difference
from shortflow.result import Result

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
"""At once on a link: calibrated on TCP alone. Over eight runs of 100 s its medians are 2.2 s with NewReno and 2.1 s
with SACK for medium flows, 0.22 and 0.16 s for all: they do not tell which of the two the paper has."""
TRACE_SIZES = {
    "kind": "mixture",
    "parts": [{"share": 0.80, **SMALL_SIZES}, {"share": 0.19, **MEDIUM_SIZES}, {"share": 0.01, **LARGE_SIZES}],
}
NON_LARGE_SIZES = {"kind": "mixture", "parts": [{"share": 80 / 99, **SMALL_SIZES}, {"share": 19 / 99, **MEDIUM_SIZES}]}
INTERARRIVAL = {"kind": "log-normal", "sigma": 1.8}
"""80 % of the inter-arrival times within two orders of magnitude, as those of Fig. 3(d)."""

TRACE_MEAN_BYTES = 2_577_000
"""Mean of `TRACE_SIZES`: 0.8 x 21.5 KB + 0.19 x 2.15 MB + 0.01 x 215 MB."""

BUFFER = {"buffer": "100pkt"}
SWITCH = {"buffer": "$buffer", "mark_above": "20pkt"}
TCP = {"rto_min": "200ms"}

BASE = {"transport.recovery": "newreno"}
"""All schemes recover alike, so that they differ in their window laws alone."""

TRACE_SETTINGS: Mapping[str, Value] = {
    **BASE,
    "duration": "1000s",
    "warmup": "40s",
    "drain": "3000s",
    "measure.sample_every": "off",
}
"""By the end of the warm-up large flows have sent the 10 MB of the high weight; all others are waited for."""
QUICK_TRACE = {"duration": "140s"}

OTHERS = round(0.99 * 100e6 / 8 / TRACE_MEAN_BYTES, 4)
"""Small and medium flows per second where the trace, large flows too, fills 100 Mbps."""
END_TO_END = ("0-3", "16-19")


def chain(title: str, parameters: Table, traffic: Sequence[Table]) -> dict[str, object]:
    """Four hops of 100 Mbps and 50 us; hosts 4i to 4i+3 are at the i-th of five nodes."""
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
    """Flows with the inter-arrival times of the trace from one group of hosts to another."""
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
    """Large flows that are always there."""
    return {"kind": "long-lived", "class": "large", "flows": flows, "from": ends[0], "to": ends[1], "stagger": "100ms"}


TRACE = chain(
    "The trace on a chain of four 100 Mbps hops: small and medium flows beside large ones that are always there",
    {"others": OTHERS, "large": LARGE_FLOWS},
    [across("other", END_TO_END, rate_per_s="$others"), large("$large", ("0-3", 16))],
)


def times(result: Result, band: Band, flow_class: str = "") -> Floats:
    """Completion times of the flows above the lower and up to the upper size, without those of the warm-up.

    With `flow_class` they are those of a class alone. A flow that never ended took for ever.
    """
    flows = result.flows if not flow_class else result.flows.filter(result.flows["class"] == flow_class)
    flows = flows.filter(
        (flows["start_s"] >= result.meta["warmup_s"])
        & (flows["size_bytes"] > band[0])
        & (flows["size_bytes"] <= band[1])
    )
    return flows["fct_s"].fill_null(math.inf).to_numpy()


def median(band: Band, flow_class: str = "", percent: float = 50) -> lab.Measure:
    """The median, or another percentile, of the completion times in a band of sizes."""
    name = "median" if percent == 50 else f"percentile {percent:g}"
    return lab.Measure(
        f"{name} of {SIZES[band]} flows", "s", lambda result: nearest_rank(times(result, band, flow_class), percent)
    )


def mean(band: Band) -> lab.Measure:
    """The mean of the completion times in a band of sizes."""
    return lab.Measure(f"mean of {SIZES[band]} flows", "s", lambda result: float(times(result, band).mean()))


def _large_time(result: Result) -> float:
    return 1.0 / lab.recorded(result, "flow_goodput_large_bps", "large flow that moves")


LARGE_TIME = lab.Measure("time of large flows", "s/bit", _large_time)
"""For each bit: they have no end of their own."""


def in_time(band: Band, deadline_s: float, flow_class: str = "") -> lab.Measure:
    """The share of a band of sizes that is done by a deadline."""
    return lab.Measure(
        f"share of {SIZES[band]} flows done in {1e3 * deadline_s:g} ms",
        "",
        lambda result: float((times(result, band, flow_class) <= deadline_s).mean()),
    )


def over_tcp(metric: lab.Metric, study: str = "") -> lab.Quantity:
    """How far ATCP lies above TCP, paired over the seeds."""
    return lab.change("atcp", "tcp", metric, study)


def relative(results: Sequence[Result], baseline: Sequence[Result], measure: lab.Measure) -> Estimate:
    """The relative change from one list of results to another, paired by position."""
    change = paired_difference([measure(result) for result in results], [measure(result) for result in baseline])
    if change is None:
        raise TooLittle("the baseline is zero")
    return change
