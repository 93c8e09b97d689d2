"""The parameters that a tuning varies, each within a range."""

import math
import random
from dataclasses import dataclass

from shortflow.errors import ConfigError
from shortflow.quantities import parse, plain, rounded
from shortflow.terms import Range

_SYNTAX = "KEY=LOW:HIGH, KEY=LOW:HIGH:STEP or KEY=LOW:HIGH:log, such as transport.g=0.01:0.5:log or knee_low=20KB:1MB"
_DIGITS = 4
"""A value that is not in steps has so many significant digits: no run tells more of them apart."""
_MOST_STEPS = 1_000_000


@dataclass(frozen=True)
class Parameter(Range):
    """A key and the values between which it is varied, both ends included."""

    @classmethod
    def parse(cls, text: str) -> "Parameter":
        """Read a parameter and its range; a `ConfigError` says what is expected."""
        found = cls(**vars(Range.read(text, f"--param {text}: expected {_SYNTAX}, with units of one kind")))
        if not found.low < found.high < math.inf:
            raise ConfigError(f"--param {text}: expected a low end and a high end above it")
        if found.log and found.low <= 0:
            raise ConfigError(f"--param {text}: a logarithmic range begins above 0")
        count = (found.high - found.low) / found.step if found.step and found.step > 0 else 0.0
        if found.step is not None and not (1 <= count < _MOST_STEPS and abs(count - round(count)) < 1e-9 * count):
            raise ConfigError(f"--param {text}: expected a step above 0, some of which lead from end to end")
        return found

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
