"""`shortflow sweep`: schemes at every point of a grid of settings."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from shortflow import asks
from shortflow.cli import completion, console
from shortflow.cli.options import (
    Dask,
    Jobs,
    Json,
    KeptIn,
    MaxSeeds,
    ScenarioName,
    SchemeNames,
    Seeds,
    SetValues,
    UntilCi,
    executor,
    parse_settings,
    precision,
    scenario_with,
)
from shortflow.cli.terminal import print_result
from shortflow.errors import ExitCode
from shortflow.grid import Grid
from shortflow.metrics.catalogue import check_name
from shortflow.precision import Precision
from shortflow.quantities import counted
from shortflow.report.sweep.tables import sweep_tables
from shortflow.report.verdict import few_events
from shortflow.results import Results
from shortflow.runner import Runner
from shortflow.runs import Plan
from shortflow.scheme import load_schemes
from shortflow.store.runs import Store
from shortflow.terms import names as names_in


def sweep(
    scenario: ScenarioName,
    schemes: SchemeNames,
    grid: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUES",
            help="Values of a key of scenario or scheme: 0.2,0.4,0.8 or LOW:HIGH:STEP, or both. An axis each.",
            autocompletion=completion.keys,
        ),
    ],
    out: KeptIn,
    link: Annotated[
        list[str] | None, typer.Option("--link", metavar="A=B", help="Give key B the value that --grid gives key A.")
    ] = None,
    zip_keys: Annotated[
        list[str] | None,
        typer.Option("--zip", metavar="A,B", help="Take the values of these keys in step instead of all combinations."),
    ] = None,
    seeds: Seeds = 3,
    until_ci: UntilCi = None,
    max_seeds: MaxSeeds = None,
    jobs: Jobs = None,
    dask: Dask = None,
    set_values: SetValues = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Show these metrics, separated by commas (default: main ones).",
            autocompletion=completion.metrics,
        ),
    ] = None,
    tables: Annotated[
        bool, typer.Option("--tables", help="Keep the tables of flows, ports and samples of every run too.")
    ] = False,
    json: Json = False,
) -> int:
    """Run schemes at every point of a grid of settings, coarse first, and keep every finished run at once.

    What is in DIR already is not run again, so that the same command goes on after Ctrl-C, a kill or a full disk. A run
    that fails is kept with its error and stops no other; the exit code is then 1.
    """
    names = names_in(schemes, "--schemes")
    shown = names_in(metrics, "--metrics") if metrics else []
    until = precision(until_ci, max_seeds)
    settings = parse_settings(set_values)
    axes = Grid.parse(grid, link or [], zip_keys or [])
    loaded = scenario_with(scenario, {**settings, **axes.points[0]})
    for name in shown:
        check_name(name, loaded.classes)
    console.note_warnings(loaded, load_schemes(names))
    with console.progress_bar(scenario) as progress:
        found = None if until else partial(_note_found, out)
        runner = Runner(executor(jobs, dask), Store(out), progress, found=found)
        done = runner.answer(asks.sweep(Plan(loaded, names, settings), axes, seeds, until, tables=tables))
    _note(done, out, until, shown)
    if json:
        console.print_json(done.document())
    else:
        print_result(sweep_tables(done, shown))
    return ExitCode.CLAIM_FAILED if done.failed else ExitCode.FINE


def _note_found(out: Path, had: int, of: int) -> None:
    if had:
        console.print_note(f"found {had:,} of {of:,} runs in {out}; {of - had:,} are to be run")


def _note(done: Results, out: Path, until: Precision | None, shown: Sequence[str]) -> None:
    runs = len(done.results) + len(done.failed)
    console.print_note(f"results: {out / 'runs.parquet'} ({runs:,} runs, {done.reused:,} of them from before)")
    if failures := done.failures:
        first = failures[0]
        at = ", ".join(f"{key}={value}" for key, value in first["at"].items())
        console.print_note(
            f"{counted(len(failures), 'run')} failed, and will be tried again by the same command; the first, "
            f"{first['scheme']} with seed {first['seed']} at {at}: {first['error']}"
        )
    few = [
        (point.at, text)
        for point in done.points
        for text in few_events(point, [point.metrics[name] for name in shown if name in point.metrics])
    ]
    if few:
        at = ", ".join(f"{key}={value}" for key, value in few[0][0].items())
        more = f" Likewise at {counted(len(few) - 1, 'other point')}." if len(few) > 1 else ""
        console.print_note(f"{at}: {few[0][1]}{more}")
    if until:
        broken = sum(bool(point.failed) for point in done.points)
        wide = sum(not point.met and not point.failed for point in done.points)
        console.print_note(
            f"--until-ci: {until.text} at {len(done.points) - wide - broken} of {counted(len(done.points), 'point')}"
            + (f"; {wide} have not with {until.most} seeds" if wide else "")
            + (f"; {broken} stopped at a run that failed" if broken else "")
        )
