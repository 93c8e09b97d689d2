"""Order statistics, Jain's fairness index and rank correlations."""

import math
from collections.abc import Sequence

from shortflow.errors import TooLittle
from shortflow.lazy import np, npt, ranks


def jain_index(shares: Sequence[float]) -> float:
    """Jain's fairness index (FaST, Eq. 10): 1 if all n shares are equal, 1/n if one share is the total."""
    total = squares = 0.0  # sum() rounds differently from Python 3.12 on
    for share in shares:
        total, squares = total + share, squares + share * share
    return total * total / (len(shares) * squares)


def rank(count: int, percent: float) -> int:
    """Zero-based position of the nearest-rank percentile among `count` values in ascending order.

    Raises `ValueError` for a percentage outside (0, 100], and `TooLittle` without values.
    """
    if not 0 < percent <= 100:
        raise ValueError("a percentile needs a percentage in (0, 100]")
    if count == 0:
        raise TooLittle("a percentile needs values")
    # Dividing last keeps the rank exact: 7 % of 100 values is rank 7, but ceil(0.07 * 100) is 8. Rounding helps too:
    # 99.9 % of 41,000 values is rank 40,959.
    return math.ceil(round(percent * count / 100, 6)) - 1


def nearest_rank(values: "Sequence[float] | npt.NDArray[np.float64]", percent: float) -> float:
    """Nearest-rank percentile: the smallest value such that at least `percent` % of the values are no larger.

    Raises the errors of `rank`.
    """
    return float(sorted(values)[rank(len(values), percent)])


def rank_correlation(values: Sequence[float]) -> float:
    """Spearman's rank correlation of values with their positions: 1 if the values only rise, -1 if they only fall.

    Ties share the mean of their ranks. Raises `TooLittle` if all values are equal or one is NaN.
    """
    _require_ranks(values)
    return float(ranks.spearmanr(range(len(values)), values).statistic)


def kendall_tau(first: "npt.ArrayLike", second: "npt.ArrayLike") -> float:
    """Kendall's rank correlation (tau-b, with ties) of two columns of equal length.

    Raises `ValueError` if the lengths differ, and `TooLittle` if all values of a column are equal or one is NaN.
    """
    _require_ranks(first)
    _require_ranks(second)
    return float(ranks.kendalltau(first, second).statistic)


def _require_ranks(values: "npt.ArrayLike") -> None:
    """Raises `TooLittle` for a column of equal values or with NaN, for which SciPy returns NaN."""
    distinct = np.unique(np.asarray(values))
    if len(distinct) < 2 or np.isnan(distinct).any():
        raise TooLittle("a rank correlation needs numbers in each column that are not all equal")
