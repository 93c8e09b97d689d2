"""Look of each scheme in plots, equal in all reports."""

import functools
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from shortflow import _core
from shortflow.measured import MEASURED

# Each has a contrast of 3 or more on the white and the dark page, so schemes have one colour on both. The first
# eight are about as distinct as Okabe and Ito's.
PALETTE = (
    *("#d55e00", "#7e57c2", "#8c6d1f", "#009e73", "#0072b2", "#b87c00", "#c75d9b", "#00909e"),
    *("#d9413b", "#5b8c2a", "#4f7bd9", "#a6564f", "#9c4dc0", "#cf4b6b", "#2a8fd0", "#7a8a00"),
)
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "pentagon")
DASHES = ("solid", "dash", "dot", "dashdot")
HATCHES = ("", "/", ".", "x")
_MUTED = ("#6f7782", "#8a7350", "#5f8575", "#8a6a80", "#5c7f9c")
"""Colours of ideal schedulers, with a contrast of 3 or more on both pages."""
_THIN_DASHES = ("dash", "dot", "dashdot", "longdash", "longdashdot")
_STROKES = {
    "solid": "",
    "dash": "7 3",
    "dot": "2 2",
    "dashdot": "7 3 2 3",
    "longdash": "10 3",
    "longdashdot": "10 3 2 3",
}


@dataclass(frozen=True)
class Look:
    """Colour and symbol, and features that separate schemes of one colour."""

    colour: str
    symbol: str
    dash: str
    hatch: str
    opacity: float = 1.0
    width: float = 2.0
    """Width of lines."""

    @property
    def pale(self) -> str:
        """Colour of an area below lines."""
        red, green, blue = (int(self.colour[i : i + 2], 16) for i in (1, 3, 5))
        return f"rgba({red},{green},{blue},0.18)"

    @property
    def line(self) -> dict[str, object]:
        """A line for plotly."""
        return {"color": self.colour, "width": self.width, "dash": self.dash}

    @property
    def strokes(self) -> str:
        """The dash for SVG."""
        return _STROKES.get(self.dash, "")

    @property
    def bar(self) -> dict[str, object]:
        """A bar for plotly."""
        return {"color": self.colour, "pattern": {"shape": self.hatch}}


BEST, OTHERS = "best", "others"
FEASIBLE, INFEASIBLE, GIVEN_UP = "feasible", "infeasible", "given up"
GROUPS = {
    MEASURED: Look("#8a2be2", "hexagram", "longdash", ""),
    BEST: Look("#d55e00", "star", "solid", ""),
    OTHERS: Look("#64748b", "circle", "solid", "", 0.6),
    FEASIBLE: Look("#64748b", "circle", "solid", "", 0.6),
    INFEASIBLE: Look("#9ca3af", "x", "dot", "", 0.55),
    GIVEN_UP: Look("#9ca3af", "line-ew-open", "dash", "", 0.55),
}
"""Looks of measured flows, and of trials by quality."""


def look_of(scheme: str) -> Look:
    """Look of a scheme by its place in the registry, of a user's scheme by its name, or of a group."""
    if scheme in GROUPS:
        return GROUPS[scheme]
    if is_ideal(scheme):
        place = _places("ideal")[scheme]
        muted, symbol = _MUTED[place % len(_MUTED)], SYMBOLS[place % len(SYMBOLS)]
        return Look(muted, symbol, _THIN_DASHES[place % len(_THIN_DASHES)], "", width=1.3)
    places = _places("schemes")
    place = places.get(scheme, len(places) + zlib.crc32(scheme.encode()) % len(PALETTE))
    turn = place // len(PALETTE) % len(DASHES)
    return Look(PALETTE[place % len(PALETTE)], SYMBOLS[place % len(SYMBOLS)], DASHES[turn], HATCHES[turn])


def colours_of(names: Iterable[str]) -> dict[str, str]:
    """One colour per curve: schemes have their own, other names get the remaining colours."""
    every = list(dict.fromkeys(names))
    found = {name: look_of(name).colour for name in every if name in _places("schemes")}
    free = [each for each in PALETTE if each not in found.values()] or PALETTE
    others = [name for name in every if name not in found]
    return found | {name: free[place % len(free)] for place, name in enumerate(others)}


def is_ideal(scheme: str) -> bool:
    """True for an ideal scheduler, shown as a thin grey line."""
    return scheme in _places("ideal")


@functools.cache
def _places(kind: Literal["schemes", "ideal"]) -> dict[str, int]:
    return {entry["name"]: place for place, entry in enumerate(_core.registry()[kind])}
