"""Stake of a metric in a run: the effect of one more late flow or one more timeout.

A rare event may occur in none of a few seeds, so intervals allow for one (see `shortflow.judge.estimates`).
"""

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from shortflow.metrics.catalogue import (
    CLASS_TIMEOUTS,
    DROPS,
    FAMILIES,
    FLOW_GOODPUT,
    MEAN_FCT,
    SIZE_FLOW_GOODPUT,
    SIZE_MEAN_FCT,
    SLOWDOWN,
)
from shortflow.metrics.statistic import Metric, MetricValue, Statistic
from shortflow.metrics.stats import rank
from shortflow.quantities import parse
from shortflow.scenario import Setting

_FULL = 0.5
"""A longest queue above this share of the buffer puts a run at risk of a timeout."""


class Risk(NamedTuple):
    """Risk of a timeout in a run."""

    timeout_s: float
    """Minimum RTO in seconds; 0 if the run is not at risk."""
    classes: Collection[str]
    """Classes of flows that had timeouts."""


_GOODPUTS = {FLOW_GOODPUT: MEAN_FCT, SIZE_FLOW_GOODPUT: SIZE_MEAN_FCT}
"""Each statistic of goodput per flow, with the mean completion time of the same flows."""


class StakeSource(NamedTuple):
    """The metric's percentile, and the names of the metrics from which its stake is computed."""

    percent: float | None
    """The percentile; None for a mean."""
    number: str
    """Number of flows or tasks."""
    mean: str
    longest: str
    mean_s: str
    """Mean time; equals `mean` unless the metric is a slowdown."""
    longest_s: str
    smallest_s: str | None
    """For slowdowns of a class: the class's p5 time, which stands for the time of the smallest flows."""


@functools.cache
def stake_source(metric: Metric) -> StakeSource | None:
    """Source of a metric's stake; None for a metric that is neither a mean nor a percentile of times or slowdowns."""

    def name(statistic: Statistic) -> str:
        return replace(metric, statistic=statistic).name

    for family in FAMILIES:
        percent = next((each for each, of in family.percentiles.items() if of is metric.statistic), None)
        if percent or family.mean is metric.statistic:
            times = family.times or family
            return StakeSource(
                percent,
                number=name(family.number),
                mean=name(family.mean),
                longest=name(family.percentiles[100]),
                mean_s=name(times.mean),
                longest_s=name(times.percentiles[100]),
                smallest_s=name(times.percentiles[5]) if family.mean is SLOWDOWN else None,
            )
    return None


def stake(metric: Metric, values: Mapping[str, float], risk: Risk) -> float:
    """Change of a metric if one more flow or task were late, in the metric's unit; 0 for metrics of other kinds.

    The late flow takes as long as the longest flow of the run. If the run is at risk and the longest time includes no
    timeout, the late flow may instead take the mean plus one timeout. The longest time includes no timeout if it is
    shorter than a timeout, or if no flow of the metric's class (of any class, for tasks) had a timeout. A timeout
    raises the slowdown of the smallest flows most.
    """
    if metric.statistic in _GOODPUTS:
        of_time = replace(metric, statistic=_GOODPUTS[metric.statistic])
        later = stake(of_time, values, risk) / values.get(of_time.name, math.inf)
        return values.get(metric.name, 0.0) * later / (1 + later)
    source = stake_source(metric)
    if source is None or not all(values.get(name) for name in source[1:] if name):
        return 0.0
    count, mean, longest, longest_s = (
        values[name] for name in (source.number, source.mean, source.longest, source.longest_s)
    )
    pace = mean / values[source.mean_s]  # increase of the metric per second of delay
    if source.smallest_s:
        pace = max(pace, 1 / values[source.smallest_s])
    had_timeouts = bool(risk.classes) if metric.flow_class is None else metric.flow_class in risk.classes
    timeout = 0.0 if had_timeouts and longest_s >= risk.timeout_s else risk.timeout_s * pace
    if source.percent is None:
        return max(longest - mean, timeout) / count
    # The percentile moves up by one rank. The gaps between the ranks above are taken as those of an exponential tail.
    later = int(count) - rank(int(count), source.percent)
    below = mean if later == 1 else values[metric.name]
    return max(longest - below, timeout) / (later * (1 + math.log(later)))


def risk_of_timeout(rows: Sequence[MetricValue], settings: Sequence[Setting]) -> Risk:
    """Risk of a timeout in a run, from its metrics and settings. If a key occurs several times, its last value counts.

    A run is at risk if a packet was dropped, or if a measured queue was longer than half the buffer.
    """
    known = {each["key"]: each["value"] for each in settings}
    buffer, timeout = (parse(known.get(key, "")) for key in ("switch.buffer", "tcp.rto_min"))
    values = {row.metric.name: row.value for row in rows if row.metric.flow_class is None}
    at_risk = values.get(DROPS.pattern, 0.0) > 0
    if buffer:
        longest = values.get("queue_max_pkt" if buffer.unit == "pkt" else "queue_max_bytes", 0.0)
        at_risk = at_risk or longest > _FULL * buffer.number * buffer.factor
    return Risk(
        timeout.number * timeout.factor if timeout and at_risk else 0.0,
        {row.metric.flow_class or "" for row in rows if row.metric.statistic is CLASS_TIMEOUTS and row.value},
    )
