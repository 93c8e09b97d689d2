"""`shortflow search`: how far a key can go before a condition fails."""

from typing import Annotated

import typer
from rich.text import Text

from shortflow import asks
from shortflow.asks import Search
from shortflow.cli import completion
from shortflow.cli.console import print_json, print_note, progress_bar
from shortflow.cli.options import (
    Dask,
    Jobs,
    Json,
    OutDirectory,
    ScenarioName,
    SchemeName,
    Seeds,
    SetValues,
    executor,
    parse_settings,
    scenario_with,
)
from shortflow.cli.terminal import print_result
from shortflow.condition import Condition
from shortflow.grid import Steps
from shortflow.report.tables import named_table, stacked
from shortflow.runner import Runner
from shortflow.runs import Plan
from shortflow.store.runs import Store


def search(
    scenario: ScenarioName,
    key: Annotated[
        str,
        typer.Option(
            metavar="KEY=LOW:HIGH[:STEP]",
            help="What to change, and between which values: servers=1:100, switch.mark_above=5pkt:200pkt.",
            autocompletion=completion.keys,
        ),
    ],
    condition: Annotated[
        str,
        typer.Option(
            metavar="METRIC==NUMBER",
            help="What must hold; also <=, >=, < and >.",
            autocompletion=completion.metrics,
        ),
    ],
    scheme: SchemeName = "dctcp",
    seeds: Seeds = 5,
    jobs: Jobs = None,
    dask: Dask = None,
    set_values: SetValues = None,
    out: OutDirectory = None,
    json: Json = False,
) -> None:
    """Find the largest value of a key for which a condition holds, by bisection for each seed.

    Where it still holds at the end of the range, the answer is that or more.
    Such as the most senders without a missed deadline: --key senders=1:100 --condition deadline_miss==0.
    With --out, every finished run is kept at once and not run again the next time.
    """
    settings = parse_settings(set_values)
    with progress_bar(scenario) as progress:
        plan = Plan(scenario_with(scenario, settings), [scheme], settings)
        ask = asks.search(plan, Steps.parse(key), Condition.parse(condition), range(1, seeds + 1))
        found = Runner(executor(jobs, dask), Store(out) if out else None, progress).answer(ask)
    if out:
        print_note(f"results: {out / 'runs.parquet'}")
    _note_unfinished(found)
    if json:
        _note_ends(found)
        print_json(found.document())
        return
    changed = "".join(f", {name} = {value}" for name, value in found.settings.items())
    caption = f"{found.title}\n{found.scenario}{changed} under {found.scheme}"
    heading = f"Largest {found.steps.key} for which {found.condition.text}"
    print_result(stacked(Text(caption), named_table(heading, _rows(found), ("where", found.steps.key))))


def _rows(found: Search) -> list[tuple[str, str]]:
    low, high = found.steps.values[0], found.steps.values[-1]

    def text(value: float | None) -> str:
        if value is None:
            return f"below {found.steps.written(low)}: fails at the low end already"
        more = " or more: holds at the high end still" if value == high else ""
        return f"{found.steps.written(value)}{more}"

    every = [(f"seed {seed}", text(value)) for seed, value in found.largest.items()]
    shares = [("in every seed", text(found.largest_for(1.0))), ("in half of the seeds", text(found.largest_for(0.5)))]
    return [*every, *shares] if len(every) > 1 else every


def _note_unfinished(found: Search) -> None:
    """Say if flows did not finish, and if that leaves the condition open."""
    counts = [trial["unfinished"] for trial in found.trials if trial["unfinished"]]
    if counts:
        print_note(
            f"unfinished at the end of the drain: up to {max(counts)} flows, in {len(counts)} of {len(found.trials)} "
            "runs; each counts with its age, so that times are lower bounds"
        )
    values = sorted({trial["value"] for trial in found.trials if trial["open"]})
    if values:
        at = ", ".join(found.steps.written(value) for value in values)
        print_note(f"{found.condition.text} is open at {found.steps.key} = {at}: it counts as not holding there")


def _note_ends(found: Search) -> None:
    """Say where the range ends before the answer does."""
    low, high = (found.steps.written(found.steps.values[end]) for end in (0, -1))
    for seeds, what in (
        (found.holds_at_high, f"still holds at {high}, the end of the range: the answer is that or more"),
        (found.fails_at_low, f"fails at {low} already, the low end of the range: the answer is below it, or none"),
    ):
        if seeds:
            of_seeds = "for every seed" if len(seeds) == len(found.largest) else f"for {len(seeds)} of the seeds"
            print_note(f"{found.condition.text} {what} ({of_seeds})")
