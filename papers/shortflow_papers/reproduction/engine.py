"""Reproduction of figures: does all runs in one batch, then decides every claim."""

import fnmatch
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shortflow import ConfigError
from shortflow.api.charts import Chart
from shortflow.api.commands import fault, note
from shortflow.api.errors import did_you_mean
from shortflow.api.runs import Ask, Provenance, Result, Results, Run, Wanted
from shortflow_papers.lab.data import Data
from shortflow_papers.lab.figure import Claim, Figure
from shortflow_papers.lab.finding import not_tested
from shortflow_papers.lab.study import Position, Scale, Study
from shortflow_papers.papers import OWN, choices, claims, every_paper, figures, package_of, refused, stand_ins, unheard
from shortflow_papers.reproduction.charts import figure_charts
from shortflow_papers.reproduction.judged import Baseline, Counts, Judged, count, judge_claim

Chosen = Mapping[str, str]
"""Values of choices by name."""


@dataclass(frozen=True)
class Planned:
    """Planned runs of one figure, by study and point."""

    figure: Figure
    scale: Scale
    followed: Mapping[str, Chosen]
    """For each study, the values of choices that it follows and that are not the default."""
    runs: Mapping[str, Mapping[Position, Sequence[Run]]]

    @property
    def all_runs(self) -> list[Run]:
        """All runs of all studies."""
        return [run for points in self.runs.values() for runs in points.values() for run in runs]

    def data(self, results: Mapping[str, Result]) -> dict[str, Data]:
        """Data of each study without failed runs. `results` has a result for each run key."""
        failed = self.failed(results)
        return {
            name: Data(
                study,
                list(study.grid(self.scale)),
                {at: Results.of_point([results[run.key] for run in runs], {}) for at, runs in self.runs[name].items()},
            )
            for name, study in self.figure.studies.items()
            if name not in failed
        }

    def failed(self, results: Mapping[str, Result]) -> dict[str, Result]:
        """The first failed run of each study that has one."""
        found: dict[str, Result] = {}
        for name, points in self.runs.items():
            for run in (run for runs in points.values() for run in runs if results[run.key].error):
                found.setdefault(name, results[run.key])
        return found


@dataclass(frozen=True)
class Reproduced:
    """A figure with its charts and verdicts."""

    figure: Figure
    charts: Sequence[Chart]
    claims: Sequence[Judged]
    followed: Mapping[str, Chosen]
    """For each study, the values of choices that it follows and that are not the default."""
    origins: Mapping[str, Sequence[Provenance]]
    """Provenance of each study's runs."""
    has_errors: bool = False
    """True if a run, a claim or a drawing of the figure raised an error."""

    @property
    def runs(self) -> int:
        """Number of runs."""
        return sum(map(len, self.origins.values()))

    @property
    def digests(self) -> dict[str, list[str]]:
        """Digests of each study's runs."""
        return {name: [each["digest"] for each in of_study] for name, of_study in self.origins.items()}

    def without(self, name: str, value: str) -> str | None:
        """The paper that does not have a value of a choice, or the figure whose runs the value does not change.

        None if the value changes the figure, is the default, or if the figure has no studies.
        """
        choice = choices(self.figure.paper).get(name)
        if not self.followed or (choice and value == choice.taken):
            return None
        if not choice or value not in choice.values:
            return self.figure.paper
        return None if any(name in of_study for of_study in self.followed.values()) else self.figure.id


@dataclass(frozen=True)
class Reproduction:
    """Results of one reproduction."""

    scale: Scale
    chosen: Chosen
    figures: Sequence[Reproduced]
    runs: frozenset[str]
    """Keys of the runs."""
    reused: frozenset[str]
    """Keys of the runs that were found in the store."""
    seconds: float
    reach: dict[tuple[str, str], set[str]] = field(default_factory=dict, repr=False)
    """Cache: the claims that read a study changed by a value of a choice, by choice and value."""

    @property
    def claims(self) -> list[Judged]:
        """Verdicts of all figures."""
        return [judged for figure in self.figures for judged in figure.claims]

    def of_paper(self, paper: str) -> list[Reproduced]:
        """Figures of a paper, those with charts first."""
        return sorted((each for each in self.figures if each.figure.paper == paper), key=lambda each: not each.charts)

    @property
    def summary(self) -> dict[str, Counts]:
        """Number of claims with each verdict, by paper."""
        of_papers = {paper: self.of_paper(paper) for paper in every_paper()}
        return {
            name: count([one for each in found for one in each.claims]) for name, found in of_papers.items() if found
        }

    @property
    def not_reached(self) -> dict[str, list[str]]:
        """For each choice, the papers that do not have it, and the figures that vary or set it."""
        found = {
            f"{name}={value}": [each for figure in self.figures if (each := figure.without(name, value))]
            for name, value in self.chosen.items()
        }
        return {change: list(dict.fromkeys(places)) for change, places in found.items() if places}

    def conditions(self, paper: str) -> str:
        """Sentences on scale, runs and choices of a paper's reproduction."""
        here, every = len(self.of_paper(paper)), sum(each.paper == paper for each in figures().values())
        part = [f"A part: {here} of {every} figures."] if here < every else []
        chosen = ", ".join(f"{name}={value}" for name, value in self.chosen.items()) or "as the recipes take them"
        without = [f"{change} is not followed by {', '.join(places)}." for change, places in self.not_reached.items()]
        return " ".join([*part, f"Scale {self.scale.value}, {len(self.runs)} runs. Choices: {chosen}.", *without])

    def document(self) -> dict[str, Any]:
        """Verdicts as plain data."""
        return {
            "scale": self.scale.value,
            "choices": dict(self.chosen),
            "not_reached": self.not_reached,
            "claims": [judged.document() for judged in self.claims],
            "summary": self.summary,
            "runs": len(self.runs),
            "seconds": round(self.seconds, 1),
        }


def select(patterns: Sequence[str]) -> list[Figure]:
    """Figures of which the id, the paper or a claim matches one of the patterns (default: all).

    Papers of other packages that cannot be used are left out with a note. If a pattern names such a paper, its
    `MissingRequirement` is raised. Raises `ConfigError` for a pattern without match.
    """
    known = figures()
    for paper, error in refused().items():
        if any(pattern.partition("/")[0] == paper for pattern in patterns):
            raise error
    for each in unheard():
        note(f"left out: {each}")
    found: set[str] = set()
    for pattern in patterns:
        matches = {name for name, figure in known.items() if _matches(figure, pattern)}
        if not matches:
            hint = did_you_mean(pattern, [*every_paper(), *known, *claims()])
            every = f" (papers: {', '.join(every_paper())}; `shortflow list figures` and `list claims` have the rest)"
            raise ConfigError(f'"{pattern}": no paper, figure or claim{hint or every}')
        found |= matches
    return [figure for name, figure in known.items() if name in found or not patterns]


def _matches(figure: Figure, pattern: str) -> bool:
    names = (figure.paper, figure.id, *(claim.id for claim in figure.claims))
    return any(fnmatch.fnmatchcase(name, pattern) for name in names)


def ask_reproduction(chosen_figures: Sequence[Figure], scale: Scale, chosen: Chosen | None = None) -> Ask[Reproduction]:
    """Asks for all runs of the figures in one batch, and decides their claims.

    Raises `ConfigError` for a choice that changes no run.
    """
    chosen = chosen or {}
    started = time.perf_counter()
    planned = _all_planned(chosen_figures, scale, chosen)
    reaching = {name for plan in planned for of_study in plan.followed.values() for name in of_study}
    for name, value in chosen.items():
        taken = [each[name].taken for each in (choices(plan.figure.paper) for plan in planned) if name in each]
        if value not in taken and name not in reaching:
            raise ConfigError(
                f"{name}={value}: changes no run of these figures; `shortflow list choices` has its reach"
            )
    # The runs of another package are its author's code. If one of them fails, the other figures still get verdicts.
    keep_going = any(plan.figure.paper not in OWN for plan in planned)
    done = yield Wanted([run for plan in planned for run in plan.all_runs], keep_going=keep_going)
    results = {result.key: result for result in done}
    figures = [_finished(plan, results) for plan in planned]
    reused = frozenset(key for key, result in results.items() if result.reused)
    return Reproduction(scale, chosen, figures, frozenset(results), reused, time.perf_counter() - started)


def _all_planned(chosen_figures: Sequence[Figure], scale: Scale, chosen: Chosen) -> list[Planned]:
    """Runs of all figures.

    If planning a figure of another package raises an error, the figure is left out with a note. If no figure is left,
    the first error is raised.
    """
    planned: list[Planned] = []
    errors: list[Exception] = []
    for figure in chosen_figures:
        try:
            planned.append(runs_of(figure, scale, chosen))
        except Exception as error:  # any error, because a figure of another package runs its author's code
            if figure.paper in OWN:
                raise
            errors.append(ConfigError(f"{figure.id}: {fault(error, package_of(figure.paper))}"))
    if errors and not planned:
        raise errors[0]
    for each in errors:
        note(f"left out: {each}")
    return planned


def _finished(plan: Planned, results: Mapping[str, Result]) -> Reproduced:
    figure, failed = plan.figure, plan.failed(results)
    for name, run in failed.items():
        if run.error and figure.paper in OWN:
            raise run.error
        note(
            f"{figure.id}: a run of the study {name} failed; claims that read the study are untested: {run.error_text}"
        )
    data = plan.data(results)
    instead, scale = stand_ins(figure.paper), None if any(plan.followed.values()) else plan.scale
    judged: list[Judged] = []
    raised = {name: run.error_text for name, run in failed.items()}
    for claim in figure.claims:
        if lost := next((run for name, run in failed.items() if name in figure.looked_at(claim)), None):
            finding = not_tested(f"a run failed: {lost.error_text}")
            judged.append(Judged(claim, finding, Baseline.UNTESTED, scale))
        else:
            judged.append(_judged(claim, data, instead, scale, raised))
    origins = {
        name: [results[run.key].provenance for runs in points.values() for run in runs]
        for name, points in plan.runs.items()
    }
    sound = replace(figure, claims=[claim for claim in figure.claims if claim.id not in raised])
    charts = [] if failed else _charts(sound, data, raised)
    return Reproduced(figure, charts, judged, plan.followed, origins, bool(raised))


def _judged(
    claim: Claim, data: Mapping[str, Data], instead: Mapping[str, str], scale: Scale | None, raised: dict[str, str]
) -> Judged:
    """A claim with its verdict. If a claim of another package raises an error, the claim is untested.

    `raised` gets the error under the claim's id.
    """
    try:
        return judge_claim(claim, data, instead, scale)
    except Exception as error:  # any error, because a claim of another package runs its author's code
        if claim.paper in OWN:
            raise
        raised[claim.id] = fault(error, package_of(claim.paper))
        finding = not_tested(f"deciding the claim raises {raised[claim.id]}")
        return Judged(claim, finding, Baseline.UNTESTED, scale)


def _charts(figure: Figure, data: Mapping[str, Data], raised: dict[str, str]) -> Sequence[Chart]:
    """Charts of a figure. If drawing a figure of another package raises an error, a note says so."""
    try:
        return figure_charts(figure, data)
    except Exception as error:  # any error, because a drawing of another package runs its author's code
        if figure.paper in OWN:
            raise
        raised[figure.id] = fault(error, package_of(figure.paper))
        note(f"{figure.id}: drawing raises {raised[figure.id]}; the page has no chart of it")
        return []


def followed_choices(figure: Figure, scale: Scale, chosen: Chosen) -> dict[str, Chosen]:
    """For each study of a figure, the chosen values that it follows, without values that recipes take anyway."""
    known = choices(figure.paper)

    def follows(study: Study, name: str, value: str) -> bool:
        if name not in known or value not in known[name].others:
            return False
        values = known[name].values
        return study.follows(scale, values[known[name].taken], values[value])

    return {
        each: {name: value for name, value in chosen.items() if follows(study, name, value)}
        for each, study in figure.studies.items()
    }


def runs_of(figure: Figure, scale: Scale, chosen: Chosen) -> Planned:
    """Planned runs of a figure with the chosen values."""
    known, follows = choices(figure.paper), followed_choices(figure, scale, chosen)
    runs = {}
    for name, study in figure.studies.items():
        settings = {key: each for at, value in follows[name].items() for key, each in known[at].values[value].items()}
        runs[name] = {position: study.runs(scale, position, settings) for position in study.positions(scale)}
    return Planned(figure, scale, follows, runs)
