"""Pace of the work, and texts without control characters."""

import collections
import re
import time

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters in users' texts, except tabs and newlines: terminals would execute them."""


def plain(text: str) -> str:
    """The text without control characters."""
    return CONTROL.sub("", text)


LATELY_S = 30.0
"""Shortest time for measuring the pace, and interval of progress lines, in seconds."""
FIRST_S = 2.0
"""Shortest time before the first run has finished. A run foretells its own end, so its pace is known sooner."""


class Pace:
    """Pace over the later half of the elapsed time. A fixed interval would be too noisy, because runs differ."""

    def __init__(self) -> None:
        """Starts the clock."""
        self._began = time.monotonic()
        self._marks = collections.deque([(self._began, 0.0, 0)])

    def told(self, fraction: float, finished: int) -> tuple[str, float | None]:
        """Runs per second in words, and remaining seconds at that pace; empty and None at first."""
        now = time.monotonic()
        if finished < self._marks[-1][2]:  # a new round of runs
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
