"""The five papers: one package for each, with one module for each figure or table.

A module's figures are the `Figure` objects at its top level; a package's `CHOICES` are about what its paper leaves
unspecified.
"""

import functools
import importlib
import pkgutil

from shortflow.lab.choices import Choice
from shortflow.lab.figure import Claim, Figure

PAPERS = ("l2dct", "xdctcp", "pecn", "atcp", "fast")


@functools.cache
def figures() -> dict[str, Figure]:
    """Every recipe by its id, in the order of the papers and of their modules' names."""
    found: dict[str, Figure] = {}
    for paper in PAPERS:
        package = importlib.import_module(f"shortflow.papers.{paper}")
        for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
            contents = vars(importlib.import_module(f"{package.__name__}.{module.name}"))
            found |= {figure.id: figure for figure in contents.values() if isinstance(figure, Figure)}
    return found


def claims() -> dict[str, Claim]:
    """Every claim by its id."""
    return {claim.id: claim for figure in figures().values() for claim in figure.claims}


def title(paper: str) -> str:
    """A paper's short name, authors and title."""
    return (importlib.import_module(f"shortflow.papers.{paper}").__doc__ or paper).strip()


def choices(paper: str) -> dict[str, Choice]:
    """What a paper leaves unspecified, by name."""
    chosen: dict[str, Choice] = importlib.import_module(f"shortflow.papers.{paper}").CHOICES
    return chosen


def stand_ins(paper: str) -> dict[str, str]:
    """The paper's schemes, each with what does nothing of its own: the one that it changes."""
    found: dict[str, str] = importlib.import_module(f"shortflow.papers.{paper}").STAND_INS
    return found
