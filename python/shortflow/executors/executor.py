"""The interface of executors, and the loop that all of them share."""

import abc
import contextlib
import queue
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from shortflow._core import Control
from shortflow.result import Result
from shortflow.runs import Run
from shortflow.signals import SignalsHeld

_POLL_S = 0.1

Watch = Callable[[Sequence[Control]], object]
"""Told every tenth of a second and after each run: the controls of the runs that this process is simulating."""


class Job(Protocol):
    """A run that was handed over, like a `concurrent.futures.Future`."""

    def add_done_callback(self, told: Callable[[Any], object], /) -> object:
        """Call `told` with the job when it is done."""


class Session(abc.ABC):
    """An executor at work."""

    @property
    @abc.abstractmethod
    def room(self) -> int:
        """How many runs should be handed over at a time, some of them waiting; it may change."""

    @property
    def controls(self) -> Sequence[Control]:
        """The controls of the runs that this process is simulating."""
        return ()

    @abc.abstractmethod
    def submit(self, run: Run) -> Job:
        """Hand a run over."""

    @abc.abstractmethod
    def outcome(self, run: Run, job: Any) -> Result:
        """What became of a run whose job is done."""

    @abc.abstractmethod
    def stop(self) -> bool:
        """Stop everything, without waiting; asked again until it says that nothing is left."""


class Executor(abc.ABC):
    """Where runs are done."""

    @abc.abstractmethod
    def session(self, *, tables: bool) -> AbstractContextManager[Session]:
        """Get ready to take runs, and to encode their `tables` if asked."""

    def outcomes(
        self, runs: Iterable[Run], *, tables: bool = False, watch: Watch | None = None
    ) -> Generator[tuple[Run, Result], None, None]:
        """Do all runs, and yield each with what became of it as soon as that is known.

        Runs are taken from the iterable when there is room for them, in its order. A run that fails does not stop the
        others. Ctrl-C is raised here, as is whatever makes the executor itself unusable; then, and when the iterator
        is closed, runs that are at work are stopped.
        """
        waiting = iter(runs)
        done: queue.SimpleQueue[Job] = queue.SimpleQueue()
        active: dict[Job, Run] = {}
        with SignalsHeld() as held, self.session(tables=tables) as session:
            try:
                while True:
                    while len(active) < session.room and (run := next(waiting, None)):
                        job = session.submit(run)
                        active[job] = run
                        job.add_done_callback(done.put)
                    if not active:
                        return
                    with contextlib.suppress(queue.Empty):
                        job = done.get(timeout=_POLL_S)
                        yield active[job], session.outcome(active[job], job)
                        del active[job]
                    held.let_through()
                    if watch:
                        watch(session.controls)
            except BaseException:
                while not session.stop():
                    held.let_through()
                raise
