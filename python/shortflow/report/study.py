"""Groups runs by scenario and by point of the varying settings."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from shortflow import _core
from shortflow.measured import Measured
from shortflow.quantities import common_axis
from shortflow.result import Result
from shortflow.results import Results, with_distances
from shortflow.runs import Provenance
from shortflow.store.frames import UNSET, short_name, varying
from shortflow.store.selection import decisive


def with_measured(study: Results, measured: Measured) -> Results:
    """Results with measured flows at each point."""
    return replace(study, measured=measured.in_network(run.table("flows") for run in study.results))


def studies(results: Iterable[Result], superseded: Sequence[Result] = ()) -> list[Results]:
    """Results by scenario, in the order of the runs; points ascend.

    `results` are current runs (`store.runs.select_runs`); `superseded` ones are only named.
    """
    by_name: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda each: each.provenance["finished_at"]):
        by_name.setdefault(result.provenance["scenario"], []).append(result)
    return [
        _study(name, group, [each for each in superseded if each.provenance["scenario"] == name])
        for name, group in by_name.items()
    ]


def _named_apart(results: Sequence[Result]) -> list[Result]:
    """Renames schemes with one name and different settings: `dctcp (g = 0.9)`."""
    kinds: dict[str, dict[Hashable, list[Result]]] = {}
    for result in results:
        settings = result.provenance["scheme_settings"]
        kinds.setdefault(result.scheme, {}).setdefault(decisive(settings), []).append(result)
    labels: dict[str, str] = {}
    for scheme, of_settings in kinds.items():
        keys = varying(group[0].provenance["scheme_settings"] for group in of_settings.values())
        for number, group in enumerate(of_settings.values(), 1):
            values = {setting["key"]: setting["value"] for setting in group[0].provenance["scheme_settings"]}
            differs = [f"{key.removeprefix('transport.')} = {values[key]}" for key in keys if key in values]
            label = f"{scheme} ({', '.join(differs) or number})" if len(of_settings) > 1 else scheme
            label = f"{label} ({number})" if label in labels.values() else label
            labels |= {result.key: label for result in group}
    return [result.named(labels[result.key]) for result in results]


def _study(name: str, results: Sequence[Result], superseded: Sequence[Result]) -> Results:
    results = _named_apart(results)
    keys = varying(result.provenance["scenario_settings"] for result in results)
    by_values: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        given = _values(result.provenance)
        by_values.setdefault(tuple(given.get(key, UNSET) for key in keys), []).append(result)
    names = [short_name(key) for key in keys]
    registry = _core.registry()
    ideal = [entry["name"] for entry in registry["ideal"]]
    rank = {name: place for place, name in enumerate([*(entry["name"] for entry in registry["schemes"]), *ideal])}
    done: list[Result] = []
    beside: set[str] = set()
    for values in _ascending(list(by_values)):
        at = dict(zip(names, values, strict=True))
        ordered = sorted(by_values[values], key=lambda each: (rank.get(each.scheme, len(rank)), each.seed))
        if any(each.scheme not in ideal for each in ordered):
            beside |= {each.scheme for each in ordered if each.scheme in ideal}
        done += [replace(each, at=at) for each in with_distances(ordered)]
    title = results[0].provenance["title"]
    here = [name for name in ideal if name in beside]
    return Results(done, name, title, keys=names, ideal_names=here, superseded=superseded)


def _values(origin: Provenance) -> dict[str, str]:
    return {setting["key"]: setting["value"] for setting in origin["scenario_settings"]}


def _ascending(points: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Points in ascending order, numbers before words."""
    axes = [common_axis(values) for values in zip(*points, strict=True)]
    ranks = [axis[0] if axis else [0.0] * len(points) for axis in axes]
    return [points[i] for i in sorted(range(len(points)), key=lambda i: ([rank[i] for rank in ranks], points[i]))]
