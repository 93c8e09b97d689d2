"""Stored runs put in order: a study is one scenario, its points are the values of the parameter that varies."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from shortflow import _core
from shortflow.comparison import Comparison, with_distances
from shortflow.measured import Measured
from shortflow.metrics.catalogue import Metric
from shortflow.quantities import common_axis
from shortflow.result import Provenance, RunResult
from shortflow.store.frames import UNSET, short_name, varying
from shortflow.store.selection import decisive


@dataclass(frozen=True)
class Point:
    """The runs of one scenario with the same settings, all schemes and seeds."""

    label: str
    x: float | None
    """The varying value as a number of the study's unit, if it is one."""
    results: Sequence[RunResult]
    comparison: Comparison


@dataclass(frozen=True)
class Study:
    """All runs of one scenario."""

    name: str
    title: str
    x_name: str | None
    """What varies between the points, if anything does."""
    points: Sequence[Point]
    x_unit: str = ""
    """The unit of the points' numbers."""
    superseded: Sequence[Provenance] = ()
    """Older runs, of which newer ones with the same settings stand in the points."""
    measured: Measured | None = None
    """Flows of the user's own, which are the same beside every point."""

    @property
    def schemes(self) -> list[str]:
        """All schemes, in the order in which Shortflow lists them."""
        return list(dict.fromkeys(scheme for point in self.points for scheme in point.comparison.schemes))

    @property
    def ideal(self) -> list[str]:
        """The ideal schedulers beside them."""
        return list(dict.fromkeys(name for point in self.points for name in point.comparison.ideal_names))

    @property
    def metrics(self) -> list[Metric]:
        """All metrics that some run has."""
        return list(dict.fromkeys(metric for point in self.points for metric in point.comparison.metrics.values()))

    @property
    def classes(self) -> list[str]:
        """The classes of flows that metrics are about."""
        return list(dict.fromkeys(metric.flow_class for metric in self.metrics if metric.flow_class))

    @property
    def shown_first(self) -> Point:
        """The one that plots show at first which show one at a time."""
        return self.points[len(self.points) // 2]

    @property
    def numeric(self) -> bool:
        """Whether the points lie on a numeric axis."""
        return len(self.points) > 1 and all(point.x is not None for point in self.points)


def with_measured(study: Study, measured: Measured) -> Study:
    """A study with measured flows beside the runs of each of its points."""
    known = measured.in_network(result.flows for point in study.points for result in point.results)
    points = [replace(each, comparison=replace(each.comparison, measured=known)) for each in study.points]
    return replace(study, points=points, measured=known)


def studies(results: Iterable[RunResult], superseded: Sequence[Provenance] = ()) -> list[Study]:
    """The runs by scenario, in the order in which the scenarios were run; each with its points in ascending order.

    The results are those that count (`store.runs.select_runs`); of the others it is said where they came from.
    """
    by_name: dict[str, list[RunResult]] = {}
    for result in sorted(results, key=lambda each: each.provenance["finished_at"]):
        by_name.setdefault(result.provenance["scenario"], []).append(result)
    return [
        _study(name, group, [origin for origin in superseded if origin["scenario"] == name])
        for name, group in by_name.items()
    ]


def _named_apart(results: Sequence[RunResult]) -> list[RunResult]:
    """The runs, with schemes of one name and different settings told apart: `dctcp (g = 0.9)`."""
    kinds: dict[str, dict[Hashable, list[RunResult]]] = {}
    for result in results:
        settings = result.provenance["scheme_settings"]
        kinds.setdefault(result.provenance["scheme"], {}).setdefault(decisive(settings), []).append(result)
    labels: dict[str, str] = {}
    for scheme, of_settings in kinds.items():
        keys = varying(group[0].provenance["scheme_settings"] for group in of_settings.values())
        for number, group in enumerate(of_settings.values(), 1):
            values = {setting["key"]: setting["value"] for setting in group[0].provenance["scheme_settings"]}
            differs = [f"{key.removeprefix('transport.')} = {values[key]}" for key in keys if key in values]
            label = f"{scheme} ({', '.join(differs) or number})" if len(of_settings) > 1 else scheme
            label = f"{label} ({number})" if label in labels.values() else label
            labels |= {result.provenance["key"]: label for result in group}
    return [
        replace(result, provenance={**result.provenance, "scheme": labels[result.provenance["key"]]})
        for result in results
    ]


def _study(name: str, results: Sequence[RunResult], superseded: Sequence[Provenance]) -> Study:
    results = _named_apart(results)
    keys = varying(result.provenance["scenario_settings"] for result in results)
    by_values: dict[tuple[str, ...], list[RunResult]] = {}
    for result in results:
        values = _values(result.provenance)
        by_values.setdefault(tuple(values.get(key, UNSET) for key in keys), []).append(result)
    places, unit = _places(list(by_values))
    names = [short_name(key) for key in keys]
    points = [
        Point(", ".join(values), places[values], *_compared(dict(zip(names, values, strict=True)), by_values[values]))
        for values in places
    ]
    return Study(name, results[0].provenance["title"], ", ".join(names) or None, points, unit, superseded)


def _compared(settings: dict[str, str], results: Sequence[RunResult]) -> tuple[list[RunResult], Comparison]:
    """The runs of a point in the order in which Shortflow lists schemes, and their comparison."""
    registry = _core.registry()
    ideal = [entry["name"] for entry in registry["ideal"]]
    names = [*(entry["name"] for entry in registry["schemes"]), *ideal]
    rank = {name: place for place, name in enumerate(names)}
    ordered = sorted(
        results, key=lambda each: (rank.get(each.provenance["scheme"], len(rank)), each.provenance["seed"])
    )
    origin = results[0].provenance
    runs = with_distances([each.summary for each in ordered])
    of_schemes = [run for run in runs if run.scheme not in ideal]
    of_ideal = [run for run in runs if run.scheme in ideal] if of_schemes else []
    return ordered, Comparison(origin["scenario"], origin["title"], settings, of_schemes or runs, of_ideal)


def _values(origin: Provenance) -> dict[str, str]:
    return {setting["key"]: setting["value"] for setting in origin["scenario_settings"]}


def _places(points: Sequence[tuple[str, ...]]) -> tuple[dict[tuple[str, ...], float | None], str]:
    """The points in ascending order, numbers before words; with their places on an axis, and its unit, if one value
    varies and is a number everywhere."""
    axes = [common_axis(values) for values in zip(*points, strict=True)]
    ranks = [axis[0] if axis else [0.0] * len(points) for axis in axes]
    ordered = sorted(range(len(points)), key=lambda i: ([rank[i] for rank in ranks], points[i]))
    if len(axes) == 1 and axes[0]:
        numbers, unit = axes[0]
        return {points[i]: numbers[i] for i in ordered}, unit
    return {points[i]: None for i in ordered}, ""
