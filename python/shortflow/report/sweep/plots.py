"""The charts of runs over a grid: lines along one key, heat maps over two or three, trade-offs, bundles."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from shortflow.errors import ConfigError, unknown_name
from shortflow.metrics.catalogue import GOODPUT, MEAN_FCT, Metric
from shortflow.metrics.stats import Estimate
from shortflow.quantities import Scale, scale_for
from shortflow.report import marks
from shortflow.report.chart import Chart, Row, Spec, numeric, span, words
from shortflow.report.figures import labelled
from shortflow.report.looks import BEST, OTHERS
from shortflow.report.sweep.runs import Key, Place, Swept
from shortflow.report.wording import number, title

_LOG_FROM_RATIO = 50.0
_MOST_MAPS = 12
"""Most values of a third key with a heat map each."""
_MOST_NUMBERED = 20
"""With more columns than this, cells do not write their numbers."""
_BEST_SHARE = 0.1
_BOUNDS = "≥ marks lower bounds, since flows did not finish."


def plots(swept: Swept) -> Iterator[Chart]:
    """All charts of a sweep that its runs have data for."""
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


def plot_of_metric(swept: Swept, name: str | None = None) -> Chart:
    """A metric, the first unless it is named, over the one or two keys that vary; else a `ConfigError`."""
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


def _along(swept: Swept, metric: Metric) -> Chart:
    """A metric along one key; a scheme without the key is the same everywhere."""
    (key,) = swept.keys
    scale = _scale(swept, metric)
    rows = []
    for scheme in swept.schemes:
        for value in key.values:
            if (found := swept.estimate(scheme, (value,), metric)) is None:
                continue
            low, high = (end / scale.divisor for end in found.ci95) if found.ci95 else (None, None)
            place = {"scheme": scheme, "at": value, "x": key.number(value) if key.numbers else value}
            own = {"value": found.value / scale.divisor, "low": low, "high": high}
            rows.append({**place, **own, "bound": found.lower_bound, "seeds": found.n})
    panel = marks.over(rows, labelled(title(metric), scale.unit), swept.schemes, _key_axis(key))
    return Chart(metric.name, f"{title(metric)} over {key.label}", _caption(swept, rows), rows, [panel], swept.schemes)


def _maps(swept: Swept, metric: Metric) -> Chart:
    """A heat map of a metric for each scheme that has one of the two keys; the others are said."""
    x, y = sorted(range(2), key=lambda place: -len(swept.keys[place].values))
    schemes = [scheme for scheme in swept.schemes if swept.own[scheme]]
    maps: list[tuple[str, str, dict[int, str]]] = [(scheme, scheme, {}) for scheme in schemes]
    over = f"{swept.keys[x].label} and {swept.keys[y].label}"
    return _heat(swept, f"{title(metric)} over {over}", metric, (x, y), maps)


def _multiples(swept: Swept, scheme: str, metric: Metric) -> Chart:
    """Heat maps over two keys, one for each value of the key with the fewest values."""
    x, y, third = sorted(range(3), key=lambda place: -len(swept.keys[place].values))
    key = swept.keys[third]
    values = key.values
    if len(values) > _MOST_MAPS:
        values = [values[round(i * (len(values) - 1) / (_MOST_MAPS - 1))] for i in range(_MOST_MAPS)]
    maps = [(f"{key.label} = {value}", scheme, {third: value}) for value in values]
    names = f"{swept.keys[x].label}, {swept.keys[y].label} and {key.label}"
    left_out = len(key.values) - len(values)
    note = f"{left_out} values of {key.label} between those shown are left out." if left_out else ""
    return _heat(swept, f"{title(metric)} of {scheme} over {names}", metric, (x, y), maps, note)


def _heat(
    swept: Swept,
    heading: str,
    metric: Metric,
    axes: tuple[int, int],
    maps: Sequence[tuple[str, str, dict[int, str]]],
    note: str = "",
) -> Chart:
    """Heat maps with one scale of colours: the title, scheme and fixed keys of each."""
    x, y = (swept.keys[place] for place in axes)
    scale = _scale(swept, metric)
    rows: list[Row] = []
    for name, scheme, fixed in maps:
        for row in y.values:
            for column in x.values:
                values = {**fixed, axes[0]: column, axes[1]: row}
                found = swept.estimate(scheme, tuple(values.get(i, "") for i in range(len(swept.keys))), metric)
                value = found.value / scale.divisor if found else None
                text = "" if value is None else f"{'≥ ' if found and found.lower_bound else ''}{value:.3g}"
                rows.append({"panel": name, "scheme": scheme, "x": column, "y": row, "value": value, "said": text})
    label = labelled(title(metric), scale.unit)
    sides = words("x", x.label, x.values, axis={"labelAngle": 0}), words("y", y.label, y.values)
    numbered = len(x.values) <= _MOST_NUMBERED
    panels = [marks.heat(rows, *sides, label, title=name, panel=name, numbers=numbered) for name, *_ in maps]
    without = [scheme for scheme in swept.schemes if not swept.own[scheme]]
    others = [
        f"{scheme}, which has none of these keys: {number(found.value / scale.divisor)} {scale.unit}."
        for scheme in without
        if (found := swept.estimate(scheme, tuple("" for _ in swept.keys), metric))
    ]
    bounds = _BOUNDS if any("≥" in row["said"] for row in rows) else ""
    notes = ("Each cell is the mean over the seeds.", *others, note, bounds)
    return Chart(metric.name, heading, " ".join(filter(None, notes)), rows, panels)


def _trade_off(swept: Swept, cost: Metric, gain: Metric) -> Chart:
    """Every point of every scheme by two metrics, and the front of what no other point beats in both."""
    scales = _scale(swept, cost), _scale(swept, gain)
    rows: list[dict[str, Any]] = []
    for scheme in swept.schemes:
        for point in _own_points(swept, scheme):
            pair = [swept.estimate(scheme, point, metric) for metric in (cost, gain)]
            if pair[0] and pair[1]:
                x, y = (each.value / scale.divisor for each, scale in zip(pair, scales, strict=True) if each)
                label = f"{scheme}: {_named(swept, scheme, point)}"
                bound = any(each.lower_bound for each in pair if each)
                rows.append({"scheme": scheme, "x": x, "y": y, "label": label, "bound": bound})
    every = sorted((row for row in rows if not row["bound"]), key=lambda row: (row["x"], -row["y"]))
    front = [row for i, row in enumerate(every) if all(row["y"] > other["y"] for other in every[:i])]
    has_front = len(every) > len(front) > 1 and not swept.flow_keys
    if has_front:
        rows += [{**row, "scheme": BEST} for row in front]
    caption = (
        f"Each mark is a point of one scheme, a mean over the seeds. Better is less {cost.name} and more {gain.name}"
    )
    caption += "; the line joins the points that no other beats in both." if has_front else "."
    bounded = any(row["bound"] for row in rows)
    x_axis = numeric("x", labelled(title(cost), scales[0].unit), (row["x"] for row in rows))
    y_axis = numeric("y", labelled(title(gain), scales[1].unit), (row["y"] for row in rows))
    schemes = [*swept.schemes, *([BEST] if has_front else [])]
    panel = marks.scatter(rows, x_axis, y_axis, schemes, "point", joined=BEST if has_front else "")
    heading = f"Trade-off of {cost.name} and {gain.name}"
    return Chart("trade-off", heading, f"{caption} {_BOUNDS}" if bounded else caption, rows, [panel], schemes)


def _bundle(swept: Swept, scheme: str, metrics: Sequence[Metric]) -> Chart:
    """Every point of a scheme as a line through its keys to some metrics; the best tenth by the first is set apart."""
    own = [(place, swept.keys[place]) for place in swept.own[scheme]]
    scales = [_scale(swept, metric) for metric in metrics]
    found = []
    for point in _own_points(swept, scheme):
        estimates = [each for metric in metrics if (each := swept.estimate(scheme, point, metric))]
        if len(estimates) == len(metrics):
            values = [each.value / scale.divisor for each, scale in zip(estimates, scales, strict=True)]
            numbers = [key.number(point[place]) for place, key in own]
            found.append((estimates[0].lower_bound, values[0], numbers + values, _named(swept, scheme, point)))
    found.sort(key=lambda line: line[:2])  # what is only known to be more comes last
    bounds = sum(bound for bound, *_ in found)
    best = max(1, round(_BEST_SHARE * len(found)))
    lines = [
        (BEST if place < best else OTHERS, f"{name}, at least" if bound else name, values)
        for place, (bound, _, values, name) in enumerate(found)
    ]
    names = [(key.label, key.numbers[1] if key.numbers else "") for _, key in own]
    names += [(title(metric), scale.unit) for metric, scale in zip(metrics, scales, strict=True)]
    caption = f"Each line is a point of {scheme}. Those with the least {metrics[0].name}, a tenth of them, stand out."
    if bounds:
        caption += f" Of {bounds}, flows did not finish: they are not among these while there are others."
    return bundle(f"settings-{scheme}", f"Settings of {scheme} and their results", caption, names, lines)


def bundle(
    name: str,
    heading: str,
    caption: str,
    axes: Sequence[tuple[str, str]],
    lines: Sequence[tuple[str, str, Sequence[float]]],
    ends: Sequence[tuple[float, float]] = (),
    log: Sequence[bool] = (),
) -> Chart:
    """Lines through parallel axes: a label and unit for each axis; a group, label and values for each line.

    Axes reach from the least value to the most, unless `ends` are given.
    """
    columns = list(zip(*(values for *_, values in lines), strict=True))
    ends = ends or [(min(column), max(column)) for column in columns]
    log = log or [False] * len(axes)
    rows = [
        {"scheme": group, "line": place, "label": label, "axis": axis, "value": value, "said": f"{value:.4g} {unit}"}
        | {"height": _height(value, *ends[at], log=log[at])}
        for place, (group, label, values) in reversed(list(enumerate(lines)))
        for at, ((axis, unit), value) in enumerate(zip(axes, values, strict=True))
    ]
    shown = [
        (axis, f"{low:.4g} {unit}".strip(), f"{high:.4g} {unit}".strip())
        for (axis, unit), (low, high) in zip(axes, ends, strict=True)
    ]
    groups = list(dict.fromkeys(group for group, *_ in lines))
    return Chart(name, heading, caption, rows, [marks.parallel(shown, groups)], groups, wide=True)


def _height(value: float, low: float, high: float, *, log: bool) -> float:
    """The place on an axis, from 0 to 1."""
    if high <= low:
        return 0.5
    return math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)


def _objectives(swept: Swept) -> tuple[Metric, Metric] | None:
    """The usual objectives of a sweep: mean completion time of one class, goodput of another."""
    times = [metric for metric in swept.metrics if metric.statistic is MEAN_FCT]
    rates = [metric for metric in swept.metrics if metric.statistic is GOODPUT]
    return (times[0], rates[0]) if times and rates else None


def _own_points(swept: Swept, scheme: str) -> list[Place]:
    """The points of a scheme, one for each place of its own keys."""
    by_place = {tuple(point[i] for i in swept.own[scheme]): point for point in swept.points}
    return list(by_place.values())


def _named(swept: Swept, scheme: str, point: Place) -> str:
    return ", ".join(f"{swept.keys[i].label} = {point[i]}" for i in swept.own[scheme]) or "as it is"


def _key_axis(key: Key) -> Spec:
    if not key.numbers:
        return words("x", key.label, key.values)
    values, unit = key.numbers
    wide = min(values) > 0 and max(values) / min(values) > _LOG_FROM_RATIO
    return numeric("x", labelled(key.label, unit), log=wide, domain=span(values, log=wide), tickCount=6)


def _scale(swept: Swept, metric: Metric) -> Scale:
    """One unit for a metric at all points."""
    found: list[Estimate | None] = [
        swept.estimate(scheme, point, metric) for scheme in swept.schemes for point in _own_points(swept, scheme)
    ]
    return scale_for(metric.unit, [each.value for each in found if each])


def _caption(swept: Swept, rows: Sequence[Row]) -> str:
    one = max((row["seeds"] for row in rows), default=1) == 1
    without = [scheme for scheme in swept.schemes if not swept.own[scheme]]
    level = f"{', '.join(without)}: without this key, so equal at all values." if without else ""
    mean = "One seed, so no intervals." if one else "Mean over the seeds with its 95 % interval."
    bounds = _BOUNDS if any(row["bound"] for row in rows) else ""
    return " ".join(filter(None, (mean, level, bounds, marks.CUT if marks.are_cut(rows) else "")))
