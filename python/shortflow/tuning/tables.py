"""Tables of a tuning: parameters, Pareto front, and comparison with other schemes."""

from collections.abc import Iterator, Sequence

from shortflow.metrics.catalogue import UNFINISHED_OF_ALL, possible
from shortflow.metrics.statistic import Metric
from shortflow.quantities import counted
from shortflow.report.blocks import Column, Section
from shortflow.report.tables import common_scales
from shortflow.report.wording import NOTHING, number, percent, shown
from shortflow.tuning.goal import Measurement
from shortflow.tuning.proposals import importances
from shortflow.tuning.record import Check, Tuning, spread
from shortflow.tuning.verdict import PairedChange, paired_change, verdict

_MOST_OF_FRONT = 12
"""Maximum number of trials of a front in its table. The chart has all trials."""


def sections(tuning: Tuning) -> Iterator[Section]:
    """All tables of a tuning. The table of found parameters is first."""
    yield _parameters(tuning)
    if len(tuning.question.goal.objectives) > 1 and tuning.front:
        yield _front(tuning)
    for check in tuning.checks:
        yield _check(tuning, check)


def _parameters(tuning: Tuning) -> Section:
    """Table with found value, untuned value, range and importance of each parameter."""
    question, chosen = tuning.question, tuning.chosen
    keys = [each.key for each in question.parameters]
    columns = [
        Column("found", [chosen.settings[key] if chosen else NOTHING for key in keys]),
        Column("untuned", [question.untuned.get(key, NOTHING) for key in keys]),
        Column("range", [each.text.partition("=")[2] for each in question.parameters]),
    ]
    for objective, shares in zip(question.goal.objectives, importances(tuning), strict=False):
        cells = [f"{100 * shares[key]:.0f} %" if key in shares else NOTHING for key in keys]
        columns.append(Column(f"importance for\n{objective.metric}", cells))
    given_up = sum(trial.given_up for trial in tuning.trials)
    infeasible = len(tuning.trials) - given_up - len(tuning.feasible)
    counts = f"{counted(len(tuning.trials), 'trial')} ({given_up} given up, {infeasible} infeasible)"
    heading = f"{f'Trial {chosen.number}' if chosen else 'None'} of {counts}"
    return Section(heading, [Column("parameter", keys)], columns)


def _front(tuning: Tuning) -> Section:
    """Table of trials along the Pareto front, including all checked trials: parameters and means of objectives."""
    question, chosen = tuning.question, tuning.chosen
    numbers = {*spread(tuning.front, _MOST_OF_FRONT), *(number for check in tuning.checks for number in check.trials)}
    trials = [tuning.trials[number] for number in tuning.front if number in numbers]
    names = [f"{trial.number}{' (chosen)' if trial is chosen else ''}" for trial in trials]
    columns = [Column(each.key, [trial.settings[each.key] for trial in trials]) for each in question.parameters]
    known = possible(question.classes)
    columns += _estimates([known[of.metric] for of in question.goal.objectives], [trial.found for trial in trials])
    count = len(tuning.front)
    some = f"{len(trials)} of the {count}" if len(trials) < count else f"The {count}"
    return Section(f"{some} trials on the Pareto front, by the trials' seeds", [Column("trial", names)], columns)


def _check(tuning: Tuning, check: Check) -> Section:
    """Table of checked trials and other schemes on fresh seeds, with changes of objectives from the reference."""
    question = tuning.question
    scheme = question.scheme
    rows: dict[str, Measurement] = {}
    for trial, found in check.trials.items():
        is_untuned = tuning.is_untuned(tuning.trials[trial])
        rows[f"trial {trial}, {'untuned' if is_untuned else verdict(tuning, check, trial).holds}"] = found
    others = {f"{'untuned ' if name == scheme else ''}{name}": found for name, found in check.schemes.items()}
    rows |= others
    left = any(found.mean(UNFINISHED_OF_ALL.pattern) for found in rows.values())
    known = possible(check.classes)
    names = next(iter(rows.values())).values
    columns = _estimates([known[of] for of in names if of != UNFINISHED_OF_ALL.pattern or left], list(rows.values()))
    other = tuning.yardstick or scheme
    for each in check.goal.objectives:
        changes = [paired_change(each.metric, found, check.schemes[other]) for found in rows.values()]
        columns.append(Column(f"{each.metric}\nvs {other}\n(%)", [*map(_changed, changes)]))
    seeds = next(iter(check.schemes.values())).seeds
    heading = f"{check.scenario}, fresh seeds {seeds[0]} to {seeds[-1]}"
    return Section(heading, [Column("scheme", list(rows))], columns, apart=len(others))


def _estimates(metrics: Sequence[Metric], rows: Sequence[Measurement]) -> list[Column]:
    """Columns with means and intervals, one per metric. Metrics with the same unit share a display unit."""
    found = {metric: [row.sample(metric.name, metric.support).mean for row in rows] for metric in metrics}
    scales = common_scales(found)
    return [
        Column(
            f"{metric.name}\n({scales[metric.unit].unit})" if scales[metric.unit].unit else metric.name,
            [shown(each, scales[metric.unit].divisor) for each in found[metric]],
        )
        for metric in metrics
    ]


def _changed(found: PairedChange | None) -> str:
    """Text of a change in per cent; a dash if it is undefined, or if both sides are bounds."""
    if found is None or found.is_open or not (found.relative or found.estimate.value == 0):
        return NOTHING
    return percent(found.estimate) if found.estimate.value else number(0.0)
