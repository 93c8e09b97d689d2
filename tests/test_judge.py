"""The judge, compared with numbers worked out by hand: estimates, verdicts by bands, comparisons with the best."""

import math
from collections.abc import Callable, Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from made import sure
from shortflow.errors import TooLittle
from shortflow.judge import estimates
from shortflow.judge.best import Best, Order, beside, confirmed
from shortflow.judge.estimates import Estimate, Support
from shortflow.judge.samples import Sample, are_same, gave_one_run
from shortflow.judge.verdicts import (
    Possible,
    Verdict,
    joint,
    possible_verdicts,
    spanning,
    true_interval,
    verdict_of,
)

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
    tenth = estimates.estimate([0.1, 0.3], estimates.Support.POSITIVE)
    assert tenth.ci95 == pytest.approx((0.2 / 574.27, 0.2 * 574.27), rel=1e-4)


def test_values_far_from_zero_lose_no_scatter() -> None:
    # The mean has no exact float. The deviation 0.1528 gives the half-width 4.302653 * 0.1528 / sqrt(3) = 0.3795.
    near, far = (estimates.estimate([base, base + 0.1, base + 0.3]).half_width for base in (0.0, 1e8))
    assert near == pytest.approx(0.3795, rel=1e-3)
    assert far == pytest.approx(near, rel=1e-6)


def test_an_interval_is_cut_where_values_end() -> None:
    # Student's intervals are 2 ± 12.7 and 0.6 ± 3.8.
    assert estimates.estimate([1.0, 3.0], estimates.Support.NONNEGATIVE).ci95 == pytest.approx(
        (0.0, 2 + 12.7062), rel=1e-5
    )
    assert estimates.estimate([0.3, 0.9], estimates.Support.SHARE).ci95 == (0.0, 1.0)
    assert estimates.estimate([0.0, 0.0], estimates.Support.POSITIVE).ci95 == (0.0, 0.0)
    assert estimates.estimate([-1.0, -3.0]).ci95 == pytest.approx((-2 - 12.7062, -2 + 12.7062), rel=1e-5)


def test_an_allowance_adds_in_squares_to_chance() -> None:
    # The half-width of Student's interval is 12.7062. Three events of 4 in two seeds add 6 to the mean.
    found = estimates.estimate([1.0, 3.0], estimates.Support.REAL, 4.0)
    half = math.hypot(12.7062047, 6.0)
    assert found.ci95 == pytest.approx((2 - half, 2 + half))
    assert (found.n, found.allowance) == (2, 6.0)
    found = estimates.estimate([1.0, 3.0], estimates.Support.POSITIVE, 4.0)
    assert (found.n, found.allowance) == (2, 6.0)


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
    # The mean of 1.2 and 2.8 is 2. The half-width of Student's interval is 12.7 * 0.8, which is larger than the mean.
    low, high = sure(estimates.estimate([1.2, 2.8], estimates.Support.SLOWDOWN).ci95)
    wide_low, wide_high = sure(estimates.estimate([1.2, 2.8], estimates.Support.POSITIVE).ci95)
    assert (low, high) == (1.0, wide_high)
    assert wide_low < 0.1
    # The interval includes the mean even below 1: measured flows may be faster than the scenario's empty network.
    assert sure(estimates.estimate([0.9, 0.9], estimates.Support.SLOWDOWN).ci95) == pytest.approx((0.9, 0.9))


def test_pairing_beats_the_spread_between_seeds() -> None:
    baseline = [1.0, 10.0, 100.0]
    found = sure(estimates.paired_difference([0.9, 9.0, 90.0], baseline))
    assert found.value == pytest.approx(-0.1)
    assert found.half_width == pytest.approx(0.0, abs=1e-12)


def test_nothing_is_more_than_all_of_it_less() -> None:
    # The ratio is a tenth, and the interval of the residuals alone, ± 1.27, would reach below -100 %. One of two seeds
    # has an event of 0.2. Three such events in two seeds would add 0.3 to the mean.
    found = sure(estimates.paired_difference([0.0, 0.2], [1.0, 1.0]))
    assert found.value == pytest.approx(-0.9)
    factor = math.exp(math.hypot(12.7062 * 0.1, 0.3) / 0.1)
    assert found.ci95 == pytest.approx((0.1 / factor - 1, 0.1 * factor - 1), rel=1e-4)
    assert sure(estimates.paired_difference([1.0, 3.0], [2.0, 2.0], among=1000)).ci95 == (-1.0, math.inf)


def test_none_of_something_rare_is_not_less_for_sure() -> None:
    # The baseline's mean and standard error are 1/3: the next three seeds may have no drop. Three drops in three seeds
    # would add 1 to the mean, which is 3 times the mean.
    found = sure(estimates.paired_difference([0.0, 0.0, 0.0], [1.0, 0.0, 0.0]))
    assert found.ci95 == pytest.approx((-1.0, math.hypot(4.3026527, 3.0) - 1), rel=1e-6)
    few = sure(found.few_events)
    assert few.move == pytest.approx(1.0)
    assert few.share == pytest.approx(1 - 0.05 ** (1 / 3))
    # A stake of 0.5 is 1.5 times the mean. Three such events in three seeds would add 1.5. Of two differences, each
    # has Student's quantile 6.205347.
    both = sure(estimates.paired_difference([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], stakes=(0.5, 0.0), among=2))
    assert both.ci95 == pytest.approx((-1.0, math.hypot(6.205347, 3.0, 1.5) - 1), rel=1e-6)
    assert estimates.paired_difference([0.0, 0.0], [2.0, 2.0]) == estimates.Estimate(-1.0, (-1.0, -1.0), 2)


def test_an_interval_allows_for_three_events_by_hand() -> None:
    # The means are 8 and 10, and the deviation of the residuals is 0.4, as above. One event adds 2 to a value. Three
    # events in three seeds add 2 to the mean, which is 0.2 of the baseline and 1/4 of the ratio 0.8.
    found = sure(estimates.paired_difference([6.0, 8.0, 10.0], [8.0, 10.0, 12.0], stakes=(2.0, 1.0)))
    assert found.allowance == pytest.approx(0.2)
    factor = math.exp(math.hypot(4.3026527 * 0.04 / math.sqrt(3) / 0.8, math.log(1.25)))
    assert found.ci95 == pytest.approx((0.8 / factor - 1, 0.8 * factor - 1), rel=1e-6)
    # One event moves the difference by 0.2 / 3. The allowance is small from m seeds on, at which 3 * 0.2 / m is
    # sqrt(0.44) times 2 * 0.04 / sqrt(m): m = 127.8.
    few = sure(found.few_events)
    assert few.move == pytest.approx(0.2 / 3)
    assert few.seeds == 128 - 3
    # The same for the mean of the baseline, 10, with a deviation of 2.
    alone = estimates.estimate([8.0, 10.0, 12.0], estimates.Support.POSITIVE, 1.0)
    factor = math.exp(math.hypot(4.3026527 * 2 / math.sqrt(3) / 10, math.log(1.1)))
    assert alone.ci95 == pytest.approx((10 / factor, 10 * factor), rel=1e-6)


def test_an_allowance_is_reported_if_it_widens_the_interval_and_is_above_a_hundredth_of_the_ratio() -> None:
    # The half-width is 4.302653 * 0.04 / sqrt(3) = 0.0994. The allowance is a tenth of the stake. It widens the
    # interval by a fifth from sqrt(0.44) * 0.0994 = 0.0659 on.
    for stake, is_reported in ((0.65, False), (0.67, True)):
        found = sure(estimates.paired_difference([6.0, 8.0, 10.0], [8.0, 10.0, 12.0], stakes=(stake, 0.0)))
        assert (found.few_events is not None) is is_reported
    # The half-width is 0.0014, which both allowances widen. A hundredth of the ratio is 0.0080.
    for stake, is_reported in ((0.079, False), (0.081, True)):
        found = sure(estimates.paired_difference([8.0, 8.0, 8.01], [10.0] * 3, stakes=(stake, 0.0)))
        assert (found.few_events is not None) is is_reported


def test_the_number_of_further_seeds_is_at_least_one_and_open_above_ten_thousand() -> None:
    # As above. An event of 2 baselines gives (3 * 2 / (2 * 0.04))^2 / 0.44 = 12,784, and one of 1.7599 gives 9,898.9.
    for stake, seeds in ((17.599, 9_899 - 3), (20.0, None)):
        found = sure(estimates.paired_difference([6.0, 8.0, 10.0], [8.0, 10.0, 12.0], stakes=(stake, 1.0)))
        assert sure(found.few_events).seeds == seeds
    # Two of ten pairs are equal, and eight residuals are 0.1. Their deviation is 0.094, so 6 seeds would be enough.
    found = sure(estimates.paired_difference([10.0, 10.0, *[11.0, 9.0] * 4], [10.0] * 10))
    assert sure(found.few_events).seeds == 1


def test_few_pairs_that_differ_are_told() -> None:
    # One of four pairs differs, with a residual of 0.3. One more such pair in four moves the difference by 0.075.
    found = sure(estimates.paired_difference([10.0, 10.0, 10.0, 14.0], [10.0] * 4))
    assert sure(found.few_events).move == pytest.approx(0.3 / 4)
    assert estimates.paired_difference([3.0, 4.0], [3.0, 4.0]) == estimates.Estimate(0.0, (0.0, 0.0), 2)
    assert sure(estimates.paired_difference([10.0, 10.1, 9.9, 10.2, 9.8, 10.1], [10.0] * 6)).few_events is None


@given(VALUES, st.data())
def test_an_allowance_never_narrows_and_knows_no_side(values: list[float], data: st.DataObject) -> None:
    baseline = data.draw(st.lists(st.floats(0.1, 10.0), min_size=len(values), max_size=len(values)))
    stake = st.floats(0, 10, allow_subnormal=False)  # half of the smallest subnormal number would be zero
    stakes = data.draw(st.tuples(stake, stake))
    plain = sure(estimates.paired_difference(values, baseline))
    found = sure(estimates.paired_difference(values, baseline, stakes=stakes))
    back = sure(estimates.paired_difference(baseline, values, stakes=(stakes[1], stakes[0])))
    (low, high), (_, most) = sure(found.ci95), sure(back.ci95)
    if not plain.few_events:
        least, largest = sure(plain.ci95)
        assert low <= least + 1e-9
        assert high >= largest - 1e-9 * (1 + abs(largest))
    event = max(stakes[0] / sum(values), stakes[1] / sum(baseline))  # relative change of the ratio by one more event
    assert high + 1 >= (1 + found.value) * (1 + 3 * event) * (1 - 1e-9)
    lost = 1e-15 * (1 + most)  # rounding error of 1 + low, if low is near -1
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
        ((0.0, 0.3), 0.1, True, False, False),  # the true value may be 0
        ((-0.3, 0.0), -0.1, False, True, False),
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
    assert estimates.paired_difference([3.0], [4.0]) == estimates.Estimate(-0.25, None, 1)


@pytest.mark.parametrize(("values", "baseline"), [([], []), ([1.0], [1.0, 2.0])])
def test_pairs_need_both_sides(values: list[float], baseline: list[float]) -> None:
    with pytest.raises(ValueError, match=r"^a paired difference needs the same seeds, at least one, on both sides$"):
        estimates.paired_difference(values, baseline)


def test_an_estimate_needs_a_value() -> None:
    with pytest.raises(TooLittle, match=r"^an estimate needs at least one value$"):
        estimates.estimate([])


def test_extremes_stand_for_an_interval_where_a_seed_is_infinite() -> None:
    assert estimates.over_seeds([1.0, 2.0, 3.0]) == estimates.estimate([1.0, 2.0, 3.0])
    assert estimates.over_seeds([math.inf, 1.0, 3.0, 2.0]) == Estimate(2.0, (1.0, math.inf), 4)
    assert estimates.over_seeds([math.inf, 1.0, 3.0, 2.0, 5.0]) == Estimate(3.0, (1.0, math.inf), 5)
    assert estimates.over_seeds([math.inf, math.inf]) == Estimate(math.inf, None, 2)
    assert math.isnan(estimates.over_seeds([math.nan, math.inf]).value)


def test_an_estimate_as_plain_data() -> None:
    exact = Estimate(1.0, (0.5, 2.0), 3)
    assert estimates.mean_table(exact) == {"mean": 1.0, "ci95": [0.5, 2.0], "n": 3}
    assert estimates.mean_table(Estimate(1.0, None, 1, lower_bound=True), "value") == {
        **{"value": 1.0, "ci95": None, "n": 1, "lower_bound": True}
    }
    assert estimates.mean_table(Estimate(1.0, None, 1, upper_bound=True))["upper_bound"] is True
    assert estimates.difference_table(exact) == {"relative": 1.0, "ci95": [0.5, 2.0], "n": 3}
    assert estimates.difference_table(Estimate(-0.1, (-0.2, 0.1), 3, lower_bound=True)) == {
        **{"relative": None, "ci95": None, "n": 3}
    }
    few = Estimate(1.0, None, 1, few_events=estimates.FewEvents(0.1, 0.2, 30))
    assert estimates.difference_table(few)["few_events"] == {"move": 0.1, "share": 0.2, "seeds": 30}
    assert repr(Estimate(1 / 3, (0.25, 2 / 3), 3, upper_bound=True)) == (
        "Estimate(0.333333, ci95=(0.25, 0.666667), n=3, upper_bound=True)"
    )
    assert repr(Estimate(1.0, None, 1)) == "Estimate(1, ci95=None, n=1)"
    both = Estimate(1.0, None, 1, lower_bound=True, upper_bound=True)
    assert repr(both) == "Estimate(1, ci95=None, n=1, lower_bound=True, upper_bound=True)"


def test_signed_values_keep_their_interval() -> None:
    # The ratio is 1, and the residuals are ± 2. With negative values, the interval is Student's, without logarithms.
    found = sure(estimates.paired_difference([-1.0, 3.0], [1.0, 1.0]))
    assert (found.value, found.n) == (0.0, 2)
    assert found.ci95 == pytest.approx((-12.7062 * 2, 12.7062 * 2), rel=1e-5)
    # The means are 3 and 1, so the residuals are 3 + 3 and 3 - 9. Their deviation is 6 sqrt(2), the standard error 6.
    found = sure(estimates.paired_difference([3.0, 3.0], [-1.0, 3.0]))
    assert found.ci95 == pytest.approx((2 - 12.7062 * 6, 2 + 12.7062 * 6), rel=1e-5)


def test_of_several_differences_each_has_a_wider_interval() -> None:
    # With two degrees of freedom, Student's quantile is 4.302653 for 97.5 %, and 6.205347 for 98.75 %.
    assert estimates.student(3) == pytest.approx(4.302653, rel=1e-6)
    assert estimates.student(3, 2) == pytest.approx(6.205347, rel=1e-6)
    one, two = (
        sure(sure(estimates.paired_difference([6.0, 8.0, 10.0], [8.0, 10.0, 12.0], among=among)).ci95)
        for among in (1, 2)
    )
    widths = [math.log((1 + high) / (1 + low)) for low, high in (one, two)]
    assert widths[1] / widths[0] == pytest.approx(6.205347 / 4.302653, rel=1e-6)


@pytest.mark.parametrize(
    ("estimate", "decides", "interval"),
    [
        (None, True, (-math.inf, math.inf)),
        (Estimate(2.0, None, 1), False, (-math.inf, math.inf)),
        (Estimate(2.0, None, 1), True, (2.0, 2.0)),
        (Estimate(2.0, (1.0, 3.0), 2), False, (1.0, 3.0)),
        (Estimate(2.0, (1.0, 3.0), 2, lower_bound=True), False, (1.0, math.inf)),
        (Estimate(2.0, (1.0, 3.0), 2, upper_bound=True), False, (-math.inf, 3.0)),
        (Estimate(2.0, None, 1, lower_bound=True), True, (2.0, math.inf)),
    ],
)
def test_the_truth_lies_beyond_a_bound(estimate: Estimate | None, decides: bool, interval: tuple[float, float]) -> None:
    assert true_interval(estimate, one_seed_decides=decides) == interval
    assert decides or true_interval(estimate) == interval


AGREES, DIRECTION, DIFFERS, UNDECIDED = Verdict.AGREES, Verdict.DIRECTION, Verdict.DIFFERS, Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("interval", "worst", "best"),
    [
        ((2.0, 3.0), AGREES, AGREES),  # both ends belong to the band
        ((1.9, 3.0), DIRECTION, AGREES),
        ((1.0, 1.5), DIRECTION, DIRECTION),
        ((3.5, 6.0), DIFFERS, DIRECTION),
        ((0.0, 0.9), DIFFERS, DIFFERS),
        ((5.1, 9.0), DIFFERS, DIFFERS),
        ((0.0, 9.0), DIFFERS, AGREES),
        ((0.0, 2.0), DIFFERS, AGREES),
        ((3.0, 9.0), DIFFERS, AGREES),
    ],
)
def test_an_interval_allows_the_verdicts_of_the_bands_it_meets(
    interval: tuple[float, float], worst: Verdict, best: Verdict
) -> None:
    found = possible_verdicts(interval, (2.0, 3.0), (1.0, 5.0))
    assert found == (worst, best)
    assert found.verdict is (worst if worst is best else UNDECIDED)


def test_an_interval_agrees_inside_one_band_and_differs_outside() -> None:
    assert verdict_of((2.0, 3.0), (2.0, 3.0)) is AGREES
    assert verdict_of((1.0, 1.9), (2.0, 3.0)) is DIFFERS
    assert verdict_of((1.0, 2.0), (2.0, 3.0)) is UNDECIDED


def test_several_verdicts_are_as_good_as_the_worst() -> None:
    assert joint([]).verdict is Verdict.UNTESTED
    assert joint([Possible.of(AGREES), Possible.of(AGREES)]).verdict is AGREES
    assert joint([Possible.of(AGREES), Possible.of(DIRECTION)]).verdict is DIRECTION
    assert joint([Possible.of(AGREES), Possible.of(UNDECIDED)]) == (DIFFERS, AGREES)
    assert joint([Possible.of(DIFFERS), Possible.of(UNDECIDED)]).verdict is DIFFERS


def test_one_claim_under_several_assumptions_has_every_verdict_that_one_of_them_allows() -> None:
    assert spanning([]).verdict is Verdict.UNTESTED
    assert spanning([Possible.of(AGREES), Possible.of(AGREES)]).verdict is AGREES
    assert spanning([Possible.of(DIRECTION), Possible.of(AGREES)]) == (DIRECTION, AGREES)
    assert spanning([Possible(DIRECTION, DIRECTION), Possible(DIFFERS, DIRECTION)]) == (DIFFERS, DIRECTION)


@pytest.mark.parametrize(
    ("verdicts", "leaders", "order"),
    [
        ([AGREES], ["a"], Order.ALONE),
        ([AGREES, DIFFERS], ["a"], Order.WINNER),
        ([AGREES, AGREES, DIFFERS], ["a", "b"], Order.TIE),
        ([AGREES, UNDECIDED], ["a", "b"], Order.OPEN),
    ],
)
def test_verdicts_on_contenders_are_an_order(verdicts: Sequence[Verdict], leaders: list[str], order: Order) -> None:
    found = Best(dict(zip("abc", verdicts, strict=False)))
    assert (found.leaders, found.order) == (leaders, order)


@pytest.mark.parametrize(
    ("value", "ci95", "more", "verdict"),
    [
        (-0.01, (-0.04, 0.04), False, AGREES),  # the factor is within 2 % of 1, and its interval within 5 %
        (0.02, (-0.04, 0.05), False, AGREES),
        (-0.03, (-0.04, 0.04), False, UNDECIDED),
        (-0.01, (-0.06, 0.04), False, UNDECIDED),
        (-0.3, (-0.4, -0.2), False, DIFFERS),
        (-0.3, (-0.4, 0.0), False, UNDECIDED),
        (-0.03, (-0.04, -0.025), False, DIFFERS),
        (-0.01, (-0.04, -0.005), False, AGREES),  # a tie, although the interval has one sign
        (0.3, (0.2, 0.4), True, DIFFERS),
        (0.3, (0.2, 0.4), False, UNDECIDED),
        (-0.3, (-0.4, -0.2), True, UNDECIDED),
        (-0.9, (-1.0, -0.5), False, DIFFERS),
        (-1.0, (-1.0, -1.0), False, DIFFERS),
        (0.01, (0.0, math.inf), True, UNDECIDED),
    ],
)
def test_the_best_beside_another(value: float, ci95: tuple[float, float], more: bool, verdict: Verdict) -> None:
    """The difference is the best's from the other. Unless more is better, a negative difference is an advantage."""
    assert beside(Estimate(value, ci95, 5), more, (0.02, 0.05)) is verdict


def sample(*values: float | None, runs: str = "run", stake: float = 0.0, is_bound: bool = False) -> Sample:
    """Values of seeds 1, 2 and so on, of which some lack the metric."""
    known = {seed: value for seed, value in enumerate(values, 1) if value is not None}
    digests = {seed: f"{runs} {seed}" for seed in range(1, len(values) + 1)}
    return Sample(known, digests, Support.NONNEGATIVE, stake, is_bound)


def test_the_mean_of_a_sample_is_the_estimate_of_its_values() -> None:
    assert sample().mean is None
    assert sample(None, None).mean is None
    values = [2.0, 3.0, 4.0]
    assert sample(*values, stake=0.5).mean == estimates.estimate(values, Support.NONNEGATIVE, 0.5)
    found = sure(sample(2.0, None, 4.0, is_bound=True).mean)
    assert (found.value, found.n, found.lacking, found.lower_bound) == (3.0, 2, 1, True)
    assert sure(sample(*values).mean).lower_bound is False
    # Student's interval is 0.6 ± 3.8, and a share ends at 1.
    assert sure(Sample({1: 0.3, 2: 0.9}, {1: "run 1", 2: "run 2"}, Support.SHARE).mean).ci95 == (0.0, 1.0)


def test_where_every_seed_gives_one_run_no_event_was_missed() -> None:
    digests = {1: "same", 2: "same"}
    exact, other = Sample({1: 2.0, 2: 2.0}, digests, stake=1.0), sample(3.0, 3.0)
    assert sure(exact.mean).ci95 == (2.0, 2.0)
    assert sure(exact.relation(other)).allowance == 0.0
    assert sure(other.relation(exact)).allowance == 0.0
    assert sure(exact.difference(other)).allowance == 0.0


def test_a_relation_pairs_the_common_seeds() -> None:
    ours, theirs = sample(1.0, 2.0, None, 4.0, stake=0.5), sample(2.0, 3.0, 9.0, None, runs="other", stake=0.25)
    paired = sure(estimates.paired_difference([1.0, 2.0], [2.0, 3.0], stakes=(0.5, 0.25), among=3))
    found = sure(ours.relation(theirs, 3))
    assert (found.value, found.ci95, found.n, found.lacking) == (paired.value, paired.ci95, 2, 2)
    assert (found.lower_bound, found.upper_bound) == (False, False)
    alone = sure(estimates.paired_difference([1.0, 2.0], [2.0, 3.0], stakes=(0.5, 0.25)))
    assert sure(ours.relation(theirs)).ci95 == alone.ci95
    late = sample(1.0, 2.0, is_bound=True)
    assert sure(late.relation(theirs)).lower_bound
    assert sure(theirs.relation(late)).upper_bound
    assert sample(1.0).relation(sample(None, 2.0, runs="other")) is None
    assert ours.relation(sample(0.0, 0.0, runs="other")) is None


def test_equal_runs_have_no_difference_whatever_an_event_would_change() -> None:
    found = sure(sample(1.0, 2.0, stake=1.0).relation(sample(1.0, 2.0, stake=1.0)))
    assert (found.value, found.ci95, found.n) == (0.0, (0.0, 0.0), 2)
    assert sure(sample(1.0).relation(sample(1.0))).ci95 is None


def test_a_difference_is_in_the_unit_of_the_metric() -> None:
    ours, theirs = sample(1.0, 3.0, 2.0, stake=0.5), sample(0.0, 0.0, None, runs="other", stake=0.25, is_bound=True)
    found = sure(ours.difference(theirs))
    alike = estimates.estimate([1.0, 3.0], stake=0.5)
    assert (found.value, found.ci95, found.n, found.allowance) == (2.0, alike.ci95, 2, 0.75)
    assert (found.lower_bound, found.upper_bound) == (False, True)
    assert sure(theirs.difference(ours)).ci95 == (-sure(alike.ci95)[1], -sure(alike.ci95)[0])
    assert sure(theirs.difference(ours)).lower_bound
    assert sample(None, 1.0).difference(sample(1.0, None)) is None


def test_a_sample_is_complete_if_every_run_has_the_metric() -> None:
    assert sample(1.0).is_complete
    assert sample(1.0, 2.0).is_complete
    assert not sample(1.0, None).is_complete
    assert not sample().is_complete


def test_runs_are_the_same_and_exact_by_their_digests() -> None:
    assert are_same({1: "a", 2: "b"}, {2: "b", 1: "a"})
    assert not are_same({1: "a", 2: "b"}, {1: "a"})
    assert not are_same({1: "a", 2: ""}, {1: "a", 2: ""}), "failed runs have no digest"
    assert gave_one_run(["a", "a"])
    assert not gave_one_run(["a"])
    assert not gave_one_run(["a", "b"])
    assert not gave_one_run(["", ""])


def until(most: float) -> Callable[[float], Order]:
    """A comparison whose winner holds up to a number of comparisons."""
    return lambda among: Order.WINNER if among <= most else Order.OPEN


def test_winners_are_confirmed_over_all_comparisons_by_hand() -> None:
    assert confirmed({}) == []
    assert confirmed({"a": until(1)}) == ["a"]
    assert confirmed({"a": until(0.9)}) == []
    assert confirmed({"a": lambda _: Order.TIE}) == []
    # One winner of two comparisons must hold among two, two winners among one each.
    assert confirmed({"a": until(1.9), "b": until(0)}) == []
    assert confirmed({"a": until(2), "b": until(0)}) == ["a"]
    assert confirmed({"a": until(1), "b": until(1)}) == ["a", "b"]
    # Three of four must hold among 4 / 3; the one that does not leaves two, which must hold among two.
    assert confirmed({"a": until(2), "b": until(2), "c": until(1.3), "d": until(0)}) == ["a", "b"]
    assert confirmed({"a": until(2), "b": until(1.9), "c": until(1.3), "d": until(0)}) == []


@given(st.lists(st.floats(1e-6, 1.0), max_size=30))
def test_confirmation_is_the_procedure_of_benjamini_and_hochberg(chances: list[float]) -> None:
    """A winner with the p-value p holds among 0.05 / p comparisons. SciPy has the adjusted p-values."""
    rates = stats.false_discovery_control(chances) if chances else []
    assume(all(abs(rate - 0.05) > 1e-9 for rate in rates))
    found = confirmed({number: until(0.05 / chance) for number, chance in enumerate(chances)})
    assert found == [number for number, rate in enumerate(rates) if rate < 0.05]
