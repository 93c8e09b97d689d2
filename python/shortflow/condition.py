"""The condition of a search on a metric, such as `deadline_miss==0`."""

import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from shortflow.errors import ConfigError
from shortflow.metrics.catalogue import check_name, possible
from shortflow.terms import Bound

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {  # those of two signs come first
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True)
class Condition(Bound):
    """A metric, a comparison and a number."""

    written: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """Read a condition such as `deadline_miss==0` or `p99_short_s<5ms`."""
        metric, sign, right = cls.split(text, _COMPARISONS) or ("", "", "")
        number = cls.number(right)
        if number is None or not math.isfinite(number[0]):
            raise ConfigError(f"{text}: not a condition, which is METRIC, one of == <= >= < >, and a number")
        return cls(metric, sign, *number, text.strip())

    def check(self, classes: Sequence[str]) -> None:
        """Refuse a metric that no run with these classes of flows can have, and a bound of another unit."""
        check_name(self.metric, classes, "a search runs schemes alone")
        self.check_unit(self.text, possible(classes)[self.metric].unit)

    def holds(self, metrics: Mapping[str, float], lower_bounds: Collection[str] = ()) -> bool:
        """True if it certainly holds, of metrics among which it is.

        Where the metric is among the `lower_bounds`, its truth may be any larger value, so that only > and >= can hold.
        """
        may_hold = self.metric not in lower_bounds or self.sign in (">", ">=")
        return may_hold and self._is_met(metrics)

    def is_open(self, metrics: Mapping[str, float], lower_bounds: Collection[str]) -> bool:
        """True if it is open, as the metric is a lower bound."""
        if self.metric not in lower_bounds:
            return False
        if self.sign == "==":
            return metrics[self.metric] <= self.bound
        return self._is_met(metrics) == (self.sign in ("<", "<="))

    def _is_met(self, metrics: Mapping[str, float]) -> bool:
        return _COMPARISONS[self.sign](metrics[self.metric], self.bound)

    @property
    def text(self) -> str:
        """The condition as it was written, or as it is read."""
        return self.written or f"{self.metric}{self.sign}{self.bound:g}"
