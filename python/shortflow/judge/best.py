"""Comparison of each contender with the best of the others, and its correction over many comparisons.

The method is that of J. C. Hsu (Ann. Stat. 12, 1984, and "Multiple Comparisons", 1996). A contender may be the best
unless another contender is significantly better. Hsu's critical values need equal variances, but schemes with timeouts
scatter up to 100 times more than others. Therefore, each pair has its own test at the level divided by the number of
other contenders (Bonferroni), which is valid for any variances.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from shortflow.judge.estimates import Estimate
from shortflow.judge.verdicts import Verdict, true_interval, verdict_of
from shortflow.lazy import np, npt, ranks, special

LEVEL = 0.05
"""Error rate of the set of contenders that may be the best, and false discovery rate of sole winners."""
EQUAL = 1e-9
"""Differences below this are rounding errors."""


class Order(StrEnum):
    """Order of contenders, as far as it is decided."""

    WINNER = "winner"
    """One is the best."""
    TIE = "tie"
    """Several are the best and count as equal."""
    OPEN = "open"
    """Several may be the best, or one that is not confirmed."""
    ALONE = "alone"
    """There is nothing to compare with."""


@dataclass(frozen=True)
class Best:
    """Result of a comparison with the best. The likeliest contender is first.

    `verdicts` has each contender's verdict on the statement "as good as the best".
    """

    verdicts: Mapping[str, Verdict]

    @property
    def leaders(self) -> list[str]:
        """Contenders of which each may be the best."""
        return [name for name, verdict in self.verdicts.items() if verdict is not Verdict.DIFFERS]

    @property
    def order(self) -> Order:
        """Order of the contenders."""
        if len(self.verdicts) < 2:
            return Order.ALONE
        if Verdict.UNDECIDED in self.verdicts.values():
            return Order.OPEN
        return Order.TIE if len(self.leaders) > 1 else Order.WINNER


def beside(lead: Estimate, more_is_better: bool, ties: tuple[float, float]) -> Verdict:
    """Verdict on "as good as the best" for a contender. `lead` is the best's relative difference from the contender.

    The verdict agrees for a tie. In a tie, the factor between both differs from 1 by at most the first of `ties`, and
    its whole interval by at most the second.
    """
    ends = true_interval(lead)
    worse = verdict_of(ends, (-math.inf, 0.0) if more_is_better else (0.0, math.inf)) is Verdict.DIFFERS
    if ends[0] > -1:
        near, within = map(math.log1p, ties)
        inside = verdict_of((math.log1p(ends[0]), math.log1p(ends[1])), (-within, within))
        if inside is Verdict.AGREES and abs(math.log1p(lead.value)) <= near:
            return Verdict.AGREES
    return Verdict.DIFFERS if worse else Verdict.UNDECIDED


@dataclass(frozen=True)
class Contest:
    """Comparison with the best by p-values, so that verdicts can be corrected over many comparisons."""

    chances: Mapping[str, float]
    """For each contender, the p-value of "no other contender is better"."""
    detectable: Mapping[str, float]
    """For each contender, the smallest detectable distance from the likeliest one, given the scatter of the pair."""
    alike: bool
    """True if several contenders have the same loss in every seed."""
    confirmed: bool = False
    """True if the likeliest contender remains a sole winner after the correction over all comparisons (`confirm`)."""

    @property
    def claim(self) -> float:
        """p-value of "another contender is as good as the likeliest", which is the second-largest chance."""
        return sorted(self.chances.values())[-2] if len(self.chances) > 1 else 1.0

    @property
    def best(self) -> Best:
        """Verdicts of the comparison. A sole winner that is not confirmed is undecided."""
        if self.alike:  # equal losses have no scatter, so no test can decide
            return Best(dict.fromkeys(self.chances, Verdict.AGREES))
        lead = Verdict.AGREES if self.confirmed else Verdict.UNDECIDED
        return Best({name: lead if chance > LEVEL else Verdict.DIFFERS for name, chance in self.chances.items()})


def contest(losses: Mapping[str, Sequence[float]]) -> Contest:
    """Compares contenders by their losses, with one loss per seed in the same order. Seeds are blocks; less is better.

    The probability that the true best is not among the contenders that may be the best is at most `LEVEL`.
    """
    seeds = len(next(iter(losses.values()), ()))
    table = np.array([*losses.values()]).reshape(len(losses), seeds)
    found, detectable = (dict(zip(losses, each, strict=True)) for each in _chances(table))
    return Contest(found, detectable, alike=len(losses) > 1 and bool((np.ptp(table, axis=0) < EQUAL).all()))


def confirm(contests: Sequence[Contest]) -> list[Contest]:
    """Confirms the sole winners of comparisons at a false discovery rate of `LEVEL` over all comparisons.

    The method is that of Y. Benjamini and Y. Hochberg (J. R. Stat. Soc. B 57, 1995).
    """
    rates = ranks.false_discovery_control([each.claim for each in contests]) if contests else []
    return [replace(each, confirmed=bool(rate <= LEVEL)) for each, rate in zip(contests, rates, strict=True)]


def _chances(losses: "npt.NDArray[np.float64]") -> tuple[list[float], list[float]]:
    """Each row's p-value of being the lowest, and its smallest detectable distance from the likeliest row.

    `losses` has a row per contender and a column per seed, which is a block. Each pair has a one-sided t test. A single
    seed cannot tell contenders apart.
    """
    rows, seeds = losses.shape
    if rows < 2 or seeds < 2:
        return [1.0] * rows, [math.inf] * rows
    behind = losses[:, None, :] - losses[None, :, :]
    behind[np.abs(behind) < EQUAL] = 0.0
    mean, error = behind.mean(axis=2), behind.std(axis=2, ddof=1) / math.sqrt(seeds)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num(mean / error, nan=0.0)
    one_sided = special.stdtr(seeds - 1, -t)
    found = np.minimum(1.0, (rows - 1) * one_sided.min(axis=1))
    critical = special.stdtrit(seeds - 1, 1 - LEVEL / (rows - 1))
    return found.tolist(), (critical * error[:, int(found.argmax())]).tolist()
