"""Figs. 7 and 8: sum and ratio of the two weights, over the trace on the chain."""

import itertools
from collections.abc import Iterator, Sequence

from shortflow import lab
from shortflow.lab.study import Position
from shortflow.metrics.stats import Estimate, estimate
from shortflow.papers.atcp.fig02 import CHAIN
from shortflow.papers.atcp.setup import MEDIUM, QUICK_TRACE, SMALL, TRACE, TRACE_SETTINGS, Band, median, relative

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
    TRACE, ("atcp",), over=_columns(GRID), quick=_columns(CROSS), settings=TRACE_SETTINGS, quick_settings=QUICK_TRACE
)
STUDIES = {"weights": WEIGHTS, "chain": CHAIN}

Gains = dict[tuple[int, int], Estimate]


def _changes(weights: lab.Data, chain: lab.Data, band: Band) -> Gains:
    """Change of the median from TCP's at every point."""
    baseline = chain.results("tcp")
    found = {}
    for point in GRID:
        high, low = _weights(*point)
        if (high, low) in weights.points:
            ours = weights.results("atcp", transport__w_high=high, transport__w_low=low)
            found[point] = relative(ours, baseline, median(band))
    return found


def _lowest(weights: lab.Data, chain: lab.Data, band: Band) -> Estimate:
    return min(_changes(weights, chain, band).values(), key=lambda change: change.value)


def _beyond_medium(weights: lab.Data, chain: lab.Data) -> float:
    """Best decrease of the small flows' median minus that of medium flows."""
    return _lowest(weights, chain, SMALL).value - _lowest(weights, chain, MEDIUM).value


def _with_ratio_above_2(weights: lab.Data, chain: lab.Data) -> dict[str, Estimate]:
    changes = _changes(weights, chain, MEDIUM)
    return {f"sum {total} ratio {ratio}": change for (total, ratio), change in changes.items() if ratio > 2}


def _lead(chain: lab.Data) -> Estimate:
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


def _sum_shape(weights: lab.Data, chain: lab.Data) -> lab.Finding:
    changes = _changes(weights, chain, MEDIUM)
    ratios = [ratio for ratio in RATIOS if all((total, ratio) in changes for total in SUMS)]
    best = [max((-changes[total, ratio].value, total) for total in SUMS)[1] for ratio in ratios]
    inside = sum(SUMS[0] < total < SUMS[-1] for total in best)
    return lab.fact(inside > len(ratios) / 2, best_sum_by_ratio=[float(total) for total in best])


def _panels(band: Band, name: str, percent: float) -> lab.Draw:
    """Panels over each weight; `percent` is the printed decrease for the default weights."""

    def draw(weights: lab.Data, chain: lab.Data) -> Sequence[lab.Drawing]:
        changes = _changes(weights, chain, band)
        by_sum = {total: changes[total, USED[1]] for total in SUMS}
        by_ratio = {ratio: changes[USED[0], ratio] for ratio in RATIOS}
        panels = []
        sums, ratios = ("W_H + W_L", "ratio 3", USED[0], by_sum), ("W_H / W_L", "sum 4", USED[1], by_ratio)
        for label, fixed, used, found in (sums, ratios):
            ci95 = [each.ci95 and (-100 * each.ci95[1], -100 * each.ci95[0]) for each in found.values()]
            line = lab.Line(fixed, list(found), [-100 * each.value for each in found.values()], ci95)
            printed = lab.Line(fixed, [used], [percent], printed=True)
            panels.append(lab.Drawing(f"{name} flows, {fixed}", label, "median below TCP's by (%)", [line, printed]))
        return panels

    return draw


fig7 = lab.Figure("atcp/fig7", "Fig. 7", "Median of small flows over the weights", STUDIES).decides(
    lab.Claim("atcp/fig7-small-max", "Fig. 7, Sec. VII-A").says(
        "the median of small flows falls by 15 % at most",
        lab.computed(
            "lowest median of small flows over tcp's",
            lambda weights, chain: _lowest(weights, chain, SMALL),
            lab.RELATIVE,
            0.0,
        ).near(-0.15),
        lab.computed("that less the lowest of medium flows", _beyond_medium).at_least(0.0),
    ),
    lab.Claim("atcp/fig7-fig8-medium-gains-more", "Figs. 7-8").says(
        "medium flows gain more than small ones",
        lab.computed("how much more the median of medium flows falls, with weights 3 and 1", _lead, "", 0.0).above(),
    ),
    draws=[_panels(SMALL, "Small", 10)],
)
fig8 = lab.Figure("atcp/fig8", "Fig. 8", "Median of medium flows over the weights", STUDIES).decides(
    lab.Claim("atcp/fig8-medium-best", "Fig. 8, Sec. VII-A").says(
        "with weights 3 and 1 the median of medium flows falls by 40 %",
        lab.computed(
            "median of medium flows with weights 3 and 1 over tcp's",
            lambda weights, chain: _changes(weights, chain, MEDIUM)[USED],
            lab.RELATIVE,
            0.0,
        ).near(-0.4),
        shows=[lab.level("tcp", median(MEDIUM), "chain")],
    ),
    lab.Claim("atcp/fig8-medium-range", "Fig. 8, Sec. VII-A").says(
        "with every ratio above 2 it falls by 20 to 40 %",
        lab.computed(
            "median of medium flows over tcp's at every ratio above 2", _with_ratio_above_2, lab.RELATIVE, 0.0
        ).between(-0.4, -0.2),
    ),
    lab.Claim("atcp/fig8b-ratio-shape", "Fig. 8(b)").says(
        "completion times fall fast with the ratio, then level off",
        lab.decided(
            "falls at every step by more than -2 %, and more from 1 to 3 than from 3 to 5; mean over the sums run",
            _ratio_shape,
        ),
    ),
    lab.Claim("atcp/fig8a-sum-u-shape", "Fig. 8(a)").says(
        "over the sum of the weights completion times fall, then rise",
        lab.decided("lowest strictly inside 1 to 5 for most ratios; quick: for ratio 3", _sum_shape),
    ),
    draws=[_panels(MEDIUM, "Medium", 40)],
)
