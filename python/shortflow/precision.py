"""Adds seeds until an interval is narrow enough, and estimates the number of seeds needed.

The rule is sequential: after every five seeds, the command stops if the interval is narrow enough. Stopping at a narrow
interval lowers its coverage slightly below 95 %. The checks come after fixed numbers of seeds, in order, so `--jobs`
does not change the result.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from shortflow.errors import ConfigError
from shortflow.judge.estimates import Estimate, student
from shortflow.metrics.catalogue import MEAN_FCT, TASK_TIME
from shortflow.results import Results
from shortflow.runs import check_metric
from shortflow.scenario import Scenario
from shortflow.terms import Bound

LEAST_SEEDS = 5
"""Number of seeds before the first check, and between checks."""
MAX_SEEDS = 100
"""Default maximum number of seeds."""
_MOST = 2**60
"""Maximum number of seeds to suggest."""
WIDTHS = (0.05, 0.02, 0.01)
"""Relative half-widths for which the number of seeds is suggested."""


@dataclass(frozen=True)
class Precision:
    """Wanted precision: half the width of the interval, divided by the mean."""

    width: float
    metric: str | None = None
    """Metric of the interval (default: mean task time if there are tasks, else mean FCT of each class)."""
    most: int = MAX_SEEDS
    """Maximum number of seeds."""

    @classmethod
    def parse(cls, text: str, most: int = MAX_SEEDS) -> "Precision":
        """Parses `2%`, or `METRIC=2%` for one metric.

        Raises `ConfigError` for another text, or if `most` is too small.
        """
        metric, _, width = (part.strip() for part in text.rpartition("="))
        number, unit = Bound.number(width) or (0.0, "")
        if unit != "share" or not 0 < number < math.inf:
            raise ConfigError(f"--until-ci {text}: expected a width such as 2%, or METRIC=2%, such as p99_short_s=5%")
        if most < LEAST_SEEDS:
            raise ConfigError(f"--max-seeds {most}: expected at least {LEAST_SEEDS}, the first step of --until-ci")
        return cls(number, metric or None, most)

    def check(self, scenario: Scenario) -> None:
        """Raises `ConfigError` if no run of the scenario has the metric."""
        if self.metric is not None:
            check_metric(self.metric, scenario)

    def require(self, comparisons: Sequence[Results]) -> None:
        """Raises `ConfigError` if no finished run has the metric."""
        done = [each for each in comparisons if each.runs]
        if self.metric and done and not any(self.metric in each.metrics for each in done):
            done[0].require(self.metric)

    def is_met(self, comparison: Results) -> bool:
        """True if the intervals of all schemes are narrow enough."""
        found = widths(comparison, [self.metric] if self.metric else ())
        complete = {each.scheme for each in found} == set(comparison.schemes)
        return complete and all(each.share <= self.width for each in found)

    @property
    def text(self) -> str:
        """The wanted precision in words."""
        of = f" of {self.metric}" if self.metric else " of the mean times"
        return f"{plus_minus(self.width)}{of}"


@dataclass(frozen=True)
class Width:
    """Interval of a scheme's metric."""

    scheme: str
    metric: str
    estimate: Estimate

    @property
    def share(self) -> float:
        """Half the width of the interval, divided by the mean.

        Infinite for a single seed, for a lower bound, or if the mean is 0 but the values differ.
        """
        half = self.estimate.half_width
        if half is None or self.estimate.lower_bound:
            return math.inf
        if not half:
            return 0.0
        return half / abs(self.estimate.value) if self.estimate.value else math.inf

    def more_seeds(self, width: float) -> int:
        """Estimated number of further seeds until the share, which must be finite, is at most `width`."""
        if self.share <= width:
            return 0
        seeds = range(self.estimate.n, _MOST)
        return bisect_left(seeds, True, key=lambda number: self._after(number) <= width)

    def _after(self, seeds: int) -> float:
        """Estimated share after this many seeds: the random part falls as 1/√n, the allowance for events as 1/n."""
        n, allowance = self.estimate.n, self.estimate.allowance / abs(self.estimate.value)
        chance = math.sqrt(max(self.share**2 - allowance**2, 0.0))
        return math.hypot(chance * student(seeds) / student(n) * math.sqrt(n / seeds), allowance * n / seeds)


def widths(comparison: Results, metrics: Sequence[str] = ()) -> list[Width]:
    """Intervals of each scheme's metrics, widest first (default: mean times of tasks, or else of flows)."""
    of_tasks = [name for name, each in comparison.metrics.items() if each.statistic is TASK_TIME]
    of_flows = [name for name, each in comparison.metrics.items() if each.statistic is MEAN_FCT]
    names = metrics or of_tasks or of_flows
    found = [
        Width(scheme, name, estimate)
        for scheme in comparison.schemes
        for name in names
        if (estimate := comparison.mean(scheme, name))
    ]
    return sorted(found, key=lambda each: -each.share)


def more_seeds(found: Sequence[Width], width: float) -> int:
    """Estimated number of further seeds until all intervals are narrow enough."""
    return max(each.more_seeds(width) for each in found)


def plus_minus(share: float) -> str:
    """Half a width as text."""
    return f"±{100 * share:,.0f} %" if share >= 1 else f"±{100 * share:.3g} %"
