"""Statistics over seeds: means with confidence intervals, and paired relative differences.

Runs of different seeds are independent; runs of one seed under different schemes share their arrivals, sizes and
destinations, so that schemes are compared pair by pair and the difference scatters far less than the values.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from shortflow.errors import TooLittle
from shortflow.lazy import np, npt, ranks, special

CONFIDENCE = 0.95

_UNSEEN = 3
"""With 95 % confidence, what none of n seeds had is had by at most this many in n others (rule of three)."""
_WIDER = 1.2
"""An allowance that widens an interval by this factor or more is told."""
_TOLD = 0.01
"""An allowance of at most this share of the ratio is not."""
_TIES = 0.2
"""From this share of equal pairs on, few seeds make the difference."""
_FAR = 10_000
"""More seeds than this are not asked for."""

Interval = tuple[float, float]


def jain_index(shares: Sequence[float]) -> float:
    """Jain's index (FaST, Eq. 10): 1 where all are equal, 1/n where one has everything."""
    total = squares = 0.0  # not by sum(), which rounds otherwise from Python 3.12 on
    for share in shares:
        total, squares = total + share, squares + share * share
    return total * total / (len(shares) * squares)


class Support(Enum):
    """The values that a quantity can take; its interval does not leave them."""

    REAL = "any number"
    NONNEGATIVE = "zero or more"
    SHARE = "from zero to one"
    POSITIVE = "more than zero"


@dataclass(frozen=True)
class FewEvents:
    """What is to know of a difference that rests on few events, such as a timeout, a late flow or a drop."""

    move: float
    """How far one more such event in the seeds would move the difference."""
    share: float
    """The largest share of seeds with such an event that is not excluded if none of the seeds had one."""
    seeds: int | None
    """At most so many more seeds make the allowance small; None above 10,000, as where nothing scatters."""


@dataclass(frozen=True, repr=False)
class Estimate:
    """A value estimated from `n` seeds and its 95 % confidence interval (none for a single seed).

    Of a bound the interval is that of the bound; a value that is both is open.
    """

    value: float
    ci95: Interval | None
    n: int
    lower_bound: bool = False
    """Whether the truth is this or more."""
    upper_bound: bool = False
    """Whether the truth is this or less."""
    lacking: int = 0
    """How many more seeds were run that do not have the value."""
    allowance: float = 0.0
    """How far the interval's ends allow for events that no seed had; the part of chance adds in squares."""
    few_events: FewEvents | None = None
    """Of a difference, where that part is large."""

    def __repr__(self) -> str:
        """In as many digits as are read; `value` has all."""
        ends = f"({self.ci95[0]:.6g}, {self.ci95[1]:.6g})" if self.ci95 else "None"
        bounds = "".join(f", {name}=True" for name in ("lower_bound", "upper_bound") if getattr(self, name))
        return f"Estimate({self.value:.6g}, ci95={ends}, n={self.n}{bounds})"

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval: the number behind the ±."""
        return None if self.ci95 is None else (self.ci95[1] - self.ci95[0]) / 2

    @property
    def has_sign(self) -> bool:
        """Whether a bound tells the sign, with its whole interval (with one seed, the value); if exact, always."""
        low, high = self.ci95 or (self.value, self.value)
        return (not self.lower_bound or low > 0) and (not self.upper_bound or high < 0)


def estimate(values: Sequence[float], support: Support = Support.REAL, stake: float = 0.0) -> Estimate:
    """The mean of independent values and its interval, which stays within `support`.

    The interval is Student's t, cut at the ends of the support. Where every value is positive it is
    mean * exp(± t * se / mean), which is t for the logarithm of the mean (delta method). `stake` is how far one event,
    such as a timeout, would move a value: the interval allows for three in as many other seeds.
    """
    if not values:
        raise TooLittle("an estimate needs at least one value")
    n, mean = len(values), _mean(values)
    half = _half_width(values)
    if half is None:
        return Estimate(mean, None, n)
    allowance = _UNSEEN * stake / n
    if support is Support.POSITIVE and mean > 0:
        return Estimate(mean, _around(mean, half, allowance), n, allowance=allowance)
    half = math.hypot(half, allowance)
    low = -math.inf if support is Support.REAL else 0.0
    high = 1.0 if support is Support.SHARE else math.inf
    return Estimate(mean, (max(mean - half, low), min(mean + half, high)), n, allowance=allowance)


def paired_difference(
    values: Sequence[float], baseline: Sequence[float], *, stakes: tuple[float, float] = (0.0, 0.0), among: int = 1
) -> Estimate | None:
    """How far `values` lie above `baseline`, as a fraction of the baseline; both are in the order of the seeds.

    The estimate is the ratio of the two means, less one, so that it agrees with the means shown beside it. Its scatter
    is that of the residuals value - ratio * baseline (the classical ratio estimator), which keeps the pairing and
    allows single seeds whose baseline is zero. Of values that are nowhere below zero the interval is Student's t on the
    logarithm of the ratio: it ends above -1, and whether it holds zero does not depend on which side is the baseline.
    Beside a baseline with mean zero there is no relative difference; of values that are all zero the interval is that
    of the baseline's mean, so that none of something rare is not less for sure.

    Where few seeds have an event that decides, such as a timeout, all of these may have missed one. The interval allows
    for three such events in as many other seeds. `stakes` say how far one would move a value of either side
    (`shortflow.metrics.stakes`). Values that are zero in some seeds come from events: the largest value is one. Where a
    fifth of the pairs are equal, so is the largest residual. The intervals of `among` differences together have
    95 % confidence (Bonferroni).
    """
    if not values or len(values) != len(baseline):
        raise ValueError("a paired difference needs the same seeds, at least one, on both sides")
    n, scale = len(values), _mean(baseline)
    if scale == 0.0:
        return None
    ratio = _mean(values) / scale
    residuals = [(ours - ratio * theirs) / abs(scale) for ours, theirs in zip(values, baseline, strict=True)]
    plain = _half_width(residuals, among)
    if plain is None:
        return Estimate(ratio - 1.0, None, n)
    if min(*values, *baseline) < 0:
        return Estimate(ratio - 1.0, (ratio - 1.0 - plain, ratio - 1.0 + plain), n)
    if ratio == 0:
        plain = (_half_width(baseline, among) or 0.0) / scale
    late, seed = (
        max(ours, (ratio or 1.0) * theirs) / scale for ours, theirs in (stakes, map(_event, (values, baseline)))
    )
    few_pairs = not late and not seed and _TIES * n <= _equal(values, baseline) < n
    if few_pairs:
        seed = max(map(abs, residuals))
    wide, allowance = math.hypot(plain, _UNSEEN * seed / n), _UNSEEN * late / n
    low, high = _around(ratio, wide, allowance) if ratio else (0.0, math.hypot(wide, allowance))
    few, event = None, max(late, seed)
    if few_pairs or (math.hypot(plain, _UNSEEN * event / n) > _WIDER * plain and _UNSEEN * event / n > _TOLD * ratio):
        few = FewEvents(event / n, 1 - (1 - CONFIDENCE) ** (1 / n), _more_seeds(event, plain, n))
    return Estimate(ratio - 1.0, (low - 1.0, high - 1.0), n, allowance=_UNSEEN * event / n, few_events=few)


def _event(values: Sequence[float]) -> float:
    """The largest of values that are zero in some seeds; 0 where none is."""
    return max(values) if 0 in values else 0.0


def _equal(values: Sequence[float], baseline: Sequence[float]) -> int:
    return sum(ours == theirs for ours, theirs in zip(values, baseline, strict=True))


def _around(mean: float, half: float, allowance: float) -> Interval:
    """The ends for the logarithm of a positive mean; of an interval too wide for numbers, 0 and infinity.

    Events that add an allowance to a mean multiply it by 1 + allowance / mean; those of a baseline divide it by that.
    """
    try:
        factor = math.exp(math.hypot(half / mean, math.log1p(allowance / mean)))
    except OverflowError:
        return 0.0, math.inf
    return mean / factor, mean * factor


def _more_seeds(event: float, half: float, n: int) -> int | None:
    """How many more seeds make the allowance so small that it is not told; None if they are too many.

    With m seeds the allowance is 3 * event / m, and half the plain interval 2 * deviation / sqrt(m).
    """
    if half == 0:
        return None
    deviation = half * math.sqrt(n) / student(n)
    wanted = (_UNSEEN * event / (2 * deviation)) ** 2 / (_WIDER**2 - 1)
    return max(math.ceil(wanted) - n, 1) if wanted <= _FAR else None


def rank(count: int, percent: float) -> int:
    """The place, from 0 on, of the nearest-rank percentile among so many values in ascending order."""
    if not 0 < percent <= 100:
        raise ValueError("a percentile needs a percentage in (0, 100]")
    if count == 0:
        raise TooLittle("a percentile needs values")
    # Dividing last keeps the rank exact: 7 % of 100 values is rank 7, but ceil(0.07 * 100) is 8. So does rounding:
    # 99.9 % of 41,000 values is rank 40,959.
    return math.ceil(round(percent * count / 100, 6)) - 1


def nearest_rank(values: "Sequence[float] | npt.NDArray[np.float64]", percent: float) -> float:
    """The nearest-rank percentile: the smallest of `values` that at least `percent` % of them do not exceed."""
    return float(sorted(values)[rank(len(values), percent)])


def over_seeds(values: Sequence[float]) -> Estimate:
    """The mean of a number of each seed and its interval; with infinite ones the median, within the extremes."""
    if all(map(math.isfinite, values)) or any(map(math.isnan, values)):
        return estimate(values)
    ordered = sorted(values)
    ends = (ordered[0], ordered[-1])
    return Estimate(ordered[(len(ordered) - 1) // 2], ends if ends[0] < ends[1] else None, len(ordered))


def rank_correlation(values: Sequence[float]) -> float:
    """Spearman's rank correlation of values with their order: 1 if they only rise, -1 if they only fall.

    Equal values share the mean of their ranks. A ValueError if all are equal or one is not a number.
    """
    _require_ranks(values)
    return float(ranks.spearmanr(range(len(values)), values).statistic)


def kendall_tau(first: "npt.ArrayLike", second: "npt.ArrayLike") -> float:
    """Kendall's rank correlation (tau-b, which allows for ties) of two columns of the same length.

    A ValueError if the lengths differ, all values of a column are equal, or one is not a number.
    """
    _require_ranks(first)
    _require_ranks(second)
    return float(ranks.kendalltau(first, second).statistic)


def _require_ranks(values: "npt.ArrayLike") -> None:
    """SciPy's answer is NaN, with a warning at most, where a column has no order."""
    distinct = np.unique(np.asarray(values))
    if len(distinct) < 2 or np.isnan(distinct).any():
        raise TooLittle("a rank correlation needs numbers in each column that are not all equal")


def student(n: int, among: int = 1) -> float:
    """Student's quantile for the mean of n values, one of several means."""
    return float(special.stdtrit(n - 1, 1 - (1 - CONFIDENCE) / 2 / among))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _half_width(scatter: Sequence[float], among: int = 1) -> float | None:
    """Half of Student's t interval for the mean of independent values that scatter like these; none for one value."""
    n = len(scatter)
    if n < 2:
        return None
    middle = _mean(scatter)
    variance = math.fsum((value - middle) * (value - middle) for value in scatter) / (n - 1)
    return student(n, among) * math.sqrt(variance / n)
