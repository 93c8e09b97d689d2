"""The metrics of one run, from its tables and counters; `shortflow.metrics` says what each is.

Completion times count the flows that started after the warm-up. One that did not finish is censored: it counts with its
age at the end of the run, and what its true time could raise is a lower bound. Goodput counts what was acknowledged
between the warm-up and the end, whenever the flow started; drops and marks count the whole run, the drain and the flows
that start in it included; retransmissions and timeouts are those of all flows that started before the end. A metric
that a run does not have is absent.
"""

import functools
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shortflow.metrics.catalogue import (
    FAIR_ENOUGH,
    PERCENTILES,
    QUEUE_PERCENTILES,
    SIZE_BINS,
    SLOWDOWN_PERCENTILES,
    TASK_PERCENTILES,
    TASKS,
)
from shortflow.metrics.stats import Floats, nearest_rank
from shortflow.records import Meta

BURST_GAP_S = 1e-3
BURST_FLOWS = 10
_BIN_EDGES = (10_000, 100_000, 1_000_000, 10_000_000)


@functools.cache
def measuring_id() -> str:
    """A hash of the code that measures: metrics that other code has measured are not today's."""
    sources = (Path(__file__).with_name(f"{name}.py") for name in ("data", "catalogue", "stats"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]


class Measurement(NamedTuple):
    """A number that a run is judged by."""

    name: str
    value: float
    lower_bound: bool = False
    """Whether the truth may be more, since something was not finished, or not fair, at the end of the run."""


def measure(
    flows: pl.DataFrame, tasks: pl.DataFrame, samples: pl.DataFrame, ports: pl.DataFrame, meta: Meta
) -> list[Measurement]:
    """All metrics that the run has."""
    finite = completion(flows, meta)
    metrics: list[Measurement] = []
    for flow_class in sorted(flows["class"].unique()):
        of_class = flows.filter(pl.col("class") == flow_class)
        counted = finite.filter(pl.col("class") == flow_class)
        metrics += _completion(flow_class, counted)
        metrics += _by_size(flow_class, counted)
        metrics += _queueing(flow_class, of_class)
        metrics += _deadlines(f"deadline_miss_{flow_class}", counted, meta["end_s"])
        metrics += _goodput(flow_class, of_class, meta["duration_s"] - meta["warmup_s"])
        metrics += _flow_goodput(flow_class, of_class, counted, meta, is_ideal=ports.is_empty())
        metrics += _fairness(flow_class, of_class, samples, meta["warmup_s"])
        if not ports.is_empty():
            metrics.append(Measurement(f"timeouts_{flow_class}", float(of_class["timeouts"].sum()) / of_class.height))
    metrics += _queues(ports.filter(pl.col("port").is_in(meta["measured_ports"])))
    metrics += _packets(flows, ports, meta)
    metrics += _deadlines("deadline_miss", finite, meta["end_s"])
    metrics += _tasks(_aged(tasks.filter(pl.col("start_s") >= meta["warmup_s"]), "time_s", meta), meta["end_s"])
    metrics.append(Measurement("unfinished", float(meta["unfinished"])))
    if not finite.is_empty():
        metrics.append(Measurement("unfinished_share", _share(finite["censored"])))
    return metrics


def completion(flows: pl.DataFrame, meta: Meta) -> pl.DataFrame:
    """The finite flows that started after the warm-up and before the end of the measured time.

    Added columns: `elapsed_s`, the completion time or, of a flow that did not finish, its age at the end of the run;
    `elapsed_slowdown`, that over `ideal_fct_s`; `censored`, whether the flow did not finish, so that its true
    completion time is `elapsed_s` or more.
    """
    counted = flows.filter(pl.col("start_s") >= meta["warmup_s"], pl.col("size_bytes").is_not_null())
    slowdown = pl.coalesce("slowdown", pl.col("elapsed_s") / pl.col("ideal_fct_s"))
    return _aged(counted, "fct_s", meta).with_columns(slowdown.alias("elapsed_slowdown"))


def _aged(rows: pl.DataFrame, time: str, meta: Meta) -> pl.DataFrame:
    """Flows or tasks with `elapsed_s` and `censored`; `time` is the column with the times of the finished ones."""
    elapsed = pl.coalesce(time, pl.lit(meta["end_s"]) - pl.col("start_s"))
    return rows.with_columns(elapsed.alias("elapsed_s"), pl.col(time).is_null().alias("censored"))


def _share(flags: pl.Series) -> float:
    return float(flags.sum()) / len(flags)


def _times(
    mean: str, percentiles: str, percents: Sequence[int], values: Floats, censored: npt.NDArray[np.bool_]
) -> Iterator[Measurement]:
    """Mean and percentiles of times of which the censored ones are lower bounds.

    A percentile is exact if it stays the same however long the censored times are. `percentiles` is a name with `{}`
    for the percentage.
    """
    yield Measurement(mean, float(values.mean()), bool(censored.any()))
    longest = np.where(censored, np.inf, values)
    for percent in percents:
        value = nearest_rank(values, percent)
        yield Measurement(percentiles.format(percent), value, value != nearest_rank(longest, percent))


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


def _fairness(flow_class: str, flows: pl.DataFrame, samples: pl.DataFrame, warmup_s: float) -> Iterator[Measurement]:
    backlogged = flows.filter(pl.col("size_bytes").is_null())
    if backlogged.height < 2:
        return
    if backlogged["window_bytes"].sum():
        index = _jain(pl.col("window_bytes").cast(pl.Float64))
        yield Measurement(f"jain_{flow_class}", float(backlogged.select(index).item()))
    over_time = fairness(flows, samples, flow_class)
    measured = over_time.filter(pl.col("begin_s") >= warmup_s)
    if not measured.is_empty():
        yield Measurement(f"jain_sampled_{flow_class}", float(measured["jain"].to_numpy().mean()))
    yield from _convergence(flow_class, over_time, max(backlogged["start_s"]))  # none of them ends


def _convergence(flow_class: str, over_time: pl.DataFrame, last_start_s: float) -> Iterator[Measurement]:
    """How long after the last start it takes until every interval is fair; at least to the end if the last is not."""
    after = over_time.filter(pl.col("begin_s") >= last_start_s)
    if after.is_empty():
        return
    unfair = after.filter(pl.col("jain") < FAIR_ENOUGH)
    fair = after if unfair.is_empty() else after.filter(pl.col("time_s") > unfair["time_s"][-1])
    since = after["time_s"][-1] if fair.is_empty() else fair["begin_s"][0]
    yield Measurement(f"convergence_{flow_class}_s", float(since) - last_start_s, fair.is_empty())


def _completion(flow_class: str, counted: pl.DataFrame) -> Iterator[Measurement]:
    if counted.is_empty():
        return
    censored = counted["censored"].to_numpy()
    yield Measurement(f"flows_{flow_class}", float((~censored).sum()))
    yield Measurement(f"unfinished_share_{flow_class}", _share(counted["censored"]))
    times, slowdowns = counted["elapsed_s"].to_numpy(), counted["elapsed_slowdown"].to_numpy()
    yield from _times(f"afct_{flow_class}_s", f"p{{}}_{flow_class}_s", PERCENTILES, times, censored)
    names = (f"slowdown_{flow_class}", f"slowdown_p{{}}_{flow_class}")
    yield from _times(*names, SLOWDOWN_PERCENTILES, slowdowns, censored)
    yield from _inversions(flow_class, counted)


def _by_size(flow_class: str, counted: pl.DataFrame) -> Iterator[Measurement]:
    """Completion times by bins of sizes, for a class that has flows in several."""
    bins = np.searchsorted(_BIN_EDGES, counted["size_bytes"].to_numpy())
    places = np.unique(bins)
    for place in places if len(places) > 1 else ():
        name = f"{flow_class}_{list(SIZE_BINS)[place]}"
        of_bin = counted.filter(bins == place)
        times, censored = of_bin["elapsed_s"].to_numpy(), of_bin["censored"].to_numpy()
        yield Measurement(f"flows_{name}", float((~censored).sum()))
        yield from _times(f"afct_{name}_s", f"p{{}}_{name}_s", (50, 99), times, censored)


def _inversions(flow_class: str, counted: pl.DataFrame) -> Iterator[Measurement]:
    """How often, among the flows of a burst by size, one takes longer than the next larger one; mean over bursts.

    A burst is a run of at least ten flows to one host that start less than a millisecond after one another (pECN,
    Fig. 7). What unfinished flows leave open does not count, and makes the mean a lower bound.
    """
    elsewhere = pl.col("destination") != pl.col("destination").shift()
    begins = (elsewhere | (pl.col("start_s").diff() > BURST_GAP_S)).fill_null(value=False)
    ordered = counted.sort("destination", "start_s").with_columns(begins.cum_sum().alias("burst"))
    ordered = ordered.sort("burst", "size_bytes", "elapsed_s")
    longer = pl.col("elapsed_s").diff() < 0
    smaller_is_open = pl.col("censored").shift(fill_value=False)
    counts = (
        ordered.group_by("burst")
        .agg(
            (longer & ~pl.col("censored")).sum().alias("inversions"),
            ((longer & pl.col("censored")) | (~longer & smaller_is_open)).any().alias("open"),
            pl.len(),
        )
        .filter(pl.col("len") >= BURST_FLOWS)
    )
    if not counts.is_empty():
        mean = float(counts["inversions"].to_numpy().mean())
        yield Measurement(f"inversions_{flow_class}", mean, bool(counts["open"].any()))


def _goodput(flow_class: str, flows: pl.DataFrame, window_s: float) -> Iterator[Measurement]:
    """What the backlogged flows of a class get together, and what its finite flows do."""
    backlogged = flows.filter(pl.col("size_bytes").is_null())
    finite = flows.filter(pl.col("size_bytes").is_not_null())
    if not finite.is_empty():
        yield Measurement(f"throughput_{flow_class}_bps", float(finite["window_bytes"].sum()) * 8 / window_s)
    if not backlogged.is_empty():
        yield Measurement(f"goodput_{flow_class}_bps", float(backlogged["window_bytes"].sum()) * 8 / window_s)


def _flow_goodput(
    flow_class: str, flows: pl.DataFrame, counted: pl.DataFrame, meta: Meta, *, is_ideal: bool
) -> Iterator[Measurement]:
    """What all flows of a class together had acknowledged over the time that all of them together were open.

    Of finite flows those after the warm-up, until they finished or the run ended: what one that stalls does not get is
    part of the number, so that it is no bound. An ideal scheduler does not tell how far such a flow got. A flow without
    end counts from the warm-up or its start on.
    """
    acknowledged = pl.when(pl.col("censored")).then("acked_bytes").otherwise("size_bytes")
    backlogged = flows.filter(pl.col("size_bytes").is_null())
    first, last = pl.max_horizontal("start_s", pl.lit(meta["warmup_s"])), pl.lit(meta["duration_s"])
    measured = backlogged.select((pl.min_horizontal("finish_s", last) - first).clip(lower_bound=0).alias("s"))
    seconds = float(counted["elapsed_s"].sum()) + float(measured["s"].sum())
    if seconds > 0:
        payload = float(counted.select(acknowledged.sum()).item()) + float(backlogged["window_bytes"].sum())
        is_bound = is_ideal and bool(counted["censored"].any())
        yield Measurement(f"flow_goodput_{flow_class}_bps", payload * 8 / seconds, is_bound)


def _queues(measured: pl.DataFrame) -> Iterator[Measurement]:
    """Over the measured ports: means of their means and percentiles, the longest queue, the mean utilisation."""
    if measured.is_empty():
        return
    for unit in ("pkt", "bytes"):
        yield Measurement(f"queue_mean_{unit}", float(measured[f"queue_mean_{unit}"].to_numpy().mean()))
        for percent in QUEUE_PERCENTILES:
            found = measured[f"queue_p{percent}_{unit}"].drop_nulls()
            if len(found):
                yield Measurement(f"queue_p{percent}_{unit}", float(found.to_numpy().mean()))
        yield Measurement(f"queue_max_{unit}", float(measured[f"queue_max_{unit}"].to_numpy().max()))
    yield Measurement("utilisation", float(measured["utilisation"].to_numpy().mean()))


def _packets(flows: pl.DataFrame, ports: pl.DataFrame, meta: Meta) -> Iterator[Measurement]:
    """Counts of the whole run; an ideal scheduler has no packets."""
    if ports.is_empty():
        return
    yield Measurement("drops", float(meta["counters"]["packets_dropped"]))
    yield Measurement("marks", float(ports["marks"].sum()))
    yield Measurement("retransmits", float(flows["retransmits"].sum()))
    yield Measurement("timeouts", float(flows["timeouts"].sum()))


def _queueing(flow_class: str, flows: pl.DataFrame) -> Iterator[Measurement]:
    """The time that a packet waits in switches: mean over flows of each flow's mean, flows of the warm-up that
    have no end included."""
    counted = flows["switch_queueing_s"].drop_nulls()
    if len(counted):
        yield Measurement(f"queueing_{flow_class}_s", float(counted.to_numpy().mean()))


def _tasks(tasks: pl.DataFrame, end_s: float) -> Iterator[Measurement]:
    """Queries, jobs and requests: how many were done, how long they took, and how many took too long."""
    for kind in TASKS:
        of_kind = tasks.filter(pl.col("kind") == kind)
        if not of_kind.is_empty():
            times, censored = of_kind["elapsed_s"].to_numpy(), of_kind["censored"].to_numpy()
            yield Measurement(f"{kind}_count", float((~censored).sum()))
            yield from _times(f"{kind}_time_s", f"p{{}}_{kind}_time_s", TASK_PERCENTILES, times, censored)
        yield from _deadlines(f"{kind}_miss", of_kind, end_s)


def _deadlines(name: str, rows: pl.DataFrame, end_s: float) -> Iterator[Measurement]:
    """The share of deadlines missed; what is still open at the end has missed its deadline if that has passed, and
    else may miss it."""
    with_deadline = rows.filter(pl.col("deadline_s").is_not_null())
    passed = pl.col("start_s") + pl.col("deadline_s") < end_s
    missed = with_deadline.select(pl.coalesce("missed", pl.when(passed).then(True)).alias("missed"))["missed"]
    if len(missed):
        yield Measurement(name, float(missed.sum()) / len(missed), missed.null_count() > 0)
