"""What the runs of a study say: metrics, statistics and, where a claim needs them, the tables of single runs."""

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

from shortflow.errors import ConfigError, TooLittle
from shortflow.lab.study import Position, Study, Value
from shortflow.metrics.stats import Estimate, estimate, paired_difference
from shortflow.result import Result
from shortflow.results import Results
from shortflow.runs import Run

Found = TypeVar("Found", bound=Sized)

_KEPT = 200
"""So many results are kept in memory."""


@dataclass(frozen=True)
class Data:
    """The finished runs of a study."""

    study: Study
    keys: Sequence[str]
    """The keys of the grid."""
    points: Mapping[Position, Results]
    read: dict[str, Result] = field(default_factory=dict, repr=False)
    """The results read last, by the runs' keys."""
    known: dict[tuple[Callable[[Result], float], str], float] = field(default_factory=dict, repr=False)
    """What functions have read off runs, by the runs' keys: tables are large, and asked again and again."""
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    """Schemes whose runs are those of another."""
    replaced: set[str] = field(default_factory=set)
    """The schemes that another one stood in for when they were asked for."""

    def with_stand_ins(self, stand_ins: Mapping[str, str]) -> Self:
        """The same runs, where other schemes stand in for some."""
        return replace(self, stand_ins=stand_ins, replaced=set())

    @property
    def seeds(self) -> list[int]:
        """The seeds that every scheme has at every point, in ascending order."""
        schemes = [(point.runs, name) for point in self.points.values() for name in point.schemes]
        found = [{run.seed for run in runs if run.scheme == name} for runs, name in schemes]
        return sorted(set.intersection(*found)) if found else []

    def of_seed(self, seed: int) -> Self:
        """The runs of one seed alone; all of them in a study that has no other."""
        if len(self.seeds) < 2:
            return self
        points = {
            at: replace(point, done=[run for run in point.done if run.seed == seed])
            for at, point in self.points.items()
        }
        return replace(self, points=points)

    def of_value(self, key: str, value: Value) -> Self:
        """The runs at one value of a key of the grid alone."""
        index = self.keys.index(key)
        points = {at: point for at, point in self.points.items() if at[index] == value}
        return replace(self, points=points)

    def values(self, key: str) -> list[Value]:
        """The values that a key of the grid takes."""
        index = self.keys.index(key)
        return list(dict.fromkeys(position[index] for position in self.points))

    def at(self, **where: Value) -> Results:
        """The runs at a point; keys with dots are written with two underscores (`transport__g`).

        Intervals are those of the seeds alone, as the committed verdicts state them.
        """
        return replace(self.points[self._position(where)], allows_for_events=False)

    def mean(self, scheme: str, metric: str, **where: Value) -> Estimate:
        """A metric over the seeds."""
        found = self.at(**where).mean(self._actor(scheme), metric)
        if found is None:
            raise TooLittle(f"{metric}: {scheme} has no such result at {where}")
        return found

    def change(self, scheme: str, baseline: str, metric: str, **where: Value) -> Estimate:
        """How far a scheme lies above a baseline, paired over the seeds: -0.3 is 30 % less."""
        found = self.at(**where).relation(self._actor(scheme), self._actor(baseline), metric)
        if found is None:
            raise TooLittle(f"{metric}: {scheme} and {baseline} share no such result at {where}")
        return found

    def results(self, scheme: str, **where: Value) -> list[Result]:
        """The full results of every seed, with their tables; one that is gone from the store is an error."""
        return [self._read(run) for run in self._runs_of(scheme, **where)]

    def runs_of(self, scheme: str, **where: Value) -> list[Run]:
        """The run of every seed, as it was planned."""
        return [result.run for result in self._runs_of(scheme, **where) if result.run]

    def by_seed(self, scheme: str, metric: str | Callable[[Result], float], **where: Value) -> dict[int, float]:
        """A metric of each seed's run that has it, or what a function reads off each run."""
        if isinstance(metric, str):
            return self.at(**where).values(self._actor(scheme), metric)
        runs = self._runs_of(scheme, **where)
        for run in runs:
            if (metric, run.key) not in self.known:
                self.known[metric, run.key] = metric(self._read(run))
        return {run.seed: self.known[metric, run.key] for run in runs}

    def measured(self, measure: Callable[[Result], float], scheme: str, **where: Value) -> Estimate:
        """Something that is not among the metrics, over the seeds."""
        return estimate(list(self.by_seed(scheme, measure, **where).values()))

    def measured_change(
        self, measure: Callable[[Result], float], scheme: str, baseline: str, **where: Value
    ) -> Estimate:
        """The same, relative to a baseline and paired over the seeds."""
        ours, theirs = (self.by_seed(each, measure, **where) for each in (scheme, baseline))
        return relative(ours, theirs, baseline, where)

    def _actor(self, scheme: str) -> str:
        """The scheme whose runs are taken."""
        if scheme not in self.stand_ins:
            return scheme
        self.replaced.add(scheme)
        return self.stand_ins[scheme]

    def _runs_of(self, scheme: str, **where: Value) -> list[Result]:
        name = self._actor(scheme)
        found = [run for run in self.points[self._position(where)].done if run.scheme == name]
        if not found:
            raise TooLittle(f"{name}: was not run at {where}")
        return found

    def _read(self, run: Result) -> Result:
        """A copy of a result, whose tables are read once and held while it is among the last."""
        if run.key not in self.read:
            while len(self.read) >= _KEPT:
                del self.read[next(iter(self.read))]
            self.read[run.key] = replace(run)
        return self.read[run.key]

    def _position(self, where: Mapping[str, Value]) -> Position:
        named = {key.replace("__", "."): value for key, value in where.items()}
        position = tuple(named[key] for key in self.keys if key in named)
        if named.keys() != set(self.keys):
            raise ConfigError(f"{where}: not a point of the grid over {', '.join(self.keys) or 'nothing'}")
        if position not in self.points:
            raise TooLittle(f"without runs at {where}")
        return position


def some(values: Found, what: str) -> Found:
    """The values, of which the runs have to hold any."""
    if len(values) == 0:
        raise TooLittle(f"the runs have no {what}")
    return values


def recorded(result: Result, metric: str, what: str) -> float:
    """A metric of a run, which has to have it and not be zero."""
    value = result.metrics.get(metric)
    if not value:
        raise TooLittle(f"the runs have no {what}")
    return value


def relative(
    ours: Mapping[int, float], theirs: Mapping[int, float], baseline: str, where: Mapping[str, Value]
) -> Estimate:
    """How far one number of each seed lies above another, over the seeds that have both."""
    common = [seed for seed in ours if seed in theirs]
    found = paired_difference([ours[seed] for seed in common], [theirs[seed] for seed in common]) if common else None
    if found is None:
        raise TooLittle(f"{baseline}: is zero at {where}, so nothing can be relative to it")
    return found
