"""Fig. 8: a burst of 50 short flows of 50 KB, which meets two long flows."""

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence

import polars as pl

from shortflow import Estimate, Flow, Window
from shortflow.api.judge import estimate
from shortflow.api.runs import Result, Run, run_one
from shortflow.api.scenarios import Cause, load_schemes
from shortflow_papers import lab
from shortflow_papers.papers.common import burst_of, flows, ns_study, number_of, series, traces
from shortflow_papers.papers.l2dct.in_python import DctcpInPython, L2dctInPython
from shortflow_papers.papers.l2dct.setup import LINK_BPS, PAYLOAD_SHARE, PORTS

BUFFER = 250
LAWS = {"dctcp": DctcpInPython, "l2dct": L2dctInPython}

BURST = ns_study(
    {
        "title": "A burst of 50 flows of 50 KB beside two long flows",
        "duration": "$end",
        "warmup": "500ms",
        "parameters": {"at": "6s", "end": "10s"},
        "topology": {"kind": "star", "hosts": 53, "rate": "1Gbps", "rtt": "300us"},
        **PORTS,
        "traffic": [
            {"kind": "long-lived", "flows": 2, "from": "50-51", "to": 52},
            burst_of("0-49", 52, "50KB", flows=50, at="$at", jitter="10us"),
        ],
        "measure": {"sample_every": "1ms"},
    },
    schemes=("dctcp", "l2dct"),
    quick={"at": "1500ms", "end": "3s"},
)


def _burst(result: Result) -> tuple[float, float]:
    """Start of the first short flow and end of the last one, in seconds."""
    short = flows(result, "short")
    return float(short["start_s"].to_numpy().min()), float(short["finish_s"].to_numpy().max())


@lab.per_run("share of the link in the 100 ms in which least arrives")
def lowest_share(result: Result) -> float:
    """Lowest mean throughput of 100 consecutive samples after 0.5 s, as a share of the link's payload rate."""
    rates = series(result, "throughput_bps").group_by("time_s").agg(pl.col("value").sum()).sort("time_s")
    total = rates["value"].to_numpy()[500:]
    bins = lab.some(total[: len(total) // 100 * 100], "samples").reshape(-1, 100).mean(axis=1)
    return float(bins.min()) / (LINK_BPS * PAYLOAD_SHARE)


@lab.per_run("share of the link that long flows have from 0.2 to 0.3 s after the burst")
def recovered_share(result: Result) -> float:
    """Throughput of the long flows from 200 to 300 ms after the burst, as a share of the link's payload rate.

    In the paper, the long flows need about 200 ms to return to 1 Gbps.
    """
    since_end = pl.col("time_s") - _burst(result)[1]
    after = series(result, "throughput_bps", "long").filter(since_end.is_between(0.2, 0.3))["value"].to_numpy()
    return float(after.mean()) / (LINK_BPS * PAYLOAD_SHARE)


@lab.per_run("queue half a second after the burst over the queue before, less 1")
def queue_after(result: Result) -> float:
    """Relative difference of the mean queue, 0.5 to 0.8 s after the burst, from that 0.4 to 0.1 s before the burst."""
    start, end = _burst(result)
    rows = series(result, "queue_pkt")
    before, after = (
        rows.filter((pl.col("time_s") - at).is_between(0.0, 0.3))["value"].to_numpy().mean()
        for at in (start - 0.4, end + 0.5)
    )
    return float(after / before) - 1


def cuts(run: Run, start: float, end: float) -> dict[str, float]:
    """Mean share of the window that a mark removes from `start` to `end`, by class (NaN without marks).

    The run is repeated with the law in Python, which records its cuts.
    """
    shares: dict[str, list[float]] = {}

    law: type[L2dctInPython] = LAWS[run.scheme.name]

    class Noting(law):  # type: ignore[misc, valid-type]
        """A law that records its cuts."""

        def on_congestion(self, window: Window, cause: Cause, flow: Flow) -> None:
            super().on_congestion(window, cause, flow)
            if cause == "ecn-echo" and start <= flow.now_s <= end:
                shares.setdefault(flow.role, []).append(self.alpha ** self.weight(flow) / 2)

    run_one(Run(run.scenario, load_schemes([Noting])[0], run.seed))
    return defaultdict(lambda: math.nan, {name: statistics.fmean(found) for name, found in shares.items()})


@number_of("mean cut of long flows less that of short ones", "", 0.0)
def backs_off(burst: lab.Data) -> Estimate:
    pairs = zip(burst.runs_of("l2dct"), burst.results("l2dct"), strict=True)
    found = [cuts(run, *_burst(result)) for run, result in pairs]
    return estimate([cut["long"] - cut["short"] for cut in found])


def _over_time(burst: lab.Data) -> Sequence[lab.Drawing]:
    result = burst.results("l2dct")[0]
    start, _ = _burst(result)
    near = result.samples.filter((pl.col("time_s") - start).is_between(-0.05, 0.15))
    rates = {name: near.filter(kind="throughput_bps", subject=name) for name in ("long", "short")}
    queue = {"queue": near.filter(kind="queue_pkt")}
    return [traces("Throughput by class", "throughput (Mbps)", rates, 1e6), traces("Queue", "packets", queue)]


fig8 = lab.Figure("l2dct/fig8", "Fig. 8", "A burst beside two long flows", {"burst": BURST})
fig8.claim("l2dct/fig8a-burst-adaptation", "Fig. 8(a)").says(
    "the link is full again soon after a burst, as long flows take about 200 ms to 1 Gbps",
    lab.level("l2dct", recovered_share).within(low=0.95),
    shows=[lab.level("l2dct", lowest_share)],
)
fig8.claim("l2dct/fig8b-burst-queue", "Fig. 8(b)").says(
    "the burst lifts the queue for a moment",
    lab.level("l2dct", "queue_max_pkt").within(high=BUFFER - 1),
    lab.level("l2dct", queue_after).alike(0.3),
)
fig8.claim("l2dct/fig8-long-backoff-more", "Fig. 8, Sec. III-B.2").says(
    "during the burst a mark takes more from the windows of long flows than from those of short ones", backs_off.above()
)
fig8.draw(_over_time)
