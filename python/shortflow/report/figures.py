"""Charts of a study. Every axis names its unit; every interval is a 95 % interval over the seeds."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from shortflow.errors import ConfigError, unknown_name
from shortflow.measured import MEASURED
from shortflow.metrics.catalogue import GOODPUT, MEAN_FCT, SIZE_SLOWDOWNS, UNFINISHED_OF_ALL, short_and_long
from shortflow.metrics.statistic import Metric
from shortflow.metrics.stats import rank
from shortflow.quantities import DisplayUnit
from shortflow.report import marks
from shortflow.report.answer import headlines
from shortflow.report.chart import Chart, Row, Spec, numeric, span, words
from shortflow.report.queues import queue_unit
from shortflow.report.study import point_shown_first
from shortflow.report.timeline import time_lines
from shortflow.report.wording import everyone, metrics_of, phrase, sizes_in_words, unit_in_study
from shortflow.results import Results
from shortflow.store.frames import completion
from shortflow.store.selection import numbered

_MARKED = (50, 90, 99, 99.9)
"""Percentiles of a distribution that have a marker."""
_CDF_POINTS, _QUEUE_POINTS = 400, 300
_WINDOW_S = 0.2
_LOG_AXIS_FROM_RATIO = 50.0
_NO_TABLES = "The runs at this point have no tables. `sweep --tables` stores tables."
_BOUND = "≥ marks lower bounds: flows that did not finish count with their age at the end of the run."


def charts(study: Results, metrics: Sequence[Metric] = ()) -> list[Chart]:
    """All charts for which the runs of a study have data."""
    chosen = list(metrics) or headlines(study)
    found = [ranked(study, chosen)] if chosen and len(study.schemes) > 1 else []
    found += [by_size(study)] if len(_bins(study)) > 1 else []
    found += [trade_off(study)] if _objectives(study) and len(study.schemes) * len(study.points) > 1 else []
    if chosen and study.dimensions:
        unfinished = metrics_of(study, UNFINISHED_OF_ALL)
        unfinished = [each for each in unfinished if any(run.metrics.get(each.name) for run in study.runs)]
        found.append(over_points(study, [*chosen, *unfinished]))
    if not study.with_tables.done:
        return found
    found += [completion_times(study)] if _finite(study) else []
    return [*found, *_queue(study), *time_lines(study)]


def ranked(study: Results, metrics: Sequence[Metric] = ()) -> Chart:
    """Chart of the schemes by rank, with a panel for each metric (default: headline metrics), at one point."""
    chosen = _chosen(study, metrics)
    panels, rows = [], []
    for metric in chosen:
        found, unit = estimates(study, metric, study.schemes)
        label = axis_title(phrase(metric), unit)
        order = sorted(found, key=lambda row: (row["bound"], row["value"] * (-1 if metric.more_is_better else 1)))
        found = [{**row, "rank": order.index(row)} for row in found]
        panels.append(marks.ranked_marks(found, metric, label, study.schemes, at=study.x_name or ""))
        rows += found
    pointer = "The answer at the top says which differences the seeds decide."
    caption = (
        f"Each mark is the mean over the seeds with its 95 % interval; the best is on top. {pointer}{_bounds(rows)}"
    )
    return Chart("ranking", "Schemes by mean", caption, rows, panels, study.schemes, shown_first(study))


def over_points(study: Results, metrics: Sequence[Metric] = ()) -> Chart:
    """Chart of metrics over each varying setting, with ideal schedulers. Raises `ConfigError` if nothing varies."""
    if not study.dimensions:
        raise ConfigError(f"{study.scenario}: no setting varies between these runs")
    schemes, several = everyone(study), len(study.dimensions) > 1
    found = {metric: estimates(study, metric, schemes) for metric in _chosen(study, metrics)}
    rows, panels = [row for of_metric, _ in found.values() for row in of_metric], []
    for number in range(len(study.dimensions)):
        where = [f"at == null || datum.at{i} == at[{i}]" for i in range(len(study.dimensions)) if i != number]
        for metric, (of_metric, unit) in found.items():
            label, axis = axis_title(phrase(metric), unit), _axis(study, number)
            panels.append(marks.over(of_metric, label, schemes, axis, metric=metric.name, where=where))
    others = " The menu chooses the other settings." if several else ""
    caption = f"Each mark is the mean over the seeds with its 95 % interval.{others}{_bounds(rows)}{_ideal(study)}"
    heading = f"Headlines over {' and '.join(each.label for each in study.dimensions)}"
    return Chart("over-points", heading, caption, rows, panels, schemes, shown_first(study) if several else None)


def by_size(study: Results) -> Chart:
    """Chart of the p99 slowdown by flow size. Raises `ConfigError` without slowdowns by size.

    If exactly one setting varies, each size bin has a panel over its values. Otherwise, one panel has the sizes along
    its axis, at one point.
    """
    bins, schemes = _bins(study), everyone(study)
    if not bins:
        raise ConfigError(f"{study.scenario}: the runs have no slowdowns by size")
    found = {metric: estimates(study, metric, schemes)[0] for metric in bins}
    rows = [row for of_bin in found.values() for row in of_bin]
    label, one_point = "p99 slowdown (x)", len(study.dimensions) != 1
    if not one_point:
        axis, ends = _axis(study), marks.ends(rows)
        panels = [
            marks.over(found[metric], label, schemes, axis, title=metric.sizes, metric=metric.name, ends_at=ends)
            for metric in bins
        ]
    else:
        lines = {
            "labelExpr": "width < 400 ? split(replace(datum.label, '–', '–\\n'), '\\n') : datum.label",
            "labelOverlap": False,
        }
        axis = words("sizes", "flow size", [metric.sizes for metric in bins], axis={"labelAngle": 0, **lines})
        panels = [marks.over(rows, label, schemes, axis, one_point=True)]
    caption = f"99th percentile of the completion time over the time in an empty network.{_bounds(rows)}{_ideal(study)}"
    at = shown_first(study) if one_point else None
    return Chart("slowdown-by-size", "p99 slowdown by flow size", caption, rows, panels, schemes, at)


def trade_off(study: Results) -> Chart:
    """Chart of the times of short flows against the goodput of long flows. Raises `ConfigError` without them."""
    pair = _objectives(study)
    if pair is None:
        raise ConfigError(f"{study.scenario}: the runs lack times of short flows or goodput of long flows")
    cost, gain = pair
    costs, cost_unit = estimates(study, cost, study.schemes)
    gains, gain_unit = estimates(study, gain, study.schemes)
    by_place = {(row["scheme"], row["at"]): row for row in gains}
    ends = (study.points[0].label, study.points[-1].label) if len(study.dimensions) == 1 else ()
    rows = []
    for row in costs:
        if other := by_place.get((row["scheme"], row["at"])):
            more = {f"gain_{name}": other[name] for name in ("low", "high", "bound")}
            rows.append({**row, "gain": other["value"], **more, "last": (row["at"],) == ends[-1:]})
    x, y = axis_title(phrase(gain), gain_unit), axis_title(phrase(cost), cost_unit)
    panel = marks.trade_off_marks(rows, x, y, study.schemes, at=study.x_name or "", joined=bool(ends))
    caption = f"Each mark is a scheme{' at a point' if study.x_name else ''}, with both 95 % intervals. "
    caption += "Marks farther right and farther down are better."
    caption += f" Lines lead from {study.x_name} {ends[0]} to {ends[1]} (the large marks)." if ends else ""
    caption += _bounds(rows, "gain")
    return Chart("trade-off", "Trade-off", caption, rows, [panel], study.schemes)


def completion_times(study: Results, flow_class: str | None = None) -> Chart:
    """Chart of the distribution of completion times of short flows, or of a class, and of its tail.

    Raises `ConfigError` for an unknown class, and without finite flows.
    """
    classes = _finite(study)
    if not classes:
        raise ConfigError(f"{study.scenario}: the runs have no finite flows")
    if flow_class is not None and flow_class not in classes:
        raise unknown_name("class of such flows", flow_class, classes)
    short, whose = study.bins.short, flow_class or classes[0]
    _, metric, _ = short_and_long(study.bins)
    kept, which = pl.col("size_bytes") <= short.high, f"flows {sizes_in_words(short)}"
    if flow_class is not None or metric not in study.metrics.values():
        metric, kept, which = Metric(MEAN_FCT, whose), pl.col("class") == whose, f"{whose} flows"
    scale = unit_in_study(study, metric)
    rows: list[Row] = []
    for point in _tabled(study):
        for scheme in dict.fromkeys(each.scheme for each in point.results):
            runs = [each for each in point.results if each.scheme == scheme]
            flows = pl.concat(completion(each.flows, each.meta).filter(kept) for each in runs)
            rows += _steps(flows, scale, {"scheme": scheme, "at": point.label})
        if study.measured:
            rows += _steps(study.measured.finished.filter(kept), scale, {"scheme": MEASURED, "at": point.label})
    label = axis_title("completion time", scale.unit)
    schemes = everyone(study)
    panels = [marks.distribution_marks(rows, label, schemes, tail=tail) for tail in (False, True)]
    caption = (
        f"The curves contain all {which} of all seeds ({_pooled(study)}) that started in the measured time. A curve "
        "ends at the share of flows that finished."
    )
    if any(row["bound"] for row in rows):
        caption += (
            " In the pale part of a curve the true share may be higher, because some unfinished flows were younger."
        )
    caption += _ideal(study)
    return Chart(
        "distribution", f"Completion time of {which}", caption, rows, panels, schemes, shown_first(study), _NO_TABLES
    )


def queue(study: Results) -> Chart:
    """Chart of the queue at the busiest measured port. Raises `ConfigError` if the runs took no samples of queues."""
    for chart in _queue(study):
        return chart
    raise ConfigError(f"{study.scenario}: these runs took no samples of queues; measure.sample_every=1ms turns them on")


def estimates(study: Results, metric: Metric, schemes: Sequence[str]) -> tuple[list[Row], str]:
    """Rows with a metric of schemes at every point, and the unit of all rows.

    `x` is a point's position along the first varying setting. If several settings vary, `at0` is the value of the first
    setting as text, and `x1`, `at1` and so on are those of the others. Ideal schedulers and measured flows have no
    interval.
    """
    scale, several = unit_in_study(study, metric), len(study.dimensions) > 1
    rows: list[Row] = []
    for point in study.points:
        place: dict[str, float | str] = {} if study.dimensions else {"x": point.label}
        for number, each in enumerate(study.dimensions):
            at = point.settings[each.key]
            place[_field(number)] = each.numbers[0][at] if each.numbers else at
            place |= {f"at{number}": at} if several else {}
        for scheme in schemes:
            found = point.mean(scheme, metric.name)
            if found is None or not math.isfinite(found.value):
                continue
            own = scheme in study.schemes
            low, high = (end / scale.divisor for end in found.ci95) if found.ci95 and own else (None, None)
            where = {"scheme": scheme, "at": point.label, **place, "metric": metric.name, "sizes": metric.sizes}
            value = {"value": found.value / scale.divisor, "low": low, "high": high, "unit": scale.unit}
            rows.append({**where, **value, "bound": found.lower_bound, "seeds": found.n if own else None})
    return rows, scale.unit


def axis_title(label: str, unit: str) -> str:
    """Title of an axis: a label with its unit."""
    return f"{label} ({unit})" if unit else label


def shown_first(study: Results) -> list[str] | None:
    """Values of the point that charts show first; None if nothing varies."""
    at = point_shown_first(study).settings
    return [at[each.key] for each in study.dimensions] or None


def _chosen(study: Results, metrics: Sequence[Metric]) -> Sequence[Metric]:
    found = metrics or headlines(study)
    if not found:
        raise ConfigError(f"{study.scenario}: has no headline metrics")
    return found


def _tabled(study: Results) -> list[Results]:
    """Points with tables. Each has only the runs with tables."""
    return [point for each in study.points if (point := each.with_tables).done]


def _bins(study: Results) -> list[Metric]:
    """The p99 slowdown in each size bin that has flows."""
    return [each for each in metrics_of(study, SIZE_SLOWDOWNS[99]) if each.size_bin in study.bins.every]


def _finite(study: Results) -> list[str]:
    return [each.flow_class for each in metrics_of(study, MEAN_FCT) if each.flow_class]


def _objectives(study: Results) -> tuple[Metric, Metric] | None:
    """A metric of times of short flows and one of goodput of long flows; None if one is absent."""
    known = study.metrics.values()
    *short, goodput = short_and_long(study.bins)
    times = [each for each in short if each in known] or metrics_of(study, MEAN_FCT)
    rates = [goodput] if goodput in known else metrics_of(study, GOODPUT)
    return (times[0], rates[0]) if times and rates else None


def _field(number: int) -> str:
    """Name of the field with a row's position along a varying setting."""
    return f"x{number or ''}"


def _axis(study: Results, number: int = 0) -> Spec:
    dimension = study.dimensions[number]
    if not dimension.numbers:
        return words(_field(number), dimension.label, dimension.values, axis={"labelAngle": 0})
    places, unit = dimension.numbers
    values, label = list(places.values()), axis_title(dimension.label, unit)
    wide = min(values) > 0 and max(values) / min(values) > _LOG_AXIS_FROM_RATIO
    return numeric(_field(number), label, log=wide, domain=span(values, log=wide), tickCount=6)


def _bounds(rows: Sequence[Row], *fields: str) -> str:
    bound = f" {_BOUND}" if any(row["bound"] for row in rows) else ""
    return bound + (f" {marks.CUT}" if any(marks.are_cut(rows, field) for field in ("value", *fields)) else "")


def _ideal(study: Results) -> str:
    return " Grey marks are ideal schedulers of a link without loss, on the same flows." if study.ideal_names else ""


def _steps(flows: pl.DataFrame, scale: DisplayUnit, about: Row) -> list[Row]:
    """Rows of an empirical distribution, thinned, with markers at percentiles. Each row has the fields `about`.

    `bound` is true from the age of the youngest unfinished flow on, where the true share may be higher. `joint` is true
    for the last row before that.
    """
    if flows.is_empty():
        return []
    done = np.sort(flows.filter(~pl.col("censored"))["elapsed_s"].to_numpy())
    ages = flows.filter("censored")["elapsed_s"].to_list()
    youngest = min(ages, default=math.inf)
    marked = {rank(flows.height, percent): f"p{percent:g}" for percent in _MARKED}
    kept = sorted({*kept_ranks(len(done)).tolist(), *(at for at in marked if at < len(done))})
    bound = [bool(done[at] >= youngest) for at in kept]
    return [
        {
            **about,
            "time": _digits(done[at] / scale.divisor),
            "share": round((at + 1) / flows.height, 6),
            "mark": marked.get(at),
            "bound": bound[number],
            "joint": not bound[number] and bound[number + 1 : number + 2] == [True],
        }
        for number, at in enumerate(kept)
    ]


def kept_ranks(count: int) -> npt.NDArray[np.int64]:
    """Ranks, among `count` sorted values, that a thinned curve keeps: equally spaced, and closer towards both ends.

    The curve is then exact to a pixel on a linear and on a logarithmic axis.
    """
    if not count:
        return np.zeros(0, np.int64)
    steps = np.unique((1.06 ** np.arange(int(math.log(count, 1.06)) + 1)).astype(np.int64)) - 1
    even = np.linspace(0, count - 1, min(count, _CDF_POINTS)).astype(np.int64)
    return np.unique(np.concatenate([even, steps[steps < 40], count - 1 - steps]))


def _queue(study: Results) -> Iterator[Chart]:
    """Chart of the queue at the busiest measured port: over time for one seed, and its distribution over all seeds.

    Yields no chart if no port was measured or no run took samples.
    """
    port, among = _busiest_port(study)
    kind, unit, size = {"pkt": ("queue_pkt", "packets", 1.0), "B": ("queue_bytes", "KB", 1e3)}[queue_unit(study)]
    rows: list[Row] = []
    seeds = set()
    for point in _tabled(study):
        for scheme in point.schemes:
            runs = [each for each in point.results if each.scheme == scheme]
            queue_of_port = (pl.col("kind") == kind) & (pl.col("subject") == port)
            samples = [each.samples.filter(queue_of_port).with_columns(pl.col("value") / size) for each in runs]
            if samples[0].is_empty():
                continue
            about = {"scheme": scheme, "at": point.label}
            seeds.add(runs[0].seed)
            start = runs[0].meta["warmup_s"]
            window = samples[0].filter(pl.col("time_s").is_between(start, start + _WINDOW_S))
            times, lengths = window["time_s"].to_numpy() * 1e3, window["value"].to_numpy()
            rows += [{**about, "ms": _digits(times[at]), "length": _digits(lengths[at])} for at in extremes(lengths)]
            every = np.sort(pl.concat(samples)["value"].to_numpy())
            rows += [
                {**about, "length": _digits(every[at]), "share": round((at + 1) / len(every), 5)}
                for at in kept_ranks(len(every)).tolist()
            ]
    if not rows:
        return
    which = f"seed {seeds.pop()}" if len(seeds) == 1 else "each scheme's first seed"
    label = f"queue of {port} ({unit})"
    panels = [
        marks.over_time(rows, label, study.schemes, f"over time, {which}"),
        marks.share_marks(rows, label, study.schemes, "all seeds"),
    ]
    caption = (
        f"Port {port} is {among}. It was sampled at fixed times. The chart over time shows the first "
        f"{_WINDOW_S * 1e3:g} ms after the warm-up, with the smallest and the largest sample of each slice. The "
        f"distribution contains all samples of all seeds ({_pooled(study)})."
    )
    heading = f"Queue of port {port}"
    yield Chart("queue", heading, caption, rows, panels, study.schemes, shown_first(study), _NO_TABLES)


def extremes(values: npt.NDArray[np.float64]) -> list[int]:
    """Indices of the smallest and the largest value in each of at most 150 slices, in ascending order."""
    size = max(1, -(-2 * len(values) // _QUEUE_POINTS))
    slices = ((at, values[at : at + size]) for at in range(0, len(values), size))
    return sorted({at + int(place) for at, some in slices for place in (np.argmin(some), np.argmax(some))})


def _digits(value: float) -> float:
    return float(f"{value:.6g}")


def _pooled(study: Results) -> str:
    """Text that names the pooled seeds, and the schemes that have fewer."""
    by_scheme: dict[str, set[int]] = {}
    for run in study.with_tables.runs:
        by_scheme.setdefault(run.scheme, set()).add(run.seed)
    everywhere = set().union(*by_scheme.values())
    fewer = {scheme: seeds for scheme, seeds in by_scheme.items() if seeds != everywhere}
    but = "".join(f"; for {scheme} only {numbered(sorted(seeds))}" for scheme, seeds in fewer.items())
    somewhere = ", fewer at some points" * any(set(point.seeds) != everywhere for point in _tabled(study))
    return f"{numbered(sorted(everywhere))}{somewhere}{but}"


def _busiest_port(study: Results) -> tuple[str, str]:
    """The measured port with the longest mean queue over all schemes and points, and a text on how it was chosen.

    Both are empty if no port was measured.
    """
    ports = pl.concat(
        each.ports.filter(pl.col("port").is_in(each.meta["measured_ports"]))
        for point in _tabled(study)
        for each in point.results
    )
    means = (
        ports.group_by("port")
        .agg(pl.col("queue_mean_pkt").mean())
        .sort("queue_mean_pkt", "port", descending=[True, False])
    )
    if not len(means):
        return "", ""
    among = f"the measured port with the longest mean queue, of {len(means)}" if len(means) > 1 else "the measured port"
    return str(means["port"][0]), among
