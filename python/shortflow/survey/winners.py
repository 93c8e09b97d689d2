"""Possible best schemes of each place, with corrections for many schemes and places."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import scipy  # loads submodules at first use: scipy.stats is slow

from shortflow.metrics.catalogue import CLASS_DEADLINE_MISS, FCT, FLOW_GOODPUT, MEAN_FCT, UNFINISHED_SHARE, Metric
from shortflow.metrics.catalogue import DISTANCE as OVER_IDEAL
from shortflow.metrics.stats import Support
from shortflow.results import Results

LEVEL = 0.05
"""Error rate of the set of possible best schemes, and false discovery rate of sole winners."""
Floats = npt.NDArray[np.float64]
_EQUAL = 1e-9
"""Differences below this are rounding errors."""


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


class CellVerdict(StrEnum):
    """Verdict on a cell."""

    ALONE = "alone"
    """One scheme is better than every other."""
    NOT_TOLD_APART = "not told apart"
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
    def verdict(self) -> CellVerdict:
        """Verdict on the cell."""
        if self.alike:
            return CellVerdict.ALIKE
        if self.confirmed:
            return CellVerdict.ALONE
        return CellVerdict.NOT_TOLD_APART if 1 < len(self.best) < len(self.chances) else CellVerdict.UNDECIDED

    def wins(self, scheme: str) -> bool:
        """True if a scheme is the best alone, or is not told apart from it."""
        return self.verdict in (CellVerdict.ALONE, CellVerdict.NOT_TOLD_APART) and scheme in self.best


def judge(comparisons: Sequence[Results]) -> list[dict[Criterion, Cell]]:
    """Cells of every comparison, by criterion.

    A sole win is claimed only if it holds over all cells of all comparisons: the p-values of the claims are held to a
    false discovery rate (Y. Benjamini and Y. Hochberg, J. R. Stat. Soc. B 57, 1995).
    """
    judged = [{each: cell for each in CRITERIA if (cell := _judge(found, each))} for found in comparisons]
    claims = [cell.claim for cells in judged for cell in cells.values()]
    rates: Iterator[float] = iter(scipy.stats.false_discovery_control(claims) if claims else [])
    return [
        {criterion: replace(cell, confirmed=next(rates) <= LEVEL) for criterion, cell in cells.items()}
        for cells in judged
    ]


def _counts(comparison: Results, scheme: str, values: Iterable[float], criterion: Criterion) -> bool:
    """True if a scheme finished all flows of the criterion's class at every seed, with positive rates."""
    unfinished = comparison.values(scheme, Metric(UNFINISHED_SHARE, criterion.about.flow_class).name)
    return not any(unfinished.values()) and (criterion.is_share or all(value > 0 for value in values))


def _judge(comparison: Results, criterion: Criterion) -> Cell | None:
    """Compares each scheme with the best of the others, on the same seeds.

    This is Hsu's comparison with the best (J. C. Hsu, Ann. Stat. 12, 1984, and "Multiple Comparisons", 1996) with seeds
    as blocks. A scheme may be the best unless another is significantly better, at a level corrected for the number of
    others. The set misses the best scheme with a probability of at most `LEVEL`. Hsu's critical values need equal
    variances, but schemes with timeouts scatter a hundredfold more. So each pair has its own t test, and the level is
    divided by the number of others (Bonferroni), which holds for any variances.

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
    chances, detectable = _against_the_best(losses)
    return Cell(
        chances=dict(zip(names, chances, strict=True)),
        unfinished=[scheme for scheme in found if scheme not in names],
        detectable=dict(zip(names, detectable if criterion.is_share else np.expm1(detectable).tolist(), strict=True)),
        alike=len(names) > 1 and bool((np.ptp(losses, axis=0) < _EQUAL).all()),
    )


def _against_the_best(losses: Floats) -> tuple[list[float], list[float]]:
    """Chance of each row to be the lowest, and its detectable distance behind the likeliest row.

    `losses` has a row per scheme and a column per seed. A single seed separates nothing.
    """
    rows, seeds = losses.shape
    if rows < 2 or seeds < 2:
        return [1.0] * rows, [math.inf] * rows
    behind = losses[:, None, :] - losses[None, :, :]
    behind[np.abs(behind) < _EQUAL] = 0.0
    mean, error = behind.mean(axis=2), behind.std(axis=2, ddof=1) / math.sqrt(seeds)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num(mean / error, nan=0.0)
    one_sided = scipy.special.stdtr(seeds - 1, -t)
    chances = np.minimum(1.0, (rows - 1) * one_sided.min(axis=1))
    critical = scipy.special.stdtrit(seeds - 1, 1 - LEVEL / (rows - 1))
    return chances.tolist(), (critical * error[:, int(chances.argmax())]).tolist()
