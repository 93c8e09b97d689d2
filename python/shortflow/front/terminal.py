"""What Rich draws: results for people, and a live bar of progress."""

import contextlib
import sys
from collections.abc import Iterator
from datetime import timedelta

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.segment import Segment
from rich.text import Text

from shortflow.front.control import plain
from shortflow.front.pace import Pace
from shortflow.report.tables import terminal_width
from shortflow.runner import Progress as Told


class Plain(Console):
    """A console to which users' texts bring no control characters."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """All segments; those that Rich itself controls the terminal with are marked."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=plain(segment.text))


class _Results(Plain):
    """A console for stdout."""

    def on_broken_pipe(self) -> None:
        """Leave it to the command's end, in place of Rich's exit code 1."""
        raise BrokenPipeError


def print_result(result: RenderableType) -> None:
    """Print something for people on stdout, never wider than a table may be."""
    _Results(width=terminal_width(), highlight=False, emoji=False, markup=False).print(result)


def working(label: str) -> contextlib.AbstractContextManager[object]:
    """Say on stderr what takes a few seconds, while it does; nothing where that is no terminal."""
    return Plain(file=sys.stderr).status(label)


class _Bar(Progress):
    """A bar, and below it, where a narrow terminal has room for it, how long it takes and what it waits for."""

    def get_renderables(self) -> Iterator[RenderableType]:
        """The bar of each task, then those lines."""
        yield self.make_tasks_table(self.tasks)
        for task in self.tasks:
            spent, left = map(_clock, (task.elapsed, task.fields["left"]))
            yield Text(f"{spent} so far, about {left} left{task.fields['waiting']}")


def _clock(seconds: float | None) -> str:
    return "-:--:--" if seconds is None else str(timedelta(seconds=int(seconds)))


@contextlib.contextmanager
def live_bar(label: str) -> Iterator[Told]:
    """A live bar on stderr."""
    console = Plain(file=sys.stderr)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[runs]}"),
    )
    try:
        with _Bar(*columns, console=console, transient=True) as bar:
            task = bar.add_task(label, total=1.0, runs="", waiting="", left=None)
            pace = Pace()

            def update(fraction: float, finished: int, total: int, waiting: str = "") -> None:
                shown = f"; {waiting}" if waiting else ""
                rate, left = pace.told(fraction, finished)
                runs = f"{finished}/{total} runs{rate}"
                bar.update(task, completed=fraction, runs=runs, waiting=shown, left=left)

            yield update
    finally:
        console.show_cursor()  # a signal may come while the bar starts
