"""Interface of executors, and the loop they share."""

import abc
import contextlib
import queue
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, Protocol, Self

from shortflow._core import Control
from shortflow.result import Result
from shortflow.runs import Run

Handler = Callable[[int, FrameType | None], object]


class SignalsHeld:
    """Holds SIGINT and SIGTERM back until the first is let through; no longer afterwards.

    A handler may raise anywhere, even while the main thread holds a lock that `concurrent.futures` shares with its
    workers. The lock would never be released, and the workers would wait forever.
    """

    def __init__(self) -> None:
        """Holds nothing before the `with`."""
        self._handlers: dict[int, Handler] = {}
        self._came: dict[int, FrameType | None] = {}

    def __enter__(self) -> Self:
        """Holds signals that have Python handlers; none outside the main thread."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._came.__setitem__)
        return self

    def let_through(self) -> None:
        """Ends holding if a signal arrived."""
        if self._came:
            self._release()

    def __exit__(self, *_: object) -> None:
        """Ends holding, if still active."""
        self._release()

    def _release(self) -> None:
        """Restores all handlers, then delivers held signals: SIGTERM before the weaker SIGINT."""
        handlers, self._handlers = self._handlers, {}
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in sorted(handlers.keys() & self._came, reverse=True):
            handlers[number](number, self._came.pop(number))


_POLL_S = 0.1

Outcomes = Generator[tuple[Run, Result], None, None]
"""Runs, each with its result as soon as it is done."""
Watch = Callable[[Sequence[Control]], object]
"""Called every 0.1 s and after each run with the controls of the runs simulated by this process."""


class Job(Protocol):
    """A submitted run, like a `concurrent.futures.Future`."""

    def add_done_callback(self, callback: Callable[[Any], object], /) -> object:
        """Calls `callback` with the job when it is done."""


class Session(abc.ABC):
    """A running executor."""

    @property
    @abc.abstractmethod
    def room(self) -> int:
        """Number of runs to submit at a time, waiting ones included; may change."""

    @property
    def controls(self) -> Sequence[Control]:
        """Controls of the runs simulated by this process."""
        return ()

    @abc.abstractmethod
    def submit(self, run: Run) -> Job:
        """Submits a run."""

    @abc.abstractmethod
    def outcome(self, run: Run, job: Any) -> Result:
        """Result of a run whose job is done."""

    @abc.abstractmethod
    def stop(self) -> bool:
        """Stops everything without waiting. Called again until it returns True: nothing is left."""


class Executor(abc.ABC):
    """Does runs."""

    @abc.abstractmethod
    def outcomes(self, runs: Iterable[Run], *, tables: bool = False, watch: Watch | None = None) -> Outcomes:
        """Do all runs, and yield each with what became of it as soon as that is known.

        Runs are taken from the iterable when there is room for them, in its order. A run that fails does not stop the
        others. Ctrl-C is raised here, as is whatever makes the executor itself unusable; then, and when the iterator
        is closed, runs that are at work are stopped. The `tables` of results are encoded if asked.
        """


class Pool(Executor):
    """An executor that does several runs at a time."""

    @abc.abstractmethod
    def session(self, *, tables: bool) -> AbstractContextManager[Session]:
        """Prepares to take runs, and to encode their `tables` if asked."""

    def outcomes(self, runs: Iterable[Run], *, tables: bool = False, watch: Watch | None = None) -> Outcomes:
        """Do all runs in a session, as many at a time as it has room for."""
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
