"""`shortflow compare`: several schemes on the same flows, over several seeds."""

from pathlib import Path
from typing import Annotated

import typer

from shortflow import runner
from shortflow.cli.console import (
    note_repeated,
    note_unfinished,
    note_warnings,
    print_json,
    print_note,
    print_result,
    progress_bar,
)
from shortflow.cli.options import (
    Jobs,
    Json,
    OutDirectory,
    ScenarioName,
    Seeds,
    SetValues,
    parse_names,
    parse_settings,
    scenario_with,
)
from shortflow.comparison import Comparison
from shortflow.errors import ConfigError
from shortflow.metrics.catalogue import describe
from shortflow.report.tables import comparison_tables, main_tables

ALL = "all"
"""What `--metrics` takes in place of names."""


def compare(
    scenario: ScenarioName,
    schemes: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Schemes, separated by commas; with settings of its own: `xdctcp+g=0.09`."),
    ],
    seeds: Seeds = 5,
    jobs: Jobs = None,
    set_values: SetValues = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Show these metrics, separated by commas, or `all` (default: the main ones).",
        ),
    ] = None,
    ideal: Annotated[
        bool, typer.Option("--ideal/--no-ideal", help="Show what ideal schedulers do with the same flows.")
    ] = True,
    out: OutDirectory = None,
    json: Json = False,
) -> None:
    """Compare schemes on the same flows: means with confidence intervals, and paired differences.

    With --out, every finished run is kept at once and not run again the next time.
    """
    names = parse_names(schemes, "--schemes")
    chosen = _chosen(metrics)
    settings = parse_settings(set_values)
    loaded = scenario_with(scenario, settings)
    note_warnings(loaded)
    with progress_bar(scenario) as progress:
        comparison = runner.compare(
            loaded,
            names,
            range(1, seeds + 1),
            settings=settings,
            jobs=jobs,
            out=out,
            ideal=ideal,
            progress=progress,
        )
    for metric in chosen or []:
        comparison.require(metric)
    if out:
        _note_kept(comparison, out)
    note_repeated(comparison)
    note_unfinished(comparison)
    if json:
        print_json(comparison.document())
    else:
        print_result(comparison_tables(comparison, chosen) if metrics else main_tables(comparison))


def _chosen(metrics: str | None) -> list[str] | None:
    """The metrics to show, all of them known; None for the main ones, and for all."""
    if metrics in (None, ALL):
        return None
    names = parse_names(metrics, "--metrics")
    if any(name.lower() == ALL for name in names):
        raise ConfigError(f"--metrics {metrics}: expected names of metrics, or `{ALL}` alone")
    for name in names:
        describe(name)
    return names


def _note_kept(comparison: Comparison, out: Path) -> None:
    runs = [*comparison.runs, *comparison.ideal]
    reused = sum(run.reused for run in runs)
    print_note(f"results: {out} ({len(runs)} runs, {reused} of them from before)")
