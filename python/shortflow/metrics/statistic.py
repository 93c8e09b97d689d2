"""What a metric is: a statistic, the statistic of one subject, its value, and the registry of a kind of subjects."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from shortflow.judge.estimates import Support
from shortflow.metrics.data import Sizes

S = TypeVar("S")

TASKS = {"query": "queries", "job": "jobs", "shuffle": "shuffles", "request": "requests", "collective": "collectives"}
"""Plural of each kind of task."""


@dataclass(frozen=True, eq=False)
class Statistic:
    """Definition shared by all metrics with one name pattern, such as `afct_<class>_s`."""

    pattern: str
    label: str
    """Table header."""
    unit: str
    """s, bps, pkt, B, x (times), share (0 to 1), or empty for counts and indices."""
    about: str
    """Description in one line."""
    function: Callable[[Any], float | None]
    """Computes the value for a subject; returns None if the value is undefined."""
    support: Support
    """Range of possible values."""
    more_is_better: bool = False


@dataclass(frozen=True)
class Metric:
    """A statistic of one subject: a class of flows, sizes, a kind of task, or none of them for the whole run."""

    statistic: Statistic
    flow_class: str | None = None
    size_bin: Sizes | None = None
    task: str | None = None

    @functools.cached_property
    def name(self) -> str:
        """Name, such as `afct_short_s`."""
        size_bin = self.size_bin and self.size_bin.name
        parts = {"<class>": self.flow_class, "<bin>": size_bin, "<task>": self.task}
        return functools.reduce(lambda name, part: name.replace(part, parts[part] or ""), parts, self.statistic.pattern)

    @property
    def label(self) -> str:
        """Table header."""
        return self.statistic.label.format(task=self.task, tasks=TASKS.get(self.task or ""))

    @property
    def sizes(self) -> str:
        """The metric's range of sizes as text, such as `10–100 KB`; empty without one."""
        return self.size_bin.label if self.size_bin else ""

    @property
    def unit(self) -> str:
        """Unit (see `Statistic.unit`)."""
        return self.statistic.unit

    @property
    def support(self) -> Support:
        """Range of possible values."""
        return self.statistic.support

    @property
    def more_is_better(self) -> bool:
        """True if larger values are better: rates, finished flows, fairness."""
        return self.statistic.more_is_better


class MetricValue(NamedTuple):
    """A metric's value in a run."""

    metric: Metric
    value: float
    lower_bound: bool = False
    """True if the true value may be larger: flows were unfinished, or shares not yet fair, at the end of the run."""


class Scope(Generic[S]):
    """Registry of the statistics of one kind of subject."""

    def __init__(self) -> None:
        """Creates an empty registry."""
        self.statistics: list[Statistic] = []

    def has(
        self, pattern: str, label: str, unit: str, about: str, support: Support | None = None, *, more: bool = False
    ) -> Callable[[Callable[[S], float | None]], Statistic]:
        """Decorator that declares the statistic that a function computes.

        The unit implies the support unless `support` is given. Larger values are better for rates, and if `more`.
        """
        of_unit = {"share": Support.SHARE, "s": Support.POSITIVE, "x": Support.SLOWDOWN}
        found = support or of_unit.get(unit, Support.NONNEGATIVE)

        def by(function: Callable[[S], float | None]) -> Statistic:
            self.statistics.append(Statistic(pattern, label, unit, about, function, found, more or unit == "bps"))
            return self.statistics[-1]

        return by
