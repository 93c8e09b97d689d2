"""Plots of runs over a grid: bands over one key, heat maps over two, several maps over three, trade-offs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from shortflow.errors import ConfigError, unknown_name
from shortflow.metrics.catalogue import GOODPUT, MEAN_FCT, Metric
from shortflow.metrics.stats import Estimate, Interval
from shortflow.quantities import Scale, scale_for
from shortflow.report.looks import BEST, OTHERS
from shortflow.report.plot import AnyPlot, Axis, HeatMap, HeatPlot, Lines, Panel, ParallelPlot, Plot, Series
from shortflow.report.sweep.runs import Key, Place, Swept
from shortflow.report.wording import number

_LOG_FROM_RATIO = 50.0
_MOST_MAPS = 12
"""Most heat maps for values of a third key."""
_BEST_SHARE = 0.1
BANDS = "The bands are 95 % intervals over the seeds."
BOUNDS = "Hollow marks, and numbers with ≥, are lower bounds, since flows did not finish."


def plots(swept: Swept) -> Iterator[AnyPlot]:
    """Plots of a sweep that its runs have data for."""
    if len(swept.keys) == 1:
        yield from (_along(swept, metric) for metric in swept.metrics)
    elif len(swept.keys) == 2:
        yield from (_maps(swept, metric) for metric in swept.metrics)
    elif len(swept.keys) == 3:
        decisive = [metric for metric in swept.metrics if metric.statistic in (MEAN_FCT, GOODPUT)]
        for metric in decisive or swept.metrics[:2]:
            yield from (_multiples(swept, scheme, metric) for scheme in swept.schemes if len(swept.own[scheme]) == 3)
    pair = _objectives(swept)
    if pair and swept.keys:
        yield _trade_off(swept, *pair)
    if len(swept.keys) > 2 and pair:
        yield from (_bundle(swept, scheme, pair) for scheme in swept.schemes if len(swept.own[scheme]) > 2)


def plot_of_metric(swept: Swept, name: str | None = None) -> AnyPlot:
    """A metric (default: the first) over the one or two varying keys. Raises `ConfigError` otherwise."""
    known = {metric.name: metric for metric in swept.metrics}
    if not known:
        raise ConfigError(f"{swept.name}: no run has finished")
    if name is not None and name not in known:
        raise unknown_name("main metric of these runs", name, known)
    if not 1 <= len(swept.keys) <= 2:
        varies = ", ".join(key.label for key in swept.keys) or "nothing"
        raise ConfigError(f"{swept.name}: a plot over one or two keys needs as many that vary; {varies} does")
    metric = known[name or next(iter(known))]
    return _along(swept, metric) if len(swept.keys) == 1 else _maps(swept, metric)


def _along(swept: Swept, metric: Metric) -> Plot:
    """A metric along one key; a scheme without the key is constant."""
    (key,) = swept.keys
    scale = _scale(swept, metric)
    series = []
    for scheme in swept.schemes:
        places = [key.number(value) if key.numbers else value for value in key.values]
        found = [swept.estimate(scheme, (value,), metric) for value in key.values]
        present = [(place, each) for place, each in zip(places, found, strict=True) if each]
        if present:
            series.append(
                Series(
                    scheme,
                    at=None,
                    x=[place for place, _ in present],
                    y=[each.value / scale.divisor for _, each in present],
                    ci95=[_scaled(each.ci95, scale) for _, each in present],
                    seeds=[each.n for _, each in present],
                    lower_bound=[each.lower_bound for _, each in present],
                )
            )
    panel = Panel("", _key_axis(key), _axis(metric, scale), "band" if key.numbers else "bars", series)
    return Plot(f"{_title(metric)} over {key.label}", _caption(swept, metric, series), [panel], {})


def _maps(swept: Swept, metric: Metric) -> HeatPlot:
    """One heat map of a metric per scheme that has one of the keys. The caption names other schemes."""
    x, y = sorted(range(2), key=lambda place: -len(swept.keys[place].values))
    scale = _scale(swept, metric)
    schemes = [scheme for scheme in swept.schemes if swept.own[scheme]]
    maps = [_map(swept, scheme, metric, scale, (x, y), {}, scheme) for scheme in schemes]
    return _heat(swept, f"{_title(metric)} over {swept.keys[x].label} and {swept.keys[y].label}", metric, scale, maps)


def _multiples(swept: Swept, scheme: str, metric: Metric) -> HeatPlot:
    """Heat maps over two keys, one per value of the key with the fewest values."""
    x, y, third = sorted(range(3), key=lambda place: -len(swept.keys[place].values))
    key, scale = swept.keys[third], _scale(swept, metric)
    values = key.values
    if len(values) > _MOST_MAPS:
        values = [values[round(i * (len(values) - 1) / (_MOST_MAPS - 1))] for i in range(_MOST_MAPS)]
    maps = [_map(swept, scheme, metric, scale, (x, y), {third: value}, f"{key.label} = {value}") for value in values]
    names = f"{swept.keys[x].label}, {swept.keys[y].label} and {key.label}"
    left_out = len(key.values) - len(values)
    note = f"{left_out} values of {key.label} between those shown are left out." if left_out else ""
    return _heat(swept, f"{_title(metric)} of {scheme} over {names}", metric, scale, maps, note)


def _map(
    swept: Swept,
    scheme: str,
    metric: Metric,
    scale: Scale,
    axes: tuple[int, int],
    fixed: dict[int, str],
    title: str,
) -> HeatMap:
    x, y = (swept.keys[place] for place in axes)

    def found(row: str, column: str) -> Estimate | None:
        values = {**fixed, axes[0]: column, axes[1]: row}
        return swept.estimate(scheme, tuple(values.get(i, "") for i in range(len(swept.keys))), metric)

    rows = [[found(row, column) for column in x.values] for row in y.values]
    return HeatMap(
        title,
        Axis(x.label, scale="category", categories=x.values),
        Axis(y.label, scale="category", categories=y.values),
        [[each.value / scale.divisor if each else None for each in row] for row in rows],
        [[bool(each and each.lower_bound) for each in row] for row in rows],
    )


def _heat(
    swept: Swept, heading: str, metric: Metric, scale: Scale, maps: Sequence[HeatMap], note: str = ""
) -> HeatPlot:
    bounded = any(low for each in maps for row in each.lower_bound for low in row)
    without = [scheme for scheme in swept.schemes if not swept.own[scheme]]
    others = [
        f"{scheme}, which has none of these keys: {number(found.value / scale.divisor)} {scale.unit}."
        for scheme in without
        if (found := swept.estimate(scheme, tuple("" for _ in swept.keys), metric))
    ]
    notes = ("Each cell is the mean over the seeds.", *others, note, BOUNDS if bounded else "")
    return HeatPlot(heading, " ".join(each for each in notes if each), _axis(metric, scale), maps)


def _trade_off(swept: Swept, cost: Metric, gain: Metric) -> Plot:
    """All points of all schemes by two metrics, with the Pareto front."""
    scales = _scale(swept, cost), _scale(swept, gain)
    found: dict[str, list[tuple[float, float, str, bool]]] = {}
    for scheme in swept.schemes:
        for point in _own_points(swept, scheme):
            pair = [swept.estimate(scheme, point, metric) for metric in (cost, gain)]
            x, y = (each.value / scale.divisor if each else None for each, scale in zip(pair, scales, strict=True))
            if x is not None and y is not None:
                bound = any(each.lower_bound for each in pair if each)
                found.setdefault(scheme, []).append((x, y, f"{scheme}: {_named(swept, scheme, point)}", bound))
    series = [_scatter(scheme, marks) for scheme, marks in found.items()]
    every = sorted((mark for marks in found.values() for mark in marks if not mark[3]), key=lambda of: (of[0], -of[1]))
    front = [mark for i, mark in enumerate(every) if all(mark[1] > other[1] for other in every[:i])]
    has_front = len(every) > len(front) > 1 and not swept.flow_keys
    if has_front:
        series.append(_scatter(BEST, front, joined=True))
    caption = (
        f"Each mark is a point of one scheme, a mean over the seeds. Better is less {cost.name} and more {gain.name}"
    )
    caption += "; the line joins what no point beats in both." if has_front else "."
    bounded = any(mark[3] for marks in found.values() for mark in marks)
    panel = Panel("", _axis(cost, scales[0]), _axis(gain, scales[1]), "scatter", series)
    heading = f"Trade-off of {cost.name} and {gain.name}"
    return Plot(heading, f"{caption} {BOUNDS}" if bounded else caption, [panel], {})


def _scatter(name: str, marks: Sequence[tuple[float, float, str, bool]], *, joined: bool = False) -> Series:
    return Series(
        name,
        None,
        [x for x, *_ in marks],
        [y for _, y, *_ in marks],
        lower_bound=[bound for *_, bound in marks],
        labels=[label for *_, label, _ in marks],
        joined=joined,
    )


def _bundle(swept: Swept, scheme: str, metrics: Sequence[Metric]) -> ParallelPlot:
    """Points of a scheme as lines through its keys to some metrics; the best tenth by the first is set apart."""
    own = [(place, swept.keys[place]) for place in swept.own[scheme]]
    scales = [_scale(swept, metric) for metric in metrics]
    found = []
    for point in _own_points(swept, scheme):
        estimates = [each for metric in metrics if (each := swept.estimate(scheme, point, metric))]
        if len(estimates) == len(metrics):
            values = [each.value / scale.divisor for each, scale in zip(estimates, scales, strict=True)]
            numbers = [key.number(point[place]) for place, key in own]
            found.append((estimates[0].lower_bound, values[0], numbers + values, _named(swept, scheme, point)))
    found.sort(key=lambda line: line[:2])  # lower bounds come last
    lines = [(values, f"{name}, at least" if bound else name) for bound, _, values, name in found]
    bounds = sum(bound for bound, *_ in found)
    best = max(1, round(_BEST_SHARE * len(lines)))
    groups = {name: some for name, some in ((OTHERS, lines[best:]), (BEST, lines[:best])) if some}
    axes = [_key_axis(key) for _, key in own]
    axes += [_axis(metric, scale) for metric, scale in zip(metrics, scales, strict=True)]
    of_axes = [[values[i] for values, _ in lines] for i in range(len(axes))]
    return ParallelPlot(
        f"Settings of {scheme} and what they lead to",
        f"Each line is a point of {scheme}. Those with the least {metrics[0].name}, a tenth of them, stand out."
        + (f" Of {bounds}, flows did not finish: they are not among these while there are others." if bounds else ""),
        [replace(axis, window=(min(of), max(of))) for axis, of in zip(axes, of_axes, strict=True)],
        [Lines(name, [values for values, _ in some], [label for _, label in some]) for name, some in groups.items()],
    )


def _objectives(swept: Swept) -> tuple[Metric, Metric] | None:
    """Usual objectives of a sweep: mean FCT of a class, and goodput of another."""
    times = [metric for metric in swept.metrics if metric.statistic is MEAN_FCT]
    rates = [metric for metric in swept.metrics if metric.statistic is GOODPUT]
    return (times[0], rates[0]) if times and rates else None


def _own_points(swept: Swept, scheme: str) -> list[Place]:
    """Points of a scheme, one per combination of its own keys."""
    by_place = {tuple(point[i] for i in swept.own[scheme]): point for point in swept.points}
    return list(by_place.values())


def _named(swept: Swept, scheme: str, point: Place) -> str:
    return ", ".join(f"{swept.keys[i].label} = {point[i]}" for i in swept.own[scheme]) or "as it is"


def _key_axis(key: Key) -> Axis:
    if not key.numbers:
        return Axis(key.label, scale="category", categories=key.values)
    values, unit = key.numbers
    wide = min(values) > 0 and max(values) / min(values) > _LOG_FROM_RATIO
    return Axis(key.label, unit, "log" if wide else "linear")


def _axis(metric: Metric, scale: Scale) -> Axis:
    return Axis(_title(metric), scale.unit)


def _title(metric: Metric) -> str:
    label = metric.label[0].upper() + metric.label[1:]
    return f"{label}, {metric.flow_class} flows" if metric.flow_class else label


def _scale(swept: Swept, metric: Metric) -> Scale:
    """Common unit of a metric at all points."""
    found = [swept.estimate(scheme, point, metric) for scheme in swept.schemes for point in _own_points(swept, scheme)]
    return scale_for(metric.unit, [each.value for each in found if each])


def _scaled(ends: Interval | None, scale: Scale) -> Interval | None:
    return ends and (ends[0] / scale.divisor, ends[1] / scale.divisor)


def _caption(swept: Swept, metric: Metric, series: Sequence[Series]) -> str:
    most = max((seeds for each in series for seeds in each.seeds or ()), default=1)
    bands = BANDS if most > 1 else "One seed, so no intervals."
    without = [scheme for scheme in swept.schemes if not swept.own[scheme]]
    level = f"The key is none of {', '.join(without)}: the same everywhere." if without else ""
    bounded = any(any(each.lower_bound) for each in series)
    notes = ("Each mark is the mean over the seeds.", bands, level, BOUNDS if bounded else "")
    return " ".join(note for note in notes if note)
