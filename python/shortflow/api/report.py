"""The report: one self-contained HTML page on the results in a directory."""

import logging
from collections.abc import Container, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shortflow.errors import ConfigError, DamagedResult
from shortflow.measured import Source, read_measured
from shortflow.metrics.data import USUAL_BINS, Bins
from shortflow.report.answer import USUAL, Criteria
from shortflow.report.page import document, write
from shortflow.report.study import studies as make_studies
from shortflow.report.study import with_measured
from shortflow.result import Result
from shortflow.results import Results
from shortflow.store.directories import loaded, read_each
from shortflow.store.runs import select_runs
from shortflow.tuning.pages import document as tuning_document
from shortflow.tuning.pages import write_page as write_tuning
from shortflow.tuning.record import is_tuning, read_tuning

__all__ = ["report_numbers", "write_report"]

_log = logging.getLogger(__name__)


def write_report(
    directory: Path,
    page: Path,
    only: Container[str] | None = None,
    *,
    measured: "Source | None" = None,
    damages: list[str] | None = None,
    criteria: Criteria = USUAL,
) -> int:
    """Write a page about the runs in or below `directory`, or those with `only` these keys; returns their number.

    Of runs with the same settings it shows the newest, and names those that are superseded. Runs of one scenario that
    come from different code are a `ConfigError`. Of a tuning it is the page that `tune` writes. `measured` flows, as in
    `shortflow.compare`, stand beside the runs of the only scenario. A damaged run is a `DamagedResult`, unless
    `damages` is given: a list that gets what is damaged, which the page then leaves out and names.
    """
    if only is None and measured is None and is_tuning(directory):
        tuning = read_tuning(directory)
        write_tuning(tuning, page)
        return tuning.runs
    studies, failures = _found(directory, only, measured, damages, criteria.bins)
    write(page, studies, failures, damages or (), criteria)
    return sum(len(study.results) for study in studies)


def report_numbers(
    directory: Path,
    *,
    measured: "Source | None" = None,
    damages: list[str] | None = None,
    criteria: Criteria = USUAL,
) -> dict[str, Any]:
    """Numbers of the page's plots and tables as plain data (docs/results.md)."""
    if measured is None and is_tuning(directory):
        return tuning_document(read_tuning(directory))
    return document(*_found(directory, None, measured, damages, criteria.bins), damages or (), criteria)


def _found(
    directory: Path,
    only: Container[str] | None = None,
    measured: "Source | None" = None,
    damages: list[str] | None = None,
    bins: Bins = USUAL_BINS,
) -> tuple[list[Results], Sequence[Result]]:
    """Current results of a directory by scenario, and failed runs."""
    selection = select_runs(directory, only, damages)
    if old := selection.superseded:
        schemes = ", ".join(dict.fromkeys(f"{run.provenance['scenario']} with {run.scheme}" for run in old))
        left_out = f"{len(old)} superseded runs are left out, as there are newer ones of {schemes}"
        _log.warning("%s: %s", directory, left_out)

    def today(result: Result) -> Result:
        return (loaded(result) if result.tables else result).with_bins(bins)

    found = read_each(selection.current, today, damages)
    if damages and not found:
        raise DamagedResult("\n".join(damages))
    studies = make_studies(found, selection.superseded)
    if measured is not None:
        tabled = [study for study in studies if study.with_tables.done]
        if len(tabled) != 1:
            names = ", ".join(each.scenario for each in tabled) or "none"
            raise ConfigError(f"{directory}: measured flows need the runs with tables of one scenario; found {names}")
        own = replace(read_measured(measured, tabled[0].classes), bins=bins)
        studies = [with_measured(study, own) if study in tabled else study for study in studies]
    return studies, selection.failed
