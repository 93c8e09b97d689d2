"""Results as users get them, which print, plot and save themselves.

Modules pass on plain `Result`, `Results` and `Search`. Calls of Python and commands convert them to the classes of this
module.
"""

import functools
import io
import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from shortflow import accounts, asks, report, result, results, store
from shortflow.criteria import USUAL
from shortflow.errors import ConfigError, MissingRequirement, front_door
from shortflow.lazy import console, pd, pl
from shortflow.terms import shares

_log = logging.getLogger(__name__)


class Printed(ABC):
    """A result with text."""

    def __str__(self) -> str:
        """The main tables, as the command prints them."""
        text = io.StringIO()
        paper = console.Console(file=text, width=report.blocks.WIDTH, highlight=False, emoji=False, markup=False)
        paper.print(report.blocks.terminal(self._blocks()), crop=False)
        return text.getvalue().rstrip()

    def to_markdown(self) -> str:
        """The main tables as Markdown."""
        return report.blocks.markdown(self._blocks())

    @abstractmethod
    def _blocks(self) -> "list[report.blocks.Block]":
        """The main tables, with caption and notes."""


class Shown(Printed):
    """A result with data frame, text, plots and notebook view."""

    @abstractmethod
    def to_frame(self) -> "pl.DataFrame":
        """The numbers as a tidy Polars table."""

    @property
    @abstractmethod
    def plot(self) -> Any:
        """The plots."""

    @front_door
    def to_pandas(self) -> "pd.DataFrame":
        """`to_frame` as a pandas frame. Raises `MissingRequirement` if pandas or pyarrow is not installed."""
        try:
            return self.to_frame().to_pandas()
        except ModuleNotFoundError as error:
            raise MissingRequirement(
                f"to_pandas needs {error.name}, which is not installed: pip install 'shortflow[pandas]'"
            ) from error

    def _repr_html_(self) -> str:
        """Main tables and one plot, for a notebook."""
        return report.templates.part("report/notebook.html", blocks=self._blocks(), chart=self.plot.sketch())


class Result(result.Result, Shown):
    """A finished run.

    `flows`, `tasks`, `samples` and `ports` are the run's tables as Polars frames, with the columns of docs/results.md:
    times in seconds, sizes in bytes, rates in bits per second. `flows` includes warm-up flows; unfinished flows have a
    null `fct_s`. `metrics` and plots count unfinished flows with their age. Among several results, some may lack
    tables, and some may have failed with an `error`.

    >>> result = sf.run(sf.load("incast").with_(servers=10), "dctcp", seed=1)
    >>> result.metrics["timeouts"], result.flows.height
    (0.0, 200)
    """

    @classmethod
    def showing(cls, plain: result.Result) -> Self:
        """A plain result with text, plots and files."""
        return plain if isinstance(plain, cls) else cls(**_fields(plain))

    def to_frame(self) -> "pl.DataFrame":
        """One row with the run's metrics, in the columns of `runs.parquet`."""
        return store.frames.runs_frame([self])

    @property
    def plot(self) -> "report.plots.Plots":
        """Plots of the run, such as `plot.fct_cdf()`."""
        return report.plots.Plots(report.views.alone(self))

    @front_door
    def save(self, directory: str | Path) -> Path:
        """Saves the run to a directory, as `shortflow run --out` does. `read_run` reads the directory.

        Raises `ConfigError` if the directory holds something else.
        """
        store.directories.write_run(self, directory)
        return Path(directory)

    @front_door
    def explain(self, flow: int | None = None) -> "Explanation":
        """Repeats the run and accounts for its completion times, to the picosecond. Includes the steps of `flow`.

        `flow` is a row of `flows`. Raises `ConfigError` if the flow did not finish, and for a result read from disk.
        """
        if self.run is None:
            raise ConfigError("explain: a result read from disk cannot be done again; pass its scenario to sf.run")
        found = accounts.account.accounted(self.run, flow)
        if flow is not None:
            found.of_flow(flow)
        return Explanation(found, flow)

    def _blocks(self) -> "list[report.blocks.Block]":
        alone = report.views.alone(self)
        notes = [*report.notes.omitted_flows(alone), *report.notes.notes_on_results(alone)]
        return [*report.tables.run_blocks(alone), *([report.blocks.Words("\n".join(notes))] if notes else [])]


@dataclass(frozen=True)
class Explanation(Printed):
    """Accounts of a run's completion times.

    `explained.table` has the picoseconds of each flow by part, and `explained.parts` the round and cause of each
    column. `explained.steps` has the path of the packet that completes the flow.
    """

    explained: "accounts.account.Accounts"
    flow: int | None = None
    """Row of the explained flow, if any."""

    def document(self) -> dict[str, Any]:
        """Plain data, as printed by `shortflow explain --json`."""
        return accounts.shown.account_document(self.explained, self.flow)

    def _blocks(self) -> "list[report.blocks.Block]":
        return [*accounts.shown.account_blocks(self.explained, self.flow)]


class Results(results.Results, Shown):
    """Finished runs of schemes over common seeds: a comparison, a sweep, or the contents of a store.

    `runs` has the result of each scheme's runs, and `ideal` has those of ideal schedulers on the same flows. `schemes`,
    `seeds` and `metric_names` list the contents. `estimate` gives a scheme's metric with its 95 % interval over the
    seeds. `difference` gives the paired difference of two schemes. Metrics are those of `shortflow list metrics`, in
    seconds, bits per second, packets or shares. If settings vary, `points` has the results of each point, with its
    settings `at`. Failed runs are in `failures`.

    >>> runs = sf.compare(sf.load("incast").with_(servers=10), ["tcp", "dctcp"], seeds=2, ideal=False)
    >>> runs.schemes, runs.to_frame().height, runs.estimate("dctcp", "afct_short_s")
    (['tcp', 'dctcp'], 4, Estimate(0.00188964, ci95=(0.0017028, 0.00209699), n=2))
    """

    @classmethod
    def showing(cls, plain: results.Results) -> Self:
        """Plain results with text, plots and files. Each run gets them too."""
        done, superseded = ([*map(Result.showing, each)] for each in (plain.done, plain.superseded))
        return cls(**{**_fields(plain), "done": done, "superseded": superseded})

    @functools.cached_property
    def runs(self) -> Sequence[Result]:
        """Successful runs of schemes, without ideal schedulers."""
        return [*map(Result.showing, super().runs)]

    @functools.cached_property
    def results(self) -> Sequence[Result]:
        """Successful runs, with ideal schedulers last. A run at several points is listed once."""
        return [*map(Result.showing, super().results)]

    @property
    def notes(self) -> list[str]:
        """Limits of the numbers: warnings, constants that differ between schemes, and ideal rows that are left out."""
        return report.notes.notes_on_results(self)

    @front_door
    def answer(
        self,
        metrics: Sequence[str] | None = None,
        baseline: str | None = None,
        ties: str | Sequence[float] | None = None,
    ) -> dict[str, Any]:
        """Winner, tie or open order by each metric at each point, with ratios to a baseline.

        Omitted arguments are as in the call that made these results. By default, the metrics are p99 slowdown and mean
        FCT of short flows and goodput of long flows, and the baseline is the first scheme of `shortflow list schemes`.

        Two schemes tie if their ratio is within the first of `ties` of 1, and the ratio's interval within the second.
        `ties` are two shares, or a text such as `5%,10%`. A single scheme is compared with itself at other values of
        settings that keep the flows.
        """
        own = self.criteria or USUAL
        found = replace(own, metrics=metrics or own.metrics, baseline=baseline or own.baseline)
        criteria = found if ties is None else replace(found, ties=shares(ties))
        return report.answer.answer(report.views.one_scenario(self), criteria).document()

    def document(self) -> dict[str, Any]:
        """All results as plain data for other programs (`docs/results.md`)."""
        return report.document.results_table(self)

    @functools.cached_property
    def flows(self) -> "pl.DataFrame":
        """Measured flows of all runs: `scheme`, `seed`, `size_bytes`, `elapsed_s`, ….

        `elapsed_s` is the FCT or, for an unfinished (`censored`) flow, its age at the end of the run, which is a lower
        bound. Column `run` joins to `to_frame`, which has the settings. Runs without tables are left out, and a warning
        has their number. Raises `ConfigError` if no run has tables.
        """
        runs = self.with_tables.results or self.results
        if lacking := len(self.results) - len(runs):
            _log.warning("%s: %d runs have no tables", self.directory or self.scenario, lacking)
        return pl.concat(store.frames.counted_flows(run.table("flows"), run.meta, run.provenance) for run in runs)

    def to_frame(self) -> "pl.DataFrame":
        """One row per run, including ideal schedulers, with the columns of `runs.parquet` (docs/results.md).

        There is one column per setting that was set or varies (seconds, bytes, bits per second), and one per metric.
        Superseded runs of a store are included and marked `superseded`. Failed runs have an `error`.
        """
        return store.frames.runs_frame(self.results, self.superseded, self.failed)

    def comparisons(self, scenario: str | None = None) -> "list[Results]":
        """Results of a scenario (default: the only one), one for each combination of settings.

        Runs without tables are included. Members that need tables, such as `flows`, raise `ConfigError` for such runs.
        """
        return [*map(Results.showing, report.views.one_scenario(self, scenario).points)]

    @property
    def plot(self) -> "report.plots.Plots":
        """Plots, such as `plot.fct_cdf()`, or `plot.metric("p99_short_s")` over the varying settings."""
        return report.plots.Plots(self)

    @front_door
    def save(self, directory: str | Path) -> Path:
        """Saves all runs to a store, as `compare(…, out=DIR)` does.

        `read_store` and `shortflow report` read the store.
        """
        return store.runs.save(self.results, directory)

    def __repr__(self) -> str:
        """Scenario, schemes and number of runs."""
        return f"<Results {report.views.in_one_line(self)}>"

    def _blocks(self) -> "list[report.blocks.Block]":
        return report.views.results_blocks(self)


class Search(asks.Search, Printed):
    """Search for the largest value of a key at which a condition holds, for each seed.

    >>> sf.search("incast", "dctcp", key="servers=10:20", condition="p99_short_s<5ms", seeds=1).largest
    {1: 17}
    """

    @classmethod
    def showing(cls, plain: asks.Search) -> Self:
        """A plain search with text."""
        return cls(**_fields(plain))

    def _blocks(self) -> "list[report.blocks.Block]":
        changed = "".join(f", {name} = {value}" for name, value in self.settings.items())
        heading = f"Largest {self.steps.key} for which {self.condition.text}"
        every = [(f"seed {seed}", self._text(value)) for seed, value in self.largest.items()]
        shares = [("in every seed", 1.0), ("in half of the seeds", 0.5)] if len(every) > 1 else []
        rows = [*every, *((where, self._text(self.largest_for(share))) for where, share in shares)]
        head = report.blocks.Words(f"{self.title}\n{self.scenario}{changed} under {self.scheme}")
        return [head, report.blocks.text_section(heading, ("where", self.steps.key), rows)]

    def _text(self, value: float | None) -> str:
        low, high = self.steps.values[0], self.steps.values[-1]
        if value is None:
            return f"below {self.steps.written(low)}, the low end"
        return f"{self.steps.written(value)}{' or more (holds at the high end)' * (value == high)}"


def _fields(plain: Any) -> dict[str, Any]:
    return {each.name: getattr(plain, each.name) for each in fields(plain)}


@front_door
def read_run(directory: str | Path) -> Result:
    """Reads a run's directory from `Result.save` or `shortflow run --out`, or a directory in a store's `runs`.

    A `DamagedResult` names a missing or altered file.
    """
    return Result.showing(store.runs.load_run(directory))


@front_door
def read_store(directory: str | Path) -> Results:
    """The newest version of each run that `compare`, `sweep`, `run` or `tune` stored in or below a directory.

    Also updates the store's `runs.parquet`, which has the contents of `to_frame`. Raises `ConfigError` if there are no
    runs, or if different code made runs of one scenario. A `DamagedResult` names a damaged file.

    >>> runs = sf.sweep("incast", "dctcp", grid={"servers": ["5", "10"]}, seeds=1, out="results")
    >>> sorted(read_store("results").to_frame()["servers"])
    [5.0, 10.0]
    """
    return Results.showing(store.runs.load_store(directory))
