"""Input of metrics: a run's flows by class and size, its tasks, samples and ports.

Completion times count flows that started after the warm-up. An unfinished flow is censored: it counts with its age at
the end of the run, and values that its true time could raise are lower bounds. All code here is plain Python, because
numeric libraries load slowly.
"""

import functools
import math
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from shortflow.errors import ConfigError
from shortflow.metrics.stats import jain_index, rank
from shortflow.quantities import parse
from shortflow.records import Meta

_UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "KB"), (1, "B"))

FAIR_ENOUGH = 0.95
"""Least Jain index of a fair share."""
FAIR_WINDOWS = 10
"""Consecutive fair windows needed for convergence."""
SHARE_WINDOWS = 100
"""Windows of convergence in one of the mean Jain index: a thousand round trips.

A sawtooth that halves a window of W segments takes W / 2 of them (Mathis et al. 1997), so that ten sawteeth of 200
segments, a usual buffer, are averaged.
"""
_ROUNDING = 1e-9
"""Largest relative error of a time."""
BLOCK_ROWS = 1 << 14
"""Most rows of a table that are in memory at a time as Python's values, or as a data frame."""
BURST_GAP_S = 1e-3
BURST_FLOWS = 10


class Table(Protocol):
    """A table of a run: the core's own, or a polars data frame."""

    @property
    def height(self) -> int:
        """Number of rows."""

    def slice(self, offset: int, length: int, /) -> "Table":
        """Rows from a number on, at most so many."""

    def get_column(self, name: str, /) -> Iterable[Any]:
        """Values of a column, one per row."""


class LowerBound(float):
    """A number below the true value: flows were unfinished or not yet fair at the end."""


def bound_if(is_bound: bool, value: float) -> float:
    """The number, marked if it is a lower bound."""
    return LowerBound(value) if is_bound else value


def total(values: Iterable[float]) -> float:
    """Sum without rounding errors that depend on order; NaN if it overflows or is undefined."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return math.nan


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; None for no values."""
    return total(values) / len(values) if values else None


class Sizes(NamedTuple):
    """Flow sizes above `low` up to `high` bytes, or all above `low`."""

    low: int
    high: int | None

    @property
    def name(self) -> str:
        """Name in metrics: `upto_10kb`, `100kb` for a bin that ends there, `over_1mb`."""
        at = _size(self.low if self.high is None else self.high).replace(" ", "").lower()
        return f"over_{at}" if self.high is None else at if self.low else f"upto_{at}"

    @property
    def label(self) -> str:
        """Sizes in words, such as `10–100 KB`."""
        if self.high is None or not self.low:
            return f"> {_size(self.low)}" if self.high is None else f"≤ {_size(self.high)}"
        low, high = _size(self.low), _size(self.high)
        return f"{low.split()[0] if low.split()[1] == high.split()[1] else low}–{high}"


def _size(count: int) -> str:
    """Bytes in the largest unit that divides them."""
    return next(f"{count // size} {unit}" for size, unit in _UNITS if count % size == 0)


@dataclass(frozen=True)
class Bins:
    """Bins of flow sizes by their upper ends in bytes. The last two ends also separate short, medium and long flows."""

    ends: tuple[int, ...] = (10_000, 100_000, 1_000_000)

    @classmethod
    def parse(cls, given: "Bins | str | Sequence[str | int]") -> "Bins":
        """Upper ends as text, such as `10KB,100KB,1MB`, or one by one. Numbers are bytes."""
        if isinstance(given, Bins):
            return given
        texts = given.split(",") if isinstance(given, str) else [str(each) for each in given]
        found = [parse(text) for text in texts]
        ends = tuple(round(each.number * each.factor) if each and each.base in ("B", "") else 0 for each in found)
        wrong = next((text for text, end, last in zip(texts, ends, (0, *ends), strict=False) if end <= last), None)
        if wrong is not None or not ends:
            where = f"--bins {given if isinstance(given, str) else ','.join(texts)}: {wrong or 'no size'}"
            raise ConfigError(f"{where}: expected ascending sizes, such as 10KB,100KB,1MB")
        return cls(ends)

    @property
    def every(self) -> list[Sizes]:
        """The bins."""
        return [Sizes(low, high) for low, high in zip((0, *self.ends), (*self.ends, None), strict=True)]

    @property
    def short(self) -> Sizes:
        """Sizes of short flows."""
        return Sizes(0, self.ends[-2:][0])

    @property
    def long(self) -> Sizes:
        """Sizes of long flows: the last bin."""
        return Sizes(self.ends[-1], None)

    @property
    def ranges(self) -> list[Sizes]:
        """The bins and short flows."""
        return list(dict.fromkeys([*self.every, self.short]))


USUAL_BINS = Bins()


class Flow(NamedTuple):
    """Columns of the flow table that metrics use (`class` is `flow_class`)."""

    id: int
    destination: str
    flow_class: str
    size_bytes: int | None
    start_s: float
    finish_s: float | None
    fct_s: float | None
    received_s: float | None
    ideal_fct_s: float | None
    slowdown: float | None
    deadline_s: float | None
    missed: bool | None
    retransmits: int
    measured_retransmits: int
    timeouts: int
    measured_timeouts: int
    acked_bytes: int
    delivered_bytes: int
    measured_switch_queueing_s: float | None
    task: int | None


class Task(NamedTuple):
    """Columns of the task table that metrics use: queries, jobs, shuffles, requests."""

    kind: str
    start_s: float
    time_s: float | None
    deadline_s: float | None
    missed: bool | None
    id: int
    part_of: int | None


class Times:
    """Times or slowdowns. Censored values are lower bounds."""

    def __init__(self, values: Sequence[float], censored: Sequence[bool]) -> None:
        """Stores one value and one flag per flow or task."""
        self.values, self.censored = values, censored
        self.done = float(censored.count(False))
        """Number of uncensored values."""
        self.open_share = censored.count(True) / len(values) if values else None
        """Share of censored values."""

    @property
    def mean(self) -> float | None:
        """Arithmetic mean."""
        found = mean(self.values)
        return None if found is None else bound_if(any(self.censored), found)

    def percentile(self, percent: float) -> float | None:
        """Nearest-rank percentile; exact if longer censored times would not change it."""
        if not self.values:
            return None
        ordered, longest = self._ordered
        place = rank(len(ordered), percent)
        return bound_if(ordered[place] != longest[place], ordered[place])

    @functools.cached_property
    def _ordered(self) -> tuple[list[float], list[float]]:
        """Values in ascending order, as given and with censored values at ∞."""
        ordered = sorted(self.values)
        if not any(self.censored):
            return ordered, ordered
        never = (math.inf if cut else value for value, cut in zip(self.values, self.censored, strict=True))
        return ordered, sorted(never)


def missed_share(rows: Iterable[Flow | Task], end_s: float) -> float | None:
    """Share of missed deadlines. Open ones count as missed once passed; earlier they leave a lower bound."""
    due = [(row.missed, row.start_s + row.deadline_s) for row in rows if row.deadline_s is not None]
    missed = [True if found is None and at < end_s else found for found, at in due]
    return bound_if(None in missed, missed.count(True) / len(missed)) if missed else None


class FlowGroup:
    """Flows of one class, of all classes, or of a bin of sizes."""

    def __init__(self, run: "RunData", flows: Sequence[Flow]) -> None:
        """Groups these flows of `run`."""
        self.run, self.flows = run, flows
        self.finite = [flow for flow in flows if flow.size_bytes is not None]
        self.backlogged = [flow for flow in flows if flow.size_bytes is None]
        """Flows without an end."""
        self.counted = [flow for flow in flows if self.counts(flow)]
        """Flows that count for completion times."""

    def counts(self, flow: Flow) -> bool:
        """True if the flow counts for completion times: finite and started after the warm-up."""
        return flow.size_bytes is not None and flow.start_s >= self.run.meta["warmup_s"]

    def elapsed_s(self, flow: Flow) -> float:
        """Completion time, or age at the end of the run for an unfinished flow."""
        return self.run.meta["end_s"] - flow.start_s if flow.fct_s is None else flow.fct_s

    @functools.cached_property
    def times(self) -> Times:
        """Completion times."""
        return Times([self.elapsed_s(flow) for flow in self.counted], [flow.fct_s is None for flow in self.counted])

    @functools.cached_property
    def receipts(self) -> Times:
        """Times until the receiver had every byte; empty for runs without such times."""
        if not self.run.has_receipts:
            return Times([], [])
        found = [flow.received_s for flow in self.counted]
        ages = zip(found, self.counted, strict=True)
        times = [(self.run.meta["end_s"] if at is None else at) - flow.start_s for at, flow in ages]
        return Times(times, [at is None for at in found])

    @functools.cached_property
    def slowdowns(self) -> Times:
        """FCT over the FCT in an empty network."""
        ages = zip(self.counted, self.times.values, strict=True)
        found = [s / (of.ideal_fct_s or math.nan) if of.slowdown is None else of.slowdown for of, s in ages]
        return Times(found, self.times.censored)

    @property
    def deadline_miss(self) -> float | None:
        """Share of missed deadlines."""
        return missed_share(self.counted, self.run.meta["end_s"])

    @property
    def done(self) -> float | None:
        """Number of counted flows that finished; None for backlogged flows alone."""
        return self.times.done if self.counted or not self.backlogged else None

    @functools.cached_property
    def bins(self) -> dict[Sizes, "FlowGroup"]:
        """Counted flows by size bin, empty bins included; none for backlogged flows."""
        if self.done is None:
            return {}
        found: dict[Sizes, list[Flow]] = {each: [] for each in self.run.bins.every}
        by_place = list(found.values())
        for flow in self.counted:
            by_place[bisect_left(self.run.bins.ends, flow.size_bytes or 0)].append(flow)
        return {each: FlowGroup(self.run, flows) for each, flows in found.items()}

    @property
    def flow_goodput_bps(self) -> float | None:
        """Acknowledged payload of all flows over their total open time, in bits per second.

        Finite flows count if they started after the warm-up, until they finish or the run ends. Stalled time counts, so
        the value is exact; under an ideal scheduler, progress of unfinished flows is unknown. Backlogged flows count
        from the warm-up or their start.
        """
        meta = self.run.meta
        seconds = total(self.times.values)
        payload = sum(flow.acked_bytes if flow.fct_s is None else flow.size_bytes or 0 for flow in self.counted)
        for flow in self.backlogged:
            last = meta["duration_s"] if flow.finish_s is None else min(flow.finish_s, meta["duration_s"])
            seconds += max(last - max(flow.start_s, meta["warmup_s"]), 0.0)
            payload += flow.delivered_bytes
        return bound_if(self.run.is_ideal and any(self.times.censored), payload * 8 / seconds) if seconds > 0 else None

    @property
    def timeouts(self) -> float | None:
        """Timeouts per flow: whole lifetime of finite flows after the warm-up, measured time of backlogged flows."""
        flows = len(self.counted) + len(self.backlogged)
        return self.run.packets(self.of_lives("timeouts") / flows) if flows else None

    def of_lives(self, column: str) -> int:
        """Events of counted flows until they finish, and of backlogged flows in the measured time."""
        whole = sum(getattr(flow, column) for flow in self.counted)
        return int(whole + sum(getattr(flow, f"measured_{column}") for flow in self.backlogged))

    @property
    def timed_out(self) -> float | None:
        """Share of counted flows that had a timeout."""
        found = mean([float(flow.timeouts > 0) for flow in self.counted])
        return None if found is None else self.run.packets(found)

    @property
    def inversions(self) -> float | None:
        """Number of flows in a burst that take longer than the next larger flow; mean over bursts.

        Pairs left open by unfinished flows do not count, and make the mean a lower bound.
        """
        counts, is_open = [], False
        for burst in self._bursts():
            certain = 0
            for small, large in pairwise(sorted(burst, key=lambda flow: (flow.size_bytes, self.elapsed_s(flow)))):
                longer = self.elapsed_s(small) > self.elapsed_s(large)
                if longer and large.fct_s is not None:
                    certain += 1
                elif longer or small.fct_s is None:
                    is_open = True
            counts.append(certain)
        found = mean(counts)
        return None if found is None else bound_if(is_open, found)

    def _bursts(self) -> list[list[Flow]]:
        """Ten or more flows to one host, each starting within 1 ms of the previous (pECN, Fig. 7)."""
        bursts: list[list[Flow]] = []
        for flow in sorted(self.counted, key=lambda flow: (flow.destination, flow.start_s)):
            last = bursts[-1][-1] if bursts else flow
            if not bursts or flow.destination != last.destination or flow.start_s - last.start_s > BURST_GAP_S:
                bursts.append([])
            bursts[-1].append(flow)
        return [burst for burst in bursts if len(burst) >= BURST_FLOWS]

    @property
    def jain(self) -> float | None:
        """Jain index of the goodput of two or more backlogged flows in measured time."""
        shares = [float(flow.delivered_bytes) for flow in self.backlogged]
        return jain_index(shares) if len(shares) > 1 and any(shares) else None

    @property
    def jain_sampled(self) -> float | None:
        """Mean Jain index of windows after the warm-up, each of two or more flows that are there for all of it."""
        length_s = SHARE_WINDOWS * self._window_s
        if not self._is_sampled(length_s):
            return None
        warmup_s, indices = self.run.meta["warmup_s"], []
        last_s = self._acked.times[-1] * (1 + _ROUNDING)
        for number in range(int((last_s - warmup_s) / length_s)):
            begin, end = warmup_s + number * length_s, warmup_s + (number + 1) * length_s
            shares = self._shares(begin, end)
            if len(shares) > 1 and any(shares):
                indices.append(jain_index(shares))
        return mean(indices)

    @property
    def convergence_s(self) -> float | None:
        """Time from the last start until enough consecutive windows are fair; otherwise a lower bound.

        The windows begin at the last start, so neither the sampling interval nor the length of the run matters.
        """
        if not self._is_sampled(self._window_s):
            return None
        last_start_s, last_s = max(flow.start_s for flow in self.backlogged), self._acked.times[-1]
        since, row, at = last_start_s, 0, last_start_s
        while row < FAIR_WINDOWS and at + self._window_s <= last_s * (1 + _ROUNDING):
            shares = self._shares(at, at + self._window_s)
            at += self._window_s
            row = row + 1 if len(shares) > 1 and any(shares) and jain_index(shares) >= FAIR_ENOUGH else 0
            since = since if row else at
        return bound_if(row < FAIR_WINDOWS, since - last_start_s)

    def _shares(self, begin_s: float, end_s: float) -> list[float]:
        """Bits acknowledged from `begin_s` to `end_s`, of each backlogged flow that is there all the time."""
        there = (flow for flow in self.backlogged if flow.start_s <= begin_s and (flow.finish_s or end_s) >= end_s)
        return [self._acked.between(str(flow.id), begin_s, end_s) for flow in there]

    @functools.cached_property
    def _window_s(self) -> float:
        """Time over which shares are averaged to tell when they are fair; 0 if the core gave none."""
        windows = self.run.meta.get("fairness_windows_s", {})
        return max((windows.get(name, 0.0) for name in {flow.flow_class for flow in self.backlogged}), default=0.0)

    @functools.cached_property
    def _acked(self) -> "_Acked":
        """Acknowledged bits of each of two or more backlogged flows, by time of the samples."""
        times, bits, step_s = array("d"), {str(flow.id): array("d") for flow in self.backlogged}, 0.0
        if len(bits) > 1:
            for time, kind, subject, value in self.run.rows("samples", ("time_s", "kind", "subject", "value")):
                if not times or time != times[-1]:
                    step_s = time - times[-1] if times else 0.0
                    times.append(time)
                    for each in bits.values():
                        each.append(each[-1] if each else 0.0)
                if kind == "flow_throughput_bps" and subject in bits:
                    bits[subject][-1] += value * step_s
        return _Acked(times, bits)

    def _is_sampled(self, window_s: float) -> bool:
        """True if two samples are no further apart than a window."""
        times = self._acked.times
        return window_s > 0 and len(times) > 1 and max(b - a for a, b in pairwise(times)) <= window_s * (1 + _ROUNDING)


@dataclass(frozen=True)
class _Acked:
    """Acknowledged bits of flows, linear between samples."""

    times: "array[float]"
    bits: "Mapping[str, array[float]]"
    """By flow as samples name it, one for each time."""

    def between(self, flow: str, begin: float, end: float) -> float:
        """Bits acknowledged between two times."""
        return self._at(flow, end) - self._at(flow, begin)

    def _at(self, flow: str, time: float) -> float:
        after = min(max(bisect_left(self.times, time), 1), len(self.times) - 1)
        (begin, end), (low, high) = self.times[after - 1 : after + 1], self.bits[flow][after - 1 : after + 1]
        return low + (high - low) * min(max((time - begin) / (end - begin), 0.0), 1.0)


class Tasks:
    """Tasks of one kind that started after the warm-up."""

    def __init__(self, tasks: Sequence[Task], end_s: float, timed_out: Collection[int]) -> None:
        """`end_s` is the end of the run; `timed_out` has ids of tasks with a timeout."""
        ages = [end_s - task.start_s if task.time_s is None else task.time_s for task in tasks]
        self.times = Times(ages, [task.time_s is None for task in tasks])
        self.miss = missed_share(tasks, end_s)
        self.timed_out = mean([float(task.id in timed_out) for task in tasks])


class RunData:
    """Tables and metadata of a run, read on demand."""

    def __init__(self, tables: Mapping[str, Table], meta: Meta, bins: Bins = USUAL_BINS) -> None:
        """Stores the tables by name."""
        self._tables, self.meta, self.bins = tables, meta, bins

    def forget(self) -> None:
        """Drops all groups of flows, which refer to this object, so that no cycle is left to collect."""
        for name in ("flows", "classes", "sizes", "tasks"):
            vars(self).pop(name, None)

    @functools.cached_property
    def flows(self) -> FlowGroup:
        """All flows."""
        columns = ("class" if name == "flow_class" else name for name in Flow._fields)
        return FlowGroup(self, [Flow(*row) for row in self.rows("flows", columns)])

    @functools.cached_property
    def classes(self) -> dict[str, FlowGroup]:
        """Flows by class. Declared classes may have none."""
        names = sorted({flow.flow_class for flow in self.flows.flows}.union(self.meta.get("classes", ())))
        return {name: FlowGroup(self, [flow for flow in self.flows.flows if flow.flow_class == name]) for name in names}

    @functools.cached_property
    def sizes(self) -> dict[Sizes, FlowGroup]:
        """Counted flows of all classes by range of sizes; backlogged flows are long."""
        found, bins = self.flows.bins or {each: FlowGroup(self, ()) for each in self.bins.every}, self.bins
        short = [flow for flow in self.flows.counted if (flow.size_bytes or 0) <= (bins.short.high or 0)]
        long = [*found[bins.long].flows, *self.flows.backlogged]
        return {**found, bins.short: FlowGroup(self, short), bins.long: FlowGroup(self, long)}

    @functools.cached_property
    def tasks(self) -> dict[str, Tasks]:
        """Tasks that started after the warm-up, by kind."""
        every = [Task(*row) for row in self.rows("tasks", Task._fields)]
        counted = [task for task in every if task.start_s >= self.meta["warmup_s"]]
        kinds = {task.kind for task in counted}
        late = {flow.task for flow in self.flows.flows if flow.timeouts and flow.task is not None}
        late |= {task.part_of for task in every if task.id in late and task.part_of is not None}
        end_s = self.meta["end_s"]
        return {kind: Tasks([task for task in counted if task.kind == kind], end_s, late) for kind in kinds}

    @functools.cached_property
    def is_ideal(self) -> bool:
        """True for a run of an ideal scheduler, which has no packets and no ports."""
        return not list(self.rows("ports", ["port"]))

    @functools.cached_property
    def has_receipts(self) -> bool:
        """True if some flow has a time of receipt: none has in testbeds and under ideal schedulers."""
        return any(flow.received_s is not None for flow in self.flows.flows)

    def packets(self, count: float) -> float | None:
        """A count of packets or their events; None under an ideal scheduler."""
        return None if self.is_ideal else float(count)

    def measured(self, column: str) -> list[float]:
        """Values of a column for the measured ports."""
        rows = self.rows("ports", ("port", column))
        return [float(value) for port, value in rows if port in self.meta["measured_ports"] and value is not None]

    def known(self, column: str) -> list[float]:
        """Values of a column for the ports that have one."""
        return [float(value) for (value,) in self.rows("ports", [column]) if value is not None]

    def rows(self, table: str, columns: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """Selected columns of a table, row by row. Python's values of one block of rows are in memory at a time."""
        whole, names = self._tables[table], [*columns]
        for first in range(0, whole.height, BLOCK_ROWS):
            block = whole.slice(first, BLOCK_ROWS)
            yield from zip(*(block.get_column(name) for name in names), strict=True)
