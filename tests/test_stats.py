"""Percentiles and rank correlations against numbers worked out by hand."""

import math
from typing import Any

import numpy as np
import pytest

from shortflow.errors import TooLittle
from shortflow.metrics import stats


def test_nearest_rank_by_hand() -> None:
    values = np.array([15.0, 20.0, 35.0, 40.0, 50.0])
    ranks = {5: 15.0, 30: 20.0, 40: 20.0, 50: 35.0, 95: 50.0, 100: 50.0}
    assert {percent: stats.nearest_rank(values, percent) for percent in ranks} == ranks
    # The rank is exactly 7 of 100, although 0.07 * 100 is slightly more than 7 in floating point.
    assert stats.nearest_rank(np.arange(1.0, 101.0), 7) == 7.0


@pytest.mark.parametrize("percent", [0, 100.5, -1])
def test_no_such_percentile(percent: float) -> None:
    with pytest.raises(ValueError, match="percentile"):
        stats.nearest_rank(np.array([1.0]), percent)
    with pytest.raises(TooLittle, match="needs values"):
        stats.rank(0, 50)


def test_rank_correlations_by_hand() -> None:
    assert stats.rank_correlation([1.0, 4.0, 9.0]) == pytest.approx(1)
    assert stats.rank_correlation([9.0, 4.0, 1.0]) == pytest.approx(-1)
    # Ranks 2, 1, 3 and positions 1, 2, 3: 1 - 6 * 2 / (3 * 8).
    assert stats.rank_correlation([20.0, 10.0, 30.0]) == pytest.approx(0.5)
    # Ranks 1, 2.5, 2.5, 4 and positions 1, 2, 3, 4: 4.5 / sqrt(5 * 4.5). The order of equal values has no effect.
    assert stats.rank_correlation([1.0, 2.0, 2.0, 3.0]) == pytest.approx(4.5 / math.sqrt(5 * 4.5))
    assert stats.rank_correlation([2.0, 1.0, 1.0, 2.0]) == pytest.approx(0)


def test_kendalls_tau_by_hand() -> None:
    one, other = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0])
    # Five of six pairs have the same order in both columns, and one has the opposite order.
    assert stats.kendall_tau(one, other) == pytest.approx(4 / 6)
    # One pair is tied in the second column: 5 / sqrt(6 * 5).
    assert stats.kendall_tau(one, np.array([1.0, 2.0, 2.0, 4.0])) == pytest.approx(5 / math.sqrt(30))


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_unsigned_columns_rank_as_any_others(kind: type[np.unsignedinteger[Any]]) -> None:
    """A difference of unsigned numbers would never be negative, so pairs must not be compared by differences."""
    sizes, times = np.array([10, 20, 30, 40, 50], dtype=kind), np.array([0.1, 0.2, 0.3, 0.5, 0.4])
    # Nine of ten pairs have the same order in both columns, and one has the opposite order.
    assert stats.kendall_tau(sizes, times) == pytest.approx(8 / 10)
    assert stats.kendall_tau(sizes, sizes[::-1]) == pytest.approx(-1)


@pytest.mark.parametrize("values", [[3.0, 3.0, 3.0], [3.0], [], [1.0, math.nan, 2.0]])
def test_there_is_no_rank_correlation_without_an_order(values: list[float]) -> None:
    with pytest.raises(ValueError, match="not all equal"):
        stats.rank_correlation(values)
    for columns in ((values, [1.0, 2.0, 3.0]), ([1.0, 2.0, 3.0], values)):
        with pytest.raises(ValueError, match="not all equal"):
            stats.kendall_tau(*columns)
