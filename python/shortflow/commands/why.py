"""`why`: why two schemes of a store are equal, or where they part."""

from pathlib import Path
from typing import Annotated

from shortflow import store as stores
from shortflow.accounts import parting, reasons
from shortflow.errors import ConfigError
from shortflow.front import console
from shortflow.front import options as given
from shortflow.front.command import Answer, Arg, Opt, command
from shortflow.front.progress import reporting
from shortflow.result import changed
from shortflow.runs import plan
from shortflow.scenario import Scenario, load_scenario, shipped_scenarios


@command
def why(
    store: Annotated[str | Path, Arg("A directory of `compare --out` or `sweep --out`.", "STORE", read=Path)],
    first: Annotated[str, Arg("A scheme of the store.", "A")],
    second: Annotated[str, Arg("Another one.", "B")],
    seed: given.Seed = 1,
    *,
    flow: Annotated[int | None, given.whole("Also explain the difference of the flow in this row.", 0)] = None,
    scenario: Annotated[
        str | None, Opt("The scenario's file, if the store's scenario is not a shipped one.", "FILE")
    ] = None,
    settings: given.Settings = None,
    progress: given.Progress = None,
) -> Answer:
    """Show why two schemes have equal results, or where they part and what the difference consists of.

    A store keeps no packets, so both runs are done again. If a store has several points, --set chooses one.
    """
    if first == second:
        raise ConfigError(f"{first}, {second}: name two schemes")
    wanted = {str(key): str(value) for key, value in (settings or {}).items()}
    results = [
        each
        for each in stores.runs.load_store(store).results
        if wanted.items() <= {**each.at, **changed(each.provenance)}.items()
    ]
    pair = parting.stored_pair(results, [first, second], seed)
    origin = pair[0].provenance
    if any(each.provenance["scenario"] != origin["scenario"] for each in pair):
        raise ConfigError(f"{first}, {second}: the store has them in different scenarios")
    settings = {**changed(pair[0].provenance), **changed(pair[1].provenance)}
    named = given.scenario_with(_scenario(scenario, origin["scenario"]), None)
    runs = [run for name in (first, second) for run in plan(named, [name], [seed], settings)]
    with reporting(f"{origin['scenario']}, {first} and {second}", progress) as bar:
        found = parting.compared_runs(runs, flow, bar)
    for before, now in zip(pair, (found.first.result, found.second.result), strict=True):
        if before.digest != now.digest:
            console.note(f"{now.scheme}: the run differs from the stored one, which other code or settings made")
    if flow is not None:  # raises before anything is printed
        found.first.of_flow(flow)
        found.second.of_flow(flow)
    return Answer(lambda: reasons.reason_document(found, flow), reasons.reason_blocks(found, flow))


def _scenario(file: str | None, name: str) -> Scenario:
    """The store's scenario: of a file, or a shipped one."""
    if file is None:
        if name not in shipped_scenarios():
            raise ConfigError(f"{name}: the store names the scenario and does not hold it; add --scenario FILE")
        return load_scenario(name)
    found = load_scenario(file)
    if found.name != name:
        raise ConfigError(f"--scenario {file}: the store has runs of {name}, and this is {found.name}")
    return found
