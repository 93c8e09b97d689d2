"""Progress of a call from Python."""

import contextlib
import html
import sys
from collections.abc import Callable, Iterator
from typing import Any

from shortflow.front.console import progress_bar
from shortflow.front.pace import Pace
from shortflow.runner import Progress

Shown = Progress | bool | None
"""`None`: a bar in notebooks and terminals, else a line every 30 s; `False`: nothing; or a function."""


def told(label: str, shown: Shown) -> contextlib.AbstractContextManager[Progress | None]:
    """A receiver of progress. Bars are removed at the end."""
    if callable(shown) or shown is False:
        return contextlib.nullcontext(shown or None)
    display = _notebook()
    return _notebook_bar(label, display) if display else progress_bar(label)


def _notebook() -> Callable[..., Any] | None:
    """IPython's `display` in a notebook; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return sys.modules["IPython.display"].display  # type: ignore[no-any-return]


@contextlib.contextmanager
def _notebook_bar(label: str, display: Callable[..., Any]) -> Iterator[Progress]:
    pace, handle = Pace(), display({"text/plain": label}, raw=True, display_id=True)

    def update(fraction: float, finished: int, total: int, waiting: str = "") -> None:
        rate, left = pace.told(fraction, finished)
        rest = f", at most {left:.0f} s left" if left and fraction < 1 else ""
        text = f"{label}: {finished}/{total} runs{rate}{rest}{f'; {waiting}' if waiting else ''}"
        bar = f'<progress max="1" value="{fraction:.4f}" aria-label="progress"></progress> {html.escape(text)}'
        handle.update({"text/plain": text, "text/html": bar}, raw=True)

    try:
        yield update
    finally:
        handle.update({"text/plain": "", "text/html": ""}, raw=True)
