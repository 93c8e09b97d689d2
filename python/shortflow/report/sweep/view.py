"""A sweep for the report, and as plain data."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shortflow.metrics.catalogue import MEAN_FCT, Metric
from shortflow.report.blocks import Block, Column, Legend, Part, Section, Words
from shortflow.report.sweep.plots import plots
from shortflow.report.sweep.runs import Place, Swept
from shortflow.report.tables import choices, common_scales
from shortflow.report.wording import NOTHING, percent, shown
from shortflow.results import Results

_ANY = "any"
"""Placeholder for a value without effect."""


def sweep_part(sweep: Swept) -> Part:
    """The best point, charts, and choices of a sweep, for the page."""
    comparisons = [of for places in sweep.runs.values() for of in places.values()]
    keys, runs = ", ".join(key.label for key in sweep.keys), sum(len(each.runs) for each in comparisons)
    note = f"Scenario `{sweep.name}`, {runs} runs without tables of flows: `sweep --tables` keeps these."
    first = [next(iter(places.values())).runs[0] for places in sweep.runs.values()]
    text = "Choices: every value of each scheme's first run, and where it came from; what varies does so from there"
    blocks: list[Block] = [Words(f"{note} All numbers are in `runs.parquet`.", "note")]
    blocks += [Words(told, "answer")] if (told := _answer(sweep)) else []
    blocks += [Legend(sweep.schemes), *plots(sweep), best_section(sweep), Part(text, choices(first), folded=True)]
    return Part(f"{sweep.title}{f', over {keys}' if keys else ''}", blocks)


def table(sweep: Swept) -> dict[str, Any]:
    """Plots and points of a sweep as plain data."""
    return {
        "name": sweep.name,
        "title": sweep.title,
        "keys": [key.name for key in sweep.keys],
        "plots": [plot.document for plot in plots(sweep)],
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
    """Best point overall, with the other schemes' best, paired by seed; or the reason why none exists."""
    metric = _objective(sweep)
    if metric is None or len(sweep.points) * len(sweep.schemes) < 2:
        return ""
    if sweep.flow_keys:
        names = " and ".join(sweep.keys[place].label for place in sweep.flow_keys)
        best = f"No point is the best of all by {metric.name}"
        return f"{best}: {names} changes the flows themselves, so compare where it is the same."
    found = {scheme: _least(sweep, scheme) for scheme in sweep.schemes}
    estimates = {scheme: each.mean(scheme, metric.name) for scheme, (_, each) in found.items()}
    exact = {scheme: each for scheme, each in estimates.items() if each and not each.lower_bound}
    if not exact:
        return f"No point is the best: flows did not finish, so that every {metric.name} is a lower bound."
    first = min(exact, key=lambda scheme: exact[scheme].value)
    scale = common_scales({metric: [exact[first]]})[metric.unit]
    values = _values(sweep, first, found[first][0])
    at = ", ".join(f"{sweep.keys[number].label} = {value}" for number, value in values.items() if value != _ANY)
    where = f"{first} with {at}" if at else first
    seeds = f"{exact[first].n} seeds" if exact[first].n > 1 else "one seed"
    best = f"The least {metric.name} has {where}: {shown(exact[first], scale.divisor, scale.unit)} with {seeds}."
    return f"{best}{_beside(sweep, metric, first, found)}{_unlike_seeds(sweep)}"


def _unlike_seeds(sweep: Swept) -> str:
    """Note for points with different seeds, as in unfinished sweeps or with added seeds."""
    seeds = {tuple(of.seeds) for places in sweep.runs.values() for of in places.values()}
    if len(seeds) < 2:
        return ""
    counts = sorted({len(each) for each in seeds})
    many = f"from {counts[0]} to {counts[-1]} of them" if len(counts) > 1 else f"{counts[0]} each"
    return f" Points have different seeds, {many}: the fewer, the more is chance, and means are not of the same flows."


def _beside(sweep: Swept, metric: Metric, first: str, found: Mapping[str, tuple[Place, Results]]) -> str:
    """Differences of the other schemes' best points from the best of all.

    Without interval if chosen among several points: the interval would ignore the choice.
    """
    counts = {scheme: len(sweep.runs[scheme]) for scheme in sweep.schemes}
    chosen = max(counts.values()) > 1
    others = []
    for scheme in (each for each in sweep.schemes if each != first):
        runs = [*found[first][1].runs, *found[scheme][1].runs]
        difference = Results(runs, sweep.name, sweep.title).relation(scheme, first, metric.name)
        if difference and not difference.has_sign:
            others.append(f"{scheme} open, as flows did not finish")
        elif difference:
            told = replace(difference, ci95=None if chosen else difference.ci95, lacking=0)  # reported below
            others.append(f"{scheme} {percent(told, '%')}")
    words = (
        f" Beside it the others, each at its own best point by that metric and on the same flows: {', '.join(others)}."
    )
    among = ", ".join(f"{count:,} of {scheme}" for scheme, count in counts.items())
    caution = (
        f" These were chosen on these seeds among their points ({among}): run the best ones again with fresh seeds."
    )
    return words * bool(others) + caution * chosen


def best_section(sweep: Swept) -> Section:
    """Best point of each scheme, by smallest exact mean FCT, for each set of flows."""
    rows = [
        (scheme, *_least(sweep, scheme, flows))
        for flows in dict.fromkeys(
            _flows(sweep, scheme, place) for scheme in sweep.schemes for place in sweep.runs[scheme]
        )
        for scheme in sweep.schemes
        if any(_flows(sweep, scheme, place) == flows for place in sweep.runs[scheme])
    ]
    values = [_values(sweep, scheme, place) for scheme, place, _ in rows]
    lead = [Column("scheme", [scheme for scheme, *_ in rows])]
    lead += [Column(key.label, [of.get(number, NOTHING) for of in values]) for number, key in enumerate(sweep.keys)]
    found = {metric: [each.mean(scheme, metric.name) for scheme, _, each in rows] for metric in sweep.metrics}
    scales = common_scales(found)
    columns = [
        Column(
            f"{metric.name}\n({scales[metric.unit].unit})" if scales[metric.unit].unit else metric.name,
            [shown(each, scales[metric.unit].divisor) for each in found[metric]],
        )
        for metric in sweep.metrics
    ]
    objective = _objective(sweep)
    chosen = len(sweep.points) > len({_flows(sweep, scheme, place) for scheme, place, _ in rows})
    note = f", chosen among {len(sweep.points):,} points on their own seeds: with fresh ones it is likely more" * chosen
    at = f" at each {' and '.join(sweep.keys[place].label for place in sweep.flow_keys)}" if sweep.flow_keys else ""
    what = f"the point with the least {objective.name}{at}{note}" if objective else "its first point"
    return Section(f"Of each scheme {what}", lead, columns, name=sweep.name)


def _flows(sweep: Swept, scheme: str, place: Place) -> Place:
    """Values of the keys that decide the flows of a point."""
    return tuple(value for value, key in zip(place, sweep.own[scheme], strict=True) if key in sweep.flow_keys)


def _least(sweep: Swept, scheme: str, flows: Place = ()) -> tuple[Place, Results]:
    """Best point of a scheme among those with these flows, by smallest exact mean FCT."""
    metric = _objective(sweep)

    def rank(at: tuple[Place, Results]) -> tuple[bool, float]:
        found = at[1].mean(scheme, metric.name) if metric else None
        return (found is None or found.lower_bound, found.value if found else math.inf)

    return min((at for at in sweep.runs[scheme].items() if _flows(sweep, scheme, at[0]) == flows), key=rank)


def _objective(sweep: Swept) -> Metric | None:
    """Mean FCT of the first class that has one."""
    return next((metric for metric in sweep.metrics if metric.statistic is MEAN_FCT), None)


def _values(sweep: Swept, scheme: str, place: Place) -> dict[int, str]:
    """Values of a scheme's own keys at a place, by key number; `_ANY` for keys without effect."""
    values = {}
    for i, (number, value) in enumerate(zip(sweep.own[scheme], place, strict=True)):
        if number in sweep.flow_keys:
            values[number] = value
            continue
        along = [of for at, of in sweep.runs[scheme].items() if at[:i] + at[i + 1 :] == place[:i] + place[i + 1 :]]
        found = {tuple(of.mean(scheme, metric.name) for metric in sweep.metrics) for of in along}
        values[number] = _ANY if len(along) > len(found) == 1 else value
    return values


def _names(sweep: Swept, scheme: str) -> list[str]:
    return [sweep.keys[place].name for place in sweep.own[scheme]]
