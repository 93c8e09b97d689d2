"""Studies: runs grouped by scenario and by point of the settings that vary."""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from shortflow import _core, store
from shortflow.grid import Dimension, keeps_flows, short_name
from shortflow.measured import MeasuredFlows
from shortflow.quantities import common_axis
from shortflow.result import Result, with_distances
from shortflow.results import Results
from shortflow.transport import OWN

_Place = tuple[tuple[str, str], ...]
"""Values of keys: a point, or a part of it."""


def with_measured(study: Results, measured: MeasuredFlows) -> Results:
    """The study with measured flows at each point."""
    return replace(study, measured=measured.in_network(run.table("flows") for run in study.with_tables.results))


def point_shown_first(study: Results) -> Results:
    """Point that plots of a single point show first. It has tables, if any point has."""
    points = [point for point in study.points if point.with_tables.done] or study.points
    return points[len(points) // 2]


def studies(results: Iterable[Result], superseded: Sequence[Result] = ()) -> list[Results]:
    """Studies by scenario, in the order in which their first runs finished. Points ascend.

    `results` are current runs (`store.runs.select_runs`). Runs in `superseded` are only named.
    """
    by_name: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda each: each.provenance["finished_at"]):
        by_name.setdefault(result.provenance["scenario"], []).append(result)
    return [
        _study(name, group, [each for each in superseded if each.provenance["scenario"] == name])
        for name, group in by_name.items()
    ]


@functools.cache
def registry_place(scheme: str) -> tuple[int, str]:
    """Sort key for schemes: the order of `shortflow list schemes`, then ideal schedulers, then unknown schemes."""
    names = [entry["name"] for kind in ("schemes", "ideal") for entry in _core.registry()[kind]]
    base = re.split("[+@]", scheme)[0]
    return (names.index(base) if base in names else len(names)), scheme.removeprefix(base)


def _study(name: str, results: Sequence[Result], superseded: Sequence[Result]) -> Results:
    """Study of one scenario: runs at every point of the settings that vary.

    A scheme that does not have a key, or that fixes its value in its name, has the same runs at all values of the key.
    """
    keys, places = _places(results)
    kinds = {tuple(key for key, _ in place) for place in places}
    # Runs of a scheme that does not have a key are shown at all values of the key. Their place is no separate point.
    covered = {part for place in places for part in _parts(place, kinds) if part != place}
    ideal = [entry["name"] for entry in _core.registry()["ideal"]]
    done: list[Result] = []
    beside: set[str] = set()
    for place in _ascending([place for place in places if place not in covered]):
        at = dict.fromkeys(keys, store.frames.UNSET) | dict(place)
        here = [result for part in _parts(place, kinds) for result in places.get(part, ())]
        if any(each.scheme not in ideal for each in here):
            beside |= {each.scheme for each in here if each.scheme in ideal}
        ordered = sorted(here, key=lambda each: (registry_place(each.scheme), each.seed))
        done += [replace(each, at=at) for each in with_distances(ordered)]
    title, ideal_here = results[0].provenance["title"], [each for each in ideal if each in beside]
    return Results(done, name, title, keys=keys, ideal_names=ideal_here, superseded=superseded)


def _places(results: Sequence[Result]) -> tuple[list[str], dict[_Place, list[Result]]]:
    """Keys that vary in the scenario or within a scheme, and the runs by their values of these keys.

    A run's place has only the keys that its scheme does not fix.
    """
    of_scenario = store.frames.varying(result.provenance["scenario_settings"] for result in results)
    own: dict[str, set[str]] = {}
    for result in results:
        opened = {each["key"] for each in result.provenance["scheme_settings"] if each["source"] != OWN}
        own.setdefault(result.scheme, {*of_scenario}).update(opened)
    runs_of = ([each.provenance["scheme_settings"] for each in results if each.scheme == scheme] for scheme in own)
    keys = list(dict.fromkeys([*of_scenario, *(key for runs in runs_of for key in store.frames.varying(runs))]))
    places: dict[_Place, list[Result]] = {}
    for result in results:
        settings = [*result.provenance["scenario_settings"], *result.provenance["scheme_settings"]]
        values = {each["key"]: each["value"] for each in settings}
        here = [key for key in keys if key in own[result.scheme]]
        place = tuple((short_name(key), values.get(key, store.frames.UNSET)) for key in here)
        places.setdefault(place, []).append(result)
    return [*map(short_name, keys)], places


def _parts(place: _Place, kinds: Iterable[tuple[str, ...]]) -> Iterator[_Place]:
    """Parts of a place: its values for each tuple of keys in `kinds` that the place has."""
    values = dict(place)
    for kind in kinds:
        if values.keys() >= set(kind):
            yield tuple((key, values[key]) for key in kind)


def _ascending(places: Sequence[_Place]) -> list[_Place]:
    """Places in ascending order of their values; values that are not all numbers are in order of their texts."""
    keys = dict.fromkeys(key for place in places for key, _ in place)
    rows = [tuple(dict(place).get(key, store.frames.UNSET) for key in keys) for place in places]
    axes = [common_axis(values) for values in zip(*rows, strict=True)]
    ranks = [axis[0] if axis else [0.0] * len(places) for axis in axes]
    return [places[i] for i in sorted(range(len(places)), key=lambda i: ([rank[i] for rank in ranks], rows[i]))]


def by_value(study: Results, scheme: str) -> Results | None:
    """Runs of a scheme as a study in which each value of settings that leave the flows unchanged is a scheme.

    Settings that change none of the scheme's runs are left out. Values ascend. None if no setting changes the runs.
    """
    kept = [each for each in study.dimensions if keeps_flows([each.key, *each.in_step])]
    runs = [run for run in study.runs if run.scheme == scheme]
    matter = [each for each in kept if _matters(each, runs)]
    if not matter:
        return None
    found: dict[_Place, dict[tuple[_Place, int], Result]] = {}
    for run in runs:
        rest = _rest(run, kept)
        value = tuple((each.key, run.at[each.key]) for each in matter)
        found.setdefault(value, {}).setdefault((rest, run.seed), replace(run, at=dict(rest)))
    done = [
        run.named("+".join(map("=".join, value))) for value in _ascending([*found]) for run in found[value].values()
    ]
    keys = [key for key in study.keys if key in done[0].at]
    return replace(study, done=done, keys=keys, ideal_names=(), measured=None)


def without_effect(study: Results) -> list[Dimension]:
    """Settings that vary but change no run and no metric of any scheme."""
    runs = {scheme: [run for run in study.runs if run.scheme == scheme] for scheme in study.schemes}
    return [each for each in study.dimensions if not any(_matters(each, found) for found in runs.values())]


def _matters(dimension: Dimension, runs: Iterable[Result]) -> bool:
    """True if a setting changes the digest or a metric of runs that differ in this setting alone."""
    alike: dict[tuple[_Place, int], set[tuple[str, str]]] = {}
    for run in runs:
        alike.setdefault((_rest(run, [dimension]), run.seed), set()).add((run.digest, str(run.metrics)))
    return any(len(found) > 1 for found in alike.values())


def _rest(run: Result, kept: Sequence[Dimension]) -> _Place:
    """Values of a run's settings, without those `kept`."""
    keys = {key for each in kept for key in (each.key, *each.in_step)}
    return tuple((key, value) for key, value in run.at.items() if key not in keys)
