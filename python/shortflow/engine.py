"""All runs of a command in one pool: once each, wherever an executor does them, and kept as they finish.

A run's result depends on its scenario, scheme and seed alone, so neither where it is done nor in what order matters.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Protocol

from shortflow._core import Capture, Control
from shortflow.errors import Interrupted
from shortflow.executors import Executor, Failed, Finished, Local, Outcome
from shortflow.result import Run, RunResult, RunSummary, summarize

if TYPE_CHECKING:
    from shortflow.store.runs import Store

Jobs = int | Executor | None
"""So many runs at a time on this machine (None: one for each core), or what else does them."""

_EVERY_S = 0.1


class Progress(Protocol):
    """What hears how far the work is."""

    def __call__(self, fraction: float, finished: int, total: int, waiting: str = "", /) -> None:
        """Told every tenth of a second: the fraction of the work, the runs finished, all runs, what drains wait for.

        The fraction is of the time that the runs may simulate at most, their drains included, so it may end with a
        leap. Ctrl-C is heard after this returns, so it should do so at once.
        """


@dataclass(frozen=True)
class Batch:
    """What became of some runs, by their keys."""

    summaries: dict[str, RunSummary] = field(default_factory=dict)
    failures: dict[str, Failed] = field(default_factory=dict)


Held = dict[str, Finished]
"""Finished runs with their tables, encoded, in memory; by their keys."""


def run_all(
    runs: Sequence[Run],
    *,
    jobs: Jobs = None,
    store: "Store | None" = None,
    conclude: bool = True,
    progress: Progress | None = None,
    held: Held | None = None,
) -> list[RunSummary]:
    """Run everything, or take it from the store, and keep the summaries in the order of `runs`.

    An error ends it: that of the first run that fails, in the order of `runs`. Of each run that is not there yet the
    store, or without one `held`, gets the tables too; the store's table of runs is renewed in the end, if this is what
    should `conclude` it.
    """
    summaries = run_each(runs, jobs=jobs, store=store, conclude=conclude, progress=progress, held=held).summaries
    return [summaries[run.key] for run in runs]


def run_each(
    runs: Sequence[Run],
    *,
    jobs: Jobs = None,
    store: "Store | None" = None,
    tables: bool = True,
    keep_going: bool = False,
    conclude: bool = True,
    progress: Progress | None = None,
    found: Callable[[int, int], object] | None = None,
    held: Held | None = None,
) -> Batch:
    """Run everything that the store does not have, in the order of `runs`; what is asked for twice is run once.

    Of finished runs the store keeps the `tables`, or else their records alone; without a store `held` has both. With
    `keep_going`, errors of single runs are kept too and end nothing; else that of the first run that fails, in the
    order of `runs`, is raised. `found` is told how many runs the store had, of how many. Several calls inside
    `concluding` do not `conclude` themselves.
    """
    executor = jobs if isinstance(jobs, Executor) else Local(jobs)
    wanted = {run.key: run for run in runs}
    batch, tally = Batch(), _Tally(len(wanted), progress)
    with concluding(store) if conclude else nullcontext():
        try:
            if store:
                _take(store, wanted, tables, batch, tally)
            if found:
                found(len(batch.summaries), len(wanted))
            missing = [run for key, run in wanted.items() if key not in batch.summaries]
            if missing:
                with_tables = held is not None if store is None else tables
                _work(missing, executor, store, held, with_tables, keep_going, batch, tally)
        except KeyboardInterrupt as cause:
            kept = f" and are kept in {store.directory}; the same command goes on from there" if store else ", not kept"
            raise Interrupted(f"interrupted; {tally.finished} of {len(wanted)} runs were finished{kept}") from cause
    return batch


@contextmanager
def concluding(store: "Store | None") -> Iterator[None]:
    """Make a store's runs safe and renew its table, once, when the work inside is done or ends in an error."""
    try:
        yield
    except BaseException:
        with suppress(Exception):  # the first error counts
            _conclude(store)
        raise
    _conclude(store)


def _conclude(store: "Store | None") -> None:
    if store:
        from shortflow.store.reading import renew_table

        store.flush()
        renew_table(store)


def run_one(run: Run, progress: Progress | None = None, capture: Capture | None = None) -> RunResult:
    """Run once, in a thread of its own so that Ctrl-C is heard; the tables stay as the core has them.

    `capture` gets what it asks for of the packets, in that thread.
    """
    tally = _Tally(1, progress)
    try:
        with closing(Local(1, {run.key: capture} if capture else {}).outcomes([run], watch=tally.tell)) as outcomes:
            (outcome,) = (outcome for _, outcome in outcomes)
    except KeyboardInterrupt as cause:
        raise Interrupted("interrupted; the run was not finished") from cause
    if isinstance(outcome, Failed):
        raise outcome.error
    assert outcome.result is not None  # as it was done by a thread of this process
    return outcome.result


def _take(store: "Store", wanted: dict[str, Run], tables: bool, batch: Batch, tally: "_Tally") -> None:
    """Take what the store has."""
    if tables:
        store.check_names(list(wanted.values()))
    for key, run in wanted.items():
        if record := store.record(run, tables=tables):
            batch.summaries[key] = replace(summarize(record), reused=True)
            tally.finished += 1
            tally.tell()


def _work(
    runs: Sequence[Run],
    executor: Executor,
    store: "Store | None",
    held: Held | None,
    tables: bool,
    keep_going: bool,
    batch: Batch,
    tally: "_Tally",
) -> None:
    places = {run.key: place for place, run in enumerate(runs)}
    unknown, errors = set(places.values()), dict[int, BaseException]()
    begun = takewhile(lambda _: not errors, runs)
    with closing(executor.outcomes(begun, tables=tables, watch=tally.tell)) as outcomes:
        for run, outcome in outcomes:
            unknown.discard(places[run.key])
            if isinstance(outcome, Failed) and not keep_going:
                errors[places[run.key]] = outcome.error
            else:
                _keep(run, outcome, store, held, batch)
                tally.finished += 1
            # One that stands before it may fail later; that one's error is raised at any number of jobs.
            if errors and min(errors) < min(unknown, default=len(runs)):
                raise errors[min(errors)]


def _keep(run: Run, outcome: Outcome, store: "Store | None", held: Held | None, batch: Batch) -> None:
    if store:
        store.keep(run, outcome)
    elif held is not None and isinstance(outcome, Finished):
        held[run.key] = replace(outcome, result=None, run=run)  # a result's tables are not encoded, and larger
    if isinstance(outcome, Failed):
        batch.failures[run.key] = outcome
    else:
        batch.summaries[run.key] = outcome.summary


class _Tally:
    """How far the work is, told now and then."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.finished = 0
        self._total, self._progress = total, progress
        self._told_at = 0.0

    def tell(self, controls: Sequence[Control] = ()) -> None:
        """Tell it, with the parts of the runs that are at work."""
        now = time.monotonic()
        if self._progress and (now - self._told_at >= _EVERY_S or self.finished == self._total):
            self._told_at = now
            part = sum(control.fraction() for control in controls)
            drains = [drain for control in controls if (drain := control.drain())]
            self._progress((self.finished + part) / self._total, self.finished, self._total, waited_for(drains))


def waited_for(drains: Sequence[tuple[int, int, float]]) -> str:
    """What runs in their drains wait for: of each its open flows, all its flows, and the simulated seconds left."""
    if not drains:
        return ""
    flows_open, flows = sum(drain[0] for drain in drains), sum(drain[1] for drain in drains)
    runs = f" of {len(drains)} runs" if len(drains) > 1 else ""
    left = max(drain[2] for drain in drains)
    return f"drain: {flows_open:,} of {flows:,} flows{runs} open, at most {left:.3g} s of simulated time left"
