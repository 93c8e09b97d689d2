"""Validation of a tuning's question, before any run."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from shortflow.errors import ConfigError
from shortflow.executors.task import code_id
from shortflow.grid import check_apart, keeps_flows
from shortflow.metrics.catalogue import possible
from shortflow.runs import Plan, Run
from shortflow.scenario import Scenario, Settings, load_scenario
from shortflow.scheme import load_schemes, settings_of, split_settings
from shortflow.transport import SOURCE
from shortflow.tuning.goal import Constraint, Goal, Parameter
from shortflow.tuning.record import Question

WORKLOADS = ("l2dct-pareto", "l2dct-benchmark", "websearch-star", "facebook-hadoop-star")
"""Candidates for the second workload. The first one that is another scenario and has the goal's metrics is taken."""
_MOST_PARAMETERS = 12


@dataclass(frozen=True)
class TunedScenario:
    """A scenario with changed settings, and the goal for this scenario."""

    scenario: Scenario
    settings: Settings
    """Changed settings of the scenario and of schemes."""
    goal: Goal
    left_out: Sequence[Constraint] = ()
    """Constraints that this scenario cannot measure."""
    shown: Sequence[str] = ()
    """Further metrics that the check measures."""

    def runs(self, scheme: str, seeds: Iterable[int], tuned: Settings | None = None) -> list[Run]:
        """Runs of a scheme, with `tuned` parameters if given. Changed settings that the scheme lacks are ignored."""
        of_scenario, of_schemes = split_settings(self.settings)
        settings = {**of_scenario, **settings_of(scheme, of_schemes), **(tuned or {})}
        return Plan(self.scenario, [scheme], settings).runs(list(seeds))

    def accepts(self, scheme: str, tuned: Settings) -> bool:
        """True if scenario and scheme accept the tuned parameters."""
        try:
            self.runs(scheme, [1], tuned)
        except ConfigError:
            return False
        return True


def ask(
    here: TunedScenario,
    there: TunedScenario | None,
    scheme: str,
    parameters: Sequence[Parameter],
    *,
    baseline: str,
    seeds: int,
    batch: int,
) -> Question:
    """Builds the question of a tuning. Raises `ConfigError` if it is not valid in both workloads."""
    here.goal.check(here.scenario.classes)
    _check_keys(parameters, here.settings)
    laws: dict[str, str] = {}
    names = list(dict.fromkeys([scheme, baseline, *here.goal.schemes]))
    for workload in (here, there):
        if workload:
            load_schemes(names, split_settings(workload.settings)[1])  # raises for a setting that no scheme has
    for name in names:
        (run,) = here.runs(name, [1])
        resolved = {key: value for key, value, _ in run.scheme.resolved()}
        if SOURCE in resolved:
            laws[name] = resolved[SOURCE]
    parameters = [_in_its_steps(here, scheme, each) for each in parameters]
    _check_ranges(here, scheme, parameters)
    if there:
        try:
            _check_ranges(there, scheme, parameters)
        except ConfigError as error:
            raise ConfigError(f"--check-on {there.scenario.name}: {error}") from error
    (run,) = here.runs(scheme, [1])
    resolved = {key: value for key, value, _ in [*run.scenario.core.resolved(), *run.scheme.resolved()]}
    untuned = {each.key: resolved.get(each.key, resolved.get(f"parameters.{each.key}")) for each in parameters}
    return Question(
        scenario=here.scenario.name,
        title=here.scenario.title,
        fingerprint=run.scenario.fingerprint,
        classes=here.scenario.classes,
        scheme=scheme,
        settings=here.scenario.changes(here.settings),
        parameters=parameters,
        untuned={key: value for key, value in untuned.items() if value is not None},
        goal=here.goal,
        baseline=baseline,
        seeds=seeds,
        batch=batch,
        laws=laws,
        code=code_id(),
        flow_keys=[each.key for each in parameters if _changes_flows(here, scheme, each)],
    )


def second_workload(
    name: str | None, scenario: Scenario, goal: Goal, settings: Settings, counterparts: Mapping[str, str]
) -> TunedScenario:
    """The second workload: the named scenario with `settings` (default: first of `WORKLOADS` with the goal's metrics).

    `counterparts` maps metrics of the goal to metrics of the second scenario. Raises `ConfigError` if the scenario does
    not have an objective.
    """
    if name is not None:
        found = load_scenario(name, split_settings(settings)[0])
        try:
            return TunedScenario(found, settings, *goal.elsewhere(counterparts, found.classes))
        except ConfigError as error:
            raise ConfigError(
                f"--check-on {name}: {error}; --check-metric METRIC=METRIC names the metric to use instead"
            ) from error
    wanted = [counterparts.get(each.metric, each.metric) for each in goal.objectives]
    for each in WORKLOADS:
        if each != scenario.name and all(metric in possible(load_scenario(each).classes) for metric in wanted):
            return second_workload(each, scenario, goal, settings, counterparts)
    raise ConfigError(
        f"--check-on: none of {', '.join(WORKLOADS)} has {' and '.join(wanted)}; name a second scenario "
        f"(with --check-metric {wanted[0]}=METRIC if its metrics have other names), or --check-on none"
    )


def _check_keys(parameters: Sequence[Parameter], settings: Settings) -> None:
    if not 1 <= len(parameters) <= _MOST_PARAMETERS:
        raise ConfigError(f"--param: expected 1 to {_MOST_PARAMETERS} of them, found {len(parameters)}")
    for number, each in enumerate(parameters):
        try:
            check_apart([each.key], [other.key for other in parameters[:number]])
        except ConfigError:
            raise ConfigError(f"--param {each.key}: is given twice") from None
        check_apart([each.key], settings)


def _in_its_steps(here: TunedScenario, scheme: str, parameter: Parameter) -> Parameter:
    """The parameter, with steps of 1 if its key takes only integers. Raises `ConfigError` for an unknown key."""

    def accepts(value: float, prefix: str = "") -> bool:
        return here.accepts(scheme, {prefix + parameter.key: parameter.written(value)})

    ends = [end for end in (parameter.low, parameter.high) if accepts(end)]
    if not ends:
        if accepts(parameter.low, "transport."):
            raise ConfigError(f'--param {parameter.key}: unknown key; did you mean "transport.{parameter.key}"?')
        here.runs(scheme, [1], {parameter.key: parameter.written(parameter.low)})  # raises the error
    is_whole = parameter.low.is_integer() and parameter.high.is_integer()
    if parameter.step is None and is_whole and not accepts(ends[0] + (0.5 if ends[0] == parameter.low else -0.5)):
        return replace(parameter, step=1.0)
    return parameter


def _check_ranges(workload: TunedScenario, scheme: str, parameters: Sequence[Parameter]) -> None:
    """Raises `ConfigError` if an end of a range is invalid with all ends of the other ranges, or has no effect."""
    untried = {(each.key, end) for each in parameters for end in (each.low, each.high)}
    for ends in itertools.product(*((each.low, each.high) for each in parameters)):
        corner = {(each.key, end) for each, end in zip(parameters, ends, strict=True)}
        settings = {each.key: each.written(end) for each, end in zip(parameters, ends, strict=True)}
        if not untried.isdisjoint(corner) and workload.accepts(scheme, settings):
            untried -= corner
    for each in parameters:
        for end in (each.low, each.high):
            if (each.key, end) in untried:
                workload.runs(scheme, [1], {each.key: each.written(end)})  # raises the error of this end
                raise ConfigError(f"--param {each.text}: {each.written(end)} is valid with no end of the other ranges")
        alone = all(workload.accepts(scheme, end) for end in each.ends)
        if alone and len({run.key for end in each.ends for run in workload.runs(scheme, [1], end)}) < 2:
            raise ConfigError(f"--param {each.key}: changes nothing, because {scheme} sets it")


def _changes_flows(here: TunedScenario, scheme: str, parameter: Parameter) -> bool:
    """True if a parameter changes the flows: untuned scenario and accepted ends of the range differ in them."""
    found = [here.runs(scheme, [1], end)[0] for end in ({}, *parameter.ends) if here.accepts(scheme, end)]
    resolved = [{(key, value) for key, value, _ in run.scenario.core.resolved()} for run in found]
    changed = {key for one, other in itertools.pairwise(resolved) for key, _ in one ^ other}
    return bool(changed) and not keeps_flows(changed)
