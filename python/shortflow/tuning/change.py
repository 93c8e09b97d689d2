"""How far a measurement lies from another one with the same seeds: relatively or, beside zero, absolutely."""

import math
from dataclasses import dataclass, replace

from shortflow.metrics.stats import Estimate, Interval, estimate, paired_difference
from shortflow.tuning.goal import Measurement, Objective


@dataclass(frozen=True)
class Change:
    """How far a metric lies above another measurement's, pair by pair."""

    estimate: Estimate
    """A bound where either side is one, and open where both are."""
    relative: bool
    """Whether it is a share of the other's mean; if that is zero, it has the metric's own unit."""

    @property
    def is_open(self) -> bool:
        """Whether the truth may be anything."""
        return self.estimate.lower_bound and self.estimate.upper_bound

    def gains(self, objective: Objective) -> Interval:
        """The interval as it counts for an objective, above 0 for the better; infinite where an end is not known."""
        low, high = self.estimate.ci95 or (-math.inf, math.inf)
        ends = -math.inf if self.estimate.upper_bound else low, math.inf if self.estimate.lower_bound else high
        worst, best = sorted(objective.gain(end) for end in ends)
        return worst, best

    def words(self, unit: str, *, interval: bool = True) -> str:
        """The change as in `3.2 % (95 % interval 1.0 to 5.4 %) lower`; `unit` is the metric's."""
        if self.is_open:
            return "not comparable"
        if not self.estimate.value:
            return "the same"
        sign = 1 if self.estimate.value > 0 else -1
        scale, unit = (100.0, " %") if self.relative else (1.0, f" {unit}" if unit not in ("", "share") else "")
        digits = ".1f" if self.relative else ".4g"
        value, *ends = (scale * sign * each for each in (self.estimate.value, *(self.estimate.ci95 or ())))
        kind = "higher" if sign > 0 else "lower"
        if self.estimate.lower_bound or self.estimate.upper_bound:
            return f"at {'least' if self.estimate.lower_bound == (sign > 0) else 'most'} {value:{digits}}{unit} {kind}"
        within = " to ".join(f"{end:{digits}}" for end in sorted(ends)) + unit
        if ends and min(ends) < 0:
            within += ", so undecided"
        return f"{value:{digits}}{unit} {f'(95 % interval {within}) ' if ends and interval else ''}{kind}"

    def beside(self, unit: str, name: str) -> str:
        """The change in words beside the scheme that it is a change of."""
        joint = "with" if self.is_open else "than with" if self.estimate.value else "as with"
        return f"{self.words(unit)} {joint} {name}{'' if self.relative else ', where it is 0'}"


def change(metric: str, ours: Measurement, theirs: Measurement) -> Change | None:
    """How far a metric lies above another measurement's with the same seeds; none if a run does not have it."""
    pairs = list(zip(ours.values[metric], theirs.values[metric], strict=True))
    known = [(one, other) for one, other in pairs if one is not None and other is not None]
    if not known or len(known) < len(pairs):
        return None
    stakes = ours.stakes.get(metric, 0.0), theirs.stakes.get(metric, 0.0)
    relative = paired_difference([one for one, _ in known], [other for _, other in known], stakes=stakes)
    found = relative or estimate([one - other for one, other in known])
    low, high = metric in ours.lower_bounds, metric in theirs.lower_bounds
    return Change(replace(found, lower_bound=low, upper_bound=high), relative is not None)
