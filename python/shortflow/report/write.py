"""The report: one self-contained HTML page about the results in a directory."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shortflow.report.page import document, render
from shortflow.report.study import Study, studies
from shortflow.result import Provenance
from shortflow.store.files import write_text
from shortflow.store.runs import read_each, read_run, select_runs

__all__ = ["report_numbers", "write_report"]

_log = logging.getLogger(__name__)


def write_report(directory: Path, page: Path, only: Sequence[Path] | None = None) -> int:
    """Write a page about the runs in or below `directory`, or about some of them; returns how many it shows.

    Of runs with the same settings it shows the newest, and names those that are superseded. Runs of one scenario that
    come from different code are a `ConfigError`.
    """
    found = _studies(directory, only)
    write_text(page, render(found))
    return sum(len(point.results) for study in found for point in study.points)


def report_numbers(directory: Path) -> dict[str, Any]:
    """The numbers behind the page's plots and tables as plain data, in the shape that docs/results.md describes."""
    return document(_studies(directory))


def _studies(directory: Path, only: Sequence[Path] | None = None) -> list[Study]:
    selection = select_runs(directory, only)
    superseded = [selection.origin(place) for place in selection.superseded]
    if superseded:
        _log.warning("%s", _left_out(directory, superseded))
    return studies(read_each(selection.current, read_run).values(), superseded)


def _left_out(directory: Path, superseded: Sequence[Provenance]) -> str:
    schemes = ", ".join(dict.fromkeys(f"{origin['scenario']} with {origin['scheme']}" for origin in superseded))
    return f"{directory}: {len(superseded)} superseded runs are left out, as there are newer ones of {schemes}"
