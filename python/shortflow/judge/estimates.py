"""Estimates over seeds: means with confidence intervals, and paired relative differences.

Runs with different seeds are independent. Runs with the same seed have the same arrivals, sizes and destinations under
all schemes, so paired differences scatter less than the values themselves.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from shortflow.errors import TooLittle
from shortflow.lazy import special

CONFIDENCE = 0.95
"""Confidence of every interval."""

DECISIVE = 5
"""Minimum number of seeds from which a winner is named.

In 196 populations of real and of heavy-tailed values, a worse scheme was named the winner in up to 8, 7 and 4 % of
draws of 2, 3 and 4 seeds. From 5 seeds on, no population had more than 5 %.
"""

ESTIMABLE = 20
"""Minimum number of seeds from which the number of seeds for a narrower interval is estimated.

In some 20 populations of real and of heavy-tailed values, the estimated number was wrong by more than a factor of 3 in
up to 32, 24, 13 and 8 % of draws of 8, 10, 15 and 20 seeds.
"""

_UNSEEN = 3
"""Rule of three: with 95 % confidence, an event that n seeds did not have has a mean of at most 3 in n other seeds."""
_WIDER = 1.2
"""Factor by which an allowance must widen an interval to be reported."""
_REPORTED = 0.01
"""Share of the ratio that an allowance must exceed to be reported."""
_TIES = 0.2
"""Minimum share of equal pairs at which the few other seeds count as rare events."""
FAR = 10_000
"""Maximum number of further seeds that is suggested."""

Interval = tuple[float, float]
"""Lower and upper end of an interval."""


class Support(Enum):
    """Range of possible values of a quantity. Intervals stay within the range."""

    REAL = "any number"
    NONNEGATIVE = "zero or more"
    SHARE = "from zero to one"
    POSITIVE = "more than zero"
    SLOWDOWN = "one or more"


@dataclass(frozen=True)
class FewEvents:
    """Details of a difference whose interval has a large allowance for rare events, such as timeouts or drops."""

    move: float
    """Change of the relative difference by one more event in all seeds."""
    share: float
    """Largest share of seeds with such an event at which it is still plausible that no seed had one."""
    seeds: int | None
    """Upper bound of the number of further seeds that make the allowance small; None above `FAR` or without scatter."""


@dataclass(frozen=True, repr=False)
class Estimate:
    """A value estimated from `n` seeds, and its 95 % confidence interval (None for a single seed).

    If the value is a bound, the interval is that of the bound. If it is both a lower and an upper bound, the true value
    is open.
    """

    value: float
    ci95: Interval | None
    n: int
    lower_bound: bool = False
    """True if the true value is at least `value`."""
    upper_bound: bool = False
    """True if the true value is at most `value`."""
    lacking: int = 0
    """Number of seeds that do not have the value, in addition to `n`."""
    allowance: float = 0.0
    """Allowance for rare events at both ends of the interval. It is combined with the scatter by root sum square."""
    few_events: FewEvents | None = None
    """Details of a large allowance, for differences; otherwise None."""

    def __repr__(self) -> str:
        """Text with six significant digits. The fields have all digits."""
        ends = f"({self.ci95[0]:.6g}, {self.ci95[1]:.6g})" if self.ci95 else "None"
        bounds = "".join(f", {name}=True" for name in ("lower_bound", "upper_bound") if getattr(self, name))
        return f"Estimate({self.value:.6g}, ci95={ends}, n={self.n}{bounds})"

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval, which is shown after ±; None for a single seed."""
        return None if self.ci95 is None else (self.ci95[1] - self.ci95[0]) / 2

    @property
    def has_sign(self) -> bool:
        """True if the value is exact, or a bound whose whole interval (with one seed, the value) has one sign."""
        low, high = self.ci95 or (self.value, self.value)
        return (not self.lower_bound or low > 0) and (not self.upper_bound or high < 0)


def mean_table(estimate: Estimate, name: str = "mean") -> dict[str, Any]:
    """An estimate as plain data, with the value under `name`. `ci95` is None for a single seed."""
    bounds = {each: True for each in ("lower_bound", "upper_bound") if getattr(estimate, each)}
    ci95 = None if estimate.ci95 is None else list(estimate.ci95)
    return {name: estimate.value, "ci95": ci95, "n": estimate.n, **bounds}


def difference_table(difference: Estimate) -> dict[str, Any]:
    """A paired difference as plain data. If its sign is open, value and interval are None."""
    if not difference.has_sign:
        return {"relative": None, "ci95": None, "n": difference.n}
    few = difference.few_events
    events = {"few_events": {"move": few.move, "share": few.share, "seeds": few.seeds}} if few else {}
    return {**mean_table(difference, "relative"), **events}


def estimate(values: Sequence[float], support: Support = Support.REAL, stake: float = 0.0) -> Estimate:
    """Mean of independent values, and its 95 % interval within `support`. Raises `TooLittle` without values.

    The interval is that of Student's t, cut at the ends of the support. For positive values, it is Student's interval
    for the logarithm of the mean (delta method): mean * exp(± t * se / mean). `stake` is the effect of one rare event,
    such as a timeout, on a value. The interval allows for three such events in the same number of other seeds.
    """
    if not values:
        raise TooLittle("an estimate needs at least one value")
    n, mean = len(values), _mean(values)
    half = _half_width(values)
    if half is None:
        return Estimate(mean, None, n)
    allowance = _UNSEEN * stake / n
    if support in (Support.POSITIVE, Support.SLOWDOWN) and mean > 0:
        low, high = _around(mean, half, allowance)
        low = max(low, min(mean, 1.0)) if support is Support.SLOWDOWN else low
        return Estimate(mean, (low, high), n, allowance=allowance)
    half = math.hypot(half, allowance)
    low = -math.inf if support is Support.REAL else 0.0
    high = 1.0 if support is Support.SHARE else math.inf
    return Estimate(mean, (max(mean - half, low), min(mean + half, high)), n, allowance=allowance)


def paired_difference(
    values: Sequence[float], baseline: Sequence[float], *, stakes: tuple[float, float] = (0.0, 0.0), among: float = 1.0
) -> Estimate | None:
    """Relative difference of `values` from `baseline`, paired by seed. Both are in the order of the seeds.

    The estimate is the ratio of the two means minus one, so it agrees with the displayed means. Its scatter is that of
    the residuals value - ratio * baseline (classical ratio estimator), which uses the pairs and allows a baseline of
    zero in single seeds. For nonnegative values, the interval is Student's for the logarithm of the ratio. Its lower
    end is above -1, and it includes zero or not regardless of which side is the baseline. If all values are zero, the
    interval follows from that of the baseline's mean. None if the baseline's mean is zero.

    A rare event, such as a timeout, may occur in none of a few seeds. The interval therefore allows for three events in
    the same number of other seeds. `stakes` has the effect of one event on a value of each side
    (`shortflow.metrics.stakes`). If values are zero in some seeds, the largest value counts as one event. If at least a
    fifth of the pairs are equal, the largest residual does. If `among` several differences, the interval is wider, so
    that all of them together have 95 % confidence (Bonferroni).
    """
    if not values or len(values) != len(baseline):
        raise ValueError("a paired difference needs the same seeds, at least one, on both sides")
    n, scale = len(values), _mean(baseline)
    if scale == 0.0:
        return None
    ratio = _mean(values) / scale
    residuals = [(ours - ratio * theirs) / abs(scale) for ours, theirs in zip(values, baseline, strict=True)]
    plain = _half_width(residuals, among)
    if plain is None:
        return Estimate(ratio - 1.0, None, n)
    if min(*values, *baseline) < 0:  # ratios of signed values have no logarithm
        return Estimate(ratio - 1.0, (ratio - 1.0 - plain, ratio - 1.0 + plain), n)
    if ratio == 0:
        plain = (_half_width(baseline, among) or 0.0) / scale
    events = [max(side) if 0 in side else 0.0 for side in (values, baseline)]
    late, seed = (max(ours, (ratio or 1.0) * theirs) / scale for ours, theirs in (stakes, events))
    equal = sum(ours == theirs for ours, theirs in zip(values, baseline, strict=True))
    few_pairs = not late and not seed and _TIES * n <= equal < n
    if few_pairs:
        seed = max(map(abs, residuals))
    wide, allowance = math.hypot(plain, _UNSEEN * seed / n), _UNSEEN * late / n
    low, high = _around(ratio, wide, allowance) if ratio else (0.0, math.hypot(wide, allowance))
    few, event = None, max(late, seed)
    if few_pairs or (
        math.hypot(plain, _UNSEEN * event / n) > _WIDER * plain and _UNSEEN * event / n > _REPORTED * ratio
    ):
        few = FewEvents(event / n, 1 - (1 - CONFIDENCE) ** (1 / n), _more_seeds(event, plain, n))
    return Estimate(ratio - 1.0, (low - 1.0, high - 1.0), n, allowance=_UNSEEN * event / n, few_events=few)


def _around(mean: float, half: float, allowance: float) -> Interval:
    """Interval of a positive mean, symmetric on its logarithm; 0 to ∞ if it overflows.

    Events that add the allowance to the mean multiply it by 1 + allowance / mean. Events of the baseline divide the
    ratio by this factor.
    """
    try:
        factor = math.exp(math.hypot(half / mean, math.log1p(allowance / mean)))
    except OverflowError:
        return 0.0, math.inf
    return mean / factor, mean * factor


def _more_seeds(event: float, half: float, n: int) -> int | None:
    """Number of further seeds until the allowance widens the interval by less than `_WIDER`; None above `FAR`.

    With m seeds, the allowance is 3 * event / m, and the half-width without allowance about 2 * deviation / sqrt(m).
    """
    if half == 0:
        return None
    deviation = half * math.sqrt(n) / student(n)
    wanted = (_UNSEEN * event / (2 * deviation)) ** 2 / (_WIDER**2 - 1)
    return max(math.ceil(wanted) - n, 1) if wanted <= FAR else None


def over_seeds(values: Sequence[float]) -> Estimate:
    """Mean of one number per seed, with its interval. If a number is infinite, the median with the extremes."""
    if all(map(math.isfinite, values)) or any(map(math.isnan, values)):
        return estimate(values)
    ordered = sorted(values)
    ends = (ordered[0], ordered[-1])
    return Estimate(ordered[(len(ordered) - 1) // 2], ends if ends[0] < ends[1] else None, len(ordered))


def student(n: int, among: float = 1.0) -> float:
    """Student's quantile for the 95 % interval of the mean of n values. For one of `among` intervals, it is larger."""
    return float(special.stdtrit(n - 1, 1 - (1 - CONFIDENCE) / 2 / among))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _half_width(scatter: Sequence[float], among: float = 1.0) -> float | None:
    """Half-width of Student's interval for the mean of the values; None for a single value."""
    n = len(scatter)
    if n < 2:
        return None
    middle = _mean(scatter)
    variance = math.fsum((value - middle) * (value - middle) for value in scatter) / (n - 1)
    return student(n, among) * math.sqrt(variance / n)
