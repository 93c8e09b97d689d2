"""Schemes compared over common seeds: estimates per scheme, paired differences between schemes."""

import functools
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NotRequired, TypedDict

import polars as pl

from shortflow.errors import unknown_name
from shortflow.frames import runs_frame
from shortflow.metrics import distances
from shortflow.result import Provenance
from shortflow.stats import Estimate, estimate, paired_difference

SHORTEST = "ideal-srpt"
"""The ideal scheduler with the lowest mean completion time."""


@dataclass(frozen=True)
class RunSummary:
    """What a comparison keeps of one run."""

    scheme: str
    seed: int
    digest: str
    metrics: dict[str, float]
    wall_s: float
    reused: bool = False
    lower_bounds: frozenset[str] = frozenset()
    """The metrics that are lower bounds."""
    origin: Provenance | None = None
    """Where the run came from; None for a summary that is no run's own."""


def summarize(
    origin: Provenance, metrics: dict[str, float], lower_bounds: Iterable[str], *, reused: bool = False
) -> RunSummary:
    """What a comparison keeps of a run from there with these metrics."""
    scheme, seed, digest, wall_s = origin["scheme"], origin["seed"], origin["digest"], origin["wall_s"]
    return RunSummary(scheme, seed, digest, metrics, wall_s, reused, frozenset(lower_bounds), origin)


class MeanTable(TypedDict):
    """A metric over the seeds; `ci95` is null for a single seed."""

    mean: float
    ci95: list[float] | None
    n: int


class DifferenceTable(TypedDict):
    """A paired relative difference (-0.3: 30 % less); `ci95` is null for a single seed."""

    relative: float
    ci95: list[float] | None
    n: int


class SchemeTable(TypedDict):
    """One scheme's part of the document."""

    metrics: dict[str, MeanTable]
    digests: dict[str, str]


class Document(TypedDict):
    """A comparison as other programs read it; a single scheme has no `paired`."""

    scenario: str
    title: str
    settings: dict[str, str]
    seeds: list[int]
    digest: str
    schemes: dict[str, SchemeTable]
    ideal: NotRequired[dict[str, SchemeTable]]
    paired: NotRequired[dict[str, dict[str, dict[str, DifferenceTable]]]]


@dataclass(frozen=True)
class Comparison:
    """The runs of some schemes in one scenario over the same seeds."""

    scenario: str
    title: str
    settings: dict[str, str]
    """What was changed with `--set`, scenario and schemes alike."""
    runs: Sequence[RunSummary]
    ideal: Sequence[RunSummary] = ()
    """The same flows under ideal schedulers."""

    @property
    def schemes(self) -> list[str]:
        """The schemes in the order of their first run."""
        return list(dict.fromkeys(run.scheme for run in self.runs))

    @property
    def ideal_names(self) -> list[str]:
        """The ideal schedulers beside the schemes."""
        return list(dict.fromkeys(run.scheme for run in self.ideal))

    @property
    def seeds(self) -> list[int]:
        """The seeds in ascending order."""
        return sorted({run.seed for run in self.runs})

    @functools.cached_property
    def metric_names(self) -> list[str]:
        """Every metric that some run has, in the order in which runs list them."""
        return list(dict.fromkeys(name for run in self.runs for name in run.metrics))

    @property
    def digest(self) -> str:
        """One hash over the digests of all runs: equal if and only if every run was equal."""
        ordered = sorted(self.runs, key=lambda run: (run.scheme, run.seed))
        return hashlib.sha256("".join(run.digest for run in ordered).encode()).hexdigest()

    def require(self, metric: str) -> str:
        """The metric's name if some run has it; otherwise an error that suggests the nearest one."""
        if metric not in self.metric_names:
            raise unknown_name("metric", metric, self.metric_names)
        return metric

    def values(self, scheme: str, metric: str) -> dict[int, float]:
        """A metric of each seed's run that has it."""
        runs = sorted(self._runs_of(scheme), key=lambda run: run.seed)
        return {run.seed: run.metrics[metric] for run in runs if metric in run.metrics}

    def estimate(self, scheme: str, metric: str) -> Estimate | None:
        """A metric's mean over the seeds, if the scheme has it."""
        values = list(self.values(scheme, metric).values())
        return estimate(values) if values else None

    def difference(self, scheme: str, baseline: str, metric: str) -> Estimate | None:
        """How far a scheme lies above a baseline, relatively, over the seeds that both have."""
        ours, theirs = self.values(scheme, metric), self.values(baseline, metric)
        common = [seed for seed in ours if seed in theirs]
        if not common:
            return None
        return paired_difference([ours[seed] for seed in common], [theirs[seed] for seed in common])

    def to_frame(self) -> pl.DataFrame:
        """One row per run, those of ideal schedulers included, with the columns of `shortflow.read_store`."""
        return runs_frame([*self.runs, *self.ideal])

    def document(self) -> Document:
        """The comparison as plain data, in the shape that other programs rely on."""
        document: Document = {
            "scenario": self.scenario,
            "title": self.title,
            "settings": self.settings,
            "seeds": self.seeds,
            "digest": self.digest,
            "schemes": {scheme: self._scheme_table(scheme) for scheme in self.schemes},
        }
        if self.ideal:
            document["ideal"] = {name: self._scheme_table(name) for name in self.ideal_names}
        if len(self.schemes) > 1:
            document["paired"] = {
                scheme: {other: self._difference_tables(scheme, other) for other in self.schemes if other != scheme}
                for scheme in self.schemes
            }
        return document

    def _runs_of(self, scheme: str) -> list[RunSummary]:
        return [run for run in [*self.runs, *self.ideal] if run.scheme == scheme]

    def _scheme_table(self, scheme: str) -> SchemeTable:
        estimates = {metric: self.estimate(scheme, metric) for metric in self.metric_names}
        return {
            "metrics": {
                metric: {"mean": e.value, "ci95": _plain(e), "n": e.n}
                for metric, e in estimates.items()
                if e is not None
            },
            "digests": {str(run.seed): run.digest for run in self._runs_of(scheme)},
        }

    def _difference_tables(self, scheme: str, baseline: str) -> dict[str, DifferenceTable]:
        differences = {metric: self.difference(scheme, baseline, metric) for metric in self.metric_names}
        return {
            metric: {"relative": d.value, "ci95": _plain(d), "n": d.n}
            for metric, d in differences.items()
            if d is not None
        }


def with_distances(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Runs of schemes and ideal schedulers, each with its distance from ideal SRPT on the same flows."""
    shortest = {run.seed: run.metrics for run in runs if run.scheme == SHORTEST}
    return [replace(run, metrics=run.metrics | distances(run.metrics, shortest.get(run.seed, {}))) for run in runs]


def _plain(estimate: Estimate) -> list[float] | None:
    return None if estimate.ci95 is None else list(estimate.ci95)
