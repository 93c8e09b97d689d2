"""Numbers as text, with their unit; changes in per cent."""

import math
from collections.abc import Sequence

from shortflow.quantities import DisplayUnit, scale_for

RELATIVE = "relative change"
"""Unit of changes, shown in per cent."""
NEVER = "never"
"""Text for ∞: the measured event did not happen."""
_ALL_OF_IT = -1.0
"""Largest possible decrease."""


def amount(value: float, unit: str, ci95: tuple[float, float] | None = None) -> str:
    """A number with its unit and, in the same unit, its interval."""
    scale = _scale(unit, [value])
    ends = f" [{', '.join(_digits(end, unit, scale) for end in ci95)}]" if ci95 else ""
    return f"{_digits(value, unit, scale)} {'' if math.isinf(value) else scale.unit}".rstrip() + ends


def band(low: float, high: float, unit: str) -> str:
    """A range as text. A change is shown as -100 % at least."""
    if unit == RELATIVE:
        low = max(low, _ALL_OF_IT)
    scale = _scale(unit, [low, high])
    return f"{_digits(low, unit, scale)} to {_digits(high, unit, scale)} {scale.unit}".rstrip()


def _scale(unit: str, values: Sequence[float]) -> DisplayUnit:
    return scale_for("share" if unit == RELATIVE else unit, [value for value in values if math.isfinite(value)])


def _digits(value: float, unit: str, scale: DisplayUnit) -> str:
    if math.isinf(value):
        return NEVER if value > 0 else "-inf"
    return f"{value / scale.divisor:{'+' if unit == RELATIVE else ''}.4g}"
