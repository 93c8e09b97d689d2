"""The report: one self-contained HTML page about the results in a directory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shortflow.errors import ConfigError, DamagedResult
from shortflow.report.page import document, render
from shortflow.report.study import studies
from shortflow.result import RunResult
from shortflow.store import find_runs, read_run, write_text

__all__ = ["report_numbers", "write_report"]


def write_report(directory: Path, page: Path, only: Sequence[Path] | None = None) -> int:
    """Write a page about all runs in or below `directory`, or about some of them; returns how many there are."""
    results = _read(directory, only)
    write_text(page, render(studies(results)))
    return len(results)


def report_numbers(directory: Path) -> dict[str, Any]:
    """The numbers behind the page's plots and tables as plain data, in the shape that docs/results.md describes."""
    return document(studies(_read(directory)))


def _read(directory: Path, only: Sequence[Path] | None = None) -> list[RunResult]:
    places = only or (find_runs(directory) if directory.is_dir() else [])
    if not places:
        raise ConfigError(f"{directory}: holds no results; `shortflow compare … --out {directory}` puts some there")
    return _read_all(places)


def _read_all(places: Sequence[Path]) -> list[RunResult]:
    """The results of all places; those that are damaged are named together."""
    results, damages = [], []
    for place in places:
        try:
            results.append(read_run(place))
        except DamagedResult as damage:
            damages.append(str(damage))
    if damages:
        raise DamagedResult("\n".join(damages))
    return results
