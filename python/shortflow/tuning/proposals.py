"""Which parameters to try next: Optuna's tree-structured Parzen estimator (TPE), in batches.

Trials of a batch are proposed before any of them is told, and told in their order; the sampler's random numbers depend
on the batch alone. So proposals follow from the question, and neither the number of jobs nor an interruption matters.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shortflow.errors import ConfigError, MissingRequirement
from shortflow.tuning.goal import Goal, Judgement
from shortflow.tuning.record import Trial, Tuning
from shortflow.tuning.space import Parameter

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution

_MOST_REFUSED = 1000
"""So many proposals in a row may be combinations that the scheme refuses."""

Values = Mapping[str, float]


def require_optuna() -> None:
    """Fail with the remedy where Optuna is not installed."""
    try:
        with warnings.catch_warnings():  # tqdm's, in notebooks without widgets, for a bar that nobody asked for
            warnings.simplefilter("ignore")
            import optuna  # noqa: F401
    except ImportError as error:
        raise MissingRequirement(
            "tuning needs Optuna, which is not installed: pip install 'shortflow[tune]'"
        ) from error


class Proposals:
    """Proposes batches of trials, each from the results of those before it."""

    def __init__(self, parameters: Sequence[Parameter], goal: Goal) -> None:
        """Nothing has been tried yet."""
        self._distributions = {each.key: _distribution(each) for each in parameters}
        self._study = _study(goal)

    def batch(
        self, number: int, size: int, accepts: Callable[[Values], bool], first: Values | None = None
    ) -> list[dict[str, float]]:
        """So many choices of parameters that are `accepted`, those of the batch with this number.

        `first`, if there is one, is the first of them.
        """
        with _quiet():
            self._study.sampler = _sampler(number)
            if first is not None:
                self._study.enqueue_trial(dict(first))
            self._asked: list[optuna.Trial] = []
            refused = 0
            while len(self._asked) < size:
                trial = self._study.ask(self._distributions)
                if accepts(trial.params):
                    self._asked.append(trial)
                    refused = 0
                    continue
                self._study.tell(trial, state=_state("FAIL"))
                refused += 1
                if refused == _MOST_REFUSED:
                    raise ConfigError(
                        f"--param: {refused} combinations in a row were refused; choose ranges that fit together"
                    )
        return [dict(trial.params) for trial in self._asked]

    def tell(self, trials: Sequence[Trial], judgements: Sequence[Judgement]) -> None:
        """What came of the batch, in its order."""
        with _quiet():
            for asked, trial, judgement in zip(self._asked, trials, judgements, strict=True):
                _tell(self._study, asked, trial, judgement)

    def replay(self, trials: Sequence[Trial], judgements: Sequence[Judgement]) -> None:
        """What was told before."""
        with _quiet():
            _replay(self._study, self._distributions, trials, judgements)


def optuna_study(tuning: Tuning) -> "optuna.Study":
    """A tuning's trials as a study of Optuna, for whatever Optuna does with one."""
    require_optuna()
    question = tuning.question
    study = _study(question.goal)
    with _quiet():
        distributions = {each.key: _distribution(each) for each in question.parameters}
        _replay(study, distributions, tuning.trials, [tuning.judge(trial) for trial in tuning.trials])
    return study


def importances(tuning: Tuning) -> list[dict[str, float]]:
    """For each objective the share of each parameter in what makes trials good (Optuna's PED-ANOVA).

    Empty where fewer than two trials tell.
    """
    require_optuna()
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
    from optuna.trial import TrialState

    study = optuna_study(tuning)
    if len(study.get_trials(states=[TrialState.COMPLETE])) < 2:
        return []

    def of(objective: int) -> Callable[["optuna.trial.FrozenTrial"], float]:
        sign = -1.0 if tuning.question.goal.objectives[objective].maximize else 1.0
        return lambda trial: sign * trial.values[objective]

    with _quiet(UserWarning):  # which says for all that what is lower counts as better
        evaluator = PedAnovaImportanceEvaluator()
        return [
            get_param_importances(study, evaluator=evaluator, target=of(number))
            for number in range(len(tuning.question.goal.objectives))
        ]


def _study(goal: Goal) -> "optuna.Study":
    import optuna

    with _quiet():
        return optuna.create_study(
            directions=["maximize" if each.maximize else "minimize" for each in goal.objectives],
            sampler=_sampler(0),
        )


def _sampler(batch: int) -> "optuna.samplers.BaseSampler":
    from optuna.samplers import TPESampler

    return TPESampler(seed=batch)


def _distribution(parameter: Parameter) -> "BaseDistribution":
    from optuna.distributions import FloatDistribution, IntDistribution

    if parameter.log and parameter.step:
        return IntDistribution(int(parameter.low), int(parameter.high), log=True)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)


def _replay(
    study: "optuna.Study",
    distributions: Mapping[str, "BaseDistribution"],
    trials: Sequence[Trial],
    judgements: Sequence[Judgement],
) -> None:
    for trial, judgement in zip(trials, judgements, strict=True):
        study.enqueue_trial(trial.values)
        _tell(study, study.ask(dict(distributions)), trial, judgement)


def _tell(study: "optuna.Study", asked: "optuna.Trial", trial: Trial, judgement: Judgement) -> None:
    for number, violation in enumerate(judgement.violations):
        asked.set_constraint(str(number), violation)
    asked.set_user_attr("settings", trial.settings)
    if judgement.objectives is None:
        study.tell(asked, state=_state("FAIL"))
    elif trial.given_up:
        asked.report(judgement.objectives[0], step=len(trial.found.seeds))
        study.tell(asked, state=_state("PRUNED"))
    else:
        study.tell(asked, judgement.objectives)


def _state(name: str) -> Any:
    from optuna.trial import TrialState

    return TrialState[name]


@contextmanager
def _quiet(*warned: type[Warning]) -> Iterator[None]:
    """Keep Optuna from telling of each trial, and from some warnings."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            for each in warned:
                warnings.simplefilter("ignore", each)
            yield
    finally:
        optuna.logging.set_verbosity(before)
