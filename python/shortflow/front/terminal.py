"""Terminal output by Rich: results, a live progress bar, and a live drawing of a run (`run --watch`)."""

import contextlib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as RichProgress
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from shortflow import _core
from shortflow.errors import ConfigError
from shortflow.front.console import without_controls
from shortflow.front.progress import Pace
from shortflow.lazy import pl
from shortflow.report.blocks import Block, terminal_width
from shortflow.report.blocks import terminal as rendered
from shortflow.runner import Progress
from shortflow.scenario import Scenario


class PlainConsole(Console):
    """A console that strips control characters from users' texts."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """The rendered segments. Rich's own control sequences, which Rich marks, are kept."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=without_controls(segment.text))


class _Results(PlainConsole):
    """A console for stdout."""

    def on_broken_pipe(self) -> None:
        """Raises `BrokenPipeError`, so that the command ends as usual instead of with Rich's exit code 1."""
        raise BrokenPipeError


def print_blocks(blocks: Iterable[Block]) -> None:
    """Prints words and tables on stdout, with limited width."""
    _Results(width=terminal_width(), highlight=False, emoji=False, markup=False).print(rendered(blocks), crop=False)


def working(label: str) -> contextlib.AbstractContextManager[object]:
    """Shows a spinner with the label on stderr. Without a terminal, shows nothing."""
    return PlainConsole(file=sys.stderr).status(label)


class _Bar(RichProgress):
    """A bar with a second line for elapsed time, remaining time and the reason of waiting, so that it fits narrow
    terminals.
    """

    def get_renderables(self) -> Iterator[RenderableType]:
        """The bars of all tasks, then the second line of each."""
        yield self.make_tasks_table(self.tasks)
        for task in self.tasks:
            spent, left = map(_clock, (task.elapsed, task.fields["left"]))
            yield Text(f"{spent} so far, about {left} left{task.fields['waiting']}")


def _clock(seconds: float | None) -> str:
    return "-:--:--" if seconds is None else str(timedelta(seconds=int(seconds)))


@contextlib.contextmanager
def live_bar(label: str) -> Iterator[Progress]:
    """A live bar on stderr, as a function that takes the progress."""
    console = PlainConsole(file=sys.stderr)
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
                rate, left = pace.update(fraction, finished)
                runs = f"{finished}/{total} runs{rate}"
                bar.update(task, completed=fraction, runs=runs, waiting=shown, left=left)

            yield update
    finally:
        console.show_cursor()  # a signal may come while the bar starts


_HEIGHT = 8
_BLOCKS = " ▁▂▃▄▅▆▇█"
_ROWS = 2_000
"""Number of events per portion."""
_FLOWS = 8
_WINDOW_WIDTH = 30


@contextlib.contextmanager
def watching(scenario: Scenario, label: str) -> "Iterator[tuple[_core.Capture, Progress]]":
    """The capture of a drawn run, and the function that takes the run's progress and draws. The last picture stays.

    Raises `ConfigError` if stderr is not a terminal.
    """
    if not sys.stderr.isatty():
        raise ConfigError("--watch: needs a terminal on stderr; without --watch the run prints lines of progress")
    console = PlainConsole(file=sys.stderr, highlight=False)
    values = {setting["key"]: setting["value"] for setting in scenario.resolved()}
    ports = re.findall('"(.*?)"', values["measure.ports"])
    picture = _Picture(label, ports[0] if ports else "", max(20, console.width - 12))
    capture = _core.Capture(
        scenario.core, classes=scenario.classes, table=picture.take, rows=_ROWS, only=["enqueued", "ack", "timeout"]
    )
    try:
        with Live(console=console, auto_refresh=False) as live:

            def update(fraction: float, finished: int, total: int, waiting: str = "") -> None:
                live.update(picture.draw(fraction, waiting), refresh=True)

            yield capture, update
            update(1.0, 1, 1)
    finally:
        console.show_cursor()  # a signal may come while the picture is drawn


@dataclass
class _Picture:
    """Data of the live drawing of a run."""

    label: str
    port: str
    """Port of the drawn queue. Empty for the longest queue of any port, if the scenario measures no port."""
    width: int
    step_s: float = 1e-5
    """Seconds per column. Doubles when the run exceeds the width."""
    queue: dict[int, int] = field(default_factory=dict)
    """Longest queue in packets, by column."""
    windows: dict[int, float] = field(default_factory=dict)
    """Last window in segments of the flows with the latest ACKs, the latest last."""
    timeouts: int = 0

    def take(self, rows: _core.Table) -> None:
        """Adds a portion of events."""
        events = pl.DataFrame(rows)
        if events.is_empty():
            return
        while events["time_s"][-1] / self.step_s >= self.width:
            self.step_s *= 2
            halves = sorted(self.queue.items())
            self.queue = {}
            for column, packets in halves:
                self.queue[column // 2] = max(packets, self.queue.get(column // 2, 0))
        here = (pl.col("port") == self.port) if self.port else True
        at_port = events.filter((pl.col("event") == "enqueued") & here)
        columns = at_port.group_by((pl.col("time_s") / self.step_s).cast(pl.Int64).alias("column"))
        for column, packets in columns.agg(pl.col("queue_pkt").max()).rows():
            self.queue[column] = max(packets, self.queue.get(column, 0))
        self.timeouts += int((events["event"] == "timeout").sum())
        heard = events.filter(pl.col("cwnd_seg").is_not_null()).group_by("flow", maintain_order=True)
        for flow, cwnd in heard.agg(pl.col("cwnd_seg").last()).rows():
            self.windows.pop(flow, None)
            self.windows[flow] = cwnd
        while len(self.windows) > _FLOWS:
            del self.windows[next(iter(self.windows))]

    def draw(self, fraction: float, waiting: str) -> Table:
        """The picture for Rich. Copies the data first, because the run continues in another thread."""
        queue, windows = dict(self.queue), dict(self.windows)
        grid = Table.grid(padding=(0, 1))
        more = f"; {waiting}" if waiting else ""
        grid.add_row("", Text(f"{self.label}: {fraction:.0%} of the time, {self.timeouts} timeouts{more}"))
        grid.add_row("", Text(f"longest queue of {self.port or 'any port'} in packets"))
        top = max(queue.values(), default=0) or 1
        for level in reversed(range(_HEIGHT)):
            cells = (queue.get(column, 0) / top * _HEIGHT - level for column in range(self.width))
            line = "".join(_BLOCKS[round(max(0.0, min(1.0, cell)) * 8)] for cell in cells)
            number = {_HEIGHT - 1: str(top), 0: "0"}.get(level, "")
            grid.add_row(Text(number, justify="right"), Text(line, style="blue"))
        time = f"0 to {self.width * self.step_s:.3g} s"
        grid.add_row("", Text(f"{time}; windows in segments, of the flows with the latest ACKs:"))
        widest = max(windows.values(), default=1.0) or 1.0
        for flow, cwnd in sorted(windows.items()):
            bar = "█" * max(1, round(cwnd / widest * _WINDOW_WIDTH))
            grid.add_row(Text(str(flow), justify="right"), Text(f"{bar} {cwnd:.1f}"))
        return grid
