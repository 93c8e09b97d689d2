"""`shortflow run`: one scenario, one scheme, one seed."""

from typing import Annotated

import typer

from shortflow.cli import console
from shortflow.cli.options import (
    Json,
    OutDirectory,
    ScenarioName,
    SetValues,
    parse_settings,
    scenario_with,
    whole_number,
)
from shortflow.comparison import Comparison
from shortflow.engine import run_one
from shortflow.errors import ConfigError
from shortflow.runner import plan


def run(
    scenario: ScenarioName,
    scheme: Annotated[str, typer.Option(help="Transport and queue discipline (`shortflow list schemes`).")] = "dctcp",
    seed: Annotated[int, typer.Option(metavar="NUMBER", parser=whole_number(0), help="Seed of all random draws.")] = 1,
    set_values: SetValues = None,
    out: OutDirectory = None,
    csv: Annotated[bool, typer.Option("--csv", help="Write the flow table as CSV too (with --out).")] = False,
    json: Json = False,
) -> None:
    """Run a scenario once."""
    settings = parse_settings(set_values)
    if csv and not out:
        raise ConfigError("--csv: writes into the result directory, so it needs --out DIR")
    if "," in scheme:
        raise ConfigError(f"--scheme {scheme}: one scheme; `shortflow compare` runs several")
    if out:
        from shortflow.store.runs import check_same_run, check_target, write_run

        check_target(out)
    (work,) = plan(scenario_with(scenario, settings), [scheme], [seed], settings)
    if out:
        check_same_run(out, work.key)
    console.note_warnings(work.scenario, [work.scheme])
    with console.progress_bar(f"{work.scenario.name}, {scheme}") as progress:
        result = run_one(work, progress)
    if out:
        write_run(result, out, csv=csv)
        console.print_note(f"result: {out}")
    comparison = Comparison(work.scenario.name, work.scenario.title, settings, [result.summary])
    console.note_faults(result.meta["drops"])
    console.note_unfinished(comparison)
    if json:
        console.print_json(comparison.document())
        return
    from shortflow.cli.terminal import print_result
    from shortflow.report.tables import comparison_tables

    print_result(comparison_tables(comparison))
