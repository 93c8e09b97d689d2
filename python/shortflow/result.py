"""The result of a run: its tables, the core's own account of the run, and where it all came from."""

import functools
import hashlib
import os
import platform
import re
import subprocess
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NotRequired, Protocol, TypedDict

from shortflow import _core
from shortflow.errors import Cancelled, ConfigError, MissingRequirement, SimulationError, did_you_mean
from shortflow.lazy import pl
from shortflow.memory import available_bytes
from shortflow.metrics.catalogue import Metric, Row, measure, measuring_id, named
from shortflow.metrics.data import Table
from shortflow.metrics.stakes import Risk, risk_of_timeout, stake
from shortflow.records import Meta
from shortflow.scenario import Scenario, Setting, as_settings
from shortflow.scheme import SchemeSource

KEY_LENGTH = 12
"""So many digits of a run's key tell it from others, in tables and in names of directories."""


class CodeOrigin(TypedDict):
    """What code made a result, and where."""

    version: str
    build: str
    revision: str | None
    platform: str


class ScenarioOrigin(TypedDict):
    """The scenario of a result."""

    scenario: str
    title: str
    scenario_settings: list[Setting]
    files: dict[str, str]
    """The hash (SHA-256) of each file that the scenario names, by the key that names it."""
    traffic_notes: list[str]


class SchemeOrigin(TypedDict):
    """The scheme of a result."""

    scheme: str
    scheme_settings: list[Setting]


class RunOrigin(TypedDict):
    """What a result has for itself."""

    key: str
    seed: int
    digest: str
    finished_at: str
    wall_s: float
    cores: NotRequired[int]
    """As many as it ran on; its results do not depend on that. Results of before runs on several have none."""
    fewer_cores: NotRequired[str | None]
    """Why they are fewer than was asked for."""


class Provenance(CodeOrigin, ScenarioOrigin, SchemeOrigin, RunOrigin):
    """Where a result came from: enough to run it again and to tell whether that is needed."""


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
    """What a stored result has beside its tables: the contents of `result.json`."""

    provenance: Provenance
    tables: dict[str, Checksum]
    meta: Meta


class Failure(TypedDict):
    """A run that ended in an error, in a store; its digest is empty."""

    provenance: Provenance
    error: str


@dataclass(frozen=True)
class Run:
    """What is to be run: a scenario under a scheme with a seed."""

    scenario: Scenario
    scheme: _core.Scheme
    seed: int
    scheme_source: SchemeSource | None = field(default=None, compare=False)
    """What another process builds the scheme from; none for a class that only this process knows."""
    cores: int = field(default=1, compare=False)
    """It may take so many."""

    @functools.cached_property
    def key(self) -> str:
        """A hash of everything that decides the result, the simulator's own code included."""
        parts = [self.scenario.fingerprint, self.scheme.name, *(f"{k}={v}" for k, v, _ in self.scheme.resolved())]
        return hashlib.sha256("\n".join([*parts, str(self.seed), build_id()]).encode()).hexdigest()


class ArrowTable(Table, Protocol):
    """A table that whatever reads Arrow can read."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as an Arrow stream."""


@dataclass(frozen=True)
class RunSummary:
    """What a comparison keeps of one run: its metrics and where it came from."""

    scheme: str
    seed: int
    digest: str
    rows: Sequence[Row] = field(repr=False)
    wall_s: float
    reused: bool = False
    origin: Provenance | None = field(default=None, repr=False)
    """Where the run came from; None for a summary that is no run's own."""

    @functools.cached_property
    def metrics(self) -> dict[str, float]:
        """Its metrics by name."""
        return {row.metric.name: row.value for row in self.rows}

    def stake(self, metric: Metric) -> float:
        """How far one late flow or one timeout more would move a metric (see `shortflow.metrics.stakes`)."""
        return stake(metric, self.metrics, self._risk)

    @functools.cached_property
    def _risk(self) -> Risk:
        if self.origin is None:
            return Risk(0.0, ())
        return risk_of_timeout(self.rows, [*self.origin["scenario_settings"], *self.origin["scheme_settings"]])

    @functools.cached_property
    def lower_bounds(self) -> frozenset[str]:
        """The metrics that are lower bounds, since flows or tasks did not finish, or never became fair."""
        return frozenset(row.metric.name for row in self.rows if row.lower_bound)


def summarize(record: Record) -> RunSummary:
    """What a comparison keeps of a stored run, whose metrics are today's."""
    return _summary(record["provenance"], named(record["metrics"], record["lower_bounds"], record["classes"]))


def _summary(origin: Provenance, rows: Sequence[Row]) -> RunSummary:
    return RunSummary(origin["scheme"], origin["seed"], origin["digest"], rows, origin["wall_s"], origin=origin)


def _frame(name: str, about: str) -> "functools.cached_property[pl.DataFrame]":
    """A table of a result as a data frame, made when it is first asked for."""

    def read(result: "RunResult") -> "pl.DataFrame":
        origin = result.provenance
        return labelled(pl.DataFrame(result.tables[name]), origin["scheme"], origin["seed"], origin["key"])

    read.__doc__ = (
        f"{about}; docs/results.md has the columns: times in seconds, sizes in bytes, rates in bits per second."
    )
    return functools.cached_property(read)


@dataclass(frozen=True)
class RunResult:
    """A finished run."""

    tables: Mapping[str, ArrowTable]
    """Its tables by name, as the core or a file has them."""
    meta: Meta
    provenance: Provenance
    run: Run | None = field(default=None, repr=False, compare=False)
    """What was run; none for a result that was read."""
    rows: Sequence[Row] | None = field(default=None, repr=False, compare=False)
    """Its metrics, where today's code has measured them before."""

    @functools.cached_property
    def summary(self) -> RunSummary:
        """What a comparison keeps of it."""
        return _summary(self.provenance, measure(self.tables, self.meta) if self.rows is None else self.rows)

    @property
    def metrics(self) -> dict[str, float]:
        """The numbers the run is judged by (see `shortflow.metrics.catalogue`)."""
        return self.summary.metrics

    @property
    def lower_bounds(self) -> frozenset[str]:
        """Those that are lower bounds (see `RunSummary.lower_bounds`)."""
        return self.summary.lower_bounds

    flows = _frame("flows", "Every flow that started, those of the warm-up too; one that did not finish has no `fct_s`")
    drain_flows = _frame("drain_flows", "Every flow that started in the drain, where `measure.drain_flows` asks for it")
    tasks = _frame("tasks", "Every query, job, shuffle and request")
    samples = _frame("samples", "What was sampled over time, where `measure.sample_every` asks for it")
    ports = _frame("ports", "Every port, with its queue over the measured time")


def cores_for(run: Run, *, is_captured: bool = False) -> tuple[int, str | None]:
    """How many cores a run takes, and why not as many as it may."""
    present = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    cores, why = _core.cores(run.scenario.core, run.scheme, min(run.cores, present), is_captured)
    if run.cores > present and why is None:
        why = f"this process may use {present} processor{'s' if present > 1 else ''}"
    return cores, why


def execute(run: Run, control: _core.Control, capture: _core.Capture | None = None) -> RunResult:
    """Simulate. The core releases the interpreter's lock, so several threads may do this at once."""
    started = time.perf_counter()
    cores, why = cores_for(run, is_captured=capture is not None)
    needed, free = run.scenario.core.table_bytes(), available_bytes()
    if needed > free:
        raise _too_large(run, f"they take {_megabytes(needed)} at least, and {_megabytes(free)} are free")
    try:
        result = _core.run(run.scenario.core, run.scheme, run.seed, control, capture, cores)
        tables = result.tables()
    except MemoryError as error:
        raise _too_large(run, f"{error}, of which {_megabytes(available_bytes())} are free") from None
    except (ConfigError, SimulationError, Cancelled):
        raise
    except (Exception, SystemExit) as error:  # raised by a hook of a transport written in Python
        if capture and isinstance(error, OSError):  # or by a file that takes what is captured
            raise
        said = f"{type(error).__name__}: {error}{_meant(error)}"
        raise ConfigError(f"{run.scheme.name}: {said}{_place(error)}") from error
    return finished(run, tables, result.meta(), time.perf_counter() - started, (cores, why))


def _too_large(run: Run, why: str) -> MissingRequirement:
    remedy = "a shorter duration, fewer flows, measure.ports or a longer measure.sample_every take less"
    return MissingRequirement(f"{run.scenario.name}: its tables do not fit into memory: {why}; {remedy}")


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"


def finished(
    run: Run,
    tables: Mapping[str, ArrowTable],
    meta: Meta,
    wall_s: float,
    cores: tuple[int, str | None] = (1, None),
) -> RunResult:
    """The result of a run that gave these tables."""
    return RunResult(tables, meta, provenance(run, meta["digest"], wall_s, cores), run)


def scheme_settings(run: Run) -> list[Setting]:
    """The resolved values of the scheme; keys of the network have those of the run, whoever gave them."""
    resolved = as_settings(run.scheme.resolved())
    of_run = {key: value for key, value, _ in run.scenario.core.resolved(run.scheme)}
    return [{**each, "value": of_run.get(each["key"], each["value"])} for each in resolved]


def provenance(run: Run, digest: str, wall_s: float, cores: tuple[int, str | None] = (1, None)) -> Provenance:
    """Where a result comes from that is finished now; how many cores it took, and why not more."""
    return {
        "key": run.key,
        "version": _core.version(),
        "build": build_id(),
        "revision": git_revision(),
        "platform": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "scenario": run.scenario.name,
        "title": run.scenario.title,
        "scenario_settings": run.scenario.resolved(),
        "files": run.scenario.files(),
        "traffic_notes": run.scenario.traffic_notes(),
        "scheme": run.scheme.name,
        "scheme_settings": scheme_settings(run),
        "seed": run.seed,
        "digest": digest,
        "finished_at": datetime.now(UTC).isoformat(timespec="microseconds"),
        "wall_s": wall_s,
        "cores": cores[0],
        "fewer_cores": cores[1],
    }


def measured(result: RunResult) -> Measured:
    """The part of a record that today's code measures."""
    return {
        "metrics": result.metrics,
        "lower_bounds": sorted(result.lower_bounds),
        "classes": sorted({row.metric.flow_class for row in result.summary.rows if row.metric.flow_class}),
        "measured_by": measuring_id(),
    }


def labelled(table: "pl.DataFrame", scheme: str, seed: int, key: str) -> "pl.DataFrame":
    """A table of a run with the columns `scheme`, `seed` and `run`, by which it is joined to the table of runs."""
    return table.with_columns(
        pl.lit(scheme).alias("scheme"),
        pl.lit(seed, pl.UInt64).alias("seed"),
        pl.lit(key[:KEY_LENGTH]).alias("run"),
    )


def _meant(error: BaseException) -> str:
    """The nearest of what hooks are given, where it has no attribute of the name that was asked for."""
    missed = re.fullmatch(r"'shortflow\._core\.(\w+)' object has no attribute '(\w+)'.*", str(error))
    if missed is None:
        return ""
    return did_you_mean(missed[2], (name for name in dir(getattr(_core, missed[1])) if not name.startswith("_")))


def _place(error: BaseException) -> str:
    """Where an error was raised, if it was in the user's own file."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = not frames or Path(frames[-1].filename).parent == Path(__file__).parent
    return "" if ours else f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})"


@functools.cache
def build_id() -> str:
    """The version and a hash of the compiled core, so that a changed simulator never passes for the one before."""
    with Path(_core.__file__).open("rb") as file:
        return f"{_core.version()}+{hashlib.file_digest(file, 'sha256').hexdigest()[:12]}"


@functools.cache
def git_revision() -> str | None:
    """The commit of the checkout that Shortflow runs from, with `-dirty` after local changes; none for a wheel."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    # A checkout that belongs to another user is fine to ask; a tag is not a commit, so none is considered.
    git = ["git", "-c", f"safe.directory={root}", "-C", str(root)]
    command = [*git, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None
