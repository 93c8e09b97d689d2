"""Commands and kinds of names that installed packages add, by entry points."""

import re
import traceback
from collections.abc import Callable, Collection
from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path
from typing import Any

from shortflow._core import version
from shortflow.errors import MissingRequirement

COMMANDS = "shortflow.commands"
"""Group of entry points: a command, by its name. `linux.NAME` is a command of `linux`."""
NAMES = "shortflow.names"
"""Group of entry points: a `Listed` kind of names for `list`."""
PACKAGED = {
    COMMANDS: {
        **dict.fromkeys(("reproduce", "survey", "new-paper", "linux.fig14"), "shortflow-papers"),
        "linux": "shortflow-linux",
    },
    NAMES: dict.fromkeys(("figures", "claims", "choices"), "shortflow-papers"),
}
"""This project's packages, by what they add to each group."""


def added(group: str) -> dict[str, EntryPoint]:
    """Entry points of a group, by name. A name that this project's package adds is that package's."""
    points = sorted(entry_points(group=group), key=lambda point: _is_ours(point, group))
    return {point.name: point for point in points}


def left_out(group: str, own: Collection[str] = ()) -> list[str]:
    """A sentence on each foreign package that adds a name which this project has: one of `own`, or of its packages."""
    ours = {**dict.fromkeys(own, "shortflow"), **PACKAGED.get(group, {})}
    return [
        f"{_package(point)} adds {point.name}, a name that {ours[point.name]} has"
        for point in entry_points(group=group)
        if point.name in ours and not _is_ours(point, group)
    ]


def _is_ours(point: EntryPoint, group: str) -> bool:
    """True if this project's package adds the name."""
    return point.dist is not None and point.dist.name == PACKAGED.get(group, {}).get(point.name)


def load_added(group: str, name: str, use: Callable[[Any], Any] = lambda found: found) -> Any:
    """Object that a package adds under a name, or what `use` makes of it.

    Raises `MissingRequirement` if its package is not installed, is made for another version of Shortflow, cannot be
    loaded or used, or if several packages add the name. The message names the package.
    """
    points = [point for point in entry_points(group=group) if point.name == name]
    points = [point for point in points if _is_ours(point, group)] or points
    if not points:
        package = PACKAGED[group][name]
        raise MissingRequirement(f"{name.replace('.', ' ')}: needs the package {package}; pip install {package}")
    if len(points) > 1:
        packages = [_package(point) for point in points]
        raise MissingRequirement(
            f"{name}: several installed packages add this name: {', '.join(packages)}; uninstall all but one of them"
        )
    (point,) = points
    if point.dist:
        _check_version(point.dist)
    try:
        return use(point.load())
    except MissingRequirement:
        raise
    except Exception as error:  # any: other packages' code runs here
        module = point.module.partition(".")[0]
        raise MissingRequirement(
            f"{name}: the package {_package(point)} cannot be used: {fault(error, module)}; correct or uninstall it"
        ) from error


def fault(error: Exception, package: str) -> str:
    """An error with its place in a Python package, if the package's code is on the way to the error."""
    theirs = [
        each
        for each in traceback.walk_tb(error.__traceback__)
        if each[0].f_globals.get("__name__", "").partition(".")[0] == package
    ]
    # A syntax error says its place itself.
    if isinstance(error, SyntaxError) or not theirs:
        return f"{type(error).__name__}: {error}"
    frame, line = theirs[-1]
    return f"{type(error).__name__}: {error} ({Path(frame.f_code.co_filename).name}, line {line})"


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


def _check_version(package: Distribution) -> None:
    """Refuses a package whose requirement `shortflow ~= X.Y.Z` this version does not meet."""
    for each in package.requires or ():
        wanted = re.match(r"shortflow\s*~=\s*([\d.]+)", each)
        if wanted and not _fits(wanted[1]):
            raise MissingRequirement(
                f"{package.name} {package.version} needs shortflow ~= {wanted[1]}, and this is shortflow {version()}; "
                f"pip install --upgrade shortflow {package.name}"
            )


def _fits(wanted: str) -> bool:
    """True if this version is at least the wanted one and equal in all parts but the last."""
    least, ours = (tuple(map(int, re.findall(r"\d+", text))) for text in (wanted, version()))
    return ours >= least and ours[: len(least) - 1] == least[:-1]
