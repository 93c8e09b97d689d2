"""The numbers behind a plot. `drawing` draws a plot from them and `shortflow report --json` prints them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from shortflow.metrics.stats import Interval


@dataclass(frozen=True)
class Axis:
    """What an axis shows and its unit; `share` is a number from 0 to 1."""

    label: str
    unit: str = ""
    scale: Literal["linear", "log", "category"] = "linear"
    window: tuple[float, float] | None = None
    """The part that is shown at first, if not all of it."""
    categories: Sequence[str] = ()
    """The places on an axis without numbers, in their order."""


@dataclass(frozen=True)
class Series:
    """One scheme's marks, all of them as long as `x`."""

    scheme: str
    at: str | None
    """The point of the study that all marks belong to; null if each mark is a point."""
    x: Sequence[float | str]
    y: Sequence[float]
    ci95: Sequence[Interval | None] | None = None
    """The 95 % interval over the seeds, null where there is one seed; null if the marks pool the seeds."""
    seeds: Sequence[int] | None = None
    """How many seeds each mark is the mean of; null if the marks pool the seeds."""
    lower_bound: Sequence[bool] = ()
    """Where the truth is `y` or more, since flows did not finish; empty for queues and rates."""
    unfinished_share: Sequence[float] | float | None = None
    """The share of flows behind each mark, or behind all of them, that did not finish."""

    labels: Sequence[str] = ()
    """What is shown of each mark when it is pointed at; empty for its numbers alone."""
    joined: bool = False
    """Whether marks that are scattered otherwise are joined by a line."""


@dataclass(frozen=True)
class Panel:
    """Series on one pair of axes."""

    title: str
    x: Axis
    y: Axis
    mark: Literal["bars", "points", "band", "scatter", "steps", "line"]
    series: Sequence[Series]


@dataclass(frozen=True)
class Plot:
    """Panels side by side with what a reader has to know about them."""

    heading: str
    caption: str
    panels: Sequence[Panel]
    menu: dict[str, str]
    """What the menu says for each point of which one at a time is shown; empty without a menu."""
    shown: str | None = None
    """The point that is shown at first."""


@dataclass(frozen=True)
class HeatMap:
    """A number for each pair of values of two keys."""

    title: str
    x: Axis
    y: Axis
    cells: Sequence[Sequence[float | None]]
    """A row for each category of `y`, in it a cell for each category of `x`; null where there is none."""
    lower_bound: Sequence[Sequence[bool]]
    """Where the truth is the cell's number or more."""


@dataclass(frozen=True)
class HeatPlot:
    """Heat maps of one metric, with one scale of colours."""

    heading: str
    caption: str
    colour: Axis
    maps: Sequence[HeatMap]


@dataclass(frozen=True)
class Lines:
    """Lines of one kind through parallel axes, all of them as long as there are axes."""

    group: str
    values: Sequence[Sequence[float]]
    labels: Sequence[str] = ()
    """What is shown of each line when it is pointed at; empty for the group alone."""


@dataclass(frozen=True)
class ParallelPlot:
    """Parallel axes, each with its ends as `window`, and a line through them for each choice of parameters."""

    heading: str
    caption: str
    axes: Sequence[Axis]
    groups: Sequence[Lines]


AnyPlot = Plot | HeatPlot | ParallelPlot
