"""Code that xDCTCP's figures share: the star of Table I, the parameter grid and the paper's two measures.

The senders in the authors' scripts have fixed clocks, so the printed numbers are compared with runs with these clocks.
Queries that start slightly later meet other queues, so in all other runs the seed draws a delay for each clock.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from shortflow.api.runs import Result
from shortflow_papers import lab
from shortflow_papers.lab.study import Value
from shortflow_papers.papers.common import ns_study, series

STAR = "xdctcp-star"
PORT = "s0->h8"
BEGIN_S = 0.05
"""Start of the first queries and short flows, in seconds."""

GAINS = (0.05, 0.055, 0.06, 0.0625, 0.065, 0.07, 0.075, 0.08, 0.085, 0.09, 0.095, 0.1, 0.105, 0.11)
"""Values of g in steps of 0.005, and DCTCP's 1/16."""
SHORT_FACTORS = (0.1, 0.2, 0.3, 0.4, 0.5)
LONG_FACTORS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
GRID: Mapping[str, Sequence[Value]] = {
    "transport.g": GAINS,
    "transport.ns": SHORT_FACTORS,
    "transport.nl": LONG_FACTORS,
}
COARSE: Mapping[str, Sequence[Value]] = {
    "transport.g": (0.05, 0.09),
    "transport.ns": (0.1, 0.3, 0.5),
    "transport.nl": (0.5, 1.0),
}
DCTCP_CODE = {"tcp.grow_on_marked_acks": "ns-2"}
"""Setting of the DCTCP code for ns-2 on which the paper builds."""
OFFSETS = {"traffic.1.jitter": "100us", "traffic.2.jitter": "100us"}
"""Delays of up to one RTT, with which the senders keep the order of the authors' scripts."""
BEST = {"transport__g": 0.09, "transport__ns": 0.3, "transport__nl": 1.0}
"""The paper's best triplet."""


def star(
    schemes: Sequence[str],
    over: Mapping[str, Sequence[Value]] | None = None,
    settings: Mapping[str, Value] | None = None,
    quick: Mapping[str, Sequence[Value]] | None = None,
    quick_duration: str = "400ms",
) -> lab.Study:
    """Study of the star, with settings in addition to the paper's."""
    return ns_study(
        STAR,
        schemes,
        over=over or {},
        settings={**DCTCP_CODE, "drain": "3.2s", "measure.sample_every": "100us", **OFFSETS, **(settings or {})},
        seeds=5,
        quick={"duration": quick_duration, **(quick or {})},
    )


BASE = star(("dctcp", "xdctcp"), quick_duration="1s")
"""DCTCP, and xDCTCP with the paper's best triplet."""
FIXED = replace(star(("dctcp", "xdctcp"), settings=dict.fromkeys(OFFSETS, "0us"), quick_duration="1s"), seeds=1)
"""Study of the same schemes with the fixed clocks of the authors' scripts, for which one seed suffices."""
SEARCH = star(("xdctcp",), GRID, quick=COARSE)
BESIDE = star(("dctcp",))
"""DCTCP over the same time as the search."""


def wait(name: str, *classes: str) -> lab.Measure:
    """Measure: mean wait of a sender's flows in switches, in seconds; mean over the senders of some classes."""

    def read(result: Result) -> float:
        flows = result.flows.filter(pl.col("class").is_in(classes))
        senders = flows.group_by("source").agg(pl.col("switch_queueing_s").mean())
        return float(senders["switch_queueing_s"].to_numpy().mean())

    return lab.Measure(name, "s", read)


delay = wait("delay", "query", "short")
"""Delay as the paper defines it, in seconds."""
BY_CLASS = {name: wait(f"delay of {name} senders", name) for name in ("query", "short", "long")}


@lab.per_run("throughput of short and long senders", "bps")
def throughput(result: Result) -> float:
    """Throughput as the paper defines it, in bit/s: mean over short and long senders."""
    senders = result.flows.filter(pl.col("class").is_in(["short", "long"]))
    span = result.meta["duration_s"] - result.meta["warmup_s"]
    return float(senders["delivered_bytes"].sum()) * 8 / span / senders["source"].n_unique()


def queue(result: Result) -> pl.DataFrame:
    """Samples of the bottleneck's queue in packets, from the first queries on."""
    return series(result, "queue_pkt", PORT, BEGIN_S)


def long_windows(result: Result) -> list[pl.DataFrame]:
    """Samples of each long flow's window in segments, from the first queries on."""
    return series(result, "cwnd_seg", since_s=BEGIN_S).partition_by("subject", maintain_order=True)
