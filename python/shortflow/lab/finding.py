"""How a measurement decides a claim. Numbers are judged by the claim's band, orderings by paired intervals."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from shortflow.metrics.stats import Estimate

Number = float | str | Sequence[float]
Measured = Mapping[str, Number]


UNDECIDED = "undecided at this scale"
"""Said where an interval crosses the limit that decides."""
BOUND = "flows were left unfinished, so that the value is a bound"
"""Said where the number that decides is one; a claim then agrees only if it does whatever the truth beyond it is."""


class Verdict(StrEnum):
    """What came of a claim."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNTESTED = "untested"


@dataclass(frozen=True)
class Finding:
    """What was measured for a claim, and whether it holds."""

    verdict: Verdict
    measured: Measured = field(default_factory=dict)
    ci95: tuple[float, float] | None = None
    """The 95 % interval of the number that decides, where several seeds were run."""
    note: str = ""
    deciding: str = ""
    """The name of the measured number that decides."""
    undecided: bool = False
    """Whether the interval, or what a bound leaves open, crosses the limit, so that more seeds or longer runs may say
    otherwise."""

    @property
    def holds(self) -> bool:
        """Whether the claim agrees."""
        return self.verdict is Verdict.AGREES

    def document(self) -> Measured:
        """The measured numbers as other programs read them: what is infinite is the text "inf"."""
        return {
            name: str(value) if isinstance(value, float) and math.isinf(value) else value
            for name, value in self.measured.items()
        }


def fact(holds: bool, **measured: Number) -> Finding:
    """A claim that is simply so or not, such as an equation."""
    return Finding(Verdict.AGREES if holds else Verdict.DIFFERS, measured)


def not_tested(why: str) -> Finding:
    """A claim that could not be run here."""
    return Finding(Verdict.UNTESTED, note=why)


def for_information(why: str, value: Estimate | float, **more: Number) -> Finding:
    """What was measured for a claim that cannot be decided here, such as one without a number in the paper."""
    found = value if isinstance(value, Estimate) else Estimate(value, None, 1)
    return Finding(Verdict.UNTESTED, {"value": found.value, **more}, found.ci95, why, "value")


def within(value: Estimate | float, low: float, high: float, **more: Number) -> Finding:
    """A number that has to lie in a band; its mean over the seeds decides."""
    found = value if isinstance(value, Estimate) else Estimate(value, None, 1)
    least, most = ends(replace(found, ci95=None))
    crosses = any(_crosses(found, limit) for limit in (low, high))
    return _decided(low <= least and most <= high, {"value": found.value, **more}, found, "value", crosses)


def at_least(value: Estimate | float, low: float, **more: Number) -> Finding:
    """A number that must not be below `low`."""
    return within(value, low, float("inf"), **more)


def at_most(value: Estimate | float, high: float, **more: Number) -> Finding:
    """A number that must not be above `high`."""
    return within(value, float("-inf"), high, **more)


def close_to(value: Estimate | float, paper: float, relative: float, **more: Number) -> Finding:
    """A number that has to lie within a relative tolerance of the paper's."""
    slack = abs(paper) * relative
    return within(value, paper - slack, paper + slack, **more)


def lower(change: Estimate, by: float = 0.0, **more: Number) -> Finding:
    """An ordering: the paired relative change lies below -by with its whole interval (with one seed, the value)."""
    _, top = ends(change)
    return _decided(top < -by, {"change": change.value, **more}, change, "change", _crosses(change, -by))


def higher(change: Estimate, by: float = 0.0, **more: Number) -> Finding:
    """An ordering: the paired difference lies above `by` with its whole interval (with one seed, the value)."""
    bottom, _ = ends(change)
    return _decided(bottom > by, {"change": change.value, **more}, change, "change", _crosses(change, by))


def all_lower(changes: Sequence[Estimate]) -> Finding:
    """An ordering at several points: the paired relative change whose interval reaches highest decides."""
    return lower(max(changes, key=lambda change: ends(change)[1]))


def no_difference(change: Estimate, margin: float, **more: Number) -> Finding:
    """An equivalence: the paired relative change lies within ±margin with its whole interval."""
    low, high = ends(change)
    holds = -margin <= low and high <= margin
    crosses = any(_crosses(change, limit) for limit in (-margin, margin))
    return _decided(holds, {"change": change.value, **more}, change, "change", crosses)


def all_hold(findings: Mapping[str, Finding]) -> Finding:
    """Several measurements that a claim needs all of; those that fail are named.

    One that fails decides, whatever the others say; else one that is untested leaves the claim untested. One that fails
    for sure decides for sure; a claim that agrees is undecided as long as one of its parts is.
    """
    if not findings:
        return not_tested("nothing was measured")
    names = {verdict: [name for name, each in findings.items() if each.verdict is verdict] for verdict in Verdict}
    verdict = next(each for each in (Verdict.DIFFERS, Verdict.UNTESTED, Verdict.AGREES) if names[each])
    measured = {
        _qualified(name, key): value for name, finding in findings.items() for key, value in finding.measured.items()
    }
    notes = []
    if names[Verdict.DIFFERS]:
        notes.append(f"does not hold for {', '.join(names[Verdict.DIFFERS])}")
    notes += [f"{name} is not tested: {findings[name].note}" for name in names[Verdict.UNTESTED]]
    open_parts = [name for name in names[verdict] if findings[name].undecided]
    undecided = bool(open_parts) and (verdict is not Verdict.DIFFERS or open_parts == names[verdict])
    if undecided:
        notes.append(f"{UNDECIDED}: {', '.join(open_parts)}")
    first = next(name for name in names[verdict] if findings[name].undecided == undecided)
    deciding = _qualified(first, findings[first].deciding)
    return Finding(verdict, measured, findings[first].ci95, "; ".join(notes), deciding, undecided)


def ends(estimate: Estimate) -> tuple[float, float]:
    """The interval (with one seed, the value), without an end on the side where the truth may lie beyond a bound."""
    low, high = estimate.ci95 or (estimate.value, estimate.value)
    return -math.inf if estimate.upper_bound else low, math.inf if estimate.lower_bound else high


def _crosses(estimate: Estimate, limit: float) -> bool:
    low, high = ends(estimate)
    return low < limit < high


def _decided(holds: bool, measured: Measured, by: Estimate, deciding: str, undecided: bool) -> Finding:
    verdict = Verdict.AGREES if holds else Verdict.DIFFERS
    notes = [UNDECIDED] * undecided + [BOUND] * (by.lower_bound or by.upper_bound)
    return Finding(verdict, measured, by.ci95, "; ".join(notes), deciding, undecided)


def _qualified(name: str, key: str) -> str:
    """What a number of one of several findings is called."""
    if not name:
        return key
    return name if key in ("value", "change") else f"{name}: {key}"
