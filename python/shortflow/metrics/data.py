"""What metrics are computed from: a run's flows by class and size, its tasks, samples and ports.

Completion times count the flows that started after the warm-up. One that did not finish is censored: it counts with its
age at the end of the run, and what its true time could raise is a lower bound. Everything here is plain Python, so that
a run and its numbers need no library that is slow to load.
"""

import functools
import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from shortflow.metrics.stats import jain_index, rank
from shortflow.records import Meta

SIZE_BINS = {"10kb": "≤ 10 KB", "100kb": "10–100 KB", "1mb": "100 KB–1 MB", "10mb": "1–10 MB", "larger": "> 10 MB"}
"""The bins of flow sizes, and what they hold; a bin includes its upper end."""
SHORT, LONG = "upto_100kb", "over_1mb"
SIZES = {**SIZE_BINS, SHORT: "≤ 100 KB", LONG: "> 1 MB"}
"""The ranges of sizes of all flows: the bins, the short flows and the long ones."""
_BINS = tuple(SIZE_BINS)
_BIN_EDGES = (10_000, 100_000, 1_000_000, 10_000_000)

FAIR_ENOUGH = 0.95
"""The Jain index from which on flows share fairly."""
FAIR_INTERVALS = 10
"""So many sampling intervals in a row are fair once flows have converged."""
BURST_GAP_S = 1e-3
BURST_FLOWS = 10


class Table(Protocol):
    """A table of a run: the core's own, or a data frame of polars."""

    def get_column(self, name: str, /) -> Iterable[Any]:
        """The values of a column, one per row."""


class LowerBound(float):
    """A number of which the truth may be more: something was not finished, or not fair, at the end of the run."""


def bound_if(is_bound: bool, value: float) -> float:
    """A number, marked as a lower bound where it is one."""
    return LowerBound(value) if is_bound else value


def total(values: Iterable[float]) -> float:
    """The sum, without rounding errors that depend on the order; not a number of what no run leaves behind."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return math.nan


def mean(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return total(values) / len(values) if values else None


class Flow(NamedTuple):
    """What metrics need of a flow: columns of its table (`class` is called `flow_class`)."""

    id: int
    destination: str
    flow_class: str
    size_bytes: int | None
    start_s: float
    finish_s: float | None
    fct_s: float | None
    ideal_fct_s: float | None
    slowdown: float | None
    deadline_s: float | None
    missed: bool | None
    measured_retransmits: int
    timeouts: int
    measured_timeouts: int
    acked_bytes: int
    delivered_bytes: int
    measured_switch_queueing_s: float | None
    task: int | None


class Task(NamedTuple):
    """What metrics need of a query, job, shuffle or request."""

    kind: str
    start_s: float
    time_s: float | None
    deadline_s: float | None
    missed: bool | None
    id: int
    part_of: int | None


class Times:
    """Times, or slowdowns, of which the censored ones are lower bounds."""

    def __init__(self, values: Sequence[float], censored: Sequence[bool]) -> None:
        """One of each for each flow or task."""
        self.values, self.censored = values, censored
        self.done = float(censored.count(False))
        """How many are not censored."""
        self.open_share = censored.count(True) / len(values) if values else None
        """The share that is."""

    @property
    def mean(self) -> float | None:
        """Their mean."""
        found = mean(self.values)
        return None if found is None else bound_if(any(self.censored), found)

    def percentile(self, percent: float) -> float | None:
        """A nearest rank; it is exact if it stays the same however long the censored times are."""
        if not self.values:
            return None
        ordered, longest = self._ordered
        place = rank(len(ordered), percent)
        return bound_if(ordered[place] != longest[place], ordered[place])

    @functools.cached_property
    def _ordered(self) -> tuple[list[float], list[float]]:
        """The values in ascending order, and the same if what is censored never ended."""
        ordered = sorted(self.values)
        if not any(self.censored):
            return ordered, ordered
        never = (math.inf if cut else value for value, cut in zip(self.values, self.censored, strict=True))
        return ordered, sorted(never)


def missed_share(rows: Iterable[Flow | Task], end_s: float) -> float | None:
    """The share of deadlines missed; what is still open has missed its own if that has passed, and else may miss it."""
    due = [(row.missed, row.start_s + row.deadline_s) for row in rows if row.deadline_s is not None]
    missed = [True if found is None and at < end_s else found for found, at in due]
    return bound_if(None in missed, missed.count(True) / len(missed)) if missed else None


class Group:
    """The flows of one class, of all classes, or of a bin of sizes."""

    def __init__(self, run: "RunData", flows: Sequence[Flow]) -> None:
        """Of `run`, these flows."""
        self.run, self.flows = run, flows
        self.finite = [flow for flow in flows if flow.size_bytes is not None]
        self.backlogged = [flow for flow in flows if flow.size_bytes is None]
        """The flows without an end."""
        self.counted = [flow for flow in flows if self.counts(flow)]
        """The flows that count for completion times."""

    def counts(self, flow: Flow) -> bool:
        """Whether a flow counts for completion times: it is finite and started after the warm-up."""
        return flow.size_bytes is not None and flow.start_s >= self.run.meta["warmup_s"]

    def elapsed_s(self, flow: Flow) -> float:
        """The completion time or, of a flow that did not finish, its age at the end of the run."""
        return self.run.meta["end_s"] - flow.start_s if flow.fct_s is None else flow.fct_s

    def _slowdown(self, flow: Flow) -> float:
        return self.elapsed_s(flow) / (flow.ideal_fct_s or math.nan) if flow.slowdown is None else flow.slowdown

    @functools.cached_property
    def times(self) -> Times:
        """Completion times."""
        return Times([self.elapsed_s(flow) for flow in self.counted], [flow.fct_s is None for flow in self.counted])

    @functools.cached_property
    def slowdowns(self) -> Times:
        """Completion times over those in an empty network."""
        return Times([self._slowdown(flow) for flow in self.counted], self.times.censored)

    @property
    def deadline_miss(self) -> float | None:
        """The share of deadlines missed."""
        return missed_share(self.counted, self.run.meta["end_s"])

    @property
    def done(self) -> float | None:
        """How many of those that count finished, which may be none; there is no such number of backlogged flows."""
        return self.times.done if self.counted or not self.backlogged else None

    @functools.cached_property
    def bins(self) -> dict[str, "Group"]:
        """The counted flows by bins of sizes: all bins, so that every run has the same; none of backlogged flows."""
        if self.done is None:
            return {}
        found: dict[str, list[Flow]] = {name: [] for name in _BINS}
        for flow in self.counted:
            found[_BINS[bisect_left(_BIN_EDGES, flow.size_bytes or 0)]].append(flow)
        return {name: Group(self.run, flows) for name, flows in found.items()}

    @property
    def flow_goodput_bps(self) -> float | None:
        """What all flows together had acknowledged over the time that all of them together were open.

        Of finite flows those after the warm-up, until they finished or the run ended: what one that stalls does not get
        is part of the number, so that it is no bound. An ideal scheduler does not tell how far such a flow got. A flow
        without end counts from the warm-up or its start on.
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
        """Timeouts per flow: of finite ones after the warm-up until they finished, of others in the measured time."""
        found = [flow.timeouts for flow in self.counted] + [flow.measured_timeouts for flow in self.backlogged]
        return self.run.packets(sum(found) / len(found)) if found else None

    @property
    def timed_out(self) -> float | None:
        """The share of the flows that count that had a timeout."""
        found = mean([float(flow.timeouts > 0) for flow in self.counted])
        return None if found is None else self.run.packets(found)

    @property
    def inversions(self) -> float | None:
        """How often, among the flows of a burst by size, one takes longer than the next larger one; mean over bursts.

        What unfinished flows leave open does not count, and makes the mean a lower bound.
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
        """Ten or more flows to one host, each of which starts within a millisecond of the one before (pECN, Fig. 7)."""
        bursts: list[list[Flow]] = []
        for flow in sorted(self.counted, key=lambda flow: (flow.destination, flow.start_s)):
            last = bursts[-1][-1] if bursts else flow
            if not bursts or flow.destination != last.destination or flow.start_s - last.start_s > BURST_GAP_S:
                bursts.append([])
            bursts[-1].append(flow)
        return [burst for burst in bursts if len(burst) >= BURST_FLOWS]

    @property
    def jain(self) -> float | None:
        """The Jain index of what two or more backlogged flows got in the measured time."""
        shares = [float(flow.delivered_bytes) for flow in self.backlogged]
        return jain_index(shares) if len(shares) > 1 and any(shares) else None

    @property
    def jain_sampled(self) -> float | None:
        """The mean of the index over the sampling intervals after the warm-up."""
        return mean([index for begin, _, index in self._intervals if begin >= self.run.meta["warmup_s"]])

    @property
    def convergence_s(self) -> float | None:
        """How long from the last start until enough intervals in a row are fair; without such, at least until then.

        What follows those intervals has no bearing on it, so a longer run says the same.
        """
        last_start_s = max((flow.start_s for flow in self.backlogged), default=math.inf)
        since, row = None, 0
        for begin, end, index in (interval for interval in self._intervals if interval[0] >= last_start_s):
            if row == FAIR_INTERVALS:
                break
            fair = index >= FAIR_ENOUGH
            since, row = (since if row else begin, row + 1) if fair else (end, 0)
        return None if since is None else bound_if(row < FAIR_INTERVALS, since - last_start_s)

    @functools.cached_property
    def _intervals(self) -> list[tuple[float, float, float]]:
        """Begin and end of the sampling intervals, and the Jain index of two or more backlogged flows within each.

        An interval counts the flows that had started by its end; one in which nothing was acknowledged is left out.
        """
        if len(self.backlogged) < 2:
            return []
        ids = {str(flow.id) for flow in self.backlogged}
        rates: dict[float, list[float]] = {}
        for time, kind, subject, value in self.run.rows("samples", ("time_s", "kind", "subject", "value")):
            of_time = rates.setdefault(time, [])
            if kind == "flow_throughput_bps" and subject in ids:
                of_time.append(value)
        return [(begin, end, jain_index(rates[end])) for begin, end in pairwise(sorted(rates)) if any(rates[end])]


class Tasks:
    """The tasks of one kind that began after the warm-up."""

    def __init__(self, tasks: Sequence[Task], end_s: float, timed_out: Collection[int]) -> None:
        """The tasks of a run that ended then, and the ids of those that had a timeout."""
        ages = [end_s - task.start_s if task.time_s is None else task.time_s for task in tasks]
        self.times = Times(ages, [task.time_s is None for task in tasks])
        self.miss = missed_share(tasks, end_s)
        self.timed_out = mean([float(task.id in timed_out) for task in tasks])


class RunData:
    """A run's tables and its account, as metrics look at them. What nobody looks at is not read."""

    def __init__(self, tables: Mapping[str, Table], meta: Meta) -> None:
        """The tables by name."""
        self._tables, self.meta = tables, meta

    @functools.cached_property
    def flows(self) -> Group:
        """All flows."""
        columns = ("class" if name == "flow_class" else name for name in Flow._fields)
        return Group(self, [Flow(*row) for row in self.rows("flows", columns)])

    @functools.cached_property
    def classes(self) -> dict[str, Group]:
        """The flows by class; one that the scenario declares may have none."""
        names = sorted({flow.flow_class for flow in self.flows.flows}.union(self.meta.get("classes", ())))
        return {name: Group(self, [flow for flow in self.flows.flows if flow.flow_class == name]) for name in names}

    @functools.cached_property
    def sizes(self) -> dict[str, Group]:
        """The counted flows of all classes by ranges of sizes; flows without end are long."""
        found = self.flows.bins or {name: Group(self, ()) for name in SIZE_BINS}
        short, long = (
            [flow for name in names for flow in found[name].flows] for names in (("10kb", "100kb"), ("10mb", "larger"))
        )
        return {**found, SHORT: Group(self, short), LONG: Group(self, [*long, *self.flows.backlogged])}

    @functools.cached_property
    def tasks(self) -> dict[str, Tasks]:
        """The tasks that began after the warm-up, by kind."""
        every = [Task(*row) for row in self.rows("tasks", Task._fields)]
        counted = [task for task in every if task.start_s >= self.meta["warmup_s"]]
        kinds = {task.kind for task in counted}
        late = {flow.task for flow in self.flows.flows if flow.timeouts and flow.task is not None}
        late |= {task.part_of for task in every if task.id in late and task.part_of is not None}
        end_s = self.meta["end_s"]
        return {kind: Tasks([task for task in counted if task.kind == kind], end_s, late) for kind in kinds}

    @functools.cached_property
    def is_ideal(self) -> bool:
        """Whether an ideal scheduler made it, which has no packets and so no ports."""
        return not list(self.rows("ports", ["port"]))

    def packets(self, count: float) -> float | None:
        """A count of what an ideal scheduler does not have."""
        return None if self.is_ideal else float(count)

    def measured(self, column: str) -> list[float]:
        """What the measured ports have in a column."""
        rows = self.rows("ports", ("port", column))
        return [float(value) for port, value in rows if port in self.meta["measured_ports"] and value is not None]

    def rows(self, table: str, columns: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """Some columns of a table, row by row."""
        return zip(*(self._tables[table].get_column(name) for name in columns), strict=True)
