"""Repeats runs of a store, because a store keeps no packets."""

from collections.abc import Mapping, Sequence

from shortflow.errors import ConfigError
from shortflow.result import Result, changed
from shortflow.runs import Run, plan
from shortflow.scenario import Scenario, load_scenario, shipped_scenarios


def scenarios_of(names: Sequence[str], files: Sequence[str]) -> dict[str, Scenario]:
    """Scenarios of stored runs by name, loaded from `files` or shipped.

    Raises `ConfigError` if a name is neither shipped nor in a file, or if the runs do not use a file's scenario.
    """
    found = {}
    for file in files:
        given = load_scenario(file)
        if given.name not in names:
            raise ConfigError(
                f"--scenario {file}: the file is of {given.name}, and the store has runs of {', '.join(names)}"
            )
        found[given.name] = given
    for name in names:
        if name not in found and name not in shipped_scenarios():
            raise ConfigError(
                f"{name}: the store has only the name of the scenario; give its file with --scenario FILE"
            )
    return {name: found.get(name) or load_scenario(name) for name in names}


def run_of(result: Result, scenario: Scenario, settings: Mapping[str, str] | None = None) -> Run:
    """The run that produced a result, with further settings if given."""
    (run,) = plan(scenario, [result.scheme], [result.seed], {**changed(result.provenance), **(settings or {})})
    return run
