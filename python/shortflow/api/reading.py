"""Scenarios, and results that are kept: what loads them and reads them again."""

from pathlib import Path

from shortflow.errors import front_door
from shortflow.front.options import AnyScenario
from shortflow.result import Result
from shortflow.results import Results
from shortflow.scenario import Scenario, Settings, load_scenario
from shortflow.store import reading
from shortflow.store.runs import read_run as read_stored_run
from shortflow.tuning import record
from shortflow.tuning.record import Tuning


@front_door
def load(scenario: AnyScenario, settings: Settings | None = None, *, directory: Path | None = None) -> Scenario:
    """Load and validate a scenario: a shipped one by name, a TOML file by path, or a `Spec` or mapping of its tables.

    `settings` changes values by key, as `with_` does. Files that a mapping names are looked up in `directory` (the
    working directory unless given). A `ConfigError` names the key, the value, what was expected and the nearest name.

    >>> load("l2dct-benchmark").with_(load=0.2)
    """
    return scenario if isinstance(scenario, Scenario) else load_scenario(scenario, settings, directory=directory)


@front_door
def read_store(directory: str | Path) -> Results:
    """The runs that `compare`, `sweep`, `run` or `tune` kept in or below a directory, of each the newest.

    Raises a `ConfigError` if there are none, or if different code made runs of one scenario. A `DamagedResult` names a
    damaged file.
    """
    return reading.read_results(Path(directory))


@front_door
def read_run(directory: str | Path) -> Result:
    """The run in a directory that `Result.save` or `shortflow run --out` wrote, or one of those in a store's `runs`.

    A `DamagedResult` names the file that is missing or not as it was written.
    """
    return read_stored_run(directory)


@front_door
def read_tuning(directory: str | Path) -> Tuning:
    """The tuning in a directory. Raises a `DamagedResult` if it is missing or damaged."""
    return record.read_tuning(directory)
