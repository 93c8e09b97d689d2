"""Charts of figures: drawings, and printed numbers next to measured ones."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from shortflow import Estimate
from shortflow.api.charts import (
    Chart,
    Row,
    Spec,
    by_scheme,
    extremes,
    line_encodings,
    mark,
    markers,
    numeric,
    tips,
    view,
    words,
)
from shortflow.api.numbers import RELATIVE, scale_for
from shortflow_papers.lab.data import Studies
from shortflow_papers.lab.drawing import Drawing, Line
from shortflow_papers.lab.figure import Figure
from shortflow_papers.lab.quantity import PrintedNumber

_Pair = tuple[str, PrintedNumber, Estimate]
"""Name, printed number and our estimate."""
_LONGEST = 82
"""Maximum number of characters of a name that fit above a row."""
_TALL = 40
"""Height of a row, in pixels."""
_DECADES = 20
"""Ratio of the largest to the smallest number above which their axis is logarithmic."""
_PAPER, _OURS = "var(--c1)", "var(--c0)"
_DIAMOND: dict[str, Any] = {
    "shape": "diamond",
    "size": 90,
    "filled": False,
    "strokeWidth": 2,
    "opacity": 1,
    "aria": False,
}


def figure_charts(figure: Figure, studies: Studies) -> list[Chart]:
    """Charts of a figure for which the runs have enough data.

    Drawings come first, then printed numbers next to ours, with one chart per unit.
    """
    names = (f"{figure.id.replace('/', '-')}-{number}" for number in itertools.count(1))
    by_unit: dict[str, list[_Pair]] = {}
    for each in figure.printed:
        ours = each.ours(studies)
        for place, one in ours.items():
            name = f"{each.name}: {place}" if len(ours) > 1 else each.name
            by_unit.setdefault(each.of.unit, []).append((name, each, one))
    curves = [curves_of(drawing, next(names)) for drawing in figure.drawn(studies)]
    return [*curves, *(_beside(unit, pairs, next(names)) for unit, pairs in by_unit.items())]


def curves_of(drawing: Drawing, name: str) -> Chart:
    """Chart of a drawing. Marks whose numbers are not finite are left out."""
    rows = [row for line in drawing.lines for row in _rows(line)]
    names = list(dict.fromkeys(line.name for line in drawing.lines))
    ours, printed = "!datum.printed", "datum.printed"
    look = by_scheme(names)
    x = numeric("x", drawing.x_label, (row["x"] for row in rows), log=drawing.log_x)
    y = numeric("y", drawing.y_label, (row[key] for row in rows for key in ("low", "y", "high")), log=drawing.log_y)
    place, tip = {"x": x, "y": y}, tips(scheme="", x=drawing.x_label, y=drawing.y_label)
    ends = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, **line_encodings(look, dashed=False)}
    layers = [
        mark("line", {**place, **line_encodings(look)}, where=[ours, "datum.joined"], strokeWidth=1.6, clip=True),
        mark(
            "line", {**place, **line_encodings(look, dashed=False)}, where=[printed, "datum.joined"], strokeDash=[5, 4]
        ),
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


def _beside(unit: str, pairs: Sequence[_Pair], name: str) -> Chart:
    """Chart with a row for each printed number: name, printed number or range, and our number with its interval."""
    scale = scale_for(unit, [value for _, paper, ours in pairs for value in (paper.low, paper.high, ours.value)])
    label = "change (%)" if unit == RELATIVE else scale.unit
    title = f"Printed and measured{f': {label}' if label else ''}"
    rows: list[Row] = []
    for text, paper, ours in pairs:
        low, high = ours.ci95 or (None, None)
        numbers = {"ours": ours.value, "low": low, "high": high, "paper_low": paper.low, "paper_high": paper.high}
        bound = "≥" if ours.lower_bound else "≤" if ours.upper_bound else ""
        scaled = {key: None if value is None else value / scale.divisor for key, value in numbers.items()}
        rows.append({"name": _fitted(text), "bound": bound, **scaled})
    ends = [row[key] for row in rows for key in ("paper_low", "paper_high", "ours", "low", "high")]
    known = [abs(end) for end in ends if end]
    log = all(end is None or end > 0 for end in ends) and max(known) > _DECADES * min(known)
    inside = {"labelAlign": "left", "labelBaseline": "bottom", "labelPadding": -4, "labelOffset": -5, "labelLimit": 600}
    y = words("name", None, [row["name"] for row in rows], axis={**inside, "domain": False, "ticks": False})
    x = numeric("ours", label, ends, log=log)
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
    panel = view("", title, layers, height=_TALL * len(rows))
    caption = "Diamonds: the paper. Circles: our runs, with 95 % intervals."
    return Chart(name, title, caption, rows, [{**panel, "transform": []}])


def _span(x: Spec, y: Spec, ends: tuple[str, str], colour: str) -> Spec:
    encoding = {"y": y, "x": {**x, "field": ends[0]}, "x2": {"field": ends[1]}}
    return mark("rule", encoding, where=[f"isValid(datum.{ends[0]})"], color=colour, strokeWidth=2, yOffset=8)


def _fitted(name: str) -> str:
    """A name shortened to the width of a row. The part from its colon on is kept."""
    if len(name) <= _LONGEST:
        return name
    what, colon, place = name.partition(": ")
    return f"{what[: _LONGEST - 1 - len(colon + place)]}…{colon}{place}"
