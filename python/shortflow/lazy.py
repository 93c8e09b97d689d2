"""Slow modules, each loaded at first use.

Quote annotations with these names: Python evaluates unquoted ones at import.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any


def homes(file: str) -> dict[str, tuple[str, str]]:
    """Names that a module's stub imports, each with its module (may be empty) and its name there."""
    stub = Path(file).with_suffix(".pyi").read_text("utf-8")
    found = re.findall(r"^(?:from (\S+) )?import (\S+) as (\w+)$", stub, re.M)
    return {name: (module, there) for module, there, name in found}


class _Later:
    def __init__(self, home: str) -> None:
        self._home = home

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._home), name)


HOMES = {name: ".".join(filter(None, home)) for name, home in homes(__file__).items()}
globals().update({name: _Later(home) for name, home in HOMES.items()})
