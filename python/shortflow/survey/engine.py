"""Running the survey: all schemes on all workloads at all levels, in one pool."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shortflow.comparison import SHORTEST, Comparison, with_distances
from shortflow.errors import unknown_name
from shortflow.reproduction.study import Scale
from shortflow.runner import Progress, plan, run_all
from shortflow.scenario import Settings, as_pairs
from shortflow.store import Store
from shortflow.survey.schemes import SCHEMES
from shortflow.survey.workloads import WORKLOADS, Level, Workload

SEEDS = {Scale.QUICK: 5, Scale.FULL: 10}


@dataclass(frozen=True)
class Place:
    """A workload at one of its levels."""

    workload: Workload
    level: Level

    @property
    def label(self) -> str:
        """The level in words."""
        return self.workload.label(self.level)


@dataclass(frozen=True)
class Survey:
    """Everything that one call compared."""

    scale: Scale
    settings: Mapping[str, str]
    """What was changed for all workloads or schemes."""
    places: Mapping[Place, Comparison]
    runs: int
    reused: int
    """How many of the runs were there already."""
    seconds: float

    @property
    def seeds(self) -> int:
        """How many seeds every comparison has."""
        return SEEDS[self.scale]


def choose(names: Sequence[str]) -> list[Workload]:
    """The workloads of these names; all without names."""
    for name in names:
        if name not in WORKLOADS:
            raise unknown_name("workload", name, list(WORKLOADS))
    return [workload for name, workload in WORKLOADS.items() if not names or name in names]


def survey(
    workloads: Sequence[Workload],
    *,
    scale: Scale,
    out: Path,
    settings: Settings | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Survey:
    """Run what is not in `out` already, and compare.

    `settings` change every workload, and every scheme that has them.
    """
    started = time.perf_counter()
    places = [Place(workload, level) for workload in workloads for level in workload.levels]
    seeds = range(1, SEEDS[scale] + 1)
    scenarios = [place.workload.scenario(place.level, scale) for place in places]
    runs = [run for scenario in scenarios for run in plan(scenario, [*SCHEMES, SHORTEST], seeds, settings)]
    summaries = run_all(runs, jobs=jobs, store=Store(out), progress=progress)
    size, of_schemes = len(runs) // len(places), len(SCHEMES) * len(seeds)
    compared = {}
    for number, place in enumerate(places):
        found = with_distances(summaries[number * size : (number + 1) * size])
        title = place.workload.title
        compared[place] = Comparison(place.workload.name, title, {}, found[:of_schemes], found[of_schemes:])
    reused = sum(summary.reused for summary in summaries)
    return Survey(scale, dict(as_pairs(settings)), compared, len(runs), reused, time.perf_counter() - started)
