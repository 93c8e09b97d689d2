"""Input of metrics: a run's flows by class and size, its tasks, samples and ports.

Completion times are those of flows that started after the warm-up. An unfinished flow is censored: it counts with its
age at the end of the run, and a value that the flow's true time could raise is a lower bound. The code uses no numeric
library, because such libraries load slowly.
"""

import functools
import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from shortflow.errors import ConfigError
from shortflow.metrics.stats import jain_index, rank
from shortflow.quantities import parse
from shortflow.records import Meta

_UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "KB"), (1, "B"))

FAIR_ENOUGH = 0.95
"""Minimum Jain index of a fair window."""
FAIR_WINDOWS = 10
"""Consecutive fair windows needed for convergence."""
SHARE_WINDOWS = 100
"""Length of a window of the mean Jain index, in windows of convergence: about 1000 round trips.

A sawtooth that halves a congestion window of W segments takes W / 2 round trips (Mathis et al. 1997). The window
therefore averages ten sawteeth of 200 segments, a usual buffer.
"""
_ROUNDING = 1e-9
"""Largest relative rounding error of a time."""
BLOCK_ROWS = 1 << 14
"""Maximum number of rows of a table that are in memory as Python values or as a data frame at a time."""
BURST_GAP_S = 1e-3
"""Maximum time between the starts of consecutive flows of a burst, in seconds."""
BURST_FLOWS = 10
"""Minimum number of flows in a burst."""


class Table(Protocol):
    """A table of a run: a table of the core, or a Polars data frame."""

    @property
    def height(self) -> int:
        """Number of rows."""

    def slice(self, offset: int, length: int, /) -> "Table":
        """At most `length` rows, from row `offset` on."""

    def get_column(self, name: str, /) -> Iterable[Any]:
        """Values of a column, one per row."""


class LowerBound(float):
    """A lower bound of the true value: flows were unfinished, or shares not yet fair, at the end of the run."""


def bound_if(is_bound: bool, value: float) -> float:
    """The number, as a `LowerBound` if `is_bound`."""
    return LowerBound(value) if is_bound else value


def total(values: Iterable[float]) -> float:
    """Correctly rounded sum, which does not depend on the order of the values. NaN if it overflows or is undefined."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return math.nan


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; None for no values."""
    return total(values) / len(values) if values else None


class Sizes(NamedTuple):
    """Flow sizes above `low` and up to `high` bytes. Without `high`, all sizes above `low`."""

    low: int
    high: int | None

    @property
    def name(self) -> str:
        """Name in metrics, such as `upto_10kb`, `100kb` (a bin with this upper end) or `over_1mb`."""
        at = _size(self.low if self.high is None else self.high).replace(" ", "").lower()
        return f"over_{at}" if self.high is None else at if self.low else f"upto_{at}"

    @property
    def label(self) -> str:
        """Range as text, such as `10–100 KB`."""
        if self.high is None or not self.low:
            return f"> {_size(self.low)}" if self.high is None else f"≤ {_size(self.high)}"
        low, high = _size(self.low), _size(self.high)
        return f"{low.split()[0] if low.split()[1] == high.split()[1] else low}–{high}"


def _size(count: int) -> str:
    """A number of bytes in the largest unit of which it is a multiple, such as `10 KB`."""
    return next(f"{count // size} {unit}" for size, unit in _UNITS if count % size == 0)


@dataclass(frozen=True)
class Bins:
    """Bins of flow sizes by their upper ends in bytes. The last two ends also separate short, medium and long flows."""

    ends: tuple[int, ...] = (10_000, 100_000, 1_000_000)

    @classmethod
    def parse(cls, given: "Bins | str | Sequence[str | int]") -> "Bins":
        """Bins with the upper ends `given`: a text such as `10KB,100KB,1MB`, or a sequence. Plain numbers are bytes.

        Raises `ConfigError` if the ends are no ascending sizes.
        """
        if isinstance(given, Bins):
            return given
        texts = given.split(",") if isinstance(given, str) else [str(each) for each in given]
        found = [parse(text) for text in texts]
        # Another text than a size becomes 0, which cannot follow the bin before.
        ends = tuple(round(each.number * each.factor) if each and each.base in ("B", "") else 0 for each in found)
        wrong = next((text for text, end, last in zip(texts, ends, (0, *ends), strict=False) if end <= last), None)
        if wrong is not None or not ends:
            where = f"--bins {given if isinstance(given, str) else ','.join(texts)}: {wrong or 'no size'}"
            raise ConfigError(f"{where}: expected ascending sizes, such as 10KB,100KB,1MB")
        return cls(ends)

    @property
    def every(self) -> list[Sizes]:
        """All bins in ascending order; the last one has no upper end."""
        return [Sizes(low, high) for low, high in zip((0, *self.ends), (*self.ends, None), strict=True)]

    @property
    def short(self) -> Sizes:
        """Sizes of short flows: up to the last end but one."""
        return Sizes(0, self.ends[-2:][0])

    @property
    def long(self) -> Sizes:
        """Sizes of long flows: above the last end."""
        return Sizes(self.ends[-1], None)

    @property
    def ranges(self) -> list[Sizes]:
        """All bins, and the range of short flows."""
        return list(dict.fromkeys([*self.every, self.short]))


USUAL_BINS = Bins()


class Flow(NamedTuple):
    """A row of the flow table, with the columns that metrics use. Column `class` is `flow_class` here."""

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
    """A row of the task table, with the columns that metrics use. A task is a query, job, shuffle or request."""

    kind: str
    start_s: float
    time_s: float | None
    deadline_s: float | None
    missed: bool | None
    id: int
    part_of: int | None


class Times:
    """Times in seconds, or slowdowns. Censored values are lower bounds."""

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
        """Nearest-rank percentile; None without values.

        The result is a `LowerBound` if larger true values of the censored ones could change it.
        """
        if not self.values:
            return None
        ordered, longest = self._ordered
        place = rank(len(ordered), percent)
        return bound_if(ordered[place] != longest[place], ordered[place])

    @functools.cached_property
    def _ordered(self) -> tuple[list[float], list[float]]:
        """Values in ascending order: as given, and with each censored value replaced by ∞."""
        ordered = sorted(self.values)
        if not any(self.censored):
            return ordered, ordered
        never = (math.inf if cut else value for value, cut in zip(self.values, self.censored, strict=True))
        return ordered, sorted(never)


def missed_share(rows: Iterable[Flow | Task], end_s: float) -> float | None:
    """Share of missed deadlines, or None without deadlines.

    The deadline of an unfinished flow or task counts as missed if it has passed at the end of the run. If it has not,
    the share is a lower bound.
    """
    due = [(row.missed, row.start_s + row.deadline_s) for row in rows if row.deadline_s is not None]
    missed = [True if found is None and at < end_s else found for found, at in due]
    return bound_if(None in missed, missed.count(True) / len(missed)) if missed else None


class FlowGroup:
    """Flows of one class, of all classes, or of a bin of sizes. An undefined statistic is None."""

    def __init__(self, run: "RunData", flows: Sequence[Flow]) -> None:
        """Groups these flows of `run`."""
        self.run, self.flows = run, flows
        self.finite = [flow for flow in flows if flow.size_bytes is not None]
        self.backlogged = [flow for flow in flows if flow.size_bytes is None]
        """Flows without a size."""
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
        """Completion times of counted flows."""
        return Times([self.elapsed_s(flow) for flow in self.counted], [flow.fct_s is None for flow in self.counted])

    @functools.cached_property
    def receipts(self) -> Times:
        """Times from the start of each counted flow until the receiver had every byte.

        Empty for runs without times of receipt.
        """
        if not self.run.has_receipts:
            return Times([], [])
        found = [flow.received_s for flow in self.counted]
        ages = zip(found, self.counted, strict=True)
        times = [(self.run.meta["end_s"] if at is None else at) - flow.start_s for at, flow in ages]
        return Times(times, [at is None for at in found])

    @functools.cached_property
    def slowdowns(self) -> Times:
        """Slowdowns of counted flows."""
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
        """Counted flows by size bin, including empty bins. No bins if all flows are backlogged."""
        if self.done is None:
            return {}
        found: dict[Sizes, list[Flow]] = {each: [] for each in self.run.bins.every}
        by_place = list(found.values())
        for flow in self.counted:
            by_place[bisect_left(self.run.bins.ends, flow.size_bytes or 0)].append(flow)
        return {each: FlowGroup(self.run, flows) for each, flows in found.items()}

    @property
    def flow_goodput_bps(self) -> float | None:
        """Acknowledged payload of all flows divided by the sum of their open times, in bits per second.

        A finite flow counts if it started after the warm-up. It is open until it finishes or the run ends, including
        times of stall, so unfinished flows leave the value exact. Under an ideal scheduler, the progress of unfinished
        flows is unknown, and the value is a lower bound. Backlogged flows are open in the measured time, from their
        start on.
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
        """Timeouts per flow.

        Finite flows count if they started after the warm-up, with the timeouts of their whole lifetime. Backlogged
        flows count with their timeouts in the measured time.
        """
        flows = len(self.counted) + len(self.backlogged)
        return self.run.packets(self.of_lives("timeouts") / flows) if flows else None

    def of_lives(self, column: str) -> int:
        """Sum of a column of events over counted flows, until they finish, and backlogged flows, in measured time."""
        whole = sum(getattr(flow, column) for flow in self.counted)
        return int(whole + sum(getattr(flow, f"measured_{column}") for flow in self.backlogged))

    @property
    def timed_out(self) -> float | None:
        """Share of counted flows that had a timeout."""
        found = mean([float(flow.timeouts > 0) for flow in self.counted])
        return None if found is None else self.run.packets(found)

    @property
    def inversions(self) -> float | None:
        """Number of flows in a burst that take longer than the next larger flow of the burst; mean over bursts.

        If unfinished flows leave the order of a pair open, the pair does not count, and the mean is a lower bound.
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
        """Jain index of the goodputs of two or more backlogged flows in the measured time."""
        shares = [float(flow.delivered_bytes) for flow in self.backlogged]
        return jain_index(shares) if len(shares) > 1 and any(shares) else None

    @property
    def jain_sampled(self) -> float | None:
        """Mean Jain index over windows after the warm-up. A window counts the flows that are open for all of it.

        Windows with fewer than two such flows, or without any payload, do not count.
        """
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
        """Seconds from the last start of a backlogged flow to the first of `FAIR_WINDOWS` consecutive fair windows.

        A lower bound if the samples end earlier. The windows begin at the last start, so the value depends neither on
        the sampling interval nor on the length of the run.
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
        """Acknowledged bits from `begin_s` to `end_s`, of each backlogged flow that is open all the time."""
        there = (flow for flow in self.backlogged if flow.start_s <= begin_s and (flow.finish_s or end_s) >= end_s)
        return [self._acked.between(str(flow.id), begin_s, end_s) for flow in there]

    @functools.cached_property
    def _window_s(self) -> float:
        """Length of the windows of convergence, in seconds; 0 if the core gives none for the flows' classes."""
        windows = self.run.meta.get("fairness_windows_s", {})
        return max((windows.get(name, 0.0) for name in {flow.flow_class for flow in self.backlogged}), default=0.0)

    @functools.cached_property
    def _acked(self) -> "_Acked":
        """Cumulative acknowledged bits of each backlogged flow at the times of the samples.

        Without times if there are fewer than two backlogged flows.
        """
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
        """True if there are samples, and no two consecutive samples are further apart than `window_s`."""
        times = self._acked.times
        return window_s > 0 and len(times) > 1 and max(b - a for a, b in pairwise(times)) <= window_s * (1 + _ROUNDING)


@dataclass(frozen=True)
class _Acked:
    """Cumulative acknowledged bits of flows, interpolated linearly between samples."""

    times: "array[float]"
    bits: "Mapping[str, array[float]]"
    """Bits at each time, by the flow's name in the samples."""

    def between(self, flow: str, begin: float, end: float) -> float:
        """Bits acknowledged between two times, given in seconds."""
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


class Collectives:
    """Collectives of rings that started after the warm-up, as their ranks receive the chunks."""

    def __init__(self, tasks: Sequence[Task], flows: Sequence[Flow]) -> None:
        """`flows` has the flows of the whole run."""
        self._times = {task.id: task.time_s for task in tasks}
        self._ranks: dict[int, dict[str, list[Flow]]] = {each: {} for each in self._times}
        for flow in flows:
            if flow.task is not None and flow.task in self._ranks:
                self._ranks[flow.task].setdefault(flow.destination, []).append(flow)

    def mean_of(self, value: Callable[[float, list[list[Flow]]], float]) -> float | None:
        """Mean over the collectives of a value of the time and of each rank's chunks.

        None if a collective did not finish, because those that finished would be the sooner ones.
        """
        found = [
            value(time_s, [*self._ranks[each].values()]) for each, time_s in self._times.items() if time_s is not None
        ]
        return mean(found) if len(found) == len(self._times) else None


class RunData:
    """Tables and metadata of a run, read on demand."""

    def __init__(self, tables: Mapping[str, Table], meta: Meta, bins: Bins = USUAL_BINS) -> None:
        """`tables` has the run's tables by name."""
        self._tables, self.meta, self.bins = tables, meta, bins

    def forget(self) -> None:
        """Drops all groups of flows. They refer to this object, so that keeping them would leave a reference cycle."""
        for name in ("flows", "classes", "sizes"):
            vars(self).pop(name, None)

    @functools.cached_property
    def flows(self) -> FlowGroup:
        """All flows."""
        columns = ("class" if name == "flow_class" else name for name in Flow._fields)
        return FlowGroup(self, [Flow(*row) for row in self.rows("flows", columns)])

    @functools.cached_property
    def classes(self) -> dict[str, FlowGroup]:
        """Flows by class. Classes that the scenario declares are included even without flows."""
        names = sorted({flow.flow_class for flow in self.flows.flows}.union(self.meta.get("classes", ())))
        return {name: FlowGroup(self, [flow for flow in self.flows.flows if flow.flow_class == name]) for name in names}

    @functools.cached_property
    def sizes(self) -> dict[Sizes, FlowGroup]:
        """Counted flows of all classes by range of sizes. Backlogged flows are among the long flows."""
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
    def collectives(self) -> Collectives | None:
        """Collectives that started after the warm-up; None if there are none."""
        begun = [Task(*row) for row in self.rows("tasks", Task._fields) if row[1] >= self.meta["warmup_s"]]
        found = [task for task in begun if task.kind == "collective"]
        return Collectives(found, self.flows.flows) if found else None

    @functools.cached_property
    def is_ideal(self) -> bool:
        """True for a run of an ideal scheduler, which has no packets and no ports."""
        return not list(self.rows("ports", ["port"]))

    @functools.cached_property
    def has_receipts(self) -> bool:
        """True if a flow has a time of receipt. Runs on the testbed and under ideal schedulers have none."""
        return any(flow.received_s is not None for flow in self.flows.flows)

    def packets(self, count: float) -> float | None:
        """A count of packets or their events; None under an ideal scheduler."""
        return None if self.is_ideal else float(count)

    def measured(self, column: str) -> list[float]:
        """Values of a column of the port table at the measured ports, without nulls."""
        rows = self.rows("ports", ("port", column))
        return [float(value) for port, value in rows if port in self.meta["measured_ports"] and value is not None]

    def known(self, column: str) -> list[float]:
        """Values of a column of the port table at all ports, without nulls."""
        return [float(value) for (value,) in self.rows("ports", [column]) if value is not None]

    def pauses(self, priority: int) -> float | None:
        """Number of pauses of a priority; None unless data has several priorities, and this one among them."""
        found = [row["pauses"] for row in self.meta.get("pauses", ()) if row["priority"] == priority]
        return float(sum(found)) if found else None

    def paused_max_s(self, priority: int) -> float | None:
        """Longest paused time of a priority at a port; None as for `pauses`."""
        return max(
            (row["paused_s"] for row in self.meta.get("pauses", ()) if row["priority"] == priority), default=None
        )

    def rows(self, table: str, columns: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """Selected columns of a table, row by row. Only one block of rows is in memory as Python values at a time."""
        whole, names = self._tables[table], [*columns]
        for first in range(0, whole.height, BLOCK_ROWS):
            block = whole.slice(first, BLOCK_ROWS)
            yield from zip(*(block.get_column(name) for name in names), strict=True)
