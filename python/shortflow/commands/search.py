"""`search`: largest value of a key for which a condition holds."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from shortflow import asks
from shortflow.asks import Condition
from shortflow.front import complete
from shortflow.front import options as given
from shortflow.front.command import Answer, Opt, showing
from shortflow.front.console import note
from shortflow.front.notes import note_warnings_at
from shortflow.front.progress import reporting
from shortflow.grid import Steps
from shortflow.quantities import counted
from shortflow.runner import Runner
from shortflow.runs import Plan
from shortflow.shown import Search


def _answer(found: Search, _: Mapping[str, Any]) -> Answer:
    def document() -> object:
        _note_ends(found)
        return found.document()

    return Answer(document, found._blocks())


@showing(_answer)
def search(
    scenario: given.ScenarioName,
    scheme: Annotated[str, replace(given.SCHEME, default="dctcp")],
    key: Annotated[
        str | Steps,
        Opt(
            "Key to vary and its range, such as servers=1:100 or switch.mark_above=5pkt:200pkt (default STEP: 1).",
            "KEY=LOW:HIGH[:STEP]",
            complete=complete.keys,
        ),
    ],
    condition: Annotated[
        str | Condition,
        Opt(
            "Condition that a run must meet. The comparison may be ==, <=, >=, < or >.",
            "METRIC==NUMBER",
            complete=complete.metrics,
        ),
    ],
    seeds: given.AnySeeds = 5,
    *,
    jobs: given.Jobs = None,
    dask: given.Dask = None,
    settings: given.Settings = None,
    out: given.OutDirectory = None,
    progress: given.Progress = None,
) -> Search:
    """Find the largest value of a key for which a condition holds.

    The command bisects the range for each seed. If the condition still holds at HIGH, the answer is HIGH or more.

    Example: shortflow search incast --key servers=1:40 --condition timeouts==0

    With --out, each run is stored when it ends. The same command then runs only the missing runs.

    In Python, `key` includes the range, such as `"load=0.1:0.9:0.1"` or `"senders=1:150"`. `condition` is a metric and
    a number in its unit, such as `"p99_short_s<0.005"`; conditions left open by unfinished flows count as failed.
    Raises `ConfigError` for invalid arguments.
    """
    loaded = given.scenario_with(scenario, settings)
    steps = key if isinstance(key, Steps) else Steps.parse(key)
    wanted = condition if isinstance(condition, Condition) else Condition.parse(condition)
    plan = Plan(loaded, [scheme], settings)
    ends = [{steps.key: steps.written(steps.values[at])} for at in (0, -1)]
    note_warnings_at((end, run.scenario, run.scheme) for end in ends for run in asks.check_point(plan, end, "--key"))
    with reporting(loaded.name, progress) as bar:
        ask = asks.ask_search(plan, steps, wanted, given.seed_list(seeds))
        found = Runner(given.executor(jobs, dask), given.store_in(out), bar).answer(ask)
    if out:
        note(f"results: {Path(out) / 'runs.parquet'}")
    shown = Search.showing(found)
    _note_unfinished(shown)
    return shown


def _note_unfinished(found: Search) -> None:
    """Notes unfinished flows, and values at which unfinished flows leave the condition undecided."""
    counts = [trial["unfinished"] for trial in found.trials if trial["unfinished"]]
    if counts:
        note(
            f"{len(counts)} of {counted(len(found.trials), 'run')} had unfinished flows at the end of the drain, at "
            f"most {max(counts)} in a run; an unfinished flow counts with its age, so times are lower bounds; for "
            "exact times raise drain"
        )
    values = sorted({trial["value"] for trial in found.trials if trial["open"]})
    if values:
        at = ", ".join(found.steps.written(value) for value in values)
        note(f"{found.condition.text} is undecided at {found.steps.key} = {at}, which counts as not holding")


def _note_ends(found: Search) -> None:
    low, high = (found.steps.written(found.steps.values[end]) for end in (0, -1))
    for seeds, what in (
        (
            found.holds_at_high,
            f"holds at {high}, the high end of the range: the answer is {high} or more; raise the high end",
        ),
        (
            found.fails_at_low,
            f"fails at {low}, the low end of the range: the answer is lower, or none; lower the low end",
        ),
    ):
        if seeds:
            of_seeds = "for every seed" if len(seeds) == len(found.largest) else f"for {counted(len(seeds), 'seed')}"
            note(f"{of_seeds}, {found.condition.text} {what}")
