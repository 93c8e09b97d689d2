"""The engine: does each run of an ask once, on any executor, and stores the result.

An ask is a generator: it yields wanted runs, is sent their results, and returns its answer. The result of a run depends
only on its scenario, scheme and seed, not on place or order.
"""

import logging
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Sized
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from shortflow import store as stores
from shortflow._core import Capture, Control
from shortflow.errors import ConfigError, Interrupted
from shortflow.executors import Executor, Local
from shortflow.quantities import counted
from shortflow.result import Result
from shortflow.runs import Run

if TYPE_CHECKING:
    from shortflow.store.runs import Store

T = TypeVar("T")
Jobs = int | Executor | None
"""Number of runs at a time on this machine (None: one per core), or an executor."""

_EVERY_S = 0.1


class Progress(Protocol):
    """Receives the progress of the work."""

    def __call__(self, fraction: float, finished: int, total: int, waiting: str = "", /) -> None:
        """Called every 0.1 s with the fraction of the work, the numbers of finished and all runs, and a text on drains.

        The fraction refers to the maximum simulated time including drains, so it may jump at the end. The call must
        return quickly, because Ctrl-C is handled only after the call.
        """


@dataclass(frozen=True)
class Wanted:
    """Runs that an ask needs next."""

    runs: Sequence[Run]
    tables: bool = True
    """True if the store keeps the runs' tables."""
    keep_going: bool = False
    """True if failed runs count as results. Otherwise the first error ends the ask."""
    of: int = 0
    """Expected number of runs of the ask, if known."""
    fits: Callable[[Result], bool] = bool
    """Function that is false for stored results to be done again."""


Ask: TypeAlias = Generator[Wanted, list[Result], T]
"""A generator that yields wanted runs, is sent their results in order, and returns its answer."""


@dataclass
class Runner:
    """Drives asks, with an executor, a store and a receiver of progress."""

    jobs: Jobs = None
    store: "Store | None" = None
    progress: Progress | None = None
    holds: bool = False
    """True if results hold their tables in memory when there is no store."""
    found: Callable[[int, int], object] | None = None
    """Called with the number of runs found in the store, and the number of wanted runs."""
    before: int = field(default=0, init=False)
    """Number of runs in earlier batches."""

    def answer(self, ask: Ask[T], *, conclude: bool = True) -> T:
        """Answers an ask: does its runs batch by batch, then concludes the store.

        Calls inside `concluding` pass `conclude=False`. Ctrl-C raises `Interrupted`, except between two batches without
        a store.
        """
        with closing(ask), concluding(self.store if conclude else None):
            try:
                wanted = next(ask)
                while True:
                    wanted = ask.send(self.do(wanted))
            except StopIteration as end:
                answer: T = end.value
                return answer
            except KeyboardInterrupt as cause:  # Ctrl-C between two batches
                if not self.store:
                    raise
                kept = f"finished runs are stored in {self.store.directory}; the same command resumes"
                raise Interrupted(f"interrupted; {kept}") from cause

    def do(self, wanted: Wanted) -> list[Result]:
        """Does the runs that the store lacks, and returns all results in order.

        A run that is wanted twice is done once. Raises the error of the first failed run unless `keep_going`, and
        `Interrupted` for Ctrl-C.
        """
        runs = {run.key: run for run in wanted.runs}
        work = _Work(self, _executor(self.jobs), wanted, runs)
        try:
            if self.store and wanted.tables:
                self.store.check_names(list(runs.values()))
            missing = [run for run in runs.values() if not work.take(run, warn=True)]
            if self.store and (bare := [run for run in missing if self.store.find(run, tables=False, warn=False)]):
                text = "%s in %s: stored without tables, so done again to store them"
                logging.getLogger(__name__).info(text, counted(len(bare), "run"), self.store.directory)
            if self.found:
                self.found(len(work.done), len(runs))
            work.do(missing)
        except KeyboardInterrupt as cause:
            kept = ", not kept"
            if self.store:
                kept = f" and are stored in {self.store.directory}; the same command resumes"
            raise Interrupted(f"interrupted; {len(work.done)} of {counted(len(runs), 'run')} finished{kept}") from cause
        self.before += len(wanted.runs)
        return [replace(work.done[run.key], at=run.at, run=run) for run in wanted.runs]


def once(wanted: Wanted) -> Ask[list[Result]]:
    """An ask for these runs only."""
    return (yield wanted)


def run_one(run: Run, progress: Progress | None = None, capture: Capture | None = None) -> Result:
    """Does one run in its own thread, so that Ctrl-C works. The tables stay in the core's form.

    `capture` receives the run's packet events in this thread.
    """
    jobs = Local(1, {run.key: capture} if capture else {})
    try:
        (result,) = Runner(jobs, progress=progress, holds=True).do(Wanted([run], tables=False))
    except Interrupted as cause:
        raise Interrupted("interrupted; the run did not finish") from cause.__cause__
    return result


def _executor(jobs: Jobs) -> Executor:
    """The executor for `jobs`. Raises `ConfigError` unless `jobs` is a number, an executor or None."""
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
def concluding(store: "Store | None") -> Iterator[None]:
    """Makes a store's runs durable and renews its table once, after the block or its error."""
    try:
        yield
    except BaseException:
        with suppress(Exception):  # the first error counts
            if store:
                stores.runs.conclude(store)
        raise
    if store:
        stores.runs.conclude(store)


@dataclass
class _Work:
    """The runs of a batch, and their state."""

    runner: Runner
    executor: Executor
    wanted: Wanted
    runs: dict[str, Run]
    done: dict[str, Result] = field(default_factory=dict)
    elsewhere: list[Run] = field(default_factory=list)
    """Runs that another process has claimed."""
    told_at: float = 0.0

    def take(self, run: Run, *, warn: bool = False) -> bool:
        """Takes a run from the store, if present. `warn` reports a damaged run."""
        store = self.runner.store
        found = store.find(run, tables=self.wanted.tables, warn=warn) if store else None
        if not found or not self.wanted.fits(found):
            return False
        self.done[run.key] = found
        self.tell()
        return True

    def do(self, runs: Sequence[Run]) -> None:
        """Does all runs. Then waits for runs of other processes, and takes over runs of dead processes."""
        while runs:
            errors: dict[int, BaseException] = {}
            begun = self._begun(runs, errors)
            if first := next(begun, None):
                self._do(chain([first], begun), {run.key: place for place, run in enumerate(runs)}, errors)
            elif self.elsewhere:
                self.tell(waiting=f"{counted(len(self.elsewhere), 'run')} at work in another process")
                time.sleep(_EVERY_S)
            runs = [*self.elsewhere]
            self.elsewhere.clear()

    def _begun(self, runs: Sequence[Run], errors: Sized) -> Iterator[Run]:
        """Runs that this process claims, until an error occurs."""
        store = self.runner.store
        for run in runs:
            if errors:
                return
            if store:
                store.look()
                if self.take(run):
                    continue
                if not store.claim(run):
                    self.elsewhere.append(run)
                    continue
            yield run

    def _do(self, runs: Iterable[Run], places: dict[str, int], errors: dict[int, BaseException]) -> None:
        unknown = set(places.values())
        with_tables = self.wanted.tables and (self.runner.store is not None or self.runner.holds)
        with closing(self.executor.outcomes(runs, tables=with_tables, watch=self._watch)) as outcomes:
            for run, result in outcomes:
                unknown.discard(places[run.key])
                if result.error and not self.wanted.keep_going:
                    errors[places[run.key]] = result.error
                else:
                    if self.runner.store:
                        kept = self.runner.store.keep(result, tables=self.wanted.tables)
                    else:
                        kept = result if self.runner.holds else result.alone()
                    self.done[run.key] = kept
                # For any number of jobs, the error of the first failed run in order is raised.
                if errors and min(errors) < min(unknown, default=len(places)):
                    break
        if errors:
            raise errors[min(errors)]

    def _watch(self, controls: Sequence[Control]) -> None:
        if store := self.runner.store:
            store.log.renew()
            store.look()
            while self.elsewhere and self.take(self.elsewhere[0]):
                del self.elsewhere[0]
        self.tell(controls)

    def tell(self, controls: Sequence[Control] = (), waiting: str = "") -> None:
        """Reports progress: fractions of active runs, their drains, or the reason for `waiting`."""
        now, finished, total = time.monotonic(), len(self.done), len(self.runs)
        progress = self.runner.progress
        if progress and (now - self.told_at >= _EVERY_S or finished == total):
            self.told_at = now
            part = finished + sum(control.fraction() for control in controls)
            drains = [drain for control in controls if (drain := control.drain())]
            if self.wanted.of:
                before = self.runner.before
                part, finished, total = part + before, finished + before, max(self.wanted.of, before + total)
            progress(part / total, finished, total, waiting or waited_for(drains))


def waited_for(drains: Sequence[tuple[int, int, float]]) -> str:
    """Text on drains. Each drain has the numbers of unfinished and of all flows, and the simulated seconds left."""
    if not drains:
        return ""
    flows_open, flows = sum(drain[0] for drain in drains), sum(drain[1] for drain in drains)
    runs = f" of {len(drains)} runs" if len(drains) > 1 else ""
    left = max(drain[2] for drain in drains)
    return f"drain: {flows_open:,} of {flows:,} flows{runs} open, at most {left:.3g} s of simulated time left"
