"""Planned runs: scenario, scheme, seed. Plans list the runs of a question."""

import functools
import hashlib
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NotRequired, TypedDict

from shortflow import _core
from shortflow.errors import ConfigError
from shortflow.metrics import catalogue
from shortflow.metrics.absence import check_name
from shortflow.metrics.data import USUAL_BINS, Bins
from shortflow.metrics.statistic import TASKS, Metric
from shortflow.scenario import Scenario, Setting, Settings, as_pairs, as_settings
from shortflow.scheme import SchemeSource, is_ideal, load_with_sources, split_settings
from shortflow.transport import Transport

KEY_LENGTH = 12
"""Number of digits of a run's key in tables and directory names."""
MOST_SEEDS = 100_000
"""Maximum number of seeds of a comparison."""
_LARGEST_SEED = 2**64 - 1
_TASKS = {
    "queries": ["query"],
    "aggregation": ["query"],
    "mapreduce": ["job", "shuffle"],
    "web": ["request"],
    "ring": ["collective"],
}
"""Kinds of traffic with tasks, and their tasks."""
_OF_ALL = ("flow_goodput", "queueing", "timeouts", "timed_out")
"""Statistics of both finite and backlogged flows."""


class CodeOrigin(TypedDict):
    """Code and machine of a result."""

    version: str
    build: str
    revision: str | None
    platform: str


class ScenarioOrigin(TypedDict):
    """Scenario of a result."""

    scenario: str
    title: str
    scenario_settings: list[Setting]
    files: dict[str, str]
    """SHA-256 of each file that the scenario names, by key."""
    traffic_notes: list[str]


class SchemeOrigin(TypedDict):
    """Scheme of a result."""

    scheme: str
    scheme_settings: list[Setting]
    idle: NotRequired[list[tuple[str, str]]]
    """Keys that were set but have no effect, each with the condition for an effect.

    Missing in results of older versions.
    """


class RunOrigin(TypedDict):
    """Key, seed, digest and timing of a result."""

    key: str
    seed: int
    digest: str
    """Empty if the run failed."""
    finished_at: str
    wall_s: float
    cores: NotRequired[int]
    """Number of cores used, which does not change the result. Missing in results of older versions."""
    fewer_cores: NotRequired[str | None]
    """Reason for fewer cores than requested."""


class Provenance(CodeOrigin, ScenarioOrigin, SchemeOrigin, RunOrigin):
    """Origin of a result: enough to repeat the run, and to decide if a repetition is needed."""


@dataclass(frozen=True)
class Run:
    """One planned run: scenario, scheme, seed."""

    scenario: Scenario
    scheme: _core.Scheme
    seed: int
    scheme_source: SchemeSource | None = field(default=None, compare=False)
    """Source for rebuilding the scheme in another process. None for a class of this process."""
    cores: int = field(default=1, compare=False)
    """Maximum number of cores of the run."""
    at: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Settings in which the run differs from other runs of a sweep."""

    @functools.cached_property
    def key(self) -> str:
        """Hash of all inputs of the result, including the simulator's code."""
        parts = [self.scenario.fingerprint, self.scheme.name, *(f"{k}={v}" for k, v, _ in self.scheme.resolved())]
        return hashlib.sha256("\n".join([*parts, str(self.seed), build_id()]).encode()).hexdigest()

    def provenance(self, digest: str, wall_s: float, cores: tuple[int, str | None] = (1, None)) -> Provenance:
        """Provenance of a run that has just finished. `cores` has the number of cores and the reason for fewer."""
        return {
            "key": self.key,
            "version": _core.version(),
            "build": build_id(),
            "revision": git_revision(),
            "platform": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
            "scenario": self.scenario.name,
            "title": self.scenario.title,
            "scenario_settings": self.scenario.resolved(),
            "files": self.scenario.files(),
            "traffic_notes": self.scenario.traffic_notes(),
            "scheme": self.scheme.name,
            "scheme_settings": self.scheme_settings(),
            "idle": self.scheme.idle(self.scenario.core, self.scenario.is_shipped),
            "seed": self.seed,
            "digest": digest,
            "finished_at": datetime.now(UTC).isoformat(timespec="microseconds"),
            "wall_s": wall_s,
            "cores": cores[0],
            "fewer_cores": cores[1],
        }

    def scheme_settings(self) -> list[Setting]:
        """Resolved values of the scheme. Keys of the network have the values of this run."""
        of_run = {each["key"]: each for each in as_settings(self.scenario.core.resolved(self.scheme))}
        return [of_run.get(each["key"], each) for each in as_settings(self.scheme.resolved())]


class Plan:
    """Schemes in a scenario with varying settings. Each variant and each scheme setting is parsed once."""

    def __init__(
        self, scenario: Scenario, schemes: Sequence[str | Transport], settings: Settings | None = None
    ) -> None:
        """Stores the arguments without parsing them. `settings` apply to all runs unless a point overrides them."""
        self.scenario, self.schemes, self.settings = scenario, schemes, settings or {}
        self._scenarios: dict[tuple[tuple[str, str], ...], Scenario] = {}
        self._loaded: dict[tuple[tuple[str, str], ...], list[tuple[_core.Scheme, SchemeSource | None]]] = {}

    def runs(self, seeds: Sequence[int], at: Mapping[str, str] | None = None) -> list[Run]:
        """Runs of every scheme with every seed at a point.

        Settings go to the scenario, or to the schemes that have them. Raises `ConfigError` for an invalid seed,
        setting, scheme or combination.
        """
        if len(seeds) > MOST_SEEDS:
            raise ConfigError(f"seeds: {len(seeds)}: expected at most {MOST_SEEDS}")
        wrong = next((seed for seed in seeds if not 0 <= seed <= _LARGEST_SEED), None)
        if wrong is not None:
            raise ConfigError(f"seed: {wrong} is not a whole number from 0 to {_LARGEST_SEED}")
        of_scenario, of_schemes = split_settings({**self.settings, **(at or {})})
        changed, in_schemes = (tuple(as_pairs(each)) for each in (of_scenario, of_schemes))
        if changed not in self._scenarios:
            self._scenarios[changed] = self.scenario.with_(of_scenario) if changed else self.scenario
        if in_schemes not in self._loaded:
            self._loaded[in_schemes] = load_with_sources(self.schemes, of_schemes)
        scenario, schemes = self._scenarios[changed], self._loaded[in_schemes]
        for scheme, _ in schemes:
            scheme.idle(scenario.core, scenario.is_shipped)  # raises for scheme values that do not fit the scenario
        ideal = [scheme.name for scheme, _ in schemes if is_ideal(scheme.name)]
        if ideal and (why := scenario.core.ideal_schedulers()[1]):
            raise ConfigError(f"{', '.join(ideal)}: {why}")
        return [Run(scenario, scheme, seed, source, at=at or {}) for scheme, source in schemes for seed in seeds]


def plan(
    scenario: Scenario, schemes: Sequence[str | Transport], seeds: Sequence[int], settings: Settings | None = None
) -> list[Run]:
    """Runs of a comparison: every scheme with every seed, with settings applied."""
    return Plan(scenario, schemes, settings).runs(seeds)


def plan_ideal(runs: Sequence[Run]) -> tuple[list[Run], str]:
    """Runs of suitable ideal schedulers on the same flows, unless among the runs.

    Also the reason why none is suitable.
    """
    if not runs:
        return [], ""
    scenario, seeds = runs[0].scenario, list(dict.fromkeys(run.seed for run in runs))
    present = {run.scheme.name for run in runs}
    suitable, why = scenario.core.ideal_schedulers()
    names = [name for name in suitable if name not in present]
    return plan(scenario, names, seeds) if names else [], why


def check_metric(name: str, scenario: Scenario, without_ideal: str = "", bins: Bins = USUAL_BINS) -> None:
    """Raises a `ConfigError` with the reason if no run of the scenario has the metric (see `check_name`)."""
    check_name(name, scenario.classes, without_ideal, bins)
    if why := _ruled_out(catalogue.possible(scenario.classes, bins)[name], scenario):
        raise ConfigError(f"{name}: {why}, so no run has this metric")


def _ruled_out(metric: Metric, scenario: Scenario) -> str:
    """Reason why no run of the scenario has a metric. Empty if a run may have the metric."""
    settings = {each["key"]: each["value"] for each in scenario.resolved() if each["key"].startswith("traffic.")}
    kinds = {value for key, value in settings.items() if re.fullmatch(r"traffic\.\d+\.kind", key)}
    pattern, of = metric.statistic.pattern, metric.flow_class
    if "trace" in kinds:
        return ""  # the trace's file names classes and deadlines
    if metric.task and metric.task not in {task for kind in kinds for task in _TASKS.get(kind, ())}:
        return f"the scenario has no {TASKS[metric.task]}"
    if "_miss" in pattern and not any("deadline" in key for key in settings):
        return "the scenario sets no deadline"
    if not (of or metric.size_bin) or pattern.startswith(_OF_ALL) or kinds & _TASKS.keys():
        return ""  # no key names the classes of tasks' flows
    numbers = {
        key.rpartition(".")[0] for key, value in settings.items() if key.endswith(".class") and of in (None, value)
    }
    flows = [each for each in scenario.expected_flows() if each["entry"] in numbers]
    if pattern.startswith(("goodput", "jain", "convergence")):
        return "" if not flows or any(each["backlogged"] for each in flows) else f"no {of} flow is backlogged"
    endless = flows and all(each["backlogged"] and not each["flows"] for each in flows)
    return f"all {f'{of} ' if of else ''}flows are backlogged" if endless else ""


@functools.cache
def build_id() -> str:
    """Version and hash of the compiled core. A changed simulator gets a new id."""
    with Path(_core.__file__).open("rb") as file:
        return f"{_core.version()}+{hashlib.file_digest(file, 'sha256').hexdigest()[:12]}"


@functools.cache
def git_revision() -> str | None:
    """Commit of the source checkout, with `-dirty` after local changes. None for a wheel."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    # Git may read another user's checkout. Tags are excluded, so that the result is a commit.
    git = ["git", "-c", f"safe.directory={root}", "-C", str(root)]
    command = [*git, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None
