"""Comparison of several contenders with the best of the others, and its correction over many comparisons.

The comparison is that of J. C. Hsu (Ann. Stat. 12, 1984, and "Multiple Comparisons", 1996). A contender may be the best
unless another is significantly better. Hsu's critical values need equal variances, but schemes with timeouts scatter a
hundredfold more. So each pair has its own test, and the level is divided by the number of the others (Bonferroni),
which holds for any variances.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from shortflow.judge.estimates import Estimate
from shortflow.judge.verdicts import Verdict, true_interval, verdict_of
from shortflow.lazy import np, npt, ranks, special

LEVEL = 0.05
"""Error rate of the set of possible best contenders, and false discovery rate of sole winners."""
EQUAL = 1e-9
"""Differences below this are rounding errors."""


@dataclass(frozen=True)
class Best:
    """Contenders, the likeliest first, each with the verdict on "as good as the best"."""

    verdicts: Mapping[str, Verdict]

    @property
    def leaders(self) -> list[str]:
        """Contenders that may be the best."""
        return [name for name, verdict in self.verdicts.items() if verdict is not Verdict.DIFFERS]

    @property
    def verdict(self) -> Verdict:
        """Verdict on "the leaders are the best": untested without two contenders, undecided if one is undecided."""
        if len(self.verdicts) < 2:
            return Verdict.UNTESTED
        return Verdict.UNDECIDED if Verdict.UNDECIDED in self.verdicts.values() else Verdict.AGREES

    def word(self, *, sole: str, several: str, undecided: str, untested: str) -> str:
        """The verdict in a user's words: a sole leader, several equal ones, undecided, or nothing to compare."""
        if self.verdict is Verdict.AGREES:
            return several if len(self.leaders) > 1 else sole
        return undecided if self.verdict is Verdict.UNDECIDED else untested


def beside(lead: Estimate, more_is_better: bool, ties: tuple[float, float]) -> Verdict:
    """Verdict on "as good as the best" by the best's relative difference from the contender.

    It agrees for a tie: the factor is within the first of `ties` of 1, and its interval within the second.
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
    """Contenders with a p-value each, to correct verdicts over many such comparisons."""

    chances: Mapping[str, float]
    """p-value of "no other is better" for each contender."""
    detectable: Mapping[str, float]
    """Detectable distance of each contender behind the likeliest, given their scatter."""
    alike: bool
    """True if several contenders have the same loss in every seed."""
    confirmed: bool = False
    """True if the likeliest contender stays a sole winner among all comparisons (`confirm`)."""

    @property
    def claim(self) -> float:
        """p-value of "another contender is as good as the likeliest": second-largest chance."""
        return sorted(self.chances.values())[-2] if len(self.chances) > 1 else 1.0

    @property
    def best(self) -> Best:
        """Comparison with the best; a sole winner counts only if confirmed."""
        if self.alike:
            return Best(dict.fromkeys(self.chances, Verdict.AGREES))
        lead = Verdict.AGREES if self.confirmed else Verdict.UNDECIDED
        return Best({name: lead if chance > LEVEL else Verdict.DIFFERS for name, chance in self.chances.items()})


def contest(losses: Mapping[str, Sequence[float]]) -> Contest:
    """Comparison of contenders by their losses, one per seed; the seeds are blocks. Less is better.

    The contenders that may be the best miss the best one with a probability of at most `LEVEL`.
    """
    seeds = len(next(iter(losses.values()), ()))
    table = np.array([*losses.values()]).reshape(len(losses), seeds)
    found, detectable = (dict(zip(losses, each, strict=True)) for each in _chances(table))
    return Contest(found, detectable, alike=len(losses) > 1 and bool((np.ptp(table, axis=0) < EQUAL).all()))


def confirm(contests: Sequence[Contest]) -> list[Contest]:
    """The comparisons, with their sole winners confirmed at a false discovery rate of `LEVEL` over all of them.

    Y. Benjamini and Y. Hochberg, J. R. Stat. Soc. B 57, 1995.
    """
    rates = ranks.false_discovery_control([each.claim for each in contests]) if contests else []
    return [replace(each, confirmed=bool(rate <= LEVEL)) for each, rate in zip(contests, rates, strict=True)]


def _chances(losses: "npt.NDArray[np.float64]") -> tuple[list[float], list[float]]:
    """Chance of each row to be the lowest, and its detectable distance behind the likeliest row.

    `losses` has a row per contender and a column per seed, which is a block. Each pair has a one-sided t test. A single
    seed separates nothing.
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
