"""Goals of a tuning: one objective, or two for a trade-off, with optional constraints."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from shortflow.errors import ConfigError, unknown_name
from shortflow.judge.estimates import Support
from shortflow.judge.samples import Sample
from shortflow.metrics.absence import check_name
from shortflow.metrics.catalogue import UNFINISHED_OF_ALL, possible
from shortflow.quantities import parse, plain_number, rounded
from shortflow.terms import Bound, Range

_RANGE = "KEY=LOW:HIGH, KEY=LOW:HIGH:STEP or KEY=LOW:HIGH:log, such as transport.g=0.01:0.5:log or knee_low=20KB:1MB"
_DIGITS = 4
"""Number of significant digits of values without steps. Runs do not resolve more digits."""
_MOST_STEPS = 1_000_000


@dataclass(frozen=True)
class Parameter(Range):
    """A key and the range of its values, which includes both ends."""

    @classmethod
    def parse(cls, text: str) -> "Parameter":
        """Parses a parameter with its range, such as `transport.g=0.01:0.5:log`. Raises `ConfigError`."""
        found = cls(**vars(Range.read(text, f"--param {text}: expected {_RANGE}, with units of one kind")))
        if not found.low < found.high < math.inf:
            raise ConfigError(f"--param {text}: expected a low end below the high end")
        if found.log and found.low <= 0:
            raise ConfigError(f"--param {text}: expected a logarithmic range that begins above 0")
        count = (found.high - found.low) / found.step if found.step and found.step > 0 else 0.0
        if found.step is not None and not (1 <= count < _MOST_STEPS and abs(count - round(count)) < 1e-9 * count):
            raise ConfigError(f"--param {text}: expected a step above 0 that divides the range")
        return found

    @property
    def text(self) -> str:
        """The parameter as text, such as `transport.g=0.01:0.5:log`."""
        ends = f"{self.written(self.low)}:{self.written(self.high)}"
        if self.step is not None:
            return f"{self.key}={ends}:{plain_number(self.step)}{self.unit}"
        return f"{self.key}={ends}{':log' if self.log else ''}"

    @property
    def ends(self) -> list[dict[str, str]]:
        """Settings of both ends of the range."""
        return [{self.key: self.written(end)} for end in (self.low, self.high)]

    @property
    def count(self) -> float:
        """Number of values; ∞ without steps."""
        return math.inf if self.step is None else round((self.high - self.low) / self.step) + 1

    def at(self, place: int) -> float:
        """Value of step number `place`, counted from 0."""
        return rounded(self.low + place * (self.step or 0.0))

    def drawn(self, dice: random.Random) -> float:
        """Draws a value uniformly, or log-uniformly on a logarithmic range."""
        low, high = (math.log(end) if self.log else end for end in (self.low, self.high))
        value = math.exp(dice.uniform(low, high)) if self.log else dice.uniform(low, high)
        return value if self.step is None else self.at(round((value - self.low) / self.step))

    def written(self, value: float) -> str:
        """Text of a value as a setting, without exponent."""
        if self.step is None and value not in (self.low, self.high):  # the ends keep all the digits that users gave
            value = float(f"{value:.{_DIGITS}g}")
        return f"{plain_number(rounded(value))}{self.unit}"

    def value(self, text: str) -> float | None:
        """Number of a setting in the parameter's unit; None if it is not one of the parameter's values."""
        found, unit = parse(text), parse(f"1{self.unit}")
        if not found or not unit or found.base != unit.base:
            return None
        number = rounded(found.number * found.factor / unit.factor)
        steps = (number - self.low) / self.step if self.step else 0.0
        fits = self.low <= number <= self.high and abs(steps - round(steps)) < 1e-9
        return number if fits else None


_SIGNS = ("<=", ">=")
_SYNTAX = "METRIC >= FACTOR * SCHEME or METRIC >= NUMBER, also with <=, such as `goodput_long_bps >= 0.99 * dctcp`"


@dataclass(frozen=True)
class Measurement:
    """Results of a scheme with one choice of parameters, by seed."""

    seeds: list[int]
    values: dict[str, list[float | None]]
    """Values of each metric in the order of the seeds; None if a run does not have the metric."""
    lower_bounds: list[str]
    """Metrics that are lower bounds in at least one run, because of unfinished flows."""
    digests: list[str | None]
    """Digest of each run; None for a failed run."""
    errors: dict[int, str] = field(default_factory=dict)
    """Errors of failed runs by seed."""
    stakes: dict[str, float] = field(default_factory=dict)
    """Largest stake of each metric in any run (see `shortflow.metrics.stakes`)."""

    def sample(self, metric: str, support: Support = Support.REAL) -> Sample:
        """Values of a metric for the judge."""
        by_seed = zip(self.seeds, self.values[metric], strict=True)
        values = {seed: value for seed, value in by_seed if value is not None}
        digests = {seed: digest or "" for seed, digest in zip(self.seeds, self.digests, strict=True)}
        return Sample(values, digests, support, self.stakes.get(metric, 0.0), metric in self.lower_bounds)

    def mean(self, metric: str, first: int | None = None) -> float | None:
        """Mean of a metric over the `first` seeds (default: all); None if a run does not have the metric."""
        values = self.values[metric][:first]
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known and len(known) == len(values) else None


@dataclass(frozen=True)
class Objective:
    """A metric whose mean over the seeds is minimised or maximised."""

    metric: str
    maximize: bool = False

    @property
    def text(self) -> str:
        """The objective as text."""
        return f"{'largest' if self.maximize else 'least'} {self.metric}"

    def gain(self, change: float) -> float:
        """The change with the sign that is positive if it improves the objective."""
        return change if self.maximize else -change


@dataclass(frozen=True)
class Constraint(Bound):
    """A bound on a metric's mean. The bound is a number, or a multiple of another scheme's mean."""

    scheme: str | None = None
    """Scheme whose mean on the same seeds the bound multiplies; None if the bound is a number."""

    @classmethod
    def parse(cls, text: str) -> "Constraint":
        """Parses a constraint, such as `goodput_long_bps >= 0.99 * dctcp` or `queue_mean_pkt <= 30pkt`.

        Raises `ConfigError` for any other text.
        """
        metric, sign, right = cls.split(text, _SIGNS) or ("", "", "*")
        if number := cls.number(right):
            return cls(metric, sign, *number)
        left, star, scheme = (part.strip() for part in right.rpartition("*"))
        factor, unit = (cls.number(left) or (0.0, "")) if star else (1.0, "")
        if unit not in ("", "share") or factor <= 0 or not scheme:
            raise ConfigError(f"--subject-to {text}: expected {_SYNTAX}")
        return cls(metric, sign, factor, scheme=scheme)

    @property
    def text(self) -> str:
        """The constraint as text."""
        if self.scheme:
            return f"{self.metric} {self.sign} {self.bound:g} * {self.scheme}"
        return f"{self.metric} {self.sign} {self.bound:g}{self.unit.replace('share', '')}"

    def limit(self, references: Mapping[str, Measurement], first: int | None = None) -> float | None:
        """The bound as a number. `references` has other schemes' measurements, of which the `first` seeds count.

        None if the other scheme does not have the metric.
        """
        if self.scheme is None:
            return self.bound
        mean = references[self.scheme].mean(self.metric, first)
        return None if mean is None else self.bound * mean

    def violation(self, value: float, limit: float) -> float:
        """Violation of the bound by a value, relative to the bound; 0 or less if the bound is kept."""
        beyond = value - limit if self.sign == "<=" else limit - value
        return beyond / abs(limit) if limit else beyond


@dataclass(frozen=True)
class Judgement:
    """Judgement of a measurement by a goal."""

    objectives: list[float] | None
    """Mean of each objective; None if a run does not have a deciding metric."""
    violations: list[float]
    """Share of unfinished flows, then the relative violation of each constraint. Positive numbers are violations."""

    @property
    def feasible(self) -> bool:
        """True if all flows finished and all constraints hold."""
        return self.objectives is not None and all(each <= 0 for each in self.violations)


@dataclass(frozen=True)
class Goal:
    """One or two objectives, with constraints. Unfinished flows always violate the goal."""

    objectives: list[Objective]
    constraints: list[Constraint] = field(default_factory=list)

    @classmethod
    def parse(
        cls, minimize: Sequence[str] = (), maximize: Sequence[str] = (), subject_to: Sequence[str] = ()
    ) -> "Goal":
        """A goal from names of metrics to minimise or maximise, and from texts of constraints."""
        wanted = [*map(Objective, minimize), *(Objective(each, maximize=True) for each in maximize)]
        return cls(wanted, [Constraint.parse(each) for each in subject_to])

    @property
    def metrics(self) -> list[str]:
        """Metrics that decide the goal, without duplicates."""
        wanted = [each.metric for each in self.objectives]
        return list(dict.fromkeys([*wanted, *(each.metric for each in self.constraints), UNFINISHED_OF_ALL.pattern]))

    @property
    def schemes(self) -> list[str]:
        """Schemes whose means bound a metric in a constraint."""
        return list(dict.fromkeys(each.scheme for each in self.constraints if each.scheme))

    @property
    def text(self) -> str:
        """The goal as text."""
        wanted = " and ".join(each.text for each in self.objectives)
        limits = " and ".join(each.text for each in self.constraints)
        return f"{wanted}, subject to {limits}" if limits else wanted

    def check(self, classes: Sequence[str]) -> None:
        """Raises `ConfigError` for a goal that no run with these flow classes can measure.

        The error is about a metric that the runs cannot have, a bound in another unit, or a number of objectives other
        than 1 and 2.
        """
        names = [each.metric for each in self.objectives]
        if len(names) not in (1, 2) or len(set(names)) < len(names):
            raise ConfigError(
                "--minimize, --maximize: expected one metric, or two different ones for a trade-off; found "
                f"{', '.join(names) or 'none'}"
            )
        for metric in self.metrics:
            check_name(metric, classes)
        for limit in self.constraints:
            limit.check_unit(f"--subject-to {limit.text}", possible(classes)[limit.metric].unit)

    def elsewhere(self, counterparts: Mapping[str, str], classes: Sequence[str]) -> "tuple[Goal, list[Constraint]]":
        """The goal for another scenario with these flow classes, and the constraints that it cannot measure.

        `counterparts` maps metrics of the goal to metrics of the other scenario. Raises `ConfigError` if the scenario
        does not have an objective.
        """
        unknown = next((metric for metric in counterparts if metric not in self.metrics), None)
        if unknown:
            raise unknown_name("metric of the goal", unknown, self.metrics)
        objectives = [replace(each, metric=counterparts.get(each.metric, each.metric)) for each in self.objectives]
        constraints = [replace(each, metric=counterparts.get(each.metric, each.metric)) for each in self.constraints]
        lost = [each for each in constraints if each.metric not in possible(classes)]
        goal = Goal(objectives, [each for each in constraints if each not in lost])
        goal.check(classes)
        return goal, lost

    def judge(self, found: Measurement, references: Mapping[str, Measurement]) -> Judgement:
        """Judges a measurement. Bounds by other schemes use the same number of their first seeds."""
        objectives = [found.mean(each.metric) for each in self.objectives]
        pairs = [(found.mean(each.metric), each.limit(references, len(found.seeds))) for each in self.constraints]
        known = [each for each in objectives if each is not None]
        violations = [
            each.violation(value, limit)
            for each, (value, limit) in zip(self.constraints, pairs, strict=True)
            if value is not None and limit is not None
        ]
        complete = len(known) == len(objectives) and len(violations) == len(pairs)
        # The first violation is the share of unfinished flows, or 1 if a deciding metric is a bound for another reason.
        unfinished = found.mean(UNFINISHED_OF_ALL.pattern) or float(
            any(metric in found.lower_bounds for metric in self.metrics)
        )
        return Judgement(known if complete else None, [unfinished, *violations])


def dominates(goal: Goal, one: Sequence[float], other: Sequence[float]) -> bool:
    """True if the means `one` are worse than `other` in no objective, and better in at least one."""
    gains = [objective.gain(ours - theirs) for objective, ours, theirs in zip(goal.objectives, one, other, strict=True)]
    return all(gain >= 0 for gain in gains) and any(gain > 0 for gain in gains)
