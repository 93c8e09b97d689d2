"""A sweep as tables for the terminal."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from shortflow.metrics.catalogue import Metric
from shortflow.quantities import counted
from shortflow.report.tables import Section, lay_out, overview_section, stacked
from shortflow.results import Results

_MOST_ROWS = 40
"""Most rows shown; the table of runs has the rest."""


def sweep_tables(sweep: Results, metrics: Sequence[str] = ()) -> RenderableType:
    """One row per point and scheme, with some metrics (default: main ones)."""
    caption = Text(f"{sweep.title}\n{sweep.scenario}{sweep.changed}: mean ± 95 % confidence over the seeds")
    section = sweep_section(sweep, metrics)
    return stacked(caption, *lay_out(section)) if section else stacked(caption, Text("no run finished"))


def sweep_section(sweep: Results, metrics: Sequence[str] = ()) -> Section | None:
    """Like `sweep_tables`, before layout; None if no run finished."""
    points = [point for point in sweep.points if point.runs]
    if not points:
        return None
    shown = points[: max(1, _MOST_ROWS // len(points[0].schemes))]
    names = [_metric(name, points) for name in metrics]
    heading = f"{len(shown):,} of {len(points):,} points" if len(shown) < len(points) else counted(len(points), "point")
    return overview_section(heading, ",\n".join(sweep.keys), shown, names)


def _metric(name: str, points: Sequence[Results]) -> Metric:
    """Metric of this name; some points may lack it."""
    having = next((point for point in points if name in point.metrics), points[0])
    return having.require(name)
