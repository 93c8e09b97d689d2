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
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

import polars as pl

from shortflow.errors import ConfigError, DamagedResult
from shortflow.measuring import measuring_id
from shortflow.records import Meta
from shortflow.result import KEY_LENGTH, Provenance, Run, RunResult

RECORD = "result.json"
TABLES = ("flows", "tasks", "samples", "ports")
_PARTIAL = ".partial"
_PARQUET_END = b"PAR1"


class Record(TypedDict):
    """The contents of `result.json`."""

    provenance: Provenance
    metrics: dict[str, float]
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
        place = self._place(run)
        try:
            return read_run(place) if (place / RECORD).is_file() else None
        except DamagedResult as damage:
            raise DamagedResult(f"{damage}; remove {place}, and the same command runs it again") from damage

    def record(self, run: Run) -> Record | None:
        """The same without its tables, which are read only if its metrics have to be measured anew."""
        place = self._place(run)
        if not place.exists():
            return None
        try:
            record = _read_record(place)
            _check_tables(place)
            if record["measured_by"] != measuring_id():
                record["metrics"] = read_run(place).metrics
        except DamagedResult as damage:
            _log.warning("%s; it is run again", damage)
            return None
        return record

    def save(self, run: Run, result: RunResult) -> None:
        """Store a finished run, in place of what is there."""
        place = self._place(run)
        if not (place / RECORD).exists():
            shutil.rmtree(place, ignore_errors=True)
        write_run(result, place)

    def _place(self, run: Run) -> Path:
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
            "measured_by": measuring_id(),
            "meta": result.meta,
        }
        (directory / RECORD).write_text(json.dumps(record, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def check_same_run(target: Path, key: str) -> None:
    """Fail if a directory holds the result of another run, which writing there would lose."""
    if not (target / RECORD).exists():
        return
    try:
        earlier = _read_record(target)["provenance"]
    except DamagedResult as damage:
        raise DamagedResult(f"--out: {damage}; remove it, or choose another directory") from damage
    if earlier["key"] != key:
        what = f"{earlier['scenario']}, {earlier['scheme']}, seed {earlier['seed']}"
        raise ConfigError(f"--out: {target} holds the result of another run ({what}); choose another directory")


def read_run(directory: str | Path) -> RunResult:
    """Read a run's directory; `DamagedResult` names the file that is not as it was written."""
    directory = Path(directory)
    record = _read_record(directory)
    flows, tasks, samples, ports = (_read_table(directory / f"{name}.parquet") for name in TABLES)
    return RunResult(flows, tasks, samples, ports, record["meta"], record["provenance"])


def _read_record(directory: Path) -> Record:
    path = directory / RECORD
    try:
        record: Record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DamagedResult(f"{path}: missing") from None
    except (ValueError, RecursionError) as error:
        raise DamagedResult(f"{path}: damaged: {error}") from error
    lost = (
        _lost(record, Record.__required_keys__)
        or _lost(record["provenance"], Provenance.__required_keys__)
        or _lost(record["meta"], Meta.__required_keys__)
    )
    if lost:
        raise DamagedResult(f"{path}: damaged: {lost}")
    return record


def _lost(found: object, required: frozenset[str]) -> str:
    """What a mapping from a file lacks; nothing if it has every required key."""
    if not isinstance(found, dict):
        return f"found {type(found).__name__} in place of a table"
    missing = sorted(required - found.keys())
    return f"without {', '.join(missing)}, or written by another version" if missing else ""


def _read_table(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path, glob=False)
    except FileNotFoundError:
        raise DamagedResult(f"{path}: missing") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DamagedResult(f"{path}: damaged: {str(error).splitlines()[0]}") from error


def _check_tables(directory: Path) -> None:
    """See that each table is there to its last byte, without reading it."""
    for name in TABLES:
        path = directory / f"{name}.parquet"
        try:
            with path.open("rb") as file:
                file.seek(-min(path.stat().st_size, len(_PARQUET_END)), os.SEEK_END)
                whole = file.read() == _PARQUET_END
        except FileNotFoundError:
            raise DamagedResult(f"{path}: missing") from None
        if not whole:
            raise DamagedResult(f"{path}: damaged: its end is missing")


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
        raise ConfigError(f"{target}: is there already and is not a result of an earlier run; name another directory")


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
