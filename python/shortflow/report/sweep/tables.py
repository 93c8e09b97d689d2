"""A sweep as blocks."""

from collections.abc import Sequence

from shortflow.metrics.catalogue import Metric
from shortflow.quantities import counted
from shortflow.report.blocks import Block, Words
from shortflow.report.tables import overview_section
from shortflow.results import Results

_MOST_ROWS = 40
"""Most rows shown; the table of runs has the rest."""


def sweep_blocks(sweep: Results, metrics: Sequence[str] = (), baseline: str | None = None) -> list[Block]:
    """Caption, and one row per point and scheme with some metrics (default: main ones)."""
    caption = Words(f"{sweep.title}\n{sweep.scenario}{sweep.changed}: mean ± 95 % confidence over the seeds")
    points = [point for point in sweep.points if point.runs]
    if not points:
        return [caption, Words("no run finished")]
    shown = points[: max(1, _MOST_ROWS // len(points[0].schemes))]
    names = [_metric(name, points) for name in metrics]
    heading = f"{len(shown):,} of {len(points):,} points" if len(shown) < len(points) else counted(len(points), "point")
    return [caption, overview_section(heading, ",\n".join(sweep.keys), shown, names, baseline)]


def _metric(name: str, points: Sequence[Results]) -> Metric:
    """Metric of this name; some points may lack it."""
    having = next((point for point in points if name in point.metrics), points[0])
    return having.require(name)
