"""Record of a tuning, which is stored after each batch of trials: the question and its results."""

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
"""Name of the file in the directory of a tuning."""
_TINY = 1e-9
"""Smallest value of an objective to minimise, as a share of the reference, that a joint gain divides by."""


@dataclass(frozen=True)
class Question:
    """Inputs that determine all trials of a tuning. Equal questions have equal trials."""

    scenario: str
    title: str
    fingerprint: str
    """Hash of the scenario, including `settings`."""
    classes: list[str]
    """Classes of the scenario's flows."""
    scheme: str
    settings: dict[str, str]
    """Settings changed by `--set`."""
    parameters: list[Parameter]
    untuned: dict[str, str]
    """Untuned values of the parameters. Parameters without such a value are left out."""
    goal: Goal
    baseline: str
    """Scheme with which the found parameters are compared, in addition to the untuned scheme."""
    seeds: int
    """Number of seeds of a trial. The seeds are 1 to this number."""
    batch: int
    """Number of trials proposed at a time. It does not depend on the number of jobs."""
    laws: dict[str, str]
    """Fingerprint of each scheme whose law is in Python."""
    code: str
    """Version and hash of the simulator, and hash of the measuring code."""
    flow_keys: list[str] = field(default_factory=list)
    """Parameters that change the flows, such as a load."""

    def schemes(self, goal: Goal) -> list[str]:
        """Schemes that are measured in addition to the trials, for a goal. The untuned scheme is first."""
        return list(dict.fromkeys([self.scheme, self.baseline, *goal.schemes]))

    @property
    def untuned_values(self) -> dict[str, float] | None:
        """Untuned values as numbers in the parameters' units; None if a value is not in its range."""
        values = {each.key: each.value(self.untuned.get(each.key, "")) for each in self.parameters}
        known = {key: value for key, value in values.items() if value is not None}
        return known if len(known) == len(values) else None

    def written(self, values: Mapping[str, float]) -> dict[str, str]:
        """Settings for values of all parameters."""
        return {each.key: each.written(values[each.key]) for each in self.parameters}


@dataclass(frozen=True)
class Trial:
    """One choice of parameters with its results."""

    number: int
    """Position in the order of proposals, from 0."""
    values: dict[str, float]
    """Proposed number of each parameter, in the parameter's unit."""
    settings: dict[str, str]
    """Parameters as settings, rounded to significant digits."""
    found: Measurement
    given_up: bool = False
    """True if the trial was hopeless after its first seeds, so that its other seeds were not run."""


@dataclass(frozen=True)
class Check:
    """Measurements of the found parameters, the untuned scheme and other schemes on fresh seeds."""

    scenario: str
    title: str
    settings: dict[str, str]
    classes: list[str]
    goal: Goal
    """The goal for this scenario."""
    left_out: list[str]
    """Constraints that this scenario cannot measure."""
    schemes: dict[str, Measurement]
    """Measurements by scheme. The scheme of the question is untuned."""
    trials: dict[int, Measurement]
    """Measurements by number of the checked trial."""


@dataclass(frozen=True, repr=False)
class Tuning:
    """A search for parameters: question, trials, and checks on fresh seeds.

    `chosen` is the best trial for the goal, with its `settings`; None if no trial is feasible.
    """

    question: Question
    references: dict[str, Measurement] = field(default_factory=dict)
    """Measurements of the untuned `Question.schemes` on the trials' seeds, by scheme."""
    trials: list[Trial] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    """Checks on fresh seeds, and on a second workload unless disabled; empty until done."""

    @property
    def runs(self) -> int:
        """Number of runs of the tuning."""
        checked = (found for check in self.checks for found in (*check.schemes.values(), *check.trials.values()))
        measured = [*self.references.values(), *(trial.found for trial in self.trials), *checked]
        return sum(len(found.seeds) for found in measured)

    @functools.cached_property
    def yardstick(self) -> str | None:
        """Scheme with which objectives are compared: the untuned scheme or, if it is infeasible, the baseline.

        None if both are infeasible. Then only feasibility is judged.
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
        """Means of the objectives of each feasible trial with all seeds, by number of the trial."""
        judged = {trial.number: self.judge(trial) for trial in self.trials if not trial.given_up}
        return {number: each.objectives for number, each in judged.items() if each.feasible and each.objectives}

    @functools.cached_property
    def front(self) -> list[int]:
        """Numbers of the feasible trials that no other trial dominates, ordered by the first objective.

        With one objective, it has at most one trial. With two objectives, it is the Pareto front.
        """
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
        """The best trial. With two objectives, it is the trial of the front with the largest joint gain.

        Trials that are worse than the yardstick in no objective are preferred. The joint gain is the product of the
        ratios by which the objectives improve. If the reference is zero, the ratio is one plus the gain as a share of
        the largest value. None if no trial is feasible.
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
    """At most `most` of the numbers, evenly spaced, including both ends."""
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
    """The stored tuning of this question, or a new tuning. Raises `ConfigError` if another question is stored."""
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
    """Text with both values of the field that differs; empty if several fields or mappings differ."""

    def text(value: Any) -> str:
        if isinstance(value, list):
            return " ".join(each.text for each in value)
        return value.text if isinstance(value, Goal) else str(value)

    if len(differs) > 1 or isinstance(getattr(now, differs[0]), dict):
        return ""
    return f" ({text(getattr(before, differs[0]))} there, {text(getattr(now, differs[0]))} here)"
