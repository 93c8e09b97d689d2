"""`shortflow report`: one page about the results in a directory."""

from pathlib import Path
from typing import Annotated

import typer

from shortflow.cli.console import print_json, print_note
from shortflow.cli.options import MeasuredFile
from shortflow.cli.terminal import print_result
from shortflow.errors import ConfigError, ExitCode
from shortflow.report.write import report_numbers, write_report


def report(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where `run`, `compare`, `sweep` or `tune` kept results (`--out`).")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="The page (default: DIR/report.html); missing directories are made."
        ),
    ] = None,
    measured: MeasuredFile = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print the numbers behind every plot as one JSON document, in place of a page."),
    ] = False,
) -> int:
    """Write a self-contained HTML page with the plots and tables of stored results.

    If `compare --out DIR` kept results there, what such commands keep further below, as in DIR/reproduction, is left
    out. A damaged result is left out and named; the exit code is then 1.
    """
    if json and out:
        raise ConfigError("--json: prints numbers in place of a page; leave out --out, or run the command twice")
    damages: list[str] = []
    if json:
        print_json(report_numbers(directory, measured=measured, damages=damages))
    else:
        page = out or directory / "report.html"
        runs = write_report(directory, page, measured=measured, damages=damages)
        print_note(f"{runs:,} run{'s' * (runs != 1)}")
        print_result(str(page))
    for damage in damages:
        print_note(f"left out: {damage}")
    return ExitCode.CLAIM_FAILED if damages else ExitCode.FINE
