"""A sweep as the report shows it and as other programs read it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shortflow.comparison import Comparison
from shortflow.metrics.catalogue import MEAN_FCT, Metric
from shortflow.report.drawing import Drawn, drawn
from shortflow.report.sweep.plots import plots
from shortflow.report.sweep.runs import Place, Swept
from shortflow.report.tables import NOTHING, Column, Section, common_scales, percent, shown
from shortflow.scenario import Setting

_CHOSEN = ("transport.", "queue.", "host_queue.", "priority.", "switch.", "host.", "tcp.", "routing.")
"""Keys of these tables leave the flows as they are."""
_ANY = "any"
"""In place of a value that makes no difference."""


@dataclass(frozen=True)
class SweepView:
    """A sweep as the template shows it."""

    sweep: Swept
    keys: str
    runs: int
    answer: str
    """Which scheme is best at which point, and by how much, in words; empty where that is open."""
    best: Section
    plots: Sequence[Drawn]
    choices: Sequence[tuple[str, Sequence[Setting]]]
    """Every value that the first run of each scheme used, under a heading for whom it belongs to."""


def view(sweep: Swept) -> SweepView:
    """What the page shows of a sweep."""
    comparisons = [of for places in sweep.runs.values() for of in places.values()]
    first = {scheme: next(iter(places.values())).runs[0].origin for scheme, places in sweep.runs.items()}
    origins = {scheme: origin for scheme, origin in first.items() if origin}
    scenario = next(iter(origins.values()))["scenario_settings"]
    of_schemes = [(f"Scheme {scheme}", origin["scheme_settings"]) for scheme, origin in origins.items()]
    return SweepView(
        sweep,
        ", ".join(key.label for key in sweep.keys),
        sum(len(each.runs) for each in comparisons),
        _answer(sweep),
        best_section(sweep),
        [drawn(plot) for plot in plots(sweep)],
        [("Scenario", scenario), *(each for each in of_schemes if each[1])],
    )


def table(sweep: Swept) -> dict[str, Any]:
    """A sweep's plots and points as plain data."""
    return {
        "name": sweep.name,
        "title": sweep.title,
        "keys": [key.name for key in sweep.keys],
        "plots": list(plots(sweep)),
        "points": [
            {
                "scheme": scheme,
                "at": dict(zip(_names(sweep, scheme), place, strict=True)),
                "metrics": comparison.document()["schemes"][scheme]["metrics"],
            }
            for scheme, places in sweep.runs.items()
            for place, comparison in places.items()
        ],
    }


def _answer(sweep: Swept) -> str:
    """The best point of all, and beside it those of the other schemes, paired by seed; nothing where flows vary too."""
    metric = _objective(sweep)
    names = [name for key in sweep.keys for name in (key.name, *key.in_step)]
    if metric is None or not all(name.startswith(_CHOSEN) for name in names):
        return ""
    found = {scheme: _least(sweep, scheme) for scheme in sweep.schemes}
    estimates = {scheme: each.estimate(scheme, metric.name) for scheme, (_, each) in found.items()}
    exact = {scheme: each for scheme, each in estimates.items() if each and not each.lower_bound}
    if not exact or len(sweep.points) * len(sweep.schemes) < 2:
        return ""
    first = min(exact, key=lambda scheme: exact[scheme].value)
    scale = common_scales({metric: [exact[first]]})[metric.unit]
    values = _values(sweep, first, found[first][0])
    at = ", ".join(f"{sweep.keys[number].label} = {value}" for number, value in values.items() if value != _ANY)
    where = f"{first} with {at}" if at else first
    best = f"The least {metric.name} has {where}: {shown(exact[first], scale.divisor)} {scale.unit}."
    others = []
    for scheme in sweep.schemes:
        runs = [*found[first][1].runs, *found[scheme][1].runs]
        difference = Comparison(sweep.name, sweep.title, {}, runs).relation(scheme, first, metric.name)
        if scheme != first and difference:
            others.append(f"{scheme} {percent(difference)} %")
    if not others:
        return best
    return f"{best} Beside it the others, each at its own best point and on the same flows: {', '.join(others)}."


def best_section(sweep: Swept) -> Section:
    """Of each scheme the point with the least mean completion time that is no bound, or its only point."""
    rows = [(scheme, *_least(sweep, scheme)) for scheme in sweep.schemes]
    values = [_values(sweep, scheme, place) for scheme, place, _ in rows]
    lead = [Column("scheme", [scheme for scheme, *_ in rows])]
    lead += [Column(key.label, [of.get(number, NOTHING) for of in values]) for number, key in enumerate(sweep.keys)]
    found = {metric: [each.estimate(scheme, metric.name) for scheme, _, each in rows] for metric in sweep.metrics}
    scales = common_scales(found)
    columns = [
        Column(
            f"{metric.name}\n({scales[metric.unit].unit})" if scales[metric.unit].unit else metric.name,
            [shown(each, scales[metric.unit].divisor) for each in found[metric]],
        )
        for metric in sweep.metrics
    ]
    objective = _objective(sweep)
    chosen = len(sweep.points) > 1
    note = f", chosen among {len(sweep.points):,} points on their own seeds: with fresh ones it is likely more" * chosen
    what = f"the point with the least {objective.name}{note}" if objective else "its first point"
    return Section(f"Of each scheme {what}", lead, columns)


def _least(sweep: Swept, scheme: str) -> tuple[Place, Comparison]:
    metric = _objective(sweep)

    def rank(at: tuple[Place, Comparison]) -> tuple[bool, float]:
        found = at[1].estimate(scheme, metric.name) if metric else None
        return (found is None or found.lower_bound, found.value if found else 0.0)

    return min(sweep.runs[scheme].items(), key=rank)


def _objective(sweep: Swept) -> Metric | None:
    """The mean completion time of the first class that has one."""
    return next((metric for metric in sweep.metrics if metric.statistic is MEAN_FCT), None)


def _values(sweep: Swept, scheme: str, place: Place) -> dict[int, str]:
    """The values of a scheme's own keys at a place, by the key's number; of one that changes nothing, `_ANY`."""
    values = {}
    for i, (number, value) in enumerate(zip(sweep.own[scheme], place, strict=True)):
        along = [of for at, of in sweep.runs[scheme].items() if at[:i] + at[i + 1 :] == place[:i] + place[i + 1 :]]
        found = {tuple(of.estimate(scheme, metric.name) for metric in sweep.metrics) for of in along}
        values[number] = _ANY if len(along) > len(found) == 1 else value
    return values


def _names(sweep: Swept, scheme: str) -> list[str]:
    return [sweep.keys[place].name for place in sweep.own[scheme]]
