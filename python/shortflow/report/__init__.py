"""The report: one self-contained HTML page about the results in a directory."""

from pathlib import Path

from shortflow.errors import ConfigError
from shortflow.report.page import render
from shortflow.report.study import studies
from shortflow.store import find_runs, read_run, write_text

__all__ = ["write_report"]


def write_report(directory: Path, page: Path) -> int:
    """Write a page about all runs in or below `directory`; returns how many there are."""
    places = find_runs(directory) if directory.is_dir() else []
    if not places:
        raise ConfigError(f"{directory}: holds no results; `shortflow compare … --out {directory}` puts some there")
    results = [read_run(place) for place in places]
    write_text(page, render(studies(results)))
    return len(results)
