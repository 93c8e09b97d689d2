"""Choice of the current runs of a store. All readers of a store use this rule.

Among runs with equal scenario, scheme, seed and settings, the newest is current and supersedes the older ones. All
current runs of one scenario must come from the same code.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from shortflow.errors import ConfigError
from shortflow.result import Result, changed, is_measured_today
from shortflow.runs import Provenance
from shortflow.scenario import Setting, is_default
from shortflow.transport import SOURCE, UNSAVED

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Selection:
    """Runs of a store: current and superseded ones."""

    current: Sequence[Result]
    superseded: Sequence[Result]
    failed: Sequence[Result] = ()
    """Failed runs that have not succeeded and that no newer failure supersedes."""


def supersede(results: Sequence[Result]) -> Selection:
    """Separates the newest of equal runs from older ones. Each list of the selection keeps the order of `results`.

    A failed run supersedes older failures only. It is left out if an equal run succeeded at any time.
    """
    seen: set[Hashable] = set()
    newest = set()
    known: dict[int, tuple[Hashable, Hashable]] = {}

    def age(place: int) -> tuple[bool, str, str, int]:
        result = results[place]
        return not result.error, result.provenance["finished_at"], result.key, place

    for place in sorted(range(len(results)), key=age, reverse=True):
        names = _identities(results[place], known)
        if seen.isdisjoint(names):
            newest.add(place)
        seen |= names
    of = [(result, place in newest) for place, result in enumerate(results)]
    return Selection(
        [result for result, is_newest in of if is_newest and not result.error],
        [result for result, is_newest in of if not is_newest and not result.error],
        [result for result, is_newest in of if is_newest and result.error],
    )


def check_one_code(directory: Path, selection: Selection) -> None:
    """Raises `ConfigError` if current runs of one scenario come from different code.

    Code differs if the build, the source of a law, or the contents of a file differ. Runs without tables whose metrics
    another version measured raise the error, too. The error says which runs to repeat.
    """
    if not all(result.tables or is_measured_today(result.record) for result in selection.current):
        raise ConfigError(
            f"{directory}: runs without tables were measured by another version of Shortflow, whose metrics may mean "
            "something else; do them again, or read runs.parquet, which is as it was"
        )
    origins = sorted((result.provenance for result in selection.current), key=lambda each: each["scenario"])
    for scenario, of_scenario in _grouped(origins, lambda each: each["scenario"]):
        builds = f"builds of Shortflow {' and '.join(sorted({origin['version'] for origin in of_scenario}))}"
        what = f"{directory}: runs of {scenario} come from different {builds}"
        _check_equal(what, of_scenario, lambda each: each["build"])
        for scheme, of_scheme in _grouped(of_scenario, lambda each: each["scheme"]):
            what = f"{directory}: runs of {scenario} with {scheme} come from different sources of that law"
            _check_equal(what, of_scheme, _source)
        for _, of_point in _grouped(of_scenario, lambda each: decisive(each["scenario_settings"])):
            what = f"{directory}: runs of {scenario} with the same settings read different contents of the same file"
            _check_equal(what, of_point, lambda each: tuple(each["files"].items()))


def decisive(settings: Iterable[Setting]) -> frozenset[tuple[str, str]]:
    """Pairs of key and value of the settings that decide a run's identity: all but title and source of a law."""
    return frozenset((each["key"], each["value"]) for each in settings if each["key"] not in ("title", SOURCE))


def _identities(result: Result, known: dict[int, tuple[Hashable, Hashable]]) -> set[Hashable]:
    """Two identities of a run. Runs are equal if they share one of them.

    Runs share the first if all values of their settings are equal. They share the second if all explicitly set values
    are equal, because defaults may differ between builds. `known` caches the values of each settings object by its
    `id`, because runs of a log share these objects.
    """
    origin = result.provenance
    both = origin["scenario_settings"], origin["scheme_settings"]
    for settings in both:
        if id(settings) not in known:
            chosen = [setting for setting in settings if not is_default(setting)]
            known[id(settings)] = decisive(settings), decisive(chosen)
    run = (origin["scenario"], origin["scheme"], origin["seed"], "testbed" in result.meta)
    return {(*run, which, *(known[id(settings)][which] for settings in both)) for which in (0, 1)}


def _source(origin: Provenance) -> str | None:
    return next((each["value"] for each in origin["scheme_settings"] if each["key"] == SOURCE), None)


def _check_equal(what: str, origins: Sequence[Provenance], code: Callable[[Provenance], Hashable]) -> None:
    """Raises `ConfigError` if the runs' code differs. The error names the runs to repeat: all unlike the newest run."""
    newest = max(origins, key=lambda each: (each["finished_at"], each["key"]))
    others = [origin for origin in origins if code(origin) != code(newest)]
    if not others:
        return
    hint = ""
    if any((_source(origin) or "").startswith(UNSAVED) for origin in origins):
        hint = " (a law without a file is another law each time)"
    raise ConfigError(f"{what}, which cannot be compared{hint}; repeat or remove: {_named(others)}")


def _named(origins: Sequence[Provenance]) -> str:
    """Text that names runs by scheme, settings and seeds, as options of the command line."""
    groups = _grouped(origins, lambda each: (each["scheme"], tuple(changed(each).items())))
    texts = [
        f"{scheme}{''.join(f' --set {key}={value}' for key, value in settings)}, "
        f"{numbered(sorted({origin['seed'] for origin in group}))}"
        for (scheme, settings), group in groups
    ]
    more = f"; and {len(texts) - 4} more" if len(texts) > 5 else ""
    return "; ".join(texts[:4] if more else texts) + more


def numbered(seeds: Sequence[int]) -> str:
    """Text for ascending seeds, such as `seed 3`, `seeds 1 to 5` or `seeds 1, 4`."""
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"seeds {seeds[0]} to {seeds[-1]}"
    return f"seeds {', '.join(map(str, seeds))}"


def _grouped(origins: Iterable[Provenance], key: Callable[[Provenance], K]) -> list[tuple[K, list[Provenance]]]:
    groups: dict[K, list[Provenance]] = {}
    for origin in origins:
        groups.setdefault(key(origin), []).append(origin)
    return list(groups.items())
