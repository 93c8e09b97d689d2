"""What is to be run: one run, or several schemes over common seeds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from shortflow._core import Scheme
from shortflow.comparison import Comparison, with_distances
from shortflow.engine import Held, Jobs, Progress, concluding, run_all, run_one
from shortflow.errors import ConfigError
from shortflow.executors.outcome import decoded
from shortflow.lazy import bursts, pl, stored
from shortflow.lazy import measured as measured_flows
from shortflow.precision import Precision, seeds_until
from shortflow.result import Run, RunResult, RunSummary
from shortflow.scenario import Scenario, Settings, as_pairs
from shortflow.scheme import SchemeSource, load_with_sources, split_settings
from shortflow.transport import Transport

_LARGEST_SEED = 2**64 - 1
MOST_SEEDS = 100_000
"""So many seeds a comparison can have."""


def run(
    scenario: Scenario,
    scheme: str | Transport = "dctcp",
    seed: int = 1,
    *,
    settings: Settings | None = None,
    cores: int = 1,
    progress: Progress | None = None,
) -> RunResult:
    """Run a scenario once, on so many cores at most; `settings` may change the scenario and the scheme."""
    (work,) = plan(scenario, [scheme], [seed], settings)
    return run_one(replace(work, cores=cores), progress)


def compare(
    scenario: Scenario,
    schemes: Sequence[str | Transport],
    seeds: Sequence[int],
    *,
    settings: Settings | None = None,
    jobs: Jobs = None,
    out: str | Path | None = None,
    ideal: bool = True,
    until: Precision | None = None,
    progress: Progress | None = None,
    held: Held | None = None,
    measured: "measured_flows.Measured | None" = None,
) -> Comparison:
    """Run a scenario under several schemes over common seeds, and unless told otherwise under ideal schedulers too.

    `settings` may change the scenario and the schemes. With `out`, each finished run is stored there at once, and a run
    that is there already is not run again. With `until`, seeds are added after the first `seeds`, which are then 1 and
    so on, until the intervals are narrow enough (see `shortflow.precision`). Without `out`, `held` gets the finished
    runs. `measured` flows stand beside the schemes.
    """
    planner = Planner(scenario, schemes)
    if measured and not out and held is None:
        held = {}
    of_schemes: list[RunSummary] = []
    of_ideal: list[RunSummary] = []
    store = stored.Store(Path(out)) if out else None

    def so_far() -> Comparison:
        return Comparison(scenario.name, scenario.title, scenario.changes(settings), of_schemes, of_ideal)

    def look(new: Sequence[int]) -> bool:
        runs = planner.runs(settings or {}, new)
        everything = [*runs, *plan_ideal(runs)] if ideal else runs
        done = run_all(everything, jobs=jobs, store=store, conclude=False, progress=progress, held=held)
        summaries = with_distances(done)
        of_schemes.extend(summaries[: len(runs)])
        of_ideal.extend(summaries[len(runs) :])
        if until is None:
            return False
        until.require([so_far()])
        return until.is_met(so_far())

    if until:
        until.check(scenario.classes)
    with concluding(store):
        if until:
            seeds_until(until, len(seeds), look)
        else:
            look(seeds)
    if store:
        first = planner.runs(settings or {}, seeds[:1])
        bursts.keep_bursts(((run, store.place(run)) for run in first), jobs, progress)
    if measured is None:
        return so_far()
    return replace(so_far(), measured=measured.in_network(_flows(of_schemes, store, held or {})))


def _flows(runs: Sequence[RunSummary], store: "stored.Store | None", held: Held) -> "Iterator[pl.DataFrame]":
    """The flows of the first scheme's runs, which are those of every scheme."""
    for run in runs:
        if run.scheme == runs[0].scheme and run.origin:
            if store:
                yield stored.read_run(stored.place_of(store.directory, run.origin)).flows
            else:
                yield decoded(held[run.origin["key"]].tables["flows"])


class Planner:
    """The runs of some schemes in variants of a scenario; each variant and each setting of a scheme is read once."""

    def __init__(self, scenario: Scenario, schemes: Sequence[str | Transport]) -> None:
        """Nothing is read yet."""
        self._scenario, self._schemes = scenario, schemes
        self._scenarios: dict[tuple[tuple[str, str], ...], Scenario] = {}
        self._loaded: dict[tuple[tuple[str, str], ...], list[tuple[Scheme, SchemeSource | None]]] = {}

    def runs(self, settings: Settings, seeds: Sequence[int]) -> list[Run]:
        """Every scheme with every seed, after the settings are applied to whom they belong."""
        if len(seeds) > MOST_SEEDS:
            raise ConfigError(f"seeds: {len(seeds)} are too many; {MOST_SEEDS} is the most")
        wrong = next((seed for seed in seeds if not 0 <= seed <= _LARGEST_SEED), None)
        if wrong is not None:
            raise ConfigError(f"seed: {wrong} is not a whole number from 0 to {_LARGEST_SEED}")
        of_scenario, of_schemes = split_settings(settings)
        changed, in_schemes = (tuple(as_pairs(each)) for each in (of_scenario, of_schemes))
        if changed not in self._scenarios:
            self._scenarios[changed] = self._scenario.with_(of_scenario) if changed else self._scenario
        if in_schemes not in self._loaded:
            self._loaded[in_schemes] = load_with_sources(self._schemes, of_schemes)
        scenario, schemes = self._scenarios[changed], self._loaded[in_schemes]
        for scheme, _ in schemes:
            scheme.warnings(scenario.core)  # says which of its own values do not fit the scenario
        return [Run(scenario, scheme, seed, source) for scheme, source in schemes for seed in seeds]


def plan(
    scenario: Scenario, schemes: Sequence[str | Transport], seeds: Sequence[int], settings: Settings | None = None
) -> list[Run]:
    """The runs of a comparison: every scheme with every seed, after the settings are applied to whom they belong."""
    return Planner(scenario, schemes).runs(settings or {}, seeds)


def plan_ideal(runs: Sequence[Run]) -> list[Run]:
    """The flows of some runs of one scenario under the ideal schedulers that suit it and are not among the runs."""
    if not runs:
        return []
    scenario, seeds = runs[0].scenario, list(dict.fromkeys(run.seed for run in runs))
    present = {run.scheme.name for run in runs}
    names = [name for name in scenario.core.ideal_schedulers() if name not in present]
    return plan(scenario, names, seeds) if names else []
