"""Possible best schemes of each place, as an answer names them, with one correction over all places."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from shortflow.api.judge import AnswerLine, Order, confirmed, line_of, on_common_seeds
from shortflow.api.metrics import CLASS_DEADLINE_MISS, DISTANCE, FCT, FLOW_GOODPUT, MEAN_FCT, UNFINISHED_SHARE, Metric
from shortflow.api.runs import Results


@dataclass(frozen=True)
class Criterion:
    """A metric by which schemes are compared."""

    about: Metric
    name: str
    """Table header."""

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.about.name


AFCT = Criterion(Metric(MEAN_FCT, "short"), "mean FCT, short")
P99 = Criterion(Metric(FCT[99], "short"), "p99 FCT, short")
MISSES = Criterion(Metric(CLASS_DEADLINE_MISS, "short"), "deadlines missed")
GOODPUT = Criterion(Metric(FLOW_GOODPUT, "long"), "goodput, long")
OVER_IDEAL = Criterion(Metric(DISTANCE, "short"), "mean FCT over ideal")
"""Distance from ideal SRPT on the same flows."""

CRITERIA = (AFCT, P99, MISSES, GOODPUT)
"""Criteria with winners. Distance from ideal is not one of them, because its winners are those of mean FCT."""


SOLE = "alone"
"""One scheme is better than every other."""
TIE = "tie"
"""Several schemes are the best and count as equal."""
SEVERAL = "not told apart"
"""Several schemes may be the best; others are worse."""
UNDECIDED = "undecided"
"""Every scheme may be the best, or the sole one fails the correction for many cells."""


@dataclass(frozen=True)
class Cell:
    """Comparison of all schemes by a criterion at a place."""

    criterion: Criterion
    line: AnswerLine
    """Order of the schemes, without the correction."""
    confirmed: bool
    """True if the place has a winner that stays one among all cells."""
    unfinished: Sequence[str]
    """Schemes with unfinished flows, so times are lower bounds."""

    @property
    def best(self) -> list[str]:
        """Schemes that may be the best, in the order of their means."""
        return self.line.leaders

    @property
    def has_worse(self) -> bool:
        """True if some scheme is not among the best."""
        return len(self.best) < len(self.line.standings)

    @property
    def outcome(self) -> str:
        """Outcome in words."""
        if self.line.outcome is Order.WINNER:
            return SOLE if self.confirmed else UNDECIDED
        if self.line.outcome is Order.TIE:
            return TIE
        return SEVERAL if self.has_worse else UNDECIDED

    def wins(self, scheme: str) -> bool:
        """True if a scheme is among the best, and others are not."""
        return self.outcome != UNDECIDED and self.has_worse and scheme in self.best


def judge_cells(comparisons: Sequence[Results]) -> list[dict[Criterion, Cell]]:
    """Cells of each comparison by criterion.

    Each is decided as an answer is. A sole win is claimed only if it holds over all cells of all comparisons, at a
    false discovery rate.
    """
    points = [*map(on_common_seeds, comparisons)]
    lines = {
        (place, each): line
        for place, point in enumerate(points)
        for each in CRITERIA
        if (line := line_of(point, each.about))
    }
    sole = confirmed({(place, each): functools.partial(_order, points[place], each) for place, each in lines})
    found: list[dict[Criterion, Cell]] = [{} for _ in points]
    for (place, each), line in lines.items():
        found[place][each] = Cell(each, line, (place, each) in sole, _unfinished(points[place], each))
    return found


def _order(point: Results, criterion: Criterion, among: float) -> Order:
    line = line_of(point, criterion.about, among=among)
    return line.outcome if line else Order.ALONE


def _unfinished(point: Results, criterion: Criterion) -> list[str]:
    """Schemes that left flows of the criterion's class unfinished at some seed."""
    share = Metric(UNFINISHED_SHARE, criterion.about.flow_class).name
    return [scheme for scheme in point.schemes if any(point.values(scheme, share).values())]
