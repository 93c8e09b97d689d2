"""`report`: one page on the results in a directory."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from shortflow.accounts import again
from shortflow.accounts.account import accounted
from shortflow.accounts.carried import Carried
from shortflow.accounts.charts import went_blocks
from shortflow.criteria import USUAL, Criteria
from shortflow.errors import ConfigError, DamagedResult, ExitCode, front_door
from shortflow.frames import FrameSource
from shortflow.front import options as given
from shortflow.front.command import Answer, Arg, Opt, command
from shortflow.front.console import note
from shortflow.front.progress import reporting
from shortflow.measured import read_measured
from shortflow.quantities import counted
from shortflow.report.blocks import Block, Words
from shortflow.report.network import network_blocks
from shortflow.report.page import Contents, page_table, write_contents
from shortflow.report.study import point_shown_first, studies, with_measured
from shortflow.result import Result
from shortflow.results import Results
from shortflow.scenario import Scenario
from shortflow.store.directories import loaded, read_each
from shortflow.store.runs import select_runs
from shortflow.tuning.pages import tuning_table, write_page
from shortflow.tuning.record import is_tuning, load_tuning

_log = logging.getLogger(__name__)


@command
def report(
    directory: Annotated[str | Path, Arg("Directory of stored results (`--out`).", "DIR", read=Path)],
    *,
    out: Annotated[
        str | Path | None,
        Opt("Page to write; Markdown if FILE ends in .md (default: DIR/report.html).", "FILE", read=Path),
    ] = None,
    measured: Annotated[str | Path | None, given.MEASURED] = None,
    metrics: given.Metrics = None,
    baseline: given.Baseline = None,
    ties: given.Ties = None,
    bins: given.BinEnds = None,
    explain: Annotated[
        bool,
        Opt("Add where completion times went, and the use of each link. Each scheme runs once more for this."),
    ] = False,
    scenario: Annotated[
        Sequence[str] | None,
        Opt("File of a stored scenario that is not a shipped one; --explain needs it.", "FILE", many=True),
    ] = None,
    progress: given.Progress = None,
    json: Annotated[bool, Opt("Print the plots' numbers as one JSON document instead of writing a page.")] = False,
) -> Answer:
    """Write a self-contained HTML page with the plots and tables of stored results.

    The page does not include subdirectories such as DIR/reproduction. If a result is damaged, the page leaves it out
    and names it, and the exit code is 1.
    """
    if json and out:
        raise ConfigError("--json: prints numbers instead of a page; leave out --out, or run the command twice")
    damages: list[str] = []
    directory, numbers = Path(directory), None
    page = Path(out or directory / "report.html")
    criteria = given.criteria(given.metric_names(metrics), baseline, ties, bins)
    if measured is None and is_tuning(directory):
        if explain:
            raise ConfigError(f"--explain: {directory} holds a tuning; it explains runs of `compare` and `sweep`")
        tuning = load_tuning(directory)
        shown = tuning.runs
        if json:
            numbers = tuning_table(tuning)
        else:
            write_page(tuning, page)
    else:
        found = _found(directory, None, measured, damages, criteria)
        if explain:
            sources = again.scenarios_of([each.scenario for each in found.studies], scenario or [])
            more = {each.scenario: _more(each, sources[each.scenario], progress) for each in found.studies}
            found = replace(found, more=more)
        shown = sum(len(study.results) for study in found.studies)
        if json:
            numbers = page_table(found)
        else:
            write_contents(page, found)
    if not json:
        note(counted(shown, "run"))
    for damage in damages:
        note(f"left out: {damage}")
    return Answer(lambda: numbers, [Words(str(page))], ExitCode.CLAIM_FAILED if damages else ExitCode.FINE)


def _more(study: Results, source: Scenario, progress: given.Progress) -> list[Block]:
    """The network with the use of its links, and the accounts of one run of each scheme, at the point shown first."""
    point = point_shown_first(study)
    results = [next(run for run in point.runs if run.scheme == scheme) for scheme in point.schemes]
    found, carried = [], {}
    with reporting(f"{study.scenario}, where the time went", progress) as bar:
        for each in results:
            run = again.run_of(each, source)
            links = Carried(run.scenario)
            found.append(accounted(run, progress=bar, departed=links.take))
            carried[each.scheme] = links.by_class(found[-1].result.flows)
    return [*network_blocks(study, carried), *went_blocks(found)]


@front_door
def write_report(
    directory: str | Path,
    page: str | Path,
    only: Collection[str] | None = None,
    *,
    measured: "FrameSource | None" = None,
    damages: list[str] | None = None,
    criteria: Criteria = USUAL,
) -> int:
    """Writes a page about the runs in or below `directory`, or about the runs with the keys `only`.

    Returns the number of runs. Of runs with the same settings, the page shows the newest and names the superseded ones.
    For a tuning, the page is that of `tune`. `measured` flows, as in `shortflow.compare`, are shown beside the runs of
    the only scenario.

    Raises `ConfigError` if runs of one scenario come from different code, or if no run has one of the keys `only`. A
    damaged run raises `DamagedResult`. If the list `damages` is given, it gets the damages instead, and the page leaves
    damaged runs out and names them. With `only`, damaged records are ignored if every run with these keys is found. If
    one is missing, all damaged records count, because their keys are unreadable.
    """
    directory, page = Path(directory), Path(page)
    if only is None and measured is None and is_tuning(directory):
        tuning = load_tuning(directory)
        write_page(tuning, page)
        return tuning.runs
    found = _found(directory, only, measured, damages, criteria)
    write_contents(page, found)
    return sum(len(study.results) for study in found.studies)


def _found(
    directory: Path,
    only: Collection[str] | None,
    measured: "FrameSource | None",
    damages: list[str] | None,
    criteria: Criteria,
) -> Contents:
    """Current results of a directory by scenario, and failed runs."""
    selection = select_runs(directory, only, damages)
    if old := selection.superseded:
        schemes = ", ".join(dict.fromkeys(f"{run.provenance['scenario']} with {run.scheme}" for run in old))
        left_out = f"{len(old)} superseded runs are left out, as there are newer ones of {schemes}"
        _log.warning("%s: %s", directory, left_out)

    def today(result: Result) -> Result:
        return (loaded(result) if result.tables else result).with_bins(criteria.bins)

    found = read_each(selection.current, today, damages)
    if damages and not found:
        raise DamagedResult("\n".join(damages))
    shown = studies(found, selection.superseded)
    if measured is not None:
        tabled = [study for study in shown if study.with_tables.done]
        if len(tabled) != 1:
            names = ", ".join(each.scenario for each in tabled) or "none"
            raise ConfigError(f"{directory}: measured flows need the runs with tables of one scenario; found {names}")
        own = replace(read_measured(measured, tabled[0].classes), bins=criteria.bins)
        shown = [with_measured(study, own) if study in tabled else study for study in shown]
    return Contents(shown, selection.failed, damages or (), criteria)
