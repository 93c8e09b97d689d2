"""Drawings as SVG, for pages and documentation folders."""

import html
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from shortflow.lab.drawing import Beside, Drawing, Line, Row
from shortflow.report.looks import colours_of
from shortflow.report.plotting import ticks

WIDTH, HEIGHT = 520, 340
_LEFT, _RIGHT, _BOTTOM = 62, 14, 46
_ROW = 18
"""Height of a row of the legend."""
_PAD = 0.05
"""Margin at both ends of an axis, as a share of its span."""
_PRINTED, _OURS = "#d55e00", "#0072b2"
_TALL = 40
"""Height of a row of numbers."""
_LONGEST = 82
"""Most letters of a name in a row."""
_DECADES = 20
"""Ratio of largest to smallest number from which an axis is logarithmic."""
_MOST = 900
"""Most points of a curve without marks."""
_IN_THE_DARK = {
    "fill": {"#fff": "#161b22", "#374151": "#d1d5db"},
    "stroke": {"#e5e7eb": "#343b45", "#6b7280": "#9ca3af"},
}
"""Colours of paper, text, grid and frame in dark mode; curves keep theirs."""
_TEXT = 'font-family="system-ui, sans-serif" font-size="12" fill="#374151"'


class _Axis:
    """Maps values to positions between two ends."""

    def __init__(self, values: Sequence[float], *, logarithmic: bool, ends: tuple[float, float]) -> None:
        positive = [value for value in values if value > 0]
        self._log = logarithmic and bool(positive)
        shown = positive if self._log else [0.0, *values] if _near_zero(values) else list(values)
        low, high = self._scaled(min(shown, default=0.0)), self._scaled(max(shown, default=1.0))
        pad = _PAD * (high - low) or abs(low) * _PAD or 0.5
        self.low, self.high = (0.0 if low == 0 and not self._log else low - pad), high + pad
        self._ends = ends

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self._log else value

    def at(self, value: float) -> float:
        """Position of a value; the lower end for nonpositive values on a logarithmic axis."""
        if self._log and value <= 0:
            return self._ends[0]
        share = (self._scaled(value) - self.low) / (self.high - self.low)
        return self._ends[0] + share * (self._ends[1] - self._ends[0])

    def marks(self) -> list[float]:
        """Round numbers along the axis."""
        if self._log:
            return ticks(10**self.low, 10**self.high)
        step = _step(self.high - self.low)
        return [round(n * step, 10) for n in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def picture(drawing: Drawing | Beside) -> str:
    """Picture of a drawing, without infinite or missing numbers."""
    return _rows(drawing) if isinstance(drawing, Beside) else _curves(drawing)


def _curves(drawing: Drawing) -> str:
    lines = [(line, _colour(line, drawing.lines)) for line in drawing.lines]
    legend = list(_legend(lines)) if len(lines) > 1 or any(line.printed for line in drawing.lines) else []
    top, bottom = 12 + _ROW * (1 + max((row for row, _ in legend), default=-1)), HEIGHT - _BOTTOM
    x = _Axis(_finite(drawing.lines, "x"), logarithmic=drawing.log_x, ends=(_LEFT, WIDTH - _RIGHT))
    y = _Axis(_finite(drawing.lines, "y"), logarithmic=drawing.log_y, ends=(bottom, top))
    parts = [part for _, part in legend]
    parts += _frame(drawing, x, y, (top, bottom))
    parts += [part for line, colour in lines for part in _line(line, colour, x, y)]
    return document(drawing.title, HEIGHT, parts)


def document(title: str, height: int, parts: Iterable[str], width: int = WIDTH) -> str:
    """An SVG document with these parts."""
    label, drawn = html.escape(title), "".join(parts)
    role = "group" if "<a href" in drawn else "img"  # links inside role img are not found
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="{role}" aria-label="{label}" class="drawn"><title>{label}</title><style>{_dark()}</style>'
        f'<rect width="{width}" height="{height}" fill="#fff"/>{drawn}</svg>\n'
    )


def _dark() -> str:
    rules = (
        f'.drawn [{attribute}="{light}"]{{{attribute}:{dark}}}'
        for attribute, colours in _IN_THE_DARK.items()
        for light, dark in colours.items()
    )
    return f"@media screen and (prefers-color-scheme:dark){{{''.join(rules)}}}"


def _rows(drawing: Beside) -> str:
    """One row per number: name above, printed range or number, and ours with its interval."""
    bottom = 24 + _TALL * len(drawing.rows)
    found = [value for row in drawing.rows for value in (*row.printed, row.ours.value, *(row.ours.ci95 or ()))]
    spread = [abs(value) for value in found if value]
    logarithmic = min(found) > 0 and max(spread) > _DECADES * min(spread)
    x = _Axis(found, logarithmic=logarithmic, ends=(_RIGHT + 4, WIDTH - _RIGHT - 12))
    parts = [
        f'{_diamond(18, 12, _PRINTED)}<text x="30" y="16" {_TEXT}>paper</text>'
        f'<circle cx="92" cy="12" r="4" fill="{_OURS}"/><text x="102" y="16" {_TEXT}>ours</text>'
    ]
    for mark in x.marks():
        at = x.at(mark)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="24" y2="{bottom}" stroke="#e5e7eb"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 16}" text-anchor="middle" {_TEXT}>{mark:,.10g}</text>')
    for place, row in enumerate(drawing.rows):
        parts += _row(row, 24 + _TALL * place, x)
    label = html.escape(drawing.x_label)
    parts.append(f'<text x="{WIDTH // 2}" y="{bottom + 34}" text-anchor="middle" {_TEXT}>{label}</text>')
    return document(drawing.title, bottom + 42, parts)


def _row(row: Row, top: int, x: _Axis) -> Iterator[str]:
    yield f'<text x="{_RIGHT + 4}" y="{top + 14}" {_TEXT}>{html.escape(_fitted(row.name))}</text>'
    middle = top + 27
    low, high = (x.at(value) for value in row.printed)
    if low != high:
        yield f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}" stroke="{_PRINTED}" stroke-width="2"/>'
    yield from (_diamond(at, middle, _PRINTED) for at in sorted({low, high}))
    at = x.at(row.ours.value)
    if row.ours.ci95:
        left, right = (x.at(value) for value in row.ours.ci95)
        ends = f"M{left:.1f} {middle - 4}v8M{left:.1f} {middle}H{right:.1f}M{right:.1f} {middle - 4}v8"
        yield f'<path d="{ends}" stroke="{_OURS}" stroke-width="1.4" fill="none"/>'
    bound = row.ours.lower_bound or row.ours.upper_bound
    yield f'<circle cx="{at:.1f}" cy="{middle}" r="4" fill="{"#fff" if bound else _OURS}" stroke="{_OURS}"/>'
    if bound:
        yield f'<text x="{at + 6:.1f}" y="{middle - 4}" {_TEXT}>{"≥" if row.ours.lower_bound else "≤"}</text>'


def _fitted(name: str) -> str:
    """A name shortened to fit a row, with the part after the colon kept."""
    if len(name) <= _LONGEST:
        return name
    what, colon, place = name.partition(": ")
    return f"{what[: _LONGEST - 1 - len(colon + place)]}…{colon}{place}"


def _finite(lines: Sequence[Line], side: str) -> list[float]:
    """Finite numbers of an axis: values, and for y the intervals."""
    found = [value for line in lines for value in (line.x if side == "x" else line.y)]
    if side == "y":
        found += [end for line in lines for ends in line.ci95 if ends for end in ends]
    return [value for value in found if math.isfinite(value)]


def _near_zero(values: Sequence[float]) -> bool:
    """True if the axis should start at zero: no negative values, smallest below 60 % of the largest."""
    return bool(values) and min(values) >= 0 and min(values) < 0.6 * max(values)


def _step(span: float) -> float:
    """Smallest round step that divides a span into at most six parts."""
    decade: float = 10.0 ** math.floor(math.log10(span / 6))
    return next(decade * digit for digit in (1, 2, 5, 10) if span / (decade * digit) <= 6)


def _colour(line: Line, lines: Sequence[Line]) -> str:
    """The line's colour, or one per name, shared by printed points and their curve."""
    return line.colour or colours_of(each.name for each in lines)[line.name]


def _legend(lines: Sequence[tuple[Line, str]]) -> Iterator[tuple[int, str]]:
    """Names in rows above the picture."""
    row, left = 0, float(_LEFT)
    for line, colour in lines:
        name = f"{line.name} (paper)" if line.printed else line.name
        width = 26 + 6.6 * len(name)
        if left + width > WIDTH and left > _LEFT:
            row, left = row + 1, float(_LEFT)
        middle = 14 + row * _ROW
        mark = (
            _diamond(left + 8, middle, colour)
            if line.printed
            else f'<line x1="{left:.0f}" x2="{left + 16:.0f}" y1="{middle}" y2="{middle}" stroke="{colour}" '
            'stroke-width="2"/>'
        )
        yield row, f'{mark}<text x="{left + 20:.0f}" y="{middle + 4}" {_TEXT}>{html.escape(name)}</text>'
        left += width


def _frame(drawing: Drawing, x: _Axis, y: _Axis, ends: tuple[float, float]) -> Iterator[str]:
    top, bottom = ends
    right, grey = WIDTH - _RIGHT, 'stroke="#e5e7eb"'
    for mark in y.marks():
        at = y.at(mark)
        yield f'<line x1="{_LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}" {grey}/>'
        yield f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end" {_TEXT}>{mark:,.10g}</text>'
    yield f'<path d="M{_LEFT} {top:.1f}V{bottom:.1f}H{right}" fill="none" stroke="#6b7280"/>'
    for mark in x.marks():
        at = x.at(mark)
        yield f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{bottom:.1f}" y2="{bottom + 4:.1f}" stroke="#6b7280"/>'
        yield f'<text x="{at:.1f}" y="{bottom + 17:.1f}" text-anchor="middle" {_TEXT}>{mark:,.10g}</text>'
    middle = (_LEFT + right) / 2
    yield f'<text x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle" {_TEXT}>{html.escape(drawing.x_label)}</text>'
    turn = f'transform="translate(14 {(top + bottom) / 2:.0f}) rotate(-90)" text-anchor="middle"'
    yield f"<text {turn} {_TEXT}>{html.escape(drawing.y_label)}</text>"


def _thinned(line: Line) -> Line:
    """A long curve without marks, reduced to minimum and maximum of each section."""
    if line.markers or len(line.x) <= _MOST:
        return line
    size = -(-2 * len(line.x) // _MOST)
    kept: list[int] = []
    for at in range(0, len(line.x), size):
        part = range(at, min(at + size, len(line.x)))
        kept += sorted({min(part, key=line.y.__getitem__), max(part, key=line.y.__getitem__)})
    return replace(line, x=[line.x[at] for at in kept], y=[line.y[at] for at in kept])


def _line(line: Line, colour: str, x: _Axis, y: _Axis) -> Iterator[str]:
    line = _thinned(line)
    points = [
        (x.at(at), y.at(value)) if math.isfinite(at) and math.isfinite(value) else None
        for at, value in zip(line.x, line.y, strict=True)
    ]
    for ends, at in zip(line.ci95, line.x, strict=False):
        if ends and all(map(math.isfinite, ends)):
            yield _bar(x.at(at), y.at(ends[0]), y.at(ends[1]), colour)
    path = " ".join("" if point is None else f"{point[0]:.1f},{point[1]:.1f}" for point in points).strip()
    if len(points) > 1 and not line.apart:
        dashes = ' stroke-dasharray="5 4"' if line.printed else ""
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{dashes}/>'
    if not line.markers:
        return
    bounds = line.lower_bound or [False] * len(points)
    for point, bound in zip(points, bounds, strict=True):
        if point is None:
            continue
        if line.printed:
            yield _diamond(*point, colour)
            continue
        fill = "#fff" if bound else colour
        yield f'<circle cx="{point[0]:.1f}" cy="{point[1]:.1f}" r="3.2" fill="{fill}" stroke="{colour}"/>'
        if bound:
            yield f'<text x="{point[0] + 5:.1f}" y="{point[1] - 5:.1f}" {_TEXT}>≥</text>'


def _diamond(x: float, y: float, colour: str) -> str:
    """Mark of a printed value."""
    shape = f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z"
    return f'<path d="{shape}" fill="#fff" fill-opacity="0.6" stroke="{colour}" stroke-width="2"/>'


def _bar(x: float, low: float, high: float, colour: str) -> str:
    shape = f"M{x - 4:.1f} {low:.1f}h8M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {high:.1f}h8"
    return f'<path d="{shape}" stroke="{colour}" stroke-width="1.2" fill="none"/>'
