"""Figs. 10 and 11: how long FaST flows share a link; and Sec. 3.2 on the windows of long DCTCP flows."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from shortflow._core import fast_bottleneck, jain_index
from shortflow.lab import Data, Drawing, Figure, Finding, Line, Study, all_hold, at_least, within
from shortflow.papers.fast.setup import DCTCP, HOST_QUEUE, MARKING, ROOT, tree
from shortflow.result import RunResult

FLOWS = 5
STEP_S = 3.0
SAMPLE_S = 0.1
SETTLING_S = 0.5
PAYLOAD = 1460 / 1500
"""Share of the link that payload can have."""

ARRIVING = tree(
    "Five flows of 1 GB in a rack, one more every 3 s",
    f"{FLOWS * STEP_S:g}s",
    [
        {
            "kind": "incast",
            "class": f"flow{i}",
            "flows": 1,
            "from": i + 1,
            "to": ROOT,
            "at": f"{i * STEP_S:g}s",
            "sizes": {"kind": "fixed", "value": "1GB"},
        }
        for i in range(FLOWS)
    ],
)
ARRIVING["measure"] = {"ports": ["tor0->h0"], "sample_every": f"{SAMPLE_S:g}s"}
ARRIVING["drain"] = "0s"

CONVERGENCE = Study(ARRIVING, ("fast",), settings=MARKING, seeds=3, quick_seeds=1)

LONG = {
    **tree(
        "Long flows in one rack of 46 servers",
        "10s",
        [{"kind": "long-lived", "flows": "$flows", "from": "1-45", "to": ROOT, "stagger": "2ms"}],
        hosts=46,
    ),
    "parameters": {"flows": 45},
    "warmup": "500ms",
    "measure": {"ports": ["tor0->h0"], "sample_every": "1ms"},
}
FAIR = Study(LONG, ("fast",), settings=MARKING, quick_settings={"duration": "4s"})
COUNTS = (5, 10, 14, 18, 22, 26, 30, 35, 40)
WINDOWS = Study(
    LONG,
    ("dctcp",),
    over={"flows": COUNTS},
    settings={**DCTCP, "duration": "3s"},
    seeds=3,
    quick={"flows": (5, 10, 18, 26, 35)},
    quick_settings={"duration": "1s"},
    quick_seeds=1,
)

fig10 = Figure("fast/fig10", "Fig. 10", "Five flows that start 3 s apart", {"convergence": CONVERGENCE})
fig11 = Figure("fast/fig11", "Fig. 11", "Fairness among 45 flows", {"fair": FAIR})
minimum = Figure("fast/sec32", "Sec. 3.2", "Windows of many long DCTCP flows", {"windows": WINDOWS})


def _shares(result: RunResult, flow: int) -> pl.DataFrame:
    """Throughput of a flow in bits per second, in intervals that end at `time_s`."""
    samples = result.samples.filter((pl.col("kind") == "throughput_bps") & (pl.col("subject") == f"flow{flow}"))
    return samples.select("time_s", "value").sort("time_s")


@fig10.drawing
def shares(convergence: Data) -> Sequence[Drawing]:
    (result, *_) = convergence.results("fast")
    lines = []
    for flow in range(FLOWS):
        found = _shares(result, flow)
        lines.append(
            Line(f"flow {flow + 1}", found["time_s"].to_list(), (found["value"] / 1e6).to_list(), markers=False)
        )
    return [Drawing("Throughput of five FaST flows", "time (s)", "throughput (Mbps)", lines)]


@fig10.claim(
    "fig10-convergence",
    "five flows that start 3 s apart soon share the link equally",
    "0.5 s after each start every flow within 20 % of its fair share, as a mean over the next 0.5 s",
    because=HOST_QUEUE,
)
def convergence_to_shares(convergence: Data) -> Finding:
    def worst(active: int, result: RunResult) -> float:
        begin = (active - 1) * STEP_S + SETTLING_S
        fair = 1e9 * PAYLOAD / active
        inside = pl.col("time_s").is_between(begin, begin + SETTLING_S + SAMPLE_S / 2, closed="right")
        means = [float(_shares(result, flow).filter(inside)["value"].to_numpy().mean()) for flow in range(active)]
        return max(abs(mean / fair - 1) for mean in means)

    return all_hold(
        {
            f"largest deviation of {active}": within(convergence.measured(partial(worst, active), "fast"), 0.0, 0.2)
            for active in range(1, FLOWS + 1)
        }
    )


@fig11.claim("fig11-jain", "45 long flows share the link with a Jain index of 0.999", "at least 0.98")
def jain(fair: Data) -> Finding:
    return at_least(fair.measured(lambda result: jain_index(result.flows["delivered_bytes"].to_list()), "fast"), 0.98)


def mean_window(result: RunResult) -> float:
    """The window in segments, mean over flows and time after the warm-up."""
    windows = result.samples.filter((pl.col("kind") == "cwnd_seg") & (pl.col("time_s") >= result.meta["warmup_s"]))
    return float(windows["value"].to_numpy().mean())


@minimum.drawing
def windows_over_flows(windows: Data) -> Sequence[Drawing]:
    flows = [float(n) for n in windows.values("flows")]
    found = [windows.measured(mean_window, "dctcp", flows=n).value for n in windows.values("flows")]
    theory = [max(_critical(n), 2.0) for n in flows]
    return [
        Drawing(
            "Mean window", "flows", "window (segments)", [Line("dctcp", flows, found), Line("theory", flows, theory)]
        )
    ]


def _critical(flows: float) -> float:
    """W* at 1 Gbps, 100 us and K = 30 KB."""
    return fast_bottleneck(12_500.0, 30_000.0, 100_000.0, 1_500.0, flows, 2.0)["critical_window"]


@minimum.claim(
    "sec32-window-at-minimum",
    "from 14 flows on DCTCP's windows stay at two segments",
    "time mean within 25 % of the larger of W* and 2",
    because="the mean window lies above W*: by 25 % with 10 flows and, at full scale, by 34 % with 14; that of 10 "
    "flows just agrees with --choice initial-alpha=0, handshake=on or receive-window=128KiB",
)
def windows_at_minimum(windows: Data) -> Finding:
    findings = {}
    for flows in windows.values("flows"):
        expected = max(_critical(float(flows)), 2.0)
        found = windows.measured(mean_window, "dctcp", flows=flows)
        findings[f"{flows} flows"] = within(found, 0.75 * expected, 1.25 * expected, theory=expected)
    return all_hold(findings)
