"""Statistics over seeds: means with confidence intervals, and paired relative differences.

Runs of different seeds are independent; runs of one seed under different schemes share their arrivals, sizes and
destinations, so that schemes are compared pair by pair and the difference scatters far less than the values.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from shortflow.errors import TooLittle

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

CONFIDENCE = 0.95

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


def estimate(values: Sequence[float], support: Support = Support.REAL) -> Estimate:
    """The mean of independent values and its interval, which stays within `support`.

    The interval is Student's t, cut at the ends of the support. Where every value is positive it is
    mean * exp(± t * se / mean), which is t for the logarithm of the mean (delta method).
    """
    if not values:
        raise TooLittle("an estimate needs at least one value")
    n, mean = len(values), _mean(values)
    half = _half_width(values)
    if half is None:
        return Estimate(mean, None, n)
    if support is Support.POSITIVE and mean > 0:
        factor = math.exp(half / mean)
        return Estimate(mean, (mean / factor, mean * factor), n)
    low = -math.inf if support is Support.REAL else 0.0
    high = 1.0 if support is Support.SHARE else math.inf
    return Estimate(mean, (max(mean - half, low), min(mean + half, high)), n)


def paired_difference(values: Sequence[float], baseline: Sequence[float]) -> Estimate | None:
    """How far `values` lie above `baseline`, as a fraction of the baseline; both are in the order of the seeds.

    The estimate is the ratio of the two means, less one, so that it agrees with the means shown beside it. Its scatter
    is that of the residuals value - ratio * baseline (the classical ratio estimator), which keeps the pairing and
    allows single seeds whose baseline is zero. Of values that are nowhere below zero the interval is Student's t on the
    logarithm of the ratio: it ends above -1, and whether it holds zero does not depend on which side is the baseline.
    Beside a baseline with mean zero there is no relative difference; of values that are all zero the interval is that
    of the baseline's mean, so that none of something rare is not less for sure.
    """
    if not values or len(values) != len(baseline):
        raise ValueError("a paired difference needs the same seeds, at least one, on both sides")
    n, scale = len(values), _mean(baseline)
    if scale == 0.0:
        return None
    ratio = _mean(values) / scale
    half = _half_width([(ours - ratio * theirs) / abs(scale) for ours, theirs in zip(values, baseline, strict=True)])
    if half is None:
        return Estimate(ratio - 1.0, None, n)
    if min(*values, *baseline) < 0:
        return Estimate(ratio - 1.0, (ratio - 1.0 - half, ratio - 1.0 + half), n)
    if ratio == 0:
        return Estimate(-1.0, (-1.0, (_half_width(baseline) or 0.0) / scale - 1.0), n)
    factor = math.exp(half / ratio)
    return Estimate(ratio - 1.0, (ratio / factor - 1.0, ratio * factor - 1.0), n)


def rank(count: int, percent: float) -> int:
    """The place, from 0 on, of the nearest-rank percentile among so many values in ascending order."""
    if not 0 < percent <= 100:
        raise ValueError("a percentile needs a percentage in (0, 100]")
    if count == 0:
        raise TooLittle("a percentile needs values")
    # Dividing last keeps the rank exact: 7 % of 100 values is rank 7, but ceil(0.07 * 100) is 8.
    return math.ceil(percent * count / 100) - 1


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
    from scipy.stats import spearmanr

    _require_ranks(values)
    return float(spearmanr(range(len(values)), values).statistic)


def kendall_tau(first: "npt.ArrayLike", second: "npt.ArrayLike") -> float:
    """Kendall's rank correlation (tau-b, which allows for ties) of two columns of the same length.

    A ValueError if the lengths differ, all values of a column are equal, or one is not a number.
    """
    from scipy.stats import kendalltau

    _require_ranks(first)
    _require_ranks(second)
    return float(kendalltau(first, second).statistic)


def _require_ranks(values: "npt.ArrayLike") -> None:
    """SciPy's answer is NaN, with a warning at most, where a column has no order."""
    import numpy as np

    distinct = np.unique(np.asarray(values))
    if len(distinct) < 2 or np.isnan(distinct).any():
        raise TooLittle("a rank correlation needs numbers in each column that are not all equal")


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _half_width(scatter: Sequence[float]) -> float | None:
    """Half of Student's t interval for the mean of independent values that scatter like these; none for one value."""
    n = len(scatter)
    if n < 2:
        return None
    from scipy.special import stdtrit

    middle = _mean(scatter)
    variance = math.fsum((value - middle) * (value - middle) for value in scatter) / (n - 1)
    return float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * math.sqrt(variance / n)
