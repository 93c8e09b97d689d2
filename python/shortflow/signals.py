"""Ctrl-C beside other threads."""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Self

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
