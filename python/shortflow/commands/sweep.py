"""`sweep`: schemes at every point of a grid of settings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from shortflow import asks
from shortflow.errors import ConfigError, ExitCode
from shortflow.front import complete, console, notes
from shortflow.front import options as given
from shortflow.front.command import Answer, Opt, showing
from shortflow.front.progress import reporting
from shortflow.grid import Grid
from shortflow.metrics.absence import check_name
from shortflow.precision import Precision
from shortflow.quantities import counted
from shortflow.report.views import sweep_blocks
from shortflow.runner import Runner
from shortflow.runs import Plan
from shortflow.scenario import warnings_at
from shortflow.shown import Results

_Values = str | int | float | Iterable[str | int | float]
"""Values of a key: `[0.2, 0.4]`, or a text in the form of `--grid`, such as `"0.1:0.8:0.1"`."""


def _answer(found: Results, _values: Mapping[str, Any]) -> Answer:
    code = ExitCode.CLAIM_FAILED if found.failed else ExitCode.FINE
    return Answer(found.document, (block for block in sweep_blocks(found)), code)


@showing(_answer)
def sweep(
    scenario: given.ScenarioName,
    schemes: given.SchemeNames,
    grid: Annotated[
        Grid | Mapping[str, _Values] | Sequence[str],
        Opt(
            "Values of a key of the scenario or of the schemes: 0.2,0.4,0.8 or LOW:HIGH:STEP. Repeat the option for "
            "more keys; the sweep runs every combination of their values.",
            "KEY=VALUES",
            many=True,
            complete=complete.keys,
        ),
    ],
    seeds: given.Seeds = 3,
    *,
    out: given.KeptInIfAny = None,
    link: Annotated[
        Sequence[str] | None, Opt("Set key B to the value that --grid gives key A.", "A=B", many=True)
    ] = None,
    zip_keys: Annotated[
        Sequence[str] | None,
        Opt("Pair the values of these keys in order instead of combining them.", "A,B", "--zip", many=True),
    ] = None,
    until_ci: given.UntilCi = None,
    max_seeds: given.MaxSeeds = None,
    jobs: given.Jobs = None,
    dask: given.Dask = None,
    settings: given.Settings = None,
    metrics: given.Metrics = None,
    baseline: given.Baseline = None,
    ties: given.Ties = None,
    bins: given.BinEnds = None,
    tables: Annotated[bool, Opt("Also store the tables of flows, ports and samples of each run.")] = False,
    progress: given.Progress = None,
) -> Results:
    """Run schemes at every point of a grid of settings.

    A coarse grid runs first, then the points between. Each run is stored when it ends. After Ctrl-C, a kill or a full
    disk, the same command runs only the missing runs. If a run fails, its error is stored, the other runs continue, and
    the exit code is 1.

    Example: shortflow sweep incast --schemes tcp,dctcp --grid servers=5,10,20 --out sweep

    In Python, `grid` maps keys of scenario or schemes to values: `{"load": [0.2, 0.4, 0.8]}`; a `Grid` can also link or
    zip keys. Failed runs are in `failures`. Without `out`, runs are held in memory, with tables only if `tables`.
    Before the first run, a `ConfigError` names an invalid key, value or point, and what was expected.
    """
    if isinstance(seeds, bool) or not isinstance(seeds, int):
        raise ConfigError(f"seeds: {seeds!r} is not a whole number from 1 on; a sweep uses seeds 1 to this number")
    shown, tables = given.metric_names(metrics), tables or bins is not None
    names, until = given.scheme_list(schemes), given.precision(until_ci, max_seeds)
    criteria = given.criteria(shown, baseline, ties, bins, names)
    axes = grid if isinstance(grid, Grid) else Grid.parse(_texts(grid), link or [], zip_keys or [])
    loaded = given.scenario_with(scenario, {**(settings or {}), **axes.points[0]})
    for name in shown:
        check_name(name, loaded.classes, bins=criteria.bins)
    plan = Plan(loaded, names, settings)
    for warning in warnings_at([*_warnings(plan, axes)]):
        console.note(warning)
    with reporting(loaded.name, progress) as bar:
        had = None if until else partial(_note_found, out)
        runner = Runner(given.executor(jobs, dask), given.store_in(out), bar, holds=tables, found=had)
        found = Results.showing(runner.answer(asks.ask_sweep(plan, axes, seeds, until, tables=tables)))
    _note(found, out, until)
    found = found.with_bins(criteria.bins)
    absent = found.absent(shown)
    notes.note_about([f"{error}; it is left out" for error in absent.values()])
    criteria = replace(criteria, metrics=[name for name in shown if name not in absent])
    return replace(found, criteria=criteria)


def _texts(grid: Mapping[str, _Values] | Sequence[str]) -> Sequence[str]:
    if not isinstance(grid, Mapping):
        return grid
    return [
        f"{key}={','.join(map(str, of)) if isinstance(of, Iterable) and not isinstance(of, str) else of}"
        for key, of in grid.items()
    ]


def _warnings(plan: Plan, grid: Grid) -> Iterator[tuple[str, list[str]]]:
    """Settings and warnings of each point. A warning is about a valid but probably unintended value."""
    for point in grid.points:
        runs = asks.check_point(plan, point, "--grid")
        place = ", ".join(f"{key} {value}" for key, value in point.items())
        yield place, runs[0].scenario.warnings(run.scheme for run in runs)


def _note_found(out: str | Path | None, had: int, of: int) -> None:
    if had:
        console.note(f"found {had:,} of {of:,} runs in {out}; {of - had:,} left")


def _note(done: Results, out: str | Path | None, until: Precision | None) -> None:
    runs = len(done.results) + len(done.failed)
    if out:
        console.note(f"results: {Path(out) / 'runs.parquet'} ({runs:,} runs, {done.reused:,} reused)")
    if points := done.points:
        everywhere = set(points[0].notes).intersection(*(point.notes for point in points[1:]))
        notes.note_about([each for each in points[0].notes if each in everywhere])
    if failures := done.failures:
        first = failures[0]
        at = ", ".join(f"{key}={value}" for key, value in first["at"].items())
        console.note(
            f"{counted(len(failures), 'run')} failed; the same command retries them; the first, "
            f"{first['scheme']} with seed {first['seed']} at {at}: {first['error']}"
        )
    if until:
        broken = sum(bool(point.failed) for point in done.points)
        wide = sum(not point.met and not point.failed for point in done.points)
        console.note(
            f"--until-ci: {until.text} reached at {len(done.points) - wide - broken} of "
            + counted(len(done.points), "point")
            + (f"; not within {until.most} seeds at {wide}" if wide else "")
            + (f"; stopped by a failed run at {broken}" if broken else "")
        )
