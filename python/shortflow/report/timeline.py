"""Time-line of a burst: the queue at its bottleneck, and below it a line for each flow."""

from collections import Counter
from collections.abc import Iterator

import polars as pl

from shortflow.bursts import LargestBurst, find_burst
from shortflow.report.chart import Chart, Row, Spec, mark, numeric, tips
from shortflow.report.study import point_shown_first
from shortflow.result import Result
from shortflow.results import Results

_STATES = {
    "on its way": ("var(--c5)", 1.5, [1, 0]),
    "in the queue": ("var(--c0)", 4, [1, 0]),
    "waits for its timer": ("var(--c1)", 2, [2, 2]),
}
_EVENTS = {
    "sends": ("sent", "var(--soft)", "M0,-1V1"),
    "is marked": ("marked", "var(--c3)", "circle"),
    "is dropped": ("dropped", "var(--c6)", "M-1,-1L1,1M1,-1L-1,1"),
    "times out": ("timeout", "var(--c7)", "triangle-left"),
}


def timeline(result: Result, at: str = "") -> Chart:
    """Chart of the largest burst of a run over time: which flows sent, queued, were marked, and waited for a timer.

    The result must have the table `burst` with the packet events of the burst. `shortflow.bursts.with_burst` makes the
    table, and `run --out` and `compare --out` store it. Raises `ValueError` without a burst or its table. Times are in
    milliseconds from the beginning of the burst. Flows are in order of completion. `at` is appended to the heading.
    """
    burst = find_burst(result)
    if burst is None or "burst" not in result.tables:
        raise ValueError(f"{result.provenance['scenario']}: the run has no burst with traced packets")
    events = pl.DataFrame(result.tables["burst"]).with_columns(ms=(pl.col("time_s") - burst.begin_s) * 1e3)
    flows = result.flows.filter(pl.col("id").is_in(burst.rows)).with_columns(
        begin=(pl.col("start_s") - burst.begin_s) * 1e3,
        end=(pl.col("finish_s").fill_null(burst.end_s) - burst.begin_s) * 1e3,
    )
    flows = flows.sort("end", "id").with_row_index("line", 1)
    events = events.join(flows.select(pl.col("id").alias("flow"), "line"), on="flow")
    # A burst crosses several queues. The chart has room for one, so it takes the longest that data packets met.
    queued = events.filter((pl.col("event") == "enqueued") & (pl.col("kind") == "data"))
    port = str(queued.sort("queue_pkt", "port", descending=[True, False], nulls_last=True)["port"][0])
    rate_bps = result.ports.filter(pl.col("port") == port)["rate_bps"][0]
    length = _queue(events.filter((pl.col("port") == port) & pl.col("queue_pkt").is_not_null()), rate_bps)
    rows: list[Row] = [{"ms": ms, "length": packets} for ms, packets in length]
    sources = dict(flows.select("line", "source").rows())
    for state, found in (
        ("on its way", flows.select("begin", "end", "line").iter_rows()),
        ("in the queue", _in_queue(events, port)),
        ("waits for its timer", _waits(events)),
    ):
        rows += [
            {"ms": begin, "end": end, "line": line, "sender": sources[line], "state": state}
            for begin, end, line in found
        ]
    for name, (event, *_) in _EVENTS.items():
        of = events.filter((pl.col("event") == event) & (pl.col("kind").is_in(["data", ""])))
        rows += [
            {"ms": ms, "line": line, "sender": sources[line], "event": name}
            for ms, line in of.select("ms", "line").iter_rows()
        ]
    rows = [
        {name: round(value, 5) if isinstance(value, float) else value for name, value in row.items()} for row in rows
    ]
    scheme, seed = result.provenance["scheme"], result.seed
    heading = f"Time-line of one burst: {scheme}, seed {seed}{at}"
    return Chart(
        f"burst-{scheme}-{seed}", heading, _caption(burst), rows, list(_panels(rows, port, len(sources))), wide=True
    )


def _panels(rows: list[Row], port: str, flows: int) -> Iterator[Spec]:
    ends = [time for row in rows for time in (row["ms"], row.get("end", row["ms"]))]
    x = numeric("ms", "time since the burst began (ms)", ends, log=False)
    y = numeric("length", f"queue of {port} (packets)", [0, *(row.get("length") for row in rows)], log=False, zero=True)
    queue = mark("area", {"x": x, "y": y}, color="var(--c0)", fillOpacity=0.18, line={"color": "var(--c0)"})
    yield {
        "description": f"Queue of {port} in packets over time",
        "height": 160,
        "transform": [{"filter": "isValid(datum.length)"}],
        "layer": [queue],
    }
    place = numeric("line", "flow", domain=(flows + 1, 0), log=False, tickMinStep=1, grid=False)

    def scale(field: str, values: list[object], known: list[str]) -> Spec:
        return {"field": field, "type": "nominal", "scale": {"domain": known, "range": values}, "title": None}

    states, names = list(_STATES), list(_EVENTS)
    legend = {"legend": {"orient": "top"}}
    segments = {
        "x": x,
        "x2": {"field": "end"},
        "y": place,
        "color": {**scale("state", [colour for colour, *_ in _STATES.values()], states), **legend},
        "size": {**scale("state", [width for _, width, _ in _STATES.values()], states), "legend": None},
        "strokeDash": {**scale("state", [dash for *_, dash in _STATES.values()], states), "legend": None},
        "tooltip": tips(sender="sender", state="", ms="from (ms)", end="to (ms)"),
    }
    points = {
        "x": x,
        "y": place,
        "stroke": {**scale("event", [colour for _, colour, _ in _EVENTS.values()], names), **legend},
        "shape": {**scale("event", [shape for *_, shape in _EVENTS.values()], names), **legend},
        "tooltip": tips(sender="sender", event="", ms="at (ms)"),
    }
    yield {
        "description": "A line for each flow from its start to its last acknowledgement, with its packets",
        "height": 80 + 9 * flows,
        "layer": [
            mark("rule", segments, where=["isValid(datum.state)"]),
            mark("point", points, where=["isValid(datum.event)"], size=28, filled=False),
        ],
    }


def time_lines(study: Results) -> list[Chart]:
    """Charts of the runs whose largest burst was traced, at the point that charts show first."""
    point = point_shown_first(study)
    at = f", {study.x_name} {point.label}" if study.x_name else ""
    return [timeline(result, at) for result in point.results if "burst" in result.tables]


def _caption(burst: LargestBurst) -> str:
    few = len(burst.rows) < burst.flows
    shown = f"the slowest {len(burst.rows)} of its {burst.flows} flows" if few else f"its {burst.flows} flows"
    return (
        f"The largest burst of this run begins at {burst.begin_s * 1e3:,.3f} ms. The chart shows {shown}, all to "
        f"{burst.host}, in order of completion. Each line is a flow, from its start to its last acknowledgement. The "
        "panel above shows the queue of the bottleneck."
    )


def _queue(noted: pl.DataFrame, rate_bps: float) -> Iterator[tuple[float, int]]:
    """Queue of a port over time, as pairs of ms and packets.

    Packets of the burst note the queue that they meet. The queue is taken as empty from the time at which it would
    drain, at the port's rate, until the next packet.
    """
    empty_at = None
    for ms, packets, size in noted.select("ms", "queue_pkt", "queue_bytes").iter_rows():
        if empty_at is not None and empty_at < ms:
            yield empty_at, 0
            yield ms, 0
        yield ms, packets
        empty_at = ms + size * 8e3 / rate_bps
    if empty_at is not None:
        yield empty_at, 0


def _in_queue(events: pl.DataFrame, port: str) -> Iterator[tuple[float, float, int]]:
    """Begin and end, in ms, of each time in which a flow has a data packet at the port, with the flow's line."""
    held: dict[int, int] = {}
    since: dict[int, float] = {}
    at = events.filter((pl.col("port") == port) & (pl.col("kind") == "data"))
    admitted: Counter[tuple[int, int]] = Counter()  # a retransmitted segment may be in the queue twice
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
    """Begin and end, in ms, of each wait from a flow's last event before a timeout to the timeout, with its line."""
    since = events.with_columns(since=pl.col("ms").shift().over("line"))
    waits = since.filter(pl.col("event") == "timeout").drop_nulls("since")
    yield from waits.select("since", "ms", "line").iter_rows()
