"""The runs behind a figure: one scenario, some schemes, a grid of settings, several seeds."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from shortflow._core import Scheme
from shortflow.result import Run
from shortflow.runner import plan
from shortflow.scenario import Settings, load_scenario
from shortflow.scheme import split_settings

Value = str | int | float
Position = tuple[Value, ...]


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
    seeds: int = 10
    quick: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    quick_settings: Settings = field(default_factory=dict)
    quick_seeds: int = 3

    def grid(self, scale: Scale) -> dict[str, Sequence[Value]]:
        """The values of each key of the grid."""
        return {**self.over, **(self.quick if scale is Scale.QUICK else {})}

    def positions(self, scale: Scale) -> Iterator[Position]:
        """Every point of the grid: one value for each key."""
        return itertools.product(*self.grid(scale).values())

    def seed_range(self, scale: Scale) -> range:
        """The seeds of every point."""
        return range(1, (self.quick_seeds if scale is Scale.QUICK else self.seeds) + 1)

    def runs(self, scale: Scale, position: Position, chosen: Settings) -> list[Run]:
        """The runs at a point.

        `chosen` are the settings of choices: they replace those of the study but not its grid, and schemes take what
        concerns them.
        """
        fixed = {**self.settings, **(self.quick_settings if scale is Scale.QUICK else {})}
        varied = dict(zip(self.grid(scale), position, strict=True))
        of_scenario, of_schemes = split_settings(chosen)
        accepted = {key: value for key, value in of_schemes.items() if any(_accepts(s, key) for s in self.schemes)}
        scenario = load_scenario(self.scenario)
        return plan(scenario, self.schemes, self.seed_range(scale), {**fixed, **of_scenario, **accepted, **varied})


def _accepts(scheme: str, key: str) -> bool:
    return Scheme.accepts(scheme, key)
