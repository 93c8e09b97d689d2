"""What a run and a comparison give in Python: tables, plots and numbers, which show themselves in notebooks."""

import functools
import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from shortflow import comparison, result
from shortflow.engine import Held
from shortflow.errors import ConfigError, MissingRequirement, front_door, unknown_name
from shortflow.executors.outcome import decoded
from shortflow.lazy import (
    changes,
    frames,
    markup,
    pd,
    pl,
    plots,
    reading,
    rich_console,
    rich_text,
    stored,
    study,
    tables,
    verdict,
)
from shortflow.metrics.catalogue import check_name
from shortflow.metrics.stats import Estimate
from shortflow.result import KEY_LENGTH, RunSummary

T = TypeVar("T")
View = tuple[str, Sequence[Any], Sequence[str]]
"""A caption, sections, and notes below them."""


class Shown(ABC):
    """What results have in common: tables as data frames, text, and a view in notebooks."""

    @abstractmethod
    def to_frame(self) -> "pl.DataFrame":
        """The numbers as one tidy polars table."""

    @property
    @abstractmethod
    def plot(self) -> "plots.Plots | plots.TuningPlots":
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
        rich_console.Console(file=text, width=tables.WIDTH, highlight=False, emoji=False, markup=False).print(
            self._tables()
        )
        return text.getvalue().rstrip()

    @abstractmethod
    def _tables(self) -> "rich_console.RenderableType":
        """The main tables for a terminal."""

    @abstractmethod
    def _view(self) -> View:
        """A tables.caption, the main tables, and notes below them."""

    def _repr_html_(self) -> str:
        """The main tables and one plot, for a notebook."""
        head, sections, notes = self._view()
        return markup.part(
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
    def plot(self) -> "plots.Plots":
        """Its plots, such as `plot.fct_cdf()`."""
        return self._comparison.plot

    def to_frame(self) -> "pl.DataFrame":
        """One row with the run's metrics, with the columns of `runs.parquet`."""
        return self._comparison.to_frame()

    @front_door
    def save(self, directory: str | Path) -> Path:
        """Keep it in a directory as `shortflow run --out` does; `read_run` reads it again.

        A `ConfigError` if something else is there.
        """
        stored.write_run(self, directory)
        return Path(directory)

    def __repr__(self) -> str:
        """What was run."""
        of = self.provenance
        return f"<RunResult {of['scenario']}, {of['scheme']}, seed {of['seed']}, digest {of['digest'][:KEY_LENGTH]}>"

    @functools.cached_property
    def _comparison(self) -> "Comparison":
        of = self.provenance
        return Comparison(of["scenario"], of["title"], changes.changed(of), [self.summary], read=lambda _: self)

    def _tables(self) -> "rich_console.RenderableType":
        return tables.comparison_tables(self._comparison)

    def _view(self) -> View:
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
    def flows(self) -> "pl.DataFrame":
        """The flows that count for completion times, of all runs: `scheme`, `seed`, `size_bytes`, `elapsed_s`, ….

        `elapsed_s` is the completion time or, of a flow that is `censored` as it did not finish, its age at the end of
        the run, which the true time exceeds; no flow is left out, as one in the `fct_s` of a run would be.
        """
        return pl.concat(frames.counted(each.flows, each.meta, each.provenance) for each in self.results)

    @property
    def plot(self) -> "plots.Plots":
        """Its plots, such as `plot.fct_cdf()`."""
        return plots.Plots(self._study, lambda: self.runs)

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
        return save(self.results, directory)

    def __repr__(self) -> str:
        """What was compared."""
        seeds = self.seeds
        which = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"
        return f"<Comparison {self.scenario}{changed_text(self.settings)}: {', '.join(self.schemes)}; {which}>"

    def _check(self, metric: str, *schemes: str) -> None:
        known = list(dict.fromkeys(run.scheme for run in self._all))
        for scheme in schemes:
            if scheme not in known:
                raise unknown_name("scheme of this comparison", scheme, known)
        check_name(metric, [each.flow_class for each in self._described.values() if each.flow_class])

    def _study(self, tables: bool) -> "study.Study":
        results = self.results if tables else []
        return study.Study(
            self.scenario, self.title, None, [study.Point("", None, results, self)], measured=self.measured
        )

    def _tables(self) -> "rich_console.RenderableType":
        return tables.stacked(
            tables.main_tables(self),
            rich_text.Text(" ".join(verdict.verdict(self))),
            rich_text.Text("\n".join(self.notes)),
        )

    def _view(self) -> View:
        return tables.caption(self), tables.main_sections(self), [" ".join(verdict.verdict(self)), *self.notes]


class _Encoded(Mapping[str, Any]):
    """The tables of a run, each decoded when it is asked for."""

    def __init__(self, tables: Mapping[str, bytes]) -> None:
        self._tables = tables

    def __getitem__(self, name: str) -> "pl.DataFrame":
        return decoded(self._tables[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


def in_memory(held: Held) -> Reader:
    """Of runs whose tables are held in memory."""

    def read(run: RunSummary) -> RunResult:
        found = held[origin_of(run)["key"]]
        return RunResult(_Encoded(found.tables), found.record["meta"], found.record["provenance"], found.run)

    return read


def in_store(directory: str | Path) -> Reader:
    """Of runs that are kept in a store."""

    def read(run: RunSummary) -> RunResult:
        return extended(RunResult, stored.read_run(stored.place_of(Path(directory), origin_of(run))))

    return read


def origin_of(run: RunSummary) -> result.Provenance:
    """Where a run comes from."""
    assert run.origin is not None  # as every run has one
    return run.origin


def extended(cls: type[T], found: Any, **more: Any) -> T:
    """An object of a class of this module with what one of its base has."""
    return cls(**{each.name: getattr(found, each.name) for each in fields(found)}, **more)


def save(results: Sequence[RunResult], directory: str | Path) -> Path:
    """Keep runs with their tables in a store."""
    store = stored.Store(Path(directory))
    for each in results:
        stored.write_run(each, stored.place_of(store.directory, each.provenance))
    reading.renew_table(store)
    return store.directory


def changed_text(settings: Mapping[str, str]) -> str:
    """Changed settings as they follow a scenario's name."""
    return "".join(f", {key} = {value}" for key, value in settings.items())
