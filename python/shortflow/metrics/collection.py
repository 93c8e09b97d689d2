"""Pauses the garbage collector while code makes many objects and leaves no reference cycles behind.

Thousands of new objects start a collection, which visits every object of the process. In a long sweep, whose results
stay in memory, collections would take most of the time of measuring a run.
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
    """Stops collections in all threads until the block ends. If the collector was off before, it stays off."""
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
