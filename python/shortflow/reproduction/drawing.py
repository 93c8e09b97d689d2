"""What a figure looks like, free of any plotting library."""

from collections.abc import Sequence
from dataclasses import dataclass

from shortflow.metrics import describe
from shortflow.reproduction.evidence import Data
from shortflow.reproduction.study import Value
from shortflow.tables import scale_for


@dataclass(frozen=True)
class Line:
    """One curve; `low` and `high` are the ends of its 95 % intervals."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    markers: bool = True


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
    scale = scale_for(describe(metric).unit, [e.value for found in estimates.values() for _, e in found])
    lines = []
    for name, found in estimates.items():
        spread = [e.ci95 or (e.value, e.value) for _, e in found]
        lines.append(
            Line(
                name,
                [_number(value) for value, _ in found],
                [e.value / scale.divisor for _, e in found],
                [low / scale.divisor for low, _ in spread],
                [high / scale.divisor for _, high in spread],
            )
        )
    unit = f" ({scale.unit})" if scale.unit else ""
    return Drawing(title, x_label, f"{describe(metric).label}{unit}", lines, log_y=log_y)


def _number(value: Value) -> float:
    """A value of the grid as a number: quantities lose their unit, which the axis names."""
    if not isinstance(value, str):
        return float(value)
    return float("".join(letter for letter in value if letter.isdigit() or letter in ".-"))
