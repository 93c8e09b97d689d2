"""The numbers that one run is judged by, from its flow table, its port table and its counters.

Completion times count the flows that started after the warm-up and finished; goodput counts what was acknowledged
between the warm-up and the end, whenever the flow started; drops, marks, retransmissions and timeouts count the whole
run. A metric that a run does not have is absent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from shortflow.errors import unknown_name
from shortflow.records import Meta
from shortflow.stats import nearest_rank

PERCENTILES = (50, 95, 99)
BURST_GAP_S = 1e-3
BURST_FLOWS = 10
TASKS = {"query": "queries", "job": "jobs", "shuffle": "shuffles", "request": "requests"}
"""The kinds of tasks, and what several are called."""


@dataclass(frozen=True)
class Metric:
    """What a metric's name means: a label for people, its unit, and the class of flows it is about (or none)."""

    name: str
    label: str
    unit: str
    flow_class: str | None = None


@dataclass(frozen=True)
class _Kind:
    """The names of one metric for every class: `prefix<class>suffix`."""

    prefix: str
    suffix: str
    label: str
    unit: str


_PER_CLASS = (
    _Kind("flows_", "", "flows", ""),
    _Kind("afct_", "_s", "mean FCT", "s"),
    *(
        _Kind(f"p{percent}_", "_s", "median FCT" if percent == 50 else f"p{percent} FCT", "s")
        for percent in PERCENTILES
    ),
    _Kind("slowdown_", "", "slowdown", "x"),
    _Kind("distance_", "", "mean FCT over ideal SRPT", "x"),
    _Kind("goodput_", "_bps", "goodput", "bps"),
    _Kind("throughput_", "_bps", "throughput", "bps"),
    _Kind("queueing_", "_s", "wait per packet", "s"),
    _Kind("deadline_miss_", "", "deadlines missed", "share"),
    _Kind("inversions_", "", "size inversions per burst", ""),
)


def _of_tasks(kind: str, label: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The metrics of one kind of task: their label and unit."""
    yield f"{kind}_count", (label, "")
    yield f"{kind}_time_s", (f"{kind} time", "s")
    for percent in PERCENTILES:
        yield f"p{percent}_{kind}_time_s", (f"{kind} time, p{percent}", "s")
    yield f"{kind}_miss", (f"{label} too late", "share")


_PER_RUN = {
    "queue_mean_pkt": ("queue, mean", "pkt"),
    "queue_max_pkt": ("queue, max", "pkt"),
    "utilisation": ("link use", "share"),
    "drops": ("drops", ""),
    "marks": ("marks", ""),
    "retransmits": ("retransmissions", ""),
    "timeouts": ("timeouts", ""),
    "deadline_miss": ("deadlines missed", "share"),
    "unfinished": ("unfinished flows", ""),
    **{name: about for kind, label in TASKS.items() for name, about in _of_tasks(kind, label)},
}


def describe(name: str) -> Metric:
    """The meaning of a metric's name; an unknown one is an error that suggests the nearest."""
    if name in _PER_RUN:
        return Metric(name, *_PER_RUN[name])
    for kind in _PER_CLASS:
        flow_class = name.removeprefix(kind.prefix).removesuffix(kind.suffix)
        if flow_class and name == f"{kind.prefix}{flow_class}{kind.suffix}":
            return Metric(name, kind.label, kind.unit, flow_class)
    patterns = [f"{kind.prefix}<class>{kind.suffix}" for kind in _PER_CLASS]
    raise unknown_name("metric", name, [*patterns, *_PER_RUN])


def is_of_tasks(name: str) -> bool:
    """Whether a metric is about queries, jobs or requests."""
    return any(name == found for kind, label in TASKS.items() for found, _ in _of_tasks(kind, label))


def measure(flows: pl.DataFrame, tasks: pl.DataFrame, ports: pl.DataFrame, meta: Meta) -> dict[str, float]:
    """All metrics that the run has, by name."""
    metrics: dict[str, float] = {}
    for flow_class in sorted(flows["class"].unique()):
        of_class = flows.filter(pl.col("class") == flow_class)
        counted = of_class.filter(pl.col("start_s") >= meta["warmup_s"])
        metrics.update(_completion(flow_class, counted))
        metrics.update(_queueing(flow_class, of_class))
        metrics.update(_deadlines(f"deadline_miss_{flow_class}", counted, meta["end_s"]))
        metrics.update(_goodput(flow_class, of_class, meta["duration_s"] - meta["warmup_s"]))
    metrics.update(_queues(ports.filter(pl.col("port").is_in(meta["measured_ports"]))))
    if not ports.is_empty():  # an ideal scheduler has no packets to count
        metrics["drops"] = float(meta["counters"]["packets_dropped"])
        metrics["marks"] = float(ports["marks"].sum())
        metrics["retransmits"] = float(flows["retransmits"].sum())
        metrics["timeouts"] = float(flows["timeouts"].sum())
    metrics.update(_deadlines("deadline_miss", flows.filter(pl.col("start_s") >= meta["warmup_s"]), meta["end_s"]))
    metrics.update(_tasks(tasks.filter(pl.col("start_s") >= meta["warmup_s"]), meta["end_s"]))
    metrics["unfinished"] = float(meta["unfinished"])
    return metrics


def distances(metrics: Mapping[str, float], best: Mapping[str, float]) -> dict[str, float]:
    """For every class of flows the mean completion time over the best possible one, that of ideal SRPT."""
    found = {name: describe(name) for name in metrics if name.startswith("afct_") and best.get(name)}
    return {f"distance_{metric.flow_class}": metrics[name] / best[name] for name, metric in found.items()}


def _completion(flow_class: str, flows: pl.DataFrame) -> Iterator[tuple[str, float]]:
    finished = flows.filter(pl.col("fct_s").is_not_null())
    if finished.is_empty():
        return
    fct = finished["fct_s"].to_numpy()
    yield f"flows_{flow_class}", float(len(fct))
    yield f"afct_{flow_class}_s", float(fct.mean())
    for percent in PERCENTILES:
        yield f"p{percent}_{flow_class}_s", nearest_rank(fct, percent)
    yield f"slowdown_{flow_class}", float(finished["slowdown"].to_numpy().mean())
    yield from _inversions(flow_class, finished)


def _inversions(flow_class: str, flows: pl.DataFrame) -> Iterator[tuple[str, float]]:
    """How often, among the flows of a burst by size, one takes longer than the next larger one; mean over bursts.

    A burst is a run of at least ten flows that start less than a millisecond after one another (pECN, Fig. 7).
    """
    burst = (pl.col("start_s").diff().fill_null(0.0) > BURST_GAP_S).cum_sum().alias("burst")
    ordered = flows.sort("start_s").with_columns(burst).sort("burst", "size_bytes", "fct_s")
    longer = (pl.col("fct_s").diff() < 0).sum()
    counts = ordered.group_by("burst").agg(longer.alias("inversions"), pl.len()).filter(pl.col("len") >= BURST_FLOWS)
    if not counts.is_empty():
        yield f"inversions_{flow_class}", float(counts["inversions"].to_numpy().mean())


def _goodput(flow_class: str, flows: pl.DataFrame, window_s: float) -> Iterator[tuple[str, float]]:
    """What the backlogged flows of a class get together, and what its finite flows do."""
    backlogged = flows.filter(pl.col("size_bytes").is_null())
    finite = flows.filter(pl.col("size_bytes").is_not_null())
    if not finite.is_empty():
        yield f"throughput_{flow_class}_bps", float(finite["window_bytes"].sum()) * 8 / window_s
    if not backlogged.is_empty():
        yield f"goodput_{flow_class}_bps", float(backlogged["window_bytes"].sum()) * 8 / window_s


def _queues(measured: pl.DataFrame) -> Iterator[tuple[str, float]]:
    """Over the measured ports: the mean of their mean queues, the longest queue, the mean utilisation."""
    if measured.is_empty():
        return
    yield "queue_mean_pkt", float(measured["queue_mean_pkt"].to_numpy().mean())
    yield "queue_max_pkt", float(measured["queue_max_pkt"].to_numpy().max())
    yield "utilisation", float(measured["utilisation"].to_numpy().mean())


def _queueing(flow_class: str, flows: pl.DataFrame) -> Iterator[tuple[str, float]]:
    """The time that a packet waits in switches: mean over flows of each flow's mean, flows of the warm-up that
    have no end included."""
    counted = flows["switch_queueing_s"].drop_nulls()
    if len(counted):
        yield f"queueing_{flow_class}_s", float(counted.to_numpy().mean())


def _tasks(tasks: pl.DataFrame, end_s: float) -> Iterator[tuple[str, float]]:
    """Queries, jobs and requests: how many were done, how long they took, and how many took too long."""
    for kind in TASKS:
        of_kind = tasks.filter(pl.col("kind") == kind)
        times = of_kind["time_s"].drop_nulls().to_numpy()
        if len(times):
            yield f"{kind}_count", float(len(times))
            yield f"{kind}_time_s", float(times.mean())
            for percent in PERCENTILES:
                yield f"p{percent}_{kind}_time_s", nearest_rank(times, percent)
        yield from _deadlines(f"{kind}_miss", of_kind, end_s)


def _deadlines(name: str, rows: pl.DataFrame, end_s: float) -> Iterator[tuple[str, float]]:
    """The share of deadlines missed; what is still open at the end has missed its deadline if that has passed."""
    with_deadline = rows.filter(pl.col("deadline_s").is_not_null())
    passed = pl.col("start_s") + pl.col("deadline_s") < end_s
    decided = with_deadline.select(pl.coalesce("missed", pl.when(passed).then(True)).alias("missed"))[
        "missed"
    ].drop_nulls()
    if len(decided):
        yield name, float(decided.sum()) / len(decided)
