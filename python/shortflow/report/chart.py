"""Charts as Vega-Lite specifications. The panels of a chart are dictionaries that share one table of rows."""

import hashlib
import html
import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from shortflow import report
from shortflow.errors import ConfigError, MissingRequirement
from shortflow.lazy import msgspec
from shortflow.report.library import VERSIONS
from shortflow.report.looks import looks, plain_looks, theme

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one."""
Row = Mapping[str, Any]
"""A row of a chart's data: values by field."""
Predicate = str | Spec
"""A Vega expression, or a predicate on a field."""

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_FORMATS = ("svg", "png", "pdf", "json")
_BESIDE = 3
"""Number of panels in a row of a picture."""
_TICKS = [digit * 10.0**decade for decade in range(-12, 13) for digit in (1, 2, 5)]
FOCUS = {"condition": {"test": "focus == null || focus == datum.scheme", "value": 1}, "value": 0.12}
"""Opacity of marks. If a scheme is in focus, the marks of all other schemes are faint."""
_SHOWN = {"filter": "indexof(shown, datum.scheme) >= 0"}


@dataclass(frozen=True, repr=False)
class Chart:
    """Panels on one table of rows. Pages, notebooks, `--json` and pictures use the same specification.

    Each row has a field `scheme`, and a field `at` if a panel shows one point of a study at a time.
    """

    kind: ClassVar[str] = "chart"
    name: str
    """Name of the chart's files."""
    heading: str
    caption: str
    rows: Sequence[Row]
    panels: Sequence[Spec]
    """Vega-Lite views. Data, configuration, parameters and width are added by `spec` and by the page's script."""
    schemes: Sequence[str] = ()
    """Names in the legend."""
    at: Sequence[str] | None = None
    """Values of the point that is shown first; None if all points are shown."""
    missing: str = ""
    """Text that replaces the panels at points without rows. If empty, the panels are shown without marks."""
    wide: bool = False
    """True if each panel has its own row."""

    @property
    def spec(self) -> Spec:
        """The complete Vega-Lite specification."""
        legends = ("color", "fill", "stroke", "shape", "strokeDash")
        return {
            "$schema": SCHEMA,
            "description": self.heading,
            "data": {"name": "t", "values": [dict(row) for row in self.rows]},
            "params": self.params,
            "columns": 1 if self.wide else _BESIDE,
            "concat": [{"width": 640 if self.wide else 300, **panel} for panel in self.panels],
            "resolve": {"scale": dict.fromkeys(legends, "shared")} if self.schemes else {},
            "config": theme(),
        }

    @property
    def params(self) -> list[Spec]:
        """State of the chart as Vega parameters: the schemes shown, the scheme in focus, and the point."""
        state = {"shown": list(self.schemes), "focus": None, "at": self.at and list(self.at)}
        return [{"name": name, "value": value} for name, value in state.items()]

    @property
    def document(self) -> dict[str, Any]:
        """The chart as plain data for other programs."""
        return {"name": self.name, "heading": self.heading, "caption": self.caption, "spec": self.spec}

    @property
    def packed(self) -> dict[str, Any]:
        """The panels, and the rows column by column, as the page's script reads them."""
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        values = [_packed([row.get(name) for row in self.rows]) for name in columns]
        return {"panels": self.panels, "columns": columns, "values": values}

    @property
    def svg(self) -> str:
        """The picture as SVG, with a hash of its specification. Raises `MissingRequirement` without vl-convert."""
        text = json.dumps(_six_digits(finite_only(self.spec)), sort_keys=True)
        mark = hashlib.sha256(text.encode()).hexdigest()
        return f"{self._converted('svg')!s}<!-- specification {mark} -->\n"

    def __repr__(self) -> str:
        """Name and heading."""
        return f"<Chart {self.name}: {self.heading}>"

    def _repr_html_(self) -> str:
        """The picture or, without vl-convert, a frame whose script draws the chart. Both work offline."""
        try:
            return self.svg
        except MissingRequirement:
            page = report.templates.part("report/alone.html", chart=self)
            rows = -(-len(self.panels) // (1 if self.wide else _BESIDE))
            style = f"width:100%;height:{120 + 340 * rows}px;border:0"
            return f'<iframe sandbox="allow-scripts" srcdoc="{html.escape(page)}" style="{style}"></iframe>'

    def save(self, file: str | Path) -> Path:
        """Writes the chart as .svg, .png, .pdf or .json, by the ending of the file's name. Returns the path.

        Raises `ConfigError` for another ending, and `MissingRequirement` if a picture needs `shortflow[figures]`.
        """
        path = Path(file)
        kind = path.suffix.removeprefix(".").lower()
        if kind not in _FORMATS:
            raise ConfigError(f"{path}: expected a name that ends with .{', .'.join(_FORMATS)}")
        content = json.dumps(finite_only(self.spec)) if kind == "json" else self._converted(kind)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def _converted(self, kind: str) -> str | bytes:
        try:
            convert = import_module("vl_convert")
        except ModuleNotFoundError as error:
            raise MissingRequirement(
                "pictures of charts need vl-convert, which is not installed: pip install 'shortflow[figures]'"
            ) from error
        convert_to = getattr(convert, f"vegalite_to_{kind}")
        found: str | bytes = convert_to(
            plain_looks(json.dumps(finite_only(self.spec))), vl_version=VERSIONS["vega-lite"]
        )
        return found


def finite_only(value: Any) -> Any:
    """Plain data in which infinities and NaN are replaced by None."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _six_digits(value: Any) -> Any:
    """Plain data with numbers rounded to six significant digits, which are equal on all machines."""
    if isinstance(value, dict):
        return {name: _six_digits(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_six_digits(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _packed(values: list[Any]) -> Any:
    """A column in a short form. Numbers are rounded to six digits; words are run-length encoded if this is shorter."""
    if any(isinstance(value, float) for value in values):
        return [float(f"{value:.6g}") if isinstance(value, float) else value for value in values]
    runs = [(value, len(list(group))) for value, group in itertools.groupby(values)]
    return {"runs": runs} if 2 * len(runs) < len(values) else values


def view(
    title: str, description: str, layers: Sequence[Spec], *, where: Sequence[Predicate] = (), height: int = 260
) -> Spec:
    """A panel of layers. Its rows are those of the schemes shown that fulfil all conditions `where`."""
    return {
        **({"title": title} if title else {}),
        "description": description,
        "height": height,
        "transform": [_SHOWN, *({"filter": each} for each in where)],
        "layer": list(layers),
    }


def mark(kind: str, encoding: Spec, *, where: Sequence[Predicate] = (), **look: Any) -> Spec:
    """A layer of marks of one kind, for the rows that fulfil all conditions `where`."""
    filters = {"transform": [{"filter": each} for each in where]} if where else {}
    return {**filters, "mark": {"type": kind, **look}, "encoding": encoding}


def numeric(
    field: str,
    title: str,
    values: Iterable[Any] = (),
    *,
    log: bool | None = None,
    zero: bool = False,
    domain: Sequence[float] | None = None,
    **axis: Any,
) -> Spec:
    """An axis of numbers.

    Unless `log` is given, the axis is logarithmic if all values are positive and span more than a factor of 10. Ticks
    of a logarithmic axis are at 1, 2 and 5 times powers of 10.
    """
    every = [value for value in values if value is not None and math.isfinite(value)]
    positive = [value for value in every if value > 0]
    if log is None:
        log = len(positive) == len(every) > 0 and max(every) > 10 * min(every)
    log = log and bool(positive or domain)
    if domain is None and every:
        low, high = min(every), max(every)
        spare = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
        # An axis that would begin close to zero begins at zero.
        least = min(0.0, low - spare) if zero or 0 <= low < 0.6 * high else low - spare
        domain = _room(positive) if log else (least if low else 0.0, high + spare)
    scale: Spec = {"type": "log", "nice": False} if log else {"type": "linear", "nice": False, "zero": False}
    shown: Spec = {"format": "~r", **axis}
    if domain is not None:
        scale["domain"] = [float(f"{end:.4g}") for end in domain]
        if log:
            shown["values"] = {"expr": _ticks(domain)}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": shown}


def span(values: Sequence[float], *, log: bool) -> tuple[float, float]:
    """Ends of an axis: the smallest and the largest value, with a margin."""
    low, high = min(values), max(values)
    spare = 0.06 * (high - low) or 1.0
    return _room(values) if log else (low - spare, high + spare)


def has_value(field: str, value: str) -> Spec:
    """The condition that a field has this value."""
    return {"field": field, "equal": value}


def words(field: str, title: str | None, order: Sequence[str], **more: Any) -> Spec:
    """An axis of words in the given order."""
    return {"field": field, "type": "nominal", "title": title, "sort": list(order), **more}


def by_scheme(schemes: Sequence[str]) -> dict[str, Spec]:
    """Encodings of the schemes' looks, by the name of the Vega-Lite channel."""
    known = looks(schemes)

    def channel(values: Sequence[Any]) -> Spec:
        scale = {"domain": list(known), "range": list(values)}
        return {"field": "scheme", "type": "nominal", "title": None, "scale": scale}

    every = list(known.values())
    colours = [each.colour for each in every]
    return {
        "color": channel(colours),
        "stroke": channel(colours),
        "fill": channel([each.fill for each in every]),
        "shape": channel([each.marker for each in every]),
        "strokeDash": channel([each.dash for each in every]),
    }


def line_encodings(look: Mapping[str, Spec], *, dashed: bool = True) -> Spec:
    """Encodings of a scheme's line."""
    names = ("color", "strokeDash") if dashed else ("color",)
    return {**{name: look[name] for name in names}, "opacity": FOCUS}


def markers(look: Mapping[str, Spec]) -> Spec:
    """Encodings of a scheme's markers."""
    return {**{name: look[name] for name in ("stroke", "fill", "shape")}, "opacity": FOCUS}


def tips(**fields: str) -> list[Spec]:
    """Entries of a tooltip: a title, with the unit, for each field of a row."""
    return [{"field": name, "type": "nominal", "title": title} for name, title in fields.items()]


def _room(values: Sequence[float]) -> tuple[float, float]:
    return min(values) / 1.12, max(values) * 1.12


def _ticks(domain: Sequence[float]) -> str:
    """Vega expression for the ticks of a logarithmic axis. Narrow panels get fewer ticks."""
    every = [tick for tick in _TICKS if domain[0] <= tick <= domain[1]]
    decades = [tick for tick in every if abs(math.log10(tick) - round(math.log10(tick))) < 1e-9]
    if len(every) < 2:  # too narrow for ticks at 1, 2 and 5: equal steps instead
        span = domain[1] - domain[0]
        step = next(tick for tick in _TICKS if tick >= span / 5)
        every = [
            float(f"{step * i:.10g}") for i in range(math.ceil(domain[0] / step), math.floor(domain[1] / step) + 1)
        ]
        return json.dumps(every)
    few = decades if len(decades) > 2 else every[:: max(1, len(every) // 3)]
    return f"width < 300 ? {json.dumps(few)} : {json.dumps(decades if len(every) > 12 else every)}"
