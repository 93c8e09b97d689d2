"""What can go wrong, and the exit code that each kind of failure has on the command line."""

import difflib
import functools
import re
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import ParamSpec, TypeVar

from shortflow._core import Cancelled, ConfigError, SimulationError

__all__ = [
    "Cancelled",
    "ConfigError",
    "DamagedResult",
    "ExitCode",
    "Interrupted",
    "LostRun",
    "MissingRequirement",
    "SimulationError",
    "TooLittle",
    "did_you_mean",
    "front_door",
    "require_at_least",
    "unknown_name",
]

for _error in (Cancelled, ConfigError, SimulationError):
    _error.__module__ = "shortflow"  # what tracebacks call it

P = ParamSpec("P")
R = TypeVar("R")


class ExitCode(IntEnum):
    """Exit codes of the `shortflow` command."""

    FINE = 0
    CLAIM_FAILED = 1
    WRONG_INPUT = 2
    MISSING_REQUIREMENT = 3
    INTERRUPTED = 130


class MissingRequirement(RuntimeError):
    """The environment lacks something that the command needs."""


class DamagedResult(Exception):
    """A stored result cannot be read, because part of it is missing or is not what was written."""


class LostRun(SimulationError):
    """A run ended with the process or the worker that did it; another attempt may go well."""


class TooLittle(ValueError):
    """Runs lack what is asked of them: a metric, a flow of some size, a sample, a point of the grid."""


class Interrupted(Exception):
    """The user stopped the work; whatever was finished before is kept."""


EXPECTED = (ConfigError, DamagedResult, Interrupted, MissingRequirement, OSError, SimulationError)
"""Errors whose message says it all: what users can fix, or did, or should report as it is."""

_MISTYPED = 0.8
"""So alike are a name and what was mistyped of it."""
_MOST_MEANT = 3


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The part of an error message that names what is likely meant, or nothing if no known name is near.

    That is what looks like the name; or else a word of it, as `cubic` of `tcp-cubic`; or else those that it is a word
    of, as `p99_short_s` of `p99`.
    """
    by_lower = {each.lower(): each for each in known}
    words = re.split(r"[^a-z0-9]+", name.lower())

    def likeness(each: str) -> float:
        return difflib.SequenceMatcher(None, name.lower(), each).ratio()

    alike = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    nearest = max(map(likeness, alike), default=0.0)
    if nearest <= _MISTYPED:
        within = sorted((each for each in by_lower if each in words and likeness(each) >= nearest), key=len)[-1:]
        around = sorted((each for each in by_lower if set(words) <= set(re.split(r"[^a-z0-9]+", each))), key=len)
        alike = within or around[:_MOST_MEANT] or alike
    if not alike:
        return ""
    *others, last = (f'"{by_lower[each]}"' for each in alike)
    return f"; did you mean {' or '.join([', '.join(others), last] if others else [last])}?"


def require_at_least(least: int, **numbers: int) -> None:
    """Refuse numbers below the least, with their names."""
    for name, number in numbers.items():
        if number < least:
            raise ConfigError(f"{name}: {number} is not a whole number from {least} on")


def unknown_name(kind: str, name: str, known: Iterable[str]) -> ConfigError:
    """The error for a name that is not in `known`: it suggests the nearest one, or lists them all."""
    names = list(known)
    hint = did_you_mean(name, names) or f" (known: {', '.join(names)})"
    return ConfigError(f'"{name}": unknown {kind}{hint}')


def front_door(function: Callable[P, R]) -> Callable[P, R]:
    """A function that users call: what they did wrong is raised from here, without the frames in between."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except EXPECTED as error:
            raise error.with_traceback(None) from None

    return called
