"""How far the kernel agrees with the simulator: every testbed scenario and the schemes that suit it, side by side."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shortflow.linux.testbed import (
    ATTEMPTS,
    REAL,
    SIMULATED,
    SideBySide,
    check_testbed,
    compare_with_simulation,
    linux_settings,
    measured_runs,
)
from shortflow.metrics.catalogue import FCT, GOODPUT, MARKS, MEAN_FCT, QUEUE_MEAN, TASK_TIMES, Metric
from shortflow.metrics.stats import Estimate
from shortflow.report.tables import NOTHING, percent, title
from shortflow.scenario import Settings

BOTH: dict[str, Settings] = {"dctcp": {}, "l2dct": {}}
CLASSES: dict[str, Settings] = {**BOTH, "xdctcp": {}}
WEIGHTS: dict[str, Settings] = {"atcp": {"transport.w_high": "2"}}
CELLS: dict[str, Mapping[str, Settings]] = {
    "testbed-two-long": BOTH,
    "testbed-incast": BOTH,
    "testbed-short-long": CLASSES,
    "testbed-weights": {**CLASSES, **WEIGHTS},
    "testbed-three-long": BOTH,
    "testbed-narrow-incast": BOTH,
    "testbed-wide-incast": BOTH,
    "testbed-messages": {**CLASSES, **WEIGHTS},
}
"""Scenarios, and the schemes of each with what is set. Classes are for xDCTCP, two weights for ATCP."""
SCHEMES = ("dctcp", "l2dct", "xdctcp", "atcp")

AIM, AIM_OF_MARKS = 0.05, 0.10
"""How far the kernel may be from the simulator, relatively."""
COMPARED = (MEAN_FCT, FCT[95], TASK_TIMES[95], GOODPUT, QUEUE_MEAN, MARKS)
"""By what both sides are compared."""

Told = Callable[[str, str, int, SideBySide], None]
"""Told after each cell: the scenario, the scheme, how many cells are done, and what was found."""


@dataclass(frozen=True)
class Agreement:
    """The cells by scenario and scheme."""

    cells: Mapping[tuple[str, str], SideBySide]

    @property
    def all_kept_time(self) -> bool:
        """Whether the testbed kept time with every seed of every cell."""
        return all(cell.kept == len(cell.accounts) for cell in self.cells.values())

    def outside(self) -> list[str]:
        """What is further apart than the aim, as `scenario scheme metric`."""
        return [
            f"{scenario} {scheme} {metric.name}"
            for (scenario, scheme), cell in self.cells.items()
            for metric in compared(cell)
            if is_outside(metric, cell.comparison.relation(REAL, SIMULATED, metric.name))
        ]

    def document(self) -> list[dict[str, object]]:
        """Every cell as plain data."""
        return [
            {
                "scenario": scenario,
                "scheme": scheme,
                "comparison": cell.comparison.document(),
                "kept_time": cell.kept,
                "testbed": cell.accounts,
            }
            for (scenario, scheme), cell in self.cells.items()
        ]

    def markdown(self) -> str:
        """The table of docs/testbed.md: the kernel over the simulator, less one; bold where that is outside the aim."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "| scenario | metric | " + " | ".join(f"`{scheme}`" for scheme in SCHEMES) + " |"
        yield "|---" * (2 + len(SCHEMES)) + "|"
        for scenario in dict.fromkeys(scenario for scenario, _ in self.cells):
            cells = [self.cells.get((scenario, scheme)) for scheme in SCHEMES]
            metrics = dict.fromkeys(metric for cell in cells if cell for metric in compared(cell))
            rows = {title(metric): [_shown(cell, metric) for cell in cells] for metric in metrics}
            rows["kept time"] = [f"{cell.kept} of {len(cell.accounts)}" if cell else "" for cell in cells]
            for place, (name, values) in enumerate(rows.items()):
                yield f"| {'' if place else f'`{scenario}`'} | {name} | " + " | ".join(values) + " |"


def compared(cell: SideBySide) -> list[Metric]:
    """The metrics by which both sides are compared: completion and goodput of every class, queue and marks."""
    return [metric for metric in cell.comparison.metrics.values() if metric.statistic in COMPARED]


def is_outside(metric: Metric, difference: Estimate | None) -> bool:
    """Whether both sides are further apart than the aim, or may be, as flows did not finish."""
    if difference is None:
        return False
    is_bound = difference.lower_bound or difference.upper_bound
    return is_bound or abs(difference.value) > (AIM_OF_MARKS if metric.statistic is MARKS else AIM)


def measure(seeds: Sequence[int], out: Path, told: Told, attempts: int = ATTEMPTS) -> Agreement:
    """Compare every cell over these seeds, and keep the runs on the testbed in `out`.

    What would keep a run from beginning is found out at the start. The same call goes on from the runs that are kept,
    and repeats those in which the testbed did not keep time.
    """
    places = [(scenario, scheme) for scenario, schemes in CELLS.items() for scheme in schemes]
    for scenario, scheme in places:
        check_testbed(scenario, scheme, linux_settings(scenario, scheme, CELLS[scenario][scheme]))
    store = measured_runs(out)
    cells: dict[tuple[str, str], SideBySide] = {}
    for scenario, scheme in places:
        compare = functools.partial(compare_with_simulation, scenario, scheme, seeds, CELLS[scenario][scheme])
        cells[scenario, scheme] = compare(attempts=attempts, store=store)
        told(scenario, scheme, len(cells), cells[scenario, scheme])
    return Agreement(cells)


def _shown(cell: SideBySide | None, metric: Metric) -> str:
    if cell is None or metric.name not in cell.comparison.metrics:
        return ""
    text = percent(cell.comparison.difference(REAL, SIMULATED, metric.name))
    text = text if text == NOTHING else f"{text} %"
    return f"**{text}**" if is_outside(metric, cell.comparison.relation(REAL, SIMULATED, metric.name)) else text
