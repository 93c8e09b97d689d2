"""One finished run: metrics, tables, provenance, and the error of a failed run."""

import functools
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NotRequired, Protocol, Self, TypedDict

from shortflow import _core
from shortflow.errors import ConfigError, LostRun, SimulationError
from shortflow.grid import short_name
from shortflow.lazy import pl
from shortflow.metrics.catalogue import DISTANCE, distance_rows, measure, measuring_id, named
from shortflow.metrics.data import BLOCK_ROWS, USUAL_BINS, Bins, Table
from shortflow.metrics.stakes import Risk, risk_of_timeout, stake
from shortflow.metrics.statistic import Metric, MetricValue
from shortflow.records import Meta
from shortflow.runs import KEY_LENGTH, Provenance, Run

SHORTEST = "ideal-srpt"
"""Ideal scheduler with the lowest mean FCT."""


class ArrowTable(Table, Protocol):
    """A table with the Arrow C stream interface."""

    def slice(self, offset: int, length: int, /) -> "ArrowTable":
        """At most `length` rows, from row `offset` on."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as an Arrow stream."""


class Checksum(TypedDict):
    """Hash and size of a file."""

    sha256: str
    bytes: int


class StoredMetrics(TypedDict):
    """Stored metrics of a result."""

    metrics: dict[str, float]
    lower_bounds: list[str]
    """Metrics that are lower bounds, sorted by name."""
    classes: list[str]
    """Flow classes that metrics cover."""
    measured_by: str
    """Hash of the code that computed the metrics."""
    bins: NotRequired[Sequence[int]]
    """Upper ends of size bins in bytes. Missing in results of earlier versions, which have the usual bins."""


class Record(StoredMetrics):
    """A result without its tables: the contents of `result.json`."""

    provenance: Provenance
    tables: dict[str, Checksum]
    """Checksums of the table files, if stored."""
    meta: Meta


def as_measured(rows: Sequence[MetricValue], bins: Bins = USUAL_BINS) -> StoredMetrics:
    """Rows of metrics in their stored form, with the hash of this version's code of metrics."""
    return {
        "metrics": {row.metric.name: row.value for row in rows},
        "lower_bounds": sorted(row.metric.name for row in rows if row.lower_bound),
        "classes": sorted({row.metric.flow_class for row in rows if row.metric.flow_class}),
        "measured_by": measuring_id(),
        "bins": [*bins.ends],
    }


def is_measured_today(record: StoredMetrics) -> bool:
    """True for metrics that this version's code computed, with the usual size bins."""
    return record["measured_by"] == measuring_id() and tuple(record.get("bins", USUAL_BINS.ends)) == USUAL_BINS.ends


def table_of(name: str, about: str) -> "functools.cached_property[pl.DataFrame]":
    """A table of a result as a data frame, built on first access."""

    def read(result: "Result") -> "pl.DataFrame":
        return result.table(name)

    read.__doc__ = (
        f"{about}; docs/results.md has the columns: times in seconds, sizes in bytes, rates in bits per second."
    )
    return functools.cached_property(read)


@dataclass(frozen=True, repr=False)
class Result:
    """A finished run, with its metrics and tables."""

    record: Record = field(repr=False)
    """Provenance, metrics and the simulator's metadata, as plain data."""
    tables: Mapping[str, "ArrowTable | bytes"] = field(default_factory=dict, repr=False, compare=False)
    """Tables by name, from the core, from a file, or as Parquet in memory. Empty if not kept."""
    error: BaseException | None = field(default=None, compare=False)
    at: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Settings in which the run differs from other runs of a sweep."""
    reused: bool = False
    """True if the result comes from the store."""
    run: Run | None = field(default=None, repr=False, compare=False)
    """The planned run. None for a result read from disk."""

    @classmethod
    def of(cls, provenance: Provenance, tables: "Mapping[str, ArrowTable]", meta: Meta, run: Run | None = None) -> Self:
        """A finished run with these tables."""
        record: Record = {"provenance": provenance, **as_measured(measure(tables, meta)), "tables": {}, "meta": meta}
        return cls(record, tables, at=run.at if run else {}, run=run)

    @classmethod
    def failed(cls, of: Run | Provenance, error: BaseException) -> Self:
        """A run that ended in an error."""
        meta: Any = {}
        run = of if isinstance(of, Run) else None
        origin = of.provenance("", 0.0) if isinstance(of, Run) else of
        record: Record = {"provenance": origin, **as_measured([]), "tables": {}, "meta": meta}
        return cls(record, error=error, at=run.at if run else {}, run=run)

    @property
    def provenance(self) -> Provenance:
        """Origin of the run."""
        return self.record["provenance"]

    @property
    def meta(self) -> Meta:
        """The simulator's metadata of the run."""
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
        """Hash of the run's outcome. Equal digests mean equal results. Empty if the run failed."""
        return self.record["provenance"]["digest"]

    @property
    def key(self) -> str:
        """Hash of all inputs of the run."""
        return self.record["provenance"]["key"]

    @functools.cached_property
    def rows(self) -> Sequence[MetricValue]:
        """Metrics with their descriptions."""
        return named(self.record["metrics"], self.record["lower_bounds"], self.record["classes"], self.bins)

    @property
    def bins(self) -> Bins:
        """Size bins of the metrics."""
        return Bins(tuple(self.record["bins"])) if "bins" in self.record else USUAL_BINS

    def with_bins(self, bins: Bins) -> Self:
        """A copy whose metrics have other size bins. Raises `ConfigError` if the run has no tables."""
        if self.error or bins == self.bins:
            return self
        if not self.tables:
            raise ConfigError(f"--bins: the tables of {self.scheme} were not stored; `sweep --tables` stores them")
        found = measure({name: self.table(name) for name in ("flows", "tasks", "samples", "ports")}, self.meta, bins)
        rows = [*found, *(row for row in self.rows if row.metric.statistic is DISTANCE)]
        return replace(self, record={**self.record, **as_measured(rows, bins)})

    @property
    def metrics(self) -> dict[str, float]:
        """Metrics by name (see `shortflow.metrics.catalogue`)."""
        return self.record["metrics"]

    @functools.cached_property
    def lower_bounds(self) -> frozenset[str]:
        """Metrics that are lower bounds, because flows or tasks did not finish, or flows never became fair."""
        return frozenset(self.record["lower_bounds"])

    def stake(self, metric: Metric) -> float:
        """Change of a metric by one more late flow or timeout (see `shortflow.metrics.stakes`)."""
        return stake(metric, self.metrics, self._risk)

    @functools.cached_property
    def _risk(self) -> Risk:
        of = self.provenance
        return risk_of_timeout(self.rows, [*of["scenario_settings"], *of["scheme_settings"]])

    @property
    def is_final(self) -> bool:
        """True if scenario, scheme and seed cause the error, so that a retry would fail too."""
        return isinstance(self.error, ConfigError | SimulationError) and not isinstance(self.error, LostRun)

    @property
    def error_text(self) -> str:
        """The error in words. Empty if there is none."""
        if self.error is None:
            return ""
        expected = isinstance(self.error, ConfigError | SimulationError) and str(self.error)
        return str(self.error) if expected else f"{type(self.error).__name__}: {self.error}"

    def table(self, name: str) -> "pl.DataFrame":
        """A table with the added columns `scheme`, `seed` and `run`, which join it to the table of runs.

        Raises `ConfigError` if the run has no tables.
        """
        return labelled(pl.DataFrame(self._table(name)), self.provenance)

    def in_blocks(self, name: str) -> "Iterator[pl.DataFrame]":
        """Yields `table(name)` in frames of at most 16,384 rows. Only one frame's rows are in memory at a time."""
        table = self._table(name)
        for first in range(0, max(table.height, 1), BLOCK_ROWS):
            yield labelled(pl.DataFrame(table.slice(first, BLOCK_ROWS)), self.provenance)

    def _table(self, name: str) -> ArrowTable:
        if name not in self.tables:
            raise ConfigError(f"the tables of {self.scheme} were not stored; pass tables=True, or `sweep --tables`")
        found = self.tables[name]
        return pl.read_parquet(io.BytesIO(found)) if isinstance(found, bytes) else found

    flows = table_of("flows", "Every started flow, warm-up included; an unfinished flow has no `fct_s`")
    drain_flows = table_of(
        "drain_flows", "Every flow that started in the drain, where `measure.drain_flows` asks for it"
    )
    tasks = table_of("tasks", "Every query, job, shuffle and request")
    samples = table_of("samples", "What was sampled over time, where `measure.sample_every` asks for it")
    ports = table_of("ports", "Every port, with its queue over the measured time")

    def encoded(self) -> Self:
        """A copy whose tables are Parquet in memory, with their checksums."""
        if self.tables and all(isinstance(table, bytes) for table in self.tables.values()):
            return self
        found = {name: parquet(self.in_blocks(name)) for name, _ in _core.columns()}
        return replace(
            self, record={**self.record, "tables": {name: checksum(data) for name, data in found.items()}}, tables=found
        )

    def alone(self) -> Self:
        """A copy without tables."""
        return replace(self, record={**self.record, "tables": {}}, tables={})

    def named(self, scheme: str) -> Self:
        """A copy with another scheme name."""
        record: Record = {**self.record, "provenance": {**self.provenance, "scheme": scheme}}
        return replace(self, record=record)

    def __repr__(self) -> str:
        """Scenario, scheme, seed and digest."""
        of = self.provenance
        return f"<Result {of['scenario']}, {of['scheme']}, seed {of['seed']}, digest {of['digest'][:KEY_LENGTH]}>"


def changed(origin: Provenance) -> dict[str, str]:
    """Keys that `--set` set for a run, with their values."""
    settings = [*origin["scenario_settings"], *origin["scheme_settings"]]
    return {short_name(each["key"]): each["value"] for each in settings if each["source"] == "--set"}


def labelled(table: "pl.DataFrame", origin: Provenance) -> "pl.DataFrame":
    """A table with the added columns `scheme`, `seed` and `run`, which join it to the table of runs."""
    return table.with_columns(
        pl.lit(origin["scheme"]).alias("scheme"),
        pl.lit(origin["seed"], pl.UInt64).alias("seed"),
        pl.lit(origin["key"][:KEY_LENGTH]).alias("run"),
    )


def checksum(data: bytes) -> Checksum:
    """Hash and size of a file's contents."""
    return Checksum(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))


def parquet(blocks: "Iterable[pl.DataFrame]") -> bytes:
    """A table as a Parquet file, from one or more blocks of its rows."""
    parts = [_written(block.write_parquet) for block in blocks]
    return parts[0] if len(parts) == 1 else _written(pl.scan_parquet(parts).sink_parquet)


def _written(write: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def with_distances(runs: Sequence[Result]) -> list[Result]:
    """Runs with their distances from ideal SRPT on the same flows."""
    shortest = {run.seed: run for run in runs if run.scheme == SHORTEST and not run.error}

    def far(run: Result) -> Result:
        rows = distance_rows(run.rows, shortest[run.seed].rows) if run.seed in shortest else []
        if not rows:
            return run
        more = as_measured([*run.rows, *rows], run.bins)
        return replace(run, record={**run.record, **more, "measured_by": run.record["measured_by"]})

    return [far(run) for run in runs]
