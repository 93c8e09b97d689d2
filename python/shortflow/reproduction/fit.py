"""Fit of a paper's open choices to the printed numbers of its baselines; no run has the paper's own scheme."""

import itertools
import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shortflow.errors import ConfigError
from shortflow.lab.figure import Figure
from shortflow.lab.quantity import Printed
from shortflow.lab.study import Scale, Value
from shortflow.papers import choices, stand_ins
from shortflow.reproduction.engine import Chosen, Planned, runs_of
from shortflow.reproduction.tried import together
from shortflow.result import Result
from shortflow.runner import Wanted

MOVES = 0.02
"""Relative change of a number by which a value is a mover."""
AT_ONCE = 3
"""Most choices that are tried together."""
MOVERS = 6
"""Most choices of which all combinations are tried."""


@dataclass(frozen=True)
class SetUp:
    """Values of choices, and the baselines' numbers with them."""

    values: Chosen
    ours: Mapping[str, float]
    """Our numbers by claim and quantity."""
    off: float
    """Largest factor between ours and the printed number, over all numbers."""

    @property
    def text(self) -> str:
        """The choices as text."""
        return together(self.values) or "as taken"


Number = tuple[str, Printed, Figure]
"""A claim's printed number of baselines, and the figure with the number's runs alone."""


def fit(
    figures: Sequence[Figure], scale: Scale, tell: Callable[[str], object]
) -> Generator[Wanted, list[Result], list[SetUp]]:
    """Set-ups from the nearest on: each value alone, then combinations of the choices that move a number."""
    numbers = [number for figure in figures for number in _numbers(figure)]
    if not numbers or len({figure.paper for figure in figures}) > 1:
        raise ConfigError("--fit: needs figures of one paper, with printed numbers of its baselines")
    of_paper = choices(figures[0].paper)
    singles = [{name: value} for name, choice in of_paper.items() for value in choice.others]
    found = yield from _measured(numbers, scale, [{}, *singles], tell)
    base, reach = found[0].ours, dict.fromkeys(of_paper, 0.0)
    for each in found[1:]:
        (name,) = each.values
        reach[name] = max(reach[name], *(abs(each.ours[key] / value - 1) for key, value in base.items()))
    movers = sorted((name for name in reach if reach[name] > MOVES), key=reach.__getitem__, reverse=True)[:MOVERS]
    tell(f"{len(movers)} choices move a number: {', '.join(movers)}")
    several = [
        dict(zip(names, values, strict=True))
        for count in range(2, AT_ONCE + 1)
        for names in itertools.combinations(movers, count)
        for values in itertools.product(*(of_paper[name].others for name in names))
    ]
    found += yield from _measured(numbers, scale, several, tell)
    return sorted(found, key=lambda each: each.off)


def _numbers(figure: Figure) -> Iterator[Number]:
    own = stand_ins(figure.paper)
    for claim in figure.claims:
        for printed in claim.printed:
            if not printed.is_limit and printed.of.schemes and own.keys().isdisjoint(printed.of.schemes):
                (name,) = (each or next(iter(figure.studies)) for each in printed.of.studies)
                study = figure.studies[name]
                over, quick = _at(printed, study.over), _at(printed, study.quick)
                alone = {name: replace(study, over=over, quick=quick)}
                yield claim.id, printed, replace(figure, studies=alone, claims=[], draws=[])


def _at(printed: Printed, grid: Mapping[str, Sequence[Value]]) -> dict[str, Sequence[Value]]:
    """The points of a grid that a printed number is about."""
    where = {key: at if isinstance(at, tuple) else (at,) for key, at in printed.of.where.items()}
    return {**grid, **{key: [each for each in grid[key] if each in where[key]] for key in where if key in grid}}


def _planned(number: Number, scale: Scale, values: Chosen) -> Planned:
    """Runs of the number's baselines."""
    _, printed, figure = number
    planned = runs_of(figure, scale, values)
    ((name, points),) = planned.runs.items()
    alone = {at: [run for run in runs if run.scheme.name in printed.of.schemes] for at, runs in points.items()}
    return replace(planned, runs={name: alone})


def _measured(
    numbers: Sequence[Number], scale: Scale, setups: Sequence[Chosen], tell: Callable[[str], object]
) -> Generator[Wanted, list[Result], list[SetUp]]:
    plans = [[_planned(number, scale, values) for number in numbers] for values in setups]
    runs = {run.key: run for of_setup in plans for each in of_setup for run in each.all_runs}
    tell(f"{len(setups)} set-ups, {len(runs)} runs")
    done = yield Wanted(list(runs.values()))
    results = {result.key: result for result in done}
    return [_set_up(values, numbers, each, results) for values, each in zip(setups, plans, strict=True)]


def _set_up(
    values: Chosen, numbers: Sequence[Number], plans: Sequence[Planned], results: Mapping[str, Result]
) -> SetUp:
    ours, off = {}, 1.0
    for (claim, printed, _), each in zip(numbers, plans, strict=True):
        for point, found in printed.of.points(each.data(results)).items():
            ours[f"{claim}: {printed.name} {point}".strip()] = found.value
            near = min(max(found.value, printed.low), printed.high)
            off = max(off, found.value / near, near / found.value if found.value else math.inf)
    return SetUp(values, ours, off)
