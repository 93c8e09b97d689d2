"""Statistics against numbers worked out by hand, and laws that hold for all numbers."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made import sure
from shortflow.judge import estimates
from shortflow.metrics import stats

VALUES = st.lists(st.floats(min_value=1e-3, max_value=1e6), min_size=2, max_size=20)


def test_estimate_by_hand() -> None:
    # Mean 3, sample variance 2.5, standard error sqrt(0.5); t(4 degrees, 97.5 %) = 2.776445.
    found = estimates.estimate([1.0, 2.0, 3.0, 4.0, 5.0])
    assert found.value == 3.0
    assert found.n == 5
    assert found.half_width == pytest.approx(2.7764451 * math.sqrt(0.5), rel=1e-6)
    assert found.ci95 == pytest.approx((3 - 1.9632432, 3 + 1.9632432), rel=1e-6)


def test_the_interval_of_a_positive_quantity_by_hand() -> None:
    # Mean 2, standard error 1, t(1 degree, 97.5 %) = 12.7062: e to the power of 6.3531 is 574.3.
    found = estimates.estimate([1.0, 3.0], estimates.Support.POSITIVE)
    assert found.value == 2.0
    assert found.ci95 == pytest.approx((2 / 574.27, 2 * 574.27), rel=1e-4)


def test_an_interval_is_cut_where_values_end() -> None:
    # Student's t alone: 2 ± 12.7, and 0.6 ± 3.8.
    assert estimates.estimate([1.0, 3.0], estimates.Support.NONNEGATIVE).ci95 == pytest.approx(
        (0.0, 2 + 12.7062), rel=1e-5
    )
    assert estimates.estimate([0.3, 0.9], estimates.Support.SHARE).ci95 == (0.0, 1.0)
    assert estimates.estimate([0.0, 0.0], estimates.Support.POSITIVE).ci95 == (0.0, 0.0)


@pytest.mark.parametrize("support", estimates.Support)
def test_one_seed_has_no_interval(support: estimates.Support) -> None:
    found = estimates.estimate([7.0], support)
    assert (found.value, found.ci95, found.n, found.half_width) == (7.0, None, 1, None)


def test_paired_difference_by_hand() -> None:
    # Means 8 and 10: 20 % less. Residuals v - 0.8 b: 6 - 6.4, 8 - 8, 10 - 9.6; their deviation is 0.4, over
    # sqrt(3) and 10; t(2 degrees, 97.5 %) = 4.302653.
    found = sure(estimates.paired_difference([6.0, 8.0, 10.0], [8.0, 10.0, 12.0]))
    assert found.value == pytest.approx(-0.2)
    factor = math.exp(4.3026527 * 0.4 / math.sqrt(3) / 10 / 0.8)
    assert found.ci95 == pytest.approx((0.8 / factor - 1, 0.8 * factor - 1), rel=1e-6)


def test_the_interval_of_a_slowdown_ends_at_one() -> None:
    # 1.2 and 2.8: mean 2, and half of Student's interval is 12.7 * 0.8, far above it.
    low, high = sure(estimates.estimate([1.2, 2.8], estimates.Support.SLOWDOWN).ci95)
    wide_low, wide_high = sure(estimates.estimate([1.2, 2.8], estimates.Support.POSITIVE).ci95)
    assert (low, high) == (1.0, wide_high)
    assert wide_low < 0.1
    # Measured flows may be faster than the empty network of the scenario.
    assert sure(estimates.estimate([0.9, 0.9], estimates.Support.SLOWDOWN).ci95) == pytest.approx((0.9, 0.9))


def test_pairing_beats_the_spread_between_seeds() -> None:
    baseline = [1.0, 10.0, 100.0]
    found = sure(estimates.paired_difference([0.9, 9.0, 90.0], baseline))
    assert found.value == pytest.approx(-0.1)
    assert found.half_width == pytest.approx(0.0, abs=1e-12)


def test_nothing_is_more_than_all_of_it_less() -> None:
    # A tenth of the baseline; the residuals alone, 0.1 on average, would reach below -100 %. One more seed with 0.2 as
    # in one of the two would add 0.2 to the sum, three such in two seeds 0.3 to the mean.
    found = sure(estimates.paired_difference([0.0, 0.2], [1.0, 1.0]))
    assert found.value == pytest.approx(-0.9)
    factor = math.exp(math.hypot(12.7062 * 0.1, 0.3) / 0.1)
    assert found.ci95 == pytest.approx((0.1 / factor - 1, 0.1 * factor - 1), rel=1e-4)
    assert sure(estimates.paired_difference([1.0, 3.0], [2.0, 2.0], among=1000)).ci95 == (-1.0, math.inf)


def test_none_of_something_rare_is_not_less_for_sure() -> None:
    # Mean 1/3 and standard error 1/3: one drop in three seeds may be none in the next ones. Three seeds more with a
    # drop in three would be as many as the mean is of.
    found = sure(estimates.paired_difference([0.0, 0.0, 0.0], [1.0, 0.0, 0.0]))
    assert found.ci95 == pytest.approx((-1.0, math.hypot(4.3026527, 3.0) - 1), rel=1e-6)
    few = sure(found.few_events)
    assert few.move == pytest.approx(1.0)
    assert few.share == pytest.approx(1 - 0.05 ** (1 / 3))
    assert estimates.paired_difference([0.0, 0.0], [2.0, 2.0]) == estimates.Estimate(-1.0, (-1.0, -1.0), 2)


def test_an_interval_allows_for_three_events_by_hand() -> None:
    # Means 8 and 10, deviation of the residuals 0.4 as above. One event adds 2 to a value, three in three seeds 2 to
    # the mean, which is 0.2 of the baseline and 1/4 of 0.8.
    found = sure(estimates.paired_difference([6.0, 8.0, 10.0], [8.0, 10.0, 12.0], stakes=(2.0, 1.0)))
    assert found.allowance == pytest.approx(0.2)
    factor = math.exp(math.hypot(4.3026527 * 0.04 / math.sqrt(3) / 0.8, math.log(1.25)))
    assert found.ci95 == pytest.approx((0.8 / factor - 1, 0.8 * factor - 1), rel=1e-6)
    # One moves the difference by 0.2 / 3. It is small from m seeds on, where 3 * 0.2 / m is sqrt(0.44) of 2 * 0.04 /
    # sqrt(m): m = 127.8.
    few = sure(found.few_events)
    assert few.move == pytest.approx(0.2 / 3)
    assert few.seeds == 128 - 3
    # The mean of the baseline, 10 with deviation 2, in the same way.
    alone = estimates.estimate([8.0, 10.0, 12.0], estimates.Support.POSITIVE, 1.0)
    factor = math.exp(math.hypot(4.3026527 * 2 / math.sqrt(3) / 10, math.log(1.1)))
    assert alone.ci95 == pytest.approx((10 / factor, 10 * factor), rel=1e-6)


def test_few_pairs_that_differ_are_told() -> None:
    # One of four pairs differs, by a tenth of the mean: three more such seeds in four are 0.075.
    found = sure(estimates.paired_difference([10.0, 10.0, 10.0, 14.0], [10.0] * 4))
    assert sure(found.few_events).move == pytest.approx(0.3 / 4)
    assert estimates.paired_difference([3.0, 4.0], [3.0, 4.0]) == estimates.Estimate(0.0, (0.0, 0.0), 2)
    assert sure(estimates.paired_difference([10.0, 10.1, 9.9, 10.2, 9.8, 10.1], [10.0] * 6)).few_events is None


@given(VALUES, st.data())
def test_an_allowance_never_narrows_and_knows_no_side(values: list[float], data: st.DataObject) -> None:
    baseline = data.draw(st.lists(st.floats(0.1, 10.0), min_size=len(values), max_size=len(values)))
    stakes = data.draw(st.tuples(st.floats(0, 10), st.floats(0, 10)))
    plain = sure(estimates.paired_difference(values, baseline))
    found = sure(estimates.paired_difference(values, baseline, stakes=stakes))
    back = sure(estimates.paired_difference(baseline, values, stakes=(stakes[1], stakes[0])))
    (low, high), (_, most) = sure(found.ci95), sure(back.ci95)
    if not plain.few_events:
        least, largest = sure(plain.ci95)
        assert low <= least + 1e-9
        assert high >= largest - 1e-9 * (1 + abs(largest))
    event = max(stakes[0] / sum(values), stakes[1] / sum(baseline))  # of the ratio, for one more in these seeds
    assert high + 1 >= (1 + found.value) * (1 + 3 * event) * (1 - 1e-9)
    lost = 1e-15 * (1 + most)  # digits of an end near -1 that 1 + the end has no longer
    assert (1 + low) * (1 + most) == pytest.approx(1, rel=1e-6 + lost) or most == math.inf
    assert (found.few_events is None) == (back.few_events is None)


@pytest.mark.parametrize(
    ("ci95", "value", "lower", "upper", "has_sign"),
    [
        ((0.1, 0.3), 0.2, True, False, True),
        ((-0.1, 0.3), 0.1, True, False, False),
        ((-0.3, -0.1), -0.2, True, False, False),
        ((-0.3, -0.1), -0.2, False, True, True),
        ((-0.3, 0.1), -0.1, False, True, False),
        ((0.1, 0.3), 0.2, True, True, False),
        ((-0.1, 0.3), 0.1, False, False, True),
        (None, 0.1, True, False, True),
        (None, -0.1, True, False, False),
        (None, -0.1, False, True, True),
    ],
)
def test_a_bound_has_a_sign_where_the_truth_cannot_have_the_other(
    ci95: tuple[float, float] | None, value: float, lower: bool, upper: bool, has_sign: bool
) -> None:
    assert estimates.Estimate(value, ci95, 2, lower_bound=lower, upper_bound=upper).has_sign is has_sign


def test_no_relative_difference_to_nothing() -> None:
    assert estimates.paired_difference([1.0, 2.0], [0.0, 0.0]) is None
    found = sure(estimates.paired_difference([0.0, 2.0], [0.0, 4.0]))
    assert found.value == -0.5


@pytest.mark.parametrize(("values", "baseline"), [([], []), ([1.0], [1.0, 2.0])])
def test_pairs_need_both_sides(values: list[float], baseline: list[float]) -> None:
    with pytest.raises(ValueError, match="same seeds"):
        estimates.paired_difference(values, baseline)


def test_nearest_rank_by_hand() -> None:
    values = np.array([15.0, 20.0, 35.0, 40.0, 50.0])
    ranks = {5: 15.0, 30: 20.0, 40: 20.0, 50: 35.0, 95: 50.0, 100: 50.0}
    assert {percent: stats.nearest_rank(values, percent) for percent in ranks} == ranks
    # Rank 7 of 100 exactly, although 0.07 * 100 is a little more than 7.
    assert stats.nearest_rank(np.arange(1.0, 101.0), 7) == 7.0


@pytest.mark.parametrize("percent", [0, 100.5, -1])
def test_no_such_percentile(percent: float) -> None:
    with pytest.raises(ValueError, match="percentile"):
        stats.nearest_rank(np.array([1.0]), percent)


def test_rank_correlations_by_hand() -> None:
    assert stats.rank_correlation([1.0, 4.0, 9.0]) == pytest.approx(1)
    assert stats.rank_correlation([9.0, 4.0, 1.0]) == pytest.approx(-1)
    # Ranks 2, 1, 3 beside 1, 2, 3: 1 - 6 * 2 / (3 * 8).
    assert stats.rank_correlation([20.0, 10.0, 30.0]) == pytest.approx(0.5)
    # Ranks 1, 2.5, 2.5, 4 beside 1, 2, 3, 4: 4.5 / sqrt(5 * 4.5); the order of equal values plays no part.
    assert stats.rank_correlation([1.0, 2.0, 2.0, 3.0]) == pytest.approx(4.5 / math.sqrt(5 * 4.5))
    assert stats.rank_correlation([2.0, 1.0, 1.0, 2.0]) == pytest.approx(0)


def test_kendalls_tau_by_hand() -> None:
    one, other = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0])
    # Five of six pairs in the same order, one in the opposite one.
    assert stats.kendall_tau(one, other) == pytest.approx(4 / 6)
    # One pair tied in the second column: 5 / sqrt(6 * 5).
    assert stats.kendall_tau(one, np.array([1.0, 2.0, 2.0, 4.0])) == pytest.approx(5 / math.sqrt(30))


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_unsigned_columns_rank_as_any_others(kind: type[np.unsignedinteger[Any]]) -> None:
    """Differences of unsigned numbers are never negative."""
    sizes, times = np.array([10, 20, 30, 40, 50], dtype=kind), np.array([0.1, 0.2, 0.3, 0.5, 0.4])
    # Nine of ten pairs in the same order, one in the opposite one.
    assert stats.kendall_tau(sizes, times) == pytest.approx(8 / 10)
    assert stats.kendall_tau(sizes, sizes[::-1]) == pytest.approx(-1)


@pytest.mark.parametrize("values", [[3.0, 3.0, 3.0], [3.0], [], [1.0, math.nan, 2.0]])
def test_there_is_no_rank_correlation_without_an_order(values: list[float]) -> None:
    with pytest.raises(ValueError, match="not all equal"):
        stats.rank_correlation(values)
    for columns in ((values, [1.0, 2.0, 3.0]), ([1.0, 2.0, 3.0], values)):
        with pytest.raises(ValueError, match="not all equal"):
            stats.kendall_tau(*columns)
