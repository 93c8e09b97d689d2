"""The one engine: it does the runs that an ask wants, once each, wherever an executor does them, and keeps them.

An ask is a generator: it yields the runs that it wants, is sent what came of them, and returns its answer. A run's
result depends on its scenario, scheme and seed alone, so neither where it is done nor in what order matters.
"""

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Sized
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Protocol, TypeAlias, TypeVar

from shortflow._core import Capture, Control
from shortflow.errors import ConfigError, Interrupted
from shortflow.executors import Executor, Local
from shortflow.lazy import reading, stored
from shortflow.quantities import counted
from shortflow.result import Result
from shortflow.runs import Run

T = TypeVar("T")
Jobs = int | Executor | None
"""So many runs at a time on this machine (None: one for each core), or what else does them."""

_EVERY_S = 0.1


class Progress(Protocol):
    """Receives the progress of the work."""

    def __call__(self, fraction: float, finished: int, total: int, waiting: str = "", /) -> None:
        """Told every tenth of a second: the fraction of the work, the runs finished, all runs, what drains wait for.

        The fraction is of the time that the runs may simulate at most, their drains included, so it may end with a
        leap. Ctrl-C is heard after this returns, so it should do so at once.
        """


@dataclass(frozen=True)
class Wanted:
    """The runs that an ask wants next."""

    runs: Sequence[Run]
    tables: bool = True
    """The store keeps their tables."""
    keep_going: bool = False
    """Failed runs are results too; otherwise the first error ends the ask."""
    of: int = 0
    """Expected number of runs of the ask, if known."""


Ask: TypeAlias = Generator[Wanted, list[Result], T]
"""A generator that yields wanted runs, is sent their results in this order, and returns its answer."""


@dataclass
class Runner:
    """Where the runs of asks are done and kept, and who hears of it."""

    jobs: Jobs = None
    store: "stored.Store | None" = None
    progress: Progress | None = None
    holds: bool = False
    """Results hold their tables in memory if there is no store."""
    found: Callable[[int, int], object] | None = None
    """Told how many runs the store had, of how many."""
    before: int = field(default=0, init=False)
    """Number of runs of earlier batches."""

    def answer(self, ask: Ask[T], *, conclude: bool = True) -> T:
        """Do what an ask wants, time and again, until it has its answer; then the store is concluded.

        Several calls inside `concluding` do not `conclude` themselves.
        """
        with closing(ask), concluding(self.store if conclude else None):
            try:
                wanted = next(ask)
                while True:
                    wanted = ask.send(self.do(wanted))
            except StopIteration as end:
                answer: T = end.value
                return answer

    def do(self, wanted: Wanted) -> list[Result]:
        """Run everything that the store does not have, in this order; what is asked for twice is run once."""
        runs = {run.key: run for run in wanted.runs}
        work = _Work(self, _executor(self.jobs), wanted, runs)
        try:
            if self.store and wanted.tables:
                self.store.check_names(list(runs.values()))
            missing = [run for run in runs.values() if not work.take(run, warn=True)]
            if self.found:
                self.found(len(work.done), len(runs))
            work.do(missing)
        except KeyboardInterrupt as cause:
            kept = ", not kept"
            if self.store:
                kept = f" and are stored in {self.store.directory}; the same command resumes"
            raise Interrupted(f"interrupted; {len(work.done)} of {len(runs)} runs finished{kept}") from cause
        self.before += len(wanted.runs)
        return [replace(work.done[run.key], at=run.at, run=run) for run in wanted.runs]


def once(wanted: Wanted) -> Ask[list[Result]]:
    """The ask for some runs, and no more."""
    return (yield wanted)


def run_one(run: Run, progress: Progress | None = None, capture: Capture | None = None) -> Result:
    """Run once, in a thread of its own so that Ctrl-C is heard; the tables stay as the core has them.

    `capture` gets what it asks for of the packets, in that thread.
    """
    jobs = Local(1, {run.key: capture} if capture else {})
    try:
        (result,) = Runner(jobs, progress=progress, holds=True).do(Wanted([run], tables=False))
    except Interrupted as cause:
        raise Interrupted("interrupted; the run did not finish") from cause.__cause__
    return result


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


@dataclass
class _Work:
    """The runs of a batch: where they are done, and what became of them."""

    runner: Runner
    executor: Executor
    wanted: Wanted
    runs: dict[str, Run]
    done: dict[str, Result] = field(default_factory=dict)
    elsewhere: list[Run] = field(default_factory=list)
    """Runs that another process works on."""
    told_at: float = 0.0

    def take(self, run: Run, *, warn: bool = False) -> bool:
        """Takes a run from the store, if it is there. `warn` of a damaged one."""
        store = self.runner.store
        found = store.find(run, tables=self.wanted.tables, warn=warn) if store else None
        if found:
            self.done[run.key] = found
            self.tell()
        return found is not None

    def do(self, runs: Sequence[Run]) -> None:
        """Does all runs. Waits in the end for runs of other processes, and does those whose process is gone."""
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
        """The runs for this process to do, until there are errors."""
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
                    self._keep(run, result)
                # One that stands before it may fail later; that one's error is raised at any number of jobs.
                if errors and min(errors) < min(unknown, default=len(places)):
                    break
        if errors:
            raise errors[min(errors)]

    def _watch(self, controls: Sequence[Control]) -> None:
        if store := self.runner.store:
            store.renew_claims()
            store.look()
            while self.elsewhere and self.take(self.elsewhere[0]):
                del self.elsewhere[0]
        self.tell(controls)

    def _keep(self, run: Run, result: Result) -> None:
        if self.runner.store:
            result = self.runner.store.keep(result, tables=self.wanted.tables)
        elif not self.runner.holds:
            result = result.alone()
        self.done[run.key] = result

    def tell(self, controls: Sequence[Control] = (), waiting: str = "") -> None:
        """Tell how far it is, with the parts of the runs that are at work, or else the reason for `waiting`."""
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
    """Runs in their drains: open flows, all flows and simulated seconds left of each."""
    if not drains:
        return ""
    flows_open, flows = sum(drain[0] for drain in drains), sum(drain[1] for drain in drains)
    runs = f" of {len(drains)} runs" if len(drains) > 1 else ""
    left = max(drain[2] for drain in drains)
    return f"drain: {flows_open:,} of {flows:,} flows{runs} open, at most {left:.3g} s of simulated time left"
