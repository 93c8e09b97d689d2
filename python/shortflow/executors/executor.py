"""The interface of executors, and the loop that all of them share."""

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
    """Holds SIGINT and SIGTERM back until one is let through; from then on none is held any more.

    A handler that raises may do so anywhere, also where the main thread has just taken one of the locks that
    `concurrent.futures` shares with its workers: nobody gives that lock back, and the workers wait for it for ever.
    """

    def __init__(self) -> None:
        """Nothing is held before the `with`."""
        self._handlers: dict[int, Handler] = {}
        self._came: dict[int, FrameType | None] = {}

    def __enter__(self) -> Self:
        """Hold the signals whose handlers are functions; in a thread that cannot hear signals, none."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._came.__setitem__)
        return self

    def let_through(self) -> None:
        """If a signal came, end the holding."""
        if self._came:
            self._release()

    def __exit__(self, *_: object) -> None:
        """End the holding, if it goes on still."""
        self._release()

    def _release(self) -> None:
        """Put every handler back, then hand over what came: SIGTERM before SIGINT, which says less."""
        handlers, self._handlers = self._handlers, {}
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in sorted(handlers.keys() & self._came, reverse=True):
            handlers[number](number, self._came.pop(number))


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
