"""`shortflow tune`: the parameters of a scheme that serve a goal best, and whether they hold elsewhere."""

from typing import Annotated

import typer
from rich.text import Text

from shortflow.cli import completion
from shortflow.cli.console import note_warnings, print_json, print_note, progress_bar
from shortflow.cli.options import (
    Dask,
    Jobs,
    Json,
    KeptIn,
    ScenarioName,
    SetValues,
    executor,
    parse_settings,
    scenario_with,
    whole_number,
)
from shortflow.cli.terminal import print_result
from shortflow.errors import ConfigError, ExitCode
from shortflow.report.tables import lay_out, stacked
from shortflow.scheme import load_schemes, split_settings
from shortflow.store.files import Kind, check_replaceable
from shortflow.terms import pairs
from shortflow.tuning.asking import WORKLOADS, second_workload
from shortflow.tuning.engine import BASELINE, BATCH, CHECK_SEEDS, SEEDS, TRIALS
from shortflow.tuning.engine import tune as run_tuning
from shortflow.tuning.goal import Goal
from shortflow.tuning.pages import document, write_page
from shortflow.tuning.record import Tuning
from shortflow.tuning.space import Parameter
from shortflow.tuning.tables import sections
from shortflow.tuning.verdict import Holds, holds, sentence, verdicts

NOWHERE = "none"
"""What `--check-on` takes in place of a scenario."""


def tune(
    scenario: ScenarioName,
    scheme: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="The scheme to tune (`shortflow list schemes`).", autocompletion=completion.schemes
        ),
    ],
    params: Annotated[
        list[str],
        typer.Option(
            "--param",
            metavar="KEY=LOW:HIGH",
            help="Vary this key of scenario or scheme between these values; `:log` or `:STEP` may follow.",
            autocompletion=completion.keys,
        ),
    ],
    out: KeptIn,
    minimize: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC",
            help="What should be small; with a second objective the trade-off is searched.",
            autocompletion=completion.metrics,
        ),
    ] = None,
    maximize: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC", help="What should be large.", autocompletion=completion.metrics),
    ] = None,
    subject_to: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONSTRAINT", help="What must hold: `goodput_long_bps >= 0.99 * dctcp`, `p99_short_s <= 5ms`."
        ),
    ] = None,
    trials: Annotated[
        int,
        typer.Option(metavar="NUMBER", parser=whole_number(1), help=f"Trials, rounded up to a multiple of {BATCH}."),
    ] = TRIALS,
    seeds: Annotated[
        int,
        typer.Option(metavar="NUMBER", parser=whole_number(1, 1000), help="Trials have seeds 1 to this number."),
    ] = SEEDS,
    baseline: Annotated[str, typer.Option(metavar="SCHEME", help="Also compare with this scheme.")] = BASELINE,
    check_on: Annotated[
        str | None,
        typer.Option(
            metavar="SCENARIO",
            help=f"Check what was found on this second workload too; `{NOWHERE}` for no other (default: the first of "
            f"{', '.join(WORKLOADS)} that is another scenario and has the metrics).",
        ),
    ] = None,
    check_metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=METRIC", help="The metric of the second workload that takes the place of one of the goal's."
        ),
    ] = None,
    check_set: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Change a value of the second workload.")
    ] = None,
    check_seeds: Annotated[
        int, typer.Option(metavar="NUMBER", parser=whole_number(2, 1000), help="Fresh seeds for the check.")
    ] = CHECK_SEEDS,
    jobs: Jobs = None,
    dask: Dask = None,
    set_values: SetValues = None,
    json: Json = False,
) -> int:
    """Search for the parameters of a scheme that serve a goal best, and check them on fresh seeds and elsewhere.

    Called again after an interruption, or with more trials, it goes on where it stopped. The exit code is 1 if what
    was found does not hold.
    """
    settings = parse_settings(set_values)
    loaded = scenario_with(scenario, settings)
    goal = Goal.parse(minimize or [], maximize or [], subject_to or [])
    goal.check(loaded.classes)
    parameters = [Parameter.parse(each) for each in params]
    counterparts = pairs(check_metric or [], "--check-metric", "METRIC=METRIC, such as afct_short_s=afct_websearch_s")
    there = None
    if check_on != NOWHERE:
        changed = {**split_settings(settings)[1], **parse_settings(check_set)}
        there = second_workload(check_on, loaded, goal, changed, counterparts)
    elif check_metric or check_set:
        raise ConfigError("--check-metric, --check-set: need a second workload (--check-on)")
    report = out / "report.html"
    check_replaceable(report, Kind.PAGE)
    note_warnings(loaded, load_schemes([scheme]))
    with progress_bar(scenario) as progress:
        found = run_tuning(
            loaded,
            scheme,
            parameters,
            goal,
            out=out,
            trials=trials,
            seeds=seeds,
            settings=settings,
            baseline=baseline,
            check_on=there,
            check_seeds=check_seeds,
            jobs=executor(jobs, dask),
            progress=progress,
        )
    if len(found.trials) < trials:
        print_note(f"--trials: {len(found.trials)} are all combinations of the parameters that the scheme accepts")
    write_page(found, report)
    print_note(f"report: {report}")
    if json:
        print_json(document(found))
    else:
        _show(found)
    return ExitCode.CLAIM_FAILED if holds(found) is Holds.NO else ExitCode.FINE


def _show(found: Tuning) -> None:
    question = found.question
    changed = "".join(f", {key} = {value}" for key, value in question.settings.items())
    head = Text(f"{question.title}\n{question.scenario}{changed}: {question.scheme} for {question.goal.text}")
    tables = [table for section in sections(found) for table in lay_out(section)]
    words = [sentence(found), *(each.words for each in verdicts(found))]
    print_result(stacked(head, *tables, Text("\n".join(words))))
