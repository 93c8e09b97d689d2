"""Grammars of options: KEY=VALUE, names between commas, KEY=LOW:HIGH[:STEP], METRIC <= NUMBER."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shortflow.errors import ConfigError
from shortflow.quantities import of_one_kind, parse, rounded


def pair(text: str, option: str, expected: str) -> tuple[str, str]:
    """Both sides of LEFT=RIGHT. A key on the left loses its quotes. A `ConfigError` gives the expected form."""
    left, _, right = (part.strip() for part in text.partition("="))
    if not left or not right:
        raise ConfigError(f"{option} {text}: expected {expected}")
    return unquoted(left), right


def unquoted(key: str) -> str:
    """A key without the quotes that files need around parts such as `"s0->h3"`.

    Parts with a point keep their quotes.
    """
    return re.sub(r'"([^".]*)"', r"\1", key)


def pairs(texts: Iterable[str], option: str, expected: str) -> dict[str, str]:
    """A repeated option as a mapping. Of several values for a key, the last counts."""
    return dict(pair(text, option, expected) for text in texts)


def names(text: str, option: str) -> list[str]:
    """The names between commas. Raises `ConfigError` for an empty name."""
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise ConfigError(f"{option} {text}: expected names separated by commas")
    return found


def shares(ties: str | Sequence[float]) -> tuple[float, float]:
    """The two shares of a tie, for ratio and interval, from a text such as `5%,10%` or from two numbers.

    Raises `ConfigError` unless both are below 1 and the smaller comes first.
    """
    try:
        texts = ties.split(",") if isinstance(ties, str) else [f"{100 * share}%" for share in ties]
        near, within = (float(text.strip().removesuffix("%")) / 100 for text in texts if text.strip().endswith("%"))
    except (TypeError, ValueError):
        near = within = -1.0
    if not 0 <= near <= within < 1:
        raise ConfigError(f"--ties {ties}: expected two shares below 100%, the smaller first, such as 5%,10%")
    return near, within


@dataclass(frozen=True)
class Range:
    """A key and the range of its values."""

    key: str
    low: float
    high: float
    unit: str = ""
    """Unit of the values, as written for the key."""
    step: float | None = None
    """Step between values. None allows all values of the range."""
    log: bool = False
    """True to sample on a logarithmic scale."""

    @classmethod
    def read(cls, text: str, refusal: str) -> "Range":
        """Parses `KEY=LOW:HIGH` with optional `:STEP` or `:log`. Numbers are in the unit of LOW.

        Raises a `ConfigError` with the text `refusal` for another form.
        """
        key, _, right = (part.strip() for part in text.partition("="))
        bounds = right.removesuffix(":log")
        log, found = bounds != right, of_one_kind(bounds.split(":")) or []
        if not key or len(found) not in ((2,) if log else (2, 3)):
            raise ConfigError(refusal)
        low, high, *steps = (rounded(each.number * each.factor / found[0].factor) for each in found)
        return cls(key, low, high, found[0].unit, steps[0] if steps else None, log)


@dataclass(frozen=True)
class Bound:
    """A metric, a comparison sign such as `<=`, and a number."""

    metric: str
    sign: str
    bound: float
    unit: str = ""
    """Unit of the bound, as in metrics. Empty for the metric's own unit."""

    @staticmethod
    def split(text: str, signs: Iterable[str]) -> tuple[str, str, str] | None:
        """Left side, sign and right side at the first sign found. None if a part is missing."""
        sign = next((each for each in signs if each in text), None)
        left, _, right = (part.strip() for part in text.partition(sign or "="))
        return (left, sign, right) if sign and left and right else None

    @staticmethod
    def number(text: str) -> tuple[float, str] | None:
        """A number in the unit of metrics, and this unit. None if the text is not a number."""
        found = parse(text)
        if found is None:
            return None
        return (found.number / 100, "share") if found.unit == "%" else (found.number * found.factor, found.base)

    def check_unit(self, text: str, unit: str) -> None:
        """Raises `ConfigError` for a bound in another unit than the metric's."""
        if self.unit not in ("", unit):
            wanted = f"is in {unit}; expected a number in {unit}" if unit else "has no unit; expected a plain number"
            raise ConfigError(f"{text}: {self.metric} {wanted}")
