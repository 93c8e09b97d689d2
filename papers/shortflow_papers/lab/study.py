"""Studies, which are the runs of a figure: scenario, schemes, grid and seeds; and choices that a paper leaves open."""

import functools
import itertools
import reprlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from shortflow import ConfigError
from shortflow.api.errors import unknown_name
from shortflow.api.numbers import pair
from shortflow.api.runs import Plan, Run
from shortflow.api.scenarios import Scheme, Settings, as_pairs, load_scenario, split_settings

Value = str | int | float
Position = tuple[Value, ...]


def require_kind(value: object, kind: type[object], name: str, example: str) -> None:
    """Raises `ConfigError` if a value of a recipe is not of this kind. A text is no list."""
    if not isinstance(value, kind) or isinstance(value, str):
        shown = getattr(value, "__qualname__", None) or reprlib.repr(value)
        raise ConfigError(f"{name}: {shown} is not {example}")


class Scale(StrEnum):
    """Scale of a reproduction: quick takes minutes, full has the paper's scale."""

    QUICK = "quick"
    FULL = "full"


@dataclass(frozen=True)
class Choice:
    """A detail that a paper leaves unspecified, with possible values."""

    about: str
    """Description in one line."""
    values: Mapping[str, Settings]
    """Settings of each value, by the value's name. Recipes take the first value."""
    undecided: bool = False
    """True if the paper's numbers do not decide between the values. Verdicts then span all values."""

    def __post_init__(self) -> None:
        """Raises `ConfigError` for values that are not settings by name."""
        example = 'settings by the name of each value, such as {"2": {"tcp.initial_window": 2}}'
        require_kind(self.values, Mapping, "values of a choice", example)
        for name, settings in self.values.items():
            require_kind(settings, Mapping, f"value {name} of a choice", 'settings, such as {"tcp.initial_window": 2}')

    @property
    def taken(self) -> str:
        """Name of the value that recipes take."""
        return next(iter(self.values))

    @property
    def others(self) -> list[str]:
        """Names of the other values."""
        return list(self.values)[1:]


@dataclass(frozen=True)
class Study:
    """Runs over a grid. At the quick scale, values in `quick` replace those of `over` and `settings`.

    `quick_seeds` then replaces `seeds`.
    """

    scenario: str | Mapping[str, object]
    """A shipped scenario by name, a scenario's file, or a scenario's tables."""
    schemes: Sequence[str]
    """Names of the schemes; those of ideal schedulers begin with `ideal-`."""
    over: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    """Grid: values of each key."""
    settings: Settings = field(default_factory=dict)
    """Settings of all runs."""
    of_scheme: Mapping[str, Settings] = field(default_factory=dict)
    """Settings of one scheme's runs, which override common settings and choices."""
    seeds: int = 10
    """Number of seeds at the full scale."""
    quick: Mapping[str, Any] = field(default_factory=dict)
    """Values of the grid, and settings, at the quick scale."""
    quick_seeds: int = 5
    """Number of seeds at the quick scale, but at most `seeds`."""
    defaults: Settings = field(default_factory=dict)
    """Defaults in place of Shortflow's, for keys that neither the scenario nor a scheme's name states."""

    def __post_init__(self) -> None:
        """Raises `ConfigError` for schemes or values that are not lists, and for settings that are no mapping."""
        require_kind(self.schemes, Sequence, "schemes", 'a list of schemes, such as ["dctcp", "swift"]')
        require_kind(self.over, Mapping, "over", 'a grid, such as {"servers": [20, 40]}')
        for name in ("settings", "of_scheme", "quick", "defaults"):
            require_kind(getattr(self, name), Mapping, name, 'values by key, such as {"duration": "500ms"}')
        for name, grid in (("over", self.over), ("quick", self.grid(Scale.QUICK))):
            for key, values in grid.items():
                require_kind(values, Sequence, f"{key} in {name}", "a list of values, such as [20, 40]")

    def grid(self, scale: Scale) -> dict[str, Sequence[Value]]:
        """Values of each key of the grid at this scale."""
        return {key: self._at(scale).get(key, values) for key, values in self.over.items()}

    def positions(self, scale: Scale) -> Iterator[Position]:
        """All points of the grid, each with one value for each key."""
        return itertools.product(*self.grid(scale).values())

    def seed_range(self, scale: Scale) -> range:
        """Seeds of every point at this scale."""
        return range(1, (min(self.quick_seeds, self.seeds) if scale is Scale.QUICK else self.seeds) + 1)

    def runs(self, scale: Scale, position: Position, chosen: Settings, seeds: Sequence[int] = ()) -> list[Run]:
        """Runs at a point, with these seeds (default: all).

        `chosen` has settings of choices. They override the study's settings, but neither its grid nor `of_scheme`. Each
        scheme takes only the settings that it accepts.
        """
        seeds = seeds or self.seed_range(scale)
        varied = dict(zip(self.over, position, strict=True))
        of_scenario, of_schemes = split_settings(chosen)
        laws, accepted = (
            {key: value for key, value in found.items() if any(_accepts(s, key) for s in self.schemes)}
            for found in (split_settings(self.defaults)[1], of_schemes)
        )
        settings = {**laws, **self.settings, **self._at(scale), **of_scenario, **accepted, **varied}
        runs = self._plan.runs(seeds, dict(as_pairs(settings)))
        for scheme, own in self.of_scheme.items():
            changed = self._plan.runs(seeds, dict(as_pairs({**settings, **own})))
            runs = [new if new.scheme.name == scheme else run for run, new in zip(runs, changed, strict=True)]
        return runs

    def follows(self, scale: Scale, before: Settings, after: Settings) -> bool:
        """True if the study follows a choice. `before` has the settings of its default value, `after` of another one.

        The study follows the choice if all its runs have the default value, and at least one run changes with the other
        value. A study does not follow choices of keys that it varies or sets itself, nor values that its network does
        not allow.
        """
        if not before.keys().isdisjoint(self.grid(scale)):
            return False

        def keys(chosen: Settings) -> list[str]:
            return [run.key for at in self.positions(scale) for run in self.runs(scale, at, chosen, [1])]

        own = keys({})
        try:
            return own == keys(before) and own != keys(after)
        except ConfigError:
            return False

    def _at(self, scale: Scale) -> Mapping[str, Any]:
        return self.quick if scale is Scale.QUICK else {}

    @functools.cached_property
    def _plan(self) -> Plan:
        return Plan(load_scenario(self.scenario, split_settings(self.defaults)[0]), self.schemes)


@functools.cache
def _accepts(scheme: str, key: str) -> bool:
    return Scheme.accepts(scheme, key)


def parse_choices(values: Iterable[str], known: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Values of choices by name, from `--choice` options. `known` has the values of each choice.

    Raises `ConfigError`, which suggests the nearest name, for an unknown name or value.
    """
    chosen = {}
    for text in values:
        name, value = pair(text, "--choice", "NAME=VALUE, such as initial-alpha=1")
        if name not in known:
            raise unknown_name("choice", name, sorted(known))
        if value not in known[name]:
            raise unknown_name(f"value of {name}", value, known[name])
        chosen[name] = value
    return chosen
