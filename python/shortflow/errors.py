"""Errors, and the exit code of each kind."""

import functools
import inspect
import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from enum import IntEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ParamSpec, TypeVar, Union, get_args, get_origin

from shortflow import _core
from shortflow._core import Cancelled, ConfigError, SimulationError

for _error in (Cancelled, ConfigError, SimulationError):
    _error.__module__ = "shortflow"  # the name in tracebacks

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
    """A stored result cannot be read: a part is missing or altered."""


class LostRun(SimulationError):
    """A run ended with its process or worker. A retry may succeed."""


class TooLittle(ValueError):
    """Runs lack a requested metric, flow size, sample or grid point."""


class Interrupted(Exception):
    """The user stopped the work. Finished runs are kept."""


EXPECTED = (ConfigError, DamagedResult, Interrupted, MissingRequirement, OSError, SimulationError)
"""Errors shown without a traceback, by their message only."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggestion for an error message: the nearest known names. Empty if no name is near."""
    found = [f'"{each}"' for each in _core.meant(name, list(known))]
    return f"; did you mean {' or '.join(filter(None, [', '.join(found[:-1]), found[-1]]))}?" if found else ""


def require_at_least(least: int, **numbers: int) -> None:
    """Raises a `ConfigError` that names the first number below `least`."""
    for name, number in numbers.items():
        if number < least:
            raise ConfigError(f"{name}: {number} is not a whole number from {least} on")


def unknown_name(kind: str, name: str, known: Iterable[str]) -> ConfigError:
    """The error for a name that is not in `known`.

    The message suggests the nearest names, or else lists all known names. Of more than 40 known names, the message
    lists groups.
    """
    names = list(known)
    groups = dict.fromkeys(re.sub("/.*", "/…", each) for each in names)
    hint = did_you_mean(name, names) or f" (known: {', '.join(groups if len(names) > 40 else names)})"
    return ConfigError(f'"{name}": unknown {kind}{hint}')


UNCHECKED: set[Any] = {Any, inspect.Parameter.empty, bool, int, float}


def _check_kind(name: str, value: object, annotation: Any) -> None:
    """Raises `ConfigError` for an argument of another class than annotated. Numbers are not checked here."""
    bare = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    parts = get_args(bare) if get_origin(bare) in {Union, UnionType} else (bare,)
    kinds = [get_origin(part) or part for part in parts]
    if value is None or not UNCHECKED.isdisjoint(kinds) or not all(isinstance(kind, type) for kind in kinds):
        return
    is_letters = isinstance(value, str) and not {Collection, Sequence}.isdisjoint(kinds) and str not in kinds
    if is_letters or not isinstance(value, (os.PathLike, *kinds) if Path in kinds else tuple(kinds)):
        names = [kind.__name__ for kind in kinds if kind is not NoneType]
        remedy = f"; give a list, such as [{value!r}]" if is_letters else ""
        raise ConfigError(f"{name}: {value!r} is not of the kind {' or '.join(names)}{remedy}")


def front_door(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates a public function. Checks argument types, and raises users' errors without inner frames."""

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
