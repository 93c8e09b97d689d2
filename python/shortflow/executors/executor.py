"""Interface of executors, and the loop that executors with several runs at a time share."""

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
    """Holds SIGINT and SIGTERM back until `let_through` finds one. Later signals are not held.

    A handler may raise anywhere, even while the main thread holds a lock that `concurrent.futures` shares with its
    workers. The lock would never be released, and the workers would wait forever.
    """

    def __init__(self) -> None:
        """Holds no signal until `__enter__`."""
        self._handlers: dict[int, Handler] = {}
        self._came: dict[int, FrameType | None] = {}

    def __enter__(self) -> Self:
        """Holds signals that have Python handlers. Outside the main thread, holds none."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._came.__setitem__)
        return self

    def let_through(self) -> None:
        """If a signal came, restores the handlers and delivers the signal."""
        if self._came:
            self._release()

    def __exit__(self, *_: object) -> None:
        """Restores the handlers, if still held, and delivers held signals."""
        self._release()

    def _release(self) -> None:
        """Restores all handlers, then delivers held signals: first SIGTERM, which ends the process, then SIGINT."""
        handlers, self._handlers = self._handlers, {}
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in sorted(handlers.keys() & self._came, reverse=True):
            handlers[number](number, self._came.pop(number))


_POLL_S = 0.1

Outcomes = Generator[tuple[Run, Result], None, None]
"""Pairs of run and result, in the order in which runs end."""
Watch = Callable[[Sequence[Control]], object]
"""Function that gets the controls of the runs in this process, every 0.1 s and after each run."""


class Job(Protocol):
    """A submitted run, in the form of a `concurrent.futures.Future`."""

    def add_done_callback(self, callback: Callable[[Any], object], /) -> object:
        """Calls `callback` with this job when the job is done."""


class Session(abc.ABC):
    """A started executor, which takes runs."""

    @property
    @abc.abstractmethod
    def room(self) -> int:
        """Maximum number of submitted runs, including waiting ones. The number may change."""

    @property
    def controls(self) -> Sequence[Control]:
        """Controls of the runs in this process."""
        return ()

    @abc.abstractmethod
    def submit(self, run: Run) -> Job:
        """Submits a run, and returns its job."""

    @abc.abstractmethod
    def outcome(self, run: Run, job: Any) -> Result:
        """Result of a run whose job is done."""

    @abc.abstractmethod
    def stop(self) -> bool:
        """Asks all runs to stop. Returns True when none is left; until then, the caller repeats the call."""


class Executor(abc.ABC):
    """Interface of a place that does runs."""

    @abc.abstractmethod
    def outcomes(self, runs: Iterable[Run], *, tables: bool = False, watch: Watch | None = None) -> Outcomes:
        """Does all runs, and yields each run with its result when it ends.

        Runs are taken from the iterable in order, when there is room for them. A run that fails does not stop the other
        runs; its result has the error. `tables` encodes the tables of results.

        Raises `KeyboardInterrupt` for Ctrl-C, and an error if the executor itself cannot work. In both cases, and when
        the iterator is closed, active runs are stopped.
        """


class Pool(Executor):
    """An executor that does several runs at the same time."""

    @abc.abstractmethod
    def session(self, *, tables: bool) -> AbstractContextManager[Session]:
        """Starts the executor. `tables` encodes the tables of results."""

    def outcomes(self, runs: Iterable[Run], *, tables: bool = False, watch: Watch | None = None) -> Outcomes:
        """Does all runs in a session, as many at a time as the session has room for."""
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
                    # No lock is held here, so a held signal may raise.
                    held.let_through()
                    if watch:
                        watch(session.controls)
            except BaseException:
                while not session.stop():
                    held.let_through()
                raise
