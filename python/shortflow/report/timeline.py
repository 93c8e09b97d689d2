"""Timeline of a burst: the bottleneck's queue, and below it a line per flow."""

from collections import Counter
from collections.abc import Iterator, Sequence

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from shortflow.bursts import find_burst
from shortflow.report.drawing import Drawn
from shortflow.report.looks import look_of
from shortflow.report.plot import Plot
from shortflow.report.plotting import plain
from shortflow.result import Result
from shortflow.results import Results

_QUEUED, _WAITING, _OPEN = "#0072b2", "#d55e00", "#9ca3af"
_MARKS = {
    "sent": ("sends", {"symbol": "line-ns-open", "size": 5, "color": "#6b7280"}),
    "marked": ("is marked", {"symbol": "circle", "size": 5, "color": "#0f9d58"}),
    "dropped": ("is dropped", {"symbol": "x", "size": 8, "color": "#b91c1c"}),
    "timeout": ("times out", {"symbol": "triangle-left", "size": 9, "color": "#a21caf"}),
}

Segments = Sequence[tuple[float, float, int]]
"""Begin and end in milliseconds, and line number."""


def timeline(result: Result) -> go.Figure:
    """Packets sent, queued and marked, and waits, in the largest burst of a run.

    The result must have the table `burst`, the packet events of the burst: `shortflow.bursts.trace_burst` makes it, and
    `run --out` and `compare --out` store it. Raises `ValueError` without a burst. Times are in ms from the start of the
    burst; flows are in order of completion.
    """
    burst = find_burst(result)
    if burst is None or "burst" not in result.tables:
        raise ValueError(f"{result.provenance['scenario']}: the run has no burst whose packets were traced")
    events = pl.DataFrame(result.tables["burst"]).with_columns(ms=(pl.col("time_s") - burst.begin_s) * 1e3)
    flows = result.flows.filter(pl.col("id").is_in(burst.rows)).with_columns(
        begin=(pl.col("start_s") - burst.begin_s) * 1e3,
        end=(pl.col("finish_s").fill_null(burst.end_s) - burst.begin_s) * 1e3,
    )
    flows = flows.sort("end", "id").with_row_index("line", 1)
    events = events.join(flows.select(pl.col("id").alias("flow"), "line"), on="flow")
    port = _bottleneck(events)
    figure = make_subplots(2, 1, shared_xaxes=True, row_heights=[0.28, 0.72], vertical_spacing=0.04)
    rate_bps = result.ports.filter(pl.col("port") == port)["rate_bps"][0]
    x, y = _queue(events.filter((pl.col("port") == port) & pl.col("queue_pkt").is_not_null()), rate_bps)
    look = look_of(result.provenance["scheme"])
    figure.add_trace(
        go.Scatter(
            x=x,
            y=y,
            name=plain(f"queue of {port}"),
            mode="lines",
            line={**look.line, "width": 1.2},
            fill="tozeroy",
            fillcolor=look.pale,
        ),
        row=1,
        col=1,
    )
    for trace in _flow_traces(flows, events, port):
        figure.add_trace(trace, row=2, col=1)
    lines = dict(flows.select("line", "source").rows())
    every = max(1, len(lines) // 20)
    figure.update_yaxes(title_text="queue (packets)", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(
        tickvals=list(lines)[::every],
        ticktext=[plain(name) for name in lines.values()][::every],
        range=[0, len(lines) + 1],
        row=2,
        col=1,
    )
    figure.update_xaxes(title_text="time since the burst began (ms)", row=2, col=1)
    figure.update_layout(
        template="none",
        font={"family": "system-ui, sans-serif", "size": 13, "color": "#1f2937"},
        margin={"l": 70, "r": 30, "t": 60, "b": 50},
        legend={"orientation": "h", "x": 0, "y": 1.12},
        hovermode="closest",
        height=300 + 10 * len(lines),
    )
    return figure


def time_lines(study: Results) -> list[Drawn]:
    """Figures of runs with a traced burst, at the point that plots show first."""
    point = study.shown_first
    at = f", {study.x_name} {point.label}" if study.x_name else ""
    return [
        Drawn(
            Plot(f"Time-line of one burst: {_of(result)}{at}", _caption(result), [], {}), [("", timeline(result))], []
        )
        for result in point.results
        if "burst" in result.tables
    ]


def _of(result: Result) -> str:
    return f"{result.provenance['scheme']}, seed {result.provenance['seed']}"


def _caption(result: Result) -> str:
    burst = find_burst(result)
    assert burst  # it was traced
    few = len(burst.rows) < burst.flows
    shown = f"the slowest {len(burst.rows)} of its {burst.flows} flows" if few else f"its {burst.flows} flows"
    origin = f"The largest burst of this run, which begins at {burst.begin_s * 1e3:,.3f} ms"
    return (
        f"{origin}: {shown}, all to {burst.host}, each a line from its start to its last acknowledgement, in order of "
        "completion. Blue: it has packets in the queue above, that of the bottleneck. Orange: nothing moves until "
        "its timer expires."
    )


def _bottleneck(events: pl.DataFrame) -> str:
    """Switch port with the longest queue of data."""
    queues = events.filter((pl.col("event") == "enqueued") & (pl.col("kind") == "data"))
    longest = queues.group_by("port").agg(pl.col("queue_pkt").max()).sort("queue_pkt", "port", descending=[True, False])
    return str(longest["port"][0]) if len(longest) else ""


def _queue(noted: pl.DataFrame, rate_bps: float) -> tuple[list[float], list[float]]:
    """Queue of a port in packets over time, as found by the burst's packets, and 0 after it drains."""
    x: list[float] = []
    y: list[float] = []
    empty_at = None
    for ms, packets, size in noted.select("ms", "queue_pkt", "queue_bytes").iter_rows():
        if empty_at is not None and empty_at < ms:
            x += [empty_at, ms]
            y += [0, 0]
        x.append(ms)
        y.append(packets)
        empty_at = ms + size * 8e3 / rate_bps
    return ([*x, empty_at], [*y, 0]) if empty_at is not None else (x, y)


def _flow_traces(flows: pl.DataFrame, events: pl.DataFrame, port: str) -> Iterator[go.Scatter]:
    yield _segments("on its way", flows.select("begin", "end", "line").rows(), {"color": _OPEN, "width": 1.5})
    yield _segments("in the queue", list(_in_queue(events, port)), {"color": _QUEUED, "width": 4})
    yield _segments("waits for its timer", list(_waits(events)), {"color": _WAITING, "width": 2, "dash": "dot"})
    for event, (name, marker) in _MARKS.items():
        of = events.filter((pl.col("event") == event) & (pl.col("kind").is_in(["data", ""])))
        if not of.is_empty():
            x, y = of["ms"].to_list(), of["line"].to_list()
            yield go.Scatter(x=x, y=y, name=name, mode="markers", marker=marker)


def _segments(name: str, segments: Segments, line: dict[str, object]) -> go.Scatter:
    x: list[float | None] = []
    y: list[int | None] = []
    for begin, end, place in segments:
        x += [begin, end, None]
        y += [place, place, None]
    return go.Scatter(x=x, y=y, name=name, mode="lines", line=line, hoverinfo="skip")


def _in_queue(events: pl.DataFrame, port: str) -> Iterator[tuple[float, float, int]]:
    """Intervals in which each flow has a data packet at the port."""
    held: dict[int, int] = {}
    since: dict[int, float] = {}
    at = events.filter((pl.col("port") == port) & (pl.col("kind") == "data"))
    admitted: Counter[tuple[int, int]] = Counter()  # a segment may be queued twice
    for event, line, seq, ms in at.select("event", "line", "seq", "ms").iter_rows():
        if event == "enqueued":
            admitted[line, seq] += 1
            if held.get(line, 0) == 0:
                since[line] = ms
            held[line] = held.get(line, 0) + 1
        elif event in ("departed", "dropped") and admitted[line, seq]:
            admitted[line, seq] -= 1
            held[line] -= 1
            if held[line] == 0:
                yield since[line], ms, line


def _waits(events: pl.DataFrame) -> Iterator[tuple[float, float, int]]:
    """Intervals from the last event of a flow before a timeout to the timeout."""
    last: dict[int, float] = {}
    for event, line, ms in events.select("event", "line", "ms").iter_rows():
        if event == "timeout" and line in last:
            yield last[line], ms, line
        last[line] = ms
