"""Fig. 8: a burst of 50 short flows of 50 KB beside two long ones."""

import statistics
from collections.abc import Sequence

import numpy as np
import polars as pl

from shortflow._core import Flow, Window
from shortflow.engine import run_one
from shortflow.lab import (
    Data,
    Drawing,
    Figure,
    Finding,
    Line,
    Study,
    all_hold,
    at_least,
    at_most,
    fact,
    no_difference,
)
from shortflow.metrics.stats import estimate
from shortflow.papers.l2dct.mixed import L2dctInPython
from shortflow.papers.l2dct.setup import LINK_BPS, PAYLOAD_SHARE
from shortflow.result import Run, RunResult
from shortflow.scheme import load_schemes
from shortflow.transport import Cause

K, BUFFER = 20, 250
SAMPLE_S = 1e-3

BURST = Study(
    {
        "title": "A burst of 50 flows of 50 KB beside two long flows",
        "duration": "$end",
        "warmup": "500ms",
        "parameters": {"at": "6s", "end": "10s"},
        "topology": {"kind": "star", "hosts": 53, "rate": "1Gbps", "rtt": "300us"},
        "switch": {"buffer": f"{BUFFER}pkt", "mark_above": f"{K}pkt"},
        "tcp": {"rto_min": "10ms"},
        "traffic": [
            {"kind": "long-lived", "flows": 2, "from": "50-51", "to": 52},
            {
                "kind": "incast",
                "flows": 50,
                "from": "0-49",
                "to": 52,
                "at": "$at",
                "jitter": "10us",
                "sizes": {"kind": "fixed", "value": "50KB"},
            },
        ],
        "measure": {"sample_every": "1ms"},
    },
    schemes=("l2dct",),
    quick_settings={"at": "1500ms", "end": "3s"},
)

fig8 = Figure("l2dct/fig8", "Fig. 8", "A burst beside two long flows", {"burst": BURST})


def _series(result: RunResult, kind: str) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    """Every sample of a kind, summed over its subjects."""
    rows = result.samples.filter(kind=kind).group_by("time_s").agg(pl.col("value").sum()).sort("time_s")
    return rows["value"].to_numpy().astype(np.float64)


def _burst(result: RunResult) -> tuple[float, float]:
    """When the first short flow starts and the last one ends."""
    short = result.flows.filter(pl.col("class") == "short")
    return float(short["start_s"].to_numpy().min()), float(short["finish_s"].to_numpy().max())


@fig8.drawing
def over_time(burst: Data) -> Sequence[Drawing]:
    result = burst.results("l2dct")[0]
    start, _ = _burst(result)
    near = result.samples.filter((pl.col("time_s") - start).is_between(-0.05, 0.15))
    lines = []
    for name in ("long", "short"):
        rows = near.filter((pl.col("kind") == "throughput_bps") & (pl.col("subject") == name))
        lines.append(Line(name, rows["time_s"].to_list(), [bps / 1e6 for bps in rows["value"]], markers=False))
    queue = near.filter(kind="queue_pkt")
    packets = Line("queue", queue["time_s"].to_list(), queue["value"].to_list(), markers=False)
    return [
        Drawing("Throughput by class", "time (s)", "throughput (Mbps)", lines),
        Drawing("Queue", "time (s)", "packets", [packets]),
    ]


@fig8.claim(
    "fig8a-burst-adaptation",
    "a burst takes the link at once, and the long flows return to full rate after it",
    "at least 90 % of what the link can carry in each 100 ms, and 95 % by the long flows 0.5 s after the burst",
    because=(
        "the burst takes the long flows' windows, which then climb by 0.05 segments per round trip: the link idles in "
        "part of the next 100 ms; with w_min = 1 the lowest 100 ms carry 94 %"
    ),
)
def adapts(burst: Data) -> Finding:
    lowest, recovered = [], []
    for result in burst.results("l2dct"):
        total = _series(result, "throughput_bps")[500:]
        bins = total[: len(total) // 100 * 100].reshape(-1, 100).mean(axis=1)
        lowest.append(float(bins.min()) / (LINK_BPS * PAYLOAD_SHARE))
        _, end = _burst(result)
        long = result.samples.filter((pl.col("kind") == "throughput_bps") & (pl.col("subject") == "long"))
        after = long.filter((pl.col("time_s") - end).is_between(0.4, 0.5))["value"].to_numpy()
        recovered.append(float(after.mean()) / (LINK_BPS * PAYLOAD_SHARE))
    return all_hold(
        {
            "lowest of 100 ms": at_least(estimate(lowest), 0.9),
            "long flows after 0.5 s": at_least(estimate(recovered), 0.95),
        }
    )


@fig8.claim(
    "fig8b-burst-queue",
    "the burst lifts the queue for a moment",
    "a peak below the buffer; half a second later the mean is within 30 % of that before",
)
def queue(burst: Data) -> Finding:
    peaks, changes = [], []
    for result in burst.results("l2dct"):
        start, end = _burst(result)
        rows = result.samples.filter(kind="queue_pkt")
        before, after = (
            rows.filter((pl.col("time_s") - at).is_between(0.0, 0.3))["value"].to_numpy().mean()
            for at in (start - 0.4, end + 0.5)
        )
        peaks.append(float(result.metrics["queue_max_pkt"]))
        changes.append(float(after / before) - 1)
    return all_hold(
        {"peak": at_most(estimate(peaks), BUFFER - 1), "queue afterwards": no_difference(estimate(changes), 0.3)}
    )


def cuts(run: Run, start: float, end: float) -> dict[str, float]:
    """The mean share of the window that a mark took in a period, by class: the same run with the law in Python."""
    shares: dict[str, list[float]] = {}

    class Noting(L2dctInPython):
        """L2DCT that notes its cuts."""

        def on_congestion(self, window: Window, cause: Cause, flow: Flow) -> None:
            super().on_congestion(window, cause, flow)
            if cause == "ecn-echo" and start <= flow.now_s <= end:
                shares.setdefault(flow.role, []).append(self.alpha ** self.weight(flow) / 2)

    (scheme,) = load_schemes([Noting])
    run_one(Run(run.scenario, scheme, run.seed))
    return {name: statistics.fmean(found) for name, found in shares.items()}


@fig8.claim(
    "fig8-long-backoff-more",
    "during the burst a mark takes more from the windows of long flows than from those of short ones",
    "the mean cut of long flows is larger, with intervals that do not meet",
)
def backs_off(burst: Data) -> Finding:
    (runs,) = burst.runs.values()
    pairs = zip(runs, burst.results("l2dct"), strict=True)
    found = [cuts(run, *_burst(result)) for run, result in pairs]
    long, short = (estimate([cut[name] for cut in found]) for name in ("long", "short"))
    apart = (long.value - (long.half_width or 0)) > (short.value + (short.half_width or 0))
    return fact(apart, long_cut=long.value, short_cut=short.value)
