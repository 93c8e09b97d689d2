"""Interface of an export: its name, its summary, and functions that write files."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shortflow.exports.switches import Switches
from shortflow.result import Result
from shortflow.results import Results
from shortflow.scenario import Scenario


@dataclass(frozen=True)
class Base:
    """An existing configuration that an export changes."""

    path: Path
    queue: int | None
    """Queue whose settings change. None if the configuration has only one."""


@dataclass(frozen=True)
class Export:
    """A kind of files that `export` writes."""

    name: str
    """Value of `--as`."""
    summary: str
    """One line: the files, and the tools that read them."""
    write_runs: Callable[[Results, Path], Sequence[str]] | None = None
    """Writes files of stored runs into a directory. Returns sentences on contents that the files cannot have."""
    write_scenario: Callable[[Scenario, Path], Sequence[str]] | None = None
    """Writes files of a scenario into a directory. Returns sentences on contents that the files cannot have."""
    write_settings: Callable[[Mapping[str, str], Base | None, Switches, Path], Sequence[str]] | None = None
    """Writes files of settings by key into a directory. Returns sentences on contents that the files cannot have.

    The settings are those of a scenario under a scheme, or those that a tuning chose. The switches are those of the
    scenario; a tuning has none.
    """


def stem(run: Result) -> str:
    """Stem of a run's file names: scenario, scheme, seed, and the settings that differ between runs."""
    at = "".join(f"_{key}={value}" for key, value in run.at.items())
    return re.sub(r"[^\w.+=@-]", "-", f"{run.provenance['scenario']}_{run.scheme}_{run.seed}{at}")
