"""What the verbs give: results with their tables, plots and numbers, which show themselves in notebooks."""

import functools
import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
from rich.console import Console, RenderableType
from rich.text import Text

from shortflow import comparison, result, sweeping
from shortflow.api.plots import Plots, TuningPlots
from shortflow.engine import Held
from shortflow.errors import ConfigError, MissingRequirement, front_door, unknown_name
from shortflow.executors.outcome import decoded
from shortflow.lazy import pd
from shortflow.metrics.catalogue import check_name, named
from shortflow.metrics.stats import Estimate
from shortflow.quantities import in_base_unit
from shortflow.report.markup import part
from shortflow.report.study import Point, Study, studies
from shortflow.report.sweep.runs import stored_sweeps
from shortflow.report.sweep.tables import sweep_section, sweep_tables
from shortflow.report.sweep.view import best_section
from shortflow.report.tables import (
    WIDTH,
    Section,
    caption,
    comparison_tables,
    lay_out,
    main_sections,
    main_tables,
    overview_section,
    stacked,
)
from shortflow.report.verdict import verdict
from shortflow.result import KEY_LENGTH, RunSummary
from shortflow.store.frames import counted, runs_frame
from shortflow.store.reading import read_flows, read_runs, renew_table, summaries
from shortflow.store.runs import Store, measured_today, place_of, read_each, read_run, select_runs, write_run
from shortflow.store.selection import Selection, changed
from shortflow.tuning import record
from shortflow.tuning.tables import sections as tuning_sections
from shortflow.tuning.verdict import sentence

T = TypeVar("T")


class Shown(ABC):
    """What results have in common: tables as data frames, text, and a view in notebooks."""

    @abstractmethod
    def to_frame(self) -> pl.DataFrame:
        """The numbers as one tidy polars table."""

    @property
    @abstractmethod
    def plot(self) -> Plots | TuningPlots:
        """The plots."""

    @front_door
    def to_pandas(self) -> "pd.DataFrame":
        """The same table as `to_frame` for pandas; `MissingRequirement` where pandas or pyarrow is not installed."""
        try:
            return self.to_frame().to_pandas()
        except ModuleNotFoundError as error:
            raise MissingRequirement(
                f"to_pandas needs {error.name}, which is not installed: pip install 'shortflow[pandas]'"
            ) from error

    def __str__(self) -> str:
        """The main tables, as the command prints them."""
        text = io.StringIO()
        Console(file=text, width=WIDTH, highlight=False, emoji=False, markup=False).print(self._tables())
        return text.getvalue().rstrip()

    @abstractmethod
    def _tables(self) -> RenderableType:
        """The main tables for a terminal."""

    @abstractmethod
    def _view(self) -> tuple[str, Sequence[Section], Sequence[str]]:
        """A caption, the main tables, and notes below them."""

    def _repr_html_(self) -> str:
        """The main tables and one plot, for a notebook."""
        head, sections, notes = self._view()
        return part(
            "api/result.html", caption=head.split("\n"), sections=sections, notes=notes, plot=self.plot.sketch()
        )


@dataclass(frozen=True, repr=False)
class RunResult(result.RunResult, Shown):
    """A finished run.

    `flows`, `tasks`, `samples` and `ports` are its tables as polars frames, with the columns of docs/results.md: times
    in seconds, sizes in bytes, rates in bits per second. `flows` has every flow, also those of the warm-up, and an
    empty `fct_s` where one did not finish; `metrics` and plots count such flows with their age.
    """

    @property
    def plot(self) -> Plots:
        """Its plots, such as `plot.fct_cdf()`."""
        return self._comparison.plot

    def to_frame(self) -> pl.DataFrame:
        """One row with the run's metrics, with the columns of `runs.parquet`."""
        return self._comparison.to_frame()

    @front_door
    def save(self, directory: str | Path) -> Path:
        """Keep it in a directory as `shortflow run --out` does; `read_run` reads it again.

        A `ConfigError` if something else is there.
        """
        write_run(self, directory)
        return Path(directory)

    def __repr__(self) -> str:
        """What was run."""
        of = self.provenance
        return f"<RunResult {of['scenario']}, {of['scheme']}, seed {of['seed']}, digest {of['digest'][:KEY_LENGTH]}>"

    @functools.cached_property
    def _comparison(self) -> "Comparison":
        of = self.provenance
        return Comparison(of["scenario"], of["title"], changed(of), [self.summary], read=lambda _: self)

    def _tables(self) -> RenderableType:
        return comparison_tables(self._comparison)

    def _view(self) -> tuple[str, Sequence[Section], Sequence[str]]:
        return self._comparison._view()


Reader = Callable[[RunSummary], RunResult]
"""Gets a run with its tables, from wherever they are kept."""


def not_kept(run: RunSummary) -> RunResult:
    """Of runs that left their metrics alone: a `ConfigError`."""
    raise ConfigError(
        f"the tables of {run.scheme} were not kept: pass tables=True, which keeps them in memory or in `out`"
    )


@dataclass(frozen=True, repr=False)
class Comparison(comparison.Comparison, Shown):
    """Schemes in one scenario over the same seeds, with what ideal schedulers make of the same flows.

    `runs` has what is kept of each run; `schemes`, `seeds` and `metric_names` say what there is. `estimate` gives a
    metric of a scheme with its 95 % interval over the seeds, `difference` the paired difference between two; metrics
    are those of `shortflow list metrics`, in seconds, bits per second, packets or shares.
    """

    read: Reader = field(default=not_kept, compare=False)
    """Gets a run with its tables, from wherever they are kept."""

    @functools.cached_property
    def results(self) -> list[RunResult]:
        """Every run with its tables, those of ideal schedulers last; a `ConfigError` if tables were not kept."""
        return [self.read(run) for run in [*self.runs, *self.ideal]]

    @functools.cached_property
    def flows(self) -> pl.DataFrame:
        """The flows that count for completion times, of all runs: `scheme`, `seed`, `size_bytes`, `elapsed_s`, ….

        `elapsed_s` is the completion time or, of a flow that is `censored` as it did not finish, its age at the end of
        the run, which the true time exceeds; no flow is left out, as one in the `fct_s` of a run would be.
        """
        return pl.concat(counted(each.flows, each.meta, each.provenance) for each in self.results)

    @property
    def plot(self) -> Plots:
        """Its plots, such as `plot.fct_cdf()`."""
        return Plots(self._study, lambda: self.runs)

    @front_door
    def estimate(self, scheme: str, metric: str) -> Estimate | None:
        """A metric's mean over the seeds with its 95 % interval, none if the scheme does not have it.

        A `ConfigError` for a scheme or metric that is not known names the nearest.
        """
        self._check(metric, scheme)
        return super().estimate(scheme, metric)

    @front_door
    def difference(self, scheme: str, baseline: str, metric: str) -> Estimate | None:
        """How far a scheme lies above a baseline, paired by seed, as a fraction: -0.3 is 30 % less.

        There is none where unfinished flows leave the sign open. A `ConfigError` for a scheme or metric that is not
        known names the nearest.
        """
        self._check(metric, scheme, baseline)
        return super().difference(scheme, baseline, metric)

    @front_door
    def save(self, directory: str | Path) -> Path:
        """Keep all runs in a store, as with `compare(…, out=DIR)`; `read_store` and `shortflow report` read it."""
        return _save(self.results, directory)

    def __repr__(self) -> str:
        """What was compared."""
        seeds = self.seeds
        which = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"
        return f"<Comparison {self.scenario}{_changed(self.settings)}: {', '.join(self.schemes)}; {which}>"

    def _check(self, metric: str, *schemes: str) -> None:
        known = list(dict.fromkeys(run.scheme for run in self._all))
        for scheme in schemes:
            if scheme not in known:
                raise unknown_name("scheme of this comparison", scheme, known)
        check_name(metric, [each.flow_class for each in self._described.values() if each.flow_class])

    def _study(self, tables: bool) -> Study:
        results = self.results if tables else []
        return Study(self.scenario, self.title, None, [Point("", None, results, self)], measured=self.measured)

    def _tables(self) -> RenderableType:
        return stacked(main_tables(self), Text(" ".join(verdict(self))), Text("\n".join(self.notes)))

    def _view(self) -> tuple[str, Sequence[Section], Sequence[str]]:
        return caption(self), main_sections(self), [" ".join(verdict(self)), *self.notes]


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
        return _save(self.results, directory)

    def __repr__(self) -> str:
        """What was swept."""
        failed = f", {len(self.failures)} failed" if self.failures else ""
        points = f"{len(self.points)} points of {', '.join(self.grid.keys)}"
        return f"<Sweep {self.scenario}{_changed(self.settings)}: {points}; {self.runs} runs{failed}>"

    def _tables(self) -> RenderableType:
        return sweep_tables(self)

    def _view(self) -> tuple[str, Sequence[Section], Sequence[str]]:
        section = sweep_section(self)
        return f"{self.title}\n{self.scenario}{_changed(self.settings)}", [section] if section else [], ()


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

    def _view(self) -> tuple[str, Sequence[Section], Sequence[str]]:
        of = self.question
        head = f"{of.title}\n{of.scenario}{_changed(of.settings)}: {of.scheme} for {of.goal.text}"
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
        place = self._places[_origin(run)["key"]]
        if not self._selection.records[place]["tables"]:
            return not_kept(run)
        return extended(RunResult, replace(read_run(place), provenance=_origin(run)))

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

    def _view(self) -> tuple[str, Sequence[Section], Sequence[str]]:
        found = [
            overview_section(
                study.title, study.x_name or "", [(point.label, point.comparison) for point in study.points]
            )
            for study in self._studies
        ]
        found += [best_section(each) for each in stored_sweeps(self._selection)]
        return f"{self.directory}: {self._frame.height} runs of {', '.join(self.scenarios)}", found, ()


class _Encoded(Mapping[str, pl.DataFrame]):
    """The tables of a run, each decoded when it is asked for."""

    def __init__(self, tables: Mapping[str, bytes]) -> None:
        self._tables = tables

    def __getitem__(self, name: str) -> pl.DataFrame:
        return decoded(self._tables[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


def in_memory(held: Held) -> Reader:
    """Of runs whose tables are held in memory."""

    def read(run: RunSummary) -> RunResult:
        found = held[_origin(run)["key"]]
        return RunResult(_Encoded(found.tables), found.record["meta"], found.record["provenance"], found.run)

    return read


def in_store(directory: str | Path) -> Reader:
    """Of runs that are kept in a store."""

    def read(run: RunSummary) -> RunResult:
        return extended(RunResult, read_run(place_of(Path(directory), _origin(run))))

    return read


def _origin(run: RunSummary) -> result.Provenance:
    assert run.origin is not None  # as every run has one
    return run.origin


def extended(cls: type[T], found: Any, **more: Any) -> T:
    """An object of a class of this module with what one of its base has."""
    return cls(**{each.name: getattr(found, each.name) for each in fields(found)}, **more)


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


def _save(results: Sequence[RunResult], directory: str | Path) -> Path:
    store = Store(Path(directory))
    for each in results:
        write_run(each, place_of(store.directory, each.provenance))
    renew_table(store)
    return store.directory


def _changed(settings: Mapping[str, str]) -> str:
    return "".join(f", {key} = {value}" for key, value in settings.items())
