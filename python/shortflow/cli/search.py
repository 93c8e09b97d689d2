"""`shortflow search`: how far a key can go before a condition fails."""

from typing import Annotated

import typer
from rich.text import Text

from shortflow.bisection import Condition, Search, Steps
from shortflow.bisection import search as find
from shortflow.cli.console import print_json, print_result, progress_bar
from shortflow.cli.options import Jobs, Json, ScenarioName, Seeds, SetValues, parse_settings, scenario_with
from shortflow.tables import named_table, stacked


def search(
    scenario: ScenarioName,
    key: Annotated[str, typer.Option(metavar="KEY=LOW:HIGH[:STEP]", help="What to change, and between which values.")],
    condition: Annotated[str, typer.Option(metavar="METRIC==NUMBER", help="What must hold; also <=, >=, < and >.")],
    scheme: Annotated[str, typer.Option(help="Transport and queue discipline (`shortflow list schemes`).")] = "dctcp",
    seeds: Seeds = 5,
    jobs: Jobs = None,
    set_values: SetValues = None,
    json: Json = False,
) -> None:
    """Find the largest value of a key for which a condition holds, by bisection for each seed.

    Such as the most senders without a missed deadline: --key senders=1:100 --condition deadline_miss==0.
    """
    settings = parse_settings(set_values)
    with progress_bar(scenario) as progress:
        found = find(
            scenario_with(scenario, settings),
            scheme,
            Steps.parse(key),
            Condition.parse(condition),
            range(1, seeds + 1),
            settings=settings,
            jobs=jobs,
            progress=progress,
        )
    if json:
        print_json(found.document())
        return
    changed = "".join(f", {name} = {value}" for name, value in found.settings.items())
    caption = f"{found.title}\n{found.scenario}{changed} under {found.scheme}: {found.steps.key} up to which "
    print_result(stacked(Text(f"{caption}{found.condition.text}"), named_table(found.steps.key, _rows(found))))


def _rows(found: Search) -> list[tuple[str, str]]:
    def text(value: float | None) -> str:
        return f"below {found.steps.values[0]:g}" if value is None else f"{value:g}"

    every = [(f"seed {seed}", text(value)) for seed, value in found.largest.items()]
    shares = [("in every seed", text(found.largest_for(1.0))), ("in half of the seeds", text(found.largest_for(0.5)))]
    return [*every, *shares] if len(every) > 1 else every
