"""Proposals of parameters by Optuna's tree-structured Parzen estimator (TPE), in batches.

A whole batch is proposed before Optuna gets any of its results. Optuna gets results in the order of the proposals, and
random numbers depend on the number of the batch alone. Proposals therefore follow from the question, regardless of jobs
and interruptions.
"""

import itertools
import math
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module

from shortflow.errors import ConfigError, MissingRequirement
from shortflow.lazy import optuna
from shortflow.tuning.goal import Judgement, Parameter
from shortflow.tuning.record import Trial, Tuning

_PATIENCE = 50
"""Number of consecutive refusals after which the rest of a batch is drawn uniformly."""
_MOST_REFUSED = 1000
"""Maximum number of consecutive refusals of uniform draws."""
_MOST_COMBINATIONS = 10_000
"""Maximum number of combinations of stepped parameters that are drawn without repetition."""

Values = Mapping[str, float]


def require_optuna() -> None:
    """Raises `MissingRequirement`, with the remedy, if Optuna is not installed."""
    try:
        with warnings.catch_warnings():  # tqdm warns in notebooks without widgets
            warnings.simplefilter("ignore")
            import_module("optuna")
    except ImportError as error:
        raise MissingRequirement(
            "tuning needs Optuna, which is not installed: pip install 'shortflow[tune]'"
        ) from error


class Proposals:
    """Proposer of batches of trials from earlier results. No combination is proposed twice."""

    def __init__(self, tuning: Tuning) -> None:
        """Takes the results of the tuning's trials so far."""
        question = tuning.question
        self._parameters, self._size = question.parameters, question.batch
        self._distributions = {each.key: _distribution(each) for each in question.parameters}
        wanted = question.goal.objectives
        with _quiet():
            self.study = optuna.create_study(directions=["maximize" if of.maximize else "minimize" for of in wanted])
            for trial in tuning.trials:
                self.study.enqueue_trial(trial.values)
                self._tell(self.study.ask(self._distributions), trial, tuning.judge(trial))
        self._tried = {self._written(trial.values) for trial in tuning.trials}

    def batch(
        self, number: int, accepts: Callable[[Values], bool], first: Values | None = None
    ) -> list[dict[str, float]]:
        """Proposes the combinations of batch `number`, all of which `accepts` accepts.

        The first combination is `first`, if given. The batch is smaller if there are no more combinations. Raises
        `ConfigError` if too many consecutive combinations are refused.
        """
        self._asked: list[optuna.Trial] = []
        with _quiet():
            # The sampler draws the first batch at random, and uses TPE for later batches.
            self.study.sampler = optuna.samplers.TPESampler(seed=number, n_startup_trials=self._size)
            if first is not None:
                self.study.enqueue_trial(dict(first))
            refused = 0
            while len(self._asked) < self._size and refused < _PATIENCE:
                refused = 0 if self._takes(accepts) else refused + 1
            self._fill(number, accepts)
        return [dict(trial.params) for trial in self._asked]

    def _takes(self, accepts: Callable[[Values], bool]) -> bool:
        """Asks Optuna for a combination, and keeps it if it is new and accepted. Returns True if it was kept."""
        trial = self.study.ask(self._distributions)
        values = self._written(trial.params)
        if values in self._tried or not accepts(trial.params):
            self.study.tell(trial, state=optuna.trial.TrialState.FAIL)
            return False
        self._tried.add(values)
        self._asked.append(trial)
        return True

    def _fill(self, number: int, accepts: Callable[[Values], bool]) -> None:
        """Fills a batch with uniform draws, because TPE may continue to propose refused combinations."""
        refused = 0
        draws = self._draws(random.Random(number))
        while len(self._asked) < self._size and (values := next(draws, None)):
            self.study.enqueue_trial(values)
            refused = 0 if self._takes(accepts) else refused + 1
            if refused == _MOST_REFUSED:
                break
        if refused == _MOST_REFUSED or not self._tried:
            raise ConfigError(
                f"--param: {refused:,} combinations in a row are invalid; choose ranges that are valid together"
            )

    def _draws(self, dice: random.Random) -> Iterator[dict[str, float]]:
        """Combinations in random order. If there are few, each untried one once; otherwise, an endless series."""
        counts = [each.count for each in self._parameters]
        if math.prod(counts) > _MOST_COMBINATIONS:
            while True:
                yield {each.key: each.drawn(dice) for each in self._parameters}
        every = list(itertools.product(*(range(int(count)) for count in counts)))
        dice.shuffle(every)
        for places in every:
            values = {each.key: each.at(place) for each, place in zip(self._parameters, places, strict=True)}
            if self._written(values) not in self._tried:
                yield values

    def _written(self, values: Values) -> tuple[str, ...]:
        return tuple(each.written(values[each.key]) for each in self._parameters)

    def tell(self, trials: Sequence[Trial], judgements: Sequence[Judgement]) -> None:
        """Gives Optuna the results of the last batch, in the order of its proposals."""
        with _quiet():
            for asked, trial, judgement in zip(self._asked, trials, judgements, strict=True):
                self._tell(asked, trial, judgement)

    def _tell(self, asked: "optuna.Trial", trial: Trial, judgement: Judgement) -> None:
        for number, violation in enumerate(judgement.violations):
            asked.set_constraint(str(number), violation)
        asked.set_user_attr("settings", trial.settings)
        if judgement.objectives is None:
            self.study.tell(asked, state=optuna.trial.TrialState.FAIL)
        elif trial.given_up:
            asked.report(judgement.objectives[0], step=len(trial.found.seeds))
            self.study.tell(asked, state=optuna.trial.TrialState.PRUNED)
        else:
            self.study.tell(asked, judgement.objectives)


def optuna_study(tuning: Tuning) -> "optuna.Study":
    """The trials as an Optuna study, for Optuna's own functions. Raises `MissingRequirement` without Optuna."""
    require_optuna()
    return Proposals(tuning).study


def importances(tuning: Tuning) -> list[dict[str, float]]:
    """Importance of each parameter for good trials, largest first, by objective (Optuna's PED-ANOVA).

    Empty if fewer than two trials have results.
    """
    study = optuna_study(tuning)
    if len(study.get_trials(states=[optuna.trial.TrialState.COMPLETE])) < 2:
        return []

    objectives = tuning.question.goal.objectives

    def of(place: int) -> Callable[["optuna.trial.FrozenTrial"], float]:
        return lambda trial: -objectives[place].gain(trial.values[place])

    with _quiet(UserWarning):  # warns that lower is better for all objectives
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        return [
            optuna.importance.get_param_importances(study, evaluator=evaluator, target=of(place))
            for place in range(len(objectives))
        ]


def _distribution(parameter: Parameter) -> "optuna.distributions.BaseDistribution":
    if parameter.log and parameter.step:
        return optuna.distributions.IntDistribution(int(parameter.low), int(parameter.high), log=True)
    return optuna.distributions.FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)


@contextmanager
def _quiet(*warned: type[Warning]) -> Iterator[None]:
    """Silences Optuna's log of trials, and warnings of these kinds."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            for each in warned:
                warnings.simplefilter("ignore", each)
            yield
    finally:
        optuna.logging.set_verbosity(before)
