"""Comparison of two runs of the same flows: use of their laws, first different event, and difference by part."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from shortflow import _core
from shortflow.accounts.account import ALL, Accounts, TimePart, accounted, parts
from shortflow.capture import FlowChoice
from shortflow.errors import Cancelled, ConfigError, unknown_name
from shortflow.lazy import pl
from shortflow.result import Result, changed
from shortflow.runner import Progress, run_one
from shortflow.runs import Run

EVENTS = ("sent", "dropped", "trimmed", "marked", "timeout")
"""Events that are compared."""
COLUMNS = ("time_s", "event", "reason", "port", "flow", "kind", "seq", "length")
"""Columns that are compared."""
_ROWS = 100_000
"""Number of events in memory at a time."""
_SHOWN = 6
"""Maximum number of points that an error lists."""


class Parting(NamedTuple):
    """The first events that differ. An event is None if its run had ended."""

    first: "dict[str, Any] | None"
    second: "dict[str, Any] | None"


class Asked(NamedTuple):
    """Number of finite flows of a run, and of finite flows whose law had something to decide, by reason.

    A flow may have several reasons.
    """

    flows: int
    marked: int
    lossy: int
    waiting: int
    """Finished flows that waited for the window, the pacer or credit on their critical path."""
    any: int
    unfinished: int


class Change(NamedTuple):
    """Mean completion times of a class by part, in picoseconds, over the flows that finished in both runs."""

    flow_class: str
    flows: int
    first: dict[TimePart, float]
    second: dict[TimePart, float]


@dataclass(frozen=True)
class Why:
    """Comparison of two runs: their accounts, the use of their laws, and their differences."""

    first: Accounts
    second: Accounts
    asked: tuple[Asked, Asked]
    parting: Parting | None
    changes: Sequence[Change]

    @property
    def equal(self) -> bool:
        """True if the digests of the runs are equal."""
        return self.first.result.digest == self.second.result.digest


class _Parted(Cancelled):
    """Ends the second run at its first different event."""


def stored_pair(found: Sequence[Result], names: Sequence[str], seed: int, settings: Mapping[str, str]) -> list[Result]:
    """The stored results of two schemes with one seed at one point.

    Raises `ConfigError` if a scheme has no such result, or results at several points.
    """
    known = [*dict.fromkeys(each.scheme for each in found)]
    pair = []
    for name in names:
        if name not in known:
            raise unknown_name("scheme of the store", name, known)
        of_scheme = [each for each in found if each.scheme == name]
        at_point = [each for each in of_scheme if settings.items() <= _point(each).items()]
        if not at_point:
            raise ConfigError(
                f"--set {_written(settings)}: the store has no run of {name} with these settings; {_points(of_scheme)}"
            )
        results = [each for each in at_point if each.seed == seed]
        if not results:
            seeds = ", ".join(str(each) for each in sorted({each.seed for each in at_point}))
            raise ConfigError(f"--seed {seed}: the store has no run of {name} with this seed; it has {seeds}")
        if len({(each.provenance["scenario"], *_point(each).items()) for each in results}) > 1:
            raise ConfigError(f"{name}: the store has several runs of this scheme with seed {seed}; {_points(results)}")
        pair.append(results[0])
    if pair[0].provenance["scenario_settings"] != pair[1].provenance["scenario_settings"]:
        at = " and ".join(f"{each.scheme} with {_written(_point(each)) or 'no setting'}" for each in pair)
        raise ConfigError(f"{', '.join(names)}: the store has {at}; compare both with the same settings")
    return pair


def _point(result: Result) -> dict[str, str]:
    return {**result.at, **changed(result.provenance)}


def _written(settings: Mapping[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())


def _points(found: Sequence[Result]) -> str:
    """Scenarios or points of results, with the option that chooses one."""
    scenarios = dict.fromkeys(each.provenance["scenario"] for each in found)
    if len(scenarios) > 1:
        return f"choose a scenario with --scenario: {', '.join(scenarios)}"
    points = [*dict.fromkeys(_written(_point(each)) or "no setting" for each in found)]
    others = f" and {len(points) - _SHOWN} others" if len(points) > _SHOWN else ""
    return f"choose one with --set; the store has {', '.join(points[:_SHOWN])}{others}"


def compared_runs(runs: Sequence[Run], flow: int | None = None, progress: Progress | None = None) -> Why:
    """Does two runs of the same flows with their accounts, and finds their first different event."""
    first, second = (accounted(run, flow, progress) for run in runs)
    equal = first.result.digest == second.result.digest
    parting = None if equal else _parting(runs[0], runs[1], progress)
    asked = _asked(first), _asked(second)
    return Why(first, second, asked, parting, _changes(first, second))


def _asked(found: Accounts) -> Asked:
    flows = found.result.flows.filter(pl.col("size_bytes").is_not_null())
    waits = [
        name for name, part in found.parts.items() if part.round != "last" or part.cause in ("pacing", "wait for grant")
    ]
    waited = found.table.select(pl.col("flow").alias("id"), pl.sum_horizontal(waits or pl.lit(0)).alias("waited_ps"))
    flows = flows.with_columns(pl.col("id").cast(pl.UInt32)).join(waited, on="id", how="left")
    marked = pl.col("marks").fill_null(0) > 0
    lossy = (pl.col("retransmits") > 0) | (pl.col("timeouts") > 0)
    waiting = pl.col("waited_ps").fill_null(0) > 0
    marks, losses, waits_, either = (
        flows.filter(cause).height for cause in (marked, lossy, waiting, marked | lossy | waiting)
    )
    return Asked(flows.height, marks, losses, waits_, either, flows["fct_s"].null_count())


def _changes(first: Accounts, second: Accounts) -> list[Change]:
    """Mean times by class, over the flows that finished in both runs."""
    both = first.flows.join(second.flows.select("flow"), on="flow", how="semi").sort("flow")
    other = second.flows.join(both.select("flow"), on="flow", how="semi").sort("flow")

    def means(found: Accounts, flows: "pl.DataFrame") -> dict[TimePart, float]:
        return {part: float(flows[name].mean() or 0) for name, part in found.parts.items()}  # type: ignore[arg-type]

    changes = []
    for name in dict.fromkeys(both["class"]):
        mine, theirs = (flows.filter(pl.col("class") == name) for flows in (both, other))
        changes.append(Change(name, mine.height, means(first, mine), means(second, theirs)))
    return changes


def in_order(change: Change) -> list[TimePart]:
    """Parts of either run, the largest difference first."""
    found = [part for part in parts() if part in change.first or part in change.second]
    return sorted(found, key=lambda part: -abs(change.second.get(part, 0.0) - change.first.get(part, 0.0)))


def _parting(first: Run, second: Run, progress: Progress | None) -> Parting | None:
    with tempfile.TemporaryDirectory(prefix="shortflow-why-") as place:
        # Events of a run may exceed memory, so they go to files, and are compared with the events of the second run.
        portions: list[Path] = []

        def keep(rows: _core.Table) -> None:
            portions.append(Path(place) / f"{len(portions)}.parquet")
            pl.DataFrame(rows).select(COLUMNS).write_parquet(portions[-1])

        run_one(first, progress, _events(first, keep))
        beside = _Beside(iter(portions))
        try:
            run_one(second, progress, _events(second, beside.take))
        except Cancelled:
            if beside.parting is None:
                raise
        return beside.parting or beside.end()


def _events(run: Run, take: Callable[[_core.Table], None]) -> _core.Capture:
    core, rows = run.scenario.core, FlowChoice.parse(ALL, run.scenario)
    return _core.Capture(core, classes=[*rows.classes], table=take, rows=_ROWS, only=EVENTS)


class _Beside:
    """Compares the events of two runs, portion by portion. Portions of the runs may end at different events."""

    def __init__(self, portions: Iterator[Path]) -> None:
        self._portions = portions
        self._mine, self._theirs = pl.DataFrame(), pl.DataFrame()
        self.parting: Parting | None = None

    def take(self, rows: _core.Table) -> None:
        """Compares a portion of the second run. Ends the second run at the first difference."""
        self._theirs = pl.concat([self._theirs, pl.DataFrame(rows).select(COLUMNS)], how="diagonal")
        while self._mine.height < self._theirs.height and (portion := next(self._portions, None)):
            self._mine = pl.concat([self._mine, pl.read_parquet(portion)], how="diagonal")
        common = min(self._mine.height, self._theirs.height)
        differs = pl.Series([False] * common)
        for name in COLUMNS if common else ():
            differs = differs | self._mine[name].head(common).ne_missing(self._theirs[name].head(common))
        if common and differs.any():
            at = differs.arg_max() or 0
            self.parting = Parting(self._mine.row(at, named=True), self._theirs.row(at, named=True))
            raise _Parted("the runs part")
        self._mine, self._theirs = self._mine.slice(common), self._theirs.slice(common)

    def end(self) -> Parting | None:
        """The next event, if one run has further events after the other run ended. None if both ended together."""
        while not self._mine.height and (portion := next(self._portions, None)):
            self._mine = pl.read_parquet(portion)
        mine, theirs = (each.row(0, named=True) if each.height else None for each in (self._mine, self._theirs))
        return Parting(mine, theirs) if mine or theirs else None
