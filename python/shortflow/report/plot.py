"""Numbers of a plot. `drawing` draws them; `shortflow report --json` prints them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from shortflow.metrics.stats import Interval


@dataclass(frozen=True)
class Axis:
    """Label and unit of an axis; `share` is a number from 0 to 1."""

    label: str
    unit: str = ""
    scale: Literal["linear", "log", "category"] = "linear"
    window: tuple[float, float] | None = None
    """Range shown at first, if not all."""
    categories: Sequence[str] = ()
    """Positions on an axis without numbers, in order."""


@dataclass(frozen=True)
class Series:
    """Marks of one scheme, in sequences as long as `x`."""

    scheme: str
    at: str | None
    """Point of the study for all marks; null if each mark is a point."""
    x: Sequence[float | str]
    y: Sequence[float]
    ci95: Sequence[Interval | None] | None = None
    """95 % interval over the seeds, null for one seed; null if marks pool the seeds."""
    seeds: Sequence[int] | None = None
    """Number of seeds of each mark; null if marks pool the seeds."""
    lower_bound: Sequence[bool] = ()
    """True for marks below the true value, because of unfinished flows; empty for queues and rates."""
    unfinished_share: Sequence[float] | float | None = None
    """Share of unfinished flows behind each mark, or behind all."""

    labels: Sequence[str] = ()
    """Hover text of each mark; empty for its numbers alone."""
    joined: bool = False
    """True if scattered marks are joined by a line."""


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
    """Panels side by side with heading and caption."""

    heading: str
    caption: str
    panels: Sequence[Panel]
    menu: dict[str, str]
    """Menu label of each point, if one point is shown at a time; empty without a menu."""
    shown: str | None = None
    """Point shown at first."""


@dataclass(frozen=True)
class HeatMap:
    """A number for each pair of values of two keys."""

    title: str
    x: Axis
    y: Axis
    cells: Sequence[Sequence[float | None]]
    """A row per category of `y`, with a cell per category of `x`; null if there is none."""
    lower_bound: Sequence[Sequence[bool]]
    """True for cells below the true value."""


@dataclass(frozen=True)
class HeatPlot:
    """Heat maps of one metric with a common colour scale."""

    heading: str
    caption: str
    colour: Axis
    maps: Sequence[HeatMap]


@dataclass(frozen=True)
class Lines:
    """Lines of one kind through parallel axes; each has one value per axis."""

    group: str
    values: Sequence[Sequence[float]]
    labels: Sequence[str] = ()
    """Hover text of each line; empty for the group alone."""


@dataclass(frozen=True)
class ParallelPlot:
    """Parallel axes, each with its ends as `window`, and one line per choice of parameters."""

    heading: str
    caption: str
    axes: Sequence[Axis]
    groups: Sequence[Lines]


AnyPlot = Plot | HeatPlot | ParallelPlot
