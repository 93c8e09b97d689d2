"""A sweep as the report shows it and as other programs read it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from shortflow.comparison import Comparison
from shortflow.metrics.catalogue import MEAN_FCT
from shortflow.report.drawing import draw
from shortflow.report.plot import AnyPlot
from shortflow.report.sweep.plots import plots
from shortflow.report.sweep.runs import Place, Swept
from shortflow.report.tables import NOTHING, Column, Section, common_scales, shown
from shortflow.scenario import Setting


@dataclass(frozen=True)
class SweepView:
    """A sweep as the template shows it."""

    sweep: Swept
    keys: str
    runs: int
    best: Section
    plots: Sequence[tuple[AnyPlot, go.Figure]]
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
        _best(sweep),
        [(plot, draw(plot)) for plot in plots(sweep)],
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


def _best(sweep: Swept) -> Section:
    """Of each scheme the point with the least mean completion time that is no bound, or its only point."""
    rows = [(scheme, *_least(sweep, scheme)) for scheme in sweep.schemes]
    values = [dict(zip(sweep.own[scheme], place, strict=True)) for scheme, place, _ in rows]
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
    times = [metric.name for metric in sweep.metrics if metric.statistic is MEAN_FCT]
    chosen = len(sweep.points) > 1
    note = f", chosen among {len(sweep.points):,} points on their own seeds: with fresh ones it is likely more" * chosen
    what = f"the point with the least {times[0]}{note}" if times else "its first point"
    return Section(f"Of each scheme {what}", lead, columns)


def _least(sweep: Swept, scheme: str) -> tuple[Place, Comparison]:
    metric = next((metric for metric in sweep.metrics if metric.statistic is MEAN_FCT), None)

    def rank(at: tuple[Place, Comparison]) -> tuple[bool, float]:
        found = at[1].estimate(scheme, metric.name) if metric else None
        return (found is None or found.lower_bound, found.value if found else 0.0)

    return min(sweep.runs[scheme].items(), key=rank)


def _names(sweep: Swept, scheme: str) -> list[str]:
    return [sweep.keys[place].name for place in sweep.own[scheme]]
