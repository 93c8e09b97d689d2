"""Closed forms of the papers where no claim asks for them: identities, and what a formula is derived from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortflow.papers.theory import LongFlows, nested_times, threshold_bound


@given(st.floats(0.1, 3.0), st.floats(0.05, 1.0))
def test_the_bound_on_k_is_the_minimum_over_the_number_of_flows(weight: float, step: float) -> None:
    threshold = threshold_bound(25.0, weight)
    flows = [LongFlows(25.0, threshold, n / 50, weight, step) for n in range(1, 5_000)]
    least = min(threshold + each.count * step - each.queue_swing_of_large_windows for each in flows)
    assert -1e-9 <= least < 5e-3


@given(st.floats(0.1, 3.0), st.floats(0.05, 1.0), st.floats(1.0, 5.0))
def test_the_root_solves_equation_5(weight: float, step: float, count: float) -> None:
    exact = LongFlows(25.0, 20.0, count, weight, step, exact=True)
    share = exact.alpha * (exact.penalty - exact.penalty**2 / 4)
    assert share == pytest.approx(exact.last_round_share)


def test_without_weight_every_mark_halves() -> None:
    assert LongFlows(25.0, 20.0, weight=1e-12).penalty > 1 - 1e-9


def test_the_large_flow_ends_when_it_did_without_help_for_the_small_one() -> None:
    """100 MB, and from 2 s on 10 MB, at 12.5 MB/s, stretch by stretch."""
    for rate, small in ((12.5 / 2, 1.6), (12.5 * 2 / 3, 1.2)):
        left = 100.0 - 12.5 * 2 - (12.5 - rate) * small
        assert nested_times(12.5, 100.0, 10.0, rate) == pytest.approx((small, 2 + small + left / 12.5))
