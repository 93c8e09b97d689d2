"""Draws plots with plotly from their numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from shortflow.report.grids import draw_heat, draw_parallel
from shortflow.report.looks import Look, is_ideal, look_of
from shortflow.report.plot import AnyPlot, Axis, HeatPlot, Panel, ParallelPlot, Plot, Series
from shortflow.report.plotting import error_bars, labelled, log_axis, percentage, plain

_PALE = 0.35
_WIDE = 1.6
"""Width of panels over time, relative to others."""
_INK = "#1f2937"
_HOLLOW = "rgba(0,0,0,0)"
_AT_LEAST = "≥"
_FRAME = {"showline": True, "linecolor": "#9ca3af", "gridcolor": "#e5e7eb", "zeroline": False, "ticks": "outside"}


def draw(plot: AnyPlot) -> go.Figure:
    """Figure of a plot."""
    if isinstance(plot, HeatPlot):
        return _styled(draw_heat(plot), framed=False)
    if isinstance(plot, ParallelPlot):
        return _styled(draw_parallel(plot), framed=False)
    return _styled(_draw_panels(plot))


@dataclass(frozen=True)
class Drawn:
    """A plot for pages: separate panels that flow with the width, and a common legend."""

    plot: AnyPlot
    panels: Sequence[tuple[str, go.Figure]]
    """Title and figure of each panel."""
    legend: Sequence[tuple[str, str, Look]]
    """Name, plotly's group, and look of each entry."""
    menu: Mapping[str, str] = field(default_factory=dict)
    """Label of each point, by plotly's name."""
    shown: str = ""
    """Point shown at first."""


def drawn(plot: AnyPlot) -> Drawn:
    """A plot for a page. The page's script selects the point and hides series."""
    if isinstance(plot, HeatPlot):
        cells = [cell for each in plot.maps for row in each.cells for cell in row if cell is not None]
        whole = replace(plot, colour=replace(plot.colour, window=(min(cells, default=0.0), max(cells, default=1.0))))
        maps = [(each.title, draw(replace(whole, maps=[replace(each, title="")]))) for each in plot.maps]
        return Drawn(plot, [(title, _for_page(figure)) for title, figure in maps], [])
    if isinstance(plot, ParallelPlot):
        names = [lines.group for lines in plot.groups]
        return Drawn(plot, [("", _for_page(draw(plot), top=60))], _legend(names))
    panels = [
        (panel.title, _for_page(draw(replace(plot, panels=[replace(panel, title="")], menu={}))))
        for panel in plot.panels
    ]
    named = {place for panel in plot.panels for place in panel.x.categories}  # named by the axis
    names = [each.scheme for panel in plot.panels for each in panel.series if each.scheme not in named]
    menu = {plain(point): text for point, text in plot.menu.items()}
    return Drawn(plot, panels, _legend(names), menu, plain(plot.shown or ""))


def _legend(names: Iterable[str]) -> list[tuple[str, str, Look]]:
    """Entries of the legend; empty for a single scheme, named in headings."""
    found = list(dict.fromkeys(names))
    return [(name, plain(name), look_of(name)) for name in found] if len(found) > 1 or any(map(is_ideal, found)) else []


def _for_page(figure: go.Figure, top: int = 12) -> go.Figure:
    """Removes parts of a figure that the page supplies."""
    figure.update_layout(showlegend=False, height=None, margin={"l": 8, "r": 18, "t": top, "b": 8}, uirevision=True)
    figure.update_xaxes(automargin=True)
    figure.update_yaxes(automargin=True)
    return figure


def _draw_panels(plot: Plot) -> go.Figure:
    figure = make_subplots(
        1,
        len(plot.panels),
        subplot_titles=[plain(panel.title) for panel in plot.panels],
        column_widths=[_WIDE if panel.mark == "line" else 1.0 for panel in plot.panels],
        horizontal_spacing=0.1,
    )
    owners: list[str | None] = []
    in_legend: set[tuple[str, str | None]] = set()
    for column, panel in enumerate(plot.panels, start=1):
        for series in panel.series:
            if _is_level(panel, series):
                _add_level(figure, series, column, in_legend)
                continue
            for trace in _traces(panel, series):
                name = (series.scheme, series.at)
                trace.update(
                    legendgroup=plain(series.scheme),
                    meta={"at": series.at and plain(series.at)},
                    showlegend=name not in in_legend,
                    visible=not plot.menu or series.at in (None, plot.shown),
                )
                figure.add_trace(trace, row=1, col=column)
                in_legend.add(name)
                owners.append(series.at)
        figure.update_xaxes(**_axis(panel.x, _values(panel, "x")), row=1, col=column)
        figure.update_yaxes(**_axis(panel.y, _values(panel, "y"), from_zero=panel.mark != "scatter"), row=1, col=column)
    if plot.menu:
        figure.update_layout(updatemenus=[_menu(plot, owners)])
    return figure


def _is_level(panel: Panel, series: Series) -> bool:
    """True if its mark has no place on the axis, such as an ideal scheduler beside bars."""
    return panel.mark == "bars" and not set(series.x) & set(panel.x.categories)


def _add_level(figure: go.Figure, series: Series, column: int, in_legend: set[tuple[str, str | None]]) -> None:
    """Adds a line across the panel."""
    name = (series.scheme, series.at)
    figure.add_shape(
        type="line",
        xref=f"x{column if column > 1 else ''} domain",
        yref=f"y{column if column > 1 else ''}",
        x0=0,
        x1=1,
        y0=series.y[0],
        y1=series.y[0],
        line=look_of(series.scheme).line,
        name=plain(series.scheme),
        legendgroup=plain(series.scheme),
        showlegend=name not in in_legend,
    )
    in_legend.add(name)


def _traces(panel: Panel, series: Series) -> Iterator[go.Scatter | go.Bar]:
    look = look_of(series.scheme)
    name = _name(panel, series)
    common = {"name": name, "x": _shown(series.x), "y": list(series.y)}
    if panel.mark == "line":
        yield go.Scatter(**common, mode="lines", line={**look.line, "width": 1.2})
    elif is_ideal(series.scheme) and series.seeds is None and panel.mark in ("bars", "points"):
        yield go.Scatter(**common, mode="lines", line=look.line)
    elif panel.mark == "steps":
        yield from _steps(series, name)
    elif panel.mark == "band":
        yield go.Scatter(**common, mode="lines+markers", **_marks(series, look))  # first, for the legend
        yield from _band(series, look)
    elif panel.mark == "scatter":
        mode = "lines+markers" if series.joined else "markers"
        errors = error_bars(series.y, _ends(series))
        yield go.Scatter(**common, mode=mode, error_y=errors, opacity=look.opacity, **_marks(series, look))
    elif panel.mark == "bars":
        yield go.Bar(
            **common,
            **_bounds(series, "outside"),
            marker=_bar_look(series),
            error_y=_whiskers(series),
        )
    else:
        bounds = _bounds(series, "top center")
        yield go.Scatter(
            **common,
            **bounds,
            mode="lines+markers+text" if bounds else "lines+markers",
            **_marks(series, look),
            error_y=error_bars(series.y, _ends(series)),
        )


def _marks(series: Series, look: Look) -> dict[str, object]:
    """Marks with lines between them; hollow for lower bounds."""
    symbols = [f"{look.symbol}-open" if low else look.symbol for low in _low(series)]
    marks: dict[str, object] = {"line": look.line, "marker": {"size": 8, "symbol": symbols, "color": look.colour}}
    if series.labels:
        marks |= {"hovertext": [plain(label) for label in series.labels], "hoverinfo": "x+y+text+name"}
    return marks


def _band(series: Series, look: Look) -> Iterator[go.Scatter]:
    """Area between the ends of the intervals."""
    ends = [(x, pair) for x, pair in zip(series.x, _ends(series), strict=True) if pair]
    x = _shown([place for place, _ in ends])
    common = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    yield go.Scatter(x=x, y=[low for _, (low, _) in ends], **common)
    yield go.Scatter(x=x, y=[high for _, (_, high) in ends], **common, fill="tonexty", fillcolor=look.pale)


def _steps(series: Series, name: str) -> Iterator[go.Scatter]:
    """A distribution; pale where it is a lower bound."""
    if not series.x:  # no flow finished; the legend says so
        yield go.Scatter(name=name, x=[None], y=[None], mode="lines", line=look_of(series.scheme).line)
    exact = _low(series).count(False)
    line = {**look_of(series.scheme).line, "shape": "hv"}
    if exact:
        yield go.Scatter(name=name, x=list(series.x[:exact]), y=list(series.y[:exact]), mode="lines", line=line)
    if exact < len(series.x):
        begin = max(exact - 1, 0)
        x, y = list(series.x[begin:]), list(series.y[begin:])
        yield go.Scatter(name=name, x=x, y=y, mode="lines", line=line, opacity=_PALE)


def _name(panel: Panel, series: Series) -> str:
    """Legend text: the scheme, and in distributions the share of unfinished flows."""
    share = series.unfinished_share
    missing = (
        f" ({percentage(share)} unfinished)" if panel.mark == "steps" and isinstance(share, float) and share > 0 else ""
    )
    return plain(series.scheme + missing)


def _bounds(series: Series, position: str) -> dict[str, object]:
    """Sign beside marks that are lower bounds."""
    if not any(series.lower_bound):
        return {}
    text = [_AT_LEAST if low else "" for low in series.lower_bound]
    return {"text": text, "textposition": position, "cliponaxis": False}


def _bar_look(series: Series) -> dict[str, object]:
    """Bars, hollow for lower bounds."""
    look = look_of(series.scheme)
    low = _low(series)
    colours = [_HOLLOW if each else look.colour for each in low]
    return {**look.bar, "color": colours, "line": {"color": look.colour, "width": [2 if each else 0 for each in low]}}


def _whiskers(series: Series) -> dict[str, object] | None:
    """Error bars in the text colour, visible against their bars."""
    found = error_bars(series.y, _ends(series))
    return found and {**found, "color": _INK}


def _low(series: Series) -> list[bool]:
    return list(series.lower_bound) or [False] * len(series.x)


def _ends(series: Series) -> Sequence[tuple[float, float] | None]:
    return series.ci95 or [None] * len(series.x)


def _shown(places: Sequence[float | str]) -> list[float | str]:
    return [plain(place) if isinstance(place, str) else place for place in places]


def _values(panel: Panel, side: str) -> list[float]:
    """All numbers along an axis, with the ends of intervals."""
    ends = [end for each in panel.series for pair in each.ci95 or () if pair for end in pair] if side == "y" else []
    return ends + [value for each in panel.series for value in getattr(each, side) if not isinstance(value, str)]


def _axis(axis: Axis, values: Sequence[float], *, from_zero: bool = False) -> dict[str, object]:
    """An axis for plotly, equal for all points of a study."""
    is_share = axis.unit == "share"
    shown: dict[str, object] = {"title_text": labelled(axis.label, "" if is_share else axis.unit), "type": axis.scale}
    if axis.scale == "log":
        return shown | log_axis(axis.window or values)
    elif axis.scale == "category":
        shown |= {"categoryorder": "array", "categoryarray": _shown(axis.categories)}
    elif from_zero:
        shown["rangemode"] = "tozero"
    if is_share:
        shown["tickformat"] = ".0%"
    if axis.window:
        shown["range"] = list(axis.window)
    return shown


def _menu(plot: Plot, owners: Sequence[str | None]) -> dict[str, object]:
    """A menu that selects a point; `owners` has the point of each trace."""
    buttons = [
        {
            "label": plain(text),
            "method": "restyle",
            "args": ["visible", [each in (None, point) for each in owners]],
        }
        for point, text in plot.menu.items()
    ]
    place = {"x": 1.0, "xanchor": "right", "y": 1.2, "yanchor": "top", "pad": {"r": 4}}
    return {"buttons": buttons, "active": list(plot.menu).index(plot.shown or ""), "showactive": True, **place}


def _styled(figure: go.Figure, *, framed: bool = True) -> go.Figure:
    if framed:
        figure.update_xaxes(**_FRAME)
        figure.update_yaxes(**_FRAME)
    figure.update_layout(
        template="none",
        font={"family": "system-ui, sans-serif", "size": 13, "color": _INK},
        margin={"l": 70, "r": 50, "t": 70, "b": 60},
        legend={"orientation": "h", "x": 0, "y": 1.2, "yanchor": "top"},
        modebar={"orientation": "v"},
        hovermode="closest",
        hoverlabel={"namelength": -1},
        height=figure.layout.height or 430,
    )
    return figure
