"""What a figure looks like, free of any plotting library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shortflow.lab.data import Data
from shortflow.lab.study import Value
from shortflow.metrics.stats import Interval
from shortflow.quantities import in_unit_of_first, scale_for


@dataclass(frozen=True)
class Line:
    """One curve."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    ci95: Sequence[Interval | None] = ()
    """The 95 % interval of each mark, none for a single seed; empty for curves without."""
    markers: bool = True
    lower_bound: Sequence[bool] = ()
    """Which marks are lower bounds, since flows did not finish; empty for none."""


@dataclass(frozen=True)
class Drawing:
    """Curves on one pair of axes; labels carry the unit."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Curves:
    """A metric of every scheme over one key of a study's grid; the other keys stay as `fixed` says."""

    x: str
    metric: str
    x_label: str
    title: str
    study: str = ""
    """The figure's first, unless named."""
    schemes: Sequence[str] | None = None
    log_y: bool = False
    fixed: Mapping[str, Value] = field(default_factory=dict)

    def draw(self, data: Data) -> Drawing:
        """The curves of these runs."""
        points = [(value, data.at(**{self.x: value, **self.fixed})) for value in data.values(self.x)]
        names = self.schemes or points[0][1].schemes
        estimates = {name: [(v, e) for v, at in points if (e := at.estimate(name, self.metric))] for name in names}
        about = {name: each for _, point in points for name, each in point.metrics.items()}[self.metric]
        scale = scale_for(about.unit, [e.value for found in estimates.values() for _, e in found])
        lines = [
            Line(
                name,
                in_unit_of_first([str(value) for value, _ in found]),
                [e.value / scale.divisor for _, e in found],
                [e.ci95 and (e.ci95[0] / scale.divisor, e.ci95[1] / scale.divisor) for _, e in found],
                lower_bound=[e.lower_bound for _, e in found],
            )
            for name, found in estimates.items()
        ]
        unit = f" ({scale.unit})" if scale.unit else ""
        return Drawing(self.title, self.x_label, f"{about.label}{unit}", lines, log_y=self.log_y)
