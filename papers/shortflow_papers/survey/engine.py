"""Engine of the survey: does the runs of all schemes on all workloads and levels in one batch."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shortflow.api.errors import unknown_name
from shortflow.api.runs import SHORTEST, Ask, Result, Results, Wanted, plan, with_distances
from shortflow.api.scenarios import Settings, as_pairs
from shortflow_papers.lab.study import Scale
from shortflow_papers.survey.schemes import FLOOR, initial_alphas
from shortflow_papers.survey.winners import Cell, Criterion, judge_cells
from shortflow_papers.survey.workloads import WORKLOADS, Level, Workload

SEEDS = 10


@dataclass(frozen=True)
class SurveyPlace:
    """A workload at one of its levels."""

    workload: Workload
    level: Level

    @property
    def label(self) -> str:
        """Text of the level."""
        return self.workload.label(self.level)

    @property
    def name(self) -> str:
        """Text of workload and level."""
        return f"{self.workload.name} {self.label}"


@dataclass(frozen=True)
class View:
    """Results of all places with one initial alpha."""

    alpha: str
    places: Mapping[SurveyPlace, Results]
    """Results by place. Schemes have their registered names, without settings."""
    cells: Mapping[SurveyPlace, Mapping[Criterion, Cell]]

    @property
    def label(self) -> str:
        """Text of the initial alpha."""
        return f"alpha {self.alpha}"


@dataclass(frozen=True)
class Survey:
    """Results of one survey."""

    scale: Scale
    settings: Mapping[str, str]
    """Changed settings of all workloads or schemes."""
    views: Sequence[View]
    """Views by initial alpha. The first one has the alpha of the papers' ns-2 code."""
    seeds: int
    """Number of seeds of each comparison."""
    runs: int
    reused: int
    """Number of runs found in the store."""
    seconds: float


def views(compared: Mapping[str, Mapping[SurveyPlace, Results]]) -> list[View]:
    """Views by initial alpha. Winners are corrected over the cells of all views."""
    judged = iter(judge_cells([comparison for places in compared.values() for comparison in places.values()]))
    return [View(alpha, places, {place: next(judged) for place in places}) for alpha, places in compared.items()]


def choose(names: Sequence[str]) -> list[Workload]:
    """Workloads with these names (default: all). Raises an error for an unknown name."""
    for name in names:
        if name not in WORKLOADS:
            raise unknown_name("workload", name, list(WORKLOADS))
    return [workload for name, workload in WORKLOADS.items() if not names or name in names]


def ask_survey(
    workloads: Sequence[Workload], scale: Scale, settings: Settings | None = None, seeds: int = SEEDS
) -> Ask[Survey]:
    """Asks for the runs of all schemes on all levels of workloads, and judges them.

    `settings` change all workloads, and the schemes that accept them.
    """
    started = time.perf_counter()
    places = [SurveyPlace(workload, level) for workload in workloads for level in workload.levels]
    alphas = initial_alphas(settings)
    schemes = list(dict.fromkeys([*(name for names in alphas.values() for name in names.values()), SHORTEST]))
    scenarios = [place.workload.scenario(place.level, scale) for place in places]
    of_all = {**FLOOR, **(settings or {})}
    runs = [run for scenario in scenarios for run in plan(scenario, schemes, range(1, seeds + 1), of_all)]
    done = yield Wanted(runs)
    size = len(schemes) * seeds
    found = {place: with_distances(done[number * size : (number + 1) * size]) for number, place in enumerate(places)}
    compared = {
        alpha: {place: _comparison(place, of_place, names) for place, of_place in found.items()}
        for alpha, names in alphas.items()
    }
    reused = sum(result.reused for result in done)
    elapsed = time.perf_counter() - started
    return Survey(scale, dict(as_pairs(settings)), views(compared), seeds, len(runs), reused, elapsed)


def _comparison(place: SurveyPlace, runs: Sequence[Result], names: Mapping[str, str]) -> Results:
    """Results of a place under the schemes of one initial alpha, and under ideal SRPT.

    `names` has the scheme with settings for each registered name. Results have the registered names.
    """
    every = {**names, SHORTEST: SHORTEST}
    renamed = [run.named(scheme) for scheme, name in every.items() for run in runs if run.scheme == name]
    return Results(renamed, place.workload.name, place.workload.title, ideal_names=[SHORTEST])
