"""Questions about runs: each ask yields the runs it needs and returns its answer.

An ask is a generator, which a `Runner` drives.
"""

import math
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shortflow.errors import ConfigError, require_at_least
from shortflow.grid import Grid, Point, Steps, check_apart
from shortflow.metrics.absence import check_name, missing
from shortflow.metrics.catalogue import possible
from shortflow.precision import LEAST_SEEDS, Precision
from shortflow.result import Result, with_distances
from shortflow.results import Results
from shortflow.runner import Ask, Wanted
from shortflow.runs import Plan, Run, plan_ideal
from shortflow.scenario import as_pairs
from shortflow.terms import Bound

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {  # longer signs first
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True)
class Condition(Bound):
    """A condition on a run: a metric, a comparison and a number.

    >>> Condition.parse("p99_short_s<5ms").bound
    0.005
    """

    written: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """Parses a condition such as `deadline_miss==0` or `p99_short_s<5ms`. Raises `ConfigError` for another text."""
        metric, sign, right = cls.split(text, _COMPARISONS) or ("", "", "")
        number = cls.number(right)
        if number is None or not math.isfinite(number[0]):
            raise ConfigError(f"{text}: expected METRIC, one of == <= >= < >, and a number, such as timeouts==0")
        return cls(metric, sign, *number, text.strip())

    def check(self, classes: Sequence[str]) -> None:
        """Raises `ConfigError` if no run with these flow classes has the metric, or if the bound has another unit."""
        check_name(self.metric, classes, "a search runs schemes alone")
        self.check_unit(self.text, possible(classes)[self.metric].unit)

    def holds(self, metrics: Mapping[str, float], lower_bounds: Collection[str] = ()) -> bool:
        """True if the condition holds for these metrics.

        The true value of a metric in `lower_bounds` may be larger, so only > and >= can hold for such a metric.
        """
        may_hold = self.metric not in lower_bounds or self.sign in (">", ">=")
        return may_hold and self._is_met(metrics)

    def is_open(self, metrics: Mapping[str, float], lower_bounds: Collection[str]) -> bool:
        """True if the metric is a lower bound, and its true value could change the answer."""
        if self.metric not in lower_bounds:
            return False
        if self.sign == "==":
            return metrics[self.metric] <= self.bound
        return self._is_met(metrics) == (self.sign in ("<", "<="))

    def _is_met(self, metrics: Mapping[str, float]) -> bool:
        return _COMPARISONS[self.sign](metrics[self.metric], self.bound)

    @property
    def text(self) -> str:
        """The condition as written, or rebuilt from its parts."""
        return self.written or f"{self.metric}{self.sign}{self.bound:g}"


def ask_comparison(
    plan: Plan, seeds: Sequence[int], until: Precision | None = None, *, ideal: bool = True
) -> Ask[Results]:
    """Runs schemes over common seeds and, with `ideal`, ideal schedulers on the same flows.

    With `until`, seeds must be 1, 2, …. Seeds are added until the intervals are narrow enough (see
    `shortflow.precision`).
    """
    if until:
        until.check(plan.scenario)
    found = nothing_yet(plan)
    for new in rounds(seeds, until):
        runs = plan.runs(new)
        beside, why = plan_ideal(runs) if ideal else ([], "")
        found = replace(found, ideal_names=list(dict.fromkeys(run.scheme.name for run in beside)), no_ideal=why)
        found += with_distances((yield Wanted([*runs, *beside])))
        if until:
            until.require([found])
            if until.is_met(found):
                break
    return found


def ask_sweep(
    plan: Plan, grid: Grid, seeds: int, until: Precision | None = None, *, tables: bool = False
) -> Ask[Results]:
    """Runs every scheme at every point of a grid with seeds 1 to `seeds`.

    Coarse points run first, so a partial sweep covers the whole range. A failed run is kept with its error, and the
    other runs continue. With `until`, each point gets as many seeds as its intervals need.
    """
    require_at_least(1, seeds=seeds)
    check_apart(grid.keys, plan.settings)
    if until and until.metric is not None:
        check_name(until.metric, plan.scenario.classes)
    fixed = {key: value for key, value in plan.scenario.changes(plan.settings).items() if key not in grid.keys}
    found = replace(nothing_yet(plan), settings=fixed, keys=grid.keys)
    going = grid.coarse_first
    met: dict[tuple[str, ...], bool] = {}
    for new in rounds(range(1, seeds + 1), until):
        found += yield Wanted([run for at in going for run in plan.runs(new, at)], tables, keep_going=True)
        if until:
            reached = {_place(point.at): point for point in found.points}
            until.require([reached[_place(at)] for at in going])
            met |= {_place(at): until.is_met(reached[_place(at)]) for at in going}
            # more seeds do not repair a failed run
            going = [at for at in going if not met[_place(at)] and not reached[_place(at)].failed]
        if not going:
            break
    order = {_place(point): number for number, point in enumerate(grid.points)}
    done = sorted(found.done, key=lambda run: order[_place(run.at)])
    return replace(found, done=done, met_at=met if until else None)


def _place(at: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(at.values())


def check_point(plan: Plan, point: Point, option: str) -> list[Run]:
    """One run of each scheme at a point. If a point cannot be run, the `ConfigError` names the point and its option."""
    try:
        return plan.runs([1], point)
    except ConfigError as error:
        try:
            plan.runs([1])  # raises errors that do not depend on the point, such as an unknown scheme
        except ConfigError as other:
            if str(other) == str(error):
                raise other from None
        where = ", ".join(f"{key}={value}" for key, value in point.items())
        raise ConfigError(f"{option}: at {where}: {error}") from None


@dataclass(frozen=True)
class Search:
    """Search for the largest value of a key at which a condition holds, for each seed.

    >>> sf.search("incast", "dctcp", key="servers=10:20", condition="p99_short_s<5ms", seeds=1).largest
    {1: 17}
    """

    scenario: str
    title: str
    scheme: str
    settings: Mapping[str, str]
    steps: Steps
    condition: Condition
    largest: dict[int, int | float | None]
    """For each seed, the largest value at which the condition holds. None if the condition fails at the low end."""
    trials: list[dict[str, Any]] = field(default_factory=list)
    """Runs of the bisection (`docs/results.md`)."""

    def largest_for(self, share: float) -> int | float | None:
        """Largest value at which the condition holds for at least this share of the seeds. None if there is none."""
        ordered = sorted((value for value in self.largest.values() if value is not None), reverse=True)
        needed = max(1, math.ceil(share * len(self.largest)))
        return ordered[needed - 1] if needed <= len(ordered) else None

    @property
    def fails_at_low(self) -> list[int]:
        """Seeds for which the condition fails at the low end of the range."""
        return [seed for seed, value in self.largest.items() if value is None]

    @property
    def holds_at_high(self) -> list[int]:
        """Seeds for which the condition holds at the high end of the range."""
        return [seed for seed, value in self.largest.items() if value == self.steps.values[-1]]

    def document(self) -> dict[str, Any]:
        """The search as plain data (`docs/results.md`)."""
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


def ask_search(plan: Plan, steps: Steps, condition: Condition, seeds: Sequence[int]) -> Ask[Search]:
    """Finds for each seed, by bisection, the largest value at which the condition holds. Seeds run in parallel.

    Assumes that the condition holds below some value and fails above this value.
    """
    check_apart([steps.key], plan.settings)
    condition.check(plan.scenario.classes)
    bounds = {seed: (-1, len(steps.values)) for seed in seeds}  # positions: holds here, fails here
    trials: list[dict[str, Any]] = []
    while middles := {seed: (low + high) // 2 for seed, (low, high) in bounds.items() if high - low > 1}:
        written = {seed: steps.written(steps.values[middle]) for seed, middle in middles.items()}
        runs = [run for seed, value in written.items() for run in plan.runs([seed], {steps.key: value})]
        done = yield Wanted(runs, tables=False)
        for (seed, middle), run in zip(middles.items(), done, strict=True):
            trials.append(_judged(condition, steps.values[middle], run))
            low, high = bounds[seed]
            bounds[seed] = (middle, high) if trials[-1]["holds"] else (low, middle)
    largest = {seed: steps.values[low] if low >= 0 else None for seed, (low, _) in bounds.items()}
    of, changed = plan.scenario, dict(as_pairs(plan.settings))
    return Search(of.name, of.title, str(plan.schemes[0]), changed, steps, condition, largest, trials)


def _judged(condition: Condition, value: int | float, done: Result) -> dict[str, Any]:
    """One run as a step of the search. Raises `ConfigError` if the run lacks the condition's metric."""
    if condition.metric not in done.metrics:
        raise missing(condition.metric, [row.metric for row in done.rows], [done.meta])
    return {
        "value": value,
        "seed": done.seed,
        "measured": done.metrics[condition.metric],
        "lower_bound": condition.metric in done.lower_bounds,
        "holds": condition.holds(done.metrics, done.lower_bounds),
        "open": condition.is_open(done.metrics, done.lower_bounds),
        "unfinished": int(done.metrics["unfinished"]),
    }


def nothing_yet(plan: Plan) -> Results:
    """Results of a plan before its first run."""
    of = plan.scenario
    return Results([], of.name, of.title, of.changes(plan.settings))


def rounds(seeds: Sequence[int], until: Precision | None) -> Iterator[Sequence[int]]:
    """Yields all seeds once or, with `until`, consecutive batches of new seeds.

    Raises `ConfigError` for too many seeds.
    """
    if until is None:
        yield seeds
        return
    if len(seeds) > until.most:
        raise ConfigError(f"--seeds {len(seeds)}: is above --max-seeds {until.most}")
    done = 0
    for end in [*range(max(len(seeds), LEAST_SEEDS), until.most, LEAST_SEEDS), until.most]:
        yield range(done + 1, end + 1)
        done = end
