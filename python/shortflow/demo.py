"""`make demo`: web-search flow sizes, and L2DCT's benchmark over the load, in under a minute."""

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path

from shortflow.api.report import write_report
from shortflow.front.console import progress_bar
from shortflow.front.terminal import print_blocks
from shortflow.report.answer import answer
from shortflow.report.blocks import Block, Words
from shortflow.report.tables import sweep_section
from shortflow.results import Results
from shortflow.runner import Runner, Wanted, once
from shortflow.runs import Plan, Run
from shortflow.scenario import load_scenario
from shortflow.store.runs import Store

SCHEMES = ("tcp", "dctcp", "l2dct")
PARAMETER = "load"


@dataclass(frozen=True)
class Loads:
    """A scenario at several loads, with seeds 1 to 5. Every seed has 1,000 flows up to 100 KB or more."""

    scenario: str
    loads: tuple[float, ...]
    duration: str


SEEDS = 5
PARTS = (Loads("websearch-star", (0.3,), "650ms"), Loads("l2dct-benchmark", (0.3, 0.4, 0.5, 0.6, 0.7, 0.8), "2s"))


def main() -> None:
    """Runs all parts, prints a table and the answer of each, and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/demo"), help="where the results and the report go")
    out: Path = parser.parse_args().out
    started = time.perf_counter()
    store = Store(out)
    for part in PARTS:
        print_blocks(_blocks(part, store))
    page, keys = out / "report.html", {run.key for part in PARTS for run in _runs(part)}
    runs = write_report(out, page, keys)  # leaves out results of an earlier version in the same directory
    print_blocks([Words(f"{runs} runs, {time.perf_counter() - started:.0f} s. Report: {page.resolve()}")])


def _runs(part: Loads) -> list[Run]:
    plan = Plan(load_scenario(part.scenario), SCHEMES, {"duration": part.duration})
    return [run for load in part.loads for run in plan.runs(range(1, SEEDS + 1), {PARAMETER: str(load)})]


def _blocks(part: Loads, store: Store) -> list[Block]:
    scenario = load_scenario(part.scenario)
    with progress_bar(part.scenario) as progress:
        done = Runner(store=store, progress=progress).answer(once(Wanted(_runs(part))))
    found = Results(done, scenario.name, scenario.title, keys=[PARAMETER])
    ranking = answer(found)
    section = replace(sweep_section(found, ranking.metrics, ranking.baseline), heading=scenario.title)
    return [section, Words("\n".join([*ranking.over_points, *ranking.caveats]))]


if __name__ == "__main__":
    main()
