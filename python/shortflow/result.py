"""A finished run: metrics, tables, provenance, and the error of a run that failed."""

import functools
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypedDict

from shortflow.errors import ConfigError, LostRun, SimulationError, front_door
from shortflow.lazy import columns, frames, pl, plots, stored, views
from shortflow.metrics.catalogue import Metric, Row, measure, measuring_id, named
from shortflow.metrics.data import Table
from shortflow.metrics.stakes import Risk, risk_of_timeout, stake
from shortflow.records import Meta
from shortflow.runs import KEY_LENGTH, Provenance, Run
from shortflow.shown import Shown


class ArrowTable(Table, Protocol):
    """A table that whatever reads Arrow can read."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as an Arrow stream."""


class Checksum(TypedDict):
    """What a file's contents are known by."""

    sha256: str
    bytes: int


class Measured(TypedDict):
    """What a stored result has of its metrics."""

    metrics: dict[str, float]
    lower_bounds: list[str]
    """The metrics that are lower bounds, in the order of their names."""
    classes: list[str]
    """The classes of flows that metrics are about."""
    measured_by: str
    """A hash of the code that measured them."""


class Record(Measured):
    """A result without its tables: the contents of `result.json`."""

    provenance: Provenance
    tables: dict[str, Checksum]
    """Of the files that hold them, where some do."""
    meta: Meta


def as_measured(rows: Sequence[Row]) -> Measured:
    """Rows of metrics as they are kept, measured by today's code."""
    return {
        "metrics": {row.metric.name: row.value for row in rows},
        "lower_bounds": sorted(row.metric.name for row in rows if row.lower_bound),
        "classes": sorted({row.metric.flow_class for row in rows if row.metric.flow_class}),
        "measured_by": measuring_id(),
    }


def table_of(name: str, about: str) -> "functools.cached_property[pl.DataFrame]":
    """A table of a result as a data frame, made when it is first asked for."""

    def read(result: "Result") -> "pl.DataFrame":
        return result.table(name)

    read.__doc__ = (
        f"{about}; docs/results.md has the columns: times in seconds, sizes in bytes, rates in bits per second."
    )
    return functools.cached_property(read)


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """A run that is over.

    `flows`, `tasks`, `samples` and `ports` are its tables as polars frames, with the columns of docs/results.md: times
    in seconds, sizes in bytes, rates in bits per second. `flows` has every flow, also those of the warm-up, and an
    empty `fct_s` where one did not finish; `metrics` and plots count such flows with their age. Among several results
    some may have left their tables alone, and some may have failed with an `error`.
    """

    record: Record = field(repr=False)
    """Where it came from, its metrics, and the simulator's own account: plain data that any process can read."""
    tables: Mapping[str, "ArrowTable | bytes"] = field(default_factory=dict, repr=False, compare=False)
    """Its tables by name, as the core or a file has them, or as Parquet in memory; empty where they were not kept."""
    error: BaseException | None = field(default=None, compare=False)
    at: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The settings by which it differs from others that were asked for with it."""
    reused: bool = False
    """The store had it already."""
    run: Run | None = field(default=None, repr=False, compare=False)
    """The planned run; None for a result that was read."""

    @classmethod
    def of(
        cls, provenance: Provenance, tables: "Mapping[str, ArrowTable]", meta: Meta, run: Run | None = None
    ) -> "Result":
        """A finished run that gave these tables."""
        record: Record = {"provenance": provenance, **as_measured(measure(tables, meta)), "tables": {}, "meta": meta}
        return cls(record, tables, at=run.at if run else {}, run=run)

    @classmethod
    def failed(cls, of: Run | Provenance, error: BaseException) -> "Result":
        """A run that ended in an error."""
        meta: Any = {}
        run = of if isinstance(of, Run) else None
        origin = of.provenance("", 0.0) if isinstance(of, Run) else of
        record: Record = {"provenance": origin, **as_measured([]), "tables": {}, "meta": meta}
        return cls(record, error=error, at=run.at if run else {}, run=run)

    @property
    def provenance(self) -> Provenance:
        """Where it came from."""
        return self.record["provenance"]

    @property
    def meta(self) -> Meta:
        """The simulator's own account."""
        return self.record["meta"]

    @property
    def scheme(self) -> str:
        """The scheme's name."""
        return self.record["provenance"]["scheme"]

    @property
    def seed(self) -> int:
        """The seed."""
        return self.record["provenance"]["seed"]

    @property
    def digest(self) -> str:
        """The hash of everything that happened; empty where it failed."""
        return self.record["provenance"]["digest"]

    @property
    def key(self) -> str:
        """The hash of everything that decides it."""
        return self.record["provenance"]["key"]

    @functools.cached_property
    def rows(self) -> Sequence[Row]:
        """Its metrics, each with what it is about."""
        return named(self.record["metrics"], self.record["lower_bounds"], self.record["classes"])

    @property
    def metrics(self) -> dict[str, float]:
        """The numbers the run is judged by, by name (see `shortflow.metrics.catalogue`)."""
        return self.record["metrics"]

    @functools.cached_property
    def lower_bounds(self) -> frozenset[str]:
        """The metrics that are lower bounds, since flows or tasks did not finish, or never became fair."""
        return frozenset(self.record["lower_bounds"])

    def stake(self, metric: Metric) -> float:
        """The move of a metric by one more late flow or timeout (see `shortflow.metrics.stakes`)."""
        return stake(metric, self.metrics, self._risk)

    @functools.cached_property
    def _risk(self) -> Risk:
        of = self.provenance
        return risk_of_timeout(self.rows, [*of["scenario_settings"], *of["scheme_settings"]])

    @property
    def is_final(self) -> bool:
        """True if scenario, scheme and seed cause its error, so that it would fail again."""
        return isinstance(self.error, ConfigError | SimulationError) and not isinstance(self.error, LostRun)

    @property
    def error_text(self) -> str:
        """Its error in words; nothing without one."""
        if self.error is None:
            return ""
        expected = isinstance(self.error, ConfigError | SimulationError) and str(self.error)
        return str(self.error) if expected else f"{type(self.error).__name__}: {self.error}"

    def table(self, name: str) -> "pl.DataFrame":
        """One of its tables, with the columns `scheme`, `seed` and `run`, by which it is joined to that of runs."""
        if name not in self.tables:
            raise ConfigError(f"the tables of {self.scheme} were not stored; pass tables=True")
        found = self.tables[name]
        table = pl.read_parquet(io.BytesIO(found)) if isinstance(found, bytes) else pl.DataFrame(found)
        return labelled(table, self.provenance)

    flows = table_of(
        "flows", "Every flow that started, those of the warm-up too; one that did not finish has no `fct_s`"
    )
    drain_flows = table_of(
        "drain_flows", "Every flow that started in the drain, where `measure.drain_flows` asks for it"
    )
    tasks = table_of("tasks", "Every query, job, shuffle and request")
    samples = table_of("samples", "What was sampled over time, where `measure.sample_every` asks for it")
    ports = table_of("ports", "Every port, with its queue over the measured time")

    def encoded(self) -> "Result":
        """A copy with its tables as Parquet, and their checksums."""
        found = {name: _parquet(getattr(self, name)) for name in columns.TABLES}
        return replace(
            self, record={**self.record, "tables": {name: checksum(data) for name, data in found.items()}}, tables=found
        )

    def alone(self) -> "Result":
        """A copy without tables."""
        return replace(self, tables={})

    def named(self, scheme: str) -> "Result":
        """A copy under another name of its scheme."""
        record: Record = {**self.record, "provenance": {**self.provenance, "scheme": scheme}}
        return replace(self, record=record)

    def to_frame(self) -> "pl.DataFrame":
        """One row with the run's metrics, with the columns of `runs.parquet`."""
        return frames.runs_frame([self])

    @property
    def plot(self) -> "plots.Plots":
        """Its plots, such as `plot.fct_cdf()`."""
        return plots.Plots(views.alone(self))

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
        return f"<Result {of['scenario']}, {of['scheme']}, seed {of['seed']}, digest {of['digest'][:KEY_LENGTH]}>"

    def _tables(self) -> "views.RenderableType":
        return views.text_of_run(self)

    def _view(self) -> "views.View":
        return views.view(views.alone(self))


def changed(origin: Provenance) -> dict[str, str]:
    """The keys that were set for a run, with their values."""
    settings = [*origin["scenario_settings"], *origin["scheme_settings"]]
    return {each["key"].removeprefix("parameters."): each["value"] for each in settings if each["source"] == "--set"}


def labelled(table: "pl.DataFrame", origin: Provenance) -> "pl.DataFrame":
    """A table of a run with the columns `scheme`, `seed` and `run`, by which it is joined to the table of runs."""
    return table.with_columns(
        pl.lit(origin["scheme"]).alias("scheme"),
        pl.lit(origin["seed"], pl.UInt64).alias("seed"),
        pl.lit(origin["key"][:KEY_LENGTH]).alias("run"),
    )


def checksum(data: bytes) -> Checksum:
    """What the contents of a file are known by."""
    return Checksum(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))


def _parquet(table: "pl.DataFrame") -> bytes:
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()
