"""`explain`: where the completion time of a flow and of each class went."""

from collections.abc import Mapping
from typing import Annotated, Any

from shortflow.accounts import account, shown
from shortflow.errors import ConfigError
from shortflow.front import options as given
from shortflow.front.command import Answer, Opt, showing
from shortflow.front.notes import note_warnings
from shortflow.front.progress import reporting
from shortflow.runs import plan
from shortflow.shown import Explanation


def _answer(found: Explanation, _: Mapping[str, Any]) -> Answer:
    return Answer(found.document, shown.account_blocks(found.explained, found.flow))


@showing(_answer)
def explain(
    scenario: given.ScenarioName,
    scheme: given.SchemeName = "dctcp",
    seed: given.Seed = 1,
    *,
    flow: Annotated[
        int | None, given.whole("Explain the flow in this row of the flow table; rows count from 0.", 0)
    ] = None,
    worst: Annotated[
        str | None, Opt("Explain the flow of this class, or of `all`, with the largest slowdown.", "CLASS")
    ] = None,
    median: Annotated[
        str | None, Opt("Explain the flow of this class, or of `all`, with the median slowdown.", "CLASS")
    ] = None,
    settings: given.Settings = None,
    progress: given.Progress = None,
) -> Explanation:
    """Split completion times into transmission, propagation, queues, window, losses and hosts, to the picosecond.

    Without --flow, --worst or --median, the command shows only the shares of each class of flows.

    Example: shortflow explain incast --scheme dctcp --worst all
    """
    if sum(each is not None for each in (flow, worst, median)) > 1:
        raise ConfigError("--flow, --worst, --median: each chooses a flow; give one of them")
    (run,) = plan(given.scenario_with(scenario, settings), [scheme], [seed], settings)
    note_warnings(run.scenario, [run.scheme])
    with reporting(f"{run.scenario.name}, {run.scheme.name}", progress) as bar:
        found = account.accounted(run, flow, bar)
        if worst is not None or median is not None:
            flow = found.worst(worst) if worst is not None else found.median(median or account.ALL)
            found = account.accounted(run, flow, bar)
    if flow is not None:
        found.of_flow(flow)  # raises before anything is printed
    return Explanation(found, flow)
