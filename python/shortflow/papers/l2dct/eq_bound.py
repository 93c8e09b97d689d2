"""Sec. II-C, Eq. 13: minimum K, and growth of the queue's swing with the bandwidth-delay product."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from shortflow import lab
from shortflow.papers.l2dct.eq_window import cut
from shortflow.papers.l2dct.sawtooth import BDP, SAMPLED, SENDING_US, of_teeth
from shortflow.papers.l2dct.setup import LONG_FLOWS
from shortflow.papers.theory import LongFlows, threshold_bound
from shortflow.scenario import Settings

WEIGHTS = (0.125, 0.5, 1.0)
THRESHOLDS = (1, 2, 3, 5, 8, 12, 16, 26)

UNDERFLOW = lab.Study(
    LONG_FLOWS,
    schemes=("l2dct",),
    over={"flows": (1, 2), "transport.w_min": WEIGHTS, "switch.mark_above": tuple(f"{k}pkt" for k in THRESHOLDS)},
    settings={"measure.sample_every": "off"},
    quick_settings={"duration": "2500ms"},
    seeds=1,
)
SIMULATED_WEIGHTS = (0.5, 1.0, 2.5)


def _at(bdp: int) -> lab.Study:
    """Runs at a bandwidth-delay product in packets, with K = 0.8 of it."""
    settings: Settings = {
        "flows": 1,
        "topology.rtt": f"{bdp * 12 - SENDING_US}us",
        "switch.buffer": "unlimited",
        "switch.mark_above": f"{bdp * 4 // 5}pkt",
        "duration": "40s",
        "warmup": "10s",
    }
    return lab.Study(
        SAMPLED,
        schemes=("l2dct",),
        over={"transport.w_min": SIMULATED_WEIGHTS},
        settings=settings,
        quick_settings={"duration": "20s", "warmup": "8s"},
        seeds=1,
    )


BDPS = (50, 100, 200)


def _ratio(weight: float) -> float:
    return threshold_bound(1.0, weight)


def _no_underflow(underflow: lab.Data) -> lab.Finding:
    found = {}
    for flows, weight in itertools.product((1, 2), WEIGHTS):
        use = [
            underflow.mean(
                "l2dct", "utilisation", flows=flows, transport__w_min=weight, switch__mark_above=f"{k}pkt"
            ).value
            for k in THRESHOLDS
        ]
        enough = 1.2 * threshold_bound(BDP, weight)
        above = min(value for k, value in zip(THRESHOLDS, use, strict=True) if k >= enough)
        rises = all(after >= before - 1e-3 for before, after in itertools.pairwise(use))
        holds = above >= 0.98 and rises and use[0] < above
        found[f"w = {weight:g}, {flows} flows"] = lab.fact(holds, lowest_above=above, at_K_1=use[0])
    return lab.all_hold(found)


def _exponent(sizes: Sequence[float], swings: Sequence[float]) -> float:
    """Slope of a straight line through the logarithms."""
    return float(np.polyfit(np.log(np.asarray(sizes)), np.log(np.asarray(swings)), 1)[0])


def _swing(bdp: float, weight: float) -> float:
    return LongFlows(bdp, 0.8 * bdp, 1, weight, weight / 2.5).queue_swing_of_large_windows


def _by_formula() -> dict[str, float]:
    sizes = (10, 100, 1000)
    found = {w: _exponent(sizes, [_swing(bdp, w) for bdp in sizes]) for w in (0.125, *SIMULATED_WEIGHTS)}
    return {f"w = {w:g}": exponent - 1 / (w + 1) for w, exponent in found.items()}


def _simulated(bdp50: lab.Data, bdp100: lab.Data, bdp200: lab.Data) -> dict[str, float]:
    measure = of_teeth("queue_swing")
    found = {
        w: _exponent(BDPS, [data.mean("l2dct", measure, transport__w_min=w).value for data in (bdp50, bdp100, bdp200)])
        for w in SIMULATED_WEIGHTS
    }
    return {f"w = {w:g}": exponent - 1 / (w + 1) for w, exponent in found.items()}


def _like_tcp() -> lab.Finding:
    penalties = {f"w = {weight:g}": 2 * cut(0.05, weight) for weight in (0.5, 0.25, 0.125, 0.01)}
    values = list(penalties.values())
    rising = all(before < after for before, after in itertools.pairwise(values))
    return lab.all_hold({"towards 1": lab.fact(rising, **penalties), "b at w = 0.01": lab.at_least(values[-1], 0.97)})


bound = lab.Figure(
    "l2dct/eq13", "Sec. II-C, Eq. 13", "The smallest K that keeps the link busy", {"underflow": UNDERFLOW}
).decides(
    lab.Claim("l2dct/eq13-k-bound", "Eq. 13").says(
        "K must exceed a share of the bandwidth-delay product that depends on w: K > w^w * C*T / (2*(w+1)^(w+1) - w^w)",
        lab.equal(
            lambda: {f"w = {w:g}": (_ratio(w), w**w / (2 * (w + 1) ** (w + 1) - w**w)) for w in (0.125, 0.5, 1.0, 2.5)}
        ),
        lab.equal(
            lambda: {
                f"w = {w:g}, printed": (_ratio(w), paper)
                for w, paper in ((0.125, 0.5099), (0.5, 0.2383), (1.0, 0.142857), (2.5, 0.06564))
            },
            digits=4,
        ),
    ),
    lab.Claim("l2dct/eq13-worst-case", "Sec. II-C").says(
        "for the smallest weight K must exceed half the product",
        lab.equal(lambda: {"k_over_ct": (_ratio(0.125), 0.5099)}, digits=4),
    ),
    lab.Claim("l2dct/eq13-no-underflow", "Eq. 13").says(
        "K above the bound keeps the link busy, K well below does not",
        lab.decided(
            "utilisation of at least 98 % from 1.2 times the bound on, never falling with K by over 0.1 %, and "
            "less at K = 1",
            _no_underflow,
        ),
    ),
    draws=[
        lab.Curves(
            "switch.mark_above",
            "utilisation",
            "K (packets)",
            f"Utilisation by one flow of weight {weight:g}",
            fixed={"flows": 1, "transport.w_min": weight},
        )
        for weight in WEIGHTS
    ],
)
growth = lab.Figure(
    "l2dct/sec2c",
    "Sec. II-C",
    "The queue's swing over the bandwidth-delay product",
    {f"bdp{bdp}": _at(bdp) for bdp in BDPS},
).decides(
    lab.Claim("l2dct/sec2c-amplitude-exponent", equation=True).says(
        "with few flows the queue's swing grows as the product to the power 1/(w+1)",
        lab.computed("exponent by the formula, less 1/(w+1)", _by_formula).called("formula").within(-0.01, 0.01),
        lab.computed("simulated exponent less 1/(w+1)", _simulated).called("simulated").within(-0.1, 0.1),
        because="alpha decays within long teeth, which the analysis leaves out",
    ),
    lab.Claim("l2dct/sec2c-wmin-worst-amplitude").says(
        "for the smallest weight the swing grows as the product to 8/9",
        lab.equal(lambda: {"exponent": (math.log(_swing(1000.0, 0.125) / _swing(10.0, 0.125)) / math.log(100), 8 / 9)}),
    ),
    lab.Claim("l2dct/sec2c-w0-like-tcp").says(
        "as w falls to zero, any mark halves the window as in TCP",
        lab.decided("b rises towards 1 as w falls, and is at least 0.97 at w = 0.01", _like_tcp),
    ),
)
