"""Stored runs put in order: a study is one scenario, its points are the values of the parameter that varies."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shortflow import _core
from shortflow.comparison import Comparison, with_distances
from shortflow.frames import as_numbers, short_name, varying
from shortflow.result import Provenance, RunResult
from shortflow.runner import summary


@dataclass(frozen=True)
class Point:
    """The runs of one scenario with the same settings, all schemes and seeds."""

    label: str
    x: float | None
    """The varying value as a number, if it is one."""
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
    superseded: Sequence[Provenance] = ()
    """Older runs, of which newer ones with the same settings stand in the points."""

    @property
    def schemes(self) -> list[str]:
        """All schemes, in the order in which Shortflow lists them."""
        return list(dict.fromkeys(scheme for point in self.points for scheme in point.comparison.schemes))

    @property
    def metric_names(self) -> list[str]:
        """All metrics that some run has."""
        return list(dict.fromkeys(name for point in self.points for name in point.comparison.metric_names))

    @property
    def numeric(self) -> bool:
        """Whether the points lie on a numeric axis."""
        return len(self.points) > 1 and all(point.x is not None for point in self.points)


def studies(results: Iterable[RunResult], superseded: Sequence[Provenance] = ()) -> list[Study]:
    """The runs by scenario, in the order in which the scenarios were run; each with its points in ascending order.

    The results are those that count (`shortflow.store.select_runs`); of the others it is said where they came from.
    """
    by_name: dict[str, list[RunResult]] = {}
    for result in sorted(results, key=lambda each: each.provenance["finished_at"]):
        by_name.setdefault(result.provenance["scenario"], []).append(result)
    return [
        _study(name, group, [origin for origin in superseded if origin["scenario"] == name])
        for name, group in by_name.items()
    ]


def _study(name: str, results: Sequence[RunResult], superseded: Sequence[Provenance]) -> Study:
    keys = varying(result.provenance["scenario_settings"] for result in results)
    by_values: dict[tuple[str, ...], list[RunResult]] = {}
    for result in results:
        values = _values(result.provenance)
        by_values.setdefault(tuple(values.get(key, "") for key in keys), []).append(result)
    labels = [", ".join(values) for values in by_values]
    names = [short_name(key) for key in keys]
    points = [
        Point(label, x, *_compared(dict(zip(names, values, strict=True)), group))
        for label, x, (values, group) in zip(labels, _axis(labels), by_values.items(), strict=True)
    ]
    points.sort(key=lambda point: (point.x or 0.0, point.label))
    return Study(name, results[0].provenance["title"], ", ".join(names) or None, points, superseded)


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
    runs = with_distances([summary(each) for each in ordered])
    of_schemes = [run for run in runs if run.scheme not in ideal]
    of_ideal = [run for run in runs if run.scheme in ideal] if of_schemes else []
    return ordered, Comparison(origin["scenario"], origin["title"], settings, of_schemes or runs, of_ideal)


def _values(origin: Provenance) -> dict[str, str]:
    return {setting["key"]: setting["value"] for setting in origin["scenario_settings"]}


def _axis(labels: Sequence[str]) -> Sequence[float | None]:
    """The labels as numbers, if all of them are."""
    return as_numbers(labels) or [None] * len(labels)
