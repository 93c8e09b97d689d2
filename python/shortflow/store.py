"""Results on disk. A result directory appears complete or not at all.

A run's directory holds `flows.parquet`, `tasks.parquet`, `samples.parquet`, `ports.parquet` and `result.json`
(provenance, metrics and the core's counters). It is written under a hidden name beside its place and then renamed: no
reader ever sees half.
"""

import contextlib
import errno
import json
import logging
import os
import platform
import secrets
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypedDict

import polars as pl

from shortflow.errors import ConfigError, DamagedResult
from shortflow.measuring import measuring_id
from shortflow.records import Meta
from shortflow.result import KEY_LENGTH, Provenance, Run, RunResult
from shortflow.shapes import misfit

RECORD = "result.json"
TABLES = {
    "flows": frozenset(
        [
            "id",
            "source",
            "destination",
            "class",
            "size_bytes",
            "start_s",
            "finish_s",
            "fct_s",
            "ideal_fct_s",
            "slowdown",
            "deadline_s",
            "missed",
            "retransmits",
            "timeouts",
            "marks",
            "acked_bytes",
            "window_bytes",
            "queueing_s",
            "switch_queueing_s",
            "task",
        ]
    ),
    "tasks": frozenset(
        ["id", "kind", "class", "start_s", "finish_s", "time_s", "flows", "deadline_s", "missed", "part_of"]
    ),
    "samples": frozenset(["time_s", "kind", "subject", "value"]),
    "ports": frozenset(
        [
            "port",
            "rate_bps",
            "tx_bytes",
            "tx_packets",
            "drops",
            "marks",
            "queue_mean_pkt",
            "queue_mean_bytes",
            "queue_p50_pkt",
            "queue_p95_pkt",
            "queue_p99_pkt",
            "queue_p50_bytes",
            "queue_p95_bytes",
            "queue_p99_bytes",
            "queue_max_pkt",
            "queue_max_bytes",
            "utilisation",
        ]
    ),
}
"""The tables of a run, and the columns that they have beside those that name the run."""

_PARTIAL = ".partial"


class Record(TypedDict):
    """The contents of `result.json`."""

    provenance: Provenance
    metrics: dict[str, float]
    lower_bounds: list[str]
    """The metrics that are lower bounds."""
    measured_by: str
    meta: Meta


_log = logging.getLogger(__name__)


class Store:
    """The runs below one directory, each found again by the hash of what decides it.

    A damaged result counts as not run, and a warning names it.
    """

    def __init__(self, directory: Path) -> None:
        """Open the store; leftovers of processes that were killed while they wrote are removed."""
        self.runs = directory / "runs"
        self.runs.mkdir(parents=True, exist_ok=True)
        _sweep(self.runs)

    def find(self, run: Run) -> RunResult | None:
        """The stored result of exactly this run, if there is one; a damaged one is an error."""
        place = self.place(run)
        if not (place / RECORD).is_file():
            return None
        with _way_out(place):
            return _read(place, run.key)

    def record(self, run: Run) -> Record | None:
        """The same without its tables, which are read only if its metrics have to be measured anew."""
        place = self.place(run)
        if not place.exists():
            return None
        try:
            record = _read_record(place, run.key)
            _check_tables(place)
            if record["measured_by"] != measuring_id():
                result = _read(place)
                record["metrics"], record["lower_bounds"] = result.metrics, sorted(result.lower_bounds)
        except DamagedResult as damage:
            _log.warning("%s; it is run again", damage)
            return None
        return record

    def save(self, run: Run, result: RunResult) -> None:
        """Store a finished run, in place of what is there."""
        place = self.place(run)
        if place.is_file():
            place.unlink()
        elif not (place / RECORD).exists():
            shutil.rmtree(place, ignore_errors=True)
        write_run(result, place)

    def place(self, run: Run) -> Path:
        """Where a run is kept, whether it is there yet or not."""
        return self.runs / f"{run.scenario.name}-{run.scheme.name}-seed{run.seed}-{run.key[:KEY_LENGTH]}"


def write_run(result: RunResult, target: str | Path, *, csv: bool = False) -> None:
    """Write a run's directory, in place of an earlier result there."""
    with new_directory(Path(target)) as directory:
        tables = (result.flows, result.tasks, result.samples, result.ports)
        for name, table in zip(TABLES, tables, strict=True):
            table.write_parquet(directory / f"{name}.parquet")
        if csv:
            result.flows.write_csv(directory / "flows.csv")
        record: Record = {
            "provenance": result.provenance,
            "metrics": result.metrics,
            "lower_bounds": sorted(result.lower_bounds),
            "measured_by": measuring_id(),
            "meta": result.meta,
        }
        (directory / RECORD).write_text(json.dumps(record, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def check_same_run(target: Path, key: str) -> None:
    """Fail if a directory holds the result of another run, which writing there would lose."""
    if not (target / RECORD).exists():
        return
    with _way_out(target):
        earlier = _read_record(target)["provenance"]
    if earlier["key"] != key:
        what = f"{earlier['scenario']}, {earlier['scheme']}, seed {earlier['seed']}"
        raise ConfigError(f"--out: {target} holds the result of another run ({what}); choose another directory")


def read_run(directory: str | Path) -> RunResult:
    """Read a run's directory; `DamagedResult` names the file that is not as it was written."""
    with _way_out(Path(directory)):
        return _read(Path(directory))


def _read(directory: Path, key: str | None = None) -> RunResult:
    record = _read_record(directory, key)
    flows, tasks, samples, ports = (_read_table(directory, name) for name in TABLES)
    return RunResult(flows, tasks, samples, ports, record["meta"], record["provenance"])


def _read_record(directory: Path, key: str | None = None) -> Record:
    """The record of any run, or of the run with this key."""
    path = directory / RECORD
    with _reading(path):
        record: Record = json.loads(path.read_text(encoding="utf-8"))
        if wrong := misfit(record, Record):
            raise ValueError(wrong)
        if not record["metrics"]:
            raise ValueError("metrics: none")
        if key not in (None, record["provenance"]["key"]):
            raise ValueError("is of another run")
    return record


def _read_table(directory: Path, name: str) -> pl.DataFrame:
    path = directory / f"{name}.parquet"
    with _reading(path):
        table = pl.read_parquet(path, glob=False)
        _check_columns(name, table.columns)
    return table


def _check_tables(directory: Path) -> None:
    """See that each table is there and has its columns, which its end tells, without reading it."""
    for name in TABLES:
        path = directory / f"{name}.parquet"
        with _reading(path), path.open("rb") as file:
            _check_columns(name, pl.read_parquet_schema(file))


def _check_columns(name: str, columns: Iterable[str]) -> None:
    if missing := sorted(TABLES[name].difference(columns)):
        raise ValueError(f"without {', '.join(missing)}, or written by another version")


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Name the file of a result in whatever goes wrong while it is read."""
    try:
        yield
    except FileNotFoundError:
        raise DamagedResult(f"{path}: missing") from None
    except OSError as error:
        raise DamagedResult(f"{path}: damaged: {error.strerror or error}") from error
    except (ValueError, RecursionError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DamagedResult(f"{path}: damaged: {str(error).partition(chr(10))[0]}") from error


@contextlib.contextmanager
def _way_out(place: Path) -> Iterator[None]:
    """Say what to do about a damaged result."""
    try:
        yield
    except DamagedResult as damage:
        raise DamagedResult(f"{damage}; remove {place}, and the command that made it runs it again") from damage


def find_runs(directory: Path) -> list[Path]:
    """The directories of all runs in or below a directory, in the order of their names.

    Of a store, without those of other stores below it.
    """
    own = directory / "runs"
    others = {place for place in directory.rglob("runs") if place != own} if own.is_dir() else set()
    places = (record.parent for record in directory.rglob(RECORD))
    return sorted(place for place in places if not place.name.startswith(_PARTIAL) and place.parent not in others)


def check_target(target: Path) -> None:
    """Refuse a place for a run's directory that holds something else, before any work is done."""
    try:
        names = {path.name for path in target.iterdir()}
    except FileNotFoundError:
        return
    except NotADirectoryError:
        names = {target.name}
    if names and RECORD not in names:
        raise ConfigError(
            f"{target}: is there already and is not a result of an earlier run; remove it, or name another directory"
        )


@contextlib.contextmanager
def new_directory(target: Path) -> Iterator[Path]:
    """A directory that takes the place of `target` when the block ends well, and vanishes when it does not."""
    check_target(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.parent / _partial_name(target)
    partial.mkdir()
    try:
        yield partial
        for path in partial.iterdir():
            _flush(path)
        _swap(partial, target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write a file that appears complete or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.parent / _partial_name(path)
    try:
        partial.write_text(text, encoding="utf-8")
        _flush(partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _swap(new: Path, target: Path) -> None:
    """Rename `new` to `target`; an earlier result there is moved aside first and then removed.

    Where another process puts the same result there meanwhile, whoever comes last stays.
    """
    while True:
        old = target.parent / _partial_name(target)
        with contextlib.suppress(FileNotFoundError):
            target.rename(old)
        try:
            new.rename(target)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        finally:
            shutil.rmtree(old, ignore_errors=True)


def _partial_name(path: Path) -> str:
    """A hidden name that no other process uses, and that tells who is writing."""
    return f"{_PARTIAL}@{platform.node()}@{os.getpid()}@{secrets.token_hex(4)}@{path.name}"


def _sweep(directory: Path) -> None:
    """Remove what processes of this machine that no longer run were writing."""
    mine = f"{_PARTIAL}@{platform.node()}@"
    for path in directory.glob(f"{mine}*"):
        pid = path.name.removeprefix(mine).partition("@")[0]
        if not _runs(int(pid)):
            shutil.rmtree(path, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _flush(path: Path) -> None:
    """Make a file's contents safe against a power cut, so that a rename never exposes an empty file."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
