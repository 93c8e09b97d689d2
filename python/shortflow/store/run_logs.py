"""The record of each run of a store: a line that is appended to a log, so that thousands are a few files.

A run log, `DIR/run-logs/TIME-ID.jsonl`, is what one process appended. A line is a checksum (CRC-32) and a JSON object:
a `part`, which is what many runs have in common, a `run`, a run that `failed`, or a `claim` on runs that the process
works on. Nothing that was written is ever written again. A line that a killed process left unfinished at the end counts
as not written.

Claims are hints: a lost claim costs a run twice, never an answer.
"""

import contextlib
import hashlib
import math
import os
import secrets
import socket
import time
import weakref
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from shortflow.errors import LostRun
from shortflow.quantities import in_base_unit
from shortflow.records import Meta
from shortflow.result import Checksum, Result, StoredMetrics, changed
from shortflow.runs import KEY_LENGTH, CodeOrigin, Provenance, RunOrigin, ScenarioOrigin, SchemeOrigin
from shortflow.store.directories import OnDisk
from shortflow.store.files import has_writer, new_log, remove_leftovers

RUN_LOGS, TABLES_IN = "run-logs", "runs"
"""The directories of a store: of the logs, and of the tables."""
_FLUSH_S = 1.0
"""Seconds until the file is made durable. A kill of the process loses nothing."""
_CLAIM_S = 60.0
"""Age in seconds at which a claim is stale."""
_RELEASED = 0.0  # time of a released claim
_RENEW_S = 20.0
"""Interval in seconds for renewing claims."""


class _Part(msgspec.Struct, tag="part", tag_field="line", omit_defaults=True):
    id: str = ""
    scenario: ScenarioOrigin | None = None
    scheme: SchemeOrigin | None = None
    code: CodeOrigin | None = None


class _Line(msgspec.Struct):
    scenario: str
    scheme: str
    code: str
    origin: RunOrigin


class _Run(_Line, tag="run", tag_field="line", omit_defaults=True):
    measured: StoredMetrics
    meta: Meta
    tables: dict[str, Checksum] = {}


class _Failed(_Line, tag="failed", tag_field="line"):
    error: str


class _Claim(msgspec.Struct, tag="claim", tag_field="line"):
    host: str
    pid: int
    time: float
    """Seconds since 1970 by the host's clock."""
    keys: list[str]


_DECODER = msgspec.json.Decoder(_Part | _Run | _Failed | _Claim)
_ENCODER = msgspec.json.Encoder()


@dataclass(frozen=True)
class Kept:
    """Runs of a store: of those with one key the newest with tables, the newest without, and the newest failure."""

    by_key: dict[tuple[str, bool, bool], Result] = field(default_factory=dict)
    damages: list[str] = field(default_factory=list)
    """Unreadable lines, with place and error."""

    def add(self, result: Result) -> None:
        """Add a run, unless a newer one is there."""
        key = result.key, bool(result.record["tables"]), bool(result.error)
        earlier = self.by_key.get(key)
        if not earlier or earlier.provenance["finished_at"] <= result.provenance["finished_at"]:
            self.by_key[key] = result

    @property
    def results(self) -> list[Result]:
        """All of them by scenario, scheme, seed and settings: an order that no build and no number of jobs changes."""

        def place(result: Result) -> tuple[object, ...]:
            origin = result.provenance
            settings = [(key, in_base_unit([value]) or [math.inf], value) for key, value in changed(origin).items()]
            return origin["scenario"], origin["scheme"], origin["seed"], settings, origin["finished_at"]

        return sorted(self.by_key.values(), key=place)


def place_in(store: Path, scenario: str, scheme: str, seed: int, key: str) -> Path:
    """The directory in which a store keeps the tables of a run."""
    return store / TABLES_IN / f"{scenario}-{scheme}-seed{seed}-{key[:KEY_LENGTH]}"


class RunLog:
    """Log of this process. The file exists from the first claim or run on, under a lock."""

    def __init__(self, store: Path) -> None:
        """Writes nothing yet."""
        self._directory = store / RUN_LOGS
        self._file: int | None = None
        self.path = self._directory
        self._size, self._flushed_at = 0, 0.0
        self._parts: set[str] = set()
        self._claimed: set[str] = set()
        self._claimed_at = 0.0
        self._has_runs = False

    def add(self, result: Result) -> None:
        """Appends a finished run. An `OSError` names the file, which is then unchanged."""
        if self._file is None:
            self._claim([], _RELEASED)  # logs of earlier versions have no claims
        origin = result.provenance
        scenario = _Part(scenario=msgspec.convert(origin, ScenarioOrigin))
        scheme = _Part(scheme=msgspec.convert(origin, SchemeOrigin))
        code = _Part(code=msgspec.convert(origin, CodeOrigin))
        for part in (scenario, scheme, code):
            part.id = hashlib.sha256(_ENCODER.encode(part)).hexdigest()[:16]
        new = [part for part in (scenario, scheme, code) if part.id not in self._parts]
        line = scenario.id, scheme.id, code.id, msgspec.convert(origin, RunOrigin)
        if result.error:
            self._append(*new, _Failed(*line, result.error_text))
        else:
            measured = msgspec.convert(result.record, StoredMetrics)
            self._append(*new, _Run(*line, measured, result.meta, result.record["tables"]))
        self._parts.update(part.id for part in new)
        self._has_runs = True
        self._claimed.discard(result.key)

    def claim(self, key: str) -> float:
        """Claims a run, and returns the time of the claim."""
        self._claimed.add(key)
        self._claimed_at = time.monotonic()
        return self._claim([key], time.time())

    def release(self, *keys: str) -> None:
        """Ends claims on runs that have no line here."""
        if held := self._claimed.intersection(keys):
            self._claimed -= held
            self._claim([*held], _RELEASED)

    def renew(self) -> None:
        """Renews claims before they are stale."""
        if self._claimed and time.monotonic() - self._claimed_at > _RENEW_S:
            self._claimed_at = time.monotonic()
            self._claim([*self._claimed], time.time())

    def flush(self) -> None:
        """Makes everything safe against a power cut, ends all claims, and removes a file that only has claims."""
        with contextlib.suppress(OSError):  # others wait a minute then
            self.release(*self._claimed)
        if self._file is not None:
            os.fsync(self._file)
            if not self._has_runs:
                self.path.unlink(missing_ok=True)
                self._file = None
        with contextlib.suppress(OSError):  # where there are logs, or nothing
            self._directory.rmdir()

    def _claim(self, keys: list[str], at: float) -> float:
        self._append(_Claim(socket.gethostname(), os.getpid(), at, keys))
        return at

    def _append(self, *lines: _Part | _Run | _Failed | _Claim) -> None:
        data = b"".join(b"%08x %b\n" % (zlib.crc32(text), text) for text in map(_ENCODER.encode, lines))
        file = self._open()
        try:
            written = 0
            while written < len(data):
                written += os.write(file, data[written:])
            if time.monotonic() - self._flushed_at > _FLUSH_S:
                os.fsync(file)
                self._flushed_at = time.monotonic()
        except OSError as error:
            os.ftruncate(file, self._size)
            if not self._size:
                self.path.unlink()
                self._file = None
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        self._size += len(data)

    def _open(self) -> int:
        while self._file is None:
            self._directory.mkdir(parents=True, exist_ok=True)
            name = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}.jsonl"
            self.path, self._size = self._directory / name, 0
            with contextlib.suppress(FileNotFoundError):  # another process removed the empty directory just now
                self._file = new_log(self.path)
                weakref.finalize(self, os.close, self._file)
        return self._file


class RunLogs:
    """The run logs of a store, each read from where it was read before."""

    def __init__(self, store: Path) -> None:
        """Reads nothing yet."""
        self._store, self._directory = store, store / RUN_LOGS
        self._logs: dict[str, _Log] = {}

    def more(self, kept: Kept, but: Path | None = None) -> None:
        """Adds the lines appended since the last call, from all logs `but` one."""
        names = [entry.name for entry in os.scandir(self._directory)] if self._directory.is_dir() else []
        for name in sorted(names):
            if not name.endswith(".jsonl") or (but and name == but.name):
                continue
            if name not in self._logs:
                self._logs[name] = _Log(self._directory / name, self._store)
            self._logs[name].more(kept)

    def is_claimed(self, key: str, before: float = math.inf) -> bool:
        """True if another live process claimed the run `before` a time."""
        return any(log.is_claimed(key, before) for log in self._logs.values())

    def sweep(self) -> None:
        """Removes the logs of dead processes that only have claims, and those that have no name yet."""
        remove_leftovers(self._directory)
        for log in self._logs.values():
            log.sweep()


class _Log:
    """A run log and the position read so far."""

    def __init__(self, path: Path, store: Path) -> None:
        self._path, self._store = path, store
        self._read, self._lines, self._claim_lines = 0, 0, 0
        self._is_over = False
        self._parts: dict[str, _Part] = {}
        self._claims: dict[str, _Claim] = {}

    def more(self, kept: Kept) -> None:
        """Reads the whole lines appended since the last call. A log without a writer is read once."""
        if self._is_over:
            return
        # Asked first: a writer that ends now has written its last line.
        no_writer = not self._lines and not has_writer(self._path)
        unread, found = 0, []
        lines = self._appended(kept).split(b"\n")[:-1]
        for number, data in enumerate(lines, self._lines + 1):
            try:
                checksum, _, text = data.partition(b" ")
                if checksum != b"%08x" % zlib.crc32(text):
                    raise ValueError("its checksum is wrong")
                if result := self._take(_DECODER.decode(text)):
                    found.append(result)
            except msgspec.ValidationError as error:
                unread, example = unread + 1, f"such as line {number}: {error}"
            except (msgspec.MsgspecError, ValueError, KeyError) as error:
                what = f"without the part {error}" if isinstance(error, KeyError) else str(error)
                kept.damages.append(f"{self._path}, line {number}: damaged: {what}; remove the line")
        self._lines += len(lines)
        self._is_over = no_writer and bool(lines)
        if unread:
            kept.damages.append(
                f"{self._path}: {unread:,} of {self._lines:,} lines were written by another version, {example}; "
                "move the file away"
            )
        for result in found:
            kept.add(result)

    def is_claimed(self, key: str, before: float) -> bool:
        """True if the log's process is alive, is not this one, and claimed the run before a time."""
        claim = self._claims.get(key)
        return (
            claim is not None
            and not self._is_over
            and claim.time < before
            and abs(time.time() - claim.time) < _CLAIM_S
            and (claim.host, claim.pid) != (socket.gethostname(), os.getpid())
            and has_writer(self._path)
        )

    def sweep(self) -> None:
        """Removes the log of a dead process that only has claims."""
        if self._is_over and self._claim_lines == self._lines:
            self._path.unlink(missing_ok=True)

    def _appended(self, kept: Kept) -> bytes:
        try:
            if self._path.stat().st_size <= self._read:
                return b""
            with self._path.open("rb") as file:
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:  # it only had claims, and its process has ended
            return b""
        except OSError as error:
            kept.damages.append(f"{self._path}: damaged: {error.strerror or error}; move it away")
            return b""
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        return whole

    def _take(self, line: _Part | _Run | _Failed | _Claim) -> Result | None:
        """The run of a line, if it has one; None too where the directory of its tables was removed."""
        if isinstance(line, _Part):
            self._parts[line.id] = line
            return None
        if isinstance(line, _Claim):
            self._claim_lines += 1
            self._claims.update(dict.fromkeys(line.keys, line))
            return None
        self._claims.pop(line.origin["key"], None)
        scenario, scheme, code = (self._parts[name] for name in (line.scenario, line.scheme, line.code))
        if scenario.scenario is None or scheme.scheme is None or code.code is None:
            raise ValueError("a part of another kind")
        origin: Provenance = {**scenario.scenario, **scheme.scheme, **code.code, **line.origin}
        if isinstance(line, _Failed):
            return Result.failed(origin, LostRun(line.error))
        place = place_in(self._store, origin["scenario"], origin["scheme"], origin["seed"], origin["key"])
        if line.tables and not place.exists():
            return None
        tables = OnDisk(place, line.tables) if line.tables else {}
        return Result({"provenance": origin, **line.measured, "tables": line.tables, "meta": line.meta}, tables)
