"""Results on disk. A result directory appears complete or not at all.

A run's directory holds `flows.parquet`, `tasks.parquet`, `samples.parquet`, `ports.parquet` and `result.json`:
provenance, metrics, the core's counters, and the checksums of the tables. Runs without tables are lines of run logs.
"""

import contextlib
import hashlib
import io
import json
import logging
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import msgspec
import polars as pl

from shortflow.errors import ConfigError, DamagedResult, front_door
from shortflow.metrics.catalogue import measure, measuring_id, possible
from shortflow.result import Checksum, Record, Result, as_measured, checksum
from shortflow.runs import KEY_LENGTH, Provenance, Run
from shortflow.store.columns import TABLES, check_columns
from shortflow.store.files import Kind, check_seal, is_hidden, is_of_kind, new_directory, sealed, sweep, write_bytes
from shortflow.store.run_logs import RUN_LOGS, Kept, RunLog, RunLogs, read_run_logs
from shortflow.store.selection import Selection, check_one_code, sorted_pairs, supersede

T = TypeVar("T")
RECORD = "result.json"
BURST = "burst.parquet"
"""Packet events of a run's largest burst, if it has one."""


_log = logging.getLogger(__name__)


class Store:
    """Runs below one directory, found by the hash of their inputs.

    A damaged result counts as missing, and is named in a warning. A result superseded by a newer run with the same
    settings counts as missing too: the newest run counts, here and in `select_runs`.
    """

    def __init__(self, directory: Path) -> None:
        """Opens the store and removes leftovers of killed writers."""
        self.directory = directory
        self.runs = directory / "runs"
        self.runs.mkdir(parents=True, exist_ok=True)
        sweep(self.runs)
        self._log, self._logs = RunLog(directory / RUN_LOGS), RunLogs(directory / RUN_LOGS)
        in_logs = self._logs.more()
        self._logs.sweep()
        for damage in in_logs.damages:
            _log.warning("%s; it is run again", damage)
        self._superseded = set(supersede(self.results(in_logs)).superseded)
        self._without_tables: dict[str, Result] = {}
        self._take(in_logs)

    def results(self, in_logs: Kept) -> dict[Path, Result]:
        """All readable runs by path: directories in the order of their names, then logs."""
        places = sorted(path.parent for path in self.runs.glob(f"*/{RECORD}") if not is_hidden(path.parent))
        of_directories = {place: Result(record) for place in places if (record := _readable(place))}
        return {**of_directories, **in_logs.results}

    def find(self, run: Run, *, tables: bool = True, warn: bool = True) -> Result | None:
        """Stored result of exactly this run, or None; tables are read on access.

        A run stored without `tables` is found only if none are needed. `warn` reports a damaged one.
        """
        if not tables and run.key in self._without_tables:
            return replace(self._without_tables[run.key], reused=True)
        place = self.place(run)
        if not place.exists() or place in self._superseded:
            return None
        try:
            record = _read_record(place, run.key)
            _check_tables(place, record)
            return replace(stored(place, record), reused=True)
        except DamagedResult as damage:
            if warn:
                _log.warning("%s; it is run again", damage)
            return None

    def look(self) -> None:
        """Reads runs appended by other processes. Readers of the store report damage."""
        self._take(self._logs.more(but=self._log.path))

    def claim(self, run: Run) -> bool:
        """Claims a run, unless another process works on it. The earlier of two simultaneous claims counts."""
        if self._logs.is_claimed(run.key):
            return False
        claimed_at = self._log.claim(run.key)
        self.look()
        if self._logs.is_claimed(run.key, before=claimed_at):
            self._log.release(run.key)
            return False
        return True

    def renew_claims(self) -> None:
        """Renews this process's claims before they are stale."""
        self._log.renew()

    def keep(self, result: Result, *, tables: bool = True) -> Result:
        """Stores a result at once: as a directory with its tables, or as a line of a log without."""
        if result.error or not (tables and result.tables):
            self._log.add(result)
            if not result.error:
                self._without_tables[result.key] = Result(result.record)
            return result.alone()
        place = place_of(self.directory, result.provenance)
        record = _write(result, place)
        self._superseded.discard(place)
        self._log.release(result.key)
        return replace(stored(place, record), at=result.at)

    def flush(self) -> None:
        """Makes appended runs durable; directories always are."""
        self._log.flush()

    def _take(self, in_logs: Kept) -> None:
        for place, result in in_logs.results.items():
            if not result.error and place not in self._superseded and result.record["measured_by"] == measuring_id():
                self._without_tables[result.key] = result

    def place(self, run: Run) -> Path:
        """Directory of a run, existing or not."""
        return self.runs / _name(run.scenario.name, run.scheme.name, run.seed, run.key)

    def check_names(self, runs: Sequence[Run]) -> None:
        """Refuses runs with directory names too long for the file system."""
        limit = os.pathconf(self.runs, "PC_NAME_MAX")
        for run in runs:
            excess = len(os.fsencode(self.place(run).name)) - limit
            if excess > 0:
                raise ConfigError(
                    f"{run.scenario.name} with {run.scheme.name}: the names of scenario and scheme are {excess} bytes "
                    f"too long for a directory in {self.runs}; give the scenario's file a shorter name"
                )


def place_of(directory: Path, origin: Provenance) -> Path:
    """Directory of a finished run in this store."""
    return directory / "runs" / _name(origin["scenario"], origin["scheme"], origin["seed"], origin["key"])


def _name(scenario: str, scheme: str, seed: int, key: str) -> str:
    return f"{scenario}-{scheme}-seed{seed}-{key[:KEY_LENGTH]}"


class _OnDisk(Mapping[str, pl.DataFrame]):
    """Tables of a run's directory, read on access. A `DamagedResult` names a bad one."""

    def __init__(self, place: Path, record: Record) -> None:
        self._place, self._record = place, record

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name in self._record["tables"]:
            return read_table(self._place, name, self._record)
        burst = _read_burst(self._place) if name == "burst" else None
        if burst is None:
            raise KeyError(name)
        return burst

    def __contains__(self, name: object) -> bool:
        return name in self._record["tables"] or (name == "burst" and _read_burst(self._place) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._record["tables"])

    def __len__(self) -> int:
        return len(self._record["tables"])


def stored(place: Path, record: Record) -> Result:
    """Result in a run's directory, with metrics by this version's code; tables are read on access.

    Metrics of a run without tables stay as measured.
    """
    return Result(measured_today(place, record), _OnDisk(place, record) if record["tables"] else {})


def write_run(result: Result, target: str | Path, *, csv: bool = False) -> None:
    """Writes a run's directory, replacing an earlier result. An `OSError` names it."""
    target = Path(target)
    check_target(target)
    if target.parent.is_dir():
        sweep(target.parent)
    more = {"flows.csv": result.flows.write_csv().encode()} if csv else {}
    burst = _burst_files(pl.DataFrame(result.tables["burst"])) if "burst" in result.tables else {}
    _write(result, target, {**more, **burst})


def _write(result: Result, target: Path, more: Mapping[str, bytes] | None = None) -> Record:
    """Writes a run's directory, and returns the record with the checksums of the tables."""
    ready = result.tables and all(isinstance(table, bytes) for table in result.tables.values())
    done = result if ready else result.encoded()
    with new_directory(target) as directory:
        for name, data in {**{f"{name}.parquet": data for name, data in done.tables.items()}, **(more or {})}.items():
            (directory / name).write_bytes(data)  # type: ignore[arg-type]
        (directory / RECORD).write_bytes(_encoded(done.record))
    return done.record


def _encoded(record: Record) -> bytes:
    return sealed(json.dumps(record, indent=1, allow_nan=False).encode())


def check_same_run(target: Path, key: str) -> None:
    """Refuses to overwrite the result of another run."""
    if not (target / RECORD).exists():
        return
    with _way_out(target):
        earlier = _read_record(target)["provenance"]
    if earlier["key"] != key:
        what = f"{earlier['scenario']}, {earlier['scheme']}, seed {earlier['seed']}"
        raise ConfigError(f"--out: {target} holds the result of another run ({what}); choose another directory")


def check_target(target: Path) -> None:
    """Refuses in advance a directory for a run that holds other files."""
    try:
        names = {path.name for path in target.iterdir()}
    except FileNotFoundError:
        return
    except NotADirectoryError:
        names = {target.name}
    if names and RECORD not in names:
        raise ConfigError(f"{target}: exists and is no result of an earlier run; remove it, or name another directory")
    own = {RECORD, BURST, f"{BURST}.sum", "flows.csv", *(f"{name}.parquet" for name in TABLES)}
    kinds = {".html": Kind.PAGE, ".parquet": Kind.TRACE, ".pcapng": Kind.CAPTURE}
    for name in sorted(names - own):
        kind = kinds.get(Path(name).suffix)
        if kind is None or not is_of_kind(target / name, kind):
            raise ConfigError(
                f"{target}: holds {name}, which is no output of a run; move it, or name another directory"
            )


def find_runs(directory: Path) -> list[Path]:
    """Directories of all runs in or below a directory, sorted by name; some may be incomplete.

    For a store, nested stores are excluded.
    """
    own = directory / "runs"
    others = {place for place in directory.rglob("runs") if place != own} if own.is_dir() else set()
    places = (Path(place) for place, _, files in os.walk(directory) if {RECORD, "flows.parquet"}.intersection(files))
    return sorted(place for place in places if not is_hidden(place) and place.parent not in others)


def select_runs(directory: Path, only: Sequence[Path] | None = None, damages: list[str] | None = None) -> Selection:
    """Current runs in or below `directory`, or of `only`: the newest of each.

    Runs are equal if they agree in scenario, scheme, seed and settings, whatever the code. Raises `ConfigError` with
    the remedy if different code made runs of one scenario, or if there are no runs. A damaged record raises
    `DamagedResult` or, with `damages`, is left out and named there.
    """

    def read(place: Path) -> Record:
        with _way_out(place):
            return _read_record(place)

    found = find_runs(directory) if directory.is_dir() else []
    results = read_each(found if only is None else only, lambda place: Result(read(place)), damages)
    in_logs = _in_logs(directory, damages) if only is None else Kept()
    for pairs in sorted_pairs(
        each.provenance for at, each in in_logs.results.items() if not each.error and at.parent in in_logs.claimless
    ):
        _log.warning(
            "%s: runs of an earlier version, whose `sweep --zip` sorted numbers before it paired them: %s. If you "
            "meant other pairs, run the sweep again",
            directory,
            pairs,
        )
    selection = supersede({**results, **in_logs.results})
    if not selection.current and damages:
        raise DamagedResult("\n".join(damages))
    if not selection.current and selection.failed:
        raise ConfigError(
            f"{directory}: every run failed; the first: {selection.results[selection.failed[0]].error_text}"
        )
    if not selection.current:
        raise ConfigError(f"{directory}: holds no results; create some with `shortflow compare … --out {directory}`")
    check_one_code(directory, selection)
    return selection


def _in_logs(directory: Path, damages: list[str] | None) -> Kept:
    """Contents of the run logs in or below a directory; for a store, nested stores are excluded.

    Damaged lines raise `DamagedResult`, or are named in `damages`.
    """
    own = directory / RUN_LOGS
    stores = [directory] if own.is_dir() or (directory / "runs").is_dir() else _stores_below(directory)
    kept = Kept()
    for store in stores:
        found = read_run_logs(store / RUN_LOGS)
        kept.results.update(found.results)
        kept.claimless.update(found.claimless)
        kept.damages.extend(found.damages)
    _name_or_raise([f"{each}, and the same command runs it again" for each in kept.damages], damages)
    return kept


def _stores_below(directory: Path) -> list[Path]:
    return sorted(place.parent for place in directory.rglob(RUN_LOGS) if place.is_dir())


def read_each(places: Iterable[Path], read: Callable[[Path], T], damages: list[str] | None = None) -> dict[Path, T]:
    """Reads each place. Raises one `DamagedResult` with all damages, or adds them to `damages`."""
    found, damaged = {}, []
    for place in places:
        try:
            found[place] = read(place)
        except DamagedResult as damage:
            damaged.append(str(damage))
    _name_or_raise(damaged, damages)
    return found


def _name_or_raise(damaged: Sequence[str], damages: list[str] | None) -> None:
    if damaged and damages is None:
        raise DamagedResult("\n".join(damaged))
    if damages is not None:
        damages += damaged


@front_door
def read_run(directory: str | Path) -> Result:
    """Reads a run's directory from `Result.save` or `shortflow run --out`, or one in a store's `runs`.

    A `DamagedResult` names a missing or altered file.
    """
    if Path(directory).is_file():
        raise ConfigError(f"{directory}: is a file; expected the directory of `run --out`")
    place = Path(directory)
    with _way_out(place):
        return _read(place, _read_record(place))


def read_table(directory: Path, name: str, record: Record) -> pl.DataFrame:
    """A table of a run, parsed only after its checksum is verified. Raises `DamagedResult`."""
    with _way_out(directory):
        return _read_table(directory, name, record)


def measured_today(directory: Path, record: Record) -> Record:
    """A run's record, with metrics measured again and stored if other code measured them.

    Metrics of a run without tables stay as measured.
    """
    if record["measured_by"] == measuring_id() or not record["tables"]:
        return record
    renewed = _read(directory, record).record
    if wrong := _impossible(renewed):  # tables that no run writes
        raise DamagedResult(f"{directory / RECORD}: damaged: measured anew, {wrong}")
    with contextlib.suppress(OSError):  # a read-only store
        write_bytes(directory / RECORD, _encoded(renewed))
    return renewed


def _read(directory: Path, record: Record) -> Result:
    tables = {name: _read_table(directory, name, record) for name in TABLES}
    if record["measured_by"] != measuring_id():
        record = {**record, **as_measured(measure(tables, record["meta"]))}
    if (burst := _read_burst(directory)) is not None:
        tables["burst"] = burst
    return Result(record, tables)


def write_burst(directory: Path, table: pl.DataFrame) -> None:
    """Writes the packet events of a run's largest burst, and their checksum, to its directory."""
    for name, data in _burst_files(table).items():
        write_bytes(directory / name, data)


def _burst_files(table: pl.DataFrame) -> dict[str, bytes]:
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return {BURST: buffer.getvalue(), f"{BURST}.sum": msgspec.json.encode(checksum(buffer.getvalue()))}


def _read_burst(directory: Path) -> pl.DataFrame | None:
    """Packet events of the largest burst; None if missing or altered."""
    try:
        with _reading(directory / BURST):
            data = (directory / BURST).read_bytes()
            _check(checksum(data), msgspec.json.decode((directory / f"{BURST}.sum").read_bytes(), type=Checksum))
            return pl.read_parquet(io.BytesIO(data))
    except DamagedResult as damage:
        if (directory / BURST).exists():
            _log.warning("%s; the command that made it traces the burst again", damage)
        return None


def _readable(directory: Path) -> Record | None:
    try:
        return _read_record(directory)
    except DamagedResult:
        return None


def _read_record(directory: Path, key: str | None = None) -> Record:
    """Record of a run. With `key`, refuses the record of another run."""
    path = directory / RECORD
    with _reading(path):
        data = path.read_bytes()
        record = _DECODER.decode(data)
        check_seal(data)
        if wrong := _impossible(record):
            raise ValueError(wrong)
        if key not in (None, record["provenance"]["key"]):
            raise ValueError("is of another run")
    return record


_DECODER = msgspec.json.Decoder(Record)


def _impossible(record: Record) -> str:
    """Error in a well-formed record; empty if none."""
    metrics, meta, seed = record["metrics"], record["meta"], record["provenance"]["seed"]
    infinite = [name for name, value in metrics.items() if not math.isfinite(value)]
    unknown = metrics.keys() - possible(record["classes"]).keys() if record["measured_by"] == measuring_id() else ()
    missing = sorted(TABLES.keys() - record["tables"].keys())
    found = {
        "metrics: none": not metrics,
        f"metrics: {''.join(infinite[:1])} is not a finite number": infinite,
        f"metrics: {min(unknown, default='')} is unknown": unknown,
        f"provenance: seed {seed} is none": not 0 <= seed < 2**64,
        f"meta: warmup_s = {meta['warmup_s']} is not before duration_s = {meta['duration_s']}": not (
            0 <= meta["warmup_s"] < meta["duration_s"]
        ),
        f"tables: without {', '.join(missing)}": missing,
    }
    return next((what for what, wrong in found.items() if wrong), "")


def _read_table(directory: Path, name: str, record: Record) -> pl.DataFrame:
    path = directory / f"{name}.parquet"
    with _reading(path):
        data = path.read_bytes()
        _check(checksum(data), record["tables"][name])
        table = pl.read_parquet(io.BytesIO(data))
        check_columns(name, table)
    return table


def _check_tables(directory: Path, record: Record) -> None:
    """Verifies that each table is unaltered, without parsing."""
    for name in TABLES:
        path = directory / f"{name}.parquet"
        with _reading(path), path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            _check(Checksum(sha256=digest, bytes=file.tell()), record["tables"][name])


def _check(found: Checksum, wanted: Checksum) -> None:
    if found["bytes"] != wanted["bytes"]:
        raise ValueError(f"has {found['bytes']} bytes in place of the {wanted['bytes']} that were written")
    if found["sha256"] != wanted["sha256"]:
        raise ValueError(f"its checksum is not the one in {RECORD}")


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Adds the file's name to errors while reading a result."""
    try:
        yield
    except FileNotFoundError:
        raise DamagedResult(f"{path}: missing") from None
    except OSError as error:
        raise DamagedResult(f"{path}: damaged: {error.strerror or error}") from error
    except msgspec.MsgspecError as error:
        raise DamagedResult(f"{path}: damaged, or written by another version: {error}") from error
    except (ValueError, RecursionError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DamagedResult(f"{path}: damaged: {str(error).partition(chr(10))[0]}") from error


@contextlib.contextmanager
def _way_out(place: Path) -> Iterator[None]:
    """Adds the remedy to the error for a damaged result."""
    try:
        yield
    except DamagedResult as damage:
        raise DamagedResult(f"{damage}; remove {place}, and repeat the command that made it") from damage
