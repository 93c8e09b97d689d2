"""All runs of a command in one pool: once each, wherever an executor does them, and kept as they finish.

A run's result depends on its scenario, scheme and seed alone, so neither where it is done nor in what order matters.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Protocol

from shortflow._core import Capture, Control
from shortflow.errors import ConfigError, Interrupted
from shortflow.executors import Executor, Failed, Finished, Local, Outcome
from shortflow.lazy import reading, stored
from shortflow.quantities import counted
from shortflow.result import Run, RunResult, RunSummary, summarize

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
    store: "stored.Store | None" = None,
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
    store: "stored.Store | None" = None,
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
    executor = _executor(jobs)
    wanted = {run.key: run for run in runs}
    batch, tally = Batch(), _Tally(len(wanted), progress)
    with concluding(store) if conclude else nullcontext():
        try:
            if store and tables:
                store.check_names(list(wanted.values()))
            with_tables = held is not None if store is None else tables
            work = _Work(executor, store, held, with_tables, keep_going, batch, tally)
            missing = [run for run in wanted.values() if not work.take(run, warn=True)]
            if found:
                found(len(batch.summaries), len(wanted))
            work.do(missing)
        except KeyboardInterrupt as cause:
            kept = f" and are kept in {store.directory}; the same command goes on from there" if store else ", not kept"
            raise Interrupted(f"interrupted; {tally.finished} of {len(wanted)} runs were finished{kept}") from cause
    return batch


def _executor(jobs: Jobs) -> Executor:
    """Where runs are done; a `ConfigError` for what is neither a number nor an executor."""
    if isinstance(jobs, Executor):
        return jobs
    if jobs is None or (isinstance(jobs, int) and not isinstance(jobs, bool) and jobs >= 1):
        return Local(jobs)
    address = getattr(jobs, "scheduler_address", None)
    cluster = repr(address) if isinstance(address, str) else '"tcp://10.0.0.1:8786"'
    raise ConfigError(
        f"jobs: {jobs!r} is not a whole number from 1 on; for a Dask cluster pass shortflow.Dask({cluster})"
    )


@contextmanager
def concluding(store: "stored.Store | None") -> Iterator[None]:
    """Make a store's runs safe and renew its table, once, when the work inside is done or ends in an error."""
    try:
        yield
    except BaseException:
        with suppress(Exception):  # the first error counts
            _conclude(store)
        raise
    _conclude(store)


def _conclude(store: "stored.Store | None") -> None:
    if store:
        store.flush()
        reading.renew_table(store)


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


@dataclass(frozen=True)
class _Work:
    """The runs of a batch: where they are done, where they are kept, and what became of them."""

    executor: Executor
    store: "stored.Store | None"
    held: Held | None
    tables: bool
    keep_going: bool
    batch: Batch
    tally: "_Tally"
    elsewhere: list[Run] = field(default_factory=list)
    """Runs that another process works on."""

    def take(self, run: Run, *, warn: bool = False) -> bool:
        """Takes a run from the store, if it is there. `warn` of a damaged one."""
        record = self.store.record(run, tables=self.tables, warn=warn) if self.store else None
        if record:
            self.batch.summaries[run.key] = replace(summarize(record), reused=True)
            self.tally.finished += 1
            self.tally.tell()
        return record is not None

    def do(self, runs: Sequence[Run]) -> None:
        """Does all runs. Waits in the end for runs of other processes, and does those whose process is gone."""
        while runs:
            errors: dict[int, BaseException] = {}
            begun = self._begun(runs, errors)
            if first := next(begun, None):
                self._do(chain([first], begun), {run.key: place for place, run in enumerate(runs)}, errors)
            elif self.elsewhere:
                self.tally.tell(waiting=f"{counted(len(self.elsewhere), 'run')} at work in another process")
                time.sleep(_EVERY_S)
            runs = [*self.elsewhere]
            self.elsewhere.clear()

    def _begun(self, runs: Sequence[Run], errors: Sized) -> Iterator[Run]:
        """The runs for this process to do, until there are errors."""
        for run in runs:
            if errors:
                return
            if self.store:
                self.store.look()
                if self.take(run):
                    continue
                if not self.store.claim(run):
                    self.elsewhere.append(run)
                    continue
            yield run

    def _do(self, runs: Iterable[Run], places: dict[str, int], errors: dict[int, BaseException]) -> None:
        unknown = set(places.values())
        with closing(self.executor.outcomes(runs, tables=self.tables, watch=self._watch)) as outcomes:
            for run, outcome in outcomes:
                unknown.discard(places[run.key])
                if isinstance(outcome, Failed) and not self.keep_going:
                    errors[places[run.key]] = outcome.error
                else:
                    self._keep(run, outcome)
                    self.tally.finished += 1
                # One that stands before it may fail later; that one's error is raised at any number of jobs.
                if errors and min(errors) < min(unknown, default=len(places)):
                    break
        if errors:
            raise errors[min(errors)]

    def _watch(self, controls: Sequence[Control]) -> None:
        if self.store:
            self.store.renew_claims()
            self.store.look()
            while self.elsewhere and self.take(self.elsewhere[0]):
                del self.elsewhere[0]
        self.tally.tell(controls)

    def _keep(self, run: Run, outcome: Outcome) -> None:
        if self.store:
            self.store.keep(run, outcome)
        elif self.held is not None and isinstance(outcome, Finished):
            self.held[run.key] = replace(outcome, result=None, run=run)  # a result's tables are not encoded, and larger
        if isinstance(outcome, Failed):
            self.batch.failures[run.key] = outcome
        else:
            self.batch.summaries[run.key] = outcome.summary


class _Tally:
    """How far the work is, told now and then."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.finished = 0
        self._total, self._progress = total, progress
        self._told_at = 0.0

    def tell(self, controls: Sequence[Control] = (), waiting: str = "") -> None:
        """Tell it, with the parts of the runs that are at work, or else the reason for `waiting`."""
        now = time.monotonic()
        if self._progress and (now - self._told_at >= _EVERY_S or self.finished == self._total):
            self._told_at = now
            part = sum(control.fraction() for control in controls)
            drains = [drain for control in controls if (drain := control.drain())]
            self._progress(
                (self.finished + part) / self._total, self.finished, self._total, waiting or waited_for(drains)
            )


def waited_for(drains: Sequence[tuple[int, int, float]]) -> str:
    """What runs in their drains wait for: of each its open flows, all its flows, and the simulated seconds left."""
    if not drains:
        return ""
    flows_open, flows = sum(drain[0] for drain in drains), sum(drain[1] for drain in drains)
    runs = f" of {len(drains)} runs" if len(drains) > 1 else ""
    left = max(drain[2] for drain in drains)
    return f"drain: {flows_open:,} of {flows:,} flows{runs} open, at most {left:.3g} s of simulated time left"
