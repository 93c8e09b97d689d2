"""Numbers in words: with their unit, and changes in per cent."""

import math
from collections.abc import Sequence

from shortflow.quantities import Scale, scale_for

RELATIVE = "relative change"
"""The unit of a change, which is shown in per cent."""
NEVER = "never"
"""What an infinite number means: what is measured did not happen."""
_ALL_OF_IT = -1.0
"""Nothing falls by more."""


def amount(value: float, unit: str, ci95: tuple[float, float] | None = None) -> str:
    """A number with its unit and, in the same, the ends of its interval."""
    scale = _scale(unit, [value])
    ends = f" [{', '.join(_digits(end, unit, scale) for end in ci95)}]" if ci95 else ""
    return f"{_digits(value, unit, scale)} {'' if math.isinf(value) else scale.unit}".rstrip() + ends


def band(low: float, high: float, unit: str) -> str:
    """From the one to the other; a change of more than -100 % is none that can be."""
    if unit == RELATIVE:
        low = max(low, _ALL_OF_IT)
    scale = _scale(unit, [low, high])
    return f"{_digits(low, unit, scale)} to {_digits(high, unit, scale)} {scale.unit}".rstrip()


def _scale(unit: str, values: Sequence[float]) -> Scale:
    return scale_for("share" if unit == RELATIVE else unit, [value for value in values if math.isfinite(value)])


def _digits(value: float, unit: str, scale: Scale) -> str:
    if math.isinf(value):
        return NEVER if value > 0 else "-inf"
    return f"{value / scale.divisor:{'+' if unit == RELATIVE else ''}.4g}"
