"""Schemes in a scenario at every point of a grid of settings, over common seeds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NotRequired, TypedDict

from shortflow.comparison import Comparison, SchemeTable
from shortflow.engine import Batch, Held, Jobs, Progress, concluding, run_each
from shortflow.errors import ConfigError, require_at_least
from shortflow.executors import Failed
from shortflow.grid import Grid, Point, check_apart
from shortflow.precision import Precision, seeds_until
from shortflow.result import Run
from shortflow.runner import Planner
from shortflow.scenario import Scenario, Settings
from shortflow.store.runs import Store
from shortflow.transport import Transport


class PointTable(TypedDict):
    """A point as other programs read it."""

    at: dict[str, str]
    seeds: list[int]
    runs_digest: str
    schemes: dict[str, SchemeTable]
    until_ci_met: NotRequired[bool]


class FailureTable(TypedDict):
    """A run that failed, as other programs read it."""

    at: dict[str, str]
    scheme: str
    seed: int
    error: str


@dataclass(frozen=True)
class SweptPoint:
    """What the runs at a point gave."""

    at: Point
    comparison: Comparison
    failures: Sequence[tuple[Run, Failed]] = ()
    met: bool | None = None
    """Whether the intervals became as narrow as was wanted; None if nothing was."""


@dataclass(frozen=True)
class Sweep:
    """The finished points of a sweep, in the order of the grid."""

    scenario: str
    title: str
    settings: dict[str, str]
    """What was changed at every point."""
    grid: Grid
    points: Sequence[SweptPoint]
    runs: int
    reused: int
    """How many of the runs were there already."""

    @property
    def failures(self) -> list[FailureTable]:
        """The runs that failed, each once, at the first point that has it."""
        found: dict[str, FailureTable] = {}
        for point in self.points:
            for run, failed in point.failures:
                table = FailureTable(at=dict(point.at), scheme=run.scheme.name, seed=run.seed, error=failed.text)
                found.setdefault(run.key, table)
        return list(found.values())

    def document(self) -> dict[str, Any]:
        """The sweep as plain data; `docs/results.md` describes it."""
        return {
            "scenario": self.scenario,
            "title": self.title,
            "settings": self.settings,
            "keys": self.grid.keys,
            "points": [_table(point) for point in self.points],
            "runs": self.runs,
            "failed": self.failures,
        }


def sweep(
    scenario: Scenario,
    schemes: Sequence[str | Transport],
    grid: Grid,
    seeds: int,
    *,
    store: Store | None,
    settings: Settings | None = None,
    until: Precision | None = None,
    tables: bool = False,
    jobs: Jobs = None,
    progress: Progress | None = None,
    found: Callable[[int, int], object] | None = None,
    held: Held | None = None,
) -> Sweep:
    """Run every scheme at every point of the grid with seeds 1 to `seeds`, but for what is in the store.

    Every point is validated before the first run. Points are run coarse first, so that a part of the sweep is a coarse
    picture of it. A run that fails is kept with its error and stops no other. With `until`, each point has as many
    seeds as its intervals need. `found` is told how many runs the store had, of how many, if that is known before.
    Without a store, `held` gets the finished runs.
    """
    require_at_least(1, seeds=seeds)
    check_apart(grid.keys, settings or {})
    if until:
        until.check(scenario.classes)
    places = _unfinished(Planner(scenario, schemes), grid, settings or {})
    order, everything = [places[number] for number in grid.coarse_first], Batch()

    def look(new: Sequence[int]) -> bool:
        begun = [place for place in order if not place.met]
        runs = [run for place in begun for run in place.more(new)]
        done = run_each(
            runs,
            jobs=jobs,
            store=store,
            tables=tables,
            keep_going=True,
            conclude=False,
            progress=progress,
            found=None if until else found,
            held=held,
        )
        everything.summaries.update(done.summaries)
        everything.failures.update(done.failures)
        if until is None:
            return True
        reached = [place.swept(everything, wanted=True) for place in begun]
        until.require([each.comparison for each in reached])
        for place, each in zip(begun, reached, strict=True):
            place.met = bool(each.failures) or until.is_met(each.comparison)  # more seeds do not help a failure
        return all(place.met for place in begun)

    with concluding(store):
        if until:
            seeds_until(until, seeds, look)
        else:
            look(range(1, seeds + 1))
    points = [place.swept(everything, wanted=until is not None) for place in places]
    reused = sum(summary.reused for summary in everything.summaries.values())
    runs = len(everything.summaries) + len(everything.failures)
    fixed = {key: value for key, value in scenario.changes(settings).items() if key not in grid.keys}
    return Sweep(scenario.name, scenario.title, fixed, grid, points, runs, reused)


class _Unfinished:
    """A point while its runs are being done."""

    def __init__(self, at: Point, planned: Callable[[Sequence[int]], list[Run]]) -> None:
        self.met = False  # whether no more seeds are needed, or would help
        self._at, self._planned = at, planned
        self._runs: list[Run] = []

    def more(self, seeds: Sequence[int]) -> list[Run]:
        """The runs with more seeds."""
        new = self._planned(seeds)
        self._runs += new
        return new

    def swept(self, batch: Batch, *, wanted: bool) -> SweptPoint:
        """What the runs gave."""
        done = [batch.summaries[run.key] for run in self._runs if run.key in batch.summaries]
        failed = [(run, batch.failures[run.key]) for run in self._runs if run.key in batch.failures]
        of = self._runs[0].scenario
        comparison = Comparison(of.name, of.title, dict(self._at), done)
        return SweptPoint(self._at, comparison, failed, self.met and not failed if wanted else None)


def _unfinished(planner: Planner, grid: Grid, settings: Settings) -> list[_Unfinished]:
    """Every point, validated; an error says at which point it is."""
    places = []
    for point in grid.points:
        changed = {**settings, **point}
        try:
            planner.runs(changed, [1])
        except ConfigError as error:
            _refuse_anywhere(planner, settings, str(error))
            where = ", ".join(f"{key}={value}" for key, value in point.items())
            raise ConfigError(f"--grid: at {where}: {error}") from None
        places.append(_Unfinished(point, partial(planner.runs, changed)))
    return places


def _refuse_anywhere(planner: Planner, settings: Settings, message: str) -> None:
    """Say an error that has nothing to do with the grid, such as a scheme that there is not, without a point."""
    try:
        planner.runs(settings, [1])
    except ConfigError as error:
        if str(error) == message:
            raise error from None


def _table(point: SweptPoint) -> PointTable:
    of = point.comparison
    table: PointTable = {
        "at": dict(point.at),
        "seeds": of.seeds,
        "runs_digest": of.runs_digest,
        "schemes": of.scheme_tables,
    }
    if point.met is not None:
        table["until_ci_met"] = point.met
    return table
