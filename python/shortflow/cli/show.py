"""`shortflow show`: what a scenario amounts to, and where each value came from."""

from typing import Annotated

import typer
from rich.text import Text

from shortflow.cli import completion
from shortflow.cli.console import print_json
from shortflow.cli.options import Json, ScenarioName, SetValues, parse_settings, scenario_with
from shortflow.cli.terminal import print_result
from shortflow.report.tables import settings_table, stacked
from shortflow.runs import plan
from shortflow.scenario import as_settings


def show(
    scenario: ScenarioName,
    scheme: Annotated[
        str,
        typer.Option(metavar="NAME", help="Show the parameters of this scheme too.", autocompletion=completion.schemes),
    ] = "dctcp",
    set_values: SetValues = None,
    json: Json = False,
) -> None:
    """Show a scenario with its defaults and where each value came from."""
    changes = parse_settings(set_values)
    (work,) = plan(scenario_with(scenario, changes), [scheme], [1], changes)
    settings, scheme_settings = (
        as_settings(work.scenario.core.resolved(work.scheme)),
        as_settings(work.scheme.resolved()),
    )
    notes, expected = work.scenario.traffic_notes(), work.scenario.expected_flows()
    if json:
        print_json(
            {
                "scenario": work.scenario.name,
                "title": work.scenario.title,
                "settings": settings,
                "notes": notes,
                "expected_flows": expected,
                "scheme": {"name": scheme, "summary": work.scheme.summary, "settings": scheme_settings},
            }
        )
        return
    measured = [f"{row['entry']}: {row['text']} in the measured time" for row in expected]
    heading = f"scheme {scheme}: {work.scheme.summary}"
    print_result(
        stacked(
            Text("\n".join([work.scenario.title, *notes, *measured])),
            settings_table(settings, f"scenario {work.scenario.name}"),
            settings_table(scheme_settings, heading) if scheme_settings else Text(heading),
        )
    )
