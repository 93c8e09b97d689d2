"""Sec. II-C and Fig. 3: steady state of N synchronised long flows, the smallest K, and the queue's amplitude."""

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shortflow.api.errors import TooLittle
from shortflow.api.runs import Result
from shortflow.api.scenarios import Settings
from shortflow.api.theory import LongFlows, threshold_bound
from shortflow_papers import lab
from shortflow_papers.papers.common import means, ns_study, number_of, series
from shortflow_papers.papers.l2dct.setup import LINK_BPS, LONG_FLOWS, PAYLOAD_SHARE

PACKET_S = 1500 * 8 / LINK_BPS
BDP = 25.0
"""Bandwidth-delay product in packets of 1500 bytes: 300 us at 1 Gbps."""
SENDING_US = 14
"""Transmission times in a round trip, in us: one at 1 Gbps and two at 10 Gbps. The analysis's RTT includes them."""
K = 20.0

SAMPLED: Mapping[str, object] = {
    **LONG_FLOWS,
    "topology": {**LONG_FLOWS["topology"], "rtt": f"{300 - SENDING_US}us"},
    "measure": {"ports": ["s0->s1"], "sample_every": "50us"},
}


@dataclass(frozen=True)
class Sawtooth:
    """Medians over the teeth of one flow's window. Windows and queues are in packets, times in round trips."""

    swing: float
    """Height of a tooth, from its lowest to its highest window."""
    period: float
    mean_window: float
    alpha: float
    queue_max: float
    queue_min: float

    @property
    def queue_swing(self) -> float:
        """Difference between the queue's peak and trough, in packets."""
        return self.queue_max - self.queue_min


def sawtooth(result: Result) -> Sawtooth:
    """Sawtooth of the first flow after the warm-up. Teeth lie between cuts of the window. The link must be busy."""
    window, alpha, queue = (_first(result, kind) for kind in ("cwnd_seg", "alpha", "queue_pkt"))
    cuts = np.flatnonzero(np.diff(window) < 0)
    teeth = list(itertools.pairwise(cuts))
    if not teeth:
        raise TooLittle("no tooth after the warm-up")
    step = 50e-6
    mean_window = float(window.mean())
    # By Little's law, a round trip takes as long as the transmission of one window of each flow.
    round_trip = mean_window * len(result.flows) * PACKET_S
    return Sawtooth(
        swing=statistics.median(float(window[end] - window[start + 1]) for start, end in teeth),
        period=statistics.median(float(end - start) * step / round_trip for start, end in teeth),
        mean_window=mean_window,
        alpha=float(alpha.mean()),
        queue_max=statistics.median(float(queue[start:end].max()) for start, end in teeth),
        queue_min=statistics.median(float(queue[start:end].min()) for start, end in teeth),
    )


def _first(result: Result, kind: str) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    """Samples of a kind after the warm-up, of the first subject that has such samples."""
    rows = series(result, kind, since_s=result.meta["warmup_s"])
    return rows.filter(pl.col("subject") == rows["subject"].min())["value"].to_numpy().astype(np.float64)


def of_teeth(name: str, unit: str = "") -> lab.Measure:
    """Measure of a field or property of `Sawtooth`."""
    return lab.Measure(name.replace("_", " "), unit, lambda result: float(getattr(sawtooth(result), name)))


WEIGHTS = (0.125, 0.5, 1.0)
THRESHOLDS = (1, 2, 3, 5, 8, 12, 16, 26)
UNDERFLOW = ns_study(
    LONG_FLOWS,
    ("l2dct",),
    over={"flows": (1, 2), "transport.w_min": WEIGHTS, "switch.mark_above": tuple(f"{k}pkt" for k in THRESHOLDS)},
    settings={"measure.sample_every": "off"},
    quick={"duration": "2500ms"},
    seeds=1,
)
SIMULATED_WEIGHTS = (0.5, 1.0, 2.5)
BDPS = (50, 100, 200)


def _at(bdp: int) -> lab.Study:
    """Study of one flow at a bandwidth-delay product in packets, with K = 0.8 times this product."""
    settings: Settings = {
        "flows": 1,
        "topology.rtt": f"{bdp * 12 - SENDING_US}us",
        "switch.buffer": "unlimited",
        "switch.mark_above": f"{bdp * 4 // 5}pkt",
        "duration": "40s",
        "warmup": "10s",
    }
    shorter = {"duration": "20s", "warmup": "8s"}
    return ns_study(SAMPLED, ("l2dct",), {"transport.w_min": SIMULATED_WEIGHTS}, settings, quick=shorter, seeds=1)


def _no_underflow(underflow: lab.Data) -> lab.Finding:
    found = {}
    for flows, weight in itertools.product((1, 2), WEIGHTS):
        at = {"flows": flows, "transport.w_min": weight}
        use = list(means(underflow, "l2dct", "utilisation", "switch.mark_above", **at).values())
        enough = 1.2 * threshold_bound(BDP, weight)
        above = min(value for k, value in zip(THRESHOLDS, use, strict=True) if k >= enough)
        rises = all(after >= before - 1e-3 for before, after in itertools.pairwise(use))
        holds = above >= 0.98 and rises and use[0] < above
        found[f"w = {weight:g}, {flows} flows"] = lab.fact(holds, lowest_above=above, at_K_1=use[0])
    return lab.all_hold(found)


@number_of("simulated exponent less 1/(w+1)")
def simulated(bdp50: lab.Data, bdp100: lab.Data, bdp200: lab.Data) -> dict[str, float]:
    swing = of_teeth("queue_swing")
    swings = [means(data, "l2dct", swing, "transport.w_min") for data in (bdp50, bdp100, bdp200)]
    found = {}
    for weight in SIMULATED_WEIGHTS:
        # A power law is a straight line in logarithms, so its exponent is the slope of the fitted line.
        slope, _ = np.polyfit(np.log(BDPS), np.log([each[weight] for each in swings]), 1)
        found[f"w = {weight:g}"] = float(slope) - 1 / (weight + 1)
    return found


bound = lab.Figure(
    "l2dct/eq13", "Sec. II-C, Eq. 13", "The smallest K that keeps the link busy", {"underflow": UNDERFLOW}
)
bound.claim("l2dct/eq13-no-underflow", "Eq. 13").says(
    "K above the bound keeps the link busy, K well below does not",
    lab.decided(
        "utilisation of at least 98 % from 1.2 times the bound on, never falling with K by over 0.1 %, and "
        "less at K = 1",
        _no_underflow,
    ),
)
for weight in WEIGHTS:
    bound.draw(
        lab.Curves(
            "switch.mark_above",
            "utilisation",
            "K (packets)",
            f"Utilisation by one flow of weight {weight:g}",
            fixed={"flows": 1, "transport.w_min": weight},
        )
    )
growth = lab.Figure(
    "l2dct/sec2c",
    "Sec. II-C",
    "The queue's swing over the bandwidth-delay product",
    {f"bdp{bdp}": _at(bdp) for bdp in BDPS},
)
growth.claim("l2dct/sec2c-amplitude-exponent", equation=True).says(
    "with few flows the queue's swing grows as the product to the power 1/(w+1)",
    simulated.called("simulated").within(-0.1, 0.1),
    because="alpha decays within long teeth, which the analysis leaves out",
)
UNIT = ns_study(
    SAMPLED,
    ("dctcp", "l2dct"),
    over={"flows": (1, 2)},
    settings={"transport.w_max": 1, "transport.w_min": 1, "duration": "5s"},
    quick={"duration": "1500ms", "warmup": "500ms"},
    seeds=1,
)
HALF = ns_study(
    SAMPLED,
    ("l2dct",),
    over={"flows": (1, 2), "transport.w_max": (1, 2.5)},
    settings={"transport.w_min": 0.5, "duration": "10s"},
    quick={"duration": "3s"},
    seeds=1,
)
SMALLEST = ns_study(SAMPLED, ("l2dct",), settings={"flows": 1, "duration": "20s"}, quick={"duration": "4s"}, seeds=1)


RAMP = ns_study(
    LONG_FLOWS,
    ("dctcp", "l2dct"),
    settings={
        "flows": 1,
        "duration": "400ms",
        "warmup": "0s",
        "tcp.initial_window": 1,
        "tcp.initial_ssthresh": "1pkt",
        "transport.knee_low": "0B",
        "transport.knee_high": "0B",
    },
    seeds=1,
)
"""A long flow that begins with one segment, and gains 0.05 segments per round trip from the start."""


def theory(flows: float, weight: float, step: float, *, exact: bool = False) -> LongFlows:
    """Steady state at the reference point: bandwidth-delay product of 25 packets, K = 20."""
    return LongFlows(BDP, K, flows, weight, step, exact)


def _unit(name: str, unit: str = "") -> dict[int, lab.Quantity]:
    """Quantity of the sawtooth for w = k = 1, for one and two flows."""
    measure = of_teeth(name, unit)
    return {n: lab.level("l2dct", measure).at(flows=n).called(f"simulated {measure.name}, {n} flows") for n in (1, 2)}


ALPHA, SWING, PERIOD, MEAN = (_unit(name) for name in ("alpha", "swing", "period", "mean_window"))
QUEUE_SWING, QUEUE_MAX, QUEUE_MIN = (_unit(f"queue_{name}", "packets") for name in ("swing", "max", "min"))


def _draw(unit: lab.Data) -> Sequence[lab.Drawing]:
    (result,) = unit.results("l2dct", flows=1)
    rows = result.samples.filter(kind="cwnd_seg").tail(400)
    times = [1e3 * time for time in rows["time_s"].to_list()]
    peak, swing = 46.0, theory(1, 1, 1).window_swing
    tooth_ms = theory(1, 1, 1).period * 1e3 * (BDP + K) * 12e-6
    found = [peak - swing * (1 - (time - times[0]) % tooth_ms / tooth_ms) for time in times]
    lines = [
        lab.Line("simulated", times, rows["value"].to_list(), markers=False),
        lab.Line("computed", times, found, markers=False),
    ]
    return [lab.Drawing("Window of one flow, w = k = 1", "time (ms)", "cwnd (segments)", lines)]


def _accuracy(flows: int) -> list[lab.ClaimCondition]:
    paper = theory(flows, 1, 1)
    mean = paper.critical_window + 1 - paper.window_swing / 2
    return [
        SWING[flows].near(paper.window_swing, error=0.2),
        PERIOD[flows].near(paper.window_swing, error=0.2),
        MEAN[flows].near(mean, error=0.05),
    ]


@number_of("simulated swing of w = 0.5 over the computed one")
def overestimated(half: lab.Data) -> dict[str, float]:
    return {
        f"{flows} flows, k = {0.5 / w_max:g}": swing / theory(flows, 0.5, 0.5 / w_max).window_swing
        for flows in (1, 2)
        for w_max, swing in means(half, "l2dct", of_teeth("swing"), "transport.w_max", flows=flows).items()
    }


@lab.per_run("time of a long flow from one segment to 99 % of the link", "s")
def ramp(result: Result) -> float:
    """Time in seconds of the first sample in which the bottleneck carries at least 99 % of its rate."""
    full = series(result, "throughput_bps").filter(pl.col("value") >= 0.99 * LINK_BPS * PAYLOAD_SHARE)
    return float(lab.some(full, "milliseconds with 99 % of the link")["time_s"].to_numpy().min())


equations = lab.Figure("l2dct/eq5-12", "Sec. II-C, Eqs. 5-12", "The steady state", {"unit": UNIT, "smallest": SMALLEST})
equations.claim("l2dct/eq5-alpha-balance", "Eq. 5", equation=True).says(
    "alpha follows from one round trip of marks in each tooth: alpha*(b - b^2/4) = (2*W0*k + k^2)/(W0 + k)^2",
    *(ALPHA[n].near(theory(n, 1, 1, exact=True).alpha, error=0.15) for n in (1, 2)),
)
equations.claim("l2dct/eq9-queue-amplitude", "Eq. 9", equation=True).says(
    "the queue swings N times as far as a window: A = N*b*(W0 + k)/2 ~ (N*W0/2)*(2*k/W0)^(w/(w+1))",
    *(QUEUE_SWING[n].near(theory(n, 1, 1).queue_swing, error=0.2) for n in (1, 2)),
)
equations.claim("l2dct/eq10-oscillation-period", "Eq. 10", equation=True).says(
    "a tooth lasts D round trips: T_C = D = b*(W0 + k)/2",
    PERIOD[1].near(theory(1, 1, 1).window_swing, error=0.2),
    lab.level("l2dct", of_teeth("period"), "smallest")
    .called("simulated period, w = 0.125")
    .near(theory(1, 0.125, 0.05).window_swing, error=0.2),
    because="the derivation gives D/k, and takes alpha as constant, which decays within long teeth",
)
equations.claim("l2dct/eq11-max-queue", "Eq. 11", equation=True).says(
    "the queue peaks at K + Nk: Q_max = K + N*k",
    *(QUEUE_MAX[n].within(K - 2, K + 2 + 2 * n) for n in (1, 2)),
)
equations.claim("l2dct/eq12-min-queue", "Eq. 12", equation=True).says(
    "the queue's trough is its peak less its swing: Q_min = Q_max - A",
    *(QUEUE_MIN[n].near(theory(n, 1, 1).queue_min, error=0.25) for n in (1, 2)),
)
fig3 = lab.Figure("l2dct/fig3", "Fig. 3", "The window, computed and simulated", {"unit": UNIT, "half": HALF})
ramping = lab.Figure("l2dct/sec3b", "Sec. III-B.2", "A long flow from nothing", {"ramp": RAMP})
fig3.claim("l2dct/fig3-w1-accuracy").says(
    "for w = 1 the computed window follows the simulated one closely", *_accuracy(1), *_accuracy(2)
)
fig3.claim("l2dct/fig3-w05-overestimate").says(
    "for w = 0.5 the computed swing is larger than the simulated one", overestimated.within(high=1.0)
)
fig3.draw(_draw)
ramping.claim("l2dct/sec3b-ramp-200ms").says(
    "a long flow needs about 200 ms from nothing to 1 Gbps", lab.level("l2dct", ramp).near(0.2)
)
