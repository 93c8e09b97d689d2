"""Run logs of a store. The record of each run is one appended line, so thousands of records need only a few files.

One process appends to one run log, `DIR/run-logs/TIME-ID.jsonl`. A line has a checksum (CRC-32) and a JSON object. The
object is a `part` that many runs share, a `run`, a `failed` run, or a `claim` on runs that the process works on.
Written lines never change. If a killed process left its last line incomplete, the line is ignored.

Claims are hints. If a claim is lost, a run is done twice, and the results are still right.
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
"""Directories of a store: of the logs, and of the tables."""
_FLUSH_S = 1.0
"""Minimum time between two flushes of the log to disk, in seconds. A killed process loses no line in any case."""
_CLAIM_S = 60.0
"""Age in seconds at which a claim is stale."""
_RELEASED = 0.0
"""Time that a claim gets when it is released."""
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
    """Runs of a store. For each key, the newest run with tables, the newest without tables, and the newest failure."""

    by_key: dict[tuple[str, bool, bool], Result] = field(default_factory=dict)
    damages: list[str] = field(default_factory=list)
    """One text for each unreadable line or file, with its place and error."""

    def add(self, result: Result) -> None:
        """Adds a run, unless a newer run of the same key and form is present."""
        key = result.key, bool(result.record["tables"]), bool(result.error)
        earlier = self.by_key.get(key)
        if not earlier or earlier.provenance["finished_at"] <= result.provenance["finished_at"]:
            self.by_key[key] = result

    @property
    def results(self) -> list[Result]:
        """All runs, ordered by scenario, scheme, seed and settings. The order depends on neither build nor jobs."""

        def place(result: Result) -> tuple[object, ...]:
            origin = result.provenance
            settings = [(key, in_base_unit([value]) or [math.inf], value) for key, value in changed(origin).items()]
            return origin["scenario"], origin["scheme"], origin["seed"], settings, origin["finished_at"]

        return sorted(self.by_key.values(), key=place)


def place_in(store: Path, scenario: str, scheme: str, seed: int, key: str) -> Path:
    """Directory in which a store keeps the tables of a run."""
    return store / TABLES_IN / f"{scenario}-{scheme}-seed{seed}-{key[:KEY_LENGTH]}"


class RunLog:
    """Log of this process. The first claim or run creates the file, which stays locked."""

    def __init__(self, store: Path) -> None:
        """`store` is the directory of the store. Creates no file yet."""
        self._directory = store / RUN_LOGS
        self._file: int | None = None
        self.path = self._directory
        self._size, self._flushed_at = 0, 0.0
        self._parts: set[str] = set()
        self._claimed: set[str] = set()
        self._claimed_at = 0.0
        self._has_runs = False

    def add(self, result: Result) -> None:
        """Appends a finished or failed run. Raises `OSError`, which names the file, and leaves the file unchanged."""
        if self._file is None:
            self._claim([], _RELEASED)  # a first line that tells this log from logs of versions without claims
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
        """Claims a run, and returns the time of the claim in seconds since 1970."""
        self._claimed.add(key)
        self._claimed_at = time.monotonic()
        return self._claim([key], time.time())

    def release(self, *keys: str) -> None:
        """Ends this process's claims on these runs. A run that was added has no claim any more."""
        if held := self._claimed.intersection(keys):
            self._claimed -= held
            self._claim([*held], _RELEASED)

    def renew(self) -> None:
        """Renews all claims if they are older than `_RENEW_S`, before they become stale."""
        if self._claimed and time.monotonic() - self._claimed_at > _RENEW_S:
            self._claimed_at = time.monotonic()
            self._claim([*self._claimed], time.time())

    def flush(self) -> None:
        """Makes all lines durable against a power cut, ends all claims, and removes a log that only has claims."""
        with contextlib.suppress(OSError):  # if it fails, other processes wait until the claims are stale
            self.release(*self._claimed)
        if self._file is not None:
            os.fsync(self._file)
            if not self._has_runs:
                self.path.unlink(missing_ok=True)
                self._file = None
        with contextlib.suppress(OSError):  # the directory has logs, or does not exist
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
            # Removes the incomplete lines, and a log that has no complete line.
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
            with contextlib.suppress(FileNotFoundError):  # another process has just removed the empty directory
                self._file = new_log(self.path)
                weakref.finalize(self, os.close, self._file)
        return self._file


class RunLogs:
    """All run logs of a store. Each call reads on from the position of the last call."""

    def __init__(self, store: Path) -> None:
        """`store` is the directory of the store. Reads no file yet."""
        self._store, self._directory = store, store / RUN_LOGS
        self._logs: dict[str, _Log] = {}

    def more(self, kept: Kept, but: Path | None = None) -> None:
        """Adds the runs that were appended since the last call to `kept`. The log `but` is not read."""
        names = [entry.name for entry in os.scandir(self._directory)] if self._directory.is_dir() else []
        for name in sorted(names):
            if not name.endswith(".jsonl") or (but and name == but.name):
                continue
            if name not in self._logs:
                self._logs[name] = _Log(self._directory / name, self._store)
            self._logs[name].more(kept)

    def is_claimed(self, key: str, before: float = math.inf) -> bool:
        """True if another live process claimed the run, and did so `before` this time in seconds since 1970."""
        return any(log.is_claimed(key, before) for log in self._logs.values())

    def sweep(self) -> None:
        """Removes logs of ended processes that only have claims, and partial files of logs."""
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
        """Reads the complete lines appended since the last call. A log without a writer is read only once."""
        if self._is_over:
            return
        # Asked before reading: a writer that ends between the two steps has written its last line by then.
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
                # The checksum is right, so the line is whole, but it has the fields of another version.
                unread, example = unread + 1, f"such as line {number}: {error}"
            except (msgspec.MsgspecError, ValueError, KeyError) as error:
                what = f"its part {error} is not in the log" if isinstance(error, KeyError) else str(error)
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
        """True if the log's process lives, is another process, and claimed the run before this time."""
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
        """Removes the log if its process has ended and it only has claims."""
        if self._is_over and self._claim_lines == self._lines:
            self._path.unlink(missing_ok=True)

    def _appended(self, kept: Kept) -> bytes:
        try:
            if self._path.stat().st_size <= self._read:
                return b""
            with self._path.open("rb") as file:
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:  # another process removed the log, because it only had claims
            return b""
        except OSError as error:
            kept.damages.append(f"{self._path}: damaged: {error.strerror or error}; move it away")
            return b""
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        return whole

    def _take(self, line: _Part | _Run | _Failed | _Claim) -> Result | None:
        """The run of a line. None if the line is no run, or if the directory of the run's tables was removed."""
        if isinstance(line, _Part):
            self._parts[line.id] = line
            return None
        if isinstance(line, _Claim):
            self._claim_lines += 1
            self._claims.update(dict.fromkeys(line.keys, line))
            return None
        self._claims.pop(line.origin["key"], None)  # a finished or failed run ends its claim
        scenario, scheme, code = (self._parts[name] for name in (line.scenario, line.scheme, line.code))
        if scenario.scenario is None or scheme.scheme is None or code.code is None:
            raise ValueError("its parts are not those of a run; expected a scenario, a scheme and a code")
        origin: Provenance = {**scenario.scenario, **scheme.scheme, **code.code, **line.origin}
        if isinstance(line, _Failed):
            return Result.failed(origin, LostRun(line.error))
        place = place_in(self._store, origin["scenario"], origin["scheme"], origin["seed"], origin["key"])
        if line.tables and not place.exists():
            return None
        tables = OnDisk(place, line.tables) if line.tables else {}
        return Result({"provenance": origin, **line.measured, "tables": line.tables, "meta": line.meta}, tables)
