"""`tune`: best parameters of a scheme for a goal, and a check on fresh seeds and a second workload."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from shortflow.errors import ConfigError, ExitCode, require_at_least
from shortflow.front import complete
from shortflow.front import options as given
from shortflow.front.command import Answer, Opt, showing
from shortflow.front.console import note
from shortflow.front.notes import note_warnings_at
from shortflow.front.progress import reporting
from shortflow.judge.verdicts import Verdict
from shortflow.quantities import counted
from shortflow.report.blocks import Block, Words
from shortflow.runner import Runner
from shortflow.runs import check_metric
from shortflow.scenario import Settings as Changes
from shortflow.scheme import split_settings
from shortflow.store.files import Kind, check_replaceable
from shortflow.store.runs import Store
from shortflow.terms import pairs
from shortflow.tuning import engine
from shortflow.tuning.asking import WORKLOADS, TunedScenario, ask, second_workload
from shortflow.tuning.goal import Goal, Parameter
from shortflow.tuning.pages import tuning_table, write_page
from shortflow.tuning.proposals import require_optuna
from shortflow.tuning.shown import Tuning
from shortflow.tuning.verdict import joint_verdict, verdicts

NOWHERE = "none"
"""Value of `--check-on` for no second workload."""


def _answer(found: Tuning, _: Mapping[str, Any]) -> Answer:
    code = ExitCode.CLAIM_FAILED if joint_verdict(found) is Verdict.DIFFERS else ExitCode.FINE
    return Answer(lambda: tuning_table(found), _blocks(found), code)


def _blocks(found: Tuning) -> Iterator[Block]:
    yield from found._blocks()
    yield Words("\n".join(each.words for each in verdicts(found)))


_Names = str | Sequence[str]


@showing(_answer)
def tune(
    scenario: given.ScenarioName,
    scheme: Annotated[str, replace(given.SCHEME, help="Scheme to tune; `shortflow list schemes` prints all.")],
    parameters: Annotated[
        Sequence[str] | Mapping[str, str | tuple[object, object]],
        Opt(
            "Key of the scheme or of the scenario to tune, with its range. Append `:log` for a logarithmic range, or "
            "`:STEP`. Repeat the option for more keys.",
            "KEY=LOW:HIGH",
            "--param",
            many=True,
            complete=complete.keys,
        ),
    ],
    *,
    out: given.KeptIn,
    minimize: Annotated[
        _Names,
        Opt(
            "Metric to minimize. Two objectives search their trade-off.",
            "METRIC",
            many=True,
            complete=complete.metrics,
            default=None,
        ),
    ] = (),
    maximize: Annotated[
        _Names, Opt("Metric to maximize.", "METRIC", many=True, complete=complete.metrics, default=None)
    ] = (),
    subject_to: Annotated[
        _Names,
        Opt(
            "Constraint on the result, such as `goodput_long_bps >= 0.99 * dctcp` or `p99_short_s <= 5ms`.",
            "CONSTRAINT",
            many=True,
            default=None,
        ),
    ] = (),
    trials: Annotated[
        int, given.whole(f"Number of trials, rounded up to a multiple of {engine.BATCH}.")
    ] = engine.TRIALS,
    seeds: Annotated[int, given.whole("Run each trial with seeds 1 to this number.", 1, 1000)] = engine.SEEDS,
    baseline: Annotated[str, Opt("Also compare the result with this scheme.", "SCHEME")] = engine.BASELINE,
    check_on: Annotated[
        str | None,
        Opt(
            f"Second scenario for the check, or `{NOWHERE}` (default: the first of {', '.join(WORKLOADS)} that is not "
            "SCENARIO and has the metrics).",
            "SCENARIO",
        ),
    ] = None,
    check_metrics: Annotated[
        Mapping[str, str] | None,
        Opt(
            "Replace a metric of the goal in the second scenario.",
            "METRIC=METRIC",
            "--check-metric",
            many=True,
            read=partial(
                pairs, option="--check-metric", expected="METRIC=METRIC, such as afct_short_s=afct_websearch_s"
            ),
        ),
    ] = None,
    check_settings: Annotated[
        Changes | None,
        Opt("Set a key of the second scenario.", "KEY=VALUE", "--check-set", many=True, read=given.parse_settings),
    ] = None,
    check_seeds: Annotated[
        int, given.whole("Number of seeds of the check; no trial used them.", 2, 1000)
    ] = engine.CHECK_SEEDS,
    metrics: Annotated[
        str | Sequence[str] | None,
        replace(given.METRICS, help="Metrics that the check shows too, separated by commas."),
    ] = None,
    jobs: given.Jobs = None,
    dask: given.Dask = None,
    settings: given.Settings = None,
    report: Annotated[bool, Opt(default=True)] = False,
    progress: given.Progress = None,
) -> Tuning:
    """Tune the parameters of a scheme, and check the result.

    The check runs the found parameters with fresh seeds, in SCENARIO and in a second scenario. After an interruption,
    or with more --trials, the same command resumes. The exit code is 1 if the result fails the check.

    Example: shortflow tune l2dct-benchmark --scheme l2dct --param transport.w_max=1:4 --minimize p99_short_s --out best

    In Python, `parameters` maps keys to ranges: `{"transport.w_max": (1, 4), "transport.g": "0.01:0.5:log"}`. The goal
    is one metric to `minimize` or `maximize`, or a trade-off of two, optionally `subject_to` constraints such as
    `"goodput_long_bps >= 0.99 * dctcp"`. Trials have seeds 1 to `seeds`. The best, the untuned scheme and the
    `baseline` then run with `check_seeds` fresh seeds, here and in the scenario `check_on`; there, `check_metrics`
    replace metrics of the goal. `metrics` names more metrics of the check. `report` writes the command's page to `out`.
    Raises `ConfigError` for invalid arguments before the first run, and `MissingRequirement` without Optuna.
    """
    require_optuna()
    require_at_least(1, trials=trials, seeds=seeds)
    require_at_least(2, check_seeds=check_seeds)
    loaded = given.scenario_with(scenario, settings)
    goal = Goal.parse(*([each] if isinstance(each, str) else each or () for each in (minimize, maximize, subject_to)))
    goal.check(loaded.classes)
    pairs_of = parameters.items() if isinstance(parameters, Mapping) else ()
    texts = [f"{key}={of if isinstance(of, str) else ':'.join(map(str, of))}" for key, of in pairs_of] or list(
        parameters
    )
    ranges = [Parameter.parse(each) for each in texts]
    there = None
    if check_on != NOWHERE:
        changed = {**split_settings(settings or {})[1], **(check_settings or {})}
        there = second_workload(check_on, loaded, goal, changed, check_metrics or {})
    elif check_metrics or check_settings:
        raise ConfigError("--check-metric, --check-set: need a second workload; name it with --check-on")
    page = Path(out) / "report.html"
    if report:
        check_replaceable(page, Kind.PAGE)
    shown = given.metric_names(metrics)
    for name in (*goal.metrics, *shown):
        check_metric(name, loaded)
    here = TunedScenario(loaded, settings or {}, goal, shown=shown)
    question = ask(here, there, scheme, ranges, baseline=baseline, seeds=seeds, batch=engine.BATCH)
    ends = [{key: value for each in ranges for key, value in each.ends[at].items()} for at in (0, -1)]
    accepted = [end for end in ends if here.accepts(scheme, end)] or [{}]
    note_warnings_at((end, run.scenario, run.scheme) for end in accepted for run in here.runs(scheme, [1], end))
    with reporting(loaded.name, progress) as bar:
        workloads = [here, *([replace(there, shown=shown)] if there else [])]
        wanted = engine.ask_tuning(Path(out), question, workloads, trials, check_seeds)
        found = Runner(given.executor(jobs, dask), Store(Path(out)), bar).answer(wanted)
    if len(found.trials) < trials:
        note(f"--trials: the parameters have only {counted(len(found.trials), 'valid combination')}; all were tried")
    if report:
        write_page(found, page)
        note(f"report: {page}")
    return Tuning.showing(found)
