"""What a sweep, a tuning and a store give in Python."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl
from rich.console import RenderableType
from rich.text import Text

from shortflow import result, sweeping
from shortflow.api.objects import (
    Comparison,
    Reader,
    RunResult,
    Shown,
    View,
    changed_text,
    extended,
    not_kept,
    origin_of,
    save,
)
from shortflow.api.plots import Plots, TuningPlots
from shortflow.errors import ConfigError, front_door, unknown_name
from shortflow.metrics.catalogue import named
from shortflow.quantities import in_base_unit
from shortflow.report.study import Study, studies
from shortflow.report.sweep.runs import stored_sweeps
from shortflow.report.sweep.tables import sweep_section, sweep_tables
from shortflow.report.sweep.view import best_section
from shortflow.report.tables import lay_out, overview_section, stacked
from shortflow.result import RunSummary
from shortflow.store.frames import counted, runs_frame
from shortflow.store.reading import read_flows, read_runs, summaries
from shortflow.store.runs import measured_today, read_each, read_run, select_runs
from shortflow.store.selection import Selection
from shortflow.tuning import record
from shortflow.tuning.tables import sections as tuning_sections
from shortflow.tuning.verdict import sentence


@dataclass(frozen=True, repr=False)
class Sweep(sweeping.Sweep, Shown):
    """Schemes at every point of a grid of settings; `points` has a `Comparison` for each, under `at` its settings."""

    read: Reader = field(default=not_kept, compare=False)
    """Gets a run with its tables, from wherever they are kept."""

    @property
    def plot(self) -> Plots:
        """Its plots, such as `plot.metric("p99_short_s")` over what varies."""
        return Plots(lambda _: _one(studies(self.results)), lambda: self.summaries)

    @property
    def summaries(self) -> list[RunSummary]:
        """Every finished run once, with its metrics."""
        return list(
            {run.origin["key"]: run for each in self.points for run in each.comparison.runs if run.origin}.values()
        )

    @functools.cached_property
    def results(self) -> list[RunResult]:
        """Every finished run with its tables; a `ConfigError` if they were not kept."""
        return [self.read(run) for run in self.summaries]

    @functools.cached_property
    def flows(self) -> pl.DataFrame:
        """As that of a `Comparison`, of all points; `run` joins it to `to_frame`, which has the settings."""
        return pl.concat(counted(each.flows, each.meta, each.provenance) for each in self.results)

    def to_frame(self) -> pl.DataFrame:
        """One row per run, with the columns of `runs.parquet`: a column per setting that varies, and every metric."""
        return runs_frame(self.summaries)

    @front_door
    def save(self, directory: str | Path) -> Path:
        """Keep all runs with their tables in a store."""
        return save(self.results, directory)

    def __repr__(self) -> str:
        """What was swept."""
        failed = f", {len(self.failures)} failed" if self.failures else ""
        points = f"{len(self.points)} points of {', '.join(self.grid.keys)}"
        return f"<Sweep {self.scenario}{changed_text(self.settings)}: {points}; {self.runs} runs{failed}>"

    def _tables(self) -> RenderableType:
        return sweep_tables(self)

    def _view(self) -> View:
        section = sweep_section(self)
        return f"{self.title}\n{self.scenario}{changed_text(self.settings)}", [section] if section else [], ()


@dataclass(frozen=True, repr=False)
class Tuning(record.Tuning, Shown):
    """A search for parameters: what was asked, every trial, and the checks on fresh seeds.

    `chosen` is the trial that serves the goal best, with its `settings`; none if no trial is feasible.
    """

    @property
    def plot(self) -> TuningPlots:
        """The plots of its report: `plot.all()`."""
        return TuningPlots(self)

    def to_frame(self) -> pl.DataFrame:
        """One row per trial: its parameters, the mean of each metric of the goal, and what became of it.

        Parameters are in seconds, bytes or bits per second where they are one of these.
        """
        keys, metrics = [each.key for each in self.question.parameters], self.question.goal.metrics
        of_keys = {key: [trial.settings[key] for trial in self.trials] for key in keys}
        return pl.DataFrame(
            [
                pl.Series("trial", [trial.number for trial in self.trials], pl.UInt32),
                *(pl.Series(key, in_base_unit(texts), pl.Float64) for key, texts in of_keys.items()),
                *(pl.Series(name, [trial.found.mean(name) for trial in self.trials], pl.Float64) for name in metrics),
                pl.Series("given_up", [trial.given_up for trial in self.trials], pl.Boolean),
                pl.Series("feasible", [trial.number in self.feasible for trial in self.trials], pl.Boolean),
            ]
        )

    def __repr__(self) -> str:
        """What was tuned."""
        of = self.question
        return f"<Tuning {of.scenario}, {of.scheme}: {of.goal.text}; {len(self.trials)} trials>"

    def _tables(self) -> RenderableType:
        head, sections, notes = self._view()
        tables = [table for section in sections for table in lay_out(section)]
        return stacked(Text(head), *tables, Text("\n".join(notes)))

    def _view(self) -> View:
        of = self.question
        head = f"{of.title}\n{of.scenario}{changed_text(of.settings)}: {of.scheme} for {of.goal.text}"
        return head, list(tuning_sections(self)), [sentence(self)]


class Results(Shown):
    """The runs of a store that count, of one scenario or of several."""

    def __init__(self, directory: str | Path) -> None:
        """Of a directory; a `ConfigError` if runs of it cannot be compared, a `DamagedResult` names what is damaged."""
        self.directory = Path(directory)
        self._frame = read_runs(self.directory)

    def to_frame(self) -> pl.DataFrame:
        """One row per run, with the columns of `runs.parquet` (docs/results.md).

        A column per setting that varies, in seconds, bytes or bits per second, and one per metric. Runs that newer ones
        superseded are there too, and marked `superseded`; those that failed have an `error`.
        """
        return self._frame

    @functools.cached_property
    def flows(self) -> pl.DataFrame:
        """The flows that count for completion times, of all runs that count; as that of a `Comparison`.

        `run` joins them to `to_frame`, which has the settings. A `ConfigError` where runs have no tables.
        """
        return read_flows(self.directory)

    @property
    def scenarios(self) -> list[str]:
        """The scenarios that were run."""
        return self._frame["scenario"].unique(maintain_order=True).to_list()

    def comparisons(self, scenario: str | None = None) -> list[Comparison]:
        """The runs of a scenario, the only one unless named, as comparisons: one for each choice of its settings.

        Runs without tables are among them; only what needs tables, such as `flows`, is a `ConfigError` there.
        """
        selection = self._selection
        bare = (_bare(measured_today(place, selection.records[place])) for place in selection.current)
        points = _one(studies(bare), scenario).points
        return [extended(Comparison, point.comparison, read=self._read) for point in points]

    @property
    def plot(self) -> Plots:
        """The plots of a store with one scenario, such as `plot.fct_cdf()`."""
        return Plots(lambda _: self._study(), lambda: summaries(self._selection))

    def __repr__(self) -> str:
        """What is there."""
        return f"<Results {self.directory}: {self._frame.height} runs of {', '.join(self.scenarios)}>"

    def _read(self, run: RunSummary) -> RunResult:
        """A run with its tables, under the name that its comparison has for its scheme."""
        place = self._places[origin_of(run)["key"]]
        if not self._selection.records[place]["tables"]:
            return not_kept(run)
        return extended(RunResult, replace(read_run(place), provenance=origin_of(run)))

    def _study(self) -> Study:
        return _one(self._studies)

    @functools.cached_property
    def _selection(self) -> Selection:
        return select_runs(self.directory)

    @functools.cached_property
    def _places(self) -> dict[str, Path]:
        return {self._selection.origin(place)["key"]: place for place in self._selection.current}

    @functools.cached_property
    def _studies(self) -> list[Study]:
        records = self._selection.records
        places = [place for place in self._selection.current if records[place]["tables"]]
        return studies(read_each(places, read_run).values())

    def _tables(self) -> RenderableType:
        _, sections, _ = self._view()
        return stacked(*(table for section in sections for table in lay_out(section)))

    def _view(self) -> View:
        found = [
            overview_section(
                study.title, study.x_name or "", [(point.label, point.comparison) for point in study.points]
            )
            for study in self._studies
        ]
        found += [best_section(each) for each in stored_sweeps(self._selection)]
        return f"{self.directory}: {self._frame.height} runs of {', '.join(self.scenarios)}", found, ()


def _bare(record: result.Record) -> result.RunResult:
    """A stored run with its metrics alone."""
    rows = named(record["metrics"], record["lower_bounds"], record["classes"])
    return result.RunResult({}, record["meta"], record["provenance"], rows=rows)


def _one(found: Sequence[Study], scenario: str | None = None) -> Study:
    names = [each.name for each in found]
    if not names:
        raise ConfigError("these runs have no tables: `tables=True` and `sweep --tables` keep them")
    if scenario is None and len(found) > 1:
        raise ConfigError(f"there are runs of several scenarios, so name one of {', '.join(names)} in comparisons(…)")
    if scenario is not None and scenario not in names:
        raise unknown_name("scenario of these runs", scenario, names)
    return found[names.index(scenario) if scenario else 0]
