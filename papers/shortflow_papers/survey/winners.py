"""Possible best schemes of each place, with corrections for many schemes and places."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shortflow.api.judge import EQUAL, LEVEL, Best, Support, Verdict, chances, confirmed
from shortflow.api.metrics import CLASS_DEADLINE_MISS, FCT, FLOW_GOODPUT, MEAN_FCT, UNFINISHED_SHARE, Metric
from shortflow.api.metrics import DISTANCE as OVER_IDEAL
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
        """True for a share, which may be zero: differences are compared instead of ratios."""
        return self.about.support is Support.SHARE


AFCT = Criterion(Metric(MEAN_FCT, "short"), "mean FCT, short")
P99 = Criterion(Metric(FCT[99], "short"), "p99 FCT, short")
MISSES = Criterion(Metric(CLASS_DEADLINE_MISS, "short"), "deadlines missed")
GOODPUT = Criterion(Metric(FLOW_GOODPUT, "long"), "goodput, long")
DISTANCE = Criterion(Metric(OVER_IDEAL, "short"), "mean FCT over ideal")
"""Ideal SRPT on the same flows."""

CRITERIA = (AFCT, P99, MISSES, GOODPUT)
"""Criteria with winners. Distance from ideal is mean FCT on another scale, with the same winners."""


SOLE = "alone"
"""One scheme is better than every other."""
SEVERAL = "not told apart"
"""Several schemes are not told apart from the best; others are worse."""
UNDECIDED = "undecided"
"""No scheme is distinguishable from the best, or the sole one fails the correction for many cells."""
ALIKE = "alike"
"""All schemes have the same values."""


@dataclass(frozen=True)
class Cell:
    """A criterion at a place, with the schemes that may be the best."""

    chances: Mapping[str, float]
    """p-value of "none is better" for each scheme that finished all flows of the class, in the order of their means."""
    unfinished: Sequence[str]
    """Schemes with unfinished flows. Their times are lower bounds, so they are never the best and beat no other."""
    detectable: Mapping[str, float]
    """Detectable distance of each scheme behind the likeliest, given their scatter: a fraction of its value, or for
    shares a difference."""
    alike: bool
    confirmed: bool = False
    """True if the likeliest scheme stays a sole winner among all cells."""

    @property
    def best(self) -> list[str]:
        """Schemes that may be the best, in the order of their means."""
        return [scheme for scheme, chance in self.chances.items() if chance > LEVEL]

    @property
    def claim(self) -> float:
        """p-value of "another scheme is as good as the likeliest": second-largest chance."""
        return sorted(self.chances.values())[-2] if len(self.chances) > 1 else 1.0

    @property
    def outcome(self) -> str:
        """Outcome in words."""
        some = SEVERAL if 1 < len(self.best) < len(self.chances) else UNDECIDED
        return self._best.word(sole=SOLE, several=ALIKE, undecided=some, untested=UNDECIDED)

    @property
    def _best(self) -> Best:
        """Comparison with the best; a sole winner counts only if confirmed."""
        if self.alike:
            return Best(dict.fromkeys(self.chances, Verdict.AGREES))
        lead = Verdict.AGREES if self.confirmed else Verdict.UNDECIDED
        return Best({scheme: lead if scheme in self.best else Verdict.DIFFERS for scheme in self.chances})

    def wins(self, scheme: str) -> bool:
        """True if a scheme is the best alone, or is not told apart from it."""
        return self.outcome in (SOLE, SEVERAL) and scheme in self.best


def judge_cells(comparisons: Sequence[Results]) -> list[dict[Criterion, Cell]]:
    """Cells of every comparison, by criterion.

    A sole win is claimed only if it holds over all cells of all comparisons, at a false discovery rate.
    """
    judged = [{each: cell for each in CRITERIA if (cell := _judge(found, each))} for found in comparisons]
    holds = iter(confirmed([cell.claim for cells in judged for cell in cells.values()]))
    return [{criterion: replace(cell, confirmed=next(holds)) for criterion, cell in cells.items()} for cells in judged]


def _counts(comparison: Results, scheme: str, values: Iterable[float], criterion: Criterion) -> bool:
    """True if a scheme finished all flows of the criterion's class at every seed, with positive rates."""
    unfinished = comparison.values(scheme, Metric(UNFINISHED_SHARE, criterion.about.flow_class).name)
    return not any(unfinished.values()) and (criterion.is_share or all(value > 0 for value in values))


def _judge(comparison: Results, criterion: Criterion) -> Cell | None:
    """Compares each scheme with the best of the others, on the same seeds.

    This is Hsu's comparison with the best (`shortflow.judge.best`) with seeds as blocks. The set of possible best
    schemes misses the best one with a probability of at most `LEVEL`.

    Times and rates are compared by logarithm, because timeouts skew them: without, a hundredfold slower scheme would
    not differ significantly. Shares are compared directly.
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
    found_chances, detectable = chances(losses)
    return Cell(
        chances=dict(zip(names, found_chances, strict=True)),
        unfinished=[scheme for scheme in found if scheme not in names],
        detectable=dict(zip(names, detectable if criterion.is_share else np.expm1(detectable).tolist(), strict=True)),
        alike=len(names) > 1 and bool((np.ptp(losses, axis=0) < EQUAL).all()),
    )
