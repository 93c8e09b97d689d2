"""Plots of a tuning: history, trade-off, parameters, and their importance."""

from collections.abc import Iterator, Mapping, Sequence

from shortflow.metrics.catalogue import Metric, possible
from shortflow.quantities import Scale, scale_for
from shortflow.report.looks import BEST, FEASIBLE, GIVEN_UP, INFEASIBLE
from shortflow.report.plot import AnyPlot, Axis, Lines, Panel, ParallelPlot, Plot, Series
from shortflow.tuning.goal import Measurement, Objective
from shortflow.tuning.proposals import importances
from shortflow.tuning.record import Trial, Tuning

Groups = Mapping[str, Sequence[Trial]]


def plots(tuning: Tuning) -> Iterator[AnyPlot]:
    """Plots that the trials have data for."""
    groups = _groups(tuning)
    objectives = tuning.question.goal.objectives
    scales = [_scale(tuning, each) for each in objectives]
    if len(objectives) == 2:
        yield _trade_off(tuning, groups, scales)
    yield _history(tuning, groups, scales)
    yield _choices(tuning, groups, scales)
    if shares := importances(tuning):
        yield _importance(tuning, shares)


def _groups(tuning: Tuning) -> Groups:
    """Trials with the objectives' metrics, by quality."""
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
    return groups


def _trade_off(tuning: Tuning, groups: Groups, scales: Sequence[Scale]) -> Plot:
    """The two objectives of every trial, the front, and untuned schemes."""
    x, y = tuning.question.goal.objectives
    series = []
    for name, trials in groups.items():
        ordered = sorted(trials, key=lambda trial: _mean(trial.found, x)) if name == BEST else trials
        if ordered:
            bounds = [not {x.metric, y.metric}.isdisjoint(trial.found.lower_bounds) for trial in ordered]
            series.append(
                Series(
                    name,
                    None,
                    [_mean(trial.found, x) / scales[0].divisor for trial in ordered],
                    [_mean(trial.found, y) / scales[1].divisor for trial in ordered],
                    lower_bound=bounds,
                    labels=[_label(trial) for trial in ordered],
                    joined=name == BEST,
                )
            )
    for name, found in tuning.references.items():
        place = [[_mean(found, each) / scale.divisor] for each, scale in zip((x, y), scales, strict=True)]
        series.append(Series(name, None, place[0], place[1], labels=["untuned"]))
    wanted = " and ".join(f"{'more' if each.maximize else 'less'} {each.metric}" for each in (x, y))
    return Plot(
        f"Trade-off of {x.metric} and {y.metric}",
        f"Each mark is a trial: means over seeds 1 to {tuning.question.seeds}, which all have in common. Better is "
        f"{wanted}. The line is the Pareto front: no feasible trial is better in one objective and not worse in the "
        "other. Schemes are marked as they are.",
        [Panel("", _axis(tuning, x, scales[0]), _axis(tuning, y, scales[1]), "scatter", series)],
        {},
    )


def _history(tuning: Tuning, groups: Groups, scales: Sequence[Scale]) -> Plot:
    """Objectives in the order of the trials."""
    panels = []
    for each, scale in zip(tuning.question.goal.objectives, scales, strict=True):
        series = [
            Series(
                name,
                None,
                [float(trial.number) for trial in trials],
                [_mean(trial.found, each) / scale.divisor for trial in trials],
                lower_bound=[each.metric in trial.found.lower_bounds for trial in trials],
                labels=[_label(trial) for trial in trials],
            )
            for name, trials in groups.items()
            if trials
        ]
        panels.append(Panel("", Axis("trial"), _axis(tuning, each, scale), "scatter", series))
    first = "Trial 0 has the parameters as they are. " if tuning.question.untuned_values else ""
    given_up = " A trial that was given up has the mean of its first seeds." if groups[GIVEN_UP] else ""
    return Plot(
        "The objective, trial by trial",
        f"{first}Trials are proposed {tuning.question.batch} at a time.{given_up}",
        panels,
        {},
    )


def _choices(tuning: Tuning, groups: Groups, scales: Sequence[Scale]) -> ParallelPlot:
    """Every trial as a line through its parameters to its objectives."""
    question = tuning.question
    axes = [
        Axis(each.key, each.unit, "log" if each.log else "linear", (each.low, each.high))
        for each in question.parameters
    ]
    for each, scale in zip(question.goal.objectives, scales, strict=True):
        values = [_mean(trial.found, each) / scale.divisor for trials in groups.values() for trial in trials]
        axes.append(Axis(each.metric, scale.unit, window=(min(values, default=0.0), max(values, default=1.0))))
    lines = [
        Lines(
            name,
            [
                [
                    *(trial.values[each.key] for each in question.parameters),
                    *(
                        _mean(trial.found, each) / scale.divisor
                        for each, scale in zip(question.goal.objectives, scales, strict=True)
                    ),
                ]
                for trial in trials
            ],
            [_label(trial) for trial in trials],
        )
        for name, trials in groups.items()
        if trials
    ]
    caption = (
        "Each line is a trial, from its parameters, each between the ends of its range, to what it reached. A click on "
        "a name in the legend hides its lines."
    )
    return ParallelPlot("Parameters and what they lead to", caption, axes, lines)


def _importance(tuning: Tuning, found: Sequence[Mapping[str, float]]) -> Plot:
    """Importance of each parameter for good trials."""
    panels = []
    for objective, shares in zip(tuning.question.goal.objectives, found, strict=True):
        ordered = sorted(shares, key=lambda key: -shares[key])
        series = Series(FEASIBLE, None, ordered, [shares[key] for key in ordered])
        axis = Axis("", scale="category", categories=ordered)
        panels.append(Panel(objective.metric, axis, Axis("importance", "share"), "bars", [series]))
    return Plot(
        "Importance of each parameter",
        "How far the trials in the best tenth differ in a parameter from the others, as a share of the sum over all "
        "parameters (Optuna's PED-ANOVA), constraints left aside. With a few dozen trials it is a rough guide.",
        panels,
        {},
    )


def _mean(found: Measurement, objective: Objective) -> float:
    """Mean of an objective; NaN if missing."""
    mean = found.mean(objective.metric)
    return float("nan") if mean is None else mean


def _scale(tuning: Tuning, objective: Objective) -> Scale:
    means = [trial.found.mean(objective.metric) for trial in tuning.trials]
    return scale_for(_metric(tuning, objective).unit, [mean for mean in means if mean is not None])


def _axis(tuning: Tuning, objective: Objective, scale: Scale) -> Axis:
    metric = _metric(tuning, objective)
    about = f", {metric.flow_class} flows" if metric.flow_class else ""
    return Axis(f"{metric.label}{about}", scale.unit)


def _metric(tuning: Tuning, objective: Objective) -> Metric:
    return possible(tuning.question.classes)[objective.metric]


def _label(trial: Trial) -> str:
    """Number and parameters of a trial."""
    return f"trial {trial.number}: {', '.join(f'{key} = {value}' for key, value in trial.settings.items())}"
