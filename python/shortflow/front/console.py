"""Output of the command line: results on stdout, notes and errors on stderr."""

import contextlib
import logging
import re
import sys
from collections.abc import Iterator

from shortflow.lazy import json

_LOG = logging.getLogger("shortflow")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters in users' texts, except tabs and newlines. Terminals would execute them."""


def without_controls(text: str) -> str:
    """The text without control characters."""
    return CONTROL.sub("", text)


def print_json(document: object) -> None:
    """Prints a command's single JSON document on stdout."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def print_note(message: str) -> None:
    """Prints a note on stderr."""
    print(without_controls(message), file=sys.stderr)


def note(message: str) -> None:
    """Emits a note: on stderr during a command, in the log during a call from Python."""
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
    """Notes the path of a report, its number of runs, and the time in seconds."""
    note(f"report: {report} ({runs} runs, {reused} reused, {seconds:.0f} s)")
