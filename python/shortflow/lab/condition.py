"""Conditions of claims: comparisons of quantities, and checks by functions."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shortflow.lab.data import Data
from shortflow.lab.finding import Finding, fact, not_tested
from shortflow.lab.study import Value
from shortflow.metrics.stats import Estimate
from shortflow.quantities import RELATIVE, DisplayUnit, scale_for

EXACT = 1e-9
"""Relative error of numbers that are equal except for rounding."""
NEVER = "never"
"""Text for ∞: the measured event did not happen."""
_ALL_OF_IT = -1.0
"""Largest possible decrease."""
HALVED = -0.5
"""Changes below this are compared by factor: -95 % is 20 times less, -84 % six times."""


@dataclass(frozen=True)
class Printed:
    """A number or range that a paper prints for a quantity."""

    name: str
    unit: str
    low: float
    high: float
    points: Callable[[Mapping[str, Data]], Mapping[str, Estimate]]
    """Our estimates, at one point or several."""
    metric: str = ""
    """The catalogue's metric, if the quantity is a plain metric of these schemes."""
    schemes: Sequence[str] = ()
    where: Mapping[str, object] = field(default_factory=dict)
    """Selected points of the grid."""
    is_limit: bool = False
    """True if the printed number is a limit."""

    def off(self, value: float) -> float:
        """Relative distance of a number from the printed range; ∞ from a printed zero."""
        if self.unit == RELATIVE and self.high < HALVED:
            return replace(self, unit="", low=1 / (1 + self.low), high=1 / (1 + self.high)).off(1 / (1 + value))
        nearest = min(max(value, self.low), self.high)
        if value == nearest:
            return 0.0
        return abs(value - nearest) / abs(nearest) if nearest else math.inf

    def over(self, key: str, metric: str, fixed: Mapping[str, Value]) -> dict[str, list[tuple[Value, float]]]:
        """Printed points of a metric's curve: (position on the axis, value) by scheme. Empty for another metric."""
        where = dict(self.where)
        at = where.pop(key, ())
        places = at if isinstance(at, tuple) else (at,) if isinstance(at, Value) else ()
        if metric != self.metric or not where.items() <= fixed.items():
            return {}
        points = [(place, value) for place in places for value in sorted({self.low, self.high})]
        return {scheme: points for scheme in self.schemes if points}


@dataclass(frozen=True)
class ClaimCondition:
    """A condition of a claim."""

    text: str
    """The sentence after "agrees if"."""
    findings: Callable[[Mapping[str, Data]], Mapping[str, Finding]]
    """Findings by name: one, or one per point."""
    studies: frozenset[str] = frozenset()
    """Studies it reads; "" is the figure's first."""
    label: str = ""
    """Prefix that separates its findings from those of other conditions at equal points."""
    printed: Printed | None = None
    """The printed number, if there is one."""


def decided(text: str, check: Callable[..., Finding]) -> ClaimCondition:
    """A condition checked by a function. Its parameters are named after the studies it reads."""
    names = tuple(inspect.signature(check).parameters)
    return ClaimCondition(text, lambda data: {"": check(**{name: data[name] for name in names})}, frozenset(names))


def unmeasured(why: str) -> ClaimCondition:
    """A condition that no run here can decide."""
    return ClaimCondition("shown by other means than runs here", lambda _: {"": not_tested(why)})


def same(value: float, expected: float, error: float = EXACT) -> bool:
    """True if two numbers are equal within a relative error."""
    return math.isclose(value, expected, rel_tol=error, abs_tol=error * EXACT)


Pairs = Mapping[str, tuple[float, float]]


def equal(find: Callable[..., Pairs], error: float = EXACT, digits: int | None = None) -> ClaimCondition:
    """Numbers that equal their expected values, within a relative error or to this many decimals."""
    text = f"equal to {digits} decimals" if digits else f"relative error below {error:g}"

    def agrees(ours: float, theirs: float) -> bool:
        return abs(ours - theirs) <= 0.5001 * 10**-digits if digits else same(ours, theirs, error)

    def findings(studies: Mapping[str, Data]) -> dict[str, Finding]:
        found = find(**{name: studies[name] for name in names})
        return {name: fact(agrees(*pair), value=pair[0]) for name, pair in found.items()}

    names = tuple(inspect.signature(find).parameters)
    return ClaimCondition(text, findings, frozenset(names))


def amount(value: float, unit: str, ci95: tuple[float, float] | None = None) -> str:
    """A number with its unit and, in the same unit, its interval."""
    scale = scale_for(unit, [value])
    ends = f" [{', '.join(_digits(end, unit, scale) for end in ci95)}]" if ci95 else ""
    return f"{_digits(value, unit, scale)} {'' if math.isinf(value) else scale.unit}".rstrip() + ends


def band(low: float, high: float, unit: str) -> str:
    """A range as text. A change is shown as -100 % at least."""
    if unit == RELATIVE:
        low = max(low, _ALL_OF_IT)
    scale = scale_for(unit, [low, high])
    return f"{_digits(low, unit, scale)} to {_digits(high, unit, scale)} {scale.unit}".rstrip()


def _digits(value: float, unit: str, scale: DisplayUnit) -> str:
    if math.isinf(value):
        return NEVER if value > 0 else "-inf"
    return f"{value / scale.divisor:{'+' if unit == RELATIVE else ''}.4g}"
