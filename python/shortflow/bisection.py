"""The largest value of a key for which a condition on a metric still holds, such as the most senders without a missed
deadline.

Each seed is searched by bisection, which takes it that the condition holds below some value and fails above.
"""

import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from shortflow.engine import Jobs, Progress, concluding, run_each
from shortflow.errors import ConfigError
from shortflow.grid import Steps, check_apart
from shortflow.lazy import stored
from shortflow.metrics.catalogue import check_name, missing, possible
from shortflow.result import RunSummary
from shortflow.runner import Planner
from shortflow.scenario import Scenario, Settings, as_pairs
from shortflow.terms import Bound

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {  # those of two signs come first
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True)
class Condition(Bound):
    """A metric, a comparison and a number."""

    written: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """Read a condition such as `deadline_miss==0` or `p99_short_s<5ms`."""
        metric, sign, right = cls.split(text, _COMPARISONS) or ("", "", "")
        number = cls.number(right)
        if number is None or not math.isfinite(number[0]):
            raise ConfigError(f"{text}: not a condition, which is METRIC, one of == <= >= < >, and a number")
        return cls(metric, sign, *number, text.strip())

    def check(self, classes: Sequence[str]) -> None:
        """Refuse a metric that no run with these classes of flows can have, and a bound of another unit."""
        check_name(self.metric, classes, "a search runs schemes alone")
        self.check_unit(self.text, possible(classes)[self.metric].unit)

    def holds(self, metrics: Mapping[str, float], lower_bounds: Collection[str] = ()) -> bool:
        """Whether it holds for sure, of metrics among which it is.

        Where the metric is among the `lower_bounds`, its truth may be any larger value, so that only > and >= can hold.
        """
        may_hold = self.metric not in lower_bounds or self.sign in (">", ">=")
        return may_hold and self._is_met(metrics)

    def is_open(self, metrics: Mapping[str, float], lower_bounds: Collection[str]) -> bool:
        """Whether it may hold or not, as the metric is a lower bound."""
        if self.metric not in lower_bounds:
            return False
        if self.sign == "==":
            return metrics[self.metric] <= self.bound
        return self._is_met(metrics) == (self.sign in ("<", "<="))

    def _is_met(self, metrics: Mapping[str, float]) -> bool:
        return _COMPARISONS[self.sign](metrics[self.metric], self.bound)

    @property
    def text(self) -> str:
        """The condition as it was written, or as it is read."""
        return self.written or f"{self.metric}{self.sign}{self.bound:g}"


class SearchRun(TypedDict):
    """One run of a search."""

    value: int | float
    seed: int
    measured: float
    lower_bound: bool
    """Whether the truth may be more than `measured`, because of unfinished flows."""
    holds: bool
    """Whether the condition holds for sure."""
    open: bool
    """Whether it may or may not, since `measured` is a lower bound; it counts as not holding."""
    unfinished: int
    """Flows that were not done at the end of the drain."""


@dataclass
class _Bounds:
    """Positions between which a seed's answer lies: the condition holds at `low` and fails at `high`."""

    low: int
    high: int

    @property
    def middle(self) -> int | None:
        return (self.low + self.high) // 2 if self.high - self.low > 1 else None

    def narrowed(self, *, holds: bool) -> "_Bounds":
        """What is left when the condition holds or fails in the middle."""
        middle = (self.low + self.high) // 2
        return _Bounds(middle, self.high) if holds else _Bounds(self.low, middle)


@dataclass(frozen=True)
class Search:
    """What was found for each seed."""

    scenario: str
    title: str
    scheme: str
    settings: dict[str, str]
    steps: Steps
    condition: Condition
    largest: dict[int, int | float | None]
    """For each seed the largest value at which the condition holds; none if it does not even hold at the first."""
    trials: list[SearchRun] = field(default_factory=list)

    def largest_for(self, share: float) -> int | float | None:
        """The largest value at which the condition holds for at least this share of the seeds."""
        ordered = sorted((value for value in self.largest.values() if value is not None), reverse=True)
        needed = max(1, math.ceil(share * len(self.largest)))
        return ordered[needed - 1] if needed <= len(ordered) else None

    @property
    def fails_at_low(self) -> list[int]:
        """The seeds for which the condition fails at the low end of the range already."""
        return [seed for seed, value in self.largest.items() if value is None]

    @property
    def holds_at_high(self) -> list[int]:
        """The seeds for which the condition still holds at the high end of the range."""
        return [seed for seed, value in self.largest.items() if value == self.steps.values[-1]]

    def document(self) -> dict[str, Any]:
        """The search as plain data; `docs/results.md` describes it."""
        return {
            "scenario": self.scenario,
            "scheme": self.scheme,
            "settings": self.settings,
            "key": self.steps.key,
            "low": self.steps.values[0],
            "high": self.steps.values[-1],
            "unit": self.steps.unit,
            "condition": self.condition.text,
            "seeds": list(self.largest),
            "largest_all": self.largest_for(1.0),
            "largest_half": self.largest_for(0.5),
            "largest": {str(seed): value for seed, value in self.largest.items()},
            "fails_at_low": self.fails_at_low,
            "holds_at_high": self.holds_at_high,
            "trials": self.trials,
        }


def search(
    scenario: Scenario,
    scheme: str,
    steps: Steps,
    condition: Condition,
    seeds: Sequence[int],
    *,
    settings: Settings | None = None,
    jobs: Jobs = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Search:
    """Find for each seed the largest value at which the condition holds; the seeds' runs go side by side.

    With `out`, each finished run is stored there at once, without tables, and one that is there is not run again.
    """
    check_apart([steps.key], settings or {})
    condition.check(scenario.classes)
    store = stored.Store(Path(out)) if out else None
    planner = Planner(scenario, [scheme])
    bounds = {seed: _Bounds(-1, len(steps.values)) for seed in seeds}
    trials: list[SearchRun] = []
    with concluding(store):
        while middles := {seed: found.middle for seed, found in bounds.items() if found.middle is not None}:
            values = {seed: steps.values[middle] for seed, middle in middles.items()}
            runs = [
                run
                for seed, value in values.items()
                for run in planner.runs({**(settings or {}), steps.key: steps.written(value)}, [seed])
            ]
            batch = run_each(runs, jobs=jobs, store=store, tables=False, conclude=False, progress=progress)
            for (seed, value), run in zip(values.items(), runs, strict=True):
                trials.append(_judged(condition, value, seed, batch.summaries[run.key]))
                bounds[seed] = bounds[seed].narrowed(holds=trials[-1]["holds"])
    largest = {seed: steps.values[found.low] if found.low >= 0 else None for seed, found in bounds.items()}
    changed = dict(as_pairs(settings))
    return Search(scenario.name, scenario.title, scheme, changed, steps, condition, largest, trials)


def _judged(condition: Condition, value: int | float, seed: int, done: RunSummary) -> SearchRun:
    """A run as a step of the search; an error if it has not the condition's metric."""
    if condition.metric not in done.metrics:
        raise missing(condition.metric, [row.metric for row in done.rows])
    return {
        "value": value,
        "seed": seed,
        "measured": done.metrics[condition.metric],
        "lower_bound": condition.metric in done.lower_bounds,
        "holds": condition.holds(done.metrics, done.lower_bounds),
        "open": condition.is_open(done.metrics, done.lower_bounds),
        "unfinished": int(done.metrics["unfinished"]),
    }
