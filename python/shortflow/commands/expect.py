"""`expect`: numbers to expect of a scenario before a run, and the suspects of a measured one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from shortflow.expect import tables
from shortflow.expect.simulated import Expectation, expectation
from shortflow.expect.suspects import Inquiry, inquiry, parse_measured
from shortflow.front import options as given
from shortflow.front.command import Answer, Opt, command
from shortflow.front.notes import note_warnings
from shortflow.front.progress import reporting
from shortflow.runner import Runner
from shortflow.runs import Plan


@command
def expect(
    scenario: given.ScenarioName,
    scheme: Annotated[str, replace(given.SCHEME, default="dctcp")] = "dctcp",
    *,
    measured: Annotated[
        Sequence[str] | None,
        Opt(
            "Compare a measured number: mean, p50, p95, p99 (completion times), goodput, bandwidth, or a metric.",
            "NAME=NUMBER",
            many=True,
        ),
    ] = None,
    simulate: Annotated[bool, Opt("Also simulate if the simulation takes about two seconds.")] = True,
    jobs: given.Jobs = None,
    settings: given.Settings = None,
    progress: given.Progress = None,
) -> Answer:
    """Show which numbers to expect of a scenario, by arithmetic; find suspects of a measured number.

    Each number has its formula and source, and the simulated number if a simulation is short. With --measured, five
    seeds give the expected range. If a number lies outside, suspects are simulated, and the closest comes first.

    Example: shortflow expect incast --measured p99=230ms
    """
    plan = Plan(given.scenario_with(scenario, settings), [scheme], settings)
    (run,) = plan.runs([1])
    note_warnings(run.scenario, [run.scheme])
    with reporting(run.scenario.name, progress) as bar:
        runner = Runner(given.executor(jobs, None), None, bar, holds=True)
        found: Expectation = runner.answer(expectation(plan, simulate=simulate))
        asked: Inquiry | None = None
        if measured:
            numbers = [parse_measured(text, found.arithmetic) for text in measured]
            asked = runner.answer(inquiry(plan, found.arithmetic, numbers))
    return Answer(lambda: tables.document(found, asked), tables.blocks(found, asked))
