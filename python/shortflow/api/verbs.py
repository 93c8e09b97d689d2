"""The verbs: load, run, compare, sweep, tune, and what reads results again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from shortflow import asks
from shortflow.api.progress import Shown, told
from shortflow.asks import Search
from shortflow.condition import Condition
from shortflow.declared import NamedScheme
from shortflow.errors import ConfigError, front_door
from shortflow.grid import Grid, Steps
from shortflow.measured import Source, read_measured
from shortflow.precision import Precision
from shortflow.result import Result
from shortflow.results import Results
from shortflow.runner import Jobs, Runner, run_one
from shortflow.runs import Plan, plan
from shortflow.scenario import Scenario, Settings, load_scenario
from shortflow.scheme import split_settings
from shortflow.store import reading
from shortflow.store.runs import Store
from shortflow.store.runs import read_run as read_stored_run
from shortflow.transport import Transport
from shortflow.tuning import engine, record
from shortflow.tuning.asking import second_workload
from shortflow.tuning.goal import Goal
from shortflow.tuning.record import Tuning
from shortflow.tuning.space import Parameter

AnyScenario = Scenario | str | Path | Mapping[str, object]
"""A scenario, or what `load` takes."""
Schemes = str | Transport | Sequence[str | Transport]
"""Schemes: one, several, or several names in one text, separated by commas."""
Values = str | int | float | Iterable[str | int | float]
"""Values of a key: `[0.2, 0.4]`, or a text as `--grid` takes it, such as `"0.1:0.8:0.1"`."""


@front_door
def load(scenario: AnyScenario, settings: Settings | None = None, *, directory: Path | None = None) -> Scenario:
    """Load and validate a scenario: a shipped one by name, a TOML file by path, or a `Spec` or mapping of its tables.

    `settings` changes values by key, as `with_` does. Files that a mapping names are looked up in `directory` (the
    working directory unless given). A `ConfigError` names the key, the value, what was expected and the nearest name.

    >>> load("l2dct-benchmark").with_(load=0.2)
    """
    return scenario if isinstance(scenario, Scenario) else load_scenario(scenario, settings, directory=directory)


@front_door
def run(
    scenario: AnyScenario,
    scheme: str | Transport = "dctcp",
    seed: int = 1,
    *,
    settings: Settings | None = None,
    cores: int = 1,
    progress: Shown = None,
) -> Result:
    """Run a scenario once under a scheme.

    A scheme is a name of `shortflow list schemes`, such a name with settings of its own (`"xdctcp+g=0.09"`, or typed:
    `schemes.Xdctcp(g=0.09)`), `"TRANSPORT over QUEUE"`, `"FILE.toml:NAME"`, `"FILE.py:CLASS"`, or a subclass of
    `CongestionControl`. `settings` may change the scenario and the scheme. The same scenario, scheme and seed give the
    same `digest` everywhere, on one core and on several; where fewer than `cores` can be used, `provenance` has the
    reason as `fewer_cores`. `progress` is a bar in notebooks and on terminals, unless it is false, or a function that
    is told how far the work is. A `ConfigError` says what is wrong with any of these; a `SimulationError` is a fault of
    the simulator.
    """
    if not isinstance(scheme, str | type):
        raise ConfigError(f"scheme: {scheme!r} is no name, nor a subclass of CongestionControl")
    if isinstance(cores, bool) or not isinstance(cores, int) or cores < 1:
        raise ConfigError(f"cores: {cores!r} is not a whole number from 1 on")
    (work,) = plan(_loaded(scenario, settings), [scheme], _seeds([seed]), settings)
    with told(f"{work.scenario.name}, {work.scheme.name}", progress) as bar:
        return run_one(replace(work, cores=cores), bar)


@front_door
def compare(
    scenario: AnyScenario,
    schemes: Schemes,
    seeds: int | Sequence[int] = 5,
    *,
    settings: Settings | None = None,
    measured: "Source | None" = None,
    ideal: bool = True,
    until_ci: str | None = None,
    max_seeds: int = 100,
    jobs: Jobs = None,
    out: str | Path | None = None,
    tables: bool = True,
    progress: Shown = None,
) -> Results:
    """Run a scenario under several schemes (see `run`) on the same flows, over common seeds.

    `seeds` is how many, from 1 on, or which. Beside them stand the `ideal` schedulers that suit the scenario. With
    `until_ci`, such as `"2%"` or `"p99_short_s=5%"`, seeds are added, up to `max_seeds`, until the 95 % intervals are
    that narrow. `jobs` runs at a time, one per core unless given. With `out` each finished run is kept in that
    directory at once, and one that is there is not run again; without, the `tables` of all runs are held in memory,
    unless that is false, which leaves the metrics.

    `measured` flow completion times of your own stand beside the schemes, without interval and in no paired difference:
    a CSV or Parquet file, or a data frame, with the columns `start_s`, `size_bytes`, `fct_s` (seconds, bytes) and
    perhaps `class`. A `ConfigError` says what is wrong with any of these.
    """
    loaded, every = _loaded(scenario, settings), _seeds(seeds)
    of_all = Plan(loaded, _schemes(schemes), settings)
    until = Precision.parse(until_ci, max_seeds) if until_ci else None
    own = None if measured is None else read_measured(measured, loaded.classes)
    with told(loaded.name, progress) as bar:
        runner = Runner(jobs, _store(out), bar, holds=tables or own is not None)
        return asks.compare_with(runner, of_all, every, until, ideal=ideal, measured=own)


@front_door
def sweep(
    scenario: AnyScenario,
    schemes: Schemes,
    grid: Grid | Mapping[str, Values],
    seeds: int = 3,
    *,
    settings: Settings | None = None,
    until_ci: str | None = None,
    max_seeds: int = 100,
    jobs: Jobs = None,
    out: str | Path | None = None,
    tables: bool = False,
    progress: Shown = None,
) -> Results:
    """Run schemes at every point of a grid of settings, with seeds 1 to `seeds`.

    `grid` has the values of each key, of scenario or schemes: `{"load": [0.2, 0.4, 0.8]}`; a `Grid` can also link keys
    or take them in step. A run that fails is kept with its error in `failures` and stops no other. `out`, `until_ci`
    and `jobs` are as in `compare`; the tables of runs are kept only with `tables`. A `ConfigError` names the key, the
    value, the point, and what was expected, before the first run.
    """
    loaded_grid = grid if isinstance(grid, Grid) else Grid.parse([f"{key}={_text(of)}" for key, of in grid.items()])
    loaded = _loaded(scenario, {**(settings or {}), **loaded_grid.points[0]})
    of_all = Plan(loaded, _schemes(schemes), settings)
    until = Precision.parse(until_ci, max_seeds) if until_ci else None
    with told(loaded.name, progress) as bar:
        ask = asks.sweep(of_all, loaded_grid, _count(seeds), until, tables=tables)
        return Runner(jobs, _store(out), bar, holds=tables).answer(ask)


@front_door
def tune(
    scenario: AnyScenario,
    scheme: str,
    parameters: Sequence[str] | Mapping[str, str | tuple[object, object]],
    *,
    out: str | Path,
    minimize: str | Sequence[str] = (),
    maximize: str | Sequence[str] = (),
    subject_to: str | Sequence[str] = (),
    trials: int = engine.TRIALS,
    seeds: int = engine.SEEDS,
    settings: Settings | None = None,
    baseline: str = engine.BASELINE,
    check_on: str | None = None,
    check_metrics: Mapping[str, str] | None = None,
    check_settings: Settings | None = None,
    check_seeds: int = engine.CHECK_SEEDS,
    jobs: Jobs = None,
    progress: Shown = None,
) -> Tuning:
    """Search for the parameters of a scheme that serve a goal best, and check them on fresh seeds and elsewhere.

    `parameters` has the range of each key: `{"transport.w_max": (1, 4), "transport.g": "0.01:0.5:log"}`. The goal is
    one metric to `minimize` or `maximize`, or two that pull apart, perhaps `subject_to` constraints such as
    `"goodput_long_bps >= 0.99 * dctcp"`. Trials have seeds 1 to `seeds`; the best, the untuned scheme and the
    `baseline` then run with `check_seeds` fresh seeds, here and in the scenario `check_on` (the first of some that has
    the metrics; `"none"` for nowhere), where `check_metrics` stand for those of the goal. Everything is kept in `out`,
    and the same call goes on from there. A `ConfigError` says what is wrong before anything is run;
    `MissingRequirement` without Optuna.
    """
    given = parameters.items() if isinstance(parameters, Mapping) else ()
    texts = [f"{key}={of if isinstance(of, str) else ':'.join(map(str, of))}" for key, of in given] or list(parameters)
    goal = Goal.parse(_several(minimize), _several(maximize), _several(subject_to))
    loaded, there = _loaded(scenario, settings), None
    goal.check(loaded.classes)
    if check_on != "none":
        changed = {**split_settings(settings or {})[1], **(check_settings or {})}
        there = second_workload(check_on, loaded, goal, changed, check_metrics or {})
    with told(loaded.name, progress) as bar:
        return engine.tune(
            loaded,
            scheme,
            [Parameter.parse(text) for text in texts],
            goal,
            out=out,
            trials=trials,
            seeds=seeds,
            settings=settings,
            baseline=baseline,
            check_on=there,
            check_seeds=check_seeds,
            jobs=jobs,
            progress=bar,
        )


@front_door
def search(
    scenario: AnyScenario,
    scheme: str,
    key: str | Steps,
    condition: str | Condition,
    seeds: int | Sequence[int] = 5,
    *,
    settings: Settings | None = None,
    jobs: Jobs = None,
    out: str | Path | None = None,
    progress: Shown = None,
) -> Search:
    """Find for each seed the largest value of a key at which a condition on a metric holds, by bisection.

    `key` has its range, such as `"load=0.1:0.9:0.1"` or `"senders=1:150"`, and `condition` a metric and a number in
    its unit, such as `"p99_short_s<0.005"`. One that unfinished flows leave open counts as not holding. With `out`
    runs are kept, without tables, and not run again. A `ConfigError` says what is wrong with any of these.
    """
    loaded = _loaded(scenario, settings)
    with told(loaded.name, progress) as bar:
        steps = key if isinstance(key, Steps) else Steps.parse(key)
        wanted = condition if isinstance(condition, Condition) else Condition.parse(condition)
        ask = asks.search(Plan(loaded, [scheme], settings), steps, wanted, _seeds(seeds))
        return Runner(jobs, _store(out), bar).answer(ask)


@front_door
def read_store(directory: str | Path) -> Results:
    """The runs that `compare`, `sweep`, `run` or `tune` kept in or below a directory, of each the newest.

    A `ConfigError` where there are none, or some of one scenario come from different code; a `DamagedResult` names the
    file that is not as it was written.
    """
    return reading.read_results(Path(directory))


@front_door
def read_run(directory: str | Path) -> Result:
    """The run in a directory that `Result.save` or `shortflow run --out` wrote, or one of those in a store's `runs`.

    A `DamagedResult` names the file that is missing or not as it was written.
    """
    return read_stored_run(directory)


@front_door
def read_tuning(directory: str | Path) -> Tuning:
    """The tuning in a directory; a `DamagedResult` if there is none, or not as it was written."""
    return record.read_tuning(directory)


def _loaded(scenario: AnyScenario, settings: Settings | None) -> Scenario:
    """The scenario with the settings that are about it, which may supply what its file leaves out."""
    if isinstance(scenario, Scenario):
        return scenario
    return load_scenario(scenario, split_settings(settings or {})[0])


def _schemes(schemes: Schemes) -> Sequence[str | Transport]:
    if isinstance(schemes, NamedScheme):
        return [schemes]
    if isinstance(schemes, str):
        return [name.strip() for name in schemes.split(",")]
    return [schemes] if isinstance(schemes, type) else schemes


def _count(seeds: int) -> int:
    if isinstance(seeds, int):
        return seeds
    raise ConfigError(f"seeds: {seeds!r} is not how many there are; a sweep begins with seed 1")


def _seeds(seeds: int | Sequence[int]) -> Sequence[int]:
    if isinstance(seeds, int) and seeds >= 1:
        return range(1, seeds + 1)
    if isinstance(seeds, Sequence) and seeds and all(isinstance(seed, int) for seed in seeds):
        if len(set(seeds)) < len(seeds):
            raise ConfigError(f"seeds: {list(seeds)} has one twice")
        return seeds
    raise ConfigError(f"seeds: {seeds!r} is not how many there are, from 1 on, nor a list of whole numbers")


def _text(values: Values) -> str:
    return ",".join(map(str, values)) if isinstance(values, Iterable) and not isinstance(values, str) else str(values)


def _several(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


def _store(out: str | Path | None) -> Store | None:
    return Store(Path(out)) if out else None
