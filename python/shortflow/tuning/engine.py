"""The search for parameters: batches of trials on common seeds, then a check on fresh ones.

Every trial runs with the same seeds as every other and as the schemes it is compared with, and so on the same flows
unless a parameter changes these.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from shortflow.errors import ConfigError, LostRun
from shortflow.metrics.catalogue import missing
from shortflow.result import Result
from shortflow.runner import Ask, Wanted
from shortflow.runs import Run
from shortflow.tuning import record
from shortflow.tuning.asking import Workload
from shortflow.tuning.goal import UNFINISHED, Goal, Measurement
from shortflow.tuning.proposals import Proposals
from shortflow.tuning.record import Check, Question, Trial, Tuning

BATCH = 8
"""So many trials are proposed before the results of any of them are known."""
TRIALS = 64
SEEDS = 3
CHECK_SEEDS = 10
BASELINE = "dctcp"
_CHECKED = 5
"""Of a Pareto front so many trials are checked."""
_LEAST_FEASIBLE = 4
"""So many feasible trials say what is usual, before one is given up for being worse."""


def tune(
    directory: Path, question: Question, workloads: Sequence[Workload], trials: int, check_seeds: int
) -> Ask[Tuning]:
    """The search that a question asks for in the first workload, and a check of what it found in all.

    Trials have seeds 1 to `seeds`; their number is rounded up to whole batches of eight, and ends when all combinations
    of values in steps have been tried. With one objective, a trial that is hopeless after a third of its seeds is given
    up. The best trial, or up to five of a Pareto front, then run with fresh seeds, beside the untuned scheme and the
    `baseline`. Everything is kept: the same question goes on where it stopped.
    """
    tuning = record.resume(directory, question)
    fresh = range(question.seeds + 1, question.seeds + check_seeds + 1)
    of = _expected(tuning, trials, len(workloads) * check_seeds)
    for workload in workloads:  # with a seed that the check needs in any case
        yield from _require_metrics(workload, _schemes(tuning.question, workload), fresh[0], of)
    tuning = yield from _search(directory, workloads[0], tuning, trials, of)
    if tuning.chosen:
        checks = []
        for workload in workloads:
            checks.append((yield from _check(workload, tuning, fresh, of)))
        tuning = replace(tuning, checks=checks)
        record.write(directory, tuning)
    return tuning


def _measure(
    goal: Goal, groups: Sequence[Sequence[Run]], of: int, *, keep_going: bool = True
) -> Ask[list[Measurement]]:
    """The results of each group of runs, in their order; all run side by side.

    A run that fails has no metrics or, without `keep_going`, ends it, as one does that was lost in any case.
    """
    done = yield Wanted([run for group in groups for run in group], tables=False, keep_going=keep_going, of=of)
    for result in done:
        if result.error and not result.is_final:
            raise LostRun(f"a run was lost ({result.error_text}); the same command resumes")
    rest = iter(done)
    return [_measurement(goal, [next(rest) for _ in group]) for group in groups]


def _require_metrics(workload: Workload, schemes: Sequence[str], seed: int, of: int) -> Ask[None]:
    """Refuse metrics that untuned runs do not have; a run that fails ends it."""
    runs = [run for scheme in schemes for run in workload.runs(scheme, [seed])]
    for result in (yield Wanted(runs, tables=False, of=of)):
        for metric in workload.goal.metrics:
            if metric != UNFINISHED and metric not in result.metrics:
                error = missing(metric, [row.metric for row in result.rows])
                raise ConfigError(f"{workload.scenario.name} under {result.scheme}: {error}")


def _expected(tuning: Tuning, trials: int, fresh_runs: int) -> int:
    """How many runs there are at most: of references, of the trials that are missing, of the check."""
    question = tuning.question
    batches = math.ceil(max(trials - len(tuning.trials), 0) / question.batch)
    checked = 1 if len(question.goal.objectives) == 1 else _CHECKED
    references = len(question.references)
    return question.seeds * (references + batches * question.batch) + fresh_runs * (references + checked) + references


def _measurement(goal: Goal, runs: Sequence[Result]) -> Measurement:
    """What some runs gave, seed by seed, of what decides."""
    values = {metric: [run.metrics.get(metric) for run in runs] for metric in goal.metrics}
    # There is none without finite flows, nor of a run that failed.
    values[UNFINISHED] = [share or 0.0 for share in values[UNFINISHED]]
    bounds = sorted({metric for run in runs for metric in run.lower_bounds if metric in values})
    stakes = dict.fromkeys(goal.metrics, 0.0)
    for run in runs:
        for metric in (row.metric for row in run.rows if row.metric.name in stakes):
            stakes[metric.name] = max(stakes[metric.name], run.stake(metric))
    errors = {run.seed: run.error_text for run in runs if run.error}
    return Measurement([run.seed for run in runs], values, bounds, [run.digest or None for run in runs], errors, stakes)


def _joined(first: Measurement, second: Measurement) -> Measurement:
    """Measurements with different seeds as one."""
    return Measurement(
        first.seeds + second.seeds,
        {metric: values + second.values[metric] for metric, values in first.values.items()},
        sorted({*first.lower_bounds, *second.lower_bounds}),
        first.digests + second.digests,
        {**first.errors, **second.errors},
        {metric: max(stake, second.stakes[metric]) for metric, stake in first.stakes.items()},
    )


def _schemes(question: Question, workload: Workload) -> list[str]:
    """The schemes beside the tuned one: untuned, the baseline, those of constraints."""
    return list(dict.fromkeys([question.scheme, question.baseline, *workload.goal.schemes]))


def _search(directory: Path, here: Workload, tuning: Tuning, trials: int, of: int) -> Ask[Tuning]:
    """The tuning with so many trials: a full batch at a time, each kept as soon as it is done."""
    question = tuning.question
    names = question.references
    groups = [here.runs(name, range(1, question.seeds + 1)) for name in names]
    found = yield from _measure(here.goal, groups, of, keep_going=False)
    tuning = replace(tuning, references=dict(zip(names, found, strict=True)))
    proposals = Proposals(question.parameters, question.goal, question.batch)
    proposals.replay(tuning.trials, [tuning.judge(trial) for trial in tuning.trials])
    while len(tuning.trials) < trials:
        batch = len(tuning.trials) // question.batch
        proposed = proposals.batch(
            batch,
            lambda values: here.accepts(question.scheme, question.written(values)),
            None if batch else question.untuned_values,
        )
        if not proposed:
            break
        new = yield from _batch(here, tuning, proposed, of)
        tuning = replace(tuning, trials=[*tuning.trials, *new], checks=[])
        record.write(directory, tuning)
        proposals.tell(new, [tuning.judge(trial) for trial in new])
    return tuning


def _batch(here: Workload, tuning: Tuning, proposed: Sequence[Mapping[str, float]], of: int) -> Ask[list[Trial]]:
    """The trials of a batch: the first of their seeds, then the others of those that are not hopeless."""
    question = tuning.question
    settings = [question.written(values) for values in proposed]
    first, rest = _stages(question)
    found = yield from _measure(here.goal, [here.runs(question.scheme, first, each) for each in settings], of)
    begun = [
        Trial(number, dict(values), setting, measured)
        for number, (values, setting, measured) in enumerate(
            zip(proposed, settings, found, strict=True), len(tuning.trials)
        )
    ]
    going = [trial for trial in begun if rest and not _is_hopeless(tuning, trial)]
    later = yield from _measure(here.goal, [here.runs(question.scheme, rest, trial.settings) for trial in going], of)
    more = {trial.number: each for trial, each in zip(going, later, strict=True)}
    return [
        replace(trial, found=_joined(trial.found, more[trial.number]))
        if trial.number in more
        else replace(trial, given_up=bool(rest))
        for trial in begun
    ]


def _stages(question: Question) -> tuple[range, range]:
    """The seeds after which a trial may be given up, and the others; with two objectives none is given up."""
    one = len(question.goal.objectives) == 1
    first = math.ceil(question.seeds / 3) if one else question.seeds
    return range(1, first + 1), range(first + 1, question.seeds + 1)


def _is_hopeless(tuning: Tuning, trial: Trial) -> bool:
    """Whether flows were left unfinished, or the objective is worse than the median of feasible trials on these seeds.

    What infeasible trials reached does not count: a constraint usually costs something.
    """
    judgement = tuning.judge(trial)
    if judgement.objectives is None or judgement.violations[0] > 0:
        return True
    (objective,) = tuning.question.goal.objectives
    means = [tuning.trials[each].found.mean(objective.metric, len(trial.found.seeds)) for each in tuning.feasible]
    known = [mean for mean in means if mean is not None]
    return len(known) >= _LEAST_FEASIBLE and objective.gain(judgement.objectives[0] - statistics.median(known)) < 0


def _check(workload: Workload, tuning: Tuning, seeds: Sequence[int], of: int) -> Ask[Check]:
    """The trials that matter beside the other schemes, on seeds that no trial has seen."""
    question, names = tuning.question, _schemes(tuning.question, workload)
    trials = [tuning.trials[number] for number in _worth_checking(tuning)]
    groups = [workload.runs(name, seeds) for name in names]
    groups += [workload.runs(question.scheme, seeds, trial.settings) for trial in trials]
    found = yield from _measure(workload.goal, groups, of)
    return Check(
        scenario=workload.scenario.name,
        title=workload.scenario.title,
        settings=workload.scenario.changes(workload.settings),
        classes=workload.scenario.classes,
        goal=workload.goal,
        left_out=[each.text for each in workload.left_out],
        schemes=dict(zip(names, found, strict=False)),
        trials={trial.number: each for trial, each in zip(trials, found[len(names) :], strict=True)},
    )


def _worth_checking(tuning: Tuning) -> list[int]:
    """The chosen trial first, and others along the front: its ends and some between them."""
    front, chosen = tuning.front, tuning.chosen
    assert chosen is not None
    first = [chosen.number, front[0], front[-1]]
    return list(dict.fromkeys([*first, *record.spread(front, _CHECKED)]))[:_CHECKED]
