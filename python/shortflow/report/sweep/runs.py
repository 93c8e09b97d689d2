"""Groups runs over a grid: varying keys, their values, and results by scheme and point."""

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shortflow.grid import keeps_flows
from shortflow.metrics.catalogue import Metric
from shortflow.metrics.stats import Estimate
from shortflow.quantities import common_axis, in_base_unit
from shortflow.report.looks import is_ideal
from shortflow.report.wording import headline_metrics
from shortflow.result import Result
from shortflow.results import Results
from shortflow.runs import Provenance
from shortflow.store.frames import UNSET, short_name, varying

Place = tuple[str, ...]
"""One value for each of some keys."""


@dataclass(frozen=True)
class Key:
    """A key that varies."""

    name: str
    values: Sequence[str]
    """In ascending order; words in the order of first run."""
    in_step: Sequence[str] = ()
    """Keys that vary with it, value by value."""

    @functools.cached_property
    def numbers(self) -> tuple[Sequence[float], str] | None:
        """Values as numbers of one unit, and the unit; None for words."""
        return common_axis(self.values)

    def number(self, value: str) -> float:
        """Position of a value on the key's axis: its number, or for words its index."""
        at = self.values.index(value)
        return self.numbers[0][at] if self.numbers else float(at)

    @property
    def label(self) -> str:
        """The key, and the keys that vary with it."""
        return (
            f"{short_name(self.name)} (with {', '.join(map(short_name, self.in_step))})"
            if self.in_step
            else short_name(self.name)
        )


@dataclass(frozen=True)
class Swept:
    """All runs of one scenario without tables, by scheme and point."""

    name: str
    title: str
    keys: Sequence[Key]
    own: Mapping[str, Sequence[int]]
    """Indices of each scheme's own keys; keys of other laws do not count."""
    runs: Mapping[str, Mapping[Place, Results]]
    """Runs of each scheme by the values of its own keys."""

    @property
    def schemes(self) -> list[str]:
        """Schemes in the order of their first run."""
        return list(self.runs)

    @property
    def points(self) -> list[Place]:
        """All combinations of the keys' values."""
        return list(itertools.product(*(key.values for key in self.keys)))

    @property
    def origins(self) -> list[Provenance]:
        """Provenance of its runs."""
        return [run.provenance for places in self.runs.values() for of in places.values() for run in of.runs]

    @property
    def flow_keys(self) -> list[int]:
        """Indices of keys that change the flows, so their values are not comparable."""
        return [i for i, key in enumerate(self.keys) if not keeps_flows((key.name, *key.in_step))]

    @functools.cached_property
    def metrics(self) -> list[Metric]:
        """Headline metrics of all runs."""
        every = [of for places in self.runs.values() for of in places.values()]
        return list(dict.fromkeys(metric for each in every for metric in headline_metrics(each)))

    def estimate(self, scheme: str, point: Place, metric: Metric) -> Estimate | None:
        """Estimate of a metric at a point, by the scheme's own keys; None without runs."""
        comparison = self.runs[scheme].get(tuple(point[place] for place in self.own[scheme]))
        return comparison.mean(scheme, metric.name) if comparison else None


def stored_sweeps(runs: Sequence[Result]) -> list[Swept]:
    """Runs of scenarios with any stored run without tables.

    Runs with tables are included, because they supersede others.
    """
    scenarios = {run.provenance["scenario"] for run in runs if not run.record["tables"]}
    return swept(run for run in runs if run.provenance["scenario"] in scenarios and not is_ideal(run.scheme))


def swept(runs: Iterable[Result]) -> list[Swept]:
    """Runs by scenario, in the order of their first run."""
    by_scenario: dict[str, list[Result]] = {}
    for run in runs:
        by_scenario.setdefault(run.provenance["scenario"], []).append(run)
    return [_swept(name, group) for name, group in by_scenario.items()]


def _swept(name: str, runs: Sequence[Result]) -> Swept:
    by_scheme: dict[str, list[Result]] = {}
    for run in runs:
        by_scheme.setdefault(run.scheme, []).append(run)
    of_scenario = varying(run.provenance["scenario_settings"] for run in runs)
    of_schemes = {
        scheme: varying(run.provenance["scheme_settings"] for run in group) for scheme, group in by_scheme.items()
    }
    names = list(dict.fromkeys([*of_scenario, *(key for keys in of_schemes.values() for key in keys)]))
    values = {id(run): dict.fromkeys([*of_scenario, *of_schemes[run.scheme]], UNSET) | _values(run) for run in runs}
    keys = _keys(names, list(values.values()))
    own = {
        scheme: [i for i, key in enumerate(keys) if key.name in of_scenario or key.name in of_schemes[scheme]]
        for scheme in by_scheme
    }
    title = runs[0].provenance["title"]
    found: dict[str, dict[Place, list[Result]]] = {}
    for scheme, group in by_scheme.items():
        for run in group:
            place = tuple(values[id(run)][keys[i].name] for i in own[scheme])
            found.setdefault(scheme, {}).setdefault(place, []).append(run)
    compared = {
        scheme: {place: Results(group, name, title) for place, group in places.items()}
        for scheme, places in found.items()
    }
    return Swept(name, title, keys, own, compared)


def _keys(names: Sequence[str], settings: Sequence[Mapping[str, str]]) -> list[Key]:
    """Keys with their values. Keys that vary with an earlier one are attached to it."""
    keys: list[Key] = []
    for name in names:
        leader = next((i for i, key in enumerate(keys) if _in_step(key.name, name, settings)), None)
        if leader is not None:
            keys[leader] = Key(keys[leader].name, keys[leader].values, [*keys[leader].in_step, name])
            continue
        values = list(dict.fromkeys(each[name] for each in settings if name in each))
        numbers = in_base_unit(values)
        if numbers:
            values = [value for _, value in sorted(zip(numbers, values, strict=True))]
        keys.append(Key(name, values))
    return keys


def _in_step(one: str, other: str, settings: Sequence[Mapping[str, str]]) -> bool:
    """True if the values of two keys correspond one to one."""
    pairs = {(each.get(one), each.get(other)) for each in settings}
    return len({first for first, _ in pairs}) == len(pairs) == len({second for _, second in pairs})


def _values(run: Result) -> dict[str, str]:
    of = run.provenance
    return {setting["key"]: setting["value"] for setting in [*of["scenario_settings"], *of["scheme_settings"]]}
