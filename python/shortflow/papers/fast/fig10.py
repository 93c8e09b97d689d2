"""Figs. 10 and 11: fairness of long FaST flows on one link; Sec. 3.2 on windows of long DCTCP flows."""

from collections.abc import Sequence

import polars as pl

from shortflow import lab
from shortflow.metrics.stats import Estimate
from shortflow.papers.fast.setup import DCTCP, OF_SCHEME, ROOT, tree
from shortflow.papers.theory import Bottleneck
from shortflow.papers.traffic import burst, fairness
from shortflow.result import Result

FLOWS = 5
STEP_S = 3.0
SAMPLE_S = 0.1
SETTLING_S = 0.5
PAYLOAD = 1460 / 1500
"""Payload share of the link."""

ARRIVING = tree(
    "Five flows of 1 GB in a rack, one more every 3 s",
    f"{FLOWS * STEP_S:g}s",
    [burst(i + 1, ROOT, "1GB", f"flow{i}", at=f"{i * STEP_S:g}s") for i in range(FLOWS)],
)
ARRIVING["measure"] = {"ports": ["tor0->h0"], "sample_every": f"{SAMPLE_S:g}s"}
ARRIVING["drain"] = "0s"

CONVERGENCE = lab.Study(ARRIVING, ("dctcp", "fast"), settings=DCTCP, of_scheme=OF_SCHEME)

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
FAIR = lab.Study(LONG, ("dctcp", "fast"), settings=DCTCP, of_scheme=OF_SCHEME, quick_settings={"duration": "4s"})
COUNTS = (5, 10, 14, 18, 22, 26, 30, 35, 40)
WINDOWS = lab.Study(
    LONG,
    ("dctcp",),
    over={"flows": COUNTS},
    settings={**DCTCP, "duration": "3s"},
    quick={"flows": (5, 10, 18, 26, 35)},
    quick_settings={"duration": "1s"},
)


def _shares(result: Result, flow: int) -> pl.DataFrame:
    """Throughput of a flow in bits per second, for intervals that end at `time_s`."""
    samples = result.samples.filter(kind="throughput_bps", subject=f"flow{flow}")
    return samples.select("time_s", "value").sort("time_s")


def _deviation(active: int) -> lab.Measure:
    """Largest relative deviation from the fair share, 0.5 s after the last start."""

    def worst(result: Result) -> float:
        begin = (active - 1) * STEP_S + SETTLING_S
        inside = pl.col("time_s").is_between(begin, begin + SETTLING_S + SAMPLE_S / 2, closed="right")
        means = [float(_shares(result, flow).filter(inside)["value"].to_numpy().mean()) for flow in range(active)]
        return max(abs(mean * active / (1e9 * PAYLOAD) - 1) for mean in means)

    return lab.Measure(f"largest deviation of {active} from the fair share 0.5 s after a start", "", worst)


@lab.measure("mean window", "segments")
def mean_window(result: Result) -> float:
    """Mean over flows and time after the warm-up."""
    windows = result.samples.filter((pl.col("kind") == "cwnd_seg") & (pl.col("time_s") >= result.meta["warmup_s"]))
    return float(windows["value"].to_numpy().mean())


def _over_theory(windows: lab.Data) -> dict[str, Estimate]:
    """Mean window over the larger of two and W* at 1 Gbps, 100 us and K = 30 KB."""
    measures = {n: _relative_window(float(n)) for n in windows.values("flows")}
    return {f"{n} flows": windows.mean("dctcp", measure, flows=n) for n, measure in measures.items()}


def _relative_window(flows: float) -> lab.Measure:
    theory = max(Bottleneck(12_500.0, 30_000.0, 100_000.0, 1_500.0).critical_window(flows), 2.0)
    return lab.Measure("mean window over the computed one", "", lambda result: mean_window(result) / theory)


def _draw_shares(convergence: lab.Data) -> Sequence[lab.Drawing]:
    (first, *_) = convergence.results("fast")
    lines = [lab.over_time(f"flow {flow + 1}", _shares(first, flow), 1e6) for flow in range(FLOWS)]
    starts = [n * STEP_S + SETTLING_S for n in range(FLOWS)]
    fair = [1e3 * PAYLOAD / (n + 1) for n in range(FLOWS)]
    lines.append(lab.Line("equal shares", starts, fair, printed=True, apart=True))
    return [lab.Drawing("Throughput of five FaST flows", "time (s)", "throughput (Mbps)", lines)]


fig10 = lab.Figure("fast/fig10", "Fig. 10", "Five flows that start 3 s apart", {"convergence": CONVERGENCE}).decides(
    lab.Claim("fast/fig10-convergence").says(
        "five flows that start 3 s apart soon share the link equally",
        *(lab.level("fast", _deviation(active)).at_most(0.2) for active in range(1, FLOWS + 1)),
    ),
    draws=[_draw_shares],
)
fig11 = lab.Figure("fast/fig11", "Fig. 11", "Fairness among 45 flows", {"fair": FAIR}).decides(
    lab.Claim("fast/fig11-jain", "Fig. 11, Eq. 10").says(
        "45 long flows share the link with a Jain index of 0.999", lab.level("fast", fairness).at_least(0.98)
    )
)
minimum = lab.Figure("fast/sec32", "Sec. 3.2", "Windows of many long DCTCP flows", {"windows": WINDOWS}).decides(
    lab.Claim("fast/sec32-window-at-minimum").says(
        "from 14 flows on DCTCP's windows stay at two segments",
        lab.computed("mean window over the larger of W* and 2", _over_theory).within(0.75, 1.25),
    )
)
