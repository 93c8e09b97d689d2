"""What the runs of a study say: metrics, statistics and, where a claim needs them, the tables of single runs."""

import errno
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from shortflow.comparison import Comparison
from shortflow.errors import ConfigError
from shortflow.lab.study import Position, Study, Value
from shortflow.metrics.stats import Estimate, estimate, paired_difference
from shortflow.result import Run, RunResult
from shortflow.store.runs import Store


@dataclass(frozen=True)
class Data:
    """The finished runs of a study."""

    study: Study
    keys: Sequence[str]
    """The keys of the grid."""
    points: Mapping[Position, Comparison]
    runs: Mapping[Position, Sequence[Run]]
    store: Store
    read: dict[str, RunResult] = field(default_factory=dict, repr=False)
    """The results read so far, by the runs' keys."""
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    """Schemes whose runs are those of another."""
    replaced: set[str] = field(default_factory=set)
    """The schemes that another one stood in for when they were asked for."""

    def with_stand_ins(self, stand_ins: Mapping[str, str]) -> Self:
        """The same runs, where other schemes stand in for some."""
        return replace(self, stand_ins=stand_ins, replaced=set())

    def values(self, key: str) -> list[Value]:
        """The values that a key of the grid takes."""
        index = self.keys.index(key)
        return list(dict.fromkeys(position[index] for position in self.points))

    def at(self, **where: Value) -> Comparison:
        """The runs at a point; keys with dots are written with two underscores (`transport__g`)."""
        return self.points[self._position(where)]

    def mean(self, scheme: str, metric: str, **where: Value) -> Estimate:
        """A metric over the seeds."""
        found = self.at(**where).estimate(self._actor(scheme), metric)
        if found is None:
            raise ConfigError(f"{metric}: {scheme} has no such result at {where}")
        return found

    def change(self, scheme: str, baseline: str, metric: str, **where: Value) -> Estimate:
        """How far a scheme lies above a baseline, paired over the seeds: -0.3 is 30 % less."""
        found = self.at(**where).relation(self._actor(scheme), self._actor(baseline), metric)
        if found is None:
            raise ConfigError(f"{metric}: {scheme} and {baseline} share no such result at {where}")
        return found

    def results(self, scheme: str, **where: Value) -> list[RunResult]:
        """The full results of every seed, with their tables; one that is gone from the store is an error."""
        name = self._actor(scheme)
        return [self._read(run) for run in self.runs[self._position(where)] if run.scheme.name == name]

    def by_seed(self, scheme: str, metric: str, **where: Value) -> dict[int, float]:
        """A metric of each seed's run that has it."""
        return self.at(**where).values(self._actor(scheme), metric)

    def measured(self, measure: Callable[[RunResult], float], scheme: str, **where: Value) -> Estimate:
        """Something that is not among the metrics, over the seeds."""
        return estimate([measure(result) for result in self.results(scheme, **where)])

    def measured_change(
        self, measure: Callable[[RunResult], float], scheme: str, baseline: str, **where: Value
    ) -> Estimate:
        """The same, relative to a baseline and paired over the seeds."""
        sides = [[measure(result) for result in self.results(each, **where)] for each in (scheme, baseline)]
        found = paired_difference(*sides)
        if found is None:
            raise ConfigError(f"{baseline}: is zero at {where}, so nothing can be relative to it")
        return found

    def _actor(self, scheme: str) -> str:
        """The scheme whose runs are taken."""
        if scheme not in self.stand_ins:
            return scheme
        self.replaced.add(scheme)
        return self.stand_ins[scheme]

    def _read(self, run: Run) -> RunResult:
        if run.key not in self.read:
            found = self.store.find(run)
            if found is None:
                what = f"the finished run of {run.scenario.name} with {run.scheme.name}, seed {run.seed}, is gone"
                raise FileNotFoundError(errno.ENOENT, what, str(self.store.runs))
            self.read[run.key] = found
        return self.read[run.key]

    def _position(self, where: Mapping[str, Value]) -> Position:
        named = {key.replace("__", "."): value for key, value in where.items()}
        position = tuple(named[key] for key in self.keys if key in named)
        if len(named) != len(self.keys) or position not in self.points:
            raise ConfigError(f"{where}: not a point of the grid over {', '.join(self.keys) or 'nothing'}")
        return position
