"""`report`: one page on the results in a directory."""

from pathlib import Path
from typing import Annotated

from shortflow.api.report import report_numbers, write_report
from shortflow.errors import ConfigError, ExitCode
from shortflow.front import options as given
from shortflow.front.command import Answer, Arg, Opt, command
from shortflow.front.console import note
from shortflow.quantities import counted
from shortflow.report.blocks import Words


@command
def report(
    directory: Annotated[str | Path, Arg("Directory of stored results (`--out`).", "DIR", read=Path)],
    *,
    out: Annotated[
        str | Path | None,
        Opt("Page to write, Markdown if it ends in .md (default: DIR/report.html).", "FILE", read=Path),
    ] = None,
    measured: Annotated[str | Path | None, given.MEASURED] = None,
    metrics: given.Metrics = None,
    baseline: given.Baseline = None,
    ties: given.Ties = None,
    bins: given.BinEnds = None,
    json: Annotated[bool, Opt("Print the plots' numbers as one JSON document instead of writing a page.")] = False,
) -> Answer:
    """Write a self-contained HTML page with the plots and tables of stored results.

    Subdirectories such as DIR/reproduction are not included. A damaged result is left out and named; the exit code is
    then 1.
    """
    if json and out:
        raise ConfigError("--json: prints numbers instead of a page; leave out --out, or run the command twice")
    damages: list[str] = []
    page, numbers = Path(out or Path(directory) / "report.html"), None
    criteria = given.criteria(given.metric_names(metrics), baseline, ties, bins)
    if json:
        numbers = report_numbers(Path(directory), measured=measured, damages=damages, criteria=criteria)
    else:
        shown = write_report(Path(directory), page, measured=measured, damages=damages, criteria=criteria)
        note(counted(shown, "run"))
    for damage in damages:
        note(f"left out: {damage}")
    return Answer(lambda: numbers, [Words(str(page))], ExitCode.CLAIM_FAILED if damages else ExitCode.FINE)
