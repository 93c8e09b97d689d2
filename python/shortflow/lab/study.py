"""The runs behind a figure: one scenario, some schemes, a grid of settings, several seeds."""

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from shortflow._core import Scheme
from shortflow.errors import ConfigError
from shortflow.lab.choices import Change
from shortflow.runs import Plan, Run
from shortflow.scenario import Settings, as_pairs, load_scenario
from shortflow.scheme import split_settings

Value = str | int | float
Position = tuple[Value, ...]


HOSTS = {"host.model": "fifo"}
"""The hosts of the papers: a sender may fill its host's queue."""


class Scale(StrEnum):
    """How much to run: a coarse look in minutes, or as much as the paper."""

    QUICK = "quick"
    FULL = "full"


@dataclass(frozen=True)
class Study:
    """A grid of runs. Everything named `quick` replaces its namesake at the quick scale."""

    scenario: str | Mapping[str, object]
    """A shipped scenario by name, or the tables of one."""
    schemes: Sequence[str]
    """Schemes; ideal schedulers are named like `ideal-srpt`."""
    over: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    """The grid: settings by key, each with the values that it takes."""
    settings: Settings = field(default_factory=dict)
    """Settings of all runs."""
    of_scheme: Mapping[str, Settings] = field(default_factory=dict)
    """Settings of the runs of one scheme, in place of those of all and of choices."""
    seeds: int = 10
    quick: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    quick_settings: Settings = field(default_factory=dict)
    quick_seeds: int = 5
    """No more than `seeds`."""

    def grid(self, scale: Scale) -> dict[str, Sequence[Value]]:
        """The values of each key of the grid."""
        return {**self.over, **(self.quick if scale is Scale.QUICK else {})}

    def positions(self, scale: Scale) -> Iterator[Position]:
        """Every point of the grid: one value for each key."""
        return itertools.product(*self.grid(scale).values())

    def seed_range(self, scale: Scale) -> range:
        """The seeds of every point."""
        return range(1, (min(self.quick_seeds, self.seeds) if scale is Scale.QUICK else self.seeds) + 1)

    def runs(self, scale: Scale, position: Position, chosen: Settings) -> list[Run]:
        """The runs at a point.

        `chosen` are the settings of choices: they replace those of the study but not its grid, and schemes take what
        concerns them.
        """
        return self._planned(self._planner(), scale, position, chosen, self.seed_range(scale))

    def follows(self, scale: Scale, change: Change) -> bool:
        """Whether a choice is the study's to follow.

        It is if all runs have the value that recipes take, and some run changes with the other value. What a study
        varies, or sets otherwise for its own sake, is no choice; nor is what its network cannot be.
        """
        if not change.before.keys().isdisjoint(self.grid(scale)):
            return False
        planner = self._planner()

        def keys(chosen: Settings) -> list[str]:
            return [run.key for at in self.positions(scale) for run in self._planned(planner, scale, at, chosen, [1])]

        own = keys({})
        try:
            return own == keys(change.before) and own != keys(change.after)
        except ConfigError:
            return False

    def _planner(self) -> Plan:
        return Plan(load_scenario(self.scenario, HOSTS), self.schemes)

    def _planned(
        self, planner: Plan, scale: Scale, position: Position, chosen: Settings, seeds: Sequence[int]
    ) -> list[Run]:
        fixed = {**self.settings, **(self.quick_settings if scale is Scale.QUICK else {})}
        varied = dict(zip(self.grid(scale), position, strict=True))
        of_scenario, of_schemes = split_settings(chosen)
        accepted = {key: value for key, value in of_schemes.items() if any(_accepts(s, key) for s in self.schemes)}
        settings = {**fixed, **of_scenario, **accepted, **varied}
        runs = planner.runs(seeds, dict(as_pairs(settings)))
        for scheme, own in self.of_scheme.items():
            changed = planner.runs(seeds, dict(as_pairs({**settings, **own})))
            runs = [new if new.scheme.name == scheme else run for run, new in zip(runs, changed, strict=True)]
        return runs


@functools.cache
def _accepts(scheme: str, key: str) -> bool:
    return Scheme.accepts(scheme, key)
