"""What a claim needs to hold: comparisons of quantities, and what Python decides by itself."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shortflow.lab.amounts import RELATIVE
from shortflow.lab.data import Data
from shortflow.lab.finding import Finding, fact, not_tested
from shortflow.lab.study import Value
from shortflow.metrics.stats import Estimate

EXACT = 1e-9
"""The relative error within which two numbers are the same but for rounding."""
HALVED = -0.5
"""A change below this is told by its factor: -95 % is twenty times less, and -84 % six times."""


@dataclass(frozen=True)
class Printed:
    """What a paper prints of a quantity: a number, or a range."""

    name: str
    unit: str
    low: float
    high: float
    points: Callable[[Mapping[str, Data]], Mapping[str, Estimate]]
    """Ours, at one place or at several."""
    metric: str = ""
    """The metric of the catalogue that it is for these schemes, if it is nothing more."""
    schemes: Sequence[str] = ()
    where: Mapping[str, object] = field(default_factory=dict)
    """The place on the grid."""
    is_limit: bool = False
    """Whether it is the least or the most that there may be."""

    def off(self, value: float) -> float:
        """How far a number lies from what is printed, relative to that; infinite from a printed zero."""
        if self.unit == RELATIVE and self.high < HALVED:
            return replace(self, unit="", low=1 / (1 + self.low), high=1 / (1 + self.high)).off(1 / (1 + value))
        nearest = min(max(value, self.low), self.high)
        if value == nearest:
            return 0.0
        return abs(value - nearest) / abs(nearest) if nearest else math.inf

    def over(self, key: str, metric: str, fixed: Mapping[str, Value]) -> dict[str, list[tuple[Value, float]]]:
        """The printed points of a curve of each scheme, by their place on the axis; none of another metric."""
        where = dict(self.where)
        at = where.pop(key, ())
        places = at if isinstance(at, tuple) else (at,) if isinstance(at, Value) else ()
        if metric != self.metric or not where.items() <= fixed.items():
            return {}
        points = [(place, value) for place in places for value in sorted({self.low, self.high})]
        return {scheme: points for scheme in self.schemes if points}


@dataclass(frozen=True)
class Condition:
    """Something that a claim needs."""

    text: str
    """The sentence behind "agrees if"."""
    findings: Callable[[Mapping[str, Data]], Mapping[str, Finding]]
    """What runs say of it: a finding, or one at each point, by name."""
    studies: frozenset[str] = frozenset()
    """The studies that it looks at; "" is the figure's first."""
    label: str = ""
    """What tells its findings from those of other conditions at the same points."""
    printed: Printed | None = None
    """What the paper prints, where that is a number."""


def decided(text: str, check: Callable[..., Finding]) -> Condition:
    """Decided by a function, whose parameters are named like the studies that it looks at."""
    names = tuple(inspect.signature(check).parameters)
    return Condition(text, lambda studies: {"": check(**{name: studies[name] for name in names})}, frozenset(names))


def unmeasured(why: str) -> Condition:
    """Nothing that runs here could decide."""
    return Condition("not measured", lambda _: {"": not_tested(why)})


def same(value: float, expected: float, error: float = EXACT) -> bool:
    """Whether two numbers are the same but for a relative error."""
    return math.isclose(value, expected, rel_tol=error, abs_tol=error * EXACT)


Pairs = Mapping[str, tuple[float, float]]


def equal(find: Callable[..., Pairs], error: float = EXACT, digits: int | None = None) -> Condition:
    """Numbers that are equal to what is expected, within a relative error or to so many decimals."""
    text = f"equal to {digits} decimals" if digits else f"relative error below {error:g}"

    def agrees(ours: float, theirs: float) -> bool:
        return abs(ours - theirs) <= 0.5001 * 10**-digits if digits else same(ours, theirs, error)

    def findings(studies: Mapping[str, Data]) -> dict[str, Finding]:
        found = find(**{name: studies[name] for name in names})
        return {name: fact(agrees(*pair), value=pair[0]) for name, pair in found.items()}

    names = tuple(inspect.signature(find).parameters)
    return Condition(text, findings, frozenset(names))
