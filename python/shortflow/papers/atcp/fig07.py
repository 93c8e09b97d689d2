"""Figs. 7 and 8: sum and ratio of the two weights, over the trace on the chain."""

import itertools
from collections.abc import Iterator, Sequence

from shortflow.lab import Data, Drawing, Figure, Finding, Line, Scale, Study, all_hold, fact, higher, within
from shortflow.lab.study import Position
from shortflow.metrics.stats import Estimate, estimate
from shortflow.papers.atcp.fig02 import CHAIN
from shortflow.papers.atcp.setup import (
    MEDIUM,
    QUICK_TRACE,
    SLOW_START,
    SMALL,
    TRACE_SETTINGS,
    Band,
    between,
    median,
    negative,
)

SUMS = RATIOS = (1, 2, 3, 4, 5)
USED = (4, 3)
"""Sum and ratio of W_H = 3 and W_L = 1."""
GRID = tuple(itertools.product(SUMS, RATIOS))
CROSS = tuple(point for point in GRID if USED[0] == point[0] or USED[1] == point[1])
"""The two lines of the grid through the weights in use."""


def _weights(total: int, ratio: int) -> tuple[float, float]:
    return total * ratio / (1 + ratio), total / (1 + ratio)


def _columns(points: Sequence[tuple[int, int]]) -> dict[str, list[float]]:
    high, low = zip(*(_weights(*point) for point in points), strict=True)
    return {"transport.w_high": list(high), "transport.w_low": list(low)}


class Pairs(Study):
    """A study whose points are rows: the first value of every key, then the second of every key, and so on."""

    def positions(self, scale: Scale) -> Iterator[Position]:
        """One point for each row."""
        return zip(*self.grid(scale).values(), strict=True)


WEIGHTS = Pairs(
    "atcp-trace",
    ("atcp",),
    over=_columns(GRID),
    quick=_columns(CROSS),
    settings=TRACE_SETTINGS,
    quick_settings=QUICK_TRACE,
)
STUDIES = {"weights": WEIGHTS, "chain": CHAIN}

fig7 = Figure("atcp/fig7", "Fig. 7", "Median of small flows over the weights", STUDIES)
fig8 = Figure("atcp/fig8", "Fig. 8", "Median of medium flows over the weights", STUDIES)


def _points(weights: Data) -> list[tuple[int, int]]:
    return [point for point in GRID if _weights(*point) in weights.points]


def _gain(weights: Data, chain: Data, band: Band, point: tuple[int, int]) -> Estimate:
    high, low = _weights(*point)
    ours = weights.results("atcp", transport__w_high=high, transport__w_low=low)
    return negative(between(ours, chain.results("tcp"), median(band)))


def _gains(weights: Data, chain: Data, band: Band) -> dict[tuple[int, int], Estimate]:
    return {point: _gain(weights, chain, band, point) for point in _points(weights)}


def _panels(weights: Data, chain: Data, band: Band, name: str) -> list[Drawing]:
    gains = _gains(weights, chain, band)
    by_sum = [(total, gains[total, USED[1]]) for total in SUMS]
    by_ratio = [(ratio, gains[USED[0], ratio]) for ratio in RATIOS]
    panels = []
    for label, fixed, found in (("W_H + W_L", "ratio 3", by_sum), ("W_H / W_L", "sum 4", by_ratio)):
        x, y = [float(value) for value, _ in found], [100 * gain.value for _, gain in found]
        line = Line(fixed, x, y, [gain.ci95 and (100 * gain.ci95[0], 100 * gain.ci95[1]) for _, gain in found])
        panels.append(Drawing(f"{name} flows, {fixed}", label, "median below TCP's by (%)", [line]))
    return panels


@fig7.drawing
def small_panels(weights: Data, chain: Data) -> Sequence[Drawing]:
    return _panels(weights, chain, SMALL, "Small")


@fig8.drawing
def medium_panels(weights: Data, chain: Data) -> Sequence[Drawing]:
    return _panels(weights, chain, MEDIUM, "Medium")


@fig7.claim(
    "fig7-small-max",
    "the median of small flows falls by 15 % at most",
    "best reduction within 3 to 30 %, and below that of medium flows",
    because=SLOW_START,
)
def small_best(weights: Data, chain: Data) -> Finding:
    best = {
        name: max(_gains(weights, chain, band).values(), key=lambda gain: gain.value)
        for name, band in (("small", SMALL), ("medium", MEDIUM))
    }
    upper = min(0.30, best["medium"].value)
    return within(best["small"], 0.03, upper, best_of_medium=best["medium"].value)


@fig7.claim(
    "fig7-fig8-medium-gains-more",
    "medium flows gain more than small ones",
    "at weights 3 and 1, the difference paired over the seeds is above zero with its interval",
)
def medium_gains_more(chain: Data) -> Finding:
    leads = []
    for ours, theirs in zip(chain.results("atcp"), chain.results("tcp"), strict=True):
        small, medium = (1 - median(band)(ours) / median(band)(theirs) for band in (SMALL, MEDIUM))
        leads.append(medium - small)
    return higher(estimate(leads))


@fig8.claim(
    "fig8-medium-best",
    "with weights 3 and 1 the median of medium flows falls by 40 %",
    "reduction within 20 to 50 %",
    because="13 % with NewReno and 15 % with --choice recovery=sack; no weights of the quick grid give more than 18 %",
)
def medium_best(weights: Data, chain: Data) -> Finding:
    tcp = chain.measured(median(MEDIUM), "tcp").value
    return within(_gain(weights, chain, MEDIUM, USED), 0.2, 0.5, tcp_s=tcp)


@fig8.claim(
    "fig8-medium-range",
    "with every ratio above 2 it falls by 20 to 40 %",
    "all such points within 10 to 50 %; quick: on two lines of the grid",
    because="13 % with NewReno and 15 % with --choice recovery=sack; no weights of the quick grid give more than 18 %",
)
def medium_range(weights: Data, chain: Data) -> Finding:
    gains = _gains(weights, chain, MEDIUM)
    return all_hold(
        {f"sum {total} ratio {ratio}": within(gain, 0.1, 0.5) for (total, ratio), gain in gains.items() if ratio > 2}
    )


@fig8.claim(
    "fig8b-ratio-shape",
    "completion times fall fast with the ratio, then level off",
    "falls at every step by more than -2 %, and more from 1 to 3 than from 3 to 5; mean over the sums run",
    because="three seeds leave the curve ragged; with --choice recovery=sack it agrees",
)
def ratio_shape(weights: Data, chain: Data) -> Finding:
    gains = _gains(weights, chain, MEDIUM)
    totals = [total for total in SUMS if all((total, ratio) in gains for ratio in RATIOS)]
    curve = [sum(1 - gains[total, ratio].value for total in totals) / len(totals) for ratio in RATIOS]
    monotone = all(after <= before + 0.02 for before, after in itertools.pairwise(curve))
    return fact(monotone and curve[0] - curve[2] > curve[2] - curve[4], median_over_tcp=curve)


@fig8.claim(
    "fig8a-sum-u-shape",
    "over the sum of the weights completion times fall, then rise",
    "lowest strictly inside 1 to 5 for most ratios; quick: for ratio 3",
)
def sum_shape(weights: Data, chain: Data) -> Finding:
    gains = _gains(weights, chain, MEDIUM)
    ratios = [ratio for ratio in RATIOS if all((total, ratio) in gains for total in SUMS)]
    best = [max((gains[total, ratio].value, total) for total in SUMS)[1] for ratio in ratios]
    inside = sum(SUMS[0] < total < SUMS[-1] for total in best)
    return fact(inside > len(ratios) / 2, best_sum_by_ratio=[float(total) for total in best])
