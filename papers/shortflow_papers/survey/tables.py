"""Tables of the survey: wins by scheme, winners by place, and all numbers of a workload."""

import textwrap
from collections.abc import Callable, Sequence

import numpy as np

from shortflow import Estimate
from shortflow.api.numbers import scale_for
from shortflow.api.pages import NOTHING, Column, Section, number, shown
from shortflow.api.scenarios import Scheme, registry
from shortflow_papers.survey.engine import Survey, SurveyPlace, View
from shortflow_papers.survey.schemes import IN_SWITCHES, NEEDS, SCHEMES
from shortflow_papers.survey.winners import CRITERIA, OVER_IDEAL, SEVERAL, SOLE, TIE, UNDECIDED, Cell, Criterion

HEADER = 14
"""Maximum width of a line of a header, in characters."""
ALONE = "**"
CLOSE = "*"
DAGGER = "†"


def wins_section(found: Survey) -> Section:
    """Cells in which each scheme is the best, by outcome; distance from ideal, by initial alpha."""
    columns = []
    for criterion in CRITERIA:
        for view in found.views:
            cells = cells_of(view, criterion)
            header = _header(criterion, view.label, f"(of {len(cells)})")
            columns.append(Column(header, ["{} + {} + {}".format(*wins(cells, scheme)) for scheme in SCHEMES]))
    for view in found.views:
        far = [[d for at in view.places.values() if (d := at.mean(scheme, OVER_IDEAL.metric))] for scheme in SCHEMES]
        for name, summary in (("median", np.median), ("worst", np.max)):
            header = "\n".join([name, "over ideal", view.label])
            columns.append(Column(header, [_summary(summary, each) for each in far]))
    return Section(
        "Cells in which a scheme is the best: alone + tied with others + not told apart from others",
        [Column("scheme", list(SCHEMES))],
        columns,
    )


def matrix(view: View, *, narrow: bool = False) -> Section:
    """Table of the schemes that may be the best, by workload, level and criterion.

    If `narrow`, a cell names the scheme with the best mean, and counts the others.
    """
    lead = Column("", [place.name for place in view.places])
    columns = [
        Column(_header(criterion), [_cell(view.cells[place].get(criterion), narrow) for place in view.places])
        for criterion in CRITERIA
    ]
    best = [_least_distance(view, place) for place in view.places]
    columns.append(Column("best\nover\nideal", [NOTHING if value is None else number(value) for value in best]))
    legend = (
        f" ({ALONE}: alone the best, =3: tied with three more, +3: three more are not told apart from it, ?: undecided)"
        if narrow
        else ""
    )
    return Section(f"Winners, {view.label}{legend}", [lead], columns)


def workload_section(view: View, name: str) -> Section:
    """Means of a workload, marked for sole winners, other schemes that may be the best, and unfinished flows."""
    places = [place for place in view.places if place.workload.name == name]
    rows = [(place, scheme) for place in places for scheme in SCHEMES]
    firsts = [place.label if scheme == SCHEMES[0] else "" for place, scheme in rows]
    lead = [Column("", firsts), Column("scheme", [scheme for _, scheme in rows])]
    columns = [_column(view, rows, criterion) for criterion in (*CRITERIA, OVER_IDEAL)]
    return Section(f"{places[0].workload.title}, {view.label}", lead, columns)


def participants() -> Section:
    """Table of the schemes with sources, the information about flows that they need, and parameters."""
    known = {entry["name"]: entry for entry in registry()["schemes"]}
    values = [", ".join(f"{key}={value}" for key, value, _ in Scheme.parse(s, []).resolved()) for s in SCHEMES]
    columns = [
        Column("source", [known[scheme]["source"] for scheme in SCHEMES]),
        Column("needs to know", [NEEDS.get(scheme, "nothing") for scheme in SCHEMES]),
        Column("switches", ["choose" if scheme in IN_SWITCHES else "in order" for scheme in SCHEMES]),
        Column("parameters", values),
    ]
    return Section("Schemes", [Column("scheme", list(SCHEMES))], columns)


def cells_of(view: View, criterion: Criterion) -> dict[SurveyPlace, Cell]:
    """Cells of a criterion, by place. Places without the criterion are left out."""
    return {place: cells[criterion] for place, cells in view.cells.items() if criterion in cells}


def wins(cells: dict[SurveyPlace, Cell], scheme: str) -> tuple[int, int, int]:
    """Number of cells in which a scheme is the best alone, ties for the best, and is not told apart from the best."""
    outcomes = [cell.outcome for cell in cells.values() if cell.wins(scheme)]
    return outcomes.count(SOLE), outcomes.count(TIE), outcomes.count(SEVERAL)


def _column(view: View, rows: Sequence[tuple[SurveyPlace, str]], criterion: Criterion) -> Column:
    estimates = [view.places[place].mean(scheme, criterion.metric) for place, scheme in rows]
    scale = scale_for(criterion.about.unit, [each.value for each in estimates if each])
    cells = []
    for each, (place, scheme) in zip(estimates, rows, strict=True):
        cell, mark = view.cells[place].get(criterion), ""
        # With unfinished flows the time is only a lower bound, which the reader must know before the rank.
        if cell and scheme in cell.unfinished:
            mark = f" {DAGGER}"
        elif cell and cell.wins(scheme):
            mark = f" {ALONE if cell.outcome == SOLE else CLOSE}"
        cells.append(shown(each, scale.divisor) + mark)
    return Column(_header(criterion, f"({scale.unit})"), cells)


def _header(criterion: Criterion, *below: str) -> str:
    return "\n".join([*textwrap.wrap(criterion.name, HEADER), *below])


def _cell(cell: Cell | None, narrow: bool) -> str:
    if cell is None:
        return NOTHING
    best, outcome = cell.best, cell.outcome
    if outcome == UNDECIDED:
        return "?" if narrow else f"undecided: {', '.join(best) if len(best) == 1 else len(best)}"
    if outcome == SOLE:
        return f"{best[0]} {ALONE}"
    if outcome == TIE and not cell.has_worse:
        return "all tie"
    if narrow:
        return f"{best[0]} {'=' if outcome == TIE else '+'}{len(best) - 1}"
    return f"{'tie: ' if outcome == TIE else ''}{', '.join(best)}"


def _least_distance(view: View, place: SurveyPlace) -> float | None:
    """Smallest distance from ideal among schemes that finished their flows; None if there is no such scheme."""
    estimates = (view.places[place].mean(scheme, OVER_IDEAL.metric) for scheme in SCHEMES)
    return min((each.value for each in estimates if each and not each.lower_bound), default=None)


def _summary(summary: Callable[[list[float]], float], distances: Sequence[Estimate]) -> str:
    """Text of a summary of distances, such as their median. It is a lower bound if any distance is one."""
    bound = "≥ " if any(each.lower_bound for each in distances) else ""
    return bound + number(float(summary([each.value for each in distances]))) if distances else NOTHING
