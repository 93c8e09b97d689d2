"""The plots of the report. Every axis names its unit; error bars are 95 % intervals over the seeds."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from shortflow.metrics import describe
from shortflow.report.looks import look_of
from shortflow.report.study import Point, Study
from shortflow.result import RunResult
from shortflow.tables import Scale, scale_for

_CDF_POINTS = 400
_WINDOW_S = 0.2
_LOG_FROM_RATIO = 8.0
_FINE_DECADES = 6
_SIZE_GROUPS = 10


@dataclass(frozen=True)
class Plot:
    """A figure with what a reader has to know about it."""

    heading: str
    caption: str
    figure: go.Figure


def plots(study: Study) -> list[Plot]:
    """All plots of a study that its runs have data for."""
    finite = _classes(study, "afct_<class>_s")
    found = [_completion(study, flow_class) for flow_class in finite]
    found += [_distribution(study, flow_class) for flow_class in finite]
    found += [_slowdown(study, flow_class) for flow_class in finite]
    found += [_throughput(study, flow_class) for flow_class in _classes(study, "goodput_<class>_bps")]
    return [*found, *_queue(study)]


def _classes(study: Study, pattern: str) -> list[str]:
    """The classes of flows that have a metric."""
    described = [describe(name) for name in study.metric_names]
    return [metric.flow_class for metric in described if metric.flow_class and metric.kind.pattern == pattern]


def _completion(study: Study, flow_class: str) -> Plot:
    """Mean and 99th percentile of the completion time."""
    names = [f"afct_{flow_class}_s", f"p99_{flow_class}_s"]
    figure = make_subplots(1, 2, subplot_titles=["mean", "99th percentile"], horizontal_spacing=0.1)
    scale = _common_scale(study, names)
    for place, name in enumerate(names, start=1):
        _add_estimates(figure, study, name, scale, column=place, may_be_log=True)
        figure.update_yaxes(title_text=f"completion time ({scale.unit})", row=1, col=place)
    versus = f" versus {study.x_name}" if study.x_name else ""
    caption = (
        f"Completion time of {flow_class} flows{versus}: from the first byte handed to the transport until the last is "
        "acknowledged."
    )
    return Plot(f"Completion time of {flow_class} flows{versus}", f"{caption} {_bars_note(study)}", _styled(figure))


def _throughput(study: Study, flow_class: str) -> Plot:
    name = f"goodput_{flow_class}_bps"
    figure = make_subplots(1, 1)
    scale = _common_scale(study, [name])
    _add_estimates(figure, study, name, scale)
    figure.update_yaxes(title_text=f"goodput ({scale.unit})")
    versus = f" versus {study.x_name}" if study.x_name else ""
    caption = f"Payload that all {flow_class} flows together had acknowledged per second between warm-up and end."
    return Plot(f"Throughput of {flow_class} flows{versus}", f"{caption} {_bars_note(study)}", _styled(figure))


def _distribution(study: Study, flow_class: str) -> Plot:
    """The distribution of completion times at one point at a time, chosen by a menu."""
    figure = go.Figure()
    shown = _default_point(study)
    scale = _common_scale(study, [f"p50_{flow_class}_s"])
    owners, extremes = [], []
    for point in study.points:
        for scheme in point.comparison.schemes:
            flows = _finished(point, scheme, flow_class)["fct_s"].to_numpy() / scale.divisor
            if len(flows):
                x, y = _quantiles(flows)
                figure.add_scatter(x=x, y=y, name=scheme, line=look_of(scheme).line, visible=point is shown)
                owners.append(point)
                extremes += [x[0], x[-1]]
    _add_point_menu(figure, study, owners, shown)
    figure.update_xaxes(title_text=f"completion time ({scale.unit})", **_log_axis(min(extremes), max(extremes)))
    figure.update_yaxes(title_text="share of flows done by then", range=[0, 1.01], tickformat=".0%")
    caption = f"All {flow_class} flows of all seeds that started after the warm-up and finished."
    return Plot(f"Distribution of the completion time of {flow_class} flows", caption, _styled(figure))


def _slowdown(study: Study, flow_class: str) -> Plot:
    """Mean and 99th percentile of the slowdown, for ten groups of flows from the smallest to the largest."""
    figure = make_subplots(1, 2, subplot_titles=["mean", "99th percentile"], horizontal_spacing=0.1)
    shown = _default_point(study)
    owners, sizes, values = [], [], []
    for point in study.points:
        for scheme in point.comparison.schemes:
            groups = _by_size(_finished(point, scheme, flow_class))
            for place, column in enumerate(("mean", "p99"), start=1):
                figure.add_scatter(
                    x=groups["size_kb"].to_numpy(),
                    y=groups[column].to_numpy(),
                    name=scheme,
                    legendgroup=scheme,
                    showlegend=place == 1,
                    line=look_of(scheme).line,
                    visible=point is shown,
                    mode="lines+markers",
                    row=1,
                    col=place,
                )
                owners.append(point)
                sizes += groups["size_kb"].to_list()
                values += groups[column].to_list()
    _add_point_menu(figure, study, owners, shown)
    figure.update_xaxes(title_text="flow size (KB)", **_log_axis(min(sizes), max(sizes)))
    figure.update_yaxes(title_text="slowdown (times)", **_log_axis(1.0, max(values)))
    caption = (
        f"Slowdown of {flow_class} flows: the completion time over that in an empty network. Each mark is about a "
        "tenth of the flows of all seeds, all of one size together, at its median size."
    )
    return Plot(f"Slowdown of {flow_class} flows by size", caption, _styled(figure))


def _queue(study: Study) -> Iterator[Plot]:
    """The queue of the busiest measured port: over time for one seed, and its distribution over all seeds."""
    port = _busiest_port(study)
    figure = make_subplots(1, 2, column_widths=[0.62, 0.38], subplot_titles=["over time, one seed", "all seeds"])
    shown = _default_point(study)
    owners = []
    for point in study.points:
        for scheme in point.comparison.schemes:
            results = [each for each in point.results if each.provenance["scheme"] == scheme]
            series = _samples(results[0], port)
            if series.is_empty():
                continue
            common = {"name": scheme, "legendgroup": scheme, "visible": point is shown}
            time_ms = series["time_s"].to_numpy() * 1e3
            line = {**look_of(scheme).line, "width": 1.2}
            figure.add_scatter(x=time_ms, y=series["value"].to_numpy(), line=line, **common, row=1, col=1)
            x, y = _quantiles(pl.concat([_samples(each, port) for each in results])["value"].to_numpy())
            figure.add_scatter(x=x, y=y, line=look_of(scheme).line, showlegend=False, **common, row=1, col=2)
            owners += [point, point]
    if not owners:
        return
    _add_point_menu(figure, study, owners, shown)
    meta = shown.results[0].meta
    window_ms = [meta["warmup_s"] * 1e3, min(meta["warmup_s"] + _WINDOW_S, meta["duration_s"]) * 1e3]
    figure.update_xaxes(title_text="time (ms)", range=window_ms, row=1, col=1)
    figure.update_yaxes(title_text="queue (packets)", rangemode="tozero", row=1, col=1)
    figure.update_xaxes(title_text="queue (packets)", rangemode="tozero", row=1, col=2)
    figure.update_yaxes(title_text="share of samples at or below", range=[0, 1.01], tickformat=".0%", row=1, col=2)
    caption = (
        f"Instantaneous queue of port {port}, sampled at fixed times. The left plot opens on a window after "
        "the warm-up; double-click it for the whole run."
    )
    yield Plot("Queue length", caption, _styled(figure))


def _add_estimates(
    figure: go.Figure, study: Study, metric: str, scale: Scale, *, column: int = 1, may_be_log: bool = False
) -> None:
    """A metric of every scheme, with error bars: lines along the parameter, or bars when nothing varies."""
    largest, smallest = 0.0, float("inf")
    for scheme in study.schemes:
        found = [(point, point.comparison.estimate(scheme, metric)) for point in study.points]
        present = [(point, each) for point, each in found if each]
        values = [each.value / scale.divisor for _, each in present]
        spread = [(each.half_width or 0.0) / scale.divisor for _, each in present]
        where = [point.x if study.numeric else point.label or scheme for point, _ in present]
        common = {
            "x": where,
            "y": values,
            "name": scheme,
            "legendgroup": scheme,
            "showlegend": column == 1,
            "error_y": {"type": "data", "array": spread, "thickness": 1.5, "width": 5},
        }
        if study.numeric:
            look = look_of(scheme)
            trace = go.Scatter(
                **common, mode="lines+markers", line=look.line, marker={"symbol": look.symbol, "size": 8}
            )
        else:
            trace = go.Bar(**common, marker=look_of(scheme).bar)
        figure.add_trace(trace, row=1, col=column)
        largest, smallest = max([largest, *values]), min([smallest, *values])
    if may_be_log and study.numeric and smallest > 0 and largest / smallest > _LOG_FROM_RATIO:
        figure.update_yaxes(**_log_axis(smallest, largest), row=1, col=column)
    else:
        figure.update_yaxes(type="linear", rangemode="tozero", row=1, col=column)
    figure.update_xaxes(title_text=study.x_name, row=1, col=column)


def _add_point_menu(figure: go.Figure, study: Study, owners: Sequence[Point], shown: Point) -> None:
    """A menu that shows the traces of one point; `owners` names the point of each trace."""
    if len(study.points) < 2:
        return
    buttons = [
        {
            "label": f"{study.x_name} {point.label}",
            "method": "restyle",
            "args": ["visible", [each is point for each in owners]],
        }
        for point in study.points
    ]
    place = {"x": 1.0, "xanchor": "right", "y": 1.2, "yanchor": "top", "pad": {"r": 4}}
    figure.update_layout(
        updatemenus=[{"buttons": buttons, "active": study.points.index(shown), "showactive": True, **place}]
    )


def _styled(figure: go.Figure) -> go.Figure:
    axis = {"showline": True, "linecolor": "#9ca3af", "gridcolor": "#e5e7eb", "zeroline": False, "ticks": "outside"}
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    figure.update_layout(
        template="none",
        font={"family": "system-ui, sans-serif", "size": 13, "color": "#1f2937"},
        margin={"l": 70, "r": 50, "t": 70, "b": 60},
        legend={"orientation": "h", "x": 0, "y": 1.2, "yanchor": "top"},
        modebar={"orientation": "v"},
        hovermode="closest",
        height=430,
    )
    return figure


def _bars_note(study: Study) -> str:
    seeds = max(len(point.comparison.seeds) for point in study.points)
    return f"Error bars: 95 % confidence over {seeds} seeds." if seeds > 1 else "One seed, so no error bars."


def _common_scale(study: Study, names: Sequence[str]) -> Scale:
    """One unit for all schemes and points of some metrics of one kind."""
    estimates = [
        point.comparison.estimate(scheme, name)
        for point in study.points
        for scheme in point.comparison.schemes
        for name in names
    ]
    return scale_for(describe(names[0]).unit, [each.value for each in estimates if each])


def _default_point(study: Study) -> Point:
    return study.points[len(study.points) // 2]


def _finished(point: Point, scheme: str, flow_class: str) -> pl.DataFrame:
    """The flows of a class that count for completion times, of all seeds."""
    return pl.concat(
        each.flows.filter(
            pl.col("class") == flow_class, pl.col("fct_s").is_not_null(), pl.col("start_s") >= each.meta["warmup_s"]
        )
        for each in point.results
        if each.provenance["scheme"] == scheme
    )


def _by_size(flows: pl.DataFrame) -> pl.DataFrame:
    """Up to ten groups of about equally many flows by size: median size, mean and 99th percentile of the slowdown.

    Flows of one size are in one group.
    """
    tenth = (pl.col("size_bytes").rank("min") - 1) * _SIZE_GROUPS // pl.len()
    slowdown = pl.col("slowdown")
    return (
        flows.group_by(tenth.alias("group"))
        .agg(
            (pl.col("size_bytes").median() / 1e3).alias("size_kb"),
            slowdown.mean().alias("mean"),
            slowdown.quantile(0.99, "higher").alias("p99"),
        )
        .sort("group")
    )


def _log_axis(low: float, high: float) -> dict[str, object]:
    """A logarithmic axis with plain numbers at 1, 2 and 5 of every decade, or at every decade of a long range."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(decades) <= _FINE_DECADES else (1,)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,.10g}" for tick in ticks]}


def _quantiles(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An empirical distribution thinned to a few hundred points, its extremes included."""
    ordered = np.sort(values)
    ranks = np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), _CDF_POINTS)).astype(int))
    return ordered[ranks], (ranks + 1) / len(ordered)


def _busiest_port(study: Study) -> str:
    """The measured port with the longest mean queue; the same for all schemes and points."""
    ports = pl.concat(
        each.ports.filter(pl.col("port").is_in(each.meta["measured_ports"]))
        for point in study.points
        for each in point.results
    )
    means = (
        ports.group_by("port")
        .agg(pl.col("queue_mean_pkt").mean())
        .sort("queue_mean_pkt", "port", descending=[True, False])
    )
    return str(means["port"][0]) if len(means) else ""


def _samples(result: RunResult, port: str) -> pl.DataFrame:
    return result.samples.filter(pl.col("kind") == "queue_pkt", pl.col("subject") == port)
