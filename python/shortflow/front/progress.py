"""Progress of the work: its pace, and bars in terminals and notebooks."""

import collections
import contextlib
import html
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from shortflow import front
from shortflow.front.console import print_note
from shortflow.runner import Progress

ShowProgress = Progress | bool | None
"""`None` for a bar in notebooks and terminals, else a line every 30 s; `False` for nothing; or a function."""
LATELY_S = 30.0
"""Interval of progress lines, and minimum time over which the pace is measured, in seconds."""
_FAR_S = 86_400.0
"""Longest remaining time to show, in seconds."""
FIRST_S = 2.0
"""Minimum time over which the pace is measured before the first run has finished, in seconds.

An active run reports the simulated share of its time, so its pace is known before the run ends.
"""


class Pace:
    """Pace of runs over the later half of the elapsed time.

    A fixed interval would be too noisy, because runs differ.
    """

    def __init__(self) -> None:
        """Starts the clock."""
        self._began = time.monotonic()
        self._marks = collections.deque([(self._began, 0.0, 0)])

    def update(self, fraction: float, finished: int) -> tuple[str, float | None]:
        """Runs per second in words, and the remaining seconds at this pace. Empty and None in the first second."""
        now = time.monotonic()
        if finished < self._marks[-1][2]:  # a new batch of runs began
            self._began = now
            self._marks.clear()
        self._marks.append((now, fraction, finished))
        lately = max(LATELY_S if finished else FIRST_S, (now - self._began) / 2)
        while len(self._marks) > 2 and now - self._marks[1][0] >= lately:
            self._marks.popleft()
        begun_at, from_fraction, from_finished = self._marks[0]
        spent, part, runs = now - begun_at, fraction - from_fraction, finished - from_finished
        if spent < 1 or part <= 0:
            return "", None
        return f", {runs / spent:.3g}/s", (1 - fraction) / part * spent


class Lines:
    """Progress lines for a stderr that is not a terminal, one every 30 s. Consecutive bars may share one object."""

    def __init__(self) -> None:
        """Makes the first line due after 30 s."""
        self._last = time.monotonic()

    def due(self) -> bool:
        """Returns True if a line is due, and restarts the interval."""
        now = time.monotonic()
        late = now - self._last >= LATELY_S and not sys.stderr.isatty()
        if late:
            self._last = now
        return late


def progress_bar(label: str, lines: Lines | None = None) -> contextlib.AbstractContextManager[Progress]:
    """A live bar on stderr. Without a terminal, a line every 30 s."""
    if sys.stderr.isatty():
        return front.terminal.live_bar(label)
    return contextlib.nullcontext(_progress_lines(label, lines or Lines()))


def _progress_lines(label: str, lines: Lines) -> Progress:
    started = time.monotonic()
    pace = Pace()

    def update(fraction: float, finished: int, total: int, waiting: str = "") -> None:
        rate, left = pace.update(fraction, finished)
        if lines.due():
            spent = time.monotonic() - started
            rest = f", about {left:.0f} s left at this pace" if left and left < _FAR_S and fraction < 1 else ""
            shown = f"; {waiting}" if waiting else ""
            print_note(
                f"{label}: {finished}/{total} runs{rate}, {fraction:.0%} of the work, {spent:.0f} s{rest}{shown}"
            )

    return update


def reporting(label: str, shown: ShowProgress) -> contextlib.AbstractContextManager[Progress | None]:
    """A receiver of progress that shows `label`, or None. Bars are removed at the end."""
    if callable(shown) or shown is False:
        return contextlib.nullcontext(shown or None)
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    # IPython in a terminal has no kernel, and gets the bar of terminals.
    if shell is None or not hasattr(shell, "kernel"):
        return progress_bar(label)
    return _notebook_bar(label, sys.modules["IPython.display"].display)


@contextlib.contextmanager
def _notebook_bar(label: str, display: Callable[..., Any]) -> Iterator[Progress]:
    pace, handle = Pace(), display({"text/plain": label}, raw=True, display_id=True)

    def update(fraction: float, finished: int, total: int, waiting: str = "") -> None:
        rate, left = pace.update(fraction, finished)
        rest = f", at most {left:.0f} s left" if left and fraction < 1 else ""
        text = f"{label}: {finished}/{total} runs{rate}{rest}{f'; {waiting}' if waiting else ''}"
        bar = f'<progress max="1" value="{fraction:.4f}" aria-label="progress"></progress> {html.escape(text)}'
        handle.update({"text/plain": text, "text/html": bar}, raw=True)

    try:
        yield update
    finally:
        handle.update({"text/plain": "", "text/html": ""}, raw=True)
