"""`shortflow run --watch`: the bottleneck's queue and the windows, drawn in the terminal while a run goes on."""

import contextlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl
from rich.live import Live
from rich.table import Table
from rich.text import Text

from shortflow import _core
from shortflow.errors import ConfigError
from shortflow.front.terminal import Plain
from shortflow.runner import Progress
from shortflow.scenario import Scenario

_HEIGHT = 8
_BLOCKS = " ▁▂▃▄▅▆▇█"
_ROWS = 2_000
"""So many events are taken up at a time."""
_FLOWS = 8
_WINDOW_WIDTH = 30


@contextlib.contextmanager
def watching(scenario: Scenario, label: str) -> "Iterator[tuple[_core.Capture, Progress]]":
    """What a run takes to be drawn, and what hears of its progress and draws; the last picture stays."""
    if not sys.stderr.isatty():
        raise ConfigError("--watch: draws in a terminal, and stderr is none; without it there are lines of progress")
    console = Plain(file=sys.stderr, highlight=False)
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
    """What has been seen so far."""

    label: str
    port: str
    """Whose queue is drawn; empty for the longest of all, where the scenario measures none."""
    width: int
    step_s: float = 1e-5
    """The time that a column stands for; it doubles when there is no room left."""
    queue: dict[int, int] = field(default_factory=dict)
    """The longest that packets found, by column."""
    windows: dict[int, float] = field(default_factory=dict)
    """The last of each flow, in the order in which they were heard of."""
    timeouts: int = 0

    def take(self, rows: _core.Table) -> None:
        """Take up what has happened."""
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
        """The picture as Rich draws it. The run goes on meanwhile, so all is looked at once."""
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
        grid.add_row("", Text(f"{time}; windows in segments, of the flows heard of last:"))
        widest = max(windows.values(), default=1.0) or 1.0
        for flow, cwnd in sorted(windows.items()):
            bar = "█" * max(1, round(cwnd / widest * _WINDOW_WIDTH))
            grid.add_row(Text(str(flow), justify="right"), Text(f"{bar} {cwnd:.1f}"))
        return grid
