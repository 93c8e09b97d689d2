"""Many runs at once: one thread each, since the core releases the interpreter's lock while it simulates.

A run's result depends on its scenario, scheme and seed alone, so neither the number of threads nor their order matters.
"""

import os
from collections.abc import Callable, Sequence
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from shortflow._core import Control
from shortflow.comparison import Comparison, with_distances
from shortflow.errors import ConfigError, Interrupted
from shortflow.result import Run, RunResult, RunSummary, execute, summarize
from shortflow.scenario import Scenario, Settings, as_pairs
from shortflow.scheme import load_schemes, split_settings
from shortflow.signals import SignalsHeld
from shortflow.transport import Transport

if TYPE_CHECKING:
    from shortflow.store.runs import Store


class Progress(Protocol):
    """What hears how far the work is."""

    def __call__(self, fraction: float, finished: int, total: int, waiting: str = "", /) -> None:
        """Told every tenth of a second: the fraction of the work, the runs finished, all runs, what drains wait for.

        The fraction is of the time that the runs may simulate at most, their drains included, so it may end with a
        leap. Ctrl-C is heard after this returns, so it should do so at once.
        """


_POLL_S = 0.1
_LARGEST_SEED = 2**64 - 1
MOST_SEEDS = 100_000
"""So many seeds a comparison can have."""

T = TypeVar("T")


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(
    scenario: Scenario,
    scheme: str | Transport = "dctcp",
    seed: int = 1,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> RunResult:
    """Run a scenario once; `settings` may change the scenario and the scheme."""
    (work,) = plan(scenario, [scheme], [seed], settings)
    return run_once(work, progress=progress)


def compare(
    scenario: Scenario,
    schemes: Sequence[str | Transport],
    seeds: Sequence[int],
    *,
    settings: Settings | None = None,
    jobs: int | None = None,
    out: str | Path | None = None,
    ideal: bool = True,
    progress: Progress | None = None,
) -> Comparison:
    """Run a scenario under several schemes over common seeds, and unless told otherwise under ideal schedulers too.

    `settings` may change the scenario and the schemes. With `out`, each finished run is stored there at once, and a run
    that is there already is not run again.
    """
    runs = plan(scenario, schemes, seeds, settings)
    everything = [*runs, *plan_ideal(runs)] if ideal else runs
    store = None
    if out:
        from shortflow.store.runs import Store

        store = Store(Path(out))
    summaries = with_distances(run_all(everything, jobs=jobs, store=store, progress=progress))
    of_schemes, of_ideal = summaries[: len(runs)], summaries[len(runs) :]
    return Comparison(scenario.name, scenario.title, dict(as_pairs(settings)), of_schemes, of_ideal)


def plan(
    scenario: Scenario, schemes: Sequence[str | Transport], seeds: Sequence[int], settings: Settings | None = None
) -> list[Run]:
    """The runs of a comparison: every scheme with every seed, after the settings are applied to whom they belong."""
    if len(seeds) > MOST_SEEDS:
        raise ConfigError(f"seeds: {len(seeds)} are too many; {MOST_SEEDS} is the most")
    wrong = next((seed for seed in seeds if not 0 <= seed <= _LARGEST_SEED), None)
    if wrong is not None:
        raise ConfigError(f"seed: {wrong} is not a whole number from 0 to {_LARGEST_SEED}")
    of_scenario, of_schemes = split_settings(settings or {})
    if of_scenario:
        scenario = scenario.with_settings(of_scenario)
    return [Run(scenario, scheme, seed) for scheme in load_schemes(schemes, of_schemes) for seed in seeds]


def plan_ideal(runs: Sequence[Run]) -> list[Run]:
    """The flows of some runs of one scenario under the ideal schedulers that suit it and are not among the runs."""
    if not runs:
        return []
    scenario, seeds = runs[0].scenario, list(dict.fromkeys(run.seed for run in runs))
    present = {run.scheme.name for run in runs}
    names = [name for name in scenario.core.ideal_schedulers() if name not in present]
    return plan(scenario, names, seeds) if names else []


def run_once(work: Run, *, progress: Progress | None = None) -> RunResult:
    """Run once, in a thread of its own so that Ctrl-C is heard."""
    (result,) = _in_threads([lambda control: execute(work, control)], jobs=1, progress=progress)
    return result


def run_all(
    runs: Sequence[Run], *, jobs: int | None = None, store: "Store | None" = None, progress: Progress | None = None
) -> list[RunSummary]:
    """Run everything, or take it from the store, and keep the summaries in the order of `runs`.

    The store's table of runs is renewed in the end.
    """

    def task(work: Run) -> Callable[[Control], RunSummary]:
        return lambda control: _run_or_reuse(work, control, store)

    if store:
        store.check_names(runs)
    try:
        summaries = _in_threads([task(work) for work in runs], jobs=jobs or available_cores(), progress=progress)
    except Interrupted as interrupted:
        kept = f" and are kept in {store.runs}; the same command goes on from there" if store else " and are not kept"
        raise Interrupted(f"{interrupted}{kept}") from interrupted
    if store:
        from shortflow.store.reading import renew_table

        renew_table(store)
    return summaries


def _run_or_reuse(work: Run, control: Control, store: "Store | None") -> RunSummary:
    record = store.record(work) if store else None
    if record:
        return replace(summarize(record), reused=True)
    result = execute(work, control)
    if store:
        store.save(work, result)
    return result.summary


def _in_threads(tasks: Sequence[Callable[[Control], T]], *, jobs: int, progress: Progress | None) -> list[T]:
    """The results of all tasks in their order; a failure or Ctrl-C stops those that are still running.

    The pool's own wait for its threads hears no signal, so it comes last, when there is nothing left to wait for.
    """
    controls = [Control() for _ in tasks]
    pending: list[Future[T]] = []
    try:
        with SignalsHeld() as held, ThreadPoolExecutor(jobs) as pool:
            pending += [pool.submit(task, control) for task, control in zip(tasks, controls, strict=True)]
            try:
                _wait(pending, controls, held, progress)
            except BaseException:
                for future, control in zip(pending, controls, strict=True):
                    future.cancel()
                    control.cancel()
                while futures.wait(pending, _POLL_S).not_done:
                    held.let_through()
                raise
    except KeyboardInterrupt as cause:
        finished = sum(future.done() and not future.cancelled() and not future.exception() for future in pending)
        raise Interrupted(f"interrupted; {finished} of {len(tasks)} runs were finished") from cause
    return [future.result() for future in pending]


def _wait(
    pending: Sequence[Future[T]], controls: Sequence[Control], held: SignalsHeld, progress: Progress | None
) -> None:
    """Wait for all futures and report progress; the first failure or signal is raised at once."""
    open_futures = set(pending)
    while open_futures:
        done, open_futures = futures.wait(open_futures, _POLL_S, futures.FIRST_COMPLETED)
        held.let_through()
        for future in done:
            future.result()
        if progress:
            parts = (
                1.0 if future.done() else control.fraction() for future, control in zip(pending, controls, strict=True)
            )
            drains = [drain for control in controls if (drain := control.drain())]
            finished = len(pending) - len(open_futures)
            progress(sum(parts) / len(pending), finished, len(pending), waited_for(drains))


def waited_for(drains: Sequence[tuple[int, int, float]]) -> str:
    """What runs in their drains wait for: of each its open flows, all its flows, and the simulated seconds left."""
    if not drains:
        return ""
    flows_open, flows = sum(drain[0] for drain in drains), sum(drain[1] for drain in drains)
    runs = f" of {len(drains)} runs" if len(drains) > 1 else ""
    left = max(drain[2] for drain in drains)
    return f"drain: {flows_open:,} of {flows:,} flows{runs} open, at most {left:.3g} s of simulated time left"
