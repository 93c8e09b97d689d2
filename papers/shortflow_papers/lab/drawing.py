"""Curves of figures, independent of any plotting library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shortflow import ConfigError, Estimate
from shortflow.api.errors import TooLittle, unknown_name
from shortflow.api.judge import Interval
from shortflow.api.numbers import in_unit_of_first, scale_for
from shortflow_papers.lab.data import Data
from shortflow_papers.lab.expressions import MetricOrMeasure
from shortflow_papers.lab.quantity import PrintedNumber
from shortflow_papers.lab.study import Study, Value


@dataclass(frozen=True)
class Line:
    """A curve with its intervals and marks. Sequences have one element per mark."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    ci95: Sequence[Interval | None] = ()
    """95 % interval of each mark, None for a single seed; empty for curves without intervals."""
    markers: bool = True
    lower_bound: Sequence[bool] = ()
    """True for each mark that is a lower bound because of unfinished flows; empty if there is none."""
    printed: bool = False
    """True for points that the paper prints. They have the colour of the curve with the same name."""
    apart: bool = False
    """True if the marks are not joined."""


@dataclass(frozen=True)
class Drawing:
    """Curves on one pair of axes, whose labels have units."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Curves:
    """A metric of every scheme over the key `x` of a study's grid. All other keys are `fixed`."""

    x: str
    metric: MetricOrMeasure
    x_label: str
    title: str
    study: str = ""
    """Name of the study; empty for the figure's first study."""
    schemes: Sequence[str] | None = None
    log_y: bool = False
    fixed: Mapping[str, Value] = field(default_factory=dict)

    def check(self, study: Study) -> None:
        """Raises `ConfigError` unless `x` and `fixed` name every key of the study's grid."""
        named = (self.x, *self.fixed)
        for key in named:
            if key not in study.over:
                raise ConfigError(f"curves {self.title!r}: {unknown_name('key of the grid', key, study.over)}")
        for key, values in study.over.items():
            if key not in named:
                example = f"fixed={{{key!r}: {values[0]!r}}}"
                raise ConfigError(f"curves {self.title!r}: {key} is neither x nor fixed; give a value, as in {example}")

    def draw(self, data: Data, printed: Sequence[PrintedNumber] = ()) -> Drawing:
        """Curves of these runs, and points of `printed` numbers that are about the same metric.

        Raises `TooLittle` if no run has the metric.
        """
        points = [(value, {self.x: value, **self.fixed}) for value in data.values(self.x)]
        names = self.schemes or data.at(**points[0][1]).schemes
        estimates = {name: [(v, e) for v, at in points if (e := self._mean(data, name, at))] for name in names}
        for name, found in estimates.items():
            if not found and isinstance(self.metric, str):
                data.check_metric(self.metric, points[0][1], name)
        label, unit = self._about(data)
        scale = scale_for(unit, [e.value for found in estimates.values() for _, e in found])
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
        lines += [
            Line(name, in_unit_of_first([str(at) for at, _ in of]), [y / scale.divisor for _, y in of], printed=True)
            for each in printed
            for name, of in each.over(self.x, self.metric, self.fixed).items()
            if name in names
        ]
        shown = f" ({scale.unit})" if scale.unit else ""
        return Drawing(self.title, self.x_label, f"{label}{shown}", lines, log_y=self.log_y)

    def _mean(self, data: Data, scheme: str, at: Mapping[str, Value]) -> Estimate | None:
        if isinstance(self.metric, str):
            return data.at(**at).mean(scheme, self.metric)
        return data.mean(scheme, self.metric, **at)

    def _about(self, data: Data) -> tuple[str, str]:
        """Label and unit of the metric."""
        if not isinstance(self.metric, str):
            return self.metric.name, self.metric.unit
        known = {name: each for point in data.points.values() for name, each in point.metrics.items()}
        if self.metric not in known:
            raise TooLittle(f"{self.metric}: no run has it")
        return known[self.metric].label, known[self.metric].unit
