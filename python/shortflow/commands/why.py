"""`why`: why two schemes of a store are equal, or where they part."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from shortflow import store as stores
from shortflow.accounts import again, parting, reasons
from shortflow.accounts.search import searched
from shortflow.errors import ConfigError
from shortflow.front import console
from shortflow.front import options as given
from shortflow.front.command import Answer, Arg, Opt, command
from shortflow.front.progress import reporting
from shortflow.runs import Run
from shortflow.scenario import load_scenario


@command
def why(
    store: Annotated[str | Path, Arg("Directory that `compare --out` or `sweep --out` wrote.", "STORE", read=Path)],
    first: Annotated[str, Arg("First scheme, which the store must hold.", "A")],
    second: Annotated[str, Arg("Second scheme, which the store must hold.", "B")],
    seed: given.Seed = 1,
    *,
    flow: Annotated[
        int | None, given.whole("Also explain the difference of the flow in this row of the flow table.", 0)
    ] = None,
    search: Annotated[
        bool,
        Opt("If the results are equal, look for a load, number of flows or size that parts them, in at most 18 runs."),
    ] = False,
    scenario: given.StoredScenario = None,
    settings: given.Settings = None,
    progress: given.Progress = None,
) -> Answer:
    """Show why two schemes have equal results, or where their runs first differ and which parts of their times differ.

    A store holds no packets, so the command repeats both runs. If the store has several points, choose one with --set.
    """
    if first == second:
        raise ConfigError(f"{first}, {second}: name two schemes")
    results = stores.runs.load_store(store).results
    if scenario:
        name = load_scenario(scenario).name
        results = [each for each in results if each.provenance["scenario"] == name] or results
    wanted = {str(key): str(value) for key, value in (settings or {}).items()}
    pair = parting.stored_pair(results, [first, second], seed, wanted)
    origin = pair[0].provenance["scenario"]
    (named,) = again.scenarios_of([origin], [scenario] if scenario else []).values()
    runs = [again.run_of(each, named) for each in pair]
    with reporting(f"{origin}, {first} and {second}", progress) as bar:
        found = parting.compared_runs(runs, flow, bar)
        trials = None
        if search and not found.equal:
            console.note("--search: the results differ already; a search needs schemes with equal results")
        elif search:

            def raised(changes: Mapping[str, str]) -> list[Run]:
                return [again.run_of(each, named, changes) for each in pair]

            trials = [*searched(found.first.result.provenance["scenario_settings"], raised, bar)]
    for before, now in zip(pair, (found.first.result, found.second.result), strict=True):
        if before.digest != now.digest:
            console.note(
                f"{now.scheme}: the repeated run differs from the stored run, which had other code or settings"
            )
    if flow is not None:  # raises before anything is printed
        found.first.of_flow(flow)
        found.second.of_flow(flow)
    return Answer(lambda: reasons.reason_document(found, flow, trials), reasons.reason_blocks(found, flow, trials))
