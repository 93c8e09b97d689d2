"""What all plots share: axes, error bars, and settings as numbers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortflow.quantities import common_axis, in_unit_of_first
from shortflow.report.plotting import error_bars, log_axis, percentage, plain, ticks

POSITIVE = st.floats(1e-12, 1e15)


@given(low=POSITIVE, ratio=st.floats(1.09, 1e12))
def test_any_logarithmic_axis_has_ticks_at_round_numbers(low: float, ratio: float) -> None:
    found = ticks(low, low * ratio)
    assert 2 <= len(found) <= 11
    assert found == sorted(set(found))
    assert all(low * (1 - 1e-9) <= mark <= low * ratio * (1 + 1e-9) for mark in found)
    assert all(len(f"{mark / 10 ** math.floor(math.log10(mark)):.6g}") <= 5 for mark in found)


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (1.1, 1.9, [1.2, 1.4, 1.6, 1.8]),
        (8, 55, [10, 20, 50]),
        (3, 4000, [10, 100, 1000]),
        (30, 60, [30, 35, 40, 45, 50, 55, 60]),
    ],
)
def test_ticks(low: float, high: float, wanted: list[float]) -> None:
    assert ticks(low, high) == wanted


def test_a_logarithmic_axis_holds_its_values_and_writes_plain_numbers() -> None:
    axis = log_axis([0.5, 20_000])
    low, high = axis["range"]
    assert low < math.log10(0.5) < math.log10(20_000) < high
    assert axis["ticktext"] == ["1", "10", "100", "1,000", "10,000"]
    assert log_axis([0.0]) == log_axis([]) == {"type": "linear"}
    assert len(log_axis([7.0])["tickvals"]) >= 2


def test_error_bars_follow_the_intervals() -> None:
    assert error_bars([1.0, 2.0], [None, None]) is None
    bars = error_bars([1.0, 2.0], [(0.5, 3.0), None])
    assert bars is not None
    assert (bars["array"], bars["arrayminus"]) == ([2.0, "none"], [0.5, "none"])


def test_text_and_shares() -> None:
    assert plain("<b>R&D</b>") == "&lt;b&gt;R&amp;D&lt;/b&gt;"
    found = [percentage(share) for share in (0.0, 1e-6, 0.123, 0.99999, 1.0)]
    assert found == ["0 %", "< 0.1 %", "12.3 %", "> 99.9 %", "100 %"]


def test_settings_become_numbers_of_one_unit() -> None:
    assert common_axis(["900us", "1ms"]) == ([0.9, 1.0], "ms")
    assert common_axis(["1KiB", "1MiB"]) == ([1.024, 1048.576], "KB")
    assert common_axis(["0s", "10ms"]) == ([0.0, 10.0], "ms")
    assert common_axis(["unlimited", "10ms"]) is None
    assert common_axis(["10ms", "10KB"]) is None
    assert in_unit_of_first(["900us", "1ms"]) == [900.0, 1000.0]
    assert in_unit_of_first(["0.5", "8"]) == [0.5, 8.0]
    with pytest.raises(ValueError, match="not numbers of one kind"):
        in_unit_of_first(["1ms", "1KB"])
