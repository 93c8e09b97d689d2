"""Fit of a paper's open choices to the printed numbers of its baselines. No run has the paper's own scheme."""

import csv
import io
import itertools
import math
import random
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shortflow import ConfigError
from shortflow.api.runs import Result, Wanted
from shortflow_papers.lab.figure import Figure
from shortflow_papers.lab.quantity import PrintedNumber
from shortflow_papers.lab.study import Scale, Value
from shortflow_papers.papers import choices, stand_ins
from shortflow_papers.reproduction.engine import Chosen, Planned, runs_of
from shortflow_papers.reproduction.tried import together

DRAWN = 4
"""Number of drawn set-ups in which each choice is tried for an effect on a number."""
FAR = 1.25
"""Factor between our number and the printed one above which a set-up is dropped."""
BATCH = 40
"""Number of combinations whose runs are done in one batch."""


@dataclass(frozen=True)
class SetUp:
    """Values of choices, and the baselines' numbers under these values."""

    values: Chosen
    ours: Mapping[str, float]
    """Our numbers by claim and quantity."""
    off: float
    """Largest factor between our and the printed value of a number."""

    @property
    def text(self) -> str:
        """Values of the choices as text."""
        return together(self.values)


def in_rows(found: Sequence[SetUp]) -> str:
    """Set-ups as text in CSV, with one set-up per line."""
    numbers = [*found[0].ours] if found else []
    rows = [["choices", "largest factor", *numbers]]
    rows += [[each.text, f"{each.off:.4g}", *(f"{each.ours[name]:.4g}" for name in numbers)] for each in found]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


BaselineNumber = tuple[str, PrintedNumber, Figure]
"""Id of a claim, a printed number of its baselines, and the figure reduced to the runs of this number."""
ChoiceValues = tuple[tuple[str, str], ...]
"""Pairs of choice and value, in the order of the paper's choices."""


def fit(
    figures: Sequence[Figure], scale: Scale, tell: Callable[[str], object]
) -> Generator[Wanted, list[Result], list[SetUp]]:
    """Set-ups near the printed numbers of the baselines, the nearest first. `tell` reports progress.

    Only choices that move a number are combined. A choice moves a number if one of its values changes the digest of the
    number's first run in one of `DRAWN` set-ups, which are drawn with a fixed seed. Number by number, the set-ups whose
    first seed is off by more than `FAR` are dropped. The remaining set-ups are measured with all seeds. Raises
    `ConfigError` for figures of several papers, or without printed numbers of baselines.
    """
    numbers = [number for figure in figures for number in _numbers(figure)]
    if not numbers or len({figure.paper for figure in figures}) > 1:
        raise ConfigError("--fit: needs figures of one paper, with printed numbers of its baselines")
    of_paper = choices(figures[0].paper)
    draw = random.Random(1)
    drawn = [{name: draw.choice([*choice.values]) for name, choice in of_paper.items()} for _ in range(DRAWN)]
    movers: list[list[str]] = []
    for number in numbers:
        movers.append([])
        for name, choice in of_paper.items():
            tried = [[{**each, name: value} for value in choice.values] for each in drawn]
            if (yield from _moves(number, scale, tried)):
                movers[-1].append(name)
        tell(f"{_name(number)}: moved by {', '.join(movers[-1])}")
    names = [name for name in of_paper if any(name in of_number for of_number in movers)]
    every = itertools.product(*(of_paper[name].values for name in names))
    left: list[ChoiceValues] = [tuple(zip(names, values, strict=True)) for values in every]
    tell(f"{len(left)} set-ups")
    for number, of_number in zip(numbers, movers, strict=True):
        first = yield from _measured(number, scale, {_part(values, of_number): None for values in left}, tell, 1)
        near = {part for part, ours in first.items() if _off(number, ours) <= FAR}
        left = [values for values in left if _part(values, of_number) in near]
        tell(f"{_name(number)}: {len(left)} set-ups are left")
    found = [SetUp(dict(values), {}, 1.0) for values in left]
    for number, of_number in zip(numbers, movers, strict=True):
        every_seed = yield from _measured(number, scale, {_part(values, of_number): None for values in left}, tell)
        for place, values in enumerate(left):
            ours, each = every_seed[_part(values, of_number)], found[place]
            named = {f"{_name(number)} {point}".strip(): value for point, value in ours.items()}
            found[place] = SetUp(each.values, {**each.ours, **named}, max(each.off, _off(number, ours)))
    return sorted(found, key=lambda each: each.off)


def _name(number: BaselineNumber) -> str:
    return f"{number[0]}: {number[1].name}"


def _numbers(figure: Figure) -> Iterator[BaselineNumber]:
    own = stand_ins(figure.paper)
    for claim in figure.claims:
        for printed in claim.printed:
            if not printed.is_limit and printed.of.schemes and own.keys().isdisjoint(printed.of.schemes):
                (name,) = (each or next(iter(figure.studies)) for each in printed.of.studies)
                study = figure.studies[name]
                over, quick = _at(printed, study.over), _at(printed, study.quick)
                alone = {name: replace(study, over=over, quick=quick)}
                yield claim.id, printed, replace(figure, studies=alone, claims=[], draws=[])


def _at(printed: PrintedNumber, grid: Mapping[str, Sequence[Value]]) -> dict[str, Sequence[Value]]:
    """The grid reduced to the points that a printed number is about."""
    where = {key: at if isinstance(at, tuple) else (at,) for key, at in printed.of.where.items()}
    return {**grid, **{key: [each for each in grid[key] if each in where[key]] for key in where if key in grid}}


def _planned(number: BaselineNumber, scale: Scale, values: Chosen, seeds: int | None = None) -> Planned:
    """Planned runs of the number's baselines, with the first `seeds` seeds (default: all)."""
    _, printed, figure = number
    planned = runs_of(figure, scale, values)
    ((name, points),) = planned.runs.items()
    most = seeds or max(figure.studies[name].seed_range(scale))
    alone = {
        at: [run for run in runs if run.scheme.name in printed.of.schemes and run.seed <= most]
        for at, runs in points.items()
    }
    return replace(planned, runs={name: alone})


def _part(values: ChoiceValues, names: Sequence[str]) -> ChoiceValues:
    return tuple(each for each in values if each[0] in names)


def _off(number: BaselineNumber, ours: Mapping[str, float]) -> float:
    """Largest factor between one of our values and the printed number or range."""
    off = 1.0
    for value in ours.values():
        near = min(max(value, number[1].low), number[1].high)
        off = max(off, value / near, near / value if value else math.inf)
    return off


def _moves(
    number: BaselineNumber, scale: Scale, tried: Sequence[Sequence[Chosen]]
) -> Generator[Wanted, list[Result], bool]:
    """True if the choice moves the number. Each list in `tried` has set-ups that differ in this choice alone.

    The choice moves the number if first runs of set-ups in the same list have different digests.
    """
    plans = [[_planned(number, scale, values).all_runs[0] for values in alike] for alike in tried]
    done = yield Wanted([run for alike in plans for run in alike])
    digests = {result.key: result.provenance["digest"] for result in done}
    return any(len({digests[run.key] for run in alike}) > 1 for alike in plans)


def _measured(
    number: BaselineNumber,
    scale: Scale,
    combinations: Iterable[ChoiceValues],
    tell: Callable[[str], object],
    seeds: int | None = None,
) -> Generator[Wanted, list[Result], dict[ChoiceValues, dict[str, float]]]:
    """The number at each of its points, by combination, over the first `seeds` seeds (default: all)."""
    found: dict[ChoiceValues, dict[str, float]] = {}
    every = [*combinations]
    for start in range(0, len(every), BATCH):
        plans = {values: _planned(number, scale, dict(values), seeds) for values in every[start : start + BATCH]}
        done = yield Wanted([run for plan in plans.values() for run in plan.all_runs])
        results = {result.key: result for result in done}
        for values, plan in plans.items():
            points = number[1].of.points(plan.data(results))
            found[values] = {point: estimate.value for point, estimate in points.items()}
        tell(f"{_name(number)}: {len(found)} of {len(every)} combinations")
    return found
