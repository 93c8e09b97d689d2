"""The metrics of one run, from its tables and counters; `shortflow.metrics` says what each is.

Completion times count the flows that started after the warm-up and finished; goodput counts what was acknowledged
between the warm-up and the end, whenever the flow started; drops and marks count the whole run, the drain and the flows
that start in it included; retransmissions and timeouts are those of all flows that started before the end. A metric
that a run does not have is absent.
"""

import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from shortflow.metrics import (
    FAIR_ENOUGH,
    PERCENTILES,
    QUEUE_PERCENTILES,
    SIZE_BINS,
    SLOWDOWN_PERCENTILES,
    TASK_PERCENTILES,
    TASKS,
)
from shortflow.records import Meta
from shortflow.stats import nearest_rank

BURST_GAP_S = 1e-3
BURST_FLOWS = 10
_BIN_EDGES = (10_000, 100_000, 1_000_000, 10_000_000)


@functools.cache
def measuring_id() -> str:
    """A hash of the code that measures: metrics that other code has measured are not today's."""
    sources = (Path(__file__).with_name(f"{name}.py") for name in ("measuring", "metrics", "stats"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]


def measure(
    flows: pl.DataFrame, tasks: pl.DataFrame, samples: pl.DataFrame, ports: pl.DataFrame, meta: Meta
) -> dict[str, float]:
    """All metrics that the run has, by name."""
    metrics: dict[str, float] = {}
    packets = not ports.is_empty()  # an ideal scheduler has none to count
    for flow_class in sorted(flows["class"].unique()):
        of_class = flows.filter(pl.col("class") == flow_class)
        counted = of_class.filter(pl.col("start_s") >= meta["warmup_s"])
        metrics.update(_completion(flow_class, counted))
        metrics.update(_by_size(flow_class, counted))
        metrics.update(_queueing(flow_class, of_class))
        metrics.update(_deadlines(f"deadline_miss_{flow_class}", counted, meta["end_s"]))
        metrics.update(_goodput(flow_class, of_class, meta["duration_s"] - meta["warmup_s"]))
        metrics.update(_flow_goodput(flow_class, of_class, meta))
        metrics.update(_fairness(flow_class, of_class, samples, meta["warmup_s"]))
        if packets:
            metrics[f"timeouts_{flow_class}"] = float(of_class["timeouts"].sum()) / of_class.height
    metrics.update(_queues(ports.filter(pl.col("port").is_in(meta["measured_ports"]))))
    if packets:
        metrics["drops"] = float(meta["counters"]["packets_dropped"])
        metrics["marks"] = float(ports["marks"].sum())
        metrics["retransmits"] = float(flows["retransmits"].sum())
        metrics["timeouts"] = float(flows["timeouts"].sum())
    metrics.update(_deadlines("deadline_miss", flows.filter(pl.col("start_s") >= meta["warmup_s"]), meta["end_s"]))
    metrics.update(_tasks(tasks.filter(pl.col("start_s") >= meta["warmup_s"]), meta["end_s"]))
    metrics["unfinished"] = float(meta["unfinished"])
    return metrics


def fairness(flows: pl.DataFrame, samples: pl.DataFrame, flow_class: str) -> pl.DataFrame:
    """The Jain index of the class's backlogged flows within each sampling interval.

    Columns: `begin_s` and `time_s` (of the interval), `jain`. An interval counts the flows that had started by its
    end; one in which nothing was acknowledged has no row.
    """
    backlogged = flows.filter(pl.col("class") == flow_class, pl.col("size_bytes").is_null())
    of_flows = samples.filter(
        pl.col("kind") == "flow_throughput_bps", pl.col("subject").is_in(backlogged["id"].cast(pl.String).implode())
    )
    times = samples.select(pl.col("time_s").unique().sort()).with_columns(pl.col("time_s").shift(1).alias("begin_s"))
    by_time = of_flows.group_by("time_s").agg(_jain(pl.col("value")).alias("jain"))
    shares = times.join(by_time, "time_s").filter(pl.col("jain").is_not_nan())
    return shares.select("begin_s", "time_s", "jain").sort("time_s")


def _jain(values: pl.Expr) -> pl.Expr:
    """Jain's index: 1 if all values are equal, 1/n if one has everything; not a number if all are zero."""
    return values.sum() ** 2 / (values.len() * (values**2).sum())


def _fairness(
    flow_class: str, flows: pl.DataFrame, samples: pl.DataFrame, warmup_s: float
) -> Iterator[tuple[str, float]]:
    backlogged = flows.filter(pl.col("size_bytes").is_null())
    if backlogged.height < 2:
        return
    if backlogged["window_bytes"].sum():
        yield f"jain_{flow_class}", float(backlogged.select(_jain(pl.col("window_bytes").cast(pl.Float64))).item())
    over_time = fairness(flows, samples, flow_class)
    measured = over_time.filter(pl.col("begin_s") >= warmup_s)
    if not measured.is_empty():
        yield f"jain_sampled_{flow_class}", float(measured["jain"].to_numpy().mean())
    last_start_s = max(backlogged["start_s"])  # none of them ends
    after = over_time.filter(pl.col("begin_s") >= last_start_s)
    unfair = after.filter(pl.col("jain") < FAIR_ENOUGH)
    fair = after if unfair.is_empty() else after.filter(pl.col("time_s") > unfair["time_s"][-1])
    if not fair.is_empty():
        yield f"convergence_{flow_class}_s", float(fair["begin_s"][0]) - last_start_s


def _completion(flow_class: str, flows: pl.DataFrame) -> Iterator[tuple[str, float]]:
    finished = flows.filter(pl.col("fct_s").is_not_null())
    if finished.is_empty():
        return
    fct, slowdown = finished["fct_s"].to_numpy(), finished["slowdown"].to_numpy()
    yield f"flows_{flow_class}", float(len(fct))
    yield f"afct_{flow_class}_s", float(fct.mean())
    for percent in PERCENTILES:
        yield f"p{percent}_{flow_class}_s", nearest_rank(fct, percent)
    yield f"slowdown_{flow_class}", float(slowdown.mean())
    for percent in SLOWDOWN_PERCENTILES:
        yield f"slowdown_p{percent}_{flow_class}", nearest_rank(slowdown, percent)
    yield from _inversions(flow_class, finished)


def _by_size(flow_class: str, flows: pl.DataFrame) -> Iterator[tuple[str, float]]:
    """Completion times by bins of sizes, for a class that has flows in several."""
    finished = flows.filter(pl.col("fct_s").is_not_null())
    bins = np.searchsorted(_BIN_EDGES, finished["size_bytes"].to_numpy())
    if len(np.unique(bins)) < 2:
        return
    for place, name in enumerate(SIZE_BINS):
        fct = finished["fct_s"].to_numpy()[bins == place]
        if len(fct):
            yield f"flows_{flow_class}_{name}", float(len(fct))
            yield f"afct_{flow_class}_{name}_s", float(fct.mean())
            for percent in (50, 99):
                yield f"p{percent}_{flow_class}_{name}_s", nearest_rank(fct, percent)


def _inversions(flow_class: str, flows: pl.DataFrame) -> Iterator[tuple[str, float]]:
    """How often, among the flows of a burst by size, one takes longer than the next larger one; mean over bursts.

    A burst is a run of at least ten flows to one host that start less than a millisecond after one another (pECN,
    Fig. 7).
    """
    elsewhere = pl.col("destination") != pl.col("destination").shift()
    begins = (elsewhere | (pl.col("start_s").diff() > BURST_GAP_S)).fill_null(value=False)
    ordered = flows.sort("destination", "start_s").with_columns(begins.cum_sum().alias("burst"))
    ordered = ordered.sort("burst", "size_bytes", "fct_s")
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


def _flow_goodput(flow_class: str, flows: pl.DataFrame, meta: Meta) -> Iterator[tuple[str, float]]:
    """The payload of all flows of a class together over the time that all of them together took for it.

    A flow that ends counts as for completion times, one without end from the warm-up or its start on.
    """
    counted = pl.col("start_s") >= meta["warmup_s"]
    finite = flows.filter(counted, pl.col("size_bytes").is_not_null(), pl.col("fct_s").is_not_null())
    backlogged = flows.filter(pl.col("size_bytes").is_null())
    first, last = pl.max_horizontal("start_s", pl.lit(meta["warmup_s"])), pl.lit(meta["duration_s"])
    measured = backlogged.select((pl.min_horizontal("finish_s", last) - first).clip(lower_bound=0).alias("s"))
    seconds = float(finite["fct_s"].sum()) + float(measured["s"].sum())
    if seconds > 0:
        payload = float(finite["size_bytes"].sum()) + float(backlogged["window_bytes"].sum())
        yield f"flow_goodput_{flow_class}_bps", payload * 8 / seconds


def _queues(measured: pl.DataFrame) -> Iterator[tuple[str, float]]:
    """Over the measured ports: means of their means and percentiles, the longest queue, the mean utilisation."""
    if measured.is_empty():
        return
    for unit in ("pkt", "bytes"):
        yield f"queue_mean_{unit}", float(measured[f"queue_mean_{unit}"].to_numpy().mean())
        for percent in QUEUE_PERCENTILES:
            found = measured[f"queue_p{percent}_{unit}"].drop_nulls()
            if len(found):
                yield f"queue_p{percent}_{unit}", float(found.to_numpy().mean())
        yield f"queue_max_{unit}", float(measured[f"queue_max_{unit}"].to_numpy().max())
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
            for percent in TASK_PERCENTILES:
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
