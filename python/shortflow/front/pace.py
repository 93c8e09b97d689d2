"""The pace of the work, and texts without orders to a terminal."""

import collections
import re
import time

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters in users' texts, of which a terminal would take orders: all but tabs and ends of lines."""


def plain(text: str) -> str:
    """The text without control characters."""
    return CONTROL.sub("", text)


LATELY_S = 30.0
"""The least time over which a pace is taken; so often it is told where stderr is no terminal."""


class Pace:
    """How quick the work went in the later half of the time; the last half minute says too little, as runs differ."""

    def __init__(self) -> None:
        """It begins now."""
        self._began = time.monotonic()
        self._marks = collections.deque([(self._began, 0.0, 0)])

    def told(self, fraction: float, finished: int) -> tuple[str, float | None]:
        """The runs finished in a second, in words, and the seconds left at that pace; empty and none at first."""
        now = time.monotonic()
        if finished < self._marks[-1][2]:  # runs of another round
            self._began = now
            self._marks.clear()
        self._marks.append((now, fraction, finished))
        lately = max(LATELY_S, (now - self._began) / 2)
        while len(self._marks) > 2 and now - self._marks[1][0] >= lately:
            self._marks.popleft()
        begun_at, from_fraction, from_finished = self._marks[0]
        spent, part, runs = now - begun_at, fraction - from_fraction, finished - from_finished
        if spent < 1 or part <= 0:
            return "", None
        return f", {runs / spent:.3g}/s", (1 - fraction) / part * spent
