"""Values of settings as numbers: `30KB`, `900us`, `20pkt`, `0.4`."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

_QUANTITY = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?) ?([A-Za-z%]*)")
_UNITS = {
    "s": {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0},
    "B": {"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
    "bps": {"bps": 1.0, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12},
}
_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_SIZE_UNITS = ((1e6, "MB"), (1e3, "KB"), (1.0, "B"))
_RATE_UNITS = ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"))
RELATIVE = "relative change"
"""Unit of relative changes, which are shown in per cent."""
_BASES = {unit: (base, factor) for base, units in _UNITS.items() for unit, factor in units.items()}


@dataclass(frozen=True)
class DisplayUnit:
    """Display unit of a metric. Values are divided by `divisor`."""

    divisor: float
    unit: str

    @property
    def suffix(self) -> str:
        """Suffix of a number in a text: a blank and the unit. Empty for ratios and numbers without a unit."""
        return f" {self.unit}" if self.unit not in ("", "x") else ""


@dataclass(frozen=True)
class WrittenQuantity:
    """A number and its unit as written, such as `us`, `pkt` or empty."""

    number: float
    unit: str

    @property
    def base(self) -> str:
        """Base unit of the quantity: s, B, bps, or the unit as written."""
        return _BASES.get(self.unit, (self.unit, 1.0))[0]

    @property
    def factor(self) -> float:
        """Base units per unit."""
        return _BASES.get(self.unit, (self.unit, 1.0))[1]


def parse(text: str) -> WrittenQuantity | None:
    """Parses a quantity. None for words such as `unlimited`."""
    found = _QUANTITY.fullmatch(text.strip())
    return WrittenQuantity(float(found[1]), found[2]) if found else None


def scale_for(unit: str, values: Sequence[float]) -> DisplayUnit:
    """Largest unit in which the smallest value is at least 1 (0.1 for times, so ms stay ms)."""
    if unit in ("share", RELATIVE):
        return DisplayUnit(0.01, "%")
    units = {"s": _TIME_UNITS, "bps": _RATE_UNITS, "B": _SIZE_UNITS}.get(unit)
    if units is None:
        return DisplayUnit(1.0, unit)
    least = 0.1 if unit == "s" else 1.0
    smallest = min((abs(value) for value in values if value and math.isfinite(value)), default=1.0)
    return DisplayUnit(*next((each for each in units if smallest >= least * each[0]), units[-1]))


def in_base_unit(texts: Sequence[str]) -> list[float] | None:
    """Values in s, B, bps or their own unit. None for words or mixed kinds."""
    found = of_one_kind(texts)
    return None if found is None else [rounded(each.number * each.factor) for each in found]


def common_axis(texts: Sequence[str]) -> tuple[list[float], str] | None:
    """Values in one unit, and the unit. None for words or mixed kinds."""
    found = of_one_kind(texts)
    if not found:
        return None
    base = found[0].base
    values = [each.number * each.factor for each in found]
    scale = scale_for(base, values) if base in _UNITS else DisplayUnit(1.0, base)
    return [rounded(value / scale.divisor) for value in values], scale.unit


def in_unit_of_first(texts: Sequence[str]) -> list[float]:
    """Values in the unit of the first value. Raises `ValueError` for words or mixed kinds."""
    found = of_one_kind(texts)
    if found is None:
        raise ValueError(f"{', '.join(texts)}: not numbers of one kind")
    return [rounded(each.number * each.factor / found[0].factor) for each in found]


def counted(number: int, noun: str) -> str:
    """A count with its noun: `1 point`, `2 points`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def plain_number(value: float) -> str:
    """A number without exponent. Whole numbers have no decimal point."""
    return str(int(value)) if float(value).is_integer() else f"{Decimal(repr(value)):f}"


def of_one_kind(texts: Sequence[str]) -> list[WrittenQuantity] | None:
    """Values as quantities. None for words or mixed kinds."""
    found = [each for each in map(parse, texts) if each]
    return found if len(found) == len(texts) and len({each.base for each in found}) <= 1 else None


def rounded(value: float) -> float:
    """Rounds to 12 digits, so that 0.9 ms equals 900 us."""
    return float(f"{value:.12g}")
