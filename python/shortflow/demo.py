"""`make demo`: L2DCT's benchmark over the load, and two published flow-size distributions, in under a minute."""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from shortflow.api.report import write_report
from shortflow.front.console import progress_bar
from shortflow.front.terminal import print_result
from shortflow.report.tables import lay_out, overview_section, stacked
from shortflow.results import Results
from shortflow.runner import Runner, Wanted, once
from shortflow.runs import Plan, Run
from shortflow.scenario import load_scenario
from shortflow.store.runs import Store

SCHEMES = ("tcp", "dctcp", "l2dct")
PARAMETER = "load"


@dataclass(frozen=True)
class Part:
    """A scenario at several loads, with seeds 1 to `seeds`."""

    scenario: str
    loads: tuple[float, ...]
    seeds: int


PARTS = (
    Part("l2dct-benchmark", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8), 10),
    Part("websearch-star", (0.3, 0.5, 0.7), 3),
    Part("facebook-hadoop-star", (0.3, 0.5, 0.7), 3),
)


def main() -> None:
    """Runs all parts, prints one table per scenario and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/demo"), help="where the results and the report go")
    out: Path = parser.parse_args().out
    started = time.perf_counter()
    store = Store(out)
    for part in PARTS:
        print_result(_overview(part, store))
    page, keys = out / "report.html", {run.key for part in PARTS for run in _runs(part)}
    runs = write_report(out, page, keys)  # leaves out results of an earlier version in the same directory
    print_result(Text(f"{runs} runs, {time.perf_counter() - started:.0f} s. Report: {page.resolve()}"))


def _runs(part: Part) -> list[Run]:
    plan = Plan(load_scenario(part.scenario), SCHEMES)
    return [run for load in part.loads for run in plan.runs(range(1, part.seeds + 1), {PARAMETER: str(load)})]


def _overview(part: Part, store: Store) -> RenderableType:
    scenario = load_scenario(part.scenario)
    with progress_bar(part.scenario) as progress:
        done = Runner(store=store, progress=progress).answer(once(Wanted(_runs(part))))
    found = Results(done, scenario.name, scenario.title, keys=[PARAMETER])
    caption = (
        f"{scenario.title}\nmean ± 95 % confidence over {part.seeds} seeds; differences are paired on the same flows"
    )
    return stacked(Text(caption), *lay_out(overview_section(scenario.name, PARAMETER, found.labelled)))


if __name__ == "__main__":
    main()
