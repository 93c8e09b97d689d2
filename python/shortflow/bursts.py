"""Largest burst of a run: flows to one host that start together, and their packets."""

import contextlib
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from shortflow import store
from shortflow._core import Capture
from shortflow.errors import Cancelled, Interrupted
from shortflow.executors import Executor, Local
from shortflow.lazy import np, pl
from shortflow.result import Result
from shortflow.runner import Jobs, Progress, Runner, Wanted, run_one
from shortflow.runs import Run

Happened: TypeAlias = "Callable[[], pl.DataFrame]"
"""Function that returns the packet events after the run."""

_log = logging.getLogger(__name__)

_LEAST = 8
"""Minimum number of flows in a burst."""
_MOST = 40
"""Maximum number of traced flows. If a burst has more, the slowest are traced."""


@dataclass(frozen=True)
class LargestBurst:
    """Flows to one host that all start within one ideal FCT of the run's shortest flow."""

    host: str
    begin_s: float
    end_s: float
    """Last finish of the burst's flows, or end of the run."""
    rows: list[int]
    """Rows of the traced flows in the flow table."""
    flows: int
    """Number of flows, including flows that are not traced."""


def find_burst(result: Result) -> LargestBurst | None:
    """The burst with most flows in measured time, the earliest on a tie. None if no burst has 8 flows."""
    meta = result.meta
    finite = pl.col("size_bytes").is_not_null() & pl.col("ideal_fct_s").is_not_null()
    flows = result.flows.filter(finite & (pl.col("start_s") >= meta["warmup_s"])).sort("start_s", "id")
    if flows.is_empty():
        return None
    together = float(flows["ideal_fct_s"].to_numpy().min())
    found: tuple[int, float, pl.DataFrame] | None = None
    for _, group in flows.group_by("destination", maintain_order=True):
        starts = group["start_s"].to_numpy()
        counts = np.searchsorted(starts, starts + together, side="right") - np.arange(len(starts))
        first = int(counts.argmax())
        count = int(counts[first])
        if count >= _LEAST and (found is None or (-count, starts[first]) < (-found[0], found[1])):
            found = count, float(starts[first]), group.slice(first, count)
    if found is None:
        return None
    count, begin, group = found
    finish = pl.col("finish_s").fill_null(meta["end_s"])
    slowest = group.sort(finish - pl.col("start_s"), "id", descending=[True, False]).head(_MOST)
    end = float(group.select(finish.max()).item())
    return LargestBurst(group["destination"][0], begin, end, sorted(slowest["id"].to_list()), count)


def with_burst(result: Result) -> Result | None:
    """A result with the packets of its largest burst.

    Repeats the run until the end of the burst, unless the packets exist. The rows are those of a packet trace
    (docs/results.md). None if there is no burst, or if a result from disk has no packets.
    """
    if "burst" in result.tables:
        return result
    if result.run is None or (followed := _followed(result.run, result)) is None:
        return None
    capture, happened = followed
    with contextlib.suppress(Cancelled):
        run_one(result.run, capture=capture)
    return replace(result, tables={**result.tables, "burst": happened()})


def keep_bursts(kept: Iterable[Result], jobs: Jobs = None, progress: Progress | None = None) -> None:
    """Traces the packets of the largest burst of stored runs, unless the trace exists.

    Repeats the runs on this machine, `jobs` at a time. Results are complete without traces, so a failed write or an
    interruption only causes a warning.
    """
    followed: dict[str, tuple[Path, Run, Capture, Happened]] = {}
    for result in kept:
        if "burst" not in result.tables and result.run and (found := _followed(result.run, result)):
            followed[result.key] = store.directories.place_of(result), result.run, *found
    if not followed:
        return
    captures = {key: capture for key, (_, _, capture, _) in followed.items()}
    here = Local(jobs.jobs if isinstance(jobs, Local) else 1 if isinstance(jobs, Executor) else jobs, captures)
    try:
        runs = [run for _, run, _, _ in followed.values()]
        Runner(here, progress=progress).do(Wanted(runs, tables=False, keep_going=True))
        for place, _, _, happened in followed.values():
            store.directories.write_burst(place, happened())
    except (OSError, Interrupted) as reason:
        where = next(iter(followed.values()))[0]
        _log.warning("%s: complete, but without the time-line of its largest burst: %s", where, reason)


def _followed(run: Run, result: Result) -> "tuple[Capture, Happened] | None":
    """Capture that records a run's largest burst and ends the run after it, and the function that returns the events.

    None if the run has no burst or no ports.
    """
    if result.ports.is_empty() or (burst := find_burst(result)) is None:
        return None
    tables: list[pl.DataFrame] = []
    flows, during = [(row, row) for row in burst.rows], (burst.begin_s, burst.end_s + 1e-9)
    capture = Capture(
        run.scenario.core, flows=flows, table=lambda rows: tables.append(pl.DataFrame(rows)), during=during
    )
    return capture, lambda: pl.concat(tables)
