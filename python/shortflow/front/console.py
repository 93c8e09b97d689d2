"""Output of the command line: results on stdout, progress and errors on stderr."""

import contextlib
import logging
import sys
import time
from collections.abc import Iterable, Iterator, Sequence

from shortflow._core import Scheme
from shortflow.front.pace import CONTROL, LATELY_S, Pace, plain
from shortflow.lazy import json, records, runner, scenarios, terminal

FAULTS = ("loss", "corrupted", "link down", "no route")
"""Drop reasons that are faults of a scenario."""

_LOG = logging.getLogger("shortflow")
_FAR_S = 86_400.0
"""Longest remaining time to show, in seconds."""


def print_json(document: object) -> None:
    """Prints a command's single JSON document on stdout."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def print_note(message: str) -> None:
    """Prints a note on stderr."""
    print(plain(message), file=sys.stderr)


def note(message: str) -> None:
    """Emits a note: on stderr for a command, in the log for a call from Python."""
    _LOG.info(message)


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        print_note(record.getMessage())


@contextlib.contextmanager
def notes_on_stderr() -> Iterator[None]:
    """Prints notes on stderr during a command."""
    handler, level = _Notes(), _LOG.level
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        _LOG.removeHandler(handler)
        _LOG.setLevel(level)


def note_report(report: object, runs: int, reused: int, seconds: float) -> None:
    """Notes a report's path, number of runs and time."""
    note(f"report: {report} ({runs} runs, {reused} reused, {seconds:.0f} s)")


def note_warnings(scenario: "scenarios.Scenario", schemes: Iterable[Scheme]) -> None:
    """Notes valid but probably unintended values of a scenario, alone or under these schemes."""
    for warning in scenario.warnings(schemes):
        note(f"{scenarios.WARNING}{warning}")


class Lines:
    """Progress lines for a stderr that is no terminal, one every 30 s. Consecutive bars may share them."""

    def __init__(self) -> None:
        """The first line is due after 30 s."""
        self._last = time.monotonic()

    def due(self) -> bool:
        """True if a line is due; then restarts the interval."""
        now = time.monotonic()
        late = now - self._last >= LATELY_S and not sys.stderr.isatty()
        if late:
            self._last = now
        return late


def progress_bar(label: str, lines: Lines | None = None) -> "contextlib.AbstractContextManager[runner.Progress]":
    """A live bar on stderr; without a terminal, a line every 30 s."""
    if sys.stderr.isatty():
        return terminal.live_bar(label)
    return contextlib.nullcontext(_progress_lines(label, lines or Lines()))


def _progress_lines(label: str, lines: Lines) -> "runner.Progress":
    started = time.monotonic()
    pace = Pace()

    def update(fraction: float, finished: int, total: int, waiting: str = "") -> None:
        rate, left = pace.told(fraction, finished)
        if lines.due():
            spent = time.monotonic() - started
            rest = f", about {left:.0f} s left at this pace" if left and left < _FAR_S and fraction < 1 else ""
            shown = f"; {waiting}" if waiting else ""
            print_note(
                f"{label}: {finished}/{total} runs{rate}, {fraction:.0%} of the work, {spent:.0f} s{rest}{shown}"
            )

    return update


def note_faults(drops: "Sequence[records.Drop]") -> None:
    """Notes packets lost to the scenario's faults, with the worst places."""
    for reason in FAULTS:
        places = sorted(((row["in_run"], row["place"]) for row in drops if row["reason"] == reason), reverse=True)
        if places:
            most = ", ".join(f"{count} at {place}" for count, place in places[:3])
            more = ", …" if len(places) > 3 else ""
            packets = sum(count for count, _ in places)
            note(f"dropped in the whole run, {reason}: {packets} packets ({most}{more})")


def note_about(notes: Iterable[str]) -> None:
    """Notes limits of results, except warnings, which are printed above the bar."""
    for each in notes:
        if not each.startswith(scenarios.WARNING):
            note(each)
