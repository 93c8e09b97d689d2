"""`compare`: several schemes on the same flows, over several seeds."""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from shortflow import asks, bursts, report
from shortflow.criteria import USUAL
from shortflow.errors import ConfigError
from shortflow.frames import FrameSource
from shortflow.front import console, notes
from shortflow.front import options as given
from shortflow.front.command import Answer, Opt, showing
from shortflow.front.progress import reporting
from shortflow.judge.estimates import ESTIMABLE
from shortflow.measured import read_measured
from shortflow.precision import WIDTHS, Precision, more_seeds, plus_minus, widths
from shortflow.quantities import counted
from shortflow.runner import Runner
from shortflow.runs import Plan, check_metric
from shortflow.scheme import load_schemes, split_settings
from shortflow.shown import Results

ALL = "all"
"""Value of `--metrics` for all metrics."""
MORE = f" (all: --metrics {ALL})"


def _names(metrics: str | Sequence[str] | None) -> Sequence[str]:
    names = given.metric_names(metrics)
    if names != [ALL] and any(name.lower() == ALL for name in names):
        raise ConfigError(f"--metrics {metrics}: expected names of metrics, or `{ALL}` alone")
    return names


def _answer(found: Results, values: Mapping[str, Any]) -> Answer:
    return Answer(found.document, _blocks(found, is_full=_names(values["metrics"]) == [ALL]))


def _blocks(found: Results, *, is_full: bool) -> "Iterator[report.blocks.Block]":
    criteria = found.criteria or USUAL
    ranking = report.answer.answer(found, criteria)
    if is_full or criteria.metrics:
        yield from report.tables.comparison_blocks(found, ranking.metrics if criteria.metrics else ())
    else:
        yield from report.tables.main_blocks(found, ranking.metrics, MORE)
        if sys.stdout.isatty() and (spread := report.tables.spread_section(found)):
            yield spread
    yield report.blocks.Words("\n".join(ranking.words))


@showing(_answer)
def compare(
    scenario: given.ScenarioName,
    schemes: given.SchemeNames,
    seeds: given.AnySeeds = 5,
    *,
    until_ci: given.UntilCi = None,
    max_seeds: given.MaxSeeds = None,
    jobs: given.Jobs = None,
    dask: given.Dask = None,
    settings: given.Settings = None,
    metrics: Annotated[
        str | Sequence[str] | None,
        replace(given.METRICS, help="Metrics to show, separated by commas, or `all` (default: the main metrics)."),
    ] = None,
    baseline: given.Baseline = None,
    ties: given.Ties = None,
    bins: given.BinEnds = None,
    ideal: Annotated[bool, Opt("Also show ideal schedulers on the same flows.")] = True,
    measured: Annotated["FrameSource | None", given.MEASURED] = None,
    out: given.OutDirectory = None,
    tables: Annotated[bool, Opt(default=False)] = True,
    progress: given.Progress = None,
) -> Results:
    """Compare schemes on the same flows: means with confidence intervals, and paired differences.

    With --out, each run is stored when it ends. The same command then runs only the missing runs.

    Example: shortflow compare l2dct-benchmark --schemes tcp,dctcp,l2dct --seeds 10 --out results

    In Python, `seeds` is a list, or n for seeds 1 to n; `jobs` may be a `Dask` cluster. Without `out`, the `tables` of
    all runs are held in memory; `tables=False` keeps the metrics only. `measured` may be a data frame with the columns
    `start_s`, `size_bytes`, `fct_s` (seconds, bytes) and optionally `class`. Measured flows are shown beside the
    schemes, without intervals or paired differences. Raises `ConfigError` for invalid arguments.
    """
    names, shown = given.scheme_list(schemes), _names(metrics)
    criteria, until = given.criteria(shown, baseline, ties, bins, names), given.precision(until_ci, max_seeds)
    loaded = given.scenario_with(scenario, settings)
    for name in shown:
        if name != ALL:
            check_metric(name, loaded, "" if ideal else "--no-ideal leaves out ideal schedulers", criteria.bins)
    own = None if measured is None else read_measured(measured, loaded.classes)
    notes.note_warnings(loaded, load_schemes(names, split_settings(settings or {})[1]))
    with reporting(loaded.name, progress) as bar:
        holds = bool(tables or own or bins)
        runner = Runner(given.executor(jobs, dask), given.store_in(out), bar, holds=holds)
        plan, chosen = Plan(loaded, names, settings), given.seed_list(seeds)
        found = Results.showing(runner.answer(asks.ask_comparison(plan, chosen, until, ideal=ideal)))
        if runner.store:
            bursts.keep_bursts([run for run in found.runs if run.seed == chosen[0]], runner.jobs, bar)
    if own:
        flows = (run.table("flows") for run in found.runs if run.scheme == found.schemes[0])
        found = replace(found, measured=own.in_network(flows))
    found, absent = found.with_bins(criteria.bins), found.absent(name for name in shown if name != ALL)
    if out:
        console.note(f"results: {out} ({counted(len(found.done), 'run')}, {found.reused} reused)")
    notes.note_about([*found.notes, *(f"{error}; it is left out" for error in absent.values())])
    criteria = replace(criteria, metrics=[name for name in shown if name not in {ALL, *absent}])
    _note_precision(found, until, () if until else criteria.metrics)
    return replace(found, criteria=criteria)


def _note_precision(comparison: Results, until: Precision | None, chosen: Sequence[str]) -> None:
    """Notes the widest interval of the chosen metrics or of mean times, and the seeds that would narrow it."""
    every = widths(comparison, [until.metric] if until and until.metric else chosen)
    found = [each for each in every if math.isfinite(each.share)]
    if not found or not (widest := found[0]).share:
        return
    seeds, of = len(comparison.seeds), "" if chosen or (until and until.metric) else " of the mean times"
    text = f"widest interval{of}: {widest.metric} under {widest.scheme}, {plus_minus(widest.share)} from {seeds} seeds"
    if until and until.is_met(comparison):
        text += f"; intervals are slightly too narrow, because seeds were added until {until.text} was reached"
    elif seeds < ESTIMABLE:
        text += f"; run at least {ESTIMABLE} seeds to estimate how many you need"
    else:
        wanted = [until.width] if until else [width for width in WIDTHS if width < widest.share]
        text += "".join(f"; {plus_minus(each)} needs about {more_seeds(found, each):,} more seeds" for each in wanted)
    if bounds := list(dict.fromkeys(each.scheme for each in every if each.estimate.lower_bound)):
        text += f"; more seeds do not narrow lower bounds ({', '.join(bounds)}: unfinished flows)"
    console.note(text)
