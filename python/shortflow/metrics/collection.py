"""Pauses the garbage collector where many objects are made and none in a cycle is left behind.

A collection looks at every object of the process, and thousands of new objects start one. In a long sweep, whose
results are in memory, collections took most of the time of measuring a run.
"""

import contextlib
import gc
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_pauses: list[None] = []
"""One entry for each thread that has paused the collector."""


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """No collections meanwhile, in any thread. One that was off before stays off."""
    with _lock:
        was_on = gc.isenabled() or bool(_pauses)
        if was_on:
            _pauses.append(None)
            gc.disable()
    try:
        yield
    finally:
        with _lock:
            if was_on:
                _pauses.pop()
                if not _pauses:
                    gc.enable()
