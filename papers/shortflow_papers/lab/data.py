"""Data that claims read from a study's runs: metrics, statistics, and tables of single runs."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

from shortflow import ConfigError, Estimate
from shortflow.api.errors import TooLittle, unknown_name
from shortflow.api.judge import estimate, paired_difference
from shortflow.api.runs import Result, Results, Run, check_metric
from shortflow_papers.lab.study import Position, Study, Value

Found = TypeVar("Found", bound=Sized)
Answer = TypeVar("Answer")

MetricOrFunction = str | Callable[[Result], float]
"""Name of a metric, or a function that computes a number from each run."""
TOO_LITTLE = (TooLittle, ZeroDivisionError)
"""Errors that recipes raise for runs without enough data. Any other error is a bug of the recipe."""
_KEPT = 200
"""Maximum number of results cached in memory."""


@dataclass(frozen=True)
class Data:
    """Finished runs of a study, by point of its grid."""

    study: Study
    keys: Sequence[str]
    """Keys of the grid."""
    points: Mapping[Position, Results]
    read: dict[str, Result] = field(default_factory=dict, repr=False)
    """Cached results by run key, oldest first."""
    known: dict[tuple[Callable[[Result], float], str], float] = field(default_factory=dict, repr=False)
    """Cached values of functions by function and run key, because reading large tables again is slow."""
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    """Scheme whose runs are read in place of another scheme's."""
    replaced: set[str] = field(default_factory=set)
    """Schemes in whose place a stand-in was read so far."""

    @property
    def seeds(self) -> list[int]:
        """Seeds that every scheme has at every point, in ascending order."""
        schemes = [(point.runs, name) for point in self.points.values() for name in point.schemes]
        found = [{run.seed for run in runs if run.scheme == name} for runs, name in schemes]
        return sorted(set.intersection(*found)) if found else []

    def of_seed(self, seed: int) -> Self:
        """The data of one seed. A study with a single seed keeps all its runs."""
        if len(self.seeds) < 2:
            return self
        points = {
            at: replace(point, done=[run for run in point.done if run.seed == seed])
            for at, point in self.points.items()
        }
        return replace(self, points=points)

    def of_value(self, key: str, value: Value) -> Self:
        """The data at one value of a key of the grid."""
        index = self._index(key)
        points = {at: point for at, point in self.points.items() if at[index] == value}
        return replace(self, points=points)

    def values(self, key: str) -> list[Value]:
        """Values of a key of the grid, in the grid's order."""
        index = self._index(key)
        return list(dict.fromkeys(position[index] for position in self.points))

    def at(self, **where: Value) -> Results:
        """Results at a point. Write dots in keys as two underscores (`transport__g`).

        Intervals have no allowance for rare events, because the stored verdicts have none either. Raises `TooLittle`
        without runs at the point, and `ConfigError` if it is no point of the grid.
        """
        return replace(self.points[self._position(where)], allows_for_events=False)

    def mean(self, scheme: str, metric: MetricOrFunction, **where: Value) -> Estimate:
        """Mean of a metric over the seeds. Raises `TooLittle` if the runs do not have the metric."""
        if not isinstance(metric, str):
            return estimate(list(self.by_seed(scheme, metric, **where).values()))
        found = self.at(**where).mean(self._actor(scheme), metric)
        if found is None:
            raise self._absent(metric, where, scheme)
        return found

    def change(self, scheme: str, baseline: str, metric: MetricOrFunction, **where: Value) -> Estimate:
        """Relative difference from the baseline (-0.3 means 30 % lower), paired by seed.

        Raises `TooLittle` if the runs do not have the metric, or if a function's mean is zero for the baseline.
        """
        if not isinstance(metric, str):
            ours, theirs = (self.by_seed(each, metric, **where) for each in (scheme, baseline))
            return relative(ours, theirs, baseline, where)
        found = self.at(**where).relation(self._actor(scheme), self._actor(baseline), metric)
        if found is None:
            raise self._absent(metric, where, scheme, baseline)
        return found

    def results(self, scheme: str, **where: Value) -> list[Result]:
        """Results of every seed, with tables. Reading a table that the store does not have raises an error."""
        return [self._read(run) for run in self._runs_of(scheme, **where)]

    def runs_of(self, scheme: str, **where: Value) -> list[Run]:
        """Planned runs of every seed, without results that were only read from a store."""
        return [result.run for result in self._runs_of(scheme, **where) if result.run]

    def by_seed(self, scheme: str, metric: MetricOrFunction, **where: Value) -> dict[int, float]:
        """Values by seed: of a metric, for runs that have it, or of a function, for each run."""
        if isinstance(metric, str):
            return self.at(**where).values(self._actor(scheme), metric)
        runs = self._runs_of(scheme, **where)
        for run in runs:
            if (metric, run.key) not in self.known:
                self.known[metric, run.key] = metric(self._read(run))
        return {run.seed: self.known[metric, run.key] for run in runs}

    def check_metric(self, metric: str, where: Mapping[str, Value], *schemes: str) -> None:
        """Raises `ConfigError` for a scheme that was not run, or if no run of the scenario can have the metric."""
        for scheme in schemes:
            for run in self.runs_of(scheme, **where):
                check_metric(metric, run.scenario)

    def _absent(self, metric: str, where: Mapping[str, Value], *schemes: str) -> TooLittle:
        """Error for a metric that runs lack, with the reason. Raises `ConfigError` like `check_metric`."""
        self.check_metric(metric, where, *schemes)
        reason = self.at(**where).absent([metric]).get(metric)
        return TooLittle(str(reason or f"{metric}: not every run of {' and '.join(schemes)} has it") + _at(where))

    def _actor(self, scheme: str) -> str:
        """The scheme, or its stand-in."""
        if scheme not in self.stand_ins:
            return scheme
        self.replaced.add(scheme)
        return self.stand_ins[scheme]

    def _runs_of(self, scheme: str, **where: Value) -> list[Result]:
        name, done = self._actor(scheme), self.points[self._position(where)].done
        found = [run for run in done if run.scheme == name]
        if not found and name == scheme:
            raise unknown_name("scheme of the study", name, dict.fromkeys(run.scheme for run in done))
        if not found:
            raise TooLittle(f"{name}: was not run{_at(where)}")
        return found

    def _index(self, key: str) -> int:
        if key not in self.keys:
            raise unknown_name("key of the grid", key, self.keys)
        return self.keys.index(key)

    def _read(self, run: Result) -> Result:
        """A copy of a result that caches its tables."""
        if run.key not in self.read:
            while len(self.read) >= _KEPT:
                del self.read[next(iter(self.read))]
            self.read[run.key] = replace(run)
        return self.read[run.key]

    def _position(self, where: Mapping[str, Value]) -> Position:
        named = {key.replace("__", "."): value for key, value in where.items()}
        for key in named:
            self._index(key)
        for key in self.keys:
            if key not in named:
                raise self.several(key)
        for key, value in named.items():
            self.require(key, [value])
        return tuple(named[key] for key in self.keys)

    def require(self, key: str, wanted: Sequence[Value]) -> None:
        """Raises `TooLittle` if a value of a key of the grid was not run. The error has the values that were."""
        known = self.values(key)
        if missing := [value for value in wanted if value not in known]:
            # With quotes, the text '20' differs from the number 20.
            missed, has = (", ".join(map(repr, values)) for values in (missing, known))
            raise TooLittle(f"no run has {key} {missed}; the runs have {key} {has}")

    def several(self, key: str) -> ConfigError:
        """Error that a key of the grid needs a value, with its values."""
        values = self.values(key)
        one = f"{key.replace('.', '__')}={values[0]!r}" if values else key
        return ConfigError(f"{key}: the grid has {', '.join(map(str, values))}; name one, such as {one}")


def _at(where: Mapping[str, Value]) -> str:
    """Text of a point, after a blank; empty without a grid."""
    return f" at {', '.join(f'{key} {value}' for key, value in where.items())}" if where else ""


def some(values: Found, what: str) -> Found:
    """The values. Raises `TooLittle`, which names them by `what`, if there are none."""
    if len(values) == 0:
        raise TooLittle(f"the runs have no {what}")
    return values


def relative(
    ours: Mapping[int, float], theirs: Mapping[int, float], baseline: str, where: Mapping[str, Value]
) -> Estimate:
    """Relative difference of `ours` from `theirs`, paired over the common seeds.

    Raises `TooLittle` without common seeds, or if the baseline is zero.
    """
    common = [seed for seed in ours if seed in theirs]
    found = paired_difference([ours[seed] for seed in common], [theirs[seed] for seed in common]) if common else None
    if found is None:
        raise TooLittle(f"{baseline}: is zero{_at(where)}, so nothing can be relative to it")
    return found


Studies = Mapping[str, Data]
"""Finished runs of a figure's studies, by name."""


def reads(function: Callable[..., object]) -> tuple[str, ...]:
    """Names of the studies that a function reads, which are the names of its parameters."""
    return tuple(inspect.signature(function).parameters)


def applied(function: Callable[..., Answer], studies: Studies) -> Answer:
    """The value of a function for the studies that it reads."""
    return function(**{name: studies[name] for name in reads(function)})


def each_seed(studies: Studies, names: Collection[str], repeats: str = "") -> list[Studies]:
    """The studies called `names`, once for each seed, or for each value of the key `repeats`. Empty for a single seed.

    A study with one seed is repeated for each seed of the other studies.
    """
    used = {name or next(iter(studies)) for name in names}
    if repeats:
        (name,) = used
        return [{**studies, name: studies[name].of_value(repeats, each)} for each in studies[name].values(repeats)]
    several = [set(studies[name].seeds) for name in used if len(studies[name].seeds) > 1]
    seeds = sorted(set.intersection(*several)) if several else []
    return [{name: data.of_seed(seed) for name, data in studies.items() if name in used} for seed in seeds]
