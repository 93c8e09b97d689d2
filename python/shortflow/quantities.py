"""Values of settings as numbers: `30KB`, `900us`, `20pkt`, `0.4`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from shortflow.tables import Scale, scale_for

_QUANTITY = re.compile(r"(-?\d+(?:\.\d+)?(?:e-?\d+)?) ?([A-Za-z%]*)")
_UNITS = {
    "s": {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0},
    "B": {"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
    "bps": {"bps": 1.0, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12},
}
_BASES = {unit: (base, factor) for base, units in _UNITS.items() for unit, factor in units.items()}


@dataclass(frozen=True)
class Quantity:
    """A number and its unit as written, such as `us`, `pkt`, or none."""

    number: float
    unit: str

    @property
    def base(self) -> str:
        """The unit that quantities of this kind share: s, B, bps, or the unit as written."""
        return _BASES.get(self.unit, (self.unit, 1.0))[0]

    @property
    def factor(self) -> float:
        """How many base units its unit has."""
        return _BASES.get(self.unit, (self.unit, 1.0))[1]


def parse(text: str) -> Quantity | None:
    """A value as a quantity; None for words such as `unlimited`."""
    found = _QUANTITY.fullmatch(text.strip())
    return Quantity(float(found[1]), found[2]) if found else None


def common_axis(texts: Sequence[str]) -> tuple[list[float], str] | None:
    """All values as numbers of one unit, and this unit; None if some are words or they measure different things."""
    found = [parse(text) for text in texts]
    quantities = [each for each in found if each]
    if len(quantities) < len(found) or len({each.base for each in quantities}) != 1:
        return None
    base = quantities[0].base
    values = [each.number * each.factor for each in quantities]
    scale = scale_for(base, values) if base in _UNITS else Scale(1.0, base)
    return [_rounded(value / scale.divisor) for value in values], scale.unit


def in_unit_of_first(texts: Sequence[str]) -> list[float]:
    """All values as numbers of the unit that the first one has; ValueError if there is no such thing."""
    found = [parse(text) for text in texts]
    quantities = [each for each in found if each]
    if len(quantities) < len(found) or len({each.base for each in quantities}) > 1:
        raise ValueError(f"{', '.join(texts)}: not numbers of one kind")
    return [_rounded(each.number * each.factor / quantities[0].factor) for each in quantities]


def _rounded(value: float) -> float:
    """A number without the last digits, in which 0.9 ms is not 900 us."""
    return float(f"{value:.12g}")
