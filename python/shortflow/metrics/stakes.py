"""The stake of a metric in a run: how far one more late flow, or one timeout, would move the metric.

Few seeds may all have missed such an event, so intervals make an allowance for it (see `shortflow.metrics.stats`).
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from shortflow.metrics.catalogue import (
    BIN_FCT,
    BIN_FLOWS_DONE,
    BIN_MEAN_FCT,
    CLASS_TIMEOUTS,
    DROPS,
    FCT,
    FLOWS_DONE,
    MEAN_FCT,
    SLOWDOWN,
    SLOWDOWNS,
    TASK_COUNT,
    TASK_TIME,
    TASK_TIMES,
    Metric,
    Row,
    Statistic,
)
from shortflow.metrics.stats import rank
from shortflow.quantities import parse
from shortflow.scenario import Setting

_FULL = 0.5
"""From this share of the buffer on, a longest queue puts a run at risk of a timeout."""


class _Family(NamedTuple):
    """The statistics of one distribution of times or slowdowns."""

    number: Statistic
    mean: Statistic
    percentiles: Mapping[int, Statistic]
    time: Statistic
    """The mean time behind the mean."""


_FAMILIES = (
    _Family(FLOWS_DONE, MEAN_FCT, FCT, MEAN_FCT),
    _Family(FLOWS_DONE, SLOWDOWN, SLOWDOWNS, MEAN_FCT),
    _Family(BIN_FLOWS_DONE, BIN_MEAN_FCT, BIN_FCT, BIN_MEAN_FCT),
    _Family(TASK_COUNT, TASK_TIME, TASK_TIMES, TASK_TIME),
)


@functools.cache
def _place(metric: Metric) -> tuple[int | None, Sequence[str]] | None:
    """The percentage of a percentile, none of a mean; and the names of number, mean, longest and mean time."""
    for family in _FAMILIES:
        percent = next((each for each, of in family.percentiles.items() if of is metric.statistic), None)
        if percent or family.mean is metric.statistic:
            others = (family.number, family.mean, family.percentiles[100], family.time)
            return percent, [replace(metric, statistic=each).name for each in others]
    return None


def stake(metric: Metric, values: Mapping[str, float], timeout_s: float) -> float:
    """How far one flow, or task, later than the others would move a metric of a run; 0 for other metrics.

    The flow takes as long as the longest of the run or, where `timeout_s` is above zero, a timeout more than usual.
    """
    place = _place(metric)
    if place is None or not all(values.get(name) for name in place[1]):
        return 0.0
    percent = place[0]
    count, mean, longest, mean_s = (values[name] for name in place[1])
    timeout = timeout_s * mean / mean_s
    if percent is None:
        return max(longest - mean, timeout) / count
    # The percentile moves up by one place of those at or above it, where distances grow as in an exponential tail.
    later = int(count) - rank(int(count), percent)
    below = mean if later == 1 else values[metric.name]
    return max(longest - below, timeout) / (later * (1 + math.log(later)))


def timeout_at_risk_s(rows: Sequence[Row], settings: Sequence[Setting]) -> float:
    """The minimum retransmission timeout of a run that may have had a timeout and had none; else 0.

    A run is at risk if a packet was dropped, or a measured queue was longer than half the buffer.
    """
    if any(row.value for row in rows if row.metric.statistic is CLASS_TIMEOUTS):
        return 0.0
    known = {each["key"]: each["value"] for each in settings if each["key"] in ("switch.buffer", "tcp.rto_min")}
    buffer, timeout = (parse(known.get(key, "")) for key in ("switch.buffer", "tcp.rto_min"))
    values = {row.metric.name: row.value for row in rows if row.metric.flow_class is None}
    at_risk = values.get(DROPS.pattern, 0.0) > 0
    if buffer:
        longest = values.get("queue_max_pkt" if buffer.unit == "pkt" else "queue_max_bytes", 0.0)
        at_risk = at_risk or longest > _FULL * buffer.number * buffer.factor
    return timeout.number * timeout.factor if timeout and at_risk else 0.0
