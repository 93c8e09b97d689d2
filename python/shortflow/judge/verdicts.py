"""Verdicts: positions of an estimate's interval relative to bands. Callers have their own words for verdicts."""

import math
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from shortflow.judge.estimates import Estimate

Band = tuple[float, float]
"""Lower and upper end. Both ends belong to the band."""


class Verdict(StrEnum):
    """Verdict on a number or a claim."""

    AGREES = "agrees"
    DIRECTION = "direction"
    """A change has the expected sign but not the expected size, or an order holds at more than half of the points."""
    DIFFERS = "differs"
    UNDECIDED = "undecided"
    """The interval, or the open side of a bound, spans several verdicts. More seeds or longer runs may decide."""
    UNTESTED = "untested"


_RANKED = (Verdict.DIFFERS, Verdict.DIRECTION, Verdict.AGREES)
"""Verdicts of an interval inside one band, worst first."""


class Possible(NamedTuple):
    """Worst and best verdict that an interval allows."""

    worst: Verdict
    best: Verdict

    @classmethod
    def of(cls, verdict: Verdict) -> "Possible":
        """The range of a verdict. An undecided verdict allows any verdict."""
        return cls(Verdict.DIFFERS, Verdict.AGREES) if verdict is Verdict.UNDECIDED else cls(verdict, verdict)

    @property
    def verdict(self) -> Verdict:
        """The verdict; undecided if the worst and the best verdict differ."""
        return self.worst if self.worst is self.best else Verdict.UNDECIDED


def true_interval(estimate: Estimate | None, *, one_seed_decides: bool = False) -> Band:
    """Interval of the true value. The open side of a bound has an infinite end.

    Without an interval, any value is possible. With `one_seed_decides`, it is then the estimated value.
    """
    if estimate is None or (estimate.ci95 is None and not one_seed_decides):
        return -math.inf, math.inf
    low, high = estimate.ci95 or (estimate.value, estimate.value)
    return -math.inf if estimate.upper_bound else low, math.inf if estimate.lower_bound else high


def possible_verdicts(interval: Band, agrees: Band, direction: Band | None = None) -> Possible:
    """Worst and best verdict that an interval allows. `direction` is a wider band around the band `agrees`."""
    bands = {Verdict.AGREES: agrees, Verdict.DIRECTION: direction or agrees}
    low, high = interval
    worst = min((_at(end, bands) for end in interval), key=_RANKED.index)
    met = (verdict for verdict, (least, most) in bands.items() if low <= most and least <= high)
    return Possible(worst, next(met, Verdict.DIFFERS))


def verdict_of(interval: Band, agrees: Band) -> Verdict:
    """Verdict on a band: agrees if the whole interval is within the band, differs if all of it is outside."""
    return possible_verdicts(interval, agrees).verdict


def joint(found: Iterable[Possible]) -> Possible:
    """Range of the joint verdict on conditions that must all agree; untested without conditions."""
    return _ranging(found, min)


def spanning(found: Iterable[Possible]) -> Possible:
    """Range of a claim's verdict under several assumptions, any of which may be true; untested without assumptions."""
    return _ranging(found, max)


def _ranging(found: Iterable[Possible], best: Callable[..., Verdict]) -> Possible:
    """The worst of all worst verdicts, and the verdict that `best` chooses among all best verdicts."""
    every = list(found)
    if not every:
        return Possible.of(Verdict.UNTESTED)
    return Possible(
        min((each.worst for each in every), key=_RANKED.index), best((each.best for each in every), key=_RANKED.index)
    )


def _at(value: float, bands: Mapping[Verdict, Band]) -> Verdict:
    return next((verdict for verdict, (low, high) in bands.items() if low <= value <= high), Verdict.DIFFERS)
