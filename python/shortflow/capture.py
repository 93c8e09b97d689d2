"""Packet events, written during a run: packet traces in Parquet, captures in pcapng, and traces for Perfetto."""

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from shortflow import _core
from shortflow.errors import ConfigError, unknown_name
from shortflow.lazy import pl
from shortflow.perfetto.trace import Trace
from shortflow.perfetto.tracks import Within
from shortflow.quantities import parse
from shortflow.scenario import Scenario
from shortflow.store.files import Kind, hidden, new_file

MOST_ROWS = 50_000_000
"""Maximum number of rows of a packet trace, about 1 GB. A longer trace ends the run with an error."""
TRACE = "trace.parquet"
_ROWS = 100_000
"""Number of rows of a trace in memory at a time."""
_LAST_ROW = 2**32 - 2
_TERMS = ("flows", "ports", "time")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


@dataclass(frozen=True)
class FlowChoice:
    """Selected flows: ranges (first, last) of rows in the flow table, and classes."""

    rows: Sequence[tuple[int, int]] = ()
    classes: Sequence[str] = ()

    @property
    def expression(self) -> "pl.Expr":
        """Expression that is true for the selected rows of a flow table."""
        rows = [pl.col("id").is_between(first, last) for first, last in self.rows]
        return pl.any_horizontal(pl.col("class").is_in([*self.classes]), *rows)

    @classmethod
    def parse(cls, text: str, scenario: Scenario, option: str = "--trace") -> "FlowChoice":
        """Parses a selection such as `0,5-9`, `short` or `all`. A `ConfigError` names the option."""
        rows: list[tuple[int, int]] = []
        classes: list[str] = []
        for part in (part.strip() for part in text.split(",")):
            if found := _RANGE.fullmatch(part):
                first, last = int(found[1]), int(found[2] or found[1])
                if first > last or last > _LAST_ROW:
                    raise ConfigError(f"{option} {text}: expected rows such as 5-9, found {part}")
                rows.append((first, last))
            elif part in scenario.classes:
                classes.append(part)
            elif part == "all":
                classes.extend(scenario.classes)
            else:
                raise ConfigError(
                    f"{option} {text}: {unknown_name('class', part, [*scenario.classes, 'all'])}; choose flows by "
                    "class or row, such as 0,5-9"
                )
        return cls(rows, classes)


def port_of(text: str, scenario: Scenario, option: str = "--pcap") -> str:
    """Port name in normal form, such as `s0->h22`. A `ConfigError` names the nearest port."""
    name = "->".join(part.strip() for part in text.split("->"))
    if name not in (ports := scenario.core.ports()):
        quoted = "" if "->" in text else "; quote the name, because the shell interprets >"
        raise ConfigError(f"{option} {unknown_name('port', name, ports if len(ports) < 20 else ports[:20])}{quoted}")
    return name


@dataclass(frozen=True)
class PerfettoChoice:
    """Selected flows, time and ports of a trace for Perfetto."""

    flows: FlowChoice
    within: Within

    @classmethod
    def parse(cls, terms: Sequence[str], scenario: Scenario) -> "PerfettoChoice":
        """Parses terms such as `flows=0,5-9`, `ports=s0->h40` and `time=10ms:20ms`.

        Raises `ConfigError` for other terms.
        """
        found = {}
        for term in terms:
            key, _, value = (part.strip() for part in term.partition("="))
            if key not in _TERMS or not value:
                said = unknown_name("term", key, _TERMS) if key not in _TERMS else f"{key} has no value"
                raise ConfigError(
                    f"--perfetto-only {term}: {said}; expected flows=0,5-9, ports=s0->h40 or time=0ms:5ms"
                )
            if key in found:
                raise ConfigError(f"--perfetto-only {term}: {key} is given twice; name several between commas")
            found[key] = value
        flows = FlowChoice.parse(found.get("flows", "all"), scenario, "--perfetto-only flows:")
        ports = [
            port_of(each, scenario, "--perfetto-only ports:") for each in found.get("ports", "").split(",") if each
        ]
        begin, end = _span(found["time"]) if "time" in found else (0, Within.until_ns)
        return cls(flows, Within(begin, end, ports))


def _span(text: str) -> tuple[int, int]:
    """Begin and end in nanoseconds of a time such as `10ms:20ms`."""
    ends = [parse(each.strip()) for each in text.split(":")]
    if len(ends) != 2 or any(each is None or each.base != "s" for each in ends):
        raise ConfigError(f"--perfetto-only time={text}: expected FROM:UNTIL, such as time=10ms:20ms")
    begin, end = (round(each.number * each.factor * 1e9) for each in ends if each)
    if begin >= end:
        raise ConfigError(f"--perfetto-only time={text}: ends before it begins")
    return begin, end


def seconds_of(scenario: Scenario, key: str) -> float:
    """A time in a scenario's values, such as `duration`, in seconds."""
    (written,) = (parse(each["value"]) for each in scenario.resolved() if each["key"] == key)
    assert written is not None
    return written.number * written.factor


@dataclass
class Captured:
    """Counts and sizes of the written data."""

    rows: int = 0
    """Number of rows in the packet trace."""
    perfetto: Trace | None = None
    """The trace for Perfetto, which also needs the finished run."""
    bytes: dict[Path, int] = field(default_factory=dict)
    """Size in bytes of each written file."""


@contextlib.contextmanager
def recording(
    scenario: Scenario,
    *,
    trace: tuple[FlowChoice, Path] | None = None,
    pcaps: Mapping[str, Path] | None = None,
    perfetto: tuple[PerfettoChoice, Path] | None = None,
    result: Path | None = None,
) -> "Iterator[tuple[_core.Capture, Captured]]":
    """Context with a capture that writes pcapng files of ports, and a packet trace or a trace for Perfetto.

    A trace for Perfetto gets the finished run inside the block. Files appear when the block succeeds, and not at all
    otherwise. Until then, files below `result` are kept next to this directory, because the block may replace it.
    """
    done = Captured()

    def beside(path: Path) -> Path | None:
        below = result is not None and path.resolve().is_relative_to(result.resolve())
        return result.resolve().parent if result and below else None

    def measure(path: Path, file: BinaryIO) -> None:
        done.bytes[path] = file.tell()

    with contextlib.ExitStack() as stack:
        files = []
        for port, path in (pcaps or {}).items():
            partial = stack.enter_context(new_file(path, Kind.CAPTURE, beside(path)))
            file = stack.enter_context(partial.open("wb"))
            files.append((port, file.write))
            stack.callback(measure, path, file)
        choice, table = FlowChoice(), None
        if trace:
            choice, path = trace
            table = stack.enter_context(_trace(path, beside(path), done))
        if perfetto:
            wanted, path = perfetto
            partial = stack.enter_context(new_file(path, Kind.PERFETTO, beside(path)))
            file = stack.enter_context(partial.open("wb"))
            done.perfetto = Trace(scenario.core.ports(), seconds_of(scenario, "duration"), file.write, wanted.within)
            stack.callback(measure, path, file)
            choice, table = wanted.flows, done.perfetto.take
        rows, classes = list(choice.rows), list(choice.classes)
        yield (_core.Capture(scenario.core, flows=rows, classes=classes, table=table, rows=_ROWS, files=files), done)


@contextlib.contextmanager
def _os_errors() -> Iterator[None]:
    """Turns Polars' error about a failed system call into an `OSError`."""
    try:
        yield
    except pl.exceptions.ComputeError as error:
        if not (found := re.search(r"\(os error (\d+)\)", str(error))):
            raise
        raise OSError(int(found[1]), os.strerror(int(found[1]))) from error


@contextlib.contextmanager
def _trace(path: Path, beside: Path | None, done: Captured) -> Iterator[Callable[[_core.Table], None]]:
    """Yields a function that takes portions of trace rows. At the end, joins the portions into one file."""
    with new_file(path, Kind.TRACE, beside) as partial, hidden(partial.parent) as portions:
        parts: list[Path] = []

        def take(rows: _core.Table) -> None:
            frame = pl.DataFrame(rows)
            done.rows += len(frame)
            if done.rows > MOST_ROWS:
                raise ConfigError(
                    f"--trace: more than {MOST_ROWS:,} rows at {frame['time_s'][-1]:.3g} s; choose fewer flows, or a "
                    "shorter duration"
                )
            parts.append(portions / f"{len(parts)}.parquet")
            with _os_errors():
                frame.write_parquet(parts[-1])

        yield take
        with _os_errors():
            pl.scan_parquet(parts).sink_parquet(partial)
        done.bytes[path] = partial.stat().st_size
