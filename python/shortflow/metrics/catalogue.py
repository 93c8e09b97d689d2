"""The names of the numbers that runs are judged by: what each means, its unit, and whom it is about.

`shortflow.measuring` computes them.
"""

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from shortflow.errors import ConfigError, unknown_name

TASKS = {"query": "queries", "job": "jobs", "shuffle": "shuffles", "request": "requests"}
"""The kinds of tasks, and what several are called."""

SIZE_BINS = {
    "10kb": "≤ 10 KB",
    "100kb": "10–100 KB",
    "1mb": "100 KB–1 MB",
    "10mb": "1–10 MB",
    "larger": "> 10 MB",
}
"""The bins of flow sizes, and what they hold; a bin includes its upper end."""

PERCENTILES = (1, 5, 50, 95, 99)
SLOWDOWN_PERCENTILES = (50, 99)
TASK_PERCENTILES = (50, 95, 99)
QUEUE_PERCENTILES = (50, 95, 99)
FAIR_ENOUGH = 0.95
"""The Jain index from which on flows share fairly."""


class Support(Enum):
    """The values that a quantity can take; its interval does not leave them."""

    REAL = "any number"
    NONNEGATIVE = "zero or more"
    SHARE = "from zero to one"
    POSITIVE = "more than zero"


@dataclass(frozen=True)
class Kind:
    """All metrics with one pattern of names, such as `afct_<class>_s`."""

    pattern: str
    label: str
    """What a table's header says."""
    unit: str
    about: str
    """What it is, in a line."""
    support: Support = Support.NONNEGATIVE
    """The values that it can take."""

    @functools.cached_property
    def regex(self) -> re.Pattern[str]:
        """What the names look like."""
        parts = {"<class>": "(?P<flow_class>.+)", "<bin>": f"(?P<size_bin>{'|'.join(SIZE_BINS)})"}
        parts["<task>"] = f"(?P<task>{'|'.join(TASKS)})"
        return re.compile(re.sub("<.*?>", lambda found: parts[found[0]], self.pattern))


@dataclass(frozen=True)
class Metric:
    """What a metric's name means: a label for people, its unit, and the flows or tasks it is about."""

    name: str
    kind: Kind
    label: str
    flow_class: str | None = None
    size_bin: str | None = None
    task: str | None = None

    @property
    def unit(self) -> str:
        """Its unit: s, bps, pkt, B, x (times), share (0 to 1), or nothing for counts and indices."""
        return self.kind.unit

    @property
    def support(self) -> Support:
        """The values that it can take."""
        return self.kind.support


def _percentile(percent: int, what: str) -> str:
    """What a percentile is called."""
    return f"median {what}" if percent == 50 else f"p{percent} {what}"


def _positive(pattern: str, label: str, unit: str, about: str) -> Kind:
    """Of a quantity that is above zero in every run."""
    return Kind(pattern, label, unit, about, Support.POSITIVE)


def _share(pattern: str, label: str, about: str) -> Kind:
    """Of a part of a whole."""
    return Kind(pattern, label, "share", about, Support.SHARE)


# Where two patterns fit a name, one without a class is meant, then the earlier one.
KINDS = (
    Kind(
        "flows_<class>_<bin>", "flows done", "", "flows of a bin of sizes that started after the warm-up and finished"
    ),
    _positive("afct_<class>_<bin>_s", "mean FCT", "s", "completion time of flows of a bin of sizes: mean"),
    _positive("p50_<class>_<bin>_s", "median FCT", "s", "completion time of flows of a bin of sizes: median"),
    _positive("p99_<class>_<bin>_s", "p99 FCT", "s", "completion time of flows of a bin of sizes: percentile 99"),
    Kind("flows_<class>", "flows done", "", "flows of the class that started after the warm-up and finished"),
    _share(
        "unfinished_share_<class>",
        "unfinished",
        "share that did not finish of the flows that started after the warm-up",
    ),
    _positive("afct_<class>_s", "mean FCT", "s", "completion time: mean"),
    *(
        _positive(f"p{percent}_<class>_s", _percentile(percent, "FCT"), "s", f"completion time: percentile {percent}")
        for percent in PERCENTILES
    ),
    *(
        _positive(
            f"slowdown_p{percent}_<class>", _percentile(percent, "slowdown"), "x", f"slowdown: percentile {percent}"
        )
        for percent in SLOWDOWN_PERCENTILES
    ),
    _positive("slowdown_<class>", "slowdown", "x", "completion time over that in an empty network: mean"),
    _positive("distance_<class>", "mean FCT over ideal SRPT", "x", "mean completion time over that of ideal SRPT"),
    Kind("goodput_<class>_bps", "goodput", "bps", "payload of all backlogged flows acknowledged per measured second"),
    Kind(
        "flow_goodput_<class>_bps",
        "goodput per flow",
        "bps",
        "payload acknowledged over the time that flows were open, backlogged ones in the measured time",
    ),
    Kind("throughput_<class>_bps", "throughput", "bps", "payload of all finite flows acknowledged per measured second"),
    Kind(
        "jain_sampled_<class>",
        "Jain index in samples",
        "",
        "Jain index within a sampling interval: mean",
        Support.SHARE,
    ),
    Kind("jain_<class>", "Jain index", "", "Jain index of the goodput of two or more backlogged flows", Support.SHARE),
    Kind(
        "convergence_<class>_s",
        "convergence",
        "s",
        f"from the last start of a backlogged flow until every interval has a Jain index of {FAIR_ENOUGH} or more",
    ),
    Kind("queueing_<class>_s", "wait per packet", "s", "a packet's wait in switches: mean over flows of their means"),
    Kind("timeouts_<class>", "timeouts per flow", "", "retransmission timeouts per flow from before the end"),
    _share("deadline_miss_<class>", "deadlines missed", "share of the class's flows with a deadline"),
    Kind(
        "inversions_<class>",
        "size inversions per burst",
        "",
        "how often a flow of a burst to one host outlasts the next larger",
    ),
    Kind("<task>_count", "{tasks}", "", "queries, jobs, shuffles, requests that began after the warm-up and finished"),
    _positive("<task>_time_s", "{task} time", "s", "time from begin to end: mean"),
    *(
        _positive(
            f"p{percent}_<task>_time_s", f"{{task}} time, p{percent}", "s", f"time of a task: percentile {percent}"
        )
        for percent in TASK_PERCENTILES
    ),
    _share("<task>_miss", "{tasks} too late", "share of the tasks with a deadline"),
    Kind("queue_mean_pkt", "queue, mean", "pkt", "backlog over time: mean; mean over the measured ports"),
    *(
        Kind(f"queue_p{percent}_pkt", f"queue, p{percent}", "pkt", f"backlog over time: percentile {percent}; likewise")
        for percent in QUEUE_PERCENTILES
    ),
    Kind("queue_max_pkt", "queue, max", "pkt", "longest backlog of any measured port after the warm-up"),
    Kind("queue_mean_bytes", "queue, mean", "B", "backlog over time: mean; mean over the measured ports"),
    *(
        Kind(f"queue_p{percent}_bytes", f"queue, p{percent}", "B", f"backlog over time: percentile {percent}; likewise")
        for percent in QUEUE_PERCENTILES
    ),
    Kind("queue_max_bytes", "queue, max", "B", "longest backlog of any measured port after the warm-up"),
    _share("utilisation", "link use", "busy share of the measured time, mean over the measured ports"),
    Kind("drops", "dropped packets", "", "packets dropped anywhere in the whole run, ACKs included"),
    Kind("marks", "marks", "", "packets marked anywhere in the whole run"),
    Kind(
        "retransmits",
        "segments sent again",
        "",
        "data segments that flows from before the end sent again, needed or not",
    ),
    Kind("timeouts", "timeouts", "", "retransmission timeouts of flows from before the end"),
    _share("deadline_miss", "deadlines missed", "share of the flows with a deadline"),
    Kind("unfinished", "unfinished flows", "", "finite flows that were not done at the end of the drain"),
    _share(
        "unfinished_share", "unfinished", "share that did not finish of the finite flows that started after the warm-up"
    ),
)


@functools.cache
def describe(name: str) -> Metric:
    """The meaning of a metric's name; an unknown one is an error that suggests the nearest."""
    for kind in sorted(KINDS, key=lambda kind: "<class>" in kind.pattern):
        if found := kind.regex.fullmatch(name):
            about = found.groupdict()
            task = about.get("task")
            label = kind.label.format(task=task, tasks=TASKS[task]) if task else kind.label
            return Metric(name, kind, label, about.get("flow_class"), about.get("size_bin"), task)
    raise unknown_name("metric", name, [kind.pattern for kind in KINDS])


def missing(name: str, present: Iterable[str]) -> ConfigError:
    """Why runs with the metrics `present` do not have this one."""
    names = list(present)
    flow_class = describe(name).flow_class
    of_class = {metric.kind.pattern for metric in map(describe, names) if metric.flow_class == flow_class}
    if not flow_class or "throughput_<class>_bps" not in of_class or "unfinished_share_<class>" in of_class:
        return unknown_name("metric", name, names)
    return ConfigError(
        f"{name}: no {flow_class} flow was counted, as all of them started during the `warmup`; start them later, or "
        "shorten it"
    )


def distances(metrics: Mapping[str, float], best: Mapping[str, float]) -> dict[str, float]:
    """For every class of flows the mean completion time over the best possible one, that of ideal SRPT."""
    found = [describe(name) for name in metrics if best.get(name)]
    means = [metric for metric in found if metric.kind.pattern == "afct_<class>_s"]
    return {f"distance_{metric.flow_class}": metrics[metric.name] / best[metric.name] for metric in means}
