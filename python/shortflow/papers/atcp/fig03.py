"""Fig. 3 and Sec. III: properties that the synthetic trace shares with the measured one."""

import math

import numpy as np
import polars as pl

from shortflow import lab
from shortflow.papers.atcp.fig02 import CHAIN
from shortflow.papers.atcp.setup import ALL, BUFFER, INTERARRIVAL, SWITCH, TRACE_SIZES, Band, Floats, times
from shortflow.result import Result

ARRIVALS: dict[str, object] = {
    "title": "The trace's arrivals, 50 flows a second over a link that is fast enough",
    "duration": "10000s",
    "drain": "1000s",
    "topology": {"kind": "star", "hosts": 2, "rate": "100Gbps", "rtt": "200us"},
    "parameters": BUFFER,
    "switch": SWITCH,
    "traffic": [
        {
            "kind": "arrivals",
            "class": "trace",
            "from": 0,
            "to": 1,
            "interarrival": INTERARRIVAL,
            "rate_per_s": 49.5,
            "sizes": TRACE_SIZES,
        }
    ],
}
"""The middle of the published range of medians, 4 ms, gives 49.5 flows per second: half a million flows."""

TRAFFIC = lab.Study(ARRIVALS, ("ideal-ps",), seeds=1, quick_settings={"duration": "4000s"})


@lab.measure("share of flows below 100 KB")
def below_100_kb(result: Result) -> float:
    """Share of all flows that started."""
    return float((_drawn(result) <= 100e3).mean())


@lab.measure("share of flows below 10 MB")
def below_10_mb(result: Result) -> float:
    """Share of all flows that started."""
    return float((_drawn(result) <= 10e6).mean())


@lab.measure("share of bytes in flows above 10 MB")
def bytes_above(result: Result) -> float:
    """Share of the bytes of all flows that started."""
    drawn = _drawn(result)
    return float(drawn[drawn > 10e6].sum() / drawn.sum())


def _drawn(result: Result) -> Floats:
    return np.asarray(result.flows["size_bytes"].drop_nulls().to_numpy(), dtype=np.float64)


@lab.measure("share of inter-arrival times of 0.4 to 40 ms")
def usual_times(result: Result) -> float:
    """Inter-arrival times."""
    between = np.diff(np.sort(result.flows["start_s"].to_numpy()))
    return float(((between >= 0.4e-3) & (between <= 40e-3)).mean())


@lab.measure("share of flows that last under 10 s")
def under_10_s(result: Result) -> float:
    """Share over all sizes."""
    return float((times(result, ALL) < 10).mean())


def _spans(result: Result, band: Band) -> Floats:
    """Start and end of every flow of a class, one per row; ∞ for unfinished flows."""
    flows = result.flows.filter(pl.col("size_bytes") > band[0], pl.col("size_bytes") <= band[1])
    flows = flows.with_columns(pl.col("finish_s").fill_null(math.inf))
    return np.asarray(flows.select("start_s", "finish_s").to_numpy(), dtype=np.float64)


@lab.measure("share of one-second bins with 1000 to 2000 active flows")
def busy_bins(result: Result) -> float:
    """Counts after the warm-up."""
    spans = _spans(result, ALL)
    bins = np.arange(result.meta["warmup_s"], result.meta["duration_s"])
    counts = np.asarray([((spans[:, 0] < start + 1) & (spans[:, 1] >= start)).sum() for start in bins])
    return float(((counts >= 1000) & (counts <= 2000)).mean())


sizes = lab.Figure("atcp/fig3a", "Fig. 3(a)", "Sizes of the trace", {"traffic": TRAFFIC}).decides(
    lab.paper(
        "atcp/fig3a-size-distribution",
        "numeric",
        {"p_below_100KB": 0.8, "p_below_10MB": 0.99, "bytes_above_10MB_min": 0.8},
        "Fig. 3(a), Sec. III",
    ).says(
        "80 % of flows are below 100 KB and 99 % below 10 MB; over 80 % of bytes are in larger ones",
        lab.level("ideal-ps", below_100_kb).within(0.795, 0.805),
        lab.level("ideal-ps", below_10_mb).within(0.988, 0.992),
        lab.level("ideal-ps", bytes_above).at_least(0.75),
    )
)
interarrival = lab.Figure("atcp/fig3d", "Fig. 3(d)", "Times between flows", {"traffic": TRAFFIC}).decides(
    lab.paper(
        "atcp/fig3d-interarrival", "numeric", {"low_us": 400, "high_ms": 40, "fraction": 0.8}, "Fig. 3(d), Sec. III"
    ).says("80 % of the inter-arrival times are 0.4 to 40 ms", lab.level("ideal-ps", usual_times).near(0.8))
)
durations = lab.Figure("atcp/fig3b", "Fig. 3(b)", "Durations of flows", {"chain": CHAIN}).decides(
    lab.paper("atcp/fig3b-duration", "numeric", {"p_below_10s": 0.8}, "Fig. 3(b), Sec. III").says(
        "80 % of flows last under 10 s, a few over 100 s",
        lab.unmeasured("the measured flows crossed links of 1 Gbps at a load not given, not 100 Mbps"),
        shows=[lab.level("tcp", under_10_s)],
    )
)
active = lab.Figure("atcp/fig3c", "Fig. 3(c)", "Active flows", {"chain": CHAIN}).decides(
    lab.paper(
        "atcp/fig3c-active-flows", "numeric", {"min": 1000, "max": 2000, "fraction": 0.9}, "Fig. 3(c), Sec. III"
    ).says(
        "in over 90 % of one-second bins an edge switch sees 1000 to 2000 active flows",
        lab.unmeasured("about four flows a second fill a chain of 100 Mbps; the measured switch serves a row of racks"),
        shows=[lab.level("tcp", busy_bins)],
    )
)
overlap = lab.Figure("atcp/sec3", "Sec. III", "Overlap with large flows").decides(
    lab.paper("atcp/sec3-overlap", "numeric", {"time_with_large_min": 0.95, "overlap_min": 0.9}).says(
        "large flows are there over 95 % of the time, and over 90 % of the others overlap with one",
        lab.unmeasured("the trace is not public; here large flows are always there, because of this observation"),
    )
)
