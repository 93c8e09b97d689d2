"""Draws data of more than two axes: heat maps of two keys, and lines through parallel axes."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from shortflow.report.looks import look_of
from shortflow.report.plot import Axis, HeatMap, HeatPlot, Lines, ParallelPlot
from shortflow.report.plotting import labelled, plain

_COLOURS = "Cividis"
_MOST_NUMBERED = 20
"""Most columns side by side for cells with numbers."""
_MOST_BESIDE = 4
"""Most heat maps in a row."""
_ROW_PX = 330
_BETWEEN_PX = 110
"""Space between rows, for the upper axis with upright labels and the title of the map below."""


def draw_heat(plot: HeatPlot) -> go.Figure:
    """A grid of heat maps."""
    panels = plot.maps
    columns = min(len(panels), _MOST_BESIDE)
    rows = math.ceil(len(panels) / columns)
    figure = make_subplots(
        rows,
        columns,
        subplot_titles=[plain(panel.title) for panel in panels],
        horizontal_spacing=0.08,
        vertical_spacing=_BETWEEN_PX / (rows * _ROW_PX),
    )
    known = plot.colour.window or [cell for panel in panels for row in panel.cells for cell in row if cell is not None]
    for number, panel in enumerate(panels):
        place = {"row": number // columns + 1, "col": number % columns + 1}
        numbered = len(panel.x.categories) * columns <= _MOST_NUMBERED
        figure.add_trace(_heat(panel, plot.colour, known, numbered=numbered, show_scale=number == 0), **place)
        below, left = number + columns >= len(panels), number % columns == 0
        for axis, update, outer in ((panel.x, figure.update_xaxes, below), (panel.y, figure.update_yaxes, left)):
            names = [plain(each) for each in axis.categories]
            update(
                type="category",
                categoryorder="array",
                categoryarray=names,
                title_text=labelled(axis.label, axis.unit) if outer else "",
                title_standoff=6,
                automargin=True,
                **place,
            )
    figure.update_layout(height=100 + rows * _ROW_PX)
    return figure


def _heat(panel: HeatMap, colour: Axis, known: Sequence[float], *, numbered: bool, show_scale: bool) -> go.Heatmap:
    texts = [
        ["" if cell is None else f"{'≥ ' if low else ''}{cell:.3g}" for cell, low in zip(*row, strict=True)]
        for row in zip(panel.cells, panel.lower_bound, strict=True)
    ]
    return go.Heatmap(
        x=[plain(each) for each in panel.x.categories],
        y=[plain(each) for each in panel.y.categories],
        z=[list(row) for row in panel.cells],
        text=texts,
        texttemplate="%{text}" if numbered else None,
        hovertemplate=f"{labelled(panel.x.label, panel.x.unit)}: %{{x}}<br>"
        f"{labelled(panel.y.label, panel.y.unit)}: %{{y}}<br>%{{text}} {plain(colour.unit)}<extra></extra>",
        colorscale=_COLOURS,
        zmin=min(known, default=0.0),
        zmax=max(known, default=1.0),
        xgap=1,
        ygap=1,
        showscale=show_scale,
        colorbar={"title": {"text": labelled(colour.label, colour.unit), "side": "right"}},
    )


def draw_parallel(plot: ParallelPlot) -> go.Figure:
    """Parallel axes, each from its low to its high end, and lines through them."""
    figure = go.Figure()
    names = [f"{number}" for number, _ in enumerate(plot.axes)]
    for lines in plot.groups:
        figure.add_trace(_lines(plot, lines, names))
    for name, axis in zip(names, plot.axes, strict=True):
        low, high = axis.window or (0.0, 1.0)
        for end, value, anchor in ((0, low, "top"), (1, high, "bottom")):
            figure.add_annotation(
                x=name, y=end, text=f"{value:.4g} {plain(axis.unit)}".strip(), showarrow=False, yanchor=anchor
            )
    figure.update_xaxes(
        type="category",
        tickvals=names,
        ticktext=[plain(axis.label) for axis in plot.axes],
        side="top",
        ticklabelstandoff=18,
    )
    figure.update_yaxes(visible=False, range=[-0.08, 1.08])
    return figure


def _lines(plot: ParallelPlot, lines: Lines, names: Sequence[str]) -> go.Scatter:
    """All lines of a group as one trace with gaps."""
    look = look_of(lines.group)
    x: list[str | None] = []
    y: list[float | None] = []
    hover: list[str | None] = []
    for number, line in enumerate(lines.values):
        x += [*names, None]
        y += [*(_height(axis, value) for axis, value in zip(plot.axes, line, strict=True)), None]
        hover += [plain(lines.labels[number]) if lines.labels else None] * (len(names) + 1)
    return go.Scatter(
        name=plain(lines.group),
        legendgroup=plain(lines.group),
        x=x,
        y=y,
        mode="lines+markers",
        line=look.line,
        marker={"size": 4, "symbol": look.symbol},
        opacity=look.opacity,
        text=hover,
        hoverinfo="text" if lines.labels else "name",
    )


def _height(axis: Axis, value: float) -> float:
    """Relative position of a value between the ends of its axis."""
    low, high = axis.window or (0.0, 1.0)
    if axis.scale == "log":
        low, high, value = (math.log(each) for each in (low, high, value))
    return (value - low) / (high - low) if high > low else 0.5
