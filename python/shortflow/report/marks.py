"""Panels of charts: ranked dots, lines, trade-offs, distributions, scatter plots, heat maps, bars, parallel axes."""

from collections.abc import Sequence
from typing import Any

from shortflow.metrics.statistic import Metric
from shortflow.report.chart import (
    Predicate,
    Row,
    Spec,
    by_scheme,
    has_value,
    line_encodings,
    mark,
    markers,
    numeric,
    tips,
    view,
    words,
)

ONE_POINT = "at == null || datum.at == join(at, ', ')"
"""Condition that selects the rows of the point that a chart shows."""
_ROOM = 4.0
"""Maximum ratio between the end of an axis and the outermost value. Wider intervals are cut at the panel's edge."""

CUT = "Wide intervals end at the edge of the panel; tooltips and the CSV have them whole."
"""Sentence for captions of charts in which an interval is cut."""


def ends(rows: Sequence[Row], field: str = "value") -> list[float]:
    """Values of a field and the ends of their intervals, which decide the length of an axis.

    Ends further than a factor of `_ROOM` outside the values are moved in, so that the values stay legible.
    """
    low, high = ("low", "high") if field == "value" else (f"{field}_low", f"{field}_high")
    values = [row[field] for row in rows]
    if not values:
        return []
    least, most = min(values) / _ROOM, max(values) * _ROOM
    found = [min(max(end, least), most) for row in rows for end in (row[low], row[high]) if end is not None]
    return [*values, *found]


def are_cut(rows: Sequence[Row], field: str = "value") -> bool:
    """True if an interval is cut at the edge of its panel. Each metric has its own panel."""
    low, high = ("low", "high") if field == "value" else (f"{field}_low", f"{field}_high")
    for metric in {row.get("metric") for row in rows}:
        own = [row for row in rows if row.get("metric") == metric]
        shown = ends(own, field)
        found = [end for row in own for end in (row[low], row[high]) if end is not None]
        if any(not min(shown) <= end <= max(shown) for end in found):
            return True
    return False


def _said(field: str, of: str) -> list[Spec]:
    """Transforms that write a number and its interval as tooltip text. `of` prefixes the interval's fields."""
    number = f"(datum.{of}bound ? '≥ ' : '') + format(datum.{field}, ',.4~r')"
    interval = f"format(datum.{of}low, ',.4~r') + ' to ' + format(datum.{of}high, ',.4~r')"
    return [
        {"calculate": number, "as": f"{field}_said"},
        {"calculate": f"isValid(datum.{of}low) ? {interval} : 'none'", "as": f"{field}_interval"},
    ]


def _tips(label: str, at: str, **more: str) -> list[Spec]:
    return tips(
        scheme="scheme",
        **({"at": at} if at else {}),
        value_said=label,
        value_interval="95 % interval",
        seeds="seeds",
        **more,
    )


def _points(encoding: Spec, size: int = 60, **more: Any) -> Spec:
    return mark("point", encoding, size=size, strokeWidth=2, opacity=1, **more)


def _interval(side: str, axis: Spec, encoding: Spec, of: str = "", **look: Any) -> Spec:
    """A rule between the ends of an interval, along the axis `side` (`x` or `y`)."""
    ends = {side: {**axis, "field": f"{of}low"}, f"{side}2": {"field": f"{of}high"}}
    return mark("rule", {**encoding, **ends}, where=[f"isValid(datum.{of}low)"], clip=True, **look)


def ranked_marks(rows: Sequence[Row], metric: Metric, label: str, schemes: Sequence[str], *, at: str) -> Spec:
    """Panel of schemes by rank, the best on top, with intervals."""
    look = by_scheme(schemes)
    y = {"field": "scheme", "type": "nominal", "title": None, "sort": {"field": "rank", "op": "min"}}
    x = numeric("value", label, ends(rows), zero=metric.more_is_better)
    layers = [
        _interval("x", x, {"y": y, **line_encodings(look, dashed=False)}, strokeWidth=2),
        _points({"y": y, "x": x, **markers(look), "tooltip": _tips(label, at)}, size=90),
        mark("text", {"y": y, "x": x}, where=["datum.bound"], text="≥", dx=-11),
    ]
    said = f"{label}: schemes by rank, best on top, with 95 % intervals"
    found = view("", said, layers, where=[has_value("metric", metric.name), ONE_POINT], height=24 * len(schemes))
    return with_said(found)


def with_said(panel: Spec, *more: str) -> Spec:
    """The panel with texts for its tooltips: of the field `value` and of `more` fields."""
    every = [*_said("value", ""), *(each for field in more for each in _said(field, f"{field}_"))]
    return {**panel, "transform": [*panel["transform"], *every]}


def over(
    rows: Sequence[Row],
    label: str,
    schemes: Sequence[str],
    x: Spec,
    *,
    title: str = "",
    metric: str = "",
    ends_at: Sequence[float] = (),
    one_point: bool = False,
    where: Sequence[Predicate] = (),
) -> Spec:
    """Panel of a metric over numbers or words, with intervals. Points over numbers, or of `one_point`, are joined.

    `ends_at` has the values that decide the length of the y axis, for panels that share one.
    """
    look = by_scheme(schemes)
    y = numeric("value", label, ends_at or ends(rows))
    beside = {} if x["type"] == "quantitative" or one_point else {"xOffset": {"field": "scheme", "type": "nominal"}}
    place = {"x": x, **beside}
    joined = [mark("line", {**place, "y": y, **line_encodings(look)}, strokeWidth=2, clip=True)] if not beside else []
    at = str(x["title"] or "")
    about = [
        *joined,
        _interval("y", y, {**place, **line_encodings(look, dashed=False)}, strokeWidth=1.5),
        _points({**place, "y": y, **markers(look), "tooltip": _tips(label, "", **{x["field"]: at})}),
        mark("text", {**place, "y": y}, where=["datum.bound"], text="≥", dy=-12),
    ]
    where = [*where, *([has_value("metric", metric)] if metric else []), *([ONE_POINT] if one_point else [])]
    said = f"{label} over {at}: a line for each scheme, with 95 % intervals"
    return with_said(view(title, f"{title}: {said}" if title else said, about, where=where))


def trade_off_marks(
    rows: Sequence[Row], x_label: str, y_label: str, schemes: Sequence[str], *, at: str, joined: bool
) -> Spec:
    """Panel of two metrics with both intervals.

    If `joined`, a line joins the points of a scheme in their order, and the last point is larger.
    """
    look = by_scheme(schemes)
    x = numeric("gain", x_label, ends(rows, "gain"), zero=True)
    y = numeric("value", y_label, ends(rows))
    line = {"x": x, "y": y, "order": {"value": 0}, **line_encodings(look)}
    plain = line_encodings(look, dashed=False)
    more = {"gain_said": x_label, "gain_interval": "its 95 % interval"}
    size = {"condition": {"test": "datum.last", "value": 200}, "value": 60}
    layers = [
        *([mark("line", line, strokeWidth=1, clip=True)] if joined else []),
        _interval("y", y, {"x": x, **plain}),
        _interval("x", x, {"y": y, **plain}, "gain_"),
        _points({"x": x, "y": y, "size": size, **markers(look), "tooltip": _tips(y_label, at, **more)}),
        mark("text", {"x": x, "y": y}, where=["datum.bound || datum.gain_bound"], text="≥", dx=-11),
    ]
    found = view("", f"{y_label} against {x_label}: a mark for each scheme and point", layers, height=320)
    return with_said(found, "gain")


def distribution_marks(rows: Sequence[Row], label: str, schemes: Sequence[str], *, tail: bool) -> Spec:
    """Panel of the share of flows done by a time or, for the `tail`, of the share that takes longer.

    The axis of the tail is logarithmic, from 1e-4 to 1.
    """
    look = by_scheme(schemes)
    x = numeric("time", label, (row.get("time") for row in rows), log=True)
    if tail:
        y = numeric("late", "share that takes longer", log=True, domain=(1e-4, 1), format=",.4~%")
    else:
        y = numeric("share", "share done by then", log=False, domain=(0, 1), format="~%")
    line = {"x": x, "y": y, **line_encodings(look)}
    after = {"interpolate": "step-after", "strokeWidth": 2, "clip": True}
    tip = tips(scheme="scheme", mark="percentile", time_said=label)
    layers = [
        mark("line", line, where=["!datum.bound"], **after),
        mark("line", {**line, "opacity": {"value": 0.35}}, where=["datum.bound || datum.joint"], **after),
        _points({"x": x, "y": y, **markers(look), "tooltip": tip}, where=["isValid(datum.mark)"], clip=True),
    ]
    title = "tail" if tail else "distribution"
    said = f"{label}: {title}, a step line for each scheme, markers at p50, p90, p99 and p99.9"
    found = view(title, said, layers, where=[ONE_POINT, "isValid(datum.time)"])
    late: list[Spec] = [
        {"calculate": "1 - datum.share", "as": "late"},
        *([{"filter": "datum.late > 0"}] if tail else []),
        {"calculate": "format(datum.time, ',.4~r')", "as": "time_said"},
    ]
    return {**found, "transform": [*found["transform"], *late]}


def over_time(rows: Sequence[Row], label: str, schemes: Sequence[str], title: str) -> Spec:
    """Panel of a queue length over time, in ms."""
    times = [row["ms"] for row in rows if "ms" in row]
    x = numeric("ms", "time (ms)", log=False, domain=(min(times), max(times)), tickCount=8)
    y = numeric("length", label, [0, *(row.get("length") for row in rows if "ms" in row)], log=False, zero=True)
    tip = [
        {"field": "scheme", "type": "nominal", "title": "scheme"},
        {"field": "ms", "type": "quantitative", "title": "time (ms)", "format": ",.5~r"},
        {"field": "length", "type": "quantitative", "title": label, "format": ",.4~r"},
    ]
    look = by_scheme(schemes)
    line = mark("line", {"x": x, "y": y, **line_encodings(look)}, strokeWidth=1.2)
    # Vega shows one tooltip for a whole line, that of its first point. Invisible points have one each.
    points = mark("point", {"x": x, "y": y, "stroke": look["stroke"], "tooltip": tip}, size=40, opacity=0)
    return view(title, f"{label} over time", [line, points], where=[ONE_POINT, "isValid(datum.ms)"])


def share_marks(rows: Sequence[Row], label: str, schemes: Sequence[str], title: str) -> Spec:
    """Panel of the share of samples at or below a queue length."""
    x = numeric("length", label, [0, *(row.get("length") for row in rows if "share" in row)], log=False, zero=True)
    y = numeric("share", "share of samples at or below", log=False, domain=(0, 1), format="~%")
    line = {"x": x, "y": y, **line_encodings(by_scheme(schemes))}
    layer = mark("line", line, interpolate="step-after", strokeWidth=2, clip=True)
    return view(title, f"{label}: distribution of samples", [layer], where=[ONE_POINT, "isValid(datum.share)"])


def scatter(
    rows: Sequence[Row],
    x: Spec,
    y: Spec,
    schemes: Sequence[str],
    label: str,
    *,
    joined: str = "",
    where: Predicate = "",
) -> Spec:
    """Panel with a labelled mark for each row. A line joins the marks of the scheme `joined`, in the order of x."""
    look = by_scheme(schemes)
    tip = tips(scheme="", label=label, x_said=x["title"], y_said=y["title"])
    points = mark("point", {"x": x, "y": y, **markers(look), "tooltip": tip}, size=50, strokeWidth=1.5, opacity=1)
    layers = [points, mark("text", {"x": x, "y": y}, where=["datum.bound"], text="≥", dy=-10)]
    if joined:
        front = {"x": x, "y": y, "order": {"field": x["field"], "type": "quantitative"}, **line_encodings(look)}
        layers.insert(0, mark("line", front, where=[has_value("scheme", joined)], strokeWidth=1.5))
    found = view("", f"{y['title']} against {x['title']}", layers, where=[where] if where else (), height=300)
    spoken = [
        {"calculate": f"(datum.bound ? '≥ ' : '') + format(datum.{side['field']}, ',.4~r')", "as": name}
        for name, side in (("x_said", x), ("y_said", y))
    ]
    return {**found, "transform": [*found["transform"], *spoken]}


def heat(rows: Sequence[Row], x: Spec, y: Spec, label: str, *, log: bool, colours: str) -> Spec:
    """Heat map with a cell for each pair of words, which shows its number. Higher numbers are darker."""
    every = [row["value"] for row in rows if row["value"] is not None]
    ends = [min(every, default=0.0), max(every, default=1.0)]
    log = log and ends[0] > 0
    colour = {
        "field": "value",
        "type": "quantitative",
        "scale": {"scheme": colours, "domain": ends, "type": "log" if log else "linear"},
        "legend": {"title": label, "orient": "bottom", "direction": "horizontal", "gradientLength": 220},
    }
    tip = tips(y=y["title"] or "", x=x["title"] or "", said=label)
    middle = (ends[0] * ends[1]) ** 0.5 if log else (ends[0] + ends[1]) / 2
    ink = {"condition": {"test": f"datum.value > {middle}", "value": "#ffffff"}, "value": "#1f2937"}
    text = {"x": x, "y": y, "text": {"field": "said", "type": "nominal"}, "color": ink}
    layers = [
        mark("rect", {"x": x, "y": y, "color": colour, "tooltip": tip}),
        mark("text", text, fontSize=11, fontWeight={"expr": "datum.bold ? 700 : 400"}),
    ]
    said = f"{label}: a cell for each {x['title']} and {y['title']}"
    return {**view("", said, layers, height=26 * len(y["sort"])), "transform": []}


def bars(rows: Sequence[Row], label: str, order: Sequence[str], *, title: str) -> Spec:
    """Panel with a bar for each word, whose length is a share."""
    y = words("key", None, order)
    x = numeric("share", label, [0, *(row["share"] for row in rows)], log=False, zero=True, format="~%")
    tip = [*tips(key="key"), {"field": "share", "type": "quantitative", "title": label, "format": ".1%"}]
    layer = mark("bar", {"y": y, "x": x, "color": {"value": "var(--c4)"}, "tooltip": tip})
    found = view(title, f"{title}: {label}", [layer], height=24 * len(order))
    return {**found, "transform": [{"filter": has_value("panel", title)}]}


def parallel(axes: Sequence[tuple[str, str, str]], groups: Sequence[str]) -> Spec:
    """Panel of parallel axes, with a line for each value of the field `line` of the rows.

    Each axis has a name, and texts for its lower and upper end.
    """
    look = by_scheme(groups)
    names = [name for name, *_ in axes]
    x = {
        **words("axis", None, names),
        "axis": {"labelAngle": 0, "labelPadding": 16, "orient": "top", "domain": False, "grid": True},
    }
    y = {"field": "height", "type": "quantitative", "scale": {"domain": [0, 1]}, "axis": None}
    detail = {"field": "line", "type": "nominal"}
    ends = [
        {"axis": name, "height": height, "end": text}
        for name, low, high in axes
        for height, text in ((0, low), (1, high))
    ]
    faint = {"condition": {"test": "datum.scheme == 'best'", "value": 0.95}, "value": 0.35}
    layers = [
        mark("line", {"x": x, "y": y, "detail": detail, "color": look["color"], "opacity": faint}, strokeWidth=1.5),
        mark(
            "point",
            {"x": x, "y": y, **markers(look), "opacity": faint, "tooltip": tips(label="", axis="axis", said="value")},
            size=25,
        ),
        {
            "data": {"values": ends},
            "mark": {"type": "text", "dy": {"expr": "datum.height ? -9 : 10"}, "fontSize": 11},
            "encoding": {"x": x, "y": y, "text": {"field": "end", "type": "nominal"}},
        },
    ]
    return view("", f"Lines through {', '.join(names)}", layers, height=320)
