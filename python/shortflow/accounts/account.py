"""Accounts of a run's completion times, to the picosecond.

The core follows the packet that completes each flow (`crates/sim/src/probe/account`). The account of a flow splits its
completion time into parts, one for each round and cause. The parts add up to the completion time.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from shortflow import _core
from shortflow.errors import ConfigError, unknown_name
from shortflow.lazy import pl
from shortflow.result import Result
from shortflow.runner import Progress, run_one
from shortflow.runs import Run
from shortflow.store.frames import completion

ALL = "all"
"""Name that stands for all classes."""
TAIL = 0.01
"""Share of a class's finished flows that counts as its slowest flows."""
ROUNDS = {
    "last": "",
    "window": "wait for window: ",
    "credit": "wait for credit: ",
}
"""Words that precede the cause in a label, by round."""


class TimePart(NamedTuple):
    """A part of a completion time: the round trip in which the time passed, and its cause."""

    round: str
    """`last` for the round trip of the completing packet.

    `window` or `credit` for an earlier round trip, for whose answer the sender waited.
    """
    cause: str

    @property
    def label(self) -> str:
        """Round and cause in words."""
        return f"{ROUNDS[self.round]}{self.cause}"


class InFront(NamedTuple):
    """Packets of one flow that a port sent while the followed packet waited."""

    flow: int | None
    """Row in the flow table; None for a flow without an account."""
    connection: int
    packets: int
    takes_ps: int


class Step(NamedTuple):
    """A step on the path of the packet that completes a flow.

    Times are in picoseconds from the start of the run.
    """

    from_ps: int
    until_ps: int
    part: TimePart
    port: str | None
    packet: tuple[str, int] | None
    """Type and sequence number."""
    in_front: Sequence[InFront]


class Shares(NamedTuple):
    """Completion times of a class, split into parts."""

    flow_class: str
    flows: int
    """Number of finished flows."""
    unfinished: int
    mean: Mapping[TimePart, float]
    """Mean time of each part over the finished flows, in picoseconds. Empty if no flow finished."""
    slowest: Mapping[TimePart, float]
    """Mean time of each part over the slowest flows, in picoseconds.

    The slowest flows are the 1 % with the largest slowdown, at least one flow.
    """
    slowest_flows: int


@functools.cache
def parts() -> Sequence[TimePart]:
    """All parts that the core knows, in its order."""
    return [TimePart(*each) for each in _core.Accounts.parts()]


@dataclass(frozen=True)
class Accounts:
    """A finished run with the accounts of its flows."""

    result: Result
    table: "pl.DataFrame"
    """One row per finished flow: `flow`, `start_ps`, `finish_ps`, and one column of picoseconds for each part that at
    least one flow has.
    """
    steps: Sequence[Step] = field(default=(), repr=False)
    """Steps of the traced flow."""

    @functools.cached_property
    def parts(self) -> Mapping[str, TimePart]:
        """Parts that at least one flow has, by the name of their column in `table`."""
        return {name: parts()[int(name)] for name in self.table.columns if name.isdigit()}

    @functools.cached_property
    def flows(self) -> "pl.DataFrame":
        """Accounts joined with the flow table, by slowdown. Only finished flows that started in the measured time."""
        counted = self._measured.filter(~pl.col("censored"))
        counted = counted.with_columns(pl.col("id").cast(pl.UInt32).alias("flow"))
        return counted.join(self.table, on="flow", how="inner").sort("slowdown", "flow")

    @functools.cached_property
    def _measured(self) -> "pl.DataFrame":
        """Finite flows that started in the measured time, finished or not."""
        return completion(self.result.flows, self.result.meta)

    def of_class(self, name: str) -> "pl.DataFrame":
        """Finished flows of a class, by slowdown. Raises `ConfigError` for an unknown class, or if no flow finished."""
        known = [*dict.fromkeys(self.result.flows["class"]), ALL]
        if name not in known:
            raise unknown_name("class", name, known)
        found = self.flows if name == ALL else self.flows.filter(pl.col("class") == name)
        if found.is_empty():
            raise ConfigError(self._lacking(name))
        return found

    def _lacking(self, name: str) -> str:
        """Reason why no flow of a class has an account."""
        of = "" if name == ALL else f' of class "{name}"'
        every, measured = (
            flows if name == ALL else flows.filter(pl.col("class") == name)
            for flows in (self.result.flows, self._measured)
        )
        if every["size_bytes"].null_count() == every.height:
            return f"no flow{of} has an end, so no flow has a completion time"
        if measured.is_empty():
            return f"no finite flow{of} started in the measured time; a shorter warmup may help"
        return f"no measured flow{of} finished, so none has a completion time; a longer drain may help"

    def worst(self, name: str) -> int:
        """Row in the flow table of the flow with the largest slowdown in a class."""
        return int(self.of_class(name)["flow"][-1])

    def median(self, name: str) -> int:
        """Row in the flow table of the flow with the lower median slowdown in a class."""
        found = self.of_class(name)
        return int(found["flow"][(found.height - 1) // 2])

    def of_flow(self, flow: int) -> dict[TimePart, int]:
        """Account of a flow: picoseconds by part, the longest part first.

        Raises `ConfigError` if the flow has no account.
        """
        row = self.table.filter(pl.col("flow") == flow)
        if row.is_empty():
            flows = self.result.flows
            if not 0 <= flow < flows.height:
                rows = f"has rows 0 to {flows.height - 1}" if flows.height else "is empty"
                raise ConfigError(f"flow {flow}: the flow table {rows}")
            is_backlogged = flows["size_bytes"][flow] is None
            why = "the flow is backlogged" if is_backlogged else f"the flow did not finish under {self.result.scheme}"
            raise ConfigError(f"flow {flow}: {why}, so it has no completion time")
        found = {part: int(row[name][0]) for name, part in self.parts.items()}
        return dict(sorted(((part, time) for part, time in found.items() if time), key=lambda each: -each[1]))

    def shares(self) -> list[Shares]:
        """Shares of each class of finite flows."""
        return [self._shares(name) for name in dict.fromkeys(self._measured["class"])]

    def _shares(self, name: str) -> Shares:
        found = self.flows.filter(pl.col("class") == name)
        unfinished = self._measured.filter(pl.col("class") == name).height - found.height
        tail = found.tail(max(1, round(TAIL * found.height)))

        def means(flows: "pl.DataFrame") -> dict[TimePart, float]:
            return {part: float(flows[column].mean()) for column, part in self.parts.items() if flows.height}  # type: ignore[arg-type]

        return Shares(name, found.height, unfinished, means(found), means(tail), tail.height)


def accounted(
    run: Run,
    traced: int | None = None,
    progress: Progress | None = None,
    departed: "Callable[[_core.Table], None] | None" = None,
) -> Accounts:
    """Does a run and accounts for its completion times. Keeps the steps of the flow in row `traced`.

    `departed` receives the packets of all flows that leave a port, in portions.
    """
    core = run.scenario.core
    taker = _core.Accounts(core, traced)
    followed = run.scenario.classes if departed else []
    capture = _core.Capture(core, classes=followed, table=departed, only=["departed"], accounts=taker)
    result = run_one(run, progress, capture)
    steps = [
        Step(begin, end, TimePart(turn, cause), port, packet, [InFront(*each) for each in in_front])
        for begin, end, turn, cause, port, packet, in_front in taker.steps()
    ]
    return Accounts(result, pl.DataFrame(taker.table()), steps)
