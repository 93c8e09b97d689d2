"""Worked examples of the papers' closed forms. For one paper: `pytest papers/tests/test_theory.py -k l2dct`."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortflow.metrics.stats import jain_index
from shortflow.scenario import load_scenario
from shortflow.theory import (
    Bottleneck,
    LongFlows,
    Weights,
    gain_bound,
    medium_rate,
    nested_times,
    threshold_bound,
)
from shortflow_papers.papers.pecn.setup import BURST
from shortflow_papers.papers.xdctcp.setup import GAINS, LONG_FACTORS, SHORT_FACTORS

UNIT, HALF, SMALLEST = (LongFlows(25.0, 20.0, 1, weight, step) for weight, step in ((1, 1), (0.5, 0.2), (0.125, 0.05)))
"""One flow of L2DCT with a bandwidth-delay product of 25 packets and K = 20 packets, by weight and step."""


@given(st.floats(0.1, 3.0), st.floats(0.05, 1.0), st.floats(1.0, 5.0))
def test_l2dct_eq_5_is_solved_by_its_root(weight: float, step: float, count: float) -> None:
    exact = LongFlows(25.0, 20.0, count, weight, step, exact=True)
    share = exact.alpha * (exact.penalty - exact.penalty**2 / 4)
    assert share == pytest.approx(exact.last_round_share)


def test_l2dct_eqs_6_and_7_alpha_and_penalty() -> None:
    """W0 = 45, so for w = k = 1 the last round has (2 * 45 + 1) / 46^2 = 0.0430 of a tooth's packets."""
    assert UNIT.last_round_share == pytest.approx(91 / 46**2)
    assert [each.alpha for each in (UNIT, HALF, SMALLEST)] == pytest.approx([0.2074, 0.0427, 0.0044], abs=5e-5)
    assert [each.penalty for each in (UNIT, HALF, SMALLEST)] == pytest.approx([0.2074, 0.2067, 0.5071], abs=5e-5)


def test_l2dct_of_unit_weight_has_dctcps_alpha() -> None:
    assert pytest.approx(math.sqrt(91) / 46) == UNIT.alpha


def test_l2dct_eq_8_window_swing() -> None:
    assert [UNIT.window_swing, SMALLEST.window_swing] == pytest.approx([4.7697, 11.4231], abs=5e-5)


def test_l2dct_eq_9_queue_swing() -> None:
    two = LongFlows(25.0, 20.0, 2)
    found = [UNIT.queue_swing, UNIT.queue_swing_of_large_windows, two.queue_swing]
    assert found == pytest.approx([4.7697, 4.7434, 6.7823], abs=5e-5)


def test_l2dct_eq_10_as_derived_is_the_swing_over_the_step() -> None:
    """The paper prints T_C = D. The derivation gives D/k, which is equal only for k = 1."""
    assert [UNIT.period, SMALLEST.period] == pytest.approx([4.7697, 228.46], abs=5e-3)


def test_l2dct_eqs_11_and_12_longest_and_shortest_queue() -> None:
    two = LongFlows(25.0, 20.0, 2)
    assert [UNIT.queue_max, two.queue_max] == [21.0, 22.0]
    assert [UNIT.queue_min, two.queue_min] == pytest.approx([16.2303, 15.2177], abs=5e-5)


def test_l2dct_eq_13_smallest_threshold() -> None:
    """The smallest threshold is a seventh of the bandwidth-delay product for DCTCP, and half of it for w = 0.125."""
    found = [threshold_bound(1.0, weight) for weight in (0.125, 0.5, 1.0, 2.5)]
    assert found == pytest.approx([0.5099, 0.2383, 1 / 7, 0.0656], abs=5e-5)


@given(st.floats(0.1, 3.0), st.floats(0.05, 1.0))
def test_l2dct_eq_13_is_the_minimum_over_the_number_of_flows(weight: float, step: float) -> None:
    threshold = threshold_bound(25.0, weight)
    flows = [LongFlows(25.0, threshold, n / 50, weight, step) for n in range(1, 5_000)]
    least = min(threshold + each.count * step - each.queue_swing_of_large_windows for each in flows)
    assert -1e-9 <= least < 5e-3


def test_l2dct_swing_grows_as_the_product_to_the_power_of_one_over_w_plus_one() -> None:
    """Sec. II-C: the exponent is 1/2 for DCTCP, and 8/9 for the smallest weight."""
    for weight, exponent in ((1.0, 1 / 2), (0.125, 8 / 9)):
        ten, thousand = (LongFlows(bdp, 0.8 * bdp, 1, weight, weight / 2.5) for bdp in (10.0, 1000.0))
        growth = thousand.queue_swing_of_large_windows / ten.queue_swing_of_large_windows
        assert math.log(growth, 100) == pytest.approx(exponent)


def test_l2dct_without_weight_halves_at_every_mark() -> None:
    assert LongFlows(25.0, 20.0, weight=1e-12).penalty > 1 - 1e-9


def test_xdctcp_eq_5_bound_on_g() -> None:
    """The product of 10 Gbps and 100 us is 125 KB, and K is 65 packets. The paper prints 0.112.

    Eq. 5 without its factor 2 gives 0.113.
    """
    found = [gain_bound(125_000 / packet, 65.0) for packet in (1460, 1500)]
    assert found == pytest.approx([0.0799, 0.0805], abs=5e-5)
    assert found[0] * math.sqrt(2) == pytest.approx(0.113, abs=5e-4)


def test_xdctcp_eqs_6_to_8_grid() -> None:
    """The printed steps give 390 triplets. The authors' scripts also have g = 1/16, which gives the paper's 420."""
    pairs = list(itertools.product(SHORT_FACTORS, LONG_FACTORS))
    assert len(pairs) == 30
    assert len(GAINS) * len(pairs) == 420
    assert len([g for g in GAINS if g != 1 / 16]) * len(pairs) == 390
    assert all(short <= long for short, long in pairs)


def test_pecn_eq_1_smallest_threshold() -> None:
    """The product of 10 Gbps and 200 us is 250 KB."""
    assert threshold_bound(250.0) == pytest.approx(250 / 7)


def test_pecn_racks_are_oversubscribed_twofold() -> None:
    """Sec. 5: 20 hosts at 1 Gbps share an uplink of 10 Gbps."""
    (note,) = (each for each in load_scenario(BURST).traffic_notes() if each.startswith("topology"))
    assert float(note.rpartition(" ")[2]) == 2.0


CAPACITY = 102.0
"""Capacity in segments: a pipe of 2 and a buffer of 100."""


@given(st.floats(0.1, 10.0), st.floats(0.1, 10.0), st.floats(0.0, 1.0))
def test_atcp_theorem_1_shares(a: float, b: float, share: float) -> None:
    """From any start, windows that are halved together converge to the ratio of their steps."""
    first = Weights(a, b).windows(share * CAPACITY, CAPACITY, 60)[-1]
    second = Weights(b, a).windows((1 - share) * CAPACITY, CAPACITY, 60)[-1]
    assert first / second == pytest.approx(a / b)


def test_atcp_theorem_1_recursion() -> None:
    """With steps of 2 and 1, the distance of the first window from 68 halves at each loss."""
    assert Weights(2.0, 1.0).windows(4.0, CAPACITY, 3) == pytest.approx([4.0, 36.0, 52.0, 60.0])


def test_atcp_theorem_2_times() -> None:
    """A flow of 100 MB, joined after 2 s by a flow of 10 MB, at 12.5 MB/s, interval by interval."""
    for rate, small in ((12.5 / 2, 1.6), (12.5 * 2 / 3, 1.2)):
        left = 100.0 - 12.5 * 2 - (12.5 - rate) * small
        assert nested_times(12.5, 100.0, 10.0, rate) == pytest.approx((small, 2 + small + left / 12.5))


def test_atcp_sec_7a_medium_flows() -> None:
    """With a weight of R times the large flow's, a flow of 10 MB at 12.5 MB/s takes 0.8 s times 1 + 1/R."""
    times = [10 / medium_rate(12.5, ratio) for ratio in (1, 2, 4)]
    assert times == pytest.approx([1.6, 1.2, 1.0])
    assert Weights(3.0, 1.0).step == 4.0


BOTTLENECK = Bottleneck(12_500.0, 30_000.0, 100_000.0, 1_500.0)
"""FaST's bottleneck: 1 Gbps and 100 us, with K = 30 KB and a buffer of 100 KB."""


def test_fast_eqs_4_and_5_flows_at_the_minimum() -> None:
    assert BOTTLENECK.critical_window(10.0) == pytest.approx(42.5 / 15)
    assert BOTTLENECK.flows_at_minimum(2.0) == pytest.approx(14.17, abs=5e-3)


def test_fast_eqs_6_and_7_flows_that_fit() -> None:
    assert BOTTLENECK.outstanding() == 75.0
    assert BOTTLENECK.most_flows(2.0) == 37.5


def test_fast_eq_10_jain_index() -> None:
    assert [jain_index(each) for each in ([1.0, 2.0, 3.0], [5.0] * 7, [1.0, 0, 0, 0])] == pytest.approx(
        [36 / 42, 1, 0.25]
    )
