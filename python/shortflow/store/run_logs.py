"""Runs that are kept without their tables: each a line that is appended to a file, so that thousands are a few files.

A run log, `DIR/run-logs/TIME-ID.jsonl`, is what one process appended. A line is a checksum (CRC-32) and a JSON object:
a `part`, which is what many runs have in common, a `run`, or a run that `failed`. Nothing that was written is ever
written again. A line that a killed process left unfinished at the end counts as not written.
"""

import hashlib
import os
import secrets
import weakref
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import msgspec

from shortflow.errors import DamagedResult
from shortflow.records import Meta
from shortflow.result import CodeOrigin, Failure, Measured, Provenance, Record, RunOrigin, ScenarioOrigin, SchemeOrigin

RUN_LOGS = "run-logs"
_FLUSH_S = 1.0
"""After so much time the file is made safe against a power cut; a kill of the process loses nothing at all."""


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


class _Run(_Line, tag="run", tag_field="line"):
    measured: Measured
    meta: Meta


class _Failed(_Line, tag="failed", tag_field="line"):
    error: str


_DECODER = msgspec.json.Decoder(_Part | _Run | _Failed)
_ENCODER = msgspec.json.Encoder()


@dataclass(frozen=True)
class Kept:
    """What run logs hold, each run by its place: its log's path and its key."""

    records: dict[Path, Record] = field(default_factory=dict)
    failures: dict[Path, Failure] = field(default_factory=dict)
    damages: list[str] = field(default_factory=list)
    """What is wrong with lines that cannot be read, and where."""


class RunLog:
    """What this process appends; the file is there from the first run on."""

    def __init__(self, directory: Path) -> None:
        """Nothing is written yet."""
        self._directory = directory
        self._file: int | None = None
        self.path = directory
        self._size = 0
        self._flushed_at = 0.0
        self._parts: set[str] = set()

    def add(self, record: Record) -> Path:
        """Append a finished run, and return its place; an `OSError` names the file, which then is as it was before."""
        measured: Measured = {
            "metrics": record["metrics"],
            "lower_bounds": record["lower_bounds"],
            "classes": record["classes"],
            "measured_by": record["measured_by"],
        }
        parts, line = self._split(record["provenance"])
        return self._append(parts, _Run(*line, measured, record["meta"]))

    def add_failure(self, failure: Failure) -> Path:
        """Append a run that failed."""
        parts, line = self._split(failure["provenance"])
        return self._append(parts, _Failed(*line, failure["error"]))

    def flush(self) -> None:
        """Make everything safe against a power cut."""
        if self._file is not None:
            os.fsync(self._file)

    def _split(self, origin: Provenance) -> tuple[list[_Part], tuple[str, str, str, RunOrigin]]:
        """The parts of an origin that are not there yet, and what a line says of it."""
        scenario = _Part(scenario=msgspec.convert(origin, ScenarioOrigin))
        scheme = _Part(scheme=msgspec.convert(origin, SchemeOrigin))
        code = _Part(code=msgspec.convert(origin, CodeOrigin))
        for part in (scenario, scheme, code):
            part.id = hashlib.sha256(_ENCODER.encode(part)).hexdigest()[:16]
        new = [part for part in (scenario, scheme, code) if part.id not in self._parts]
        return new, (scenario.id, scheme.id, code.id, msgspec.convert(origin, RunOrigin))

    def _append(self, parts: list[_Part], line: _Run | _Failed) -> Path:
        data = b"".join(_checked(_ENCODER.encode(each)) for each in (*parts, line))
        file = self._open()
        try:
            written = 0
            while written < len(data):
                written += os.write(file, data[written:])
            if monotonic() - self._flushed_at > _FLUSH_S:
                os.fsync(file)
                self._flushed_at = monotonic()
        except OSError as error:
            os.ftruncate(file, self._size)
            if not self._size:
                self.path.unlink()
                self._file = None
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        self._size += len(data)
        self._parts.update(part.id for part in parts)
        return self.path / line.origin["key"]

    def _open(self) -> int:
        if self._file is None:
            self._directory.mkdir(parents=True, exist_ok=True)
            name = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}.jsonl"
            self.path, self._size = self._directory / name, 0
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
            weakref.finalize(self, os.close, self._file)
        return self._file


def read_run_logs(directory: Path) -> Kept:
    """Everything in the run logs of a directory, in an order that is the same however many runs were done at a time."""
    kept = Kept()
    for path in sorted(directory.glob("*.jsonl")):
        _read(path, kept)
    records = sorted(kept.records.items(), key=lambda item: _rank(item[1]["provenance"]))
    failures = sorted(kept.failures.items(), key=lambda item: _rank(item[1]["provenance"]))
    return Kept(dict(records), dict(failures), kept.damages)


def _rank(origin: Provenance) -> tuple[str, str, int, str, str]:
    return origin["scenario"], origin["scheme"], origin["seed"], origin["key"], origin["finished_at"]


def _read(path: Path, kept: Kept) -> None:
    parts: dict[str, _Part] = {}
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise DamagedResult(f"{path}: damaged: {error.strerror or error}") from error
    unread = 0
    for number, data in enumerate(lines, 1):
        try:
            line = _DECODER.decode(_content(data))
            if isinstance(line, _Part):
                parts[line.id] = line
            elif isinstance(line, _Run):
                kept.records[path / line.origin["key"]] = _record(line, parts)
            else:
                origin = _origin(line, parts)
                kept.failures[path / line.origin["key"]] = {"provenance": origin, "error": line.error}
        except msgspec.ValidationError as error:
            unread, example = unread + 1, f"such as line {number}: {error}"
        except (msgspec.MsgspecError, ValueError, KeyError) as error:
            what = f"without the part {error}" if isinstance(error, KeyError) else str(error)
            kept.damages.append(f"{path}, line {number}: damaged: {what}; remove the line")
    if unread:
        kept.damages.append(
            f"{path}: {unread:,} of {len(lines):,} lines were written by another version, {example}; move the file away"
        )


def _record(line: _Run, parts: dict[str, _Part]) -> Record:
    return {"provenance": _origin(line, parts), **line.measured, "tables": {}, "meta": line.meta}


def _origin(line: _Line, parts: dict[str, _Part]) -> Provenance:
    scenario, scheme, code = (parts[name] for name in (line.scenario, line.scheme, line.code))
    if scenario.scenario is None or scheme.scheme is None or code.code is None:
        raise ValueError("a part of another kind")
    return {**scenario.scenario, **scheme.scheme, **code.code, **line.origin}


def _checked(text: bytes) -> bytes:
    return b"%08x %b\n" % (zlib.crc32(text), text)


def _content(line: bytes) -> bytes:
    """What a line says, if it is as it was written."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        raise ValueError("its checksum is wrong")
    return text
