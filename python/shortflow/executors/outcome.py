"""What becomes of a run, as plain data that travels between processes."""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field

from shortflow.errors import ConfigError, LostRun, SimulationError
from shortflow.lazy import columns, pl
from shortflow.result import Checksum, Record, Run, RunResult, RunSummary, measured, summarize


@dataclass(frozen=True)
class Finished:
    """A run that ended."""

    record: Record
    """Provenance, metrics and the simulator's own account: some kilobytes."""
    tables: Mapping[str, bytes]
    """Its tables as Parquet, by name; empty unless they were asked for."""
    result: RunResult | None = field(default=None, compare=False, repr=False)
    """The result itself, if it was made in this process."""
    run: Run | None = field(default=None, compare=False, repr=False)
    """What was run, if this process has it in memory."""

    @property
    def summary(self) -> RunSummary:
        """What comparisons keep of it."""
        return summarize(self.record)


@dataclass(frozen=True)
class Failed:
    """A run that ended in an error."""

    kind: str
    """The name of the exception."""
    message: str
    cause: BaseException | None = field(default=None, compare=False, repr=False)
    """The exception itself, where it was raised in this process."""

    @classmethod
    def of(cls, error: BaseException) -> "Failed":
        """What is left of an exception when it leaves its process."""
        return cls(type(error).__name__, str(error))

    @property
    def is_final(self) -> bool:
        """Whether scenario, scheme and seed are to blame, so that it would fail again."""
        return self.kind in (ConfigError.__name__, SimulationError.__name__)

    @property
    def error(self) -> BaseException:
        """An exception that says it."""
        if self.cause:
            return self.cause
        kinds = {each.__name__: each for each in (ConfigError, SimulationError)}
        return kinds.get(self.kind, LostRun)(self.text)

    @property
    def text(self) -> str:
        """The error in words."""
        expected = self.is_final or self.kind == LostRun.__name__
        return self.message if expected and self.message else f"{self.kind}: {self.message}"


Outcome = Finished | Failed


def complete(result: RunResult, *, tables: bool) -> Finished:
    """A result as it is kept: with its metrics, and if asked with its tables encoded."""
    encoded = _encoded(result) if tables else {}
    record: Record = {
        "provenance": result.provenance,
        **measured(result),
        "tables": {name: checksum(data) for name, data in encoded.items()},
        "meta": result.meta,
    }
    return Finished(record, encoded)


def checksum(data: bytes) -> Checksum:
    """What the contents of a file are known by."""
    return Checksum(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))


def decoded(data: bytes) -> "pl.DataFrame":
    """A table from its encoded form."""
    return pl.read_parquet(io.BytesIO(data))


def _encoded(result: RunResult) -> dict[str, bytes]:
    return {name: _parquet(getattr(result, name)) for name in columns.TABLES}


def _parquet(table: "pl.DataFrame") -> bytes:
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()
