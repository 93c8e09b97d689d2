"""What a figure looks like, free of any plotting library."""

from collections.abc import Sequence
from dataclasses import dataclass

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


def curves(
    data: Data,
    x: str,
    metric: str,
    *,
    x_label: str,
    title: str,
    schemes: Sequence[str] | None = None,
    log_y: bool = False,
    **fixed: Value,
) -> Drawing:
    """A metric of every scheme over one key of the grid; the other keys stay as `fixed` says."""
    key = x.replace(".", "__")
    points = [(value, data.at(**{key: value}, **fixed)) for value in data.values(x)]
    names = schemes or points[0][1].schemes
    estimates = {name: [(v, e) for v, point in points if (e := point.estimate(name, metric))] for name in names}
    about = {name: each for _, point in points for name, each in point.metrics.items()}[metric]
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
    return Drawing(title, x_label, f"{about.label}{unit}", lines, log_y=log_y)
