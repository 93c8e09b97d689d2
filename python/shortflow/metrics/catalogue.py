"""Metrics, each declared once: name, label, unit, meaning and computation.

A metric is a statistic of a subject. Subjects are a class of flows, a size bin of a class, all flows of a range of
sizes, a kind of tasks, the measured ports, and the network.

Goodput, waits and queues are of the measured time, regardless of when a flow started. Retransmissions and timeouts are
those of flows whose completion times count, until they finish, and of backlogged flows in the measured time. Metrics
without a value in a run are absent.
"""

import functools
import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from shortflow.judge.estimates import Support
from shortflow.metrics.collection import collection_paused
from shortflow.metrics.data import (
    FAIR_ENOUGH,
    FAIR_WINDOWS,
    USUAL_BINS,
    Bins,
    Collectives,
    Flow,
    FlowGroup,
    LowerBound,
    RunData,
    Table,
    Tasks,
    Times,
    mean,
)
from shortflow.metrics.statistic import TASKS, Metric, MetricValue, Scope, Statistic
from shortflow.records import Meta

S = TypeVar("S")

PERCENTILES = (1, 5, 50, 95, 99, 100)
FEW_PERCENTILES = (50, 99, 100)
SIZE_PERCENTILES = (50, 99, 99.9, 100)
TASK_PERCENTILES = (50, 95, 99, 100)
QUEUE_PERCENTILES = (50, 95, 99)


OF_BIN = Scope[FlowGroup]()
OF_SIZE = Scope[FlowGroup]()
"""Flows of all classes in a range of sizes."""
OF_CLASS = Scope[FlowGroup]()
OF_BOTH = Scope[tuple[float, float]]()
"""Pairs of a number: of a run, and of the run under ideal SRPT."""
OF_TASKS = Scope[Tasks]()
OF_COLLECTIVES = Scope[Collectives]()
OF_PORTS = Scope[RunData]()
OF_NETWORK = Scope[RunData]()


_FCT, _RECEIPT = ("mean FCT", "FCT"), ("mean time to receipt", "time to receipt")


class Family(NamedTuple):
    """Statistics of one distribution of times or slowdowns."""

    number: Statistic
    mean: Statistic
    percentiles: Mapping[Any, Statistic]
    times: "Family | None" = None
    """For slowdowns: the completion times of the same flows."""


FAMILIES: list[Family] = []


def _family(
    scope: Scope[S],
    number: Statistic,
    names: tuple[str, str],
    labels: tuple[str, str],
    about: str,
    percents: Sequence[float],
    of: Callable[[S], Times],
    times: Family | None = None,
) -> Family:
    """Declares the mean and the percentiles of a distribution of times, or of slowdowns if `times` is given.

    `{}` in the second name stands for the percentile.
    """
    unit = "x" if times else "s"
    average, found = scope.has(names[0], labels[0], unit, f"{about}: mean")(lambda some: of(some).mean), {}
    for percent in percents:
        name, rank = names[1].format(f"{percent:g}".replace(".", "")), "median" if percent == 50 else f"p{percent}"
        declared = scope.has(name, f"{rank} {labels[1]}", unit, f"{about}: percentile {percent:g}")
        found[percent] = declared(functools.partial(_percentile, of, percent))
    FAMILIES.append(Family(number, average, found, times))
    return FAMILIES[-1]


def _percentile(of: Callable[[S], Times], percent: float, some: S) -> float | None:
    return of(some).percentile(percent)


def _mean_of(column: str) -> Callable[[RunData], float | None]:
    return lambda run: mean(run.measured(column))


def _bps(flows: FlowGroup, some: Sequence[Flow]) -> float | None:
    """Total goodput of some of the flows, in bits per second."""
    measured_s = flows.run.meta["duration_s"] - flows.run.meta["warmup_s"]
    return sum(flow.delivered_bytes for flow in some) * 8 / measured_s if some else None


BIN_FLOWS_DONE = OF_BIN.has(
    "flows_<class>_<bin>",
    "flows done",
    "",
    "flows of a bin of sizes that started after the warm-up and finished",
    more=True,
)(lambda flows: flows.done)
BIN_MEAN_FCT = _family(
    OF_BIN,
    BIN_FLOWS_DONE,
    ("afct_<class>_<bin>_s", "p{}_<class>_<bin>_s"),
    _FCT,
    "completion time of flows of a bin of sizes",
    FEW_PERCENTILES,
    lambda flows: flows.times,
).mean

SIZE_FLOWS_DONE = OF_SIZE.has(
    "flows_<bin>",
    "flows done",
    "",
    "flows of all classes in a range of sizes that started after the warm-up and finished",
)(lambda flows: flows.times.done if flows.counted else None)
_SIZE_TIMES = _family(
    OF_SIZE,
    SIZE_FLOWS_DONE,
    ("afct_<bin>_s", "p{}_<bin>_s"),
    _FCT,
    "completion time of flows in a range of sizes",
    (99, 100),
    lambda flows: flows.times,
)
SIZE_MEAN_FCT, SIZE_FCT = _SIZE_TIMES.mean, _SIZE_TIMES.percentiles
SIZE_RECEIPTS = _family(
    OF_SIZE,
    SIZE_FLOWS_DONE,
    ("receipt_<bin>_s", "receipt_p{}_<bin>_s"),
    _RECEIPT,
    "time until the receiver has the last byte, in a range of sizes",
    FEW_PERCENTILES,
    lambda flows: flows.receipts,
).percentiles
SIZE_SLOWDOWNS = _family(
    OF_SIZE,
    SIZE_FLOWS_DONE,
    ("slowdown_<bin>", "slowdown_p{}_<bin>"),
    ("slowdown", "slowdown"),
    "slowdown of flows in a range of sizes",
    SIZE_PERCENTILES,
    lambda flows: flows.slowdowns,
    _SIZE_TIMES,
).percentiles
SIZE_FLOW_GOODPUT = OF_SIZE.has(
    "flow_goodput_<bin>_bps",
    "goodput per flow",
    "bps",
    "payload acknowledged over the time that flows in a range of sizes were open; backlogged flows are long",
)(lambda flows: flows.flow_goodput_bps)


def short_and_long(bins: Bins) -> tuple[Metric, Metric, Metric]:
    """Headline metrics of flows: p99 slowdown and mean FCT of short flows, goodput of long flows."""
    slowdown, fct = (Metric(each, size_bin=bins.short) for each in (SIZE_SLOWDOWNS[99], SIZE_MEAN_FCT))
    return slowdown, fct, Metric(SIZE_FLOW_GOODPUT, size_bin=bins.long)


FLOWS_DONE = OF_CLASS.has(
    "flows_<class>", "flows done", "", "flows of the class that started after the warm-up and finished", more=True
)(lambda flows: flows.done)
UNFINISHED_SHARE = OF_CLASS.has(
    "unfinished_share_<class>",
    "unfinished",
    "share",
    "share that did not finish of the flows that started after the warm-up",
)(lambda flows: flows.times.open_share)
_TIMES = _family(
    OF_CLASS,
    FLOWS_DONE,
    ("afct_<class>_s", "p{}_<class>_s"),
    _FCT,
    "completion time",
    PERCENTILES,
    lambda flows: flows.times,
)
MEAN_FCT, FCT = _TIMES.mean, _TIMES.percentiles
"""Mean completion time, and percentiles of completion times by percentage."""
_family(
    OF_CLASS,
    FLOWS_DONE,
    ("receipt_<class>_s", "receipt_p{}_<class>_s"),
    _RECEIPT,
    "time until the receiver has the last byte and all before it",
    FEW_PERCENTILES,
    lambda flows: flows.receipts,
)
_SLOWDOWNS = _family(
    OF_CLASS,
    FLOWS_DONE,
    ("slowdown_<class>", "slowdown_p{}_<class>"),
    ("slowdown", "slowdown"),
    "completion time relative to an empty network",
    FEW_PERCENTILES,
    lambda flows: flows.slowdowns,
    _TIMES,
)
SLOWDOWN, SLOWDOWNS = _SLOWDOWNS.mean, _SLOWDOWNS.percentiles
OF_CLASS.has(
    "inversions_<class>",
    "size inversions per burst",
    "",
    "how often a flow of a burst to one host outlasts the next larger",
)(lambda flows: flows.inversions)
OF_CLASS.has(
    "queueing_<class>_s",
    "wait per packet",
    "s",
    "a packet's wait in switches, in the measured time: mean over flows of their means",
    Support.NONNEGATIVE,
)(lambda flows: mean([wait for flow in flows.flows if (wait := flow.measured_switch_queueing_s) is not None]))
CLASS_DEADLINE_MISS = OF_CLASS.has(
    "deadline_miss_<class>", "deadlines missed", "share", "share of deadlines that the class's flows missed"
)(lambda flows: flows.deadline_miss)
THROUGHPUT = OF_CLASS.has(
    "throughput_<class>_bps", "throughput", "bps", "payload of all finite flows that arrived per measured second"
)(lambda flows: _bps(flows, flows.finite))
GOODPUT = OF_CLASS.has(
    "goodput_<class>_bps", "goodput", "bps", "payload of all backlogged flows that arrived per measured second"
)(lambda flows: _bps(flows, flows.backlogged))
FLOW_GOODPUT = OF_CLASS.has(
    "flow_goodput_<class>_bps",
    "goodput per flow",
    "bps",
    "acknowledged payload of all flows divided by the sum of the times for which they were open; backlogged flows count"
    " in the measured time",
)(lambda flows: flows.flow_goodput_bps)
JAIN = OF_CLASS.has(
    "jain_<class>",
    "Jain index",
    "",
    "Jain index of the goodput of two or more backlogged flows",
    Support.SHARE,
    more=True,
)(lambda flows: flows.jain)
SHORT_JAIN = OF_CLASS.has(
    "jain_sampled_<class>",
    "Jain index over short times",
    "",
    "Jain index of the open backlogged flows, mean over windows of a thousand round trips or 2000 packets per flow;"
    " `measure.sample_every` must not be longer than a window",
    Support.SHARE,
    more=True,
)(lambda flows: flows.jain_sampled)
CONVERGENCE = OF_CLASS.has(
    "convergence_<class>_s",
    "convergence",
    "s",
    f"time from the last start of a backlogged flow to {FAIR_WINDOWS} windows in a row with a Jain index of at least"
    f" {FAIR_ENOUGH}; a window has ten round trips or 20 packets per flow, and `measure.sample_every` must not be"
    " longer",
    Support.NONNEGATIVE,
)(lambda flows: flows.convergence_s)
CLASS_TIMEOUTS = OF_CLASS.has(
    "timeouts_<class>",
    "timeouts per flow",
    "",
    "retransmission timeouts per flow, over the life of finite flows that started after the warm-up and in the measured"
    " time of backlogged flows",
)(lambda flows: flows.timeouts)
OF_CLASS.has(
    "timed_out_<class>",
    "flows with a timeout",
    "share",
    "share of flows with a timeout, of the finite flows that started after the warm-up",
)(lambda flows: flows.timed_out)
DISTANCE = OF_BOTH.has(
    "distance_<class>",
    "mean FCT over ideal SRPT",
    "x",
    "mean completion time over ideal SRPT's",
    Support.POSITIVE,
)(lambda means: means[0] / means[1])

TASK_COUNT = OF_TASKS.has(
    "<task>_count",
    "{tasks}",
    "",
    "queries, jobs, shuffles, requests that began after the warm-up and finished",
    more=True,
)(lambda tasks: tasks.times.done)
TASK_TIME = OF_TASKS.has("<task>_time_s", "{task} time", "s", "time from begin to end: mean")(
    lambda tasks: tasks.times.mean
)
TASK_TIMES = {
    percent: OF_TASKS.has(
        f"p{percent}_<task>_time_s", f"{{task}} time, p{percent}", "s", f"time of a task: percentile {percent}"
    )(functools.partial(_percentile, lambda tasks: tasks.times, percent))
    for percent in TASK_PERCENTILES
}
"""Percentiles of the task time by percentage."""
FAMILIES.append(Family(TASK_COUNT, TASK_TIME, TASK_TIMES))
OF_TASKS.has("<task>_miss", "{tasks} too late", "share", "share of deadlines missed")(lambda tasks: tasks.miss)
OF_TASKS.has(
    "<task>_timed_out", "{tasks} with a timeout", "share", "share of the tasks one or more of whose flows had a timeout"
)(lambda tasks: tasks.timed_out)


@OF_COLLECTIVES.has(
    "<task>_bandwidth_bps",
    "bus bandwidth",
    "bps",
    "payload that each rank of a ring receives, over the time of its collective: the bus bandwidth of nccl-tests; over"
    " the links' rate it is the share of the bound",
)
def _bus_bandwidth(collectives: Collectives) -> float | None:
    def of_one(time_s: float, ranks: list[list[Flow]]) -> float:
        return 8 * sum(flow.size_bytes or 0 for chunks in ranks for flow in chunks) / len(ranks) / time_s

    return collectives.mean_of(of_one)


@OF_COLLECTIVES.has(
    "<task>_slowest", "slowest rank", "x", "time of the chunks of a ring's slowest rank, relative to the mean rank's"
)
def _slowest_rank(collectives: Collectives) -> float | None:
    def of_one(_: float, ranks: list[list[Flow]]) -> float:
        times = [sum(flow.fct_s or 0.0 for flow in chunks) for chunks in ranks]
        return max(times) * len(times) / sum(times)

    return collectives.mean_of(of_one)


for _name, _unit in (("pkt", "pkt"), ("bytes", "B")):
    OF_PORTS.has(
        f"queue_mean_{_name}", "queue, mean", _unit, "mean backlog over time, averaged over the measured ports"
    )(_mean_of(f"queue_mean_{_name}"))
    for _percent in QUEUE_PERCENTILES:
        OF_PORTS.has(
            f"queue_p{_percent}_{_name}",
            f"queue, p{_percent}",
            _unit,
            f"percentile {_percent} of the backlog over time, averaged over the measured ports; needs"
            " `measure.sample_every`",
        )(_mean_of(f"queue_p{_percent}_{_name}"))
    OF_PORTS.has(f"queue_max_{_name}", "queue, max", _unit, "longest backlog of any measured port after the warm-up")(
        lambda run, column=f"queue_max_{_name}": max(run.measured(column), default=None)  # type: ignore[misc]
    )
QUEUE_MEAN = {each.unit: each for each in OF_PORTS.statistics if each.pattern.startswith("queue_mean")}
"""Mean queue by unit: `pkt` or `B`."""
UTILISATION = OF_PORTS.has(
    "utilisation",
    "link use, measured time",
    "share",
    "busy share of the measured time, mean over the measured ports",
    more=True,
)(_mean_of("utilisation"))

DROPS = OF_NETWORK.has(
    "drops",
    "dropped packets, measured time",
    "",
    "packets dropped anywhere in the measured time, ACKs included",
)(lambda run: run.packets(sum(row["measured"] for row in run.meta["drops"])))
OF_NETWORK.has(
    "drops_in_run",
    "dropped packets, whole run",
    "",
    "packets dropped anywhere from the start to the end of the drain, ACKs included",
)(lambda run: run.packets(sum(row["in_run"] for row in run.meta["drops"])))
MARKS = OF_NETWORK.has("marks", "marks, measured time", "", "packets marked anywhere in the measured time")(
    lambda run: run.packets(sum(marks for (marks,) in run.rows("ports", ["marks"])))
)
OF_NETWORK.has(
    "marks_in_run", "marks, whole run", "", "packets marked anywhere from the start to the end of the drain"
)(lambda run: run.meta["counters"].get("marks") if "counters" in run.meta else None)
OF_NETWORK.has("trims", "trims, measured time", "", "packets that lost their payload anywhere in the measured time")(
    lambda run: sum(run.known("trims")) if "trims" in run.meta.get("counters", {}) else None
)
OF_NETWORK.has(
    "trims_in_run",
    "trims, whole run",
    "",
    "packets that lost their payload anywhere from the start to the end of the drain",
)(lambda run: run.meta.get("counters", {}).get("trims"))
OF_NETWORK.has(
    "pauses",
    "pauses, measured time",
    "",
    "times that data was paused at a port, by a switch or a fault, in the measured time",
)(lambda run: sum(found) if (found := run.known("pauses")) else None)
OF_NETWORK.has(
    "paused_max_s",
    "longest paused time of a port",
    "s",
    "time of the measured time for which data was paused at the port that was paused longest",
)(lambda run: max(run.known("paused_s"), default=None))
for _priority in range(8):
    OF_NETWORK.has(
        f"pauses_priority_{_priority}",
        f"pauses, priority {_priority}",
        "",
        f"times that a port paused data of priority {_priority} in the measured time, if several have traffic",
    )(functools.partial(RunData.pauses, priority=_priority))
    OF_NETWORK.has(
        f"paused_max_priority_{_priority}_s",
        f"longest paused time, priority {_priority}",
        "s",
        f"longest time in the measured time for which data of priority {_priority} was paused at a port",
    )(functools.partial(RunData.paused_max_s, priority=_priority))
RETRANSMITS = OF_NETWORK.has(
    "retransmits",
    "segments retransmitted",
    "",
    "data segments retransmitted, needed or not, by finite flows that started after the warm-up, until they finish, and"
    " by backlogged flows in the measured time",
)(lambda run: run.packets(run.flows.of_lives("retransmits")))
TIMEOUTS = OF_NETWORK.has(
    "timeouts",
    "timeouts",
    "",
    "retransmission timeouts of finite flows that started after the warm-up, until they finish, and of backlogged flows"
    " in the measured time",
)(lambda run: run.packets(run.flows.of_lives("timeouts")))
DEADLINE_MISS = OF_NETWORK.has("deadline_miss", "deadlines missed", "share", "share of deadlines that flows missed")(
    lambda run: run.flows.deadline_miss
)
UNFINISHED = OF_NETWORK.has(
    "unfinished",
    "unfinished flows",
    "",
    "finite flows that started after the warm-up and were not done at the end of the drain",
)(lambda run: float(run.flows.times.censored.count(True)))
UNFINISHED_OF_ALL = OF_NETWORK.has(
    "unfinished_share",
    "unfinished",
    "share",
    "share that did not finish of the finite flows that started after the warm-up",
)(lambda run: run.flows.times.open_share)

OF_COUNTED_FLOWS = {
    UNFINISHED_SHARE,
    *(each for family in FAMILIES if family.number is not TASK_COUNT for each in (family.number, family.mean)),
    *(each for family in FAMILIES if family.number is not TASK_COUNT for each in family.percentiles.values()),
}
"""Statistics that a class or size bin has if a run counts at least one of its finite flows."""

STATISTICS = {
    statistic.pattern: statistic
    for scope in (OF_BIN, OF_SIZE, OF_CLASS, OF_BOTH, OF_TASKS, OF_COLLECTIVES, OF_PORTS, OF_NETWORK)
    for statistic in scope.statistics
}
"""All statistics by pattern, in listing order."""


def measure(tables: Mapping[str, Table], meta: Meta, bins: Bins = USUAL_BINS) -> list[MetricValue]:
    """All metrics that a run with these tables and metadata has."""
    run = RunData(tables, meta, bins)
    with collection_paused():
        found = [
            MetricValue(metric, float(value), isinstance(value, LowerBound))
            for metric in possible(run.classes, bins).values()
            if (subject := _subject(run, metric)) and (value := metric.statistic.function(subject)) is not None
        ]
        run.forget()
    return found


def telling(rows: Iterable[MetricValue], bins: Bins = USUAL_BINS) -> dict[str, Metric]:
    """The informative metrics among `rows`, by name.

    Metrics of a size bin are informative if the bin has flows and its class has flows in several bins. The same holds
    for bins of flows of all classes, except that those of short and of long flows are always included.
    """
    found = {row.metric.name: row.metric for row in rows}
    means = (BIN_MEAN_FCT, SIZE_MEAN_FCT)
    filled = {(each.flow_class, each.size_bin) for each in found.values() if each.statistic in means}
    several = Counter(flow_class for flow_class, size in filled if size in bins.every)
    return {
        name: each
        for name, each in found.items()
        if each.size_bin is None
        or (each.flow_class is None and each.size_bin in (bins.short, bins.long))
        or ((each.flow_class, each.size_bin) in filled and several[each.flow_class] > 1)
    }


def _subject(run: RunData, metric: Metric) -> FlowGroup | Tasks | Collectives | RunData | None:
    """Subject of a metric in a run; None if the run has no such subject."""
    if metric.statistic is DISTANCE:  # needs a second run: see `distance_rows`
        return None
    if metric.statistic in OF_COLLECTIVES.statistics:
        return run.collectives
    if metric.flow_class is None:
        return run.tasks.get(metric.task) if metric.task else run.sizes[metric.size_bin] if metric.size_bin else run
    flows = run.classes[metric.flow_class]
    return flows.bins.get(metric.size_bin) if metric.size_bin else flows


def distance_rows(rows: Iterable[MetricValue], best: Iterable[MetricValue]) -> list[MetricValue]:
    """Distance of each class: its mean FCT divided by its mean FCT under ideal SRPT, whose metrics are `best`.

    A class of which the ideal run left flows unfinished has no distance.
    """
    means = {row.metric: row.value for row in best if row.value and not row.lower_bound}
    return [
        MetricValue(Metric(DISTANCE, row.metric.flow_class), value, row.lower_bound)
        for row in rows
        if row.metric.statistic is MEAN_FCT and row.metric in means
        if (value := DISTANCE.function((row.value, means[row.metric])))
    ]


def possible(classes: Iterable[str], bins: Bins = USUAL_BINS) -> Mapping[str, Metric]:
    """All metrics that a run with these flow classes may have, by name."""
    return _possible(tuple(dict.fromkeys(classes)), bins)


@functools.cache
def _possible(names: Sequence[str], bins: Bins) -> Mapping[str, Metric]:
    every = [Metric(each, name) for name in names for scope in (OF_CLASS, OF_BOTH) for each in scope.statistics]
    every += [Metric(each, name, of) for name in names for of in bins.every for each in OF_BIN.statistics]
    every += [Metric(each, size_bin=of) for of in bins.ranges for each in OF_SIZE.statistics]
    every += [Metric(each) for scope in (OF_PORTS, OF_NETWORK) for each in scope.statistics]
    every += [Metric(each, task=kind) for kind in TASKS for each in OF_TASKS.statistics]
    every += [Metric(each, task="collective") for each in OF_COLLECTIVES.statistics]
    return {metric.name: metric for metric in every}


def named(
    values: Mapping[str, float], lower_bounds: Collection[str], classes: Iterable[str], bins: Bins = USUAL_BINS
) -> list[MetricValue]:
    """Metric values of a run, from values stored by name. Raises `KeyError` for a name that is no metric."""
    known = possible(classes, bins)
    return [MetricValue(known[name], value, name in lower_bounds) for name, value in values.items()]


@functools.cache
def measuring_id() -> str:
    """Hash of the sources of this package. Metrics that were stored under another hash are out of date."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
