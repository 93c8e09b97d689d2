"""Runs recipes: all runs in one pool, then a verdict for every claim."""

import fnmatch
import inspect
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np

from shortflow.errors import ConfigError, TooLittle, did_you_mean
from shortflow.lab.choices import Change, changes
from shortflow.lab.condition import Printed
from shortflow.lab.data import Data
from shortflow.lab.drawing import Beside, Curves, Drawing, beside
from shortflow.lab.figure import Claim, Draw, Figure
from shortflow.lab.finding import Finding, Verdict, finite, not_tested
from shortflow.lab.study import Position, Scale
from shortflow.metrics.stats import Estimate
from shortflow.papers import ALL, choices, claims, figures, stand_ins
from shortflow.reproduction.baseline import Baseline, Group, group, with_baseline
from shortflow.reproduction.tried import elsewhere, sentence, spread, stored
from shortflow.result import Result
from shortflow.results import Results
from shortflow.runner import Ask, Wanted
from shortflow.runs import Run
from shortflow.scenario import Settings

Chosen = Mapping[str, str]

NEAR = (10, 20, 30)
"""Distances from printed numbers to count, in per cent."""

TOO_LITTLE = (TooLittle, ZeroDivisionError)
"""Errors of a recipe for runs that lack data. Any other error is a bug of the recipe, and is raised."""

EMPTY = "the baseline in the scheme's place agrees too, so this says nothing about the scheme"
"""Note on a claim that also holds for a scheme without effect."""


class Counts(TypedDict):
    """Number of claims with each verdict, by group."""

    scheme: dict[str, int]
    no_harm: dict[str, int]
    others: dict[str, int]
    open: dict[str, int]
    numbers: dict[str, int]
    """Claims with printed numbers: `all`, and those with all of ours `within_10` %, 20 % and 30 %. Equations and claims
    that the baseline passes are left out."""


@dataclass(frozen=True)
class Judged:
    """A claim with its finding."""

    claim: Claim
    finding: Finding
    baseline: Baseline = Baseline.OTHERS
    scale: Scale | None = None
    """Scale of the simulation with default choices; None otherwise."""
    off: float | None = None
    """Largest relative distance of our numbers from printed ones; None without printed numbers."""

    @property
    def known(self) -> str:
        """Reason for a verdict other than agrees, and results of other choices, at this or another scale.

        A recipe's reason holds for the quick scale. It is shown at another scale if the verdict is the same.
        """
        if not self.scale or self.finding.verdict in (Verdict.AGREES, Verdict.UNTESTED):
            return ""
        tried, because = stored().get(self.claim.id, {}), self.claim.because
        quick, here = tried.get(Scale.QUICK), tried.get(self.scale)
        same = self.scale is Scale.QUICK or (quick and quick["taken"]["verdict"] == self.finding.verdict)
        paper = self.claim.id.partition("/")[0]
        values = sum(len(choice.others) for choice in choices(paper).values())
        told = [elsewhere(each, scale, values) for scale, each in tried.items() if each is not here]
        others = [*([sentence(here, values)] if here or not told else []), *told]
        return "; ".join(part for part in (because if same else "", *others) if part)

    @property
    def over_choices(self) -> str:
        """Range of the deciding number over open choices, at the scale where most were tried; empty if unknown."""
        tried = stored().get(self.claim.id, {}) if self.scale and self.finding.verdict is not Verdict.UNTESTED else {}
        if not tried:
            return ""
        scale = max(tried, key=lambda each: (len(tried[each]["others"]), each == self.scale))
        text = spread(tried[scale])
        return f"{text} at the {scale} scale" if text and scale != self.scale else text

    @property
    def reason(self) -> str:
        """Reason for the verdict, or why agreement is not evidence."""
        empty = EMPTY if self.agrees_emptily else ""
        return "; ".join(part for part in (self.finding.note, empty, self.known) if part)

    @property
    def group(self) -> Group:
        """The group of the counts."""
        return group(self.claim, self.finding.verdict, self.baseline)

    @property
    def agrees_emptily(self) -> bool:
        """True if the claim agrees, but would also with the baseline in the scheme's place, and is no no-harm claim."""
        return self.finding.holds and self.baseline is Baseline.AGREES and not self.claim.no_harm

    def document(self) -> dict[str, Any]:
        """The verdict as plain data (docs/results.md)."""
        return {
            "id": self.claim.id,
            "says": self.claim.statement,
            "verdict": self.finding.verdict.value,
            "measured": self.finding.document(),
            "ci95": self.finding.ci95 and [finite(end) for end in self.finding.ci95],
            "tolerance": self.claim.tolerance,
            "could_be": [verdict.value for verdict in self.finding.could_be],
            "over_choices": self.over_choices,
            "reason": self.reason,
            "group": self.group.value,
            "baseline": self.baseline.value,
            "off": None if self.off is None else finite(self.off),
        }


@dataclass(frozen=True)
class Reproduced:
    """A figure with its drawings and verdicts."""

    figure: Figure
    drawings: Sequence[Drawing | Beside]
    claims: Sequence[Judged]
    runs: int
    followed: Mapping[str, Sequence[Change]]
    """Choices that each study follows."""
    digests: Mapping[str, Sequence[str]]
    """Digests of each study's runs."""
    made: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Days on which each build of the simulator made its runs."""

    def without(self, name: str, value: str) -> str | None:
        """The paper that lacks a chosen value, or the figure that it does not change; None otherwise."""
        choice = choices(self.figure.paper).get(name)
        if not self.followed or (choice and value == choice.taken):
            return None
        if not choice or value not in choice.values:
            return self.figure.paper
        follows = any(change.name == name for of_study in self.followed.values() for change in of_study)
        return None if follows else self.figure.id


@dataclass(frozen=True)
class Reproduction:
    """Results of one reproduction."""

    scale: Scale
    chosen: Chosen
    figures: Sequence[Reproduced]
    runs: int
    reused: int
    """Number of runs found in the store."""
    seconds: float
    reach: dict[tuple[str, str], set[str]] = field(default_factory=dict, repr=False)
    """Claims that another value of a choice reaches, as far as known."""

    @property
    def claims(self) -> list[Judged]:
        """Verdicts of all figures."""
        return [judged for figure in self.figures for judged in figure.claims]

    def of_paper(self, paper: str) -> list[Reproduced]:
        """Figures of a paper, those with pictures first."""
        return sorted((each for each in self.figures if each.figure.paper == paper), key=lambda each: not each.drawings)

    @property
    def summary(self) -> dict[str, Counts]:
        """Number of claims with each verdict, by paper."""
        papers = [paper for paper in ALL if any(figure.figure.paper == paper for figure in self.figures)]
        of_paper = {paper: [each for each in self.claims if each.claim.id.startswith(f"{paper}/")] for paper in papers}
        return {paper: count(claims) for paper, claims in of_paper.items()}

    @property
    def not_reached(self) -> dict[str, list[str]]:
        """Places without effect of each choice: papers that lack it, and figures that vary or set it."""
        found = {
            f"{name}={value}": [each for figure in self.figures if (each := figure.without(name, value))]
            for name, value in self.chosen.items()
        }
        return {change: list(dict.fromkeys(places)) for change, places in found.items() if places}

    def conditions(self, paper: str) -> str:
        """Scale, runs and choices of a paper, in a few sentences."""
        here, every = len(self.of_paper(paper)), sum(each.paper == paper for each in figures().values())
        part = [f"A part: {here} of {every} figures."] if here < every else []
        chosen = ", ".join(f"{name}={value}" for name, value in self.chosen.items()) or "as the recipes take them"
        without = [f"{change} is not followed by {', '.join(places)}." for change, places in self.not_reached.items()]
        return " ".join([*part, f"Scale {self.scale.value}, {self.runs} runs. Choices: {chosen}.", *without])

    def document(self) -> dict[str, Any]:
        """Verdicts as plain data."""
        return {
            "scale": self.scale.value,
            "choices": dict(self.chosen),
            "not_reached": self.not_reached,
            "claims": [judged.document() for judged in self.claims],
            "summary": self.summary,
            "runs": self.runs,
            "seconds": round(self.seconds, 1),
        }


def count(claims: Sequence[Judged]) -> Counts:
    """Number of claims with each verdict, by group."""

    def verdicts(of: Group, *named: Verdict) -> dict[str, int]:
        found = [each.finding.verdict for each in claims if each.group is of]
        return {verdict.value: found.count(verdict) for verdict in named}

    decided = (Verdict.AGREES, Verdict.DIRECTION, Verdict.DIFFERS)
    far = [each.off for each in claims if each.off is not None and not each.agrees_emptily]
    return {
        "scheme": verdicts(Group.SCHEME, *decided),
        "no_harm": verdicts(Group.NO_HARM, *decided),
        "others": verdicts(Group.OTHERS, *decided),
        "open": verdicts(Group.OPEN, Verdict.UNDECIDED, Verdict.UNTESTED),
        "numbers": {"all": len(far), **{f"within_{each}": sum(off <= each / 100 for off in far) for each in NEAR}},
    }


def select(patterns: Sequence[str]) -> list[Figure]:
    """Figures with a matching id, or with a matching claim (default: all).

    A paper's name matches all its figures.
    """
    known = figures()
    if not patterns:
        return list(known.values())
    found: dict[str, Figure] = {}
    for pattern in patterns:
        matches = {name: figure for name, figure in known.items() if _matches(figure, pattern)}
        if not matches:
            hint = did_you_mean(pattern, [*ALL, *known, *claims()])
            every = f" (papers: {', '.join(ALL)}; `shortflow list figures` and `list claims` have the rest)"
            raise ConfigError(f'"{pattern}": no paper, figure or claim{hint or every}')
        found |= matches
    return [figure for name, figure in known.items() if name in found]


def reproduce(chosen_figures: Sequence[Figure], scale: Scale, chosen: Chosen | None = None) -> Ask[Reproduction]:
    """Runs everything that figures need in one batch, and decides their claims."""
    chosen = chosen or {}
    started = time.perf_counter()
    planned = [runs_of(figure, scale, chosen) for figure in chosen_figures]
    reaching = {each.name for plan in planned for of_study in plan.followed.values() for each in of_study}
    for name, value in chosen.items():
        taken = [each[name].taken for each in (choices(plan.figure.paper) for plan in planned) if name in each]
        if value not in taken and name not in reaching:
            raise ConfigError(
                f"{name}={value}: changes no run of these figures; `shortflow list choices` has its reach"
            )
    done = yield Wanted([run for plan in planned for run in plan.all_runs])
    results = {result.key: result for result in done}
    figures = [plan.finish(results) for plan in planned]
    reused = sum(result.reused for result in results.values())
    return Reproduction(scale, chosen, figures, len(results), reused, time.perf_counter() - started)


@dataclass(frozen=True)
class Planned:
    """Runs of one figure, by study and point."""

    figure: Figure
    scale: Scale
    followed: Mapping[str, Sequence[Change]]
    runs: Mapping[str, Mapping[Position, Sequence[Run]]]

    @property
    def all_runs(self) -> list[Run]:
        """All runs."""
        return [run for points in self.runs.values() for runs in points.values() for run in runs]

    def data(self, results: Mapping[str, Result]) -> dict[str, Data]:
        """The studies with these results, by run key."""
        return {name: self._data(name, results) for name in self.runs}

    def finish(self, results: Mapping[str, Result]) -> Reproduced:
        """The figure with these results."""
        data = self.data(results)
        instead = stand_ins(self.figure.paper)
        taken = None if any(self.followed.values()) else self.scale
        found = [(each, decide(each, data)) for each in self.figure.claims]
        judged = [
            Judged(each, finding, with_baseline(each, finding, data, instead, decide), taken, off(each, data))
            for each, finding in found
        ]
        digests = {
            name: [results[run.key].digest for runs in points.values() for run in runs]
            for name, points in self.runs.items()
        }
        made: dict[str, set[str]] = {}
        for run in self.all_runs:
            origin = results[run.key].provenance
            made.setdefault(origin["build"], set()).add(origin["finished_at"][:10])
        days = {build: sorted(found) for build, found in made.items()}
        drawings = draw(self.figure, data)
        return Reproduced(self.figure, drawings, judged, len(self.all_runs), self.followed, digests, days)

    def _data(self, name: str, results: Mapping[str, Result]) -> Data:
        study = self.figure.studies[name]
        points = {
            position: Results.of_point([results[run.key] for run in runs], {})
            for position, runs in self.runs[name].items()
        }
        return Data(study, list(study.grid(self.scale)), points)


def followed(figure: Figure, scale: Scale, chosen: Chosen) -> dict[str, list[Change]]:
    """Choices that each study of a figure follows."""
    asked = changes(choices(figure.paper), chosen)
    return {name: [each for each in asked if study.follows(scale, each)] for name, study in figure.studies.items()}


def runs_of(figure: Figure, scale: Scale, chosen: Chosen) -> Planned:
    """Runs of a figure with other values of choices."""
    follows = followed(figure, scale, chosen)
    runs = {
        name: {position: study.runs(scale, position, _settings(follows[name])) for position in study.positions(scale)}
        for name, study in figure.studies.items()
    }
    return Planned(figure, scale, follows, runs)


def _settings(changed: Sequence[Change]) -> Settings:
    return {key: value for change in changed for key, value in change.after.items()}


def decide(claim: Claim, data: Mapping[str, Data]) -> Finding:
    """Finding of a claim in the data; untested if the runs are too short."""
    try:
        found = claim.judge(data)
    except TOO_LITTLE as error:
        return not_tested(f"the runs hold too little to decide it ({error})")
    numbers = {name: np.asarray(value) for name, value in found.measured.items() if not isinstance(value, str)}
    missing = [name for name, value in numbers.items() if np.isnan(value).any()]
    return not_tested(f"the runs do not have {', '.join(missing)}") if missing else found


def draw(figure: Figure, data: Mapping[str, Data]) -> Sequence[Drawing | Beside]:
    """Drawings of a figure for which the runs suffice, then printed numbers beside ours."""
    drawn: list[Drawing | Beside] = [drawing for each in figure.draws for drawing in _drawn(figure, each, data)]
    return [*drawn, *beside(_told(figure.printed, data))]


def _drawn(figure: Figure, each: Draw, data: Mapping[str, Data]) -> Sequence[Drawing]:
    try:
        if isinstance(each, Curves):
            return [each.draw(data[each.study or next(iter(data))], figure.printed)]
        return each(**{name: data[name] for name in inspect.signature(each).parameters})
    except TOO_LITTLE:
        return []


def _told(printed: Sequence[Printed], data: Mapping[str, Data]) -> Iterator[tuple[Printed, Mapping[str, Estimate]]]:
    """Printed numbers with our estimates, if the runs suffice."""
    for each in printed:
        try:
            found = each.points(data)
        except TOO_LITTLE:
            continue
        if all(math.isfinite(ours.value) for ours in found.values()):
            yield each, found


def off(claim: Claim, data: Mapping[str, Data]) -> float | None:
    """Largest relative distance of our numbers from printed ones; None if one is unknown."""
    numbers = [each for each in claim.printed if not each.is_limit]
    told = list(_told(numbers, data))
    if len(told) < len(numbers):
        return None
    return max((each.off(ours.value) for each, found in told for ours in found.values()), default=None)


def _matches(figure: Figure, pattern: str) -> bool:
    names = (figure.paper, figure.id, *(claim.id for claim in figure.claims))
    return any(fnmatch.fnmatchcase(name, pattern) for name in names)
