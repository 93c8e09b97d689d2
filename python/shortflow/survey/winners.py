"""Who may be the best where, and what that is worth with so many schemes at so many places."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import scipy  # loads its parts when they are first used: scipy.stats takes long

from shortflow.metrics.catalogue import CLASS_DEADLINE_MISS, FCT, FLOW_GOODPUT, MEAN_FCT, UNFINISHED_SHARE, Metric
from shortflow.metrics.catalogue import DISTANCE as OVER_IDEAL
from shortflow.metrics.stats import Support
from shortflow.results import Results

LEVEL = 0.05
"""How often the set of those that may be the best misses the best one, and the false discovery rate of sole winners."""
Floats = npt.NDArray[np.float64]
_EQUAL = 1e-9
"""Differences below this are rounding."""


@dataclass(frozen=True)
class Criterion:
    """A metric and which end of it is good."""

    about: Metric
    name: str
    """What a table's header says."""
    most: bool = False
    """Whether more is better."""

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.about.name

    @property
    def is_share(self) -> bool:
        """Whether it is a share, which may be zero: differences are compared instead of ratios."""
        return self.about.support is Support.SHARE


AFCT = Criterion(Metric(MEAN_FCT, "short"), "mean FCT, short")
P99 = Criterion(Metric(FCT[99], "short"), "p99 FCT, short")
MISSES = Criterion(Metric(CLASS_DEADLINE_MISS, "short"), "deadlines missed")
GOODPUT = Criterion(Metric(FLOW_GOODPUT, "long"), "goodput, long", most=True)
DISTANCE = Criterion(Metric(OVER_IDEAL, "short"), "mean FCT over ideal")
"""Ideal SRPT on the same flows."""

CRITERIA = (AFCT, P99, MISSES, GOODPUT)
"""What is won. The distance from ideal is the mean FCT on another scale, so that its winners are the same."""


class Verdict(StrEnum):
    """What the seeds say of a cell."""

    ALONE = "alone"
    """One scheme is better than every other."""
    TIE = "tie"
    """Several schemes cannot be told from the best, others can."""
    UNDECIDED = "undecided"
    """No scheme can be told from the best, or the only one left does not hold among so many cells."""
    ALIKE = "alike"
    """All schemes have the same values."""


@dataclass(frozen=True)
class Cell:
    """A criterion at a place: which schemes may be the best there."""

    chances: Mapping[str, float]
    """The schemes that finished all flows of the class, in the order of their means, each with the p-value of "none is
    better"."""
    unfinished: Sequence[str]
    """The schemes that did not: their times are lower bounds, so that they never win or tie, nor beat another."""
    detectable: Mapping[str, float]
    """For each scheme but the likeliest, how far it would have to lie behind that one to be told apart, given how the
    two scatter: as a fraction of that one's value, or of shares as a difference."""
    alike: bool
    confirmed: bool = False
    """Whether the likeliest one stays alone the best among all cells of the survey."""

    @property
    def best(self) -> list[str]:
        """The schemes that may be the best, in the order of their means."""
        return [scheme for scheme, chance in self.chances.items() if chance > LEVEL]

    @property
    def claim(self) -> float:
        """The p-value of "another scheme is as good as the likeliest": the largest chance among the others."""
        return sorted(self.chances.values())[-2] if len(self.chances) > 1 else 1.0

    @property
    def verdict(self) -> Verdict:
        """Who wins, if anybody."""
        if self.alike:
            return Verdict.ALIKE
        if self.confirmed:
            return Verdict.ALONE
        return Verdict.TIE if 1 < len(self.best) < len(self.chances) else Verdict.UNDECIDED

    def wins(self, scheme: str) -> bool:
        """Whether a scheme is alone the best or ties."""
        return self.verdict in (Verdict.ALONE, Verdict.TIE) and scheme in self.best


def judge(comparisons: Sequence[Results]) -> list[dict[Criterion, Cell]]:
    """The cells of every comparison, one for each criterion that a scheme has there.

    That a scheme is alone the best is claimed only where it holds over all cells of all comparisons: the claims'
    p-values are held against the false discovery rate (Y. Benjamini and Y. Hochberg, J. R. Stat. Soc. B 57, 1995).
    """
    judged = [{each: cell for each in CRITERIA if (cell := _judge(found, each))} for found in comparisons]
    claims = [cell.claim for cells in judged for cell in cells.values()]
    rates: Iterator[float] = iter(scipy.stats.false_discovery_control(claims) if claims else [])
    return [
        {criterion: replace(cell, confirmed=next(rates) <= LEVEL) for criterion, cell in cells.items()}
        for cells in judged
    ]


def _counts(comparison: Results, scheme: str, values: Iterable[float], criterion: Criterion) -> bool:
    """Whether a scheme finished all flows of the criterion's class at every seed, and no rate is zero."""
    unfinished = comparison.values(scheme, Metric(UNFINISHED_SHARE, criterion.about.flow_class).name)
    return not any(unfinished.values()) and (criterion.is_share or all(value > 0 for value in values))


def _judge(comparison: Results, criterion: Criterion) -> Cell | None:
    """Each scheme against the best of the others, on the same seeds.

    This is Hsu's comparison with the best (J. C. Hsu, Ann. Stat. 12, 1984, and "Multiple Comparisons", 1996) with seeds
    as blocks: a scheme may be the best unless another is significantly better, at a level that allows for the number of
    others. The set misses the best scheme with a probability of at most `LEVEL`. Hsu's own critical values need the
    same variance for all schemes; those with timeouts scatter a hundredfold more than others, so that every pair has
    its own t test here and the level is divided by the number of others (Bonferroni), which holds for any variances.

    Of times and rates the logarithms are compared: timeouts make them so skewed that a scheme which is slower a
    hundredfold, more or less, would not differ significantly. Of shares the values themselves are.
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
    order = np.argsort(table.mean(axis=1) * (-1 if criterion.most else 1), kind="stable")
    names, table = [names[at] for at in order], table[order]
    losses = (table if criterion.is_share else np.log(table)) * (-1 if criterion.most else 1)
    chances, detectable = _against_the_best(losses)
    return Cell(
        chances=dict(zip(names, chances, strict=True)),
        unfinished=[scheme for scheme in found if scheme not in names],
        detectable=dict(zip(names, detectable if criterion.is_share else np.expm1(detectable).tolist(), strict=True)),
        alike=len(names) > 1 and bool((np.ptp(losses, axis=0) < _EQUAL).all()),
    )


def _against_the_best(losses: Floats) -> tuple[list[float], list[float]]:
    """For each row, its chance to be the lowest, and how far behind the likeliest row it would be told apart.

    `losses` has a row for each scheme and a column for each seed. Nothing is told apart by a single seed.
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
