"""A run as a message to another process: complete, or checked against the receiver's code."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from shortflow._core import Control
from shortflow.errors import ConfigError, LostRun, SimulationError
from shortflow.metrics.catalogue import measuring_id
from shortflow.result import Record, Result
from shortflow.runs import Run, build_id
from shortflow.scenario import Scenario, Source, is_default
from shortflow.scheme import SchemeSource
from shortflow.simulate import simulate_run

Files = Mapping[str, tuple[str, bytes]]
"""Suffix and contents of each file that a scenario names, by key."""


@dataclass(frozen=True)
class Parcel:
    """A run as plain data, for another process."""

    key: str
    scenario: Source
    directory: str
    """Directory to which relative file names of the scenario refer, unless the files are sent along."""
    scheme: SchemeSource
    parameters: tuple[tuple[str, str, str], ...]
    """Key, value and origin of the scheme's parameters, with the hash of a Python law."""
    seed: int
    code: str
    tables: bool

    @classmethod
    def of(cls, run: Run, *, tables: bool) -> "Parcel":
        """The parcel of a run. Raises `ConfigError` for a law without a file."""
        if run.scheme_source is None:
            raise ConfigError(f"{run.scheme.name}: only a law named as FILE.py:CLASS can run in other processes")
        scenario, parameters = run.scenario, tuple(run.scheme.resolved())
        place = str(scenario.directory)
        return cls(run.key, scenario.source, place, run.scheme_source, parameters, run.seed, code_id(), tables)


class OtherCode(Exception):
    """A worker has another build of Shortflow, or another version of a law."""


def code_id() -> str:
    """Identity of the code that determines results: the core, and the code of metrics."""
    return f"{build_id()}, metrics {measuring_id()}"


def paths_of(scenario: Scenario) -> dict[str, Path]:
    """Paths of the files that a scenario names, by key."""
    stated = {each["key"]: each["value"] for each in scenario.resolved() if not is_default(each)}
    return {key: scenario.directory / stated[key] for key in scenario.files() if key in stated}


def perform(task: Parcel, control: Control, files: Files | None = None) -> Result:
    """Does a task. With `files`, the scenario's files are taken from there, not from this machine.

    Raises `OtherCode` if this process has other code than the sender.
    """
    if task.code != code_id():
        raise OtherCode(f"has Shortflow {code_id()}, and not {task.code}")
    scheme = task.scheme.build()
    if tuple(scheme.resolved()) != task.parameters:
        raise OtherCode(f"has other contents of {task.scheme.base}")
    with TemporaryDirectory() as folder:
        place, source = Path(task.directory), task.scenario
        if files:
            place, source = Path(folder), source.changed(_placed(files, Path(folder)))
        run = Run(source.read(place), scheme, task.seed)
        result = simulate_run(run, control)
    record: Record = {**result.record, "provenance": {**result.provenance, "key": task.key}}
    result = replace(result, record=record, run=None)
    return result.encoded() if task.tables else result.alone()


def adopted(run: Run, done: Result) -> Result:
    """The result of a task as the result of `run`, with the file names of this process."""
    theirs = done.provenance
    ours = run.provenance(theirs["digest"], theirs["wall_s"])
    ours |= {"platform": theirs["platform"], "finished_at": theirs["finished_at"]}
    record: Record = {**done.record, "provenance": ours}
    return replace(done, record=record, run=run)


def portable(error: Exception) -> Exception:
    """An error that another process can read without the user's classes."""
    if isinstance(error, OtherCode | ConfigError | SimulationError):
        return type(error)(str(error))
    return LostRun(f"{type(error).__name__}: {error}")


def _placed(files: Files, folder: Path) -> list[tuple[str, str]]:
    """Writes files into a folder. Returns settings that name the new files."""
    placed = [(key, f"{number}{suffix}") for number, (key, (suffix, _)) in enumerate(files.items())]
    for key, name in placed:
        (folder / name).write_bytes(files[key][1])
    return placed
