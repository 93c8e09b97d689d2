"""Estimates over seeds: means with confidence intervals, and paired relative differences.

Runs of different seeds are independent. Runs of one seed share arrivals, sizes and destinations across schemes, so
paired differences scatter less than values.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from shortflow.errors import TooLittle
from shortflow.lazy import special

CONFIDENCE = 0.95

DECISIVE = 5
"""Fewest seeds that decide an order by chance.

From 2, 3 and 4 seeds, a worse scheme was named as the winner in up to 8, 7 and 4 % of draws, the worst of 196
populations of real and of heavy-tailed values. From 5 seeds on no population was above 5 %.
"""

ESTIMABLE = 20
"""Fewest seeds that estimate how many further seeds narrow an interval.

From 8, 10, 15 and 20 seeds, the total was off by more than a factor of 3 in up to 32, 24, 13 and 8 % of draws, the
worst of some 20 populations of real and of heavy-tailed values.
"""

_UNSEEN = 3
"""Rule of three: an event unseen in n seeds occurs at most 3 times in n others, with 95 % confidence."""
_WIDER = 1.2
"""Allowances that widen an interval by this factor or more are reported."""
_REPORTED = 0.01
"""Allowances up to this share of the ratio are not reported."""
_TIES = 0.2
"""Share of equal pairs from which few seeds make the difference."""
FAR = 10_000
"""Most further seeds to suggest."""

Interval = tuple[float, float]
"""Lower and upper end."""


class Support(Enum):
    """Possible values of a quantity. Its interval stays within them."""

    REAL = "any number"
    NONNEGATIVE = "zero or more"
    SHARE = "from zero to one"
    POSITIVE = "more than zero"
    SLOWDOWN = "one or more"


@dataclass(frozen=True)
class FewEvents:
    """Details of a difference that rests on few events, such as timeouts, late flows or drops."""

    move: float
    """Change of the difference by one more such event in the seeds."""
    share: float
    """Largest share of seeds with such an event that is compatible with seeing none."""
    seeds: int | None
    """Upper bound of further seeds for a small allowance; None above 10,000 or without scatter."""


@dataclass(frozen=True, repr=False)
class Estimate:
    """A value estimated from `n` seeds and its 95 % confidence interval (None for a single seed).

    For a bound, the interval is that of the bound. A value that is a lower and an upper bound is open.
    """

    value: float
    ci95: Interval | None
    n: int
    lower_bound: bool = False
    """True if the true value is this or more."""
    upper_bound: bool = False
    """True if the true value is this or less."""
    lacking: int = 0
    """Number of further seeds without the value."""
    allowance: float = 0.0
    """Allowance at the interval's ends for events that no seed had, added in squares to chance."""
    few_events: FewEvents | None = None
    """Set for differences with a large allowance."""

    def __repr__(self) -> str:
        """Six digits; `value` has all."""
        ends = f"({self.ci95[0]:.6g}, {self.ci95[1]:.6g})" if self.ci95 else "None"
        bounds = "".join(f", {name}=True" for name in ("lower_bound", "upper_bound") if getattr(self, name))
        return f"Estimate({self.value:.6g}, ci95={ends}, n={self.n}{bounds})"

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval, shown after ±."""
        return None if self.ci95 is None else (self.ci95[1] - self.ci95[0]) / 2

    @property
    def has_sign(self) -> bool:
        """True if the value is exact, or a bound whose whole interval (with one seed, the value) has one sign."""
        low, high = self.ci95 or (self.value, self.value)
        return (not self.lower_bound or low > 0) and (not self.upper_bound or high < 0)


def mean_table(estimate: Estimate, name: str = "mean") -> dict[str, Any]:
    """An estimate as plain data. `ci95` is null for a single seed; for a bound it is the bound's interval."""
    bounds = {each: True for each in ("lower_bound", "upper_bound") if getattr(estimate, each)}
    ci95 = None if estimate.ci95 is None else list(estimate.ci95)
    return {name: estimate.value, "ci95": ci95, "n": estimate.n, **bounds}


def difference_table(difference: Estimate) -> dict[str, Any]:
    """A paired difference as plain data; without a sign it has no value."""
    if not difference.has_sign:
        return {"relative": None, "ci95": None, "n": difference.n}
    few = difference.few_events
    events = {"few_events": {"move": few.move, "share": few.share, "seeds": few.seeds}} if few else {}
    return {**mean_table(difference, "relative"), **events}


def estimate(values: Sequence[float], support: Support = Support.REAL, stake: float = 0.0) -> Estimate:
    """Mean of independent values and its interval, within `support`.

    The interval is Student's t, cut at the ends of the support. For positive values it is mean * exp(± t * se / mean):
    t for the logarithm of the mean (delta method). `stake` is the effect of one event, such as a timeout, on a value.
    The interval allows for three events in as many other seeds.
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
    values: Sequence[float], baseline: Sequence[float], *, stakes: tuple[float, float] = (0.0, 0.0), among: int = 1
) -> Estimate | None:
    """Relative difference of `values` from `baseline`, paired by seed; both are in the order of the seeds.

    The estimate is the ratio of the two means, less one, so it agrees with the displayed means. Its scatter is that of
    the residuals value - ratio * baseline (classical ratio estimator). This keeps the pairing and allows baselines of
    zero in single seeds. For nonnegative values the interval is Student's t on the logarithm of the ratio. It ends
    above -1, and includes zero or not regardless of which side is the baseline. None if the baseline's mean is zero. If
    all values are zero, the interval is that of the baseline's mean.

    If few seeds have a decisive event, such as a timeout, all may have missed one. The interval allows for three such
    events in as many other seeds. `stakes` are the effects of one event on a value of each side
    (`shortflow.metrics.stakes`). If values are zero in some seeds, the largest value is one event. If a fifth of the
    pairs are equal, so is the largest residual. The intervals of `among` differences together have 95 % confidence
    (Bonferroni).
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
    if min(*values, *baseline) < 0:
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
    """Interval on the logarithm of a positive mean; 0 to ∞ if it overflows.

    Events that add an allowance to a mean multiply it by 1 + allowance / mean. Events of a baseline divide by it.
    """
    try:
        factor = math.exp(math.hypot(half / mean, math.log1p(allowance / mean)))
    except OverflowError:
        return 0.0, math.inf
    return mean / factor, mean * factor


def _more_seeds(event: float, half: float, n: int) -> int | None:
    """Number of further seeds until the allowance is negligible; None if too many.

    With m seeds the allowance is 3 * event / m, and half the plain interval 2 * deviation / sqrt(m).
    """
    if half == 0:
        return None
    deviation = half * math.sqrt(n) / student(n)
    wanted = (_UNSEEN * event / (2 * deviation)) ** 2 / (_WIDER**2 - 1)
    return max(math.ceil(wanted) - n, 1) if wanted <= FAR else None


def over_seeds(values: Sequence[float]) -> Estimate:
    """Mean of one number per seed, with interval; the median with the extremes if any is infinite."""
    if all(map(math.isfinite, values)) or any(map(math.isnan, values)):
        return estimate(values)
    ordered = sorted(values)
    ends = (ordered[0], ordered[-1])
    return Estimate(ordered[(len(ordered) - 1) // 2], ends if ends[0] < ends[1] else None, len(ordered))


def student(n: int, among: int = 1) -> float:
    """Student's quantile for the mean of n values, one of `among` means."""
    return float(special.stdtrit(n - 1, 1 - (1 - CONFIDENCE) / 2 / among))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _half_width(scatter: Sequence[float], among: int = 1) -> float | None:
    """Half of Student's t interval for the mean of values with this scatter; None for one value."""
    n = len(scatter)
    if n < 2:
        return None
    middle = _mean(scatter)
    variance = math.fsum((value - middle) * (value - middle) for value in scatter) / (n - 1)
    return student(n, among) * math.sqrt(variance / n)
