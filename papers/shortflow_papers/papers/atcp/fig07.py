"""Figs. 7 and 8: sum and ratio of the two weights, over the trace on the chain."""

import itertools
from collections.abc import Iterator, Sequence

from shortflow import Estimate
from shortflow.api.judge import estimate
from shortflow_papers import lab
from shortflow_papers.lab.study import Position
from shortflow_papers.papers.atcp.fig02 import CHAIN
from shortflow_papers.papers.atcp.setup import MEDIUM, QUICK_TRACE, SIZES, SMALL, TRACE, TRACE_SETTINGS, Band, median
from shortflow_papers.papers.common import NS_DEFAULTS, decreases, number_of, paired

SUMS = RATIOS = (1, 2, 3, 4, 5)
USED = (4, 3)
"""Sum and ratio of W_H = 3 and W_L = 1."""
GRID = tuple(itertools.product(SUMS, RATIOS))
CROSS = tuple(point for point in GRID if USED[0] == point[0] or USED[1] == point[1])
"""The two lines of the grid through the default weights."""


def _weights(total: int, ratio: int) -> tuple[float, float]:
    return total * ratio / (1 + ratio), total / (1 + ratio)


def _columns(points: Sequence[tuple[int, int]]) -> dict[str, list[float]]:
    high, low = zip(*(_weights(*point) for point in points), strict=True)
    return {"transport.w_high": list(high), "transport.w_low": list(low)}


class Pairs(lab.Study):
    """A study with points by row: all first values of the keys, all second values, and so on."""

    def positions(self, scale: lab.Scale) -> Iterator[Position]:
        """One point per row."""
        return zip(*self.grid(scale).values(), strict=True)


WEIGHTS = Pairs(
    TRACE,
    ("atcp",),
    over=_columns(GRID),
    settings=TRACE_SETTINGS,
    quick={**_columns(CROSS), **QUICK_TRACE},
    defaults=NS_DEFAULTS,
)
STUDIES = {"weights": WEIGHTS, "chain": CHAIN}


def _medians(weights: lab.Data, band: Band) -> dict[tuple[int, int], list[float]]:
    """Median of each seed at every point that was run."""
    pairs = {point: _weights(*point) for point in GRID}
    return {
        point: list(weights.by_seed("atcp", median(band), transport__w_high=high, transport__w_low=low).values())
        for point, (high, low) in pairs.items()
        if (high, low) in weights.points
    }


def _changes(weights: lab.Data, chain: lab.Data, band: Band) -> dict[tuple[int, int], Estimate]:
    """Change of the median from TCP's at every point."""
    baseline = list(chain.by_seed("tcp", median(band)).values())
    return {point: paired(ours, baseline) for point, ours in _medians(weights, band).items()}


def _everywhere(band: Band, least_ratio: int = 1) -> lab.Quantity:
    """Change of the median from TCP's at every pair of weights from a ratio on."""
    where = f"every ratio from {least_ratio}" if least_ratio > 1 else "all weights"

    @number_of(f"median of {SIZES[band]} flows over tcp's at {where}", lab.RELATIVE, 0.0)
    def named(weights: lab.Data, chain: lab.Data) -> dict[str, Estimate]:
        changes = _changes(weights, chain, band)
        return {f"sum {total} ratio {ratio}": each for (total, ratio), each in changes.items() if ratio >= least_ratio}

    return named


@number_of("how much more the median of medium flows falls, with weights 3 and 1", "", 0.0)
def lead(chain: lab.Data) -> Estimate:
    """Decrease of the medium flows' median minus that of small flows, paired by seed."""
    leads = []
    for ours, theirs in zip(chain.results("atcp"), chain.results("tcp"), strict=True):
        small, medium = (1 - median(band)(ours) / median(band)(theirs) for band in (SMALL, MEDIUM))
        leads.append(medium - small)
    return estimate(leads)


def _ratio_shape(weights: lab.Data, chain: lab.Data) -> lab.Finding:
    changes = _changes(weights, chain, MEDIUM)
    totals = [total for total in SUMS if all((total, ratio) in changes for ratio in RATIOS)]
    curve = [sum(1 + changes[total, ratio].value for total in totals) / len(totals) for ratio in RATIOS]
    monotone = all(after <= before + 0.02 for before, after in itertools.pairwise(curve))
    return lab.fact(monotone and curve[0] - curve[2] > curve[2] - curve[4], median_over_tcp=curve)


@number_of("median of medium flows at the smallest and the largest sum over those between", lab.RELATIVE, 0.0)
def ends_over_middle(weights: lab.Data) -> dict[str, Estimate]:
    """Over the mean of those between, less 1, by seed; mean over the ratios."""
    medians = _medians(weights, MEDIUM)
    ratios = [ratio for ratio in RATIOS if all((total, ratio) in medians for total in SUMS)]
    found: dict[str, list[float]] = {}
    for place in range(len(weights.seeds)):
        curve = [sum(medians[total, ratio][place] for ratio in ratios) for total in SUMS]
        middle = sum(curve[1:-1]) / len(curve[1:-1])
        for name, end in ((f"sum {SUMS[0]}", curve[0]), (f"sum {SUMS[-1]}", curve[-1])):
            found.setdefault(name, []).append(end / middle - 1)
    return {name: estimate(values) for name, values in found.items()}


def _panels(band: Band, name: str, percent: float) -> lab.Draw:
    """Panels over each weight; `percent` is the printed decrease for the default weights."""

    def draw(weights: lab.Data, chain: lab.Data) -> Sequence[lab.Drawing]:
        changes = _changes(weights, chain, band)
        by_sum = {total: changes[total, USED[1]] for total in SUMS}
        by_ratio = {ratio: changes[USED[0], ratio] for ratio in RATIOS}
        panels = []
        sums, ratios = ("W_H + W_L", "ratio 3", USED[0], by_sum), ("W_H / W_L", "sum 4", USED[1], by_ratio)
        for label, fixed, used, found in (sums, ratios):
            lines = [decreases(fixed, found), lab.Line(fixed, [used], [percent], printed=True)]
            panels.append(lab.Drawing(f"{name} flows, {fixed}", label, "median below TCP's by (%)", lines))
        return panels

    return draw


fig7 = lab.Figure("atcp/fig7", "Fig. 7", "Median of small flows over the weights", STUDIES)
fig7.claim("atcp/fig7-small-max", "Fig. 7, Sec. VII-A").says(
    "the median of small flows falls by 15 % at most",
    _everywhere(SMALL).lowest().near(-0.15),
    lab.difference(_everywhere(SMALL).lowest(), _everywhere(MEDIUM).lowest()).within(low=0.0),
)
fig7.claim("atcp/fig7-fig8-medium-gains-more", "Figs. 7-8").says("medium flows gain more than small ones", lead.above())
fig7.draw(_panels(SMALL, "Small", 10))
fig8 = lab.Figure("atcp/fig8", "Fig. 8", "Median of medium flows over the weights", STUDIES)
fig8.claim("atcp/fig8-medium-best", "Fig. 8, Sec. VII-A").says(
    "with weights 3 and 1 the median of medium flows falls by 40 %",
    lab.computed(
        "median of medium flows with weights 3 and 1 over tcp's",
        lambda weights, chain: _changes(weights, chain, MEDIUM)[USED],
        lab.RELATIVE,
        0.0,
    ).near(-0.4),
    shows=[lab.level("tcp", median(MEDIUM), "chain")],
)
fig8.claim("atcp/fig8-medium-range", "Fig. 8, Sec. VII-A").says(
    "with every ratio above 2 it falls by 20 to 40 %", _everywhere(MEDIUM, least_ratio=3).near(-0.4, -0.2)
)
fig8.claim("atcp/fig8b-ratio-shape", "Fig. 8(b)").says(
    "completion times fall fast with the ratio, then level off",
    lab.decided(
        "falls at every step by more than -2 %, and more from 1 to 3 than from 3 to 5; mean over the sums run",
        _ratio_shape,
    ),
)
fig8.claim("atcp/fig8a-sum-u-shape", "Fig. 8(a)").says(
    "over the sum of the weights completion times fall, then rise", ends_over_middle.above()
)
fig8.draw(_panels(MEDIUM, "Medium", 40))
