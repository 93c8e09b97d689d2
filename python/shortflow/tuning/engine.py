"""Search for parameters: batches of trials on common seeds, then a check on fresh seeds.

All trials and reference schemes have the same seeds, and therefore the same flows, unless a parameter changes them.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from shortflow.errors import ConfigError, LostRun
from shortflow.metrics.absence import missing
from shortflow.metrics.catalogue import UNFINISHED_OF_ALL, possible
from shortflow.result import Result
from shortflow.runner import Ask, Wanted
from shortflow.runs import Run
from shortflow.tuning import record
from shortflow.tuning.asking import TunedScenario
from shortflow.tuning.goal import Goal, Measurement
from shortflow.tuning.proposals import Proposals
from shortflow.tuning.record import Check, Question, Trial, Tuning

BATCH = 8
"""Number of trials that are proposed before the result of any of them is known."""
TRIALS = 64
SEEDS = 3
CHECK_SEEDS = 10
BASELINE = "dctcp"
_CHECKED = 5
"""Maximum number of trials of a Pareto front that are checked."""
_LEAST_FEASIBLE = 4
"""Minimum number of feasible trials before a trial can be given up as worse."""


def ask_tuning(
    directory: Path, question: Question, workloads: Sequence[TunedScenario], trials: int, check_seeds: int
) -> Ask[Tuning]:
    """Searches parameters in the first workload, and checks the result in all workloads.

    Trials have seeds 1 to `question.seeds`. Their number is rounded up to full batches. The search ends early if all
    combinations of stepped parameters have been tried. With one objective, hopeless trials stop after a third of their
    seeds. Then the best trial, or up to five trials of a Pareto front, run with fresh seeds, and so do the untuned
    scheme and the baseline. Results are stored after each batch, and the same question resumes.
    """
    tuning = record.resume(directory, question)
    fresh = range(question.seeds + 1, question.seeds + check_seeds + 1)
    of = _expected(tuning, trials, len(workloads) * check_seeds)
    for workload in workloads:  # with a seed that the check needs anyway, so that no run is done in vain
        yield from _require_metrics(workload, question.schemes(workload.goal), fresh[0], of)
    tuning = yield from _search(directory, workloads[0], tuning, trials, of)
    if tuning.chosen:
        checks = []
        for workload in workloads:
            checks.append((yield from _check(workload, tuning, fresh, of)))
        tuning = replace(tuning, checks=checks)
        record.store_tuning(directory, tuning)
    return tuning


def _results(groups: Sequence[Sequence[Run]], of: int, *, keep_going: bool = True) -> Ask[list[list[Result]]]:
    """Results of each group of runs, in order. All runs may be done in parallel.

    A lost run raises `LostRun`. Without `keep_going`, any failed run raises its error.
    """
    done = yield Wanted([run for group in groups for run in group], tables=False, keep_going=keep_going, of=of)
    for result in done:
        if result.error and not result.is_final:
            raise LostRun(f"a run was lost ({result.error_text}); the same command resumes")
    rest = iter(done)
    return [[next(rest) for _ in group] for group in groups]


def _require_metrics(workload: TunedScenario, schemes: Sequence[str], seed: int, of: int) -> Ask[None]:
    """Raises `ConfigError` if untuned runs do not have a metric of the goal, and the error of a failed run."""
    runs = [run for scheme in schemes for run in workload.runs(scheme, [seed])]
    for result in (yield Wanted(runs, tables=False, of=of)):
        for metric in workload.goal.metrics:
            if metric != UNFINISHED_OF_ALL.pattern and metric not in result.metrics:
                error = missing(metric, [row.metric for row in result.rows], [result.meta])
                raise ConfigError(f"{workload.scenario.name} under {result.scheme}: {error}")


def _expected(tuning: Tuning, trials: int, fresh_runs: int) -> int:
    """Maximum number of runs that the tuning still needs: references, missing trials and the check."""
    question = tuning.question
    batches = math.ceil(max(trials - len(tuning.trials), 0) / question.batch)
    checked = 1 if len(question.goal.objectives) == 1 else _CHECKED
    references = len(question.schemes(question.goal))
    return question.seeds * (references + batches * question.batch) + fresh_runs * (references + checked) + references


def _measurement(goal: Goal, runs: Sequence[Result], more: Sequence[str] = ()) -> Measurement:
    """Measurement of runs: the deciding metrics of a goal and `more` metrics, by seed. A failed run has no values."""
    values = {metric: [run.metrics.get(metric) for run in runs] for metric in [*goal.metrics, *more]}
    # The share is None for runs without finite flows, and for failed runs.
    values[UNFINISHED_OF_ALL.pattern] = [share or 0.0 for share in values[UNFINISHED_OF_ALL.pattern]]
    bounds = sorted({metric for run in runs for metric in run.lower_bounds if metric in values})
    stakes = dict.fromkeys(values, 0.0)
    for run in runs:
        for metric in (row.metric for row in run.rows if row.metric.name in stakes):
            stakes[metric.name] = max(stakes[metric.name], run.stake(metric))
    errors = {run.seed: run.error_text for run in runs if run.error}
    return Measurement([run.seed for run in runs], values, bounds, [run.digest or None for run in runs], errors, stakes)


def _search(directory: Path, here: TunedScenario, tuning: Tuning, trials: int, of: int) -> Ask[Tuning]:
    """Runs trials in full batches until there are at least `trials`. Each batch is stored when it is done."""
    question = tuning.question
    names = question.schemes(question.goal)
    found = yield from _results([here.runs(name, range(1, question.seeds + 1)) for name in names], of, keep_going=False)
    measured = [_measurement(here.goal, runs) for runs in found]
    tuning = replace(tuning, references=dict(zip(names, measured, strict=True)))
    proposals = Proposals(tuning)
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
        record.store_tuning(directory, tuning)
        proposals.tell(new, [tuning.judge(trial) for trial in new])
    return tuning


def _batch(here: TunedScenario, tuning: Tuning, proposed: Sequence[Mapping[str, float]], of: int) -> Ask[list[Trial]]:
    """Trials of a batch. With one objective, hopeless trials have only a third of the seeds."""
    question = tuning.question
    settings = [question.written(values) for values in proposed]
    one = len(question.goal.objectives) == 1
    stage = math.ceil(question.seeds / 3) if one else question.seeds
    first, rest = range(1, stage + 1), range(stage + 1, question.seeds + 1)
    found = yield from _results([here.runs(question.scheme, first, each) for each in settings], of)
    begun = [
        Trial(len(tuning.trials) + place, dict(values), settings[place], _measurement(here.goal, found[place]))
        for place, values in enumerate(proposed)
    ]
    going = [place for place, trial in enumerate(begun) if rest and not _is_hopeless(tuning, trial)]
    later = yield from _results([here.runs(question.scheme, rest, settings[place]) for place in going], of)
    for place, runs in zip(going, later, strict=True):
        begun[place] = replace(begun[place], found=_measurement(here.goal, [*found[place], *runs]))
    return [replace(trial, given_up=bool(rest) and place not in going) for place, trial in enumerate(begun)]


def _is_hopeless(tuning: Tuning, trial: Trial) -> bool:
    """True if a trial has unfinished flows, or an objective worse than the median of feasible trials.

    Infeasible trials do not count in the median, because breaking a constraint usually improves the objective.
    """
    judgement = tuning.judge(trial)
    if judgement.objectives is None or judgement.violations[0] > 0:
        return True
    (objective,) = tuning.question.goal.objectives
    means = [tuning.trials[each].found.mean(objective.metric, len(trial.found.seeds)) for each in tuning.feasible]
    known = [mean for mean in means if mean is not None]
    return len(known) >= _LEAST_FEASIBLE and objective.gain(judgement.objectives[0] - statistics.median(known)) < 0


def _check(workload: TunedScenario, tuning: Tuning, seeds: Sequence[int], of: int) -> Ask[Check]:
    """Measures the best trials and the other schemes with fresh seeds."""
    question, names = tuning.question, tuning.question.schemes(workload.goal)
    trials = [tuning.trials[number] for number in _worth_checking(tuning)]
    groups = [workload.runs(name, seeds) for name in names]
    groups += [workload.runs(question.scheme, seeds, trial.settings) for trial in trials]
    shown = [each for each in workload.shown if each in possible(workload.scenario.classes)]
    found = [_measurement(workload.goal, runs, shown) for runs in (yield from _results(groups, of))]
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
    """Numbers of the trials to check: the chosen one, then the ends of the front, then trials between."""
    front, chosen = tuning.front, tuning.chosen
    assert chosen is not None
    first = [chosen.number, front[0], front[-1]]
    return list(dict.fromkeys([*first, *record.spread(front, _CHECKED)]))[:_CHECKED]
