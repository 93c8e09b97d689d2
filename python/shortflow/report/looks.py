"""How each scheme looks in plots: the same in every report, whatever it is shown beside."""

import functools
import zlib
from dataclasses import dataclass

from shortflow import _core
from shortflow.measured import MEASURED

# Okabe and Ito's palette: told apart by colour-blind readers and in print.
PALETTE = ("#6b7280", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "pentagon")
DASHES = ("solid", "dash", "dot", "dashdot")
HATCHES = ("", "/", ".", "x")


@dataclass(frozen=True)
class Look:
    """Colour and symbol, and what tells schemes of one colour apart."""

    colour: str
    symbol: str
    dash: str
    hatch: str
    opacity: float = 1.0

    @property
    def pale(self) -> str:
        """The colour of an area below lines."""
        red, green, blue = (int(self.colour[i : i + 2], 16) for i in (1, 3, 5))
        return f"rgba({red},{green},{blue},0.18)"

    @property
    def line(self) -> dict[str, object]:
        """A line as plotly takes it."""
        return {"color": self.colour, "width": 2, "dash": self.dash}

    @property
    def bar(self) -> dict[str, object]:
        """A bar as plotly takes it."""
        return {"color": self.colour, "pattern": {"shape": self.hatch}}


BEST, OTHERS = "best", "others"
FEASIBLE, INFEASIBLE, GIVEN_UP = "feasible", "infeasible", "given up"
GROUPS = {
    MEASURED: Look("#8a2be2", "hexagram", "longdash", ""),
    BEST: Look("#d55e00", "star", "solid", ""),
    OTHERS: Look("#0072b2", "circle", "solid", "", 0.55),
    FEASIBLE: Look("#0072b2", "circle", "solid", "", 0.55),
    INFEASIBLE: Look("#9ca3af", "x", "dot", "", 0.55),
    GIVEN_UP: Look("#9ca3af", "line-ew-open", "dash", "", 0.55),
}
"""The looks of measured flows, and of what parameters are worth where marks are choices of these and not schemes."""


def look_of(scheme: str) -> Look:
    """The look of a scheme by its place in the registry, of a user's own scheme by its name, or of a group."""
    if scheme in GROUPS:
        return GROUPS[scheme]
    places = _places()
    place = places.get(scheme, len(places) + zlib.crc32(scheme.encode()) % len(PALETTE))
    turn = place // len(PALETTE) % len(DASHES)
    at = place % len(PALETTE)
    return Look(PALETTE[at], SYMBOLS[at], DASHES[turn], HATCHES[turn])


@functools.cache
def _places() -> dict[str, int]:
    registry = _core.registry()
    names = [entry["name"] for kind in ("schemes", "ideal") for entry in registry[kind]]
    return {name: place for place, name in enumerate(names)}
