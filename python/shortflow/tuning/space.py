"""The parameters that a tuning varies, each within a range."""

import math
import random
from dataclasses import dataclass

from shortflow.errors import ConfigError
from shortflow.quantities import parse, plain, read_range, rounded

_SYNTAX = "KEY=LOW:HIGH, KEY=LOW:HIGH:STEP or KEY=LOW:HIGH:log, such as transport.g=0.01:0.5:log or knee_low=20KB:1MB"
_DIGITS = 4
"""A value that is not in steps has so many significant digits: no run tells more of them apart."""
_MOST_STEPS = 1_000_000


@dataclass(frozen=True)
class Parameter:
    """A key and the values between which it is varied, both ends included."""

    key: str
    low: float
    high: float
    unit: str = ""
    """The unit of all its values, as the key's own syntax writes it."""
    step: float | None = None
    """The distance of its values; without one, any value in between will do."""
    log: bool = False
    """Whether equal ratios, not equal differences, are equally likely at first."""

    @classmethod
    def parse(cls, text: str) -> "Parameter":
        """Read a parameter and its range; a `ConfigError` says what is expected."""
        key, _, bounds = (part.strip() for part in text.partition("="))
        ends, log = bounds.removesuffix(":log"), bounds.endswith(":log")
        try:
            (low, high, *steps), unit = read_range(ends)
        except ValueError:
            key = ""
        if not key or (log and steps):
            raise ConfigError(f"--param {text}: expected {_SYNTAX}, with units of one kind")
        if not low < high < math.inf:
            raise ConfigError(f"--param {text}: expected a low end and a high end above it")
        if log and low <= 0:
            raise ConfigError(f"--param {text}: a logarithmic range begins above 0")
        count = (high - low) / steps[0] if steps and steps[0] > 0 else 0.0
        if steps and not (1 <= count < _MOST_STEPS and abs(count - round(count)) < 1e-9 * count):
            raise ConfigError(f"--param {text}: expected a step above 0, some of which lead from end to end")
        return cls(key, low, high, unit, steps[0] if steps else None, log)

    @property
    def text(self) -> str:
        """The range as it is written."""
        ends = f"{self.written(self.low)}:{self.written(self.high)}"
        if self.step is not None:
            return f"{self.key}={ends}:{plain(self.step)}{self.unit}"
        return f"{self.key}={ends}{':log' if self.log else ''}"

    @property
    def count(self) -> float:
        """How many values it has; infinite if they are not in steps."""
        return math.inf if self.step is None else round((self.high - self.low) / self.step) + 1

    def at(self, place: int) -> float:
        """The value at a place of its steps, from 0 on."""
        return rounded(self.low + place * (self.step or 0.0))

    def drawn(self, dice: random.Random) -> float:
        """Any value, all of them equally likely, or on a logarithmic range their logarithms."""
        if self.log:
            value = math.exp(dice.uniform(math.log(self.low), math.log(self.high)))
        else:
            value = dice.uniform(self.low, self.high)
        return value if self.step is None else self.at(round((value - self.low) / self.step))

    def written(self, value: float) -> str:
        """A value as a setting of the key, which takes no exponent."""
        if self.step is None and value not in (self.low, self.high):  # which are as the user wrote them
            value = float(f"{value:.{_DIGITS}g}")
        return f"{plain(rounded(value))}{self.unit}"

    def value(self, text: str) -> float | None:
        """A setting of the key as a number in the parameter's unit; None if it is not one of the parameter's values."""
        found = parse(text)
        unit = parse(f"1{self.unit}")
        if not found or not unit or found.base != unit.base:
            return None
        number = rounded(found.number * found.factor / unit.factor)
        steps = (number - self.low) / self.step if self.step else 0.0
        fits = self.low <= number <= self.high and abs(steps - round(steps)) < 1e-9
        return number if fits else None
