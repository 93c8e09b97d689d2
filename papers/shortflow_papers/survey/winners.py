"""Schemes that may be the best at each place, with corrections for the numbers of schemes and places."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shortflow.api.judge import Contest, Order, Support, confirm, contest
from shortflow.api.metrics import CLASS_DEADLINE_MISS, DISTANCE, FCT, FLOW_GOODPUT, MEAN_FCT, UNFINISHED_SHARE, Metric
from shortflow.api.runs import Results


@dataclass(frozen=True)
class Criterion:
    """A metric by which schemes are compared."""

    about: Metric
    name: str
    """Table header."""

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.about.name

    @property
    def is_share(self) -> bool:
        """True if the metric is a share. Shares may be zero, so differences are compared instead of ratios."""
        return self.about.support is Support.SHARE


AFCT = Criterion(Metric(MEAN_FCT, "short"), "mean FCT, short")
P99 = Criterion(Metric(FCT[99], "short"), "p99 FCT, short")
MISSES = Criterion(Metric(CLASS_DEADLINE_MISS, "short"), "deadlines missed")
GOODPUT = Criterion(Metric(FLOW_GOODPUT, "long"), "goodput, long")
OVER_IDEAL = Criterion(Metric(DISTANCE, "short"), "mean FCT over ideal")
"""Distance from ideal SRPT on the same flows."""

CRITERIA = (AFCT, P99, MISSES, GOODPUT)
"""Criteria with winners. Distance from ideal is not one of them, because its winners are those of mean FCT."""


SOLE = "alone"
"""Outcome: one scheme is better than every other scheme."""
SEVERAL = "not told apart"
"""Outcome: several schemes, but not all, may be the best."""
UNDECIDED = "undecided"
"""Outcome: every scheme may be the best, or a sole winner fails the correction for the number of cells."""
ALIKE = "alike"
"""Outcome: all schemes have the same values."""


@dataclass(frozen=True)
class Cell:
    """Comparison of all schemes by a criterion at a place."""

    criterion: Criterion
    contest: Contest
    """Comparison with the best of the schemes that finished all flows of the class, in the order of their means."""
    unfinished: Sequence[str]
    """Schemes with unfinished flows. Their times are lower bounds, so they are never the best and beat no scheme."""

    @property
    def best(self) -> list[str]:
        """Schemes that may be the best, in the order of their means."""
        return self.contest.best.leaders

    @property
    def outcome(self) -> str:
        """Outcome of the cell: `SOLE`, `SEVERAL`, `UNDECIDED` or `ALIKE`."""
        some = SEVERAL if 1 < len(self.best) < len(self.contest.chances) else UNDECIDED
        words = {Order.WINNER: SOLE, Order.TIE: ALIKE, Order.OPEN: some, Order.ALONE: UNDECIDED}
        return words[self.contest.best.order]

    def detectable(self, scheme: str) -> float:
        """Smallest detectable distance of a scheme from the likeliest best: relative, or for shares a difference."""
        distance = self.contest.detectable[scheme]
        return distance if self.criterion.is_share else float(np.expm1(distance))

    def wins(self, scheme: str) -> bool:
        """True if a scheme is the sole winner, or one of several that may be the best while others are worse."""
        return self.outcome in (SOLE, SEVERAL) and scheme in self.best


def judge_cells(comparisons: Sequence[Results]) -> list[dict[Criterion, Cell]]:
    """Cells of each comparison by criterion.

    A sole winner must pass a correction over all cells of all comparisons, which controls the false discovery rate.
    """
    judged = [[cell for each in CRITERIA if (cell := _judge(found, each))] for found in comparisons]
    corrected = iter(confirm([cell.contest for cells in judged for cell in cells]))
    return [{cell.criterion: replace(cell, contest=next(corrected)) for cell in cells} for cells in judged]


def _counts(comparison: Results, scheme: str, values: Iterable[float], criterion: Criterion) -> bool:
    """True if a scheme finished all flows of the criterion's class at every seed.

    Values that are not shares must also be positive, because their logarithms are compared.
    """
    unfinished = comparison.values(scheme, Metric(UNFINISHED_SHARE, criterion.about.flow_class).name)
    return not any(unfinished.values()) and (criterion.is_share or all(value > 0 for value in values))


def _judge(comparison: Results, criterion: Criterion) -> Cell | None:
    """Compares each scheme with the best of the others on the same seeds; None if no scheme has the metric.

    The method is Hsu's comparison with the best (`shortflow.judge.best`), with seeds as blocks. Times and rates are
    compared by their logarithms, because timeouts skew them. Without logarithms, even a scheme that is 100 times slower
    would not differ significantly. Shares are compared directly.
    """
    found = {scheme: comparison.values(scheme, criterion.metric) for scheme in comparison.schemes}
    seeds = sorted({seed for values in found.values() for seed in values})
    if not seeds:
        return None
    names = [
        scheme
        for scheme, values in found.items()
        if len(values) == len(seeds) and _counts(comparison, scheme, values.values(), criterion)
    ]
    table = np.array([[found[scheme][seed] for seed in seeds] for scheme in names]).reshape(-1, len(seeds))
    sign = -1 if criterion.about.more_is_better else 1
    order = np.argsort(table.mean(axis=1) * sign, kind="stable")
    names, table = [names[at] for at in order], table[order]
    losses = (table if criterion.is_share else np.log(table)) * sign
    unfinished = [scheme for scheme in found if scheme not in names]
    return Cell(criterion, contest(dict(zip(names, losses.tolist(), strict=True))), unfinished)
