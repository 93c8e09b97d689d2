"""Output of the command line: results on stdout, notes and errors on stderr."""

import contextlib
import logging
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from shortflow._core import Scheme
from shortflow.lazy import json, records, scenarios

FAULTS = ("loss", "corrupted", "link down", "no route")
"""Drop reasons that are faults of a scenario."""

_LOG = logging.getLogger("shortflow")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters in users' texts, except tabs and newlines: terminals would execute them."""


def plain(text: str) -> str:
    """The text without control characters."""
    return CONTROL.sub("", text)


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


def note_warnings_at(ends: Iterable[tuple[Mapping[str, str], "scenarios.Scenario", Scheme]]) -> None:
    """Notes a scheme's warnings at both ends of a range: each once, with the end's settings unless both have it."""
    found = [
        (", ".join(f"{key}={value}" for key, value in point.items()), scenario.warnings([scheme]))
        for point, scenario, scheme in ends
    ]
    for warning in scenarios.warnings_at(found):
        note(warning)


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
