"""The survey as tables: who wins how often, who wins where, and all numbers of a workload."""

import textwrap
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from shortflow import _core
from shortflow.metrics import describe
from shortflow.quantities import scale_for
from shortflow.stats import Estimate
from shortflow.survey.engine import Place, Survey
from shortflow.survey.schemes import IN_SWITCHES, SCHEMES, TOLD
from shortflow.survey.winners import CRITERIA, DISTANCE, Criterion, Winners, complete, winners
from shortflow.tables import NOTHING, Column, Section, number

HEADER = 14
"""Headers are wrapped here."""
WINS = "*"
UNFINISHED = "†"
"""Some flows were not done at the end, so that the number leaves out the slowest."""


def standings(found: Survey) -> Section:
    """How often each scheme wins, and how far from ideal it stays."""
    won = {criterion: [_names(winners(each, criterion)) for each in found.places.values()] for criterion in CRITERIA}
    columns = [
        Column(_header(criterion, f"of {sum(map(bool, won[criterion]))}"), [_won(won[criterion], s) for s in SCHEMES])
        for criterion in CRITERIA
    ]
    far = {scheme: _distances(found, scheme) for scheme in SCHEMES}
    columns.append(Column("median\nover ideal", [number(float(np.median(far[scheme]))) for scheme in SCHEMES]))
    columns.append(Column("worst\nover ideal", [number(max(far[scheme])) for scheme in SCHEMES]))
    return Section("Who wins how often (alone + tied)", [Column("scheme", list(SCHEMES))], columns)


def matrix(found: Survey, *, narrow: bool = False) -> Section:
    """Who wins where: the best scheme and those that tie with it, for each workload, level and criterion.

    Narrow cells name the best one and count the others.
    """
    lead = Column("", [f"{place.workload.name} {place.label}" for place in found.places])
    columns = []
    for criterion in CRITERIA:
        won = [winners(comparison, criterion) for comparison in found.places.values()]
        columns.append(Column(_header(criterion), [_cell(each, narrow) for each in won]))
    best = [min(_means(found, place, DISTANCE), default=None) for place in found.places]
    columns.append(Column("best\nover\nideal", [NOTHING if value is None else number(value) for value in best]))
    ties = " (+3: three more tie with the best)" if narrow else ""
    return Section(f"Who wins where{ties}", [lead], columns)


def numbers(found: Survey, name: str) -> Section:
    """All means of a workload, with a star where a scheme wins."""
    places = [place for place in found.places if place.workload.name == name]
    rows = [(place, scheme) for place in places for scheme in SCHEMES]
    firsts = [place.label if scheme == SCHEMES[0] else "" for place, scheme in rows]
    lead = [Column("", firsts), Column("scheme", [scheme for _, scheme in rows])]
    columns = [_column(found, rows, criterion) for criterion in (*CRITERIA, DISTANCE)]
    return Section(places[0].workload.title, lead, columns)


def participants() -> Section:
    """The schemes, what they are told, and the parameters that they run with."""
    registry = {entry["name"]: entry for entry in _core.registry()["schemes"]}
    values = [", ".join(f"{key}={value}" for key, value, _ in _core.Scheme.parse(s, []).resolved()) for s in SCHEMES]
    columns = [
        Column("source", [registry[scheme]["source"] for scheme in SCHEMES]),
        Column("is told", [TOLD.get(scheme, "nothing") for scheme in SCHEMES]),
        Column("switches", ["choose" if scheme in IN_SWITCHES else "in order" for scheme in SCHEMES]),
        Column("parameters", values),
    ]
    return Section("Schemes", [Column("scheme", list(SCHEMES))], columns)


def _column(found: Survey, rows: Sequence[tuple[Place, str]], criterion: Criterion) -> Column:
    estimates = [found.places[place].estimate(scheme, criterion.metric) for place, scheme in rows]
    unit = describe(criterion.metric).unit
    scale = scale_for(unit, [each.value for each in estimates if each])
    won = {place: _names(winners(found.places[place], criterion)) for place, _ in groupby(rows, lambda row: row[0])}
    cells = []
    for each, (place, scheme) in zip(estimates, rows, strict=True):
        star = f" {WINS}" if criterion in CRITERIA and scheme in won[place] else ""
        dagger = "" if complete(found.places[place], scheme, criterion) else f" {UNFINISHED}"
        cells.append(_number(each, scale.divisor) + star + dagger)
    return Column(_header(criterion, scale.unit), cells)


def _number(found: Estimate | None, divisor: float) -> str:
    if found is None:
        return NOTHING
    return number(found.value / divisor, None if found.half_width is None else found.half_width / divisor)


def _header(criterion: Criterion, unit: str = "") -> str:
    return "\n".join([*textwrap.wrap(criterion.name, HEADER), *([f"({unit})"] if unit else [])])


def _won(won: Sequence[Sequence[str]], scheme: str) -> str:
    """How often a scheme wins alone, and how often with others."""
    alone = sum(names == [scheme] for names in won)
    return f"{alone} + {sum(scheme in names for names in won) - alone}"


def _names(found: Winners | None) -> list[str]:
    return list(found.names) if found else []


def _cell(found: Winners | None, narrow: bool) -> str:
    if found is None:
        return NOTHING
    if found.all_alike:
        return "all alike"
    if narrow and len(found.names) > 1:
        return f"{found.names[0]} +{len(found.names) - 1}"
    return ", ".join(found.names)


def _means(found: Survey, place: Place, criterion: Criterion) -> list[float]:
    estimates = (found.places[place].estimate(scheme, criterion.metric) for scheme in SCHEMES)
    return [each.value for each in estimates if each]


def _distances(found: Survey, scheme: str) -> list[float]:
    estimates = (comparison.estimate(scheme, DISTANCE.metric) for comparison in found.places.values())
    return [each.value for each in estimates if each]
