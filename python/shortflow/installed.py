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
"""Group of entry points for commands.

The entry point has the command's name; `linux.NAME` is a subcommand of `linux`.
"""
NAMES = "shortflow.names"
"""Group of entry points for kinds of names in `list`, which are `Listed` objects."""
PACKAGED = {
    COMMANDS: {
        **dict.fromkeys(("reproduce", "survey", "new-paper", "linux.fig14"), "shortflow-papers"),
        "linux": "shortflow-linux",
    },
    NAMES: dict.fromkeys(("figures", "claims", "choices"), "shortflow-papers"),
}
"""For each group, the names that this project's packages add, and the package of each name."""


def added(group: str) -> dict[str, EntryPoint]:
    """Entry points of a group, by name. If several packages add a name, this project's package has precedence."""
    points = sorted(entry_points(group=group), key=lambda point: _is_ours(point, group))
    return {point.name: point for point in points}


def left_out(group: str, own: Collection[str] = ()) -> list[str]:
    """Sentences on foreign packages that add a name of this project: a name in `own`, or of the project's packages."""
    ours = {**dict.fromkeys(own, "shortflow"), **PACKAGED.get(group, {})}
    return [
        f"{_package(point)} adds {point.name}, a name that {ours[point.name]} has"
        for point in entry_points(group=group)
        if point.name in ours and not _is_ours(point, group)
    ]


def _is_ours(point: EntryPoint, group: str) -> bool:
    """True if the entry point is of this project's package for its name."""
    return point.dist is not None and point.dist.name == PACKAGED.get(group, {}).get(point.name)


def load_added(group: str, name: str, use: Callable[[Any], Any] = lambda found: found) -> Any:
    """The object that a package adds under a name, or the value of `use` for this object.

    Raises `MissingRequirement` if the package is not installed, is made for another version of Shortflow, or cannot be
    loaded or used. Raises it also if several packages add the name. The message names the package.
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
    except Exception as error:  # any error, because code of other packages runs here
        module = point.module.partition(".")[0]
        raise MissingRequirement(
            f"{name}: the package {_package(point)} cannot be used: {fault(error, module)}; correct or uninstall it"
        ) from error


def fault(error: Exception, package: str) -> str:
    """An error as text, with its place in a Python package if the package's code led to the error."""
    theirs = [
        each
        for each in traceback.walk_tb(error.__traceback__)
        if each[0].f_globals.get("__name__", "").partition(".")[0] == package
    ]
    # The message of a syntax error already has its place.
    if isinstance(error, SyntaxError) or not theirs:
        return f"{type(error).__name__}: {error}"
    frame, line = theirs[-1]
    return f"{type(error).__name__}: {error} ({Path(frame.f_code.co_filename).name}, line {line})"


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


def _check_version(package: Distribution) -> None:
    """Raises `MissingRequirement` if this version does not meet the package's requirement `shortflow ~= X.Y.Z`."""
    for each in package.requires or ():
        wanted = re.match(r"shortflow\s*~=\s*([\d.]+)", each)
        if wanted and not _fits(wanted[1]):
            raise MissingRequirement(
                f"{package.name} {package.version} needs shortflow ~= {wanted[1]}, and this is shortflow {version()}; "
                f"pip install --upgrade shortflow {package.name}"
            )


def _fits(wanted: str) -> bool:
    """True if this version is at least the wanted one, and equal in all parts but the last."""
    least, ours = (tuple(map(int, re.findall(r"\d+", text))) for text in (wanted, version()))
    return ours >= least and ours[: len(least) - 1] == least[:-1]
