"""Commands and kinds of names that installed packages add, by entry points."""

import re
from importlib.metadata import Distribution, EntryPoint, entry_points
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
    """Entry points of a group, by name."""
    return {point.name: point for point in entry_points(group=group)}


def load_added(group: str, name: str) -> Any:
    """Object that a package adds under a name.

    Raises `MissingRequirement` if its package is not installed, or is made for another version of Shortflow.
    """
    point = added(group).get(name)
    if point is None:
        package = PACKAGED[group][name]
        raise MissingRequirement(f"{name.replace('.', ' ')}: needs the package {package}; pip install {package}")
    if point.dist:
        _check_version(point.dist)
    return point.load()


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
