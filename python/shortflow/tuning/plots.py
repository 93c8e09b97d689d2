"""Charts of a tuning: trade-off, objectives by trial, choices of parameters, and importance of parameters."""

import math
from collections.abc import Iterator, Mapping, Sequence

from shortflow.metrics.catalogue import possible
from shortflow.metrics.statistic import Metric
from shortflow.quantities import DisplayUnit, scale_for
from shortflow.report import marks
from shortflow.report.chart import Chart, numeric
from shortflow.report.figures import axis_title
from shortflow.report.looks import BEST, FEASIBLE, GIVEN_UP, INFEASIBLE
from shortflow.report.wording import phrase
from shortflow.tuning.goal import Measurement, Objective
from shortflow.tuning.proposals import importances
from shortflow.tuning.record import Trial, Tuning

Groups = Mapping[str, Sequence[Trial]]


def plots(tuning: Tuning) -> Iterator[Chart]:
    """All charts for which the trials have data."""
    groups = _groups(tuning)
    objectives = tuning.question.goal.objectives
    scales = [_scale(tuning, each) for each in objectives]
    if len(objectives) == 2:
        yield _trade_off(tuning, groups, scales)
    yield _history(tuning, groups, scales)
    if any(groups.values()):
        yield _choices(tuning, groups, scales)
    if shares := importances(tuning):
        yield _importance(tuning, shares)


def _groups(tuning: Tuning) -> Groups:
    """Trials that have all objectives, in groups: given up, infeasible, feasible, and best."""
    groups: dict[str, list[Trial]] = {name: [] for name in (GIVEN_UP, INFEASIBLE, FEASIBLE, BEST)}
    for trial in tuning.trials:
        if tuning.judge(trial).objectives is None:
            continue
        if trial.given_up:
            groups[GIVEN_UP].append(trial)
        elif trial.number in tuning.front:
            groups[BEST].append(trial)
        else:
            groups[FEASIBLE if trial.number in tuning.feasible else INFEASIBLE].append(trial)
    return {name: trials for name, trials in groups.items() if trials}


def _trade_off(tuning: Tuning, groups: Groups, scales: Sequence[DisplayUnit]) -> Chart:
    """Chart of the two objectives of all trials and untuned schemes, with the Pareto front."""
    x, y = tuning.question.goal.objectives
    measured = [(name, _label(trial), trial.found) for name, trials in groups.items() for trial in trials]
    measured += [(name, "untuned", found) for name, found in tuning.references.items()]
    rows = [
        {"scheme": name, "label": label, "bound": not {x.metric, y.metric}.isdisjoint(found.lower_bounds)}
        | {"x": _mean(found, x) / scales[0].divisor, "y": _mean(found, y) / scales[1].divisor}
        for name, label, found in measured
    ]
    axes = [
        numeric(side, _axis(tuning, each, scale), (row[side] for row in rows))
        for side, each, scale in zip("xy", (x, y), scales, strict=True)
    ]
    schemes = list(dict.fromkeys(name for name, *_ in measured))
    wanted = " and ".join(f"{'more' if each.maximize else 'less'} {each.metric}" for each in (x, y))
    return Chart(
        "trade-off",
        f"Trade-off of {x.metric} and {y.metric}",
        f"Each mark is a trial: means over seeds 1 to {tuning.question.seeds}, which all have in common. Better is "
        f"{wanted}. The line is the Pareto front: no feasible trial is better in one objective and not worse in the "
        'other. Marks labelled "untuned" are schemes before tuning.',
        rows,
        [marks.scatter(rows, axes[0], axes[1], schemes, "trial", joined=BEST)],
        schemes,
    )


def _history(tuning: Tuning, groups: Groups, scales: Sequence[DisplayUnit]) -> Chart:
    """Chart of the objectives in the order of the trials."""
    objectives, groups_of = tuning.question.goal.objectives, list(groups)
    rows = [
        {"scheme": name, "panel": each.metric, "label": _label(trial), "trial": trial.number}
        | {"y": _mean(trial.found, each) / scale.divisor, "bound": each.metric in trial.found.lower_bounds}
        for each, scale in zip(objectives, scales, strict=True)
        for name, trials in groups.items()
        for trial in trials
    ]
    panels = []
    for each, scale in zip(objectives, scales, strict=True):
        of = [row for row in rows if row["panel"] == each.metric]
        x = numeric("trial", "trial", [0, *(row["trial"] for row in of)], tickMinStep=1)
        y = numeric("y", _axis(tuning, each, scale), (row["y"] for row in of))
        panels.append(marks.scatter(of, x, y, groups_of, "trial", where={"field": "panel", "equal": each.metric}))
    first = "Trial 0 has the parameters as they are. " if tuning.question.untuned_values else ""
    given_up = " A trial that was given up has the mean of its first seeds." if GIVEN_UP in groups else ""
    caption = f"{first}Trials are proposed {tuning.question.batch} at a time.{given_up}"
    return Chart("history", "The objective, trial by trial", caption, rows, panels, groups_of)


def _choices(tuning: Tuning, groups: Groups, scales: Sequence[DisplayUnit]) -> Chart:
    """Chart with a line for each trial, through its parameters to its objectives."""
    question, objectives = tuning.question, tuning.question.goal.objectives
    lines = [
        (
            name,
            _label(trial),
            [
                *(trial.values[each.key] for each in question.parameters),
                *(_mean(trial.found, each) / scale.divisor for each, scale in zip(objectives, scales, strict=True)),
            ],
        )
        for name in (BEST, FEASIBLE, INFEASIBLE, GIVEN_UP)
        for trial in groups.get(name, ())
    ]
    columns = list(zip(*(values for *_, values in lines), strict=True))
    axes = [(each.key, each.unit, each.low, each.high, each.log) for each in question.parameters]
    results = zip(objectives, scales, columns[len(axes) :], strict=True)
    axes += [(each.metric, scale.unit, min(column), max(column), False) for each, scale, column in results]
    rows = [
        {"scheme": group, "line": place, "label": label, "axis": axis, "value": value}
        | {"said": f"{value:.4g} {unit}".strip(), "height": _height(value, low, high, log=log)}
        for place, (group, label, values) in reversed(list(enumerate(lines)))
        for (axis, unit, low, high, log), value in zip(axes, values, strict=True)
    ]
    shown = [(axis, f"{low:.4g} {unit}".strip(), f"{high:.4g} {unit}".strip()) for axis, unit, low, high, _ in axes]
    caption = "Each line is a trial, from its parameters, each between the ends of its range, to its objectives."
    panel = marks.parallel(shown, list(groups))
    return Chart("choices", "Parameters and their results", caption, rows, [panel], list(groups), wide=True)


def _height(value: float, low: float, high: float, *, log: bool) -> float:
    """Position of a value on an axis, from 0 at its lower end to 1 at its upper end."""
    if high <= low:
        return 0.5
    return math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)


def _importance(tuning: Tuning, found: Sequence[Mapping[str, float]]) -> Chart:
    """Chart of the importance of each parameter for good trials, by objective."""
    names = [objective.metric for objective in tuning.question.goal.objectives]
    rows = [
        {"panel": name, "key": key, "share": share}
        for name, shares in zip(names, found, strict=True)
        for key, share in shares.items()
    ]
    orders = [[str(row["key"]) for row in rows if row["panel"] == name] for name in names]
    panels = [marks.bars(rows, "importance", order, title=name) for name, order in zip(names, orders, strict=True)]
    caption = (
        "How far the trials in the best tenth differ in a parameter from the others, as a share of the sum over all "
        "parameters (Optuna's PED-ANOVA). Constraints do not count. With a few dozen trials, the shares are rough."
    )
    return Chart("importance", "Importance of each parameter", caption, rows, panels)


def _mean(found: Measurement, objective: Objective) -> float:
    """Mean of an objective; NaN without one, which trials in groups and schemes always have."""
    mean = found.mean(objective.metric)
    return math.nan if mean is None else mean


def _scale(tuning: Tuning, objective: Objective) -> DisplayUnit:
    means = [trial.found.mean(objective.metric) for trial in tuning.trials]
    return scale_for(_metric(tuning, objective).unit, [mean for mean in means if mean is not None])


def _axis(tuning: Tuning, objective: Objective, scale: DisplayUnit) -> str:
    return axis_title(phrase(_metric(tuning, objective)), scale.unit)


def _metric(tuning: Tuning, objective: Objective) -> Metric:
    return possible(tuning.question.classes)[objective.metric]


def _label(trial: Trial) -> str:
    """Text with the number and the parameters of a trial."""
    return f"trial {trial.number}: {', '.join(f'{key} = {value}' for key, value in trial.settings.items())}"


class TuningPlots:
    """Charts of a tuning."""

    def __init__(self, tuning: Tuning) -> None:
        """`tuning` is the tuning that the charts show."""
        self._tuning = tuning

    def all(self) -> list[Chart]:
        """Charts of the report: trade-off of two objectives, objectives by trial, choices, and importance."""
        return list(plots(self._tuning))

    def sketch(self) -> str:
        """The first chart as HTML."""
        return next(plots(self._tuning))._repr_html_()
