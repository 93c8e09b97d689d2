"""The report: one self-contained HTML page on the results in a directory."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shortflow.errors import ConfigError, DamagedResult
from shortflow.measured import Source, read_measured
from shortflow.report.page import StoredFailure, document, render
from shortflow.report.study import studies as make_studies
from shortflow.report.study import with_measured
from shortflow.report.sweep.runs import Swept, stored_sweeps
from shortflow.result import Result, changed
from shortflow.results import Results
from shortflow.store.files import Kind, write_text
from shortflow.store.reading import current, failed
from shortflow.store.runs import read_each, read_run, select_runs
from shortflow.tuning.pages import document as tuning_document
from shortflow.tuning.pages import write_page as write_tuning
from shortflow.tuning.record import is_tuning, read_tuning

__all__ = ["report_numbers", "write_report"]

_log = logging.getLogger(__name__)


def write_report(
    directory: Path,
    page: Path,
    only: Sequence[Path] | None = None,
    *,
    measured: "Source | None" = None,
    damages: list[str] | None = None,
    baseline: str | None = None,
) -> int:
    """Writes a page on runs in or below `directory`, or on `only`. Returns the number of runs shown.

    Of runs with equal settings it shows the newest, and names the superseded ones. Raises `ConfigError` if different
    code made runs of one scenario. For a tuning it writes the page of `tune`. `measured` flows, as in
    `shortflow.compare`, are shown beside the runs of the only scenario. A damaged run raises `DamagedResult` or, with
    the list `damages`, is left out, and named there and on the page.
    """
    if only is None and measured is None and is_tuning(directory):
        tuning = read_tuning(directory)
        write_tuning(tuning, page)
        return tuning.runs
    studies, sweeps, failures = _found(directory, only, measured, damages)
    write_text(page, render(studies, sweeps, failures, damages or (), baseline), Kind.PAGE)
    origins = [origin for sweep in sweeps for origin in sweep.origins]
    origins += [run.provenance for study in studies for run in study.results]
    return len({origin["key"] for origin in origins})


def report_numbers(
    directory: Path,
    *,
    measured: "Source | None" = None,
    damages: list[str] | None = None,
    baseline: str | None = None,
) -> dict[str, Any]:
    """Numbers of the page's plots and tables as plain data (docs/results.md)."""
    if measured is None and is_tuning(directory):
        return tuning_document(read_tuning(directory))
    return document(*_found(directory, measured=measured, damages=damages), damages or (), baseline)


def _found(
    directory: Path,
    only: Sequence[Path] | None = None,
    measured: "Source | None" = None,
    damages: list[str] | None = None,
) -> tuple[list[Results], list[Swept], list[StoredFailure]]:
    """Current results of a directory: studies of runs with tables, and sweeps, which need none.

    Also returns failed runs.
    """
    selection = select_runs(directory, only, damages)
    left_out = [selection.results[place] for place in selection.superseded]
    if left_out:
        _log.warning("%s", _left_out(directory, left_out))
    with_tables = [place for place in selection.current if selection.results[place].record["tables"]]
    found = read_each(with_tables, read_run, damages)
    lost = set(with_tables).difference(found)
    selection = replace(selection, current=[place for place in selection.current if place not in lost])
    if damages and not selection.current:
        raise DamagedResult("\n".join(damages))
    studies = make_studies(found.values(), left_out)
    if measured is not None:
        if len(studies) != 1:
            names = ", ".join(each.scenario for each in studies) or "none"
            raise ConfigError(f"{directory}: measured flows need the runs with tables of one scenario; found {names}")
        classes = studies[0].classes
        studies = [with_measured(studies[0], read_measured(measured, classes))]
    return studies, stored_sweeps(current(selection)), [_failure(run) for run in failed(selection)]


def _failure(run: Result) -> StoredFailure:
    return StoredFailure(
        scenario=run.provenance["scenario"],
        scheme=run.scheme,
        seed=run.seed,
        settings=changed(run.provenance),
        error=run.error_text,
    )


def _left_out(directory: Path, superseded: Sequence[Result]) -> str:
    schemes = ", ".join(dict.fromkeys(f"{run.provenance['scenario']} with {run.scheme}" for run in superseded))
    return f"{directory}: {len(superseded)} superseded runs are left out, as there are newer ones of {schemes}"
