"""Plots of a study as numbers. All axes name their unit; intervals are 95 % intervals over the seeds."""

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from shortflow.errors import ConfigError, unknown_name
from shortflow.measured import MEASURED
from shortflow.metrics.catalogue import (
    FCT,
    GOODPUT,
    MEAN_FCT,
    PERCENTILES,
    UNFINISHED_OF_ALL,
    UNFINISHED_SHARE,
    Metric,
    Statistic,
)
from shortflow.metrics.data import LowerBound, Times
from shortflow.metrics.stats import Interval
from shortflow.quantities import Scale, scale_for
from shortflow.report.plot import Axis, Panel, Plot, Series
from shortflow.report.plotting import percentage
from shortflow.result import Result
from shortflow.results import Results
from shortflow.store.frames import completion

_CDF_POINTS = 400
_WINDOW_S = 0.2
_LOG_FROM_RATIO = 8.0
_LOG_SWEEP_FROM_RATIO = 50.0
_ROOM, _LOG_ROOM = 3.0, 10.0
"""Largest extension of an axis for intervals, relative to its values."""
_SIZE_GROUPS = 10
_NAMED = 6
"""Most exceptions named in a caption."""

Kind = Literal["fct", "fct_cdf", "by_size", "goodput", "queue"]
Pools = Sequence[tuple[Results, str, pl.DataFrame]]
"""Counted flows of one class by scheme and point, with seeds pooled."""


def plots(study: Results) -> list[Plot]:
    """Plots of a study that its runs have data for."""
    finite = {flow_class: _pools(study, flow_class) for flow_class in _classes(study, MEAN_FCT)}
    found = [_completion(study, flow_class) for flow_class in finite]
    found += _unfinished(study)
    found += [_distribution(study, flow_class, pools) for flow_class, pools in finite.items()]
    found += [_slowdown(study, flow_class, pools) for flow_class, pools in finite.items() if _sizes_differ(pools)]
    found += [_throughput(study, flow_class) for flow_class in _classes(study, GOODPUT)]
    return [*found, *_queue(study)]


def plot_of(study: Results, kind: Kind, flow_class: str | None = None) -> Plot:
    """One plot of a study, for a class of flows (default: the first with data). Raises `ConfigError` without data."""
    if kind == "queue":
        for plot in _queue(study):
            return plot
        raise ConfigError(
            f"{study.scenario}: these runs took no samples of queues; measure.sample_every=1ms turns them on"
        )
    classes = _classes(study, GOODPUT if kind == "goodput" else MEAN_FCT)
    if not classes:
        raise ConfigError(f"{study.scenario}: has no {'backlogged' if kind == 'goodput' else 'finite'} flows")
    if flow_class is None:
        flow_class = classes[0]
    elif flow_class not in classes:
        raise unknown_name("class of such flows", flow_class, classes)
    if kind == "goodput":
        return _throughput(study, flow_class)
    if kind == "fct":
        return _completion(study, flow_class)
    pools = _pools(study, flow_class)
    return (_distribution if kind == "fct_cdf" else _slowdown)(study, flow_class, pools)


def _classes(study: Results, statistic: Statistic) -> list[str]:
    """Classes of flows that have a statistic."""
    return [
        metric.flow_class for metric in study.metrics.values() if metric.flow_class and metric.statistic is statistic
    ]


def _pools(study: Results, flow_class: str) -> Pools:
    pools = []
    for point in study.points:
        for scheme in [*point.schemes, *point.ideal_names]:
            flows = pl.concat(completion(each.flows, each.meta) for each in _results(point, scheme))
            if not (of_class := flows.filter(pl.col("class") == flow_class)).is_empty():
                pools.append((point, scheme, of_class))
    return pools


def _results(point: Results, scheme: str) -> list[Result]:
    return [each for each in point.results if each.scheme == scheme]


def _sizes_differ(pools: Pools) -> bool:
    return any(flows["size_bytes"].n_unique() > 1 for _, _, flows in pools)


def _completion(study: Results, flow_class: str) -> Plot:
    """Mean and 99th percentile of FCT."""
    metrics = {"mean": Metric(MEAN_FCT, flow_class), "99th percentile": Metric(FCT[99], flow_class)}
    scale = _common_scale(study, *metrics.values())
    share, axis = Metric(UNFINISHED_SHARE, flow_class), Axis("completion time", scale.unit)
    panels = [
        _estimates(study, metric, axis, scale, title=title, unfinished=share, may_be_log=True)
        for title, metric in metrics.items()
    ]
    heading = f"Completion time of {flow_class} flows{_versus(study)}"
    return _plot(
        study,
        heading,
        f"{heading}: from the first byte handed to the transport until the last is acknowledged. Each mark is the mean "
        "over the seeds of what each seed's flows have.",
        panels,
    )


def _unfinished(study: Results) -> Iterator[Plot]:
    """Share of unfinished flows, if there are any."""
    axis, scale = Axis("flows that did not finish", "%"), Scale(0.01, "%")
    panel = _estimates(study, Metric(UNFINISHED_OF_ALL), axis, scale, schemes=study.schemes)
    if any(any(series.y) for series in panel.series):
        caption = "The share of all counted flows that were not done at the end of the drain. Mean over the seeds."
        yield _plot(study, f"Unfinished flows{_versus(study)}", caption, [panel])


def _throughput(study: Results, flow_class: str) -> Plot:
    metric = Metric(GOODPUT, flow_class)
    scale = _common_scale(study, metric)
    return _plot(
        study,
        f"Throughput of {flow_class} flows{_versus(study)}",
        f"Payload that all {flow_class} flows together had acknowledged per second between warm-up and end. Each mark "
        "is the mean over the seeds.",
        [_estimates(study, metric, Axis("goodput", scale.unit), scale)],
    )


def _plot(study: Results, heading: str, caption: str, panels: Sequence[Panel]) -> Plot:
    """A plot of estimates."""
    series = panels[0].series
    shares = (
        (each.scheme, x, share)
        for each in series
        if isinstance(each.unfinished_share, Sequence)
        for x, share in zip(each.x, each.unfinished_share, strict=True)
    )
    cut = any(panel.y.window for panel in panels)
    notes = (
        caption,
        _bars_note(study, series),
        "Those that leave the plot go on: few seeds tell little." if cut else "",
        _bounds_note(series),
        _unfinished_note(study, shares),
        _ideal_note(study, series),
    )
    return Plot(heading, " ".join(note for note in notes if note), panels, {})


def _estimates(
    study: Results,
    metric: Metric,
    axis: Axis,
    scale: Scale,
    *,
    title: str = "",
    unfinished: Metric | None = None,
    may_be_log: bool = False,
    schemes: Sequence[str] = (),
) -> Panel:
    """Panel of a metric by scheme, with intervals: marks along the parameter, or bars if nothing varies.

    Without `schemes`, ideal schedulers are shown beside the schemes, without intervals.

    `unfinished` is the metric for the share of unfinished flows.
    """
    series = []
    for scheme in schemes or [*study.schemes, *study.ideal_names]:
        found = [(point, point.mean(scheme, metric.name)) for point in study.points]
        present = [(point, each) for point, each in found if each]
        points = [point for point, _ in present]
        shares = [point.mean(scheme, unfinished.name) for point in points] if unfinished else []
        if present:
            series.append(
                Series(
                    scheme,
                    at=None,
                    x=_places(study, points, scheme),
                    y=[each.value / scale.divisor for _, each in present],
                    ci95=None if scheme in study.ideal_names else [_scaled(each.ci95, scale) for _, each in present],
                    seeds=None if scheme in study.ideal_names else [each.n for _, each in present],
                    lower_bound=[each.lower_bound for _, each in present],
                    unfinished_share=[each.value if each else 0.0 for each in shares] or None,
                )
            )
    values = [value for each in series for value in each.y]
    logarithmic = may_be_log and study.axis is not None and _spans(values, _LOG_FROM_RATIO)
    y = Axis(axis.label, axis.unit, "log" if logarithmic else "linear", _window(series, logarithmic=logarithmic))
    return Panel(title, _parameter_axis(study), y, "points" if study.axis else "bars", series)


def _window(series: Sequence[Series], *, logarithmic: bool) -> Interval | None:
    """Axis range of the values, if far wider intervals would hide them; else None."""
    values = [value for each in series for value in each.y]
    ends = [end for each in series for pair in each.ci95 or () if pair for end in pair]
    if not ends:
        return None
    room = _LOG_ROOM if logarithmic else _ROOM
    low, high = min(values) / room if logarithmic else 0.0, max(values) * room
    if min(ends) >= low and max(ends) <= high:
        return None
    return (max(low, min(ends)) if logarithmic else 0.0, min(high, max(ends)))


def _scaled(ends: Interval | None, scale: Scale) -> Interval | None:
    return ends and (ends[0] / scale.divisor, ends[1] / scale.divisor)


def _places(study: Results, points: Sequence[Results], scheme: str) -> list[float] | list[str]:
    """Positions of a scheme's marks: numbers or names of the points, or its own name at a single point."""
    if study.axis:
        return [study.axis[0][point.label] for point in points]
    return [point.label if study.x_name else scheme for point in points]


def _parameter_axis(study: Results) -> Axis:
    """Axis of the varying settings."""
    if not study.axis:
        labels = [point.label for point in study.points] if study.x_name else study.schemes
        return Axis(study.x_name or "", scale="category", categories=labels)
    places, unit = study.axis
    return Axis(study.x_name or "", unit, "log" if _spans([*places.values()], _LOG_SWEEP_FROM_RATIO) else "linear")


def _distribution(study: Results, flow_class: str, pools: Pools) -> Plot:
    """Distribution of FCTs, one point at a time; it ends at the share of finished flows."""
    scale = _common_scale(study, Metric(FCT[50], flow_class))
    series = []
    for point, scheme, flows in pools:
        finished = flows.filter(~pl.col("censored"))["elapsed_s"].to_numpy()
        x, y = _quantiles(finished / scale.divisor, flows.height)
        ages = flows.filter("censored")["elapsed_s"].to_list()
        youngest = min(ages, default=float("inf")) / scale.divisor
        share = _share(flows)
        series.append(
            Series(scheme, point.label, x, y, lower_bound=[each >= youngest for each in x], unfinished_share=share)
        )
    series += _measured_distribution(study, flow_class, scale)
    caption = (
        f"All {flow_class} flows of all seeds that started between warm-up and end, in one distribution per scheme "
        f"({_pooled(study)}): a percentile read here is one of all flows, not the mean of the seeds' percentiles. A "
        "curve ends at the share of flows that finished."
    )
    if any(any(each.lower_bound) for each in series):
        caption += (
            " In its pale part the true share may be higher: some flows that did not finish were younger when the run "
            "ended."
        )
    panel = Panel(
        "",
        Axis("completion time", scale.unit, "log"),
        Axis("share of flows done by then", "share", window=(0.0, 1.01)),
        "steps",
        series,
    )
    heading = f"Distribution of the completion time of {flow_class} flows"
    notes = (caption, _left_open(study, pools), _ideal_note(study, series))
    return _with_menu(study, heading, " ".join(note for note in notes if note), [panel])


def _slowdown(study: Results, flow_class: str, pools: Pools) -> Plot:
    """Mean and 99th percentile of slowdown, for ten groups of flows by size."""
    series: dict[str, list[Series]] = {"mean": [], "p99": []}
    for point, scheme, flows in pools:
        groups = _by_size(flows)
        for name, found in series.items():
            found.append(
                Series(
                    scheme,
                    point.label,
                    x=groups["size_kb"].to_list(),
                    y=groups[name].to_list(),
                    lower_bound=groups[f"{name}_bound"].to_list(),
                    unfinished_share=groups["unfinished_share"].to_list(),
                )
            )
    for name, of_runs in series.items():
        of_runs.extend(_measured_slowdown(study, flow_class, name))
    sizes, slowdown = Axis("flow size", "KB", "log"), Axis("slowdown", "times", "log")
    panels = [
        Panel(title, sizes, slowdown, "points", series[name])
        for title, name in (("mean", "mean"), ("99th percentile", "p99"))
    ]
    caption = (
        f"Slowdown of {flow_class} flows: the completion time relative to an empty network. Each mark is about a "
        f"tenth of the flows of all seeds ({_pooled(study)}), all of one size together, at its median size."
    )
    heading = f"Slowdown of {flow_class} flows by size"
    notes = (caption, _bounds_note(series["mean"]), _left_open(study, pools), _ideal_note(study, series["mean"]))
    return _with_menu(study, heading, " ".join(note for note in notes if note), panels)


def _measured_distribution(study: Results, flow_class: str, scale: Scale) -> list[Series]:
    """Curve of measured flows, if the class has any."""
    flows = study.measured.of_class(flow_class) if study.measured else None
    if flows is None or flows.is_empty():
        return []
    return [Series(MEASURED, None, *_quantiles(flows["elapsed_s"].to_numpy() / scale.divisor, flows.height))]


def _measured_slowdown(study: Results, flow_class: str, name: str) -> list[Series]:
    """Curve of measured flows with a known ideal FCT."""
    flows = study.measured.of_class(flow_class).drop_nulls("elapsed_slowdown") if study.measured else None
    if flows is None or flows.is_empty():
        return []
    groups = _by_size(flows)
    return [Series(MEASURED, None, groups["size_kb"].to_list(), groups[name].to_list())]


def _queue(study: Results) -> Iterator[Plot]:
    """Queue of the busiest measured port: over time for one seed, and its distribution over all seeds."""
    port, among = _busiest_port(study)
    over_time, shares, seeds = [], [], set()
    for point in study.points:
        for scheme in point.schemes:
            results = _results(point, scheme)
            first = _samples(results[0], port)
            if first.is_empty():
                continue
            seeds.add(results[0].provenance["seed"])
            time_ms = (first["time_s"] * 1e3).to_list()
            over_time.append(Series(scheme, point.label, time_ms, first["value"].to_list()))
            queue = pl.concat([_samples(each, port) for each in results])["value"].to_numpy()
            shares.append(Series(scheme, point.label, *_quantiles(queue, len(queue))))
    if not over_time:
        return
    meta = study.shown_first.results[0].meta
    window = (meta["warmup_s"] * 1e3, min(meta["warmup_s"] + _WINDOW_S, meta["duration_s"]) * 1e3)
    which = f"seed {seeds.pop()}" if len(seeds) == 1 else "each scheme's first seed"
    length = Axis(f"queue of {port}", "packets")
    panels = [
        Panel(f"over time, {which}", Axis("time", "ms", window=window), length, "line", over_time),
        Panel(
            "all seeds",
            length,
            Axis("share of samples at or below", "share", window=(0.0, 1.01)),
            "steps",
            shares,
        ),
    ]
    caption = (
        f"Instantaneous queue of port {port}, {among}, sampled at fixed times. The first plot opens on a window after "
        f"the warm-up; double-click it for the whole run. The second has all samples of all seeds ({_pooled(study)})."
    )
    yield _with_menu(study, f"Queue of port {port}", caption, panels)


def _with_menu(study: Results, heading: str, caption: str, panels: Sequence[Panel]) -> Plot:
    """A plot that shows one point of the study at a time."""
    labels = [point.label for point in study.points]
    menu = {label: f"{study.x_name} {label}" for label in labels} if len(labels) > 1 else {}
    return Plot(heading, caption, panels, menu, study.shown_first.label)


def _versus(study: Results) -> str:
    return f" versus {study.x_name}" if study.x_name else ""


def _bars_note(study: Results, series: Sequence[Series]) -> str:
    """Number of seeds of the error bars, and marks with fewer."""
    counted = [each for each in series if each.seeds]
    marks = [(each.scheme, x, seeds) for each in counted for x, seeds in zip(each.x, each.seeds or (), strict=True)]
    most = max((seeds for *_, seeds in marks), default=1)
    if most == 1:
        return "One seed, so no error bars."
    fewer = [
        f"{_mark_name(study, scheme, x)} ({seeds} {'seeds' if seeds > 1 else 'seed, so no error bar'})"
        for scheme, x, seeds in marks
        if seeds < most
    ]
    note = f"Error bars: 95 % confidence over {most} seeds"
    return f"{note}, but for {_listed(fewer)}." if fewer else f"{note}."


def _bounds_note(series: Sequence[Series]) -> str:
    """Meaning of hollow marks, if there are any."""
    if not any(any(each.lower_bound) for each in series):
        return ""
    return (
        "Hollow marks with ≥ are lower bounds: a flow that did not finish counts with its age at the end of the run. "
        "An interval around one is that of the bound."
    )


def _ideal_note(study: Results, series: Sequence[Series]) -> str:
    """Meaning of thin grey lines, if there are any."""
    ideal = any(each.scheme in study.ideal_names for each in series)
    return "Thin grey lines: ideal schedulers of a link that loses nothing, on the same flows." if ideal else ""


def _unfinished_note(study: Results, shares: Iterable[tuple[str, float | str, float]]) -> str:
    """Schemes and points with unfinished flows, and their shares."""
    found = [f"{_mark_name(study, scheme, at)}: {percentage(share)}" for scheme, at, share in shares if share > 0]
    return f"Not finished: {_listed(found)}." if found else ""


def _mark_name(study: Results, scheme: str, x: float | str) -> str:
    at = f"{x:.6g}{study.axis[1]}" if study.axis and isinstance(x, float) else x
    return f"{scheme} at {study.x_name} {at}" if study.x_name else scheme


def _listed(parts: Sequence[str]) -> str:
    more = f" and {len(parts) - _NAMED} more" if len(parts) > _NAMED else ""
    return ", ".join(parts[:_NAMED]) + more


def _pooled(study: Results) -> str:
    """Pooled seeds, and schemes with fewer."""
    by_scheme: dict[str, set[int]] = {}
    for point in study.points:
        for run in point.runs:
            by_scheme.setdefault(run.scheme, set()).add(run.seed)
    everywhere = set().union(*by_scheme.values())
    fewer = {scheme: seeds for scheme, seeds in by_scheme.items() if seeds != everywhere}
    but = "".join(f", but for {scheme} {_seeds(seeds)} alone" for scheme, seeds in fewer.items())
    return f"{_seeds(everywhere)}{but}"


def _seeds(some: Set[int]) -> str:
    seeds = sorted(some)
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if len(seeds) == 2:
        return f"seeds {seeds[0]} and {seeds[1]}"
    contiguous = seeds == list(range(seeds[0], seeds[-1] + 1))
    return f"seeds {seeds[0]} to {seeds[-1]}" if contiguous else f"{len(seeds)} seeds"


def _spans(values: Sequence[float], ratio: float) -> bool:
    """True if positive values differ by more than a ratio."""
    return bool(values) and min(values) > 0 and max(values) / min(values) > ratio


def _common_scale(study: Results, *metrics: Metric) -> Scale:
    """Common unit for all schemes and points of metrics of one kind."""
    estimates = [
        point.mean(scheme, metric.name) for point in study.points for scheme in point.schemes for metric in metrics
    ]
    return scale_for(metrics[0].unit, [each.value for each in estimates if each])


def _share(flows: pl.DataFrame) -> float:
    """Share of unfinished flows."""
    return float(flows["censored"].sum()) / flows.height


def _left_open(study: Results, pools: Pools) -> str:
    """Pools with unfinished flows."""
    return _unfinished_note(study, ((scheme, point.label, _share(flows)) for point, scheme, flows in pools))


def _by_size(flows: pl.DataFrame) -> pl.DataFrame:
    """Up to ten groups of about equal numbers of flows by size; equal sizes stay together.

    Columns: `size_kb` (median), `mean` and `p99` of the slowdown, `mean_bound` and `p99_bound` (true for lower bounds),
    `unfinished_share`.
    """
    tenth = (pl.col("size_bytes").rank("min") - 1) * _SIZE_GROUPS // pl.len()
    rows = []
    for _, group in sorted(flows.group_by(tenth.alias("group")), key=lambda each: each[0]):
        slowdowns = Times(group["elapsed_slowdown"].to_list(), group["censored"].to_list())
        mean, p99 = slowdowns.mean, slowdowns.percentile(99)
        rows.append(
            {
                "size_kb": float(np.median(group["size_bytes"].to_numpy())) / 1e3,
                "mean": mean,
                "p99": p99,
                "mean_bound": isinstance(mean, LowerBound),
                "p99_bound": isinstance(p99, LowerBound),
                "unfinished_share": slowdowns.open_share,
            }
        )
    return pl.DataFrame(rows)


def _quantiles(values: npt.NDArray[np.float64], counted: int) -> tuple[list[float], list[float]]:
    """Empirical distribution of values among `counted`, thinned to a few hundred points.

    Includes the extremes and the nearest ranks of the tables' percentiles.
    """
    ordered = np.sort(values)
    if not len(ordered):
        return [], []
    even = np.linspace(0, len(ordered) - 1, min(len(ordered), _CDF_POINTS)).astype(int)
    ranks = np.array([-(-percent * counted // 100) - 1 for percent in PERCENTILES])
    kept = np.unique(np.concatenate([even, ranks[ranks < len(ordered)]]))
    return ordered[kept].tolist(), ((kept + 1) / counted).tolist()


def _busiest_port(study: Results) -> tuple[str, str]:
    """Measured port with the longest mean queue over all schemes and points, and the candidates.

    The port is empty if none was measured.
    """
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
    if not len(means):
        return "", ""
    among = (
        f"the one of {len(means)} measured ports with the longest mean queue" if len(means) > 1 else "the measured one"
    )
    return str(means["port"][0]), among


def _samples(result: Result, port: str) -> pl.DataFrame:
    return result.samples.filter(pl.col("kind") == "queue_pkt", pl.col("subject") == port)
