"""A tuning as stored after each batch of trials: the question and its results."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import msgspec

from shortflow.errors import ConfigError, DamagedResult
from shortflow.quantities import counted
from shortflow.store.files import check_seal, sealed, write_bytes
from shortflow.tuning.goal import Goal, Judgement, Measurement, Parameter, dominates

FILE = "tuning.json"
"""File name in the directory of a tuning."""
_TINY = 1e-9
"""Relative changes of an objective up to this count as none."""


@dataclass(frozen=True)
class Question:
    """Inputs of all trials of a tuning. Equal questions have equal trials."""

    scenario: str
    title: str
    fingerprint: str
    """Hash of the scenario, `settings` included."""
    classes: list[str]
    """Classes of its flows."""
    scheme: str
    settings: dict[str, str]
    """Changes by `--set`."""
    parameters: list[Parameter]
    untuned: dict[str, str]
    """Untuned values of the parameters that have one."""
    goal: Goal
    baseline: str
    """Scheme that the found parameters are also compared with."""
    seeds: int
    """Number of seeds of a trial; they are 1 to this number."""
    batch: int
    """Trials proposed at a time, for any number of jobs."""
    laws: dict[str, str]
    """Fingerprints of the schemes with a law in Python."""
    code: str
    """Version and hash of the simulator, and hash of the measuring code."""
    flow_keys: list[str] = field(default_factory=list)
    """Parameters that change the flows, such as a load."""

    def schemes(self, goal: Goal) -> list[str]:
        """Schemes measured beside the trials for a goal, the untuned one first."""
        return list(dict.fromkeys([self.scheme, self.baseline, *goal.schemes]))

    @property
    def untuned_values(self) -> dict[str, float] | None:
        """Untuned parameters as numbers; None if one is not in its range."""
        values = {each.key: each.value(self.untuned.get(each.key, "")) for each in self.parameters}
        known = {key: value for key, value in values.items() if value is not None}
        return known if len(known) == len(values) else None

    def written(self, values: Mapping[str, float]) -> dict[str, str]:
        """Values of all parameters as settings."""
        return {each.key: each.written(values[each.key]) for each in self.parameters}


@dataclass(frozen=True)
class Trial:
    """One choice of parameters with its results."""

    number: int
    """Position in the order of proposals, from 0."""
    values: dict[str, float]
    """Proposed number of each parameter, in the parameter's unit."""
    settings: dict[str, str]
    """Parameters as settings, with significant digits."""
    found: Measurement
    given_up: bool = False
    """True if hopeless after its first seeds, so the others were not run."""


@dataclass(frozen=True)
class Check:
    """The found parameters beside the untuned scheme and others, on fresh seeds."""

    scenario: str
    title: str
    settings: dict[str, str]
    classes: list[str]
    goal: Goal
    """The goal for this scenario."""
    left_out: list[str]
    """Constraints that this scenario cannot measure."""
    schemes: dict[str, Measurement]
    """Measurements by name; the scheme of the question is untuned."""
    trials: dict[int, Measurement]
    """Measurements by number of the checked trial."""


@dataclass(frozen=True, repr=False)
class Tuning:
    """A search for parameters: question, trials, and checks on fresh seeds.

    `chosen` is the best trial for the goal, with its `settings`; None if no trial is feasible.
    """

    question: Question
    references: dict[str, Measurement] = field(default_factory=dict)
    """Measurements of `Question.schemes`, untuned, on the trials' seeds."""
    trials: list[Trial] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    """On fresh seeds, and on a second workload unless disabled; empty until done."""

    @property
    def runs(self) -> int:
        """Number of runs behind the tuning."""
        checked = (found for check in self.checks for found in (*check.schemes.values(), *check.trials.values()))
        measured = [*self.references.values(), *(trial.found for trial in self.trials), *checked]
        return sum(len(found.seeds) for found in measured)

    @functools.cached_property
    def yardstick(self) -> str | None:
        """Reference of the objectives: the untuned scheme or, if that is infeasible, the baseline.

        None if both are infeasible: then only feasibility counts.
        """
        question = self.question
        feasible = (
            name
            for name in (question.scheme, question.baseline)
            if question.goal.judge(self.references[name], self.references).feasible
        )
        return next(feasible, None)

    def is_untuned(self, trial: Trial) -> bool:
        """True if a trial has the untuned parameters."""
        values = self.question.untuned_values
        return values is not None and trial.settings == self.question.written(values)

    def judge(self, trial: Trial) -> Judgement:
        """Judgement of a trial over its seeds."""
        return self.question.goal.judge(trial.found, self.references)

    def __repr__(self) -> str:
        """Scenario, scheme, goal and number of trials."""
        of = self.question
        return f"<Tuning {of.scenario}, {of.scheme}: {of.goal.text}; {counted(len(self.trials), 'trial')}>"

    @functools.cached_property
    def feasible(self) -> dict[int, list[float]]:
        """Objective means of feasible trials with all seeds, by number."""
        judged = {trial.number: self.judge(trial) for trial in self.trials if not trial.given_up}
        return {number: each.objectives for number, each in judged.items() if each.feasible and each.objectives}

    @functools.cached_property
    def front(self) -> list[int]:
        """Undominated feasible trials, ordered by the first objective: one, or a Pareto front of two objectives."""
        goal = self.question.goal
        best = [
            number
            for number, values in self.feasible.items()
            if not any(dominates(goal, other, values) for other in self.feasible.values())
        ]
        ordered = sorted(best, key=lambda number: (self.feasible[number][0], number))
        return ordered if len(goal.objectives) > 1 else ordered[:1]

    @functools.cached_property
    def chosen(self) -> Trial | None:
        """The best trial; on a front, the one with the largest joint gain.

        Trials that lose nothing against the yardstick come first. The joint gain is the product of the ratios by which
        the objectives improve. For a reference of zero, the ratio is one plus the gain as a share of the largest value.
        """
        if not self.front:
            return None
        if len(self.question.goal.objectives) == 1:
            return self.trials[self.front[0]]
        return self.trials[max(self.front, key=lambda number: (self._rank(number), -number))]

    def _rank(self, number: int) -> tuple[bool, float]:
        other = self.references[self.yardstick or self.question.scheme]
        product, loses = 1.0, False
        for place, objective in enumerate(self.question.goal.objectives):
            value, before = self.feasible[number][place], other.mean(objective.metric) or 0.0
            loses |= self.yardstick is not None and objective.gain(value - before) < 0
            if before:
                product *= value / before if objective.maximize else before / max(value, _TINY * before)
            else:
                widest = max(abs(values[place]) for values in self.feasible.values())
                product *= 1 + objective.gain(value) / widest if widest else 1.0
        return not loses, product


def spread(numbers: Sequence[int], most: int) -> list[int]:
    """Up to `most` of the numbers, evenly spaced, both ends included."""
    count = min(len(numbers), most)
    return [numbers[round(i * (len(numbers) - 1) / max(count - 1, 1))] for i in range(count)]


def is_tuning(directory: Path) -> bool:
    """True if a directory holds a tuning."""
    return (directory / FILE).is_file()


def store_tuning(directory: Path, tuning: Tuning) -> None:
    """Stores a tuning in place of its earlier state, atomically."""
    write_bytes(directory / FILE, sealed(msgspec.json.format(msgspec.json.encode(tuning), indent=1)))


def load_tuning(directory: str | Path) -> Tuning:
    """Reads the tuning in a directory. Raises `DamagedResult` if it is missing or damaged."""
    path = Path(directory) / FILE
    try:
        data = path.read_bytes()
        check_seal(data)
        return msgspec.json.decode(data, type=Tuning)
    except FileNotFoundError:
        raise DamagedResult(f"{path}: missing; `shortflow tune` writes it") from None
    except OSError as error:
        raise DamagedResult(f"{path}: {error.strerror}") from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise DamagedResult(
            f"{path}: damaged, or written by another version: {error}; remove it to start over"
        ) from error


def resume(directory: Path, question: Question) -> Tuning:
    """The stored tuning of this question, or a new one. Raises `ConfigError` if another is stored."""
    if not is_tuning(directory):
        return Tuning(question)
    found = load_tuning(directory)
    differs = [
        each.name for each in fields(Question) if getattr(found.question, each.name) != getattr(question, each.name)
    ]
    if differs:
        raise ConfigError(
            f"--out {directory}: holds another tuning, with other {', '.join(differs).replace('_', ' ')}"
            f"{_shown(found.question, question, differs)}; name another directory"
        )
    return found


def _shown(before: Question, now: Question, differs: Sequence[str]) -> str:
    """Both values, if short."""

    def text(value: Any) -> str:
        if isinstance(value, list):
            return " ".join(each.text for each in value)
        return value.text if isinstance(value, Goal) else str(value)

    if len(differs) > 1 or isinstance(getattr(now, differs[0]), dict):
        return ""
    return f" ({text(getattr(before, differs[0]))} there, {text(getattr(now, differs[0]))} here)"
