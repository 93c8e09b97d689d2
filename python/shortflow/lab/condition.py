"""What a claim needs to hold: comparisons of quantities, and what Python decides by itself."""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from shortflow.lab.data import Data
from shortflow.lab.finding import Finding, fact, not_tested

EXACT = 1e-9
"""The relative error within which two numbers are the same but for rounding."""


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
