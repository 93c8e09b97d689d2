"""`show`: values of a scenario, and their sources."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

from shortflow.front import options as given
from shortflow.front.command import Answer, command
from shortflow.report.blocks import Block, Words
from shortflow.report.tables import settings_section
from shortflow.runs import plan
from shortflow.scenario import as_settings


@command
def show(
    scenario: given.ScenarioName,
    scheme: Annotated[str, replace(given.SCHEME, help="Scheme whose parameters are shown too.")] = "dctcp",
    *,
    settings: given.Settings = None,
) -> Answer:
    """Show every value of a scenario and where each value comes from."""
    (work,) = plan(given.scenario_with(scenario, settings), [scheme], [1], settings)
    of = work.scenario
    found: dict[str, Any] = {
        "scenario": of.name,
        "title": of.title,
        "settings": as_settings(of.core.resolved(work.scheme)),
        "notes": of.traffic_notes([work.scheme]),
        "expected_flows": of.expected_flows(),
        "scheme": {"name": scheme, "summary": work.scheme.summary, "settings": work.scheme_settings()},
    }
    return Answer(lambda: found, _blocks(found))


def _blocks(found: dict[str, Any]) -> Iterator[Block]:
    measured = [f"{row['entry']}: {row['text']} in the measured time" for row in found["expected_flows"]]
    scheme = found["scheme"]
    heading = f"scheme {scheme['name']}: {scheme['summary']}"
    yield Words("\n".join([found["title"], *found["notes"], *measured]))
    yield settings_section(found["settings"], f"scenario {found['scenario']}")
    yield settings_section(scheme["settings"], heading) if scheme["settings"] else Words(heading)
