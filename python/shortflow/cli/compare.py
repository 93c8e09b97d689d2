"""`shortflow compare`: several schemes on the same flows, over several seeds."""

import math
import sys
from pathlib import Path
from typing import Annotated

import typer

from shortflow.asks import compare_with
from shortflow.cli import completion, console
from shortflow.cli.options import (
    Dask,
    Jobs,
    Json,
    MaxSeeds,
    MeasuredFile,
    OutDirectory,
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
from shortflow.errors import ConfigError
from shortflow.lazy import measured as measured_flows
from shortflow.lazy import spreads, stored, tables, terminal, verdict
from shortflow.metrics.catalogue import check_name
from shortflow.precision import LEAST_SEEDS, WIDTHS, Precision, more_seeds, plus_minus, widths
from shortflow.results import Results
from shortflow.runner import Runner
from shortflow.runs import Plan
from shortflow.scheme import load_schemes
from shortflow.terms import names as names_in

ALL = "all"
"""What `--metrics` takes in place of names."""
MORE = f" (--metrics {ALL}: every one)"


def compare(
    scenario: ScenarioName,
    schemes: SchemeNames,
    seeds: Seeds = 5,
    until_ci: UntilCi = None,
    max_seeds: MaxSeeds = None,
    jobs: Jobs = None,
    dask: Dask = None,
    set_values: SetValues = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Show these metrics, separated by commas, or `all` (default: the main ones).",
            autocompletion=completion.metrics,
        ),
    ] = None,
    ideal: Annotated[
        bool, typer.Option("--ideal/--no-ideal", help="Show what ideal schedulers do with the same flows.")
    ] = True,
    measured: MeasuredFile = None,
    out: OutDirectory = None,
    json: Json = False,
) -> None:
    """Compare schemes on the same flows: means with confidence intervals, and paired differences.

    With --out, every finished run is kept at once and not run again the next time.
    """
    names = names_in(schemes, "--schemes")
    chosen = _chosen(metrics)
    until = precision(until_ci, max_seeds)
    settings = parse_settings(set_values)
    loaded = scenario_with(scenario, settings)
    for name in chosen:
        check_name(name, loaded.classes, "" if ideal else "--no-ideal leaves that out")
    own = measured_flows.read_measured(measured, loaded.classes) if measured else None
    console.note_warnings(loaded, load_schemes(names))
    with console.progress_bar(scenario) as progress:
        store = stored.Store(out) if out else None
        runner = Runner(executor(jobs, dask), store, progress, holds=measured is not None)
        plan = Plan(loaded, names, settings)
        comparison = compare_with(runner, plan, range(1, seeds + 1), until, ideal=ideal, measured=own)
    shown = [comparison.require(name) for name in chosen]
    if out:
        _note_kept(comparison, out)
    console.note_about(comparison)
    _note_precision(comparison, until)
    if json:
        console.print_json(comparison.document())
        return
    if metrics:
        terminal.print_result(tables.comparison_tables(comparison, shown))
        if few := " ".join(verdict.few_events(comparison, shown or list(comparison.metrics.values()))):
            terminal.print_result(few)
        return
    terminal.print_result(tables.main_tables(comparison, MORE))
    if sys.stdout.isatty() and (spread := spreads.spread_section(comparison)):
        terminal.print_result(tables.stacked(*tables.lay_out(spread)))
    terminal.print_result(" ".join(verdict.verdict(comparison)))


def _chosen(metrics: str | None) -> list[str]:
    """The names of the metrics to show; none for the main ones, and for all."""
    if metrics is None or metrics == ALL:
        return []
    names = names_in(metrics, "--metrics")
    if any(name.lower() == ALL for name in names):
        raise ConfigError(f"--metrics {metrics}: expected names of metrics, or `{ALL}` alone")
    return names


def _note_precision(comparison: Results, until: Precision | None) -> None:
    """Say how wide the widest interval is, and how many more seeds narrower ones would take."""
    every = widths(comparison, until.metric if until else None)
    found = [each for each in every if math.isfinite(each.share)]
    if not found or not (widest := found[0]).share:
        return
    seeds = len(comparison.seeds)
    text = f"{widest.metric} of {widest.scheme} has the widest interval, {plus_minus(widest.share)} with {seeds} seeds"
    if until and until.is_met(comparison):
        text += f"; the rule was to add seeds until {until.text}, which makes intervals a little too narrow"
    elif seeds < LEAST_SEEDS:
        text += f"; {LEAST_SEEDS} would tell how many narrower ones take"
    else:
        wanted = [until.width] if until else [width for width in WIDTHS if width < widest.share]
        more = ((width, more_seeds(found, width)) for width in wanted)
        text += "".join(f"; {plus_minus(width)} would take about {count:,} more" for width, count in more)
    if bounds := list(dict.fromkeys(each.scheme for each in every if each.estimate.lower_bound)):
        text += f"; no seeds narrow the lower bounds of {', '.join(bounds)}, some of whose flows did not finish"
    console.print_note(text)


def _note_kept(comparison: Results, out: Path) -> None:
    console.print_note(f"results: {out} ({len(comparison.done)} runs, {comparison.reused} of them from before)")
