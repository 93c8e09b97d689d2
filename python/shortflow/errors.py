"""What can go wrong, and the exit code that each kind of failure has on the command line."""

import functools
import inspect
import os
from collections.abc import Callable, Iterable
from enum import IntEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ParamSpec, TypeVar, Union, get_args, get_origin

from shortflow import _core
from shortflow._core import Cancelled, ConfigError, SimulationError

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


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The part of an error message that names what is likely meant, or nothing if no known name is near."""
    found = [f'"{each}"' for each in _core.meant(name, list(known))]
    return f"; did you mean {' or '.join(filter(None, [', '.join(found[:-1]), found[-1]]))}?" if found else ""


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


UNCHECKED: set[Any] = {Any, inspect.Parameter.empty, bool, int, float}


def _check_kind(name: str, value: object, annotation: Any) -> None:
    """Refuse an argument of another kind than its annotation tells, if that is of classes. Numbers have checks."""
    bare = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    parts = get_args(bare) if get_origin(bare) in {Union, UnionType} else (bare,)
    kinds = [get_origin(part) or part for part in parts]
    if value is None or not UNCHECKED.isdisjoint(kinds) or not all(isinstance(kind, type) for kind in kinds):
        return
    if not isinstance(value, (os.PathLike, *kinds) if Path in kinds else tuple(kinds)):
        names = [kind.__name__ for kind in kinds if kind is not NoneType]
        raise ConfigError(f"{name}: {value!r} is not of the kind {' or '.join(names)}")


def front_door(function: Callable[P, R]) -> Callable[P, R]:
    """A function that users call: what they did wrong is raised from here, without the frames in between."""

    signature = inspect.signature(function)

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            for name, value in signature.bind_partial(*args, **kwargs).arguments.items():
                _check_kind(name, value, signature.parameters[name].annotation)
            return function(*args, **kwargs)
        except EXPECTED as error:
            raise error.with_traceback(None) from None

    return called
