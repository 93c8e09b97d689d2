"""`expect`: numbers to expect of a scenario before a run, and suspects for numbers that were measured."""

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
            "Compare a number that you measured with the expected one. NAME is mean, p50, p95 or p99 (of completion "
            "times), goodput, bandwidth, or a metric. Repeat the option for more numbers.",
            "NAME=NUMBER",
            many=True,
        ),
    ] = None,
    simulate: Annotated[bool, Opt("Also simulate if the simulation takes no more than about two seconds.")] = True,
    jobs: given.Jobs = None,
    settings: given.Settings = None,
    progress: given.Progress = None,
) -> Answer:
    """Compute the numbers to expect of a scenario; find likely causes if your measured number differs.

    Arithmetic gives each number, with its formula and source. A short simulation gives the same numbers for comparison.
    With --measured, five seeds give the expected range. If your number lies outside the range, the command simulates
    likely causes and prints the cause that comes closest to your number first.

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
