"""Look of each scheme in charts: colour, marker and dash. A scheme looks the same in every report.

There are eight colours, with variants for light and dark pages, four dashes, and 31 markers. The pair of colour and
dash is unique for up to 32 schemes, and the marker for up to 31, so that charts can also be read in black and white.
"""

import functools
import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from shortflow import _core
from shortflow.measured import MEASURED
from shortflow.scheme import is_ideal

LIGHT = ("#4646cb", "#d37e6c", "#846d02", "#0b5633", "#3a9ca4", "#6f6f6f", "#78185f", "#906efa")
DARK = ("#545cbd", "#995522", "#ebc843", "#77a774", "#82d9f1", "#696969", "#c281a2", "#a188ff")
"""Any two colours differ by at least 15 (CIEDE2000) in all kinds of colour vision (`tests/test_looks.py`)."""
PAGE = {
    "ink": ("#1f2937", "#e6e8eb"),
    "soft": ("#4b5563", "#aab2bd"),
    "rule": ("#dde1e7", "#343b45"),
    "paper": ("#ffffff", "#161b22"),
}
DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3))
_IDEAL_DASHES = ((4, 2), (1, 2), (6, 2, 1, 2), (10, 2), (3, 3), (8, 2, 3, 2))


@dataclass(frozen=True)
class Look:
    """Colour (CSS), marker (SVG path in a box from -1 to 1) and dash of a scheme."""

    colour: str
    marker: str
    hollow: bool = False
    dash: tuple[int, ...] = DASHES[0]

    @property
    def fill(self) -> str:
        """Colour inside the marker."""
        return "var(--paper)" if self.hollow else self.colour


def _polygon(corners: int, turn: float = -90, inner: float | None = None, outer: float = 1.0) -> str:
    """SVG path of a regular polygon or, with an inner radius, of a star. `turn` rotates it, in degrees."""
    count = corners * (1 if inner is None else 2)
    radii = [outer if inner is None or i % 2 == 0 else inner for i in range(count)]
    angles = [math.radians(turn + 360 / count * i) for i in range(count)]
    points = (f"{r * math.cos(a):.3f},{r * math.sin(a):.3f}" for r, a in zip(radii, angles, strict=True))
    return f"M{'L'.join(points)}Z"


_PLUS = "M-.3,-1H.3V-.3H1V.3H.3V1H-.3V.3H-1V-.3H-.3Z"
CIRCLE, STAR = "M0,-.9A.9,.9,0,1,1,0,.9A.9,.9,0,1,1,0,-.9Z", _polygon(5, inner=0.42, outer=1.1)
_CROSS = _polygon(4, -45, 0.28, 1.15)
MARKERS = (
    *(CIRCLE, "M-.8,-.8H.8V.8H-.8Z", _polygon(3, -90), _polygon(4, outer=1.05), _PLUS, STAR, _polygon(3, 90)),
    *(_polygon(6, 0), _polygon(3, 180), _polygon(4, -90, 0.38, 1.1), "M-1.1,-.42H1.1V.42H-1.1Z", _polygon(3, 0)),
    *("M-.42,-1.1H.42V1.1H-.42Z", _CROSS),
)

_CHEVRON = "M-1,.4L0,-.7L1,.4L.6,.8L0,.2L-.6,.8Z"
_MORE = (_polygon(5, outer=1.05), "M-.9,-.9H.9L-.9,.9H.9Z", "M-.9,-.9L.9,.9V-.9L-.9,.9Z", _CHEVRON)
"""Markers for the places after `MARKERS`, which is used twice: filled and hollow."""
_PLACED = {"timely": 28, "hpcc": 29, "homa": 30, "ndp": 31}
"""Places of schemes that were added when ideal schedulers already had the last filled and hollow markers."""
_COLOURED_AS = {"l2dct-ps": 25, "fast": 26, "pecn-edf": 27}
"""Places that give colour and dash to schemes whose own place has the colour of a baseline in their paper's figures."""
_GREY = "var(--c5)"
"""The colour that is closest to the grey of ideal schedulers."""
BEST, FEASIBLE, INFEASIBLE, GIVEN_UP = "best", "feasible", "infeasible", "given up"
_GROUPS = {
    MEASURED: Look("var(--ink)", _polygon(6, inner=0.5, outer=1.1), dash=(9, 2)),
    BEST: Look("var(--c0)", STAR),
    FEASIBLE: Look("var(--c4)", CIRCLE),
    INFEASIBLE: Look(_GREY, _CROSS, dash=(2, 2)),
    GIVEN_UP: Look(_GREY, "M-1,-.2H1V.2H-1Z", dash=(6, 3)),
}


def looks(names: Iterable[str]) -> dict[str, Look]:
    """Looks of schemes that are shown together.

    A registered scheme has a fixed look. The look of any other scheme follows from a hash of its name, with a free
    marker and a colour that few of the schemes have.
    """
    every = list(dict.fromkeys(names))
    found = {name: look for name in every if (look := _registered(name))}
    taken = {(look.marker, look.hollow) for look in found.values()}
    for name in every:
        if name in found:
            continue
        start, used = zlib.crc32(name.encode()), [look.colour for look in found.values()]
        places = [(start + step) % (2 * len(MARKERS)) for step in range(2 * len(MARKERS))]
        places.sort(key=lambda place: (_look(place).colour == _GREY, used.count(_look(place).colour)))
        free = (look for look in map(_look, places) if (look.marker, look.hollow) not in taken)
        found[name] = next(free, _look(places[0]))
        taken.add((found[name].marker, found[name].hollow))
    return {name: found[name] for name in every}


def css(dark: bool) -> str:
    """Colours of a page as declarations of CSS variables."""
    return " ".join(f"--{name}: {colour};" for name, colour in _colours(dark=dark).items())


def plain_looks(text: str) -> str:
    """The text with light colours in place of CSS variables, for pictures outside pages."""
    for name, colour in _colours(dark=False).items():
        text = text.replace(f"var(--{name})", colour)
    return text


def _colours(*, dark: bool) -> dict[str, str]:
    """Colours of a page by names of CSS variables."""
    named = {name: pair[dark] for name, pair in PAGE.items()}
    return named | {f"c{place}": colour for place, colour in enumerate(DARK if dark else LIGHT)}


def theme(*, legend: bool = True) -> dict[str, Any]:
    """Vega configuration of charts.

    Colours are CSS variables, so that a page switches between light and dark mode without a redraw.
    """
    ink, soft, rule = "var(--ink)", "var(--soft)", "var(--rule)"
    font = {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    axis = {"gridColor": rule, "domainColor": soft, "tickColor": soft, "labelOverlap": "greedy", "titlePadding": 6}
    look = {"orient": "top", "symbolStrokeWidth": 2, "symbolSize": 70, "labelLimit": 400, "columns": 6}
    return {
        "background": "transparent" if not legend else "var(--paper)",
        "font": "system-ui, DejaVu Sans, sans-serif",
        "view": {"stroke": None},
        "axis": {**font, **axis},
        "legend": {**font, **look, **({} if legend else {"disable": True})},
        "title": {"color": soft, "fontSize": 13, "fontWeight": 600, "anchor": "middle"},
        "text": {"color": ink},
        "mark": {"aria": False},
        "point": {"aria": True},
    }


def _look(place: int) -> Look:
    count = len(MARKERS)
    colour, dash = f"var(--c{place % 8})", DASHES[place // 8 % 4]
    if place >= 2 * count:
        return Look(colour, _MORE[place % (2 * count)], dash=dash)
    return Look(colour, MARKERS[place % count], place // count % 2 == 1, dash)


def _registered(name: str) -> Look | None:
    if name in _GROUPS:
        return _GROUPS[name]
    if name in _places("schemes"):
        place = _PLACED.get(name, _places("schemes")[name])
        of_colour = _look(_COLOURED_AS.get(name, place))
        return replace(_look(place), colour=of_colour.colour, dash=of_colour.dash)
    if not is_ideal(name):
        return None
    place = _places("ideal")[name]
    last = _look(2 * len(MARKERS) - 1 - place)
    return Look("var(--soft)", last.marker, last.hollow, _IDEAL_DASHES[place % len(_IDEAL_DASHES)])


@functools.cache
def _places(kind: Literal["schemes", "ideal"]) -> dict[str, int]:
    return {entry["name"]: place for place, entry in enumerate(_core.registry()[kind])}
