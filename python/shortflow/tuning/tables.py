"""Tables of a tuning: parameters, front, and comparison with other schemes."""

from collections.abc import Iterator, Sequence

from shortflow.metrics.catalogue import Metric, possible
from shortflow.metrics.stats import Estimate, estimate
from shortflow.report.tables import Column, Section, common_scales
from shortflow.report.wording import NOTHING, number, percent, shown
from shortflow.tuning.goal import UNFINISHED, Measurement
from shortflow.tuning.proposals import importances
from shortflow.tuning.record import Check, Tuning, spread
from shortflow.tuning.verdict import Change, change, verdict

_MOST_OF_FRONT = 12
"""Most trials of a front in its table; the plot has all."""


def sections(tuning: Tuning) -> Iterator[Section]:
    """All tables, found parameters first."""
    yield _parameters(tuning)
    if len(tuning.question.goal.objectives) > 1 and tuning.front:
        yield _front(tuning)
    for check in tuning.checks:
        yield _check(tuning, check)


def _parameters(tuning: Tuning) -> Section:
    """Found value, untuned value, range and importance of each parameter."""
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
    return Section(_counts(tuning), [Column("parameter", keys)], columns)


def _counts(tuning: Tuning) -> str:
    """The chosen trial, and counts of the others."""
    given_up = sum(trial.given_up for trial in tuning.trials)
    infeasible = len(tuning.trials) - given_up - len(tuning.feasible)
    chosen = f"Trial {tuning.chosen.number}" if tuning.chosen else "None"
    return f"{chosen} of {len(tuning.trials)} trials ({given_up} given up, {infeasible} infeasible)"


def _front(tuning: Tuning) -> Section:
    """Trials along the Pareto front, including checked ones: parameters, and means on the trials' seeds."""
    question, chosen = tuning.question, tuning.chosen
    numbers = {*spread(tuning.front, _MOST_OF_FRONT), *(number for check in tuning.checks for number in check.trials)}
    trials = [tuning.trials[number] for number in tuning.front if number in numbers]
    names = [f"{trial.number}{' (chosen)' if trial is chosen else ''}" for trial in trials]
    columns = [Column(each.key, [trial.settings[each.key] for trial in trials]) for each in question.parameters]
    metrics = _metrics(question.classes, [each.metric for each in question.goal.objectives])
    columns += _estimates(metrics, [trial.found for trial in trials])
    count = len(tuning.front)
    some = f"{len(trials)} of the {count}" if len(trials) < count else f"The {count}"
    return Section(f"{some} trials on the Pareto front, by the trials' seeds", [Column("trial", names)], columns)


def _check(tuning: Tuning, check: Check) -> Section:
    """Checked trials and other schemes on fresh seeds, with each objective's change from its reference."""
    question = tuning.question
    scheme = question.scheme
    trials = {f"trial {number}, {_holds(tuning, check, number)}": found for number, found in check.trials.items()}
    others = {f"{'untuned ' if name == scheme else ''}{name}": found for name, found in check.schemes.items()}
    rows = {**trials, **others}
    left = any(found.mean(UNFINISHED) for found in rows.values())
    metrics = [metric for metric in check.goal.metrics if metric != UNFINISHED or left]
    columns = _estimates(_metrics(check.classes, metrics), list(rows.values()))
    other = tuning.yardstick or scheme
    for each in check.goal.objectives:
        changes = [change(each.metric, found, check.schemes[other]) for found in rows.values()]
        columns.append(Column(f"{each.metric}\nvs {other}\n(%)", [_changed(found) for found in changes]))
    seeds = next(iter(check.schemes.values())).seeds
    heading = f"{check.scenario}, fresh seeds {seeds[0]} to {seeds[-1]}"
    return Section(heading, [Column("scheme", list(rows))], columns, apart=len(others))


def _holds(tuning: Tuning, check: Check, number: int) -> str:
    return "untuned" if tuning.is_untuned(tuning.trials[number]) else verdict(tuning, check, number).holds.value


def _metrics(classes: Sequence[str], names: Sequence[str]) -> list[Metric]:
    known = possible(classes)
    return [known[name] for name in names]


def _estimates(metrics: Sequence[Metric], rows: Sequence[Measurement]) -> list[Column]:
    """Means with intervals, a column per metric; metrics of one unit share a scale."""
    found = {metric: [_estimate(metric, row) for row in rows] for metric in metrics}
    scales = common_scales(found)
    return [
        Column(
            f"{metric.name}\n({scales[metric.unit].unit})" if scales[metric.unit].unit else metric.name,
            [shown(each, scales[metric.unit].divisor) for each in found[metric]],
        )
        for metric in metrics
    ]


def _estimate(metric: Metric, row: Measurement) -> Estimate | None:
    values = [value for value in row.values[metric.name] if value is not None]
    if not values:
        return None
    found = estimate(values, metric.support)
    return Estimate(found.value, found.ci95, found.n, lower_bound=metric.name in row.lower_bounds)


def _changed(found: Change | None) -> str:
    """A change in per cent; empty if undefined, or if both sides are bounds."""
    if found is None or found.is_open or not (found.relative or found.estimate.value == 0):
        return NOTHING
    return percent(found.estimate) if found.estimate.value else number(0.0)
