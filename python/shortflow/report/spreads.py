"""Spread of completion times as one line of letters per scheme, for wide terminals."""

import math
from collections.abc import Sequence

from shortflow.metrics.catalogue import FCT, MEAN_FCT, Metric
from shortflow.quantities import scale_for
from shortflow.report.blocks import Column, Section, terminal_width
from shortflow.report.wording import metrics_of, number
from shortflow.results import Results

NARROWEST = 80
"""Columns of a wide terminal."""
_PERCENTILES = (1, 5, 50, 95, 99)
_MOST = 64


def spread_section(comparison: Results) -> Section | None:
    """1st to 99th percentile of the first class of finite flows, ideal schedulers last.

    Percentiles are means over seeds. None if no flow finished, or on a narrow terminal.
    """
    main = next(iter(metrics_of(comparison, MEAN_FCT)), None)
    if main is None or terminal_width() < NARROWEST:
        return None
    metrics = [Metric(FCT[percent], main.flow_class) for percent in _PERCENTILES]
    ends, found = metrics[-1], {}
    for scheme in (*comparison.schemes, *comparison.ideal_names):
        estimates = [comparison.mean(scheme, metric.name) for metric in metrics]
        times = [each.value for each in estimates if each and 0 < each.value < math.inf]
        if len(times) == len(metrics):
            bound = estimates[-1]
            found[scheme] = (times, bool(bound and bound.lower_bound))
    if not found:
        return None
    low, high = min(times[0] for times, _ in found.values()), max(times[-1] for times, _ in found.values())
    names = Column("scheme", list(found))
    room = min(_MOST, terminal_width() - names.width - 8)
    lines = [_line(times, low, high, room, cut=cut) for times, cut in found.values()]
    scale = scale_for(ends.unit, [low, high])
    left, right = (f"{number(end / scale.divisor)} {scale.unit}" for end in (low, high))
    axis = Column(f"{left}{right:>{room - len(left)}}", lines, text=True)
    heading = f"FCT of {main.flow_class} flows, on a logarithmic axis: ─ p1 to p99, ━ p5 to p95, ● median"
    apart = sum(name in comparison.ideal_names for name in found)
    return Section(
        heading + (", → longer still" if any(cut for _, cut in found.values()) else ""), [names], [axis], apart
    )


def _line(times: Sequence[float], low: float, high: float, room: int, *, cut: bool) -> str:
    """Line of one scheme, with an arrow at its end if the last percentile is a lower bound."""

    def place(time: float) -> int:
        share = math.log(time / low) / math.log(high / low) if high > low else 0.0
        return round(share * (room - 1))

    first, left, median, right, last = map(place, times)
    letters = [" "] * first + ["─"] * (last - first + 1)
    letters[left : right + 1] = ["━"] * (right - left + 1)
    if cut:
        letters[last] = "→"
    letters[median] = "●"
    return "".join(letters)
