"""The five papers: one package for each, with one module for each figure or table.

A module's figures are the `Figure` objects at its top level; a package's `CHOICES` are about what its paper leaves
unspecified.
"""

import functools
import importlib
import pkgutil
import tomllib
from pathlib import Path
from typing import TypedDict

from shortflow.lab.choices import Choice
from shortflow.lab.figure import Figure

PAPERS = ("l2dct", "xdctcp", "pecn", "atcp", "fast")


class Entry(TypedDict):
    """A claim as the paper makes it: where, of what kind, and the printed values."""

    id: str
    ref: str
    kind: str
    expected: object


@functools.cache
def catalogue() -> dict[str, Entry]:
    """Every claim of the five papers by its id."""
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    return {entry["id"]: entry for entry in tomllib.loads(text)["claim"]}


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


def title(paper: str) -> str:
    """A paper's short name, authors and title."""
    return (importlib.import_module(f"shortflow.papers.{paper}").__doc__ or paper).strip()


def choices(paper: str) -> dict[str, Choice]:
    """What a paper leaves unspecified, by name."""
    chosen: dict[str, Choice] = importlib.import_module(f"shortflow.papers.{paper}").CHOICES
    return chosen
