"""Shared by all plots: escaped text, readable axes, and intervals as error bars."""

import html
import math
from collections.abc import Sequence
from typing import Any

from shortflow.metrics.stats import Interval

_PAD = 0.08
"""Margin at both ends of a logarithmic axis."""
_FINE_DECADES = 4
_MOST_DECADES = 8
_MOST_STEPS = 6
_NO_BAR = "none"
"""Error value without a bar: plotly would draw null as a bar of length zero."""


def plain(text: str) -> str:
    """Text escaped for plotly, which interprets tags, links and entities in names and labels."""
    return html.escape(text, quote=False)


def labelled(label: str, unit: str) -> str:
    """Label of an axis."""
    return plain(f"{label} ({unit})" if unit else label)


def percentage(share: float) -> str:
    """A share as text. Shares other than 0 and 1 never look like 0 or 100 %."""
    percent = 100 * share
    if 0 < percent < 0.1:
        return "< 0.1 %"
    return "> 99.9 %" if 99.9 < percent < 100 else f"{percent:.3g} %"


def log_axis(values: Sequence[float]) -> dict[str, Any]:
    """Logarithmic axis around positive values with plain ticks; linear if there are none."""
    positive = [value for value in values if 0 < value < math.inf]
    if not positive:
        return {"type": "linear"}
    low, high = math.log10(min(positive)), math.log10(max(positive))
    pad = max(_PAD * (high - low), 0.02)
    marks = ticks(10 ** (low - pad), 10 ** (high + pad))
    return {
        "type": "log",
        "range": [low - pad, high + pad],
        "tickvals": marks,
        "ticktext": [f"{mark:,.10g}" for mark in marks],
    }


def ticks(low: float, high: float) -> list[float]:
    """Two or more round numbers between positive ends 9 % or more apart: decades, 1-2-5, or even steps."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    if len(decades) > _FINE_DECADES:
        every = math.ceil(len(decades) / _MOST_DECADES)
        return [float(f"1e{decade}") for decade in decades[::every] if low <= float(f"1e{decade}") <= high]
    fine = [float(f"{digit}e{decade}") for decade in decades for digit in (1, 2, 5)]
    if len(within := [mark for mark in fine if low <= mark <= high]) > 2:
        return within
    steps = [float(f"{digit}e{decade}") for decade in range(decades[0] - 2, decades[-1]) for digit in (1, 2, 5)]
    step = next(each for each in steps if (high - low) / each <= _MOST_STEPS)
    return [float(f"{i * step:.10g}") for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def error_bars(values: Sequence[float], ci95: Sequence[Interval | None]) -> dict[str, object] | None:
    """Intervals as plotly's error bars, none for values without; None if no value has one."""
    if not any(ci95):
        return None
    pairs = list(zip(values, ci95, strict=True))
    return {
        "type": "data",
        "symmetric": False,
        "array": [ends[1] - value if ends else _NO_BAR for value, ends in pairs],
        "arrayminus": [value - ends[0] if ends else _NO_BAR for value, ends in pairs],
        "thickness": 1.5,
        "width": 5,
    }
