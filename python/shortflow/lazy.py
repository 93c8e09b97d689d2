"""Slow libraries that are loaded on first use, and packages whose modules are loaded on first use.

Annotations with these names must be in quotes, because Python evaluates other annotations at import.
"""

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def homes(file: str) -> dict[str, tuple[str, str]]:
    """Names that a module's stub imports, each with its module (may be empty) and its name in this module."""
    stub = Path(file).with_suffix(".pyi").read_text("utf-8")
    found = re.findall(r"^(?:from (\S+) )?import (\S+) as (\w+)$", stub, re.M)
    return {name: (module, there) for module, there, name in found}


def modules(package: str) -> Callable[[str], Any]:
    """A package's `__getattr__`, which imports the module with the requested name."""

    def load(name: str) -> Any:
        whole = f"{package}.{name}"
        if not name.startswith("_"):
            try:
                return import_module(whole)
            except ModuleNotFoundError as error:
                if error.name != whole:
                    raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load


class _Later:
    def __init__(self, home: str) -> None:
        self._home = home

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._home), name)


HOMES = {name: ".".join(filter(None, home)) for name, home in homes(__file__).items()}
globals().update({name: _Later(home) for name, home in HOMES.items()})
