"""Search for a load, number of flows or flow size at which two equal schemes differ, in at most 18 runs."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from shortflow.errors import ConfigError
from shortflow.quantities import parse
from shortflow.runner import Progress, run_one
from shortflow.runs import Run
from shortflow.scenario import Setting

FACTORS = (2, 8, 32)
"""Factors for a raised setting. They are tried in order until the schemes differ."""
MOST_LOAD = 0.95
"""Highest load that is tried, unless the scenario has a higher one."""
AXES = {
    "load": (".load", ".rate_per_s"),
    "flows at once": (".flows",),
    "sizes": (".sizes.value", ".sizes.min", ".sizes.max", ".sizes.mean"),
}
"""Endings of traffic keys that are raised together, by the name of their axis."""


class Raised(NamedTuple):
    """A pair of runs with raised settings."""

    axis: str
    settings: Mapping[str, str]
    parts: bool | None
    """True if the schemes differ, False if they are equal, None if the settings were refused."""
    refused: str = ""


def searched(
    scenario_settings: list[Setting], planned: Callable[[Mapping[str, str]], list[Run]], progress: Progress | None
) -> Iterator[Raised]:
    """Raises load, flows at once and sizes in turn.

    Each axis ends when the schemes differ, a raised setting is refused, or the setting cannot be raised further: after
    at most three pairs of runs. `planned` returns the runs of both schemes with the given settings.
    """
    for axis, endings in AXES.items():
        last: dict[str, str] = {}
        for factor in FACTORS:
            raised = _raised(scenario_settings, endings, factor)
            if not raised or raised == last:
                break
            last = raised
            try:
                first, second = (run_one(run, progress).digest for run in planned(raised))
            except ConfigError as error:
                yield Raised(axis, raised, None, str(error))
                break
            yield Raised(axis, raised, first != second)
            if first != second:
                break


def _raised(settings: list[Setting], endings: tuple[str, ...], factor: int) -> dict[str, str]:
    """Settings of traffic with these endings, times a factor. Empty if no setting can be raised.

    If a setting follows a parameter of the scenario, the parameter is set instead.
    """
    found = {}
    for each in settings:
        key = each["key"]
        written = parse(each["value"]) if key.startswith("traffic.") and key.endswith(endings) else None
        if written is None:  # another key, or a word such as auto
            continue
        most = max(MOST_LOAD, written.number) if key.endswith(".load") else math.inf
        number = min(written.number * factor, most)
        if number > written.number:
            source = each["source"]
            name = source.removeprefix("parameter ") if source.startswith("parameter ") else key
            found[name] = f"{number:.12g}{written.unit}"
    return found
