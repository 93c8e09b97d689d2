"""Payload that each link carried in the measured time, by class."""

from collections.abc import Mapping

from shortflow import _core
from shortflow.capture import seconds_of
from shortflow.lazy import pl
from shortflow.scenario import Scenario

_MOST = 1_000_000
"""Number of rows in memory at which rows of one port and flow are added up."""


class Carried:
    """Adds up the payload of packets that leave ports.

    Memory grows with the number of flows times their hops.
    """

    def __init__(self, scenario: Scenario) -> None:
        """Counts only departures in the measured time of `scenario`."""
        self._from, self._until = seconds_of(scenario, "warmup"), seconds_of(scenario, "duration")
        self._sums: list[pl.DataFrame] = []

    def take(self, rows: "_core.Table") -> None:
        """Adds a portion of departures."""
        measured = pl.col("time_s").is_between(self._from, self._until, closed="left")
        frame = pl.DataFrame(rows).filter(measured & (pl.col("length") > 0))
        self._sums.append(frame.select("port", "flow", pl.col("length").cast(pl.Int64)))
        if sum(each.height for each in self._sums) > _MOST:
            self._sums = [self._added()]

    def _added(self) -> "pl.DataFrame":
        return pl.concat(self._sums).group_by("port", "flow").agg(pl.col("length").sum())

    def by_class(self, flows: "pl.DataFrame") -> Mapping[str, Mapping[str, int]]:
        """Bytes of payload by port, then by class. `flows` is the run's flow table."""
        if not self._sums:
            return {}
        found: dict[str, dict[str, int]] = {}
        classes = flows.select(pl.col("id").alias("flow"), "class")
        sums = self._added().join(classes, on="flow").group_by("port", "class").agg(pl.col("length").sum())
        for port, name, carried in sums.iter_rows():
            found.setdefault(port, {})[name] = carried
        return found
