"""Runs of a store, to be done again: a store keeps no packets."""

from shortflow.errors import ConfigError
from shortflow.result import Result, changed
from shortflow.runs import Run, plan
from shortflow.scenario import Scenario, load_scenario, shipped_scenarios


def scenario_of(name: str, file: str | None) -> Scenario:
    """The scenario of stored runs: of a file, or a shipped one. Raises `ConfigError` if it has another name."""
    if file is None:
        if name not in shipped_scenarios():
            raise ConfigError(f"{name}: the store names the scenario and does not hold it; add --scenario FILE")
        return load_scenario(name)
    found = load_scenario(file)
    if found.name != name:
        raise ConfigError(f"--scenario {file}: the store has runs of {name}, and this is {found.name}")
    return found


def run_of(result: Result, scenario: Scenario) -> Run:
    """The run that a result came from."""
    (run,) = plan(scenario, [result.scheme], [result.seed], changed(result.provenance))
    return run
