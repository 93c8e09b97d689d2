"""Drawings of figures as charts."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from shortflow.lab.drawing import Beside, Drawing, Line
from shortflow.report.chart import Chart, Row, Spec, by_scheme, lines, mark, markers, numeric, tips, view, words
from shortflow.report.figures import extremes

_LONGEST = 82
"""Letters of a name that fit above a row."""
_TALL = 40
"""Height of a row."""
_DECADES = 20
"""Ratio from which numbers stand on a logarithmic axis."""
_PAPER, _OURS = "var(--c1)", "var(--c0)"
_DIAMOND: dict[str, Any] = {
    "shape": "diamond",
    "size": 90,
    "filled": False,
    "strokeWidth": 2,
    "opacity": 1,
    "aria": False,
}


def chart(drawing: Drawing | Beside, name: str) -> Chart:
    """A drawing as a chart; numbers that are not finite are left out."""
    return _beside(drawing, name) if isinstance(drawing, Beside) else _curves(drawing, name)


def _curves(drawing: Drawing, name: str) -> Chart:
    rows = [row for line in drawing.lines for row in _rows(line)]
    names = list(dict.fromkeys(line.name for line in drawing.lines))
    ours, printed = "!datum.printed", "datum.printed"
    look = by_scheme(names)
    x = numeric("x", drawing.x_label, (row["x"] for row in rows), log=drawing.log_x)
    y = numeric("y", drawing.y_label, (row[key] for row in rows for key in ("low", "y", "high")), log=drawing.log_y)
    place, tip = {"x": x, "y": y}, tips(scheme="", x=drawing.x_label, y=drawing.y_label)
    ends = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, **lines(look, dashed=False)}
    layers = [
        mark("line", {**place, **lines(look)}, where=[ours, "datum.joined"], strokeWidth=1.6, clip=True),
        mark("line", {**place, **lines(look, dashed=False)}, where=[printed, "datum.joined"], strokeDash=[5, 4]),
        mark("rule", ends, where=["isValid(datum.low)"], strokeWidth=1.4, clip=True),
        mark("point", {**place, **markers(look), "tooltip": tip}, where=[ours, "datum.marker"], size=50, opacity=1),
        mark("point", {**place, "stroke": look["stroke"], "tooltip": tip}, where=[printed, "datum.marker"], **_DIAMOND),
        mark("text", place, where=["datum.bound"], text="≥", dy=-11),
    ]
    caption = "Diamonds: the paper's numbers." if any(row["printed"] for row in rows) else ""
    panel = view("", f"{drawing.title}: {drawing.y_label} over {drawing.x_label}", layers)
    return Chart(name, drawing.title, caption, rows, [panel], names)


def _rows(line: Line) -> list[dict[str, Any]]:
    kept: Sequence[int] = range(len(line.x))
    if not line.markers:
        kept = extremes(np.array(line.y, float))
    about = {"scheme": line.name, "printed": line.printed, "marker": line.markers, "joined": not line.apart}
    found = []
    for at in kept:
        if math.isfinite(line.x[at]) and math.isfinite(line.y[at]):
            low, high = (line.ci95[at] if line.ci95 else None) or (None, None)
            bound = bool(line.lower_bound and line.lower_bound[at])
            found.append({**about, "x": line.x[at], "y": line.y[at], "low": low, "high": high, "bound": bound})
    return found


def _beside(drawing: Beside, name: str) -> Chart:
    """One row per number: its name above, the paper's number or range, and ours with its interval."""
    rows: list[Row] = []
    for row in drawing.rows:
        ours = row.ours
        low, high = ours.ci95 or (None, None)
        bound = "≥" if ours.lower_bound else "≤" if ours.upper_bound else ""
        printed = {"paper_low": row.printed[0], "paper_high": row.printed[1]}
        rows.append(
            {"name": _fitted(row.name), "ours": ours.value, "low": low, "high": high, "bound": bound, **printed}
        )
    ends = [row[key] for row in rows for key in ("paper_low", "paper_high", "ours", "low", "high")]
    known = [abs(end) for end in ends if end]
    log = all(end is None or end > 0 for end in ends) and max(known) > _DECADES * min(known)
    inside = {"labelAlign": "left", "labelBaseline": "bottom", "labelPadding": -4, "labelOffset": -5, "labelLimit": 600}
    y = words("name", None, [row["name"] for row in rows], axis={**inside, "domain": False, "ticks": False})
    x = numeric("ours", drawing.x_label, ends, log=log)
    tip = tips(name="", ours="ours", low="from", high="to", paper_low="paper, from", paper_high="paper, to")
    layers = [
        _span(x, y, ("paper_low", "paper_high"), _PAPER),
        *(
            mark("point", {"y": y, "x": {**x, "field": end}, "tooltip": tip}, color=_PAPER, yOffset=8, **_DIAMOND)
            for end in ("paper_low", "paper_high")
        ),
        _span(x, y, ("low", "high"), _OURS),
        mark("point", {"y": y, "x": x, "tooltip": tip}, color=_OURS, filled=True, size=50, opacity=1, yOffset=8),
        mark("text", {"y": y, "x": x, "text": {"field": "bound", "type": "nominal"}}, dx=10, yOffset=2),
    ]
    panel = view("", drawing.title, layers, height=_TALL * len(rows))
    caption = "Diamonds: the paper. Circles: our runs, with 95 % intervals."
    return Chart(name, drawing.title, caption, rows, [{**panel, "transform": []}])


def _span(x: Spec, y: Spec, ends: tuple[str, str], colour: str) -> Spec:
    encoding = {"y": y, "x": {**x, "field": ends[0]}, "x2": {"field": ends[1]}}
    return mark("rule", encoding, where=[f"isValid(datum.{ends[0]})"], color=colour, strokeWidth=2, yOffset=8)


def _fitted(name: str) -> str:
    """A name cut to the room that a row has, with the place behind its colon."""
    if len(name) <= _LONGEST:
        return name
    what, colon, place = name.partition(": ")
    return f"{what[: _LONGEST - 1 - len(colon + place)]}…{colon}{place}"
