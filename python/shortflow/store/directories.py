"""Directory of a run: its tables as Parquet files and, outside stores, its record as `result.json`.

The record has provenance, metrics, the core's counters and the checksums of the tables.
"""

import contextlib
import hashlib
import io
import json
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import msgspec
import polars as pl

from shortflow.errors import ConfigError, DamagedResult
from shortflow.metrics.catalogue import measure, possible
from shortflow.metrics.columns import TABLES, check_columns
from shortflow.result import Checksum, Record, Result, as_measured, checksum, is_measured_today, parquet
from shortflow.store.files import Kind, check_seal, is_of_kind, new_directory, remove_leftovers, sealed, write_bytes

T = TypeVar("T")
RECORD = "result.json"
BURST = "burst.parquet"
"""Packet events of a run's largest burst, if it has one."""

_log = logging.getLogger(__name__)
_DECODER = msgspec.json.Decoder(Record)


class OnDisk(Mapping[str, pl.DataFrame]):
    """Tables of a run's directory, read on access. Raises `DamagedResult` for a table that is missing or altered."""

    def __init__(self, place: Path, sums: Mapping[str, Checksum]) -> None:
        """`sums` has the checksum of each table's file. Reads no file yet."""
        self.place, self._sums = place, sums

    def __getitem__(self, name: str) -> pl.DataFrame:
        """A table. Its checksum is verified before parsing."""
        if name == "burst" and (burst := self._burst()) is not None:
            return burst
        wanted = self._sums[name]
        with reading(self.place / f"{name}.parquet", self.place) as path:
            data = path.read_bytes()
            _check(checksum(data), wanted)
            table = pl.read_parquet(io.BytesIO(data))
            check_columns(name, table)
        return table

    def __contains__(self, name: object) -> bool:
        """True for tables of the record, and for a readable table of the largest burst."""
        return name in self._sums or (name == "burst" and self._burst() is not None)

    def __iter__(self) -> Iterator[str]:
        """Names of the tables of the record."""
        return iter(self._sums)

    def __len__(self) -> int:
        """Number of tables of the record."""
        return len(self._sums)

    def check(self) -> None:
        """Verifies the checksum of each table, without parsing. Raises `DamagedResult`."""
        for name, wanted in self._sums.items():
            with reading(self.place / f"{name}.parquet") as path, path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                _check(Checksum(sha256=digest, bytes=file.tell()), wanted)

    def _burst(self) -> pl.DataFrame | None:
        """Packet events of the largest burst; None if they are absent or damaged."""
        path = self.place / BURST
        try:
            with reading(path):
                data = path.read_bytes()
                sums = path.with_name(f"{BURST}.sum").read_bytes()
                _check(checksum(data), msgspec.json.decode(sums, type=Checksum))
                return pl.read_parquet(io.BytesIO(data))
        except DamagedResult as damage:
            if path.exists():
                _log.warning("%s; the command that made it traces the burst again", damage)
            return None


def loaded(result: Result) -> Result:
    """A stored result with its tables in memory, and metrics as the present code measures them."""
    tables: dict[str, pl.DataFrame] = {name: result.tables[name] for name in TABLES}  # type: ignore[misc]
    record = result.record
    if not is_measured_today(record):
        record = {**record, **as_measured(measure(tables, record["meta"]))}
    if "burst" in result.tables:
        tables["burst"] = result.tables["burst"]  # type: ignore[assignment]
    return replace(result, record=record, tables=tables)


def measured_today(result: Result) -> Result:
    """A stored result with metrics as the present code measures them. Without tables, the stored metrics stay.

    Raises `DamagedResult` if the new metrics are impossible.
    """
    if not result.tables or is_measured_today(result.record):
        return result
    record = loaded(result).record
    if wrong := _impossible(record):  # the checksums are right, but no run writes such tables
        raise DamagedResult(f"{place_of(result)}: damaged: measured anew, {wrong}")
    return replace(result, record=record)


def place_of(result: Result) -> Path:
    """Directory of a stored result with tables."""
    assert isinstance(result.tables, OnDisk)
    return result.tables.place


def in_directory(place: Path) -> Result:
    """The result whose record a directory has. Its tables are read on access. Raises `DamagedResult`."""
    with reading(place / RECORD, place) as path:
        data = path.read_bytes()
        record = _DECODER.decode(data)
        check_seal(data)
        if wrong := _impossible(record):
            raise ValueError(wrong)
    return Result(record, OnDisk(place, record["tables"]))


def write_run(result: Result, target: str | Path, *, csv: bool = False) -> None:
    """Writes a run's directory, and replaces an earlier result. With `csv`, adds the flow table as CSV.

    Raises `ConfigError` if the directory holds other files. An `OSError` names the directory.
    """
    target = Path(target)
    check_target(target)
    if target.parent.is_dir():
        remove_leftovers(target.parent)
    more = {"flows.csv": result.flows.write_csv().encode()} if csv else {}
    burst = _burst_files(pl.DataFrame(result.tables["burst"])) if "burst" in result.tables else {}
    done = result.encoded()
    record = sealed(json.dumps(done.record, indent=1, allow_nan=False).encode())
    write_tables(done, target, {**more, **burst, RECORD: record})


def write_tables(done: Result, target: Path, more: Mapping[str, bytes] | None = None) -> None:
    """Writes the tables of an encoded result, and `more` files, to a directory that appears complete."""
    with new_directory(target) as directory:
        for name, data in {**{f"{name}.parquet": data for name, data in done.tables.items()}, **(more or {})}.items():
            (directory / name).write_bytes(data)  # type: ignore[arg-type]


def write_burst(directory: Path, table: pl.DataFrame) -> None:
    """Writes the packet events of a run's largest burst, and their checksum, to its directory."""
    for name, data in _burst_files(table).items():
        write_bytes(directory / name, data)


def _burst_files(table: pl.DataFrame) -> dict[str, bytes]:
    data = parquet([table])
    return {BURST: data, f"{BURST}.sum": msgspec.json.encode(checksum(data))}


def check_same_run(target: Path, key: str) -> None:
    """Raises `ConfigError` if the directory holds the result of another run than the one with this key."""
    if not (target / RECORD).exists():
        return
    earlier = in_directory(target).provenance
    if earlier["key"] != key:
        what = f"{earlier['scenario']}, {earlier['scheme']}, seed {earlier['seed']}"
        raise ConfigError(f"--out: {target} holds the result of another run ({what}); choose another directory")


def check_target(target: Path) -> None:
    """Raises `ConfigError` if a directory, in which a run is to be written, holds files that no run writes."""
    if not target.exists():
        return
    names = {path.name for path in target.iterdir()} if target.is_dir() else {target.name}
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


def read_each(items: Iterable[T], read: Callable[[T], Result], damages: list[str] | None) -> list[Result]:
    """Results read from the items that are undamaged.

    Errors of damaged items are added to the list `damages`. If it is None, they are raised together as one
    `DamagedResult`.
    """
    found, damaged = [], []
    for item in items:
        try:
            found.append(read(item))
        except DamagedResult as damage:
            damaged.append(str(damage))
    if damaged and damages is None:
        raise DamagedResult("\n".join(damaged))
    if damages is not None:
        damages += damaged
    return found


def _impossible(record: Record) -> str:
    """Text of the first impossible value in a well-formed record; empty if there is none."""
    metrics, meta, seed = record["metrics"], record["meta"], record["provenance"]["seed"]
    infinite = [name for name, value in metrics.items() if not math.isfinite(value)]
    unknown = metrics.keys() - possible(record["classes"]).keys() if is_measured_today(record) else ()
    missing = sorted(TABLES.keys() - record["tables"].keys())
    found = {
        "metrics: found none; expected at least one metric": not metrics,
        f"metrics: {''.join(infinite[:1])} is not a finite number": infinite,
        f"metrics: {min(unknown, default='')} is unknown": unknown,
        f"provenance: seed {seed} is not a whole number from 0 to {2**64 - 1}": not 0 <= seed < 2**64,
        f"meta: warmup_s = {meta['warmup_s']} is not before duration_s = {meta['duration_s']}": not (
            0 <= meta["warmup_s"] < meta["duration_s"]
        ),
        f"tables: {', '.join(missing)} missing": missing,
    }
    return next((what for what, wrong in found.items() if wrong), "")


def _check(found: Checksum, wanted: Checksum) -> None:
    if found["bytes"] != wanted["bytes"]:
        raise ValueError(f"has {found['bytes']} bytes in place of the {wanted['bytes']} that were written")
    if found["sha256"] != wanted["sha256"]:
        raise ValueError("its checksum is not the one in the run's record")


@contextlib.contextmanager
def reading(path: Path, place: Path | None = None) -> Iterator[Path]:
    """Turns any error of reading a result's file into a `DamagedResult` that names the file.

    With a `place`, the message says to remove this directory and to repeat the command.
    """
    remedy = f"; remove {place}, and repeat the command that made it" if place else ""
    try:
        yield path
    except FileNotFoundError:
        raise DamagedResult(f"{path}: missing{remedy}") from None
    except OSError as error:
        raise DamagedResult(f"{path}: damaged: {error.strerror or error}{remedy}") from error
    except msgspec.MsgspecError as error:
        raise DamagedResult(f"{path}: damaged, or written by another version: {error}{remedy}") from error
    except (ValueError, RecursionError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DamagedResult(f"{path}: damaged: {str(error).partition(chr(10))[0]}{remedy}") from error
