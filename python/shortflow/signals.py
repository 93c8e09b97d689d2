"""Ctrl-C beside other threads."""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Self

Handler = Callable[[int, FrameType | None], object]


class SignalsHeld:
    """Holds SIGINT and SIGTERM back until `let_through`.

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
        """Hand the signals that came to their handlers; from then on those are not held any more."""
        while self._came:
            number, frame = self._came.popitem()
            handler = self._handlers.pop(number)
            signal.signal(number, handler)
            handler(number, frame)

    def __exit__(self, *_: object) -> None:
        """Put every handler back, and hand over what came late."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self.let_through()
