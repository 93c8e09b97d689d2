"""Schemes compared over common seeds: estimates per scheme, paired differences between schemes."""

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NotRequired, TypedDict

from shortflow.lazy import frames, pl
from shortflow.lazy import measured as measured_flows
from shortflow.metrics.catalogue import QUEUE_MEAN, UNFINISHED, UNFINISHED_OF_ALL, Metric, distances, missing, telling
from shortflow.metrics.stats import Estimate, estimate, paired_difference
from shortflow.quantities import parse
from shortflow.result import RunSummary
from shortflow.scenario import WARNING
from shortflow.scheme import differing

SHORTEST = "ideal-srpt"
"""The ideal scheduler with the lowest mean completion time."""


class MeanTable(TypedDict):
    """A metric over the seeds; `ci95` is null for a single seed, and of a bound that of the bound."""

    mean: float
    ci95: list[float] | None
    n: int
    lower_bound: NotRequired[bool]


class FewEventsTable(TypedDict):
    """A difference that rests on few events: how far one more moves it, what share of seeds may have one, more seeds.

    `seeds` is null above 10,000, as where nothing scatters.
    """

    move: float
    share: float
    seeds: int | None


class DifferenceTable(TypedDict):
    """A paired relative difference (-0.3: 30 % less); `ci95` is null for a single seed.

    `relative` is null where unfinished flows leave open which of the two is lower.
    """

    relative: float | None
    ci95: list[float] | None
    n: int
    lower_bound: NotRequired[bool]
    upper_bound: NotRequired[bool]
    few_events: NotRequired[FewEventsTable]


class SchemeTable(TypedDict):
    """One scheme's part of the document."""

    metrics: dict[str, MeanTable]
    unfinished_share: float | None
    """Of the finite flows that started after the warm-up; null where there is none."""
    digests: dict[str, str]


class MeasuredTable(TypedDict):
    """The user's own flows, of which no metric has an interval."""

    file: str
    flows: int
    metrics: dict[str, MeanTable]


class Document(TypedDict):
    """A comparison as other programs read it; a single scheme has no `paired`."""

    scenario: str
    title: str
    settings: dict[str, str]
    seeds: list[int]
    measured_s: NotRequired[list[float]]
    """From the warm-up to the duration: the time of goodput, queues, drops, marks, retransmissions and timeouts."""
    runs_digest: str
    schemes: dict[str, SchemeTable]
    ideal: NotRequired[dict[str, SchemeTable]]
    measured: NotRequired[MeasuredTable]
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
    measured: "measured_flows.Measured | None" = None
    """Flows of the user's own, which stand beside the schemes and are compared with none."""
    allows_for_events: bool = True
    """Intervals allow for timeouts and late flows that no seed had."""

    def __post_init__(self) -> None:
        """Refuse to take runs for one another that have the same scheme and seed: a fault of whoever put them here."""
        named = [(run.scheme, run.seed) for run in (*self.runs, *self.ideal)]
        if len(set(named)) < len(named):
            scheme, seed = next(each for each in named if named.count(each) > 1)
            raise ValueError(f"{self.scenario}: there are several runs of {scheme} with seed {seed}")

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
    def metrics(self) -> dict[str, Metric]:
        """Every metric that some run has to tell by name, in the order in which runs list them."""
        return telling(row for run in self.runs for row in run.rows)

    @property
    def metric_names(self) -> list[str]:
        """Their names."""
        return list(self.metrics)

    @property
    def runs_digest(self) -> str:
        """One hash over the digests of all runs: equal if and only if every run was equal."""
        ordered = sorted(self.runs, key=lambda run: (run.scheme, run.seed))
        return hashlib.sha256("".join(run.digest for run in ordered).encode()).hexdigest()

    @property
    def measured_s(self) -> tuple[float, float] | None:
        """The measured time, from the warm-up to the duration: that of goodput, queues, drops, marks and timeouts."""
        origin = next((run.origin for run in self.runs if run.origin), None)
        known = {each["key"]: parse(each["value"]) for each in origin["scenario_settings"]} if origin else {}
        start, end = (known.get(key) for key in ("warmup", "duration"))
        return (start.number * start.factor, end.number * end.factor) if start and end else None

    @property
    def notes(self) -> list[str]:
        """What to know before its numbers are believed: warnings, seeds that change nothing, unfinished flows."""
        origin = next((run.origin for run in self.runs if run.origin), None)
        found = [note for note in (origin["traffic_notes"] if origin else []) if note.startswith(WARNING)]
        origins = {run.scheme: run.origin["scheme_settings"] for run in self.runs if run.origin}
        found += differing(origins, origin["scenario_settings"] if origin else [])
        settings = {each["key"]: each["value"] for each in (origin["scenario_settings"] if origin else [])}
        if (ports := settings.get("measure.ports", "")).startswith("all ") and QUEUE_MEAN.pattern in self.metrics:
            found.append(
                f"queues and link use are means over {ports}, as traffic goes to several hosts; see measure.ports"
            )
        digests = [{run.digest for run in self.runs if run.scheme == scheme} for scheme in self.schemes]
        if len(self.seeds) > 1 and all(len(of_scheme) == 1 and all(of_scheme) for of_scheme in digests):
            found.append(
                "every seed gives the same run: nothing in this scenario is random, so ± 0 says nothing of chance"
            )
        counts = {scheme: sum(self.values(scheme, UNFINISHED.pattern).values()) for scheme in self.schemes}
        if left := ", ".join(f"{int(count)} of {scheme}" for scheme, count in counts.items() if count):
            found.append(
                f"unfinished at the end of the drain: {left}; each counts with its age, and ≥ marks lower bounds"
            )
        return found

    def require(self, name: str) -> Metric:
        """The metric if some run has it; otherwise an error that says why none has, or suggests the nearest."""
        metrics = {row.metric.name: row.metric for run in self.runs for row in run.rows}
        if name not in metrics:
            raise missing(name, metrics.values())
        return metrics[name]

    def values(self, scheme: str, metric: str) -> dict[int, float]:
        """A metric of each seed's run that has it."""
        runs = sorted(self._runs_of(scheme), key=lambda run: run.seed)
        return {run.seed: run.metrics[metric] for run in runs if metric in run.metrics}

    def estimate(self, scheme: str, metric: str) -> Estimate | None:
        """A metric's mean over the seeds, if the scheme has it."""
        values = list(self.values(scheme, metric).values())
        if not values:
            return None
        found = estimate(values, self._described[metric].support, self._stake(scheme, metric))
        lacking = len(self._runs_of(scheme)) - len(values)
        return replace(found, lower_bound=self._is_bound(scheme, metric), lacking=lacking)

    def difference(self, scheme: str, baseline: str, metric: str) -> Estimate | None:
        """How far a scheme lies above a baseline, relatively, over the seeds that both have.

        There is none where unfinished flows leave its sign open.
        """
        found = self.relation(scheme, baseline, metric)
        return found if found and found.has_sign else None

    def relation(self, scheme: str, baseline: str, metric: str) -> Estimate | None:
        """The same whether its sign is open or not.

        Above an exact baseline a lower bound is one still; below a baseline that is a lower bound, the difference is an
        upper one.
        """
        ours, theirs = self.values(scheme, metric), self.values(baseline, metric)
        common = [seed for seed in ours if seed in theirs]
        if not common:
            return None
        sides = [ours[seed] for seed in common], [theirs[seed] for seed in common]
        stakes = self._stake(scheme, metric), self._stake(baseline, metric)
        found = paired_difference(*sides, stakes=stakes)
        if found is None:
            return None
        bounds = (self._is_bound(each, metric) for each in (scheme, baseline))
        lacking = len({run.seed for each in (scheme, baseline) for run in self._runs_of(each)}) - len(common)
        return replace(found, lower_bound=next(bounds), upper_bound=next(bounds), lacking=lacking)

    @property
    def scheme_tables(self) -> dict[str, SchemeTable]:
        """What each scheme's runs gave, without differences, as plain data."""
        return {scheme: self._scheme_table(scheme) for scheme in self.schemes}

    def to_frame(self) -> "pl.DataFrame":
        """One row per run, those of ideal schedulers included, with the columns of `shortflow.read_store`."""
        return frames.runs_frame([*self.runs, *self.ideal])

    def document(self) -> Document:
        """The comparison as plain data, in the shape that other programs rely on."""
        document: Document = {
            "scenario": self.scenario,
            "title": self.title,
            "settings": self.settings,
            "seeds": self.seeds,
            "runs_digest": self.runs_digest,
            "schemes": {scheme: self._scheme_table(scheme) for scheme in self.schemes},
        }
        if self.measured_s:
            document["measured_s"] = list(self.measured_s)
        if self.ideal:
            document["ideal"] = {name: self._scheme_table(name) for name in self.ideal_names}
        if self.measured:
            (own,) = self._all[-1:]
            metrics = self._scheme_table(own.scheme)["metrics"]
            document["measured"] = {"file": self.measured.name, "flows": self.measured.flows.height, "metrics": metrics}
        if len(self.schemes) > 1:
            document["paired"] = {
                scheme: {other: self._difference_tables(scheme, other) for other in self.schemes if other != scheme}
                for scheme in self.schemes
            }
        return document

    @functools.cached_property
    def _described(self) -> dict[str, Metric]:
        """The metrics of all runs, those of ideal schedulers and of measured flows included."""
        return {row.metric.name: row.metric for run in self._all for row in run.rows}

    @functools.cached_property
    def _all(self) -> list[RunSummary]:
        return [*self.runs, *self.ideal, *([self.measured.summary] if self.measured else [])]

    def _runs_of(self, scheme: str) -> list[RunSummary]:
        return [run for run in self._all if run.scheme == scheme]

    def _stake(self, scheme: str, metric: str) -> float:
        """The largest stake of a metric in any run of a scheme."""
        if not self.allows_for_events:
            return 0.0
        return max((run.stake(self._described[metric]) for run in self._runs_of(scheme)), default=0.0)

    def _is_bound(self, scheme: str, metric: str) -> bool:
        return any(metric in run.lower_bounds for run in self._runs_of(scheme))

    def _scheme_table(self, scheme: str) -> SchemeTable:
        estimates = {metric: self.estimate(scheme, metric) for metric in self.metric_names}
        unfinished = self.estimate(scheme, UNFINISHED_OF_ALL.pattern)
        return {
            "metrics": {metric: mean_table(each) for metric, each in estimates.items() if each is not None},
            "unfinished_share": unfinished.value if unfinished else None,
            "digests": {str(run.seed): run.digest for run in self._runs_of(scheme)},
        }

    def _difference_tables(self, scheme: str, baseline: str) -> dict[str, DifferenceTable]:
        differences = {metric: self.relation(scheme, baseline, metric) for metric in self.metric_names}
        return {metric: _difference_table(each) for metric, each in differences.items() if each is not None}


def with_distances(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Runs of schemes and ideal schedulers, each with its distance from ideal SRPT on the same flows."""
    shortest = {run.seed: run for run in runs if run.scheme == SHORTEST}
    return [
        replace(run, rows=[*run.rows, *distances(run.rows, shortest[run.seed].rows)]) if run.seed in shortest else run
        for run in runs
    ]


def mean_table(estimate: Estimate) -> MeanTable:
    """An estimate as other programs read it."""
    table: MeanTable = {"mean": estimate.value, "ci95": _plain(estimate), "n": estimate.n}
    if estimate.lower_bound:
        table["lower_bound"] = True
    return table


def _difference_table(difference: Estimate) -> DifferenceTable:
    if not difference.has_sign:
        return {"relative": None, "ci95": None, "n": difference.n}
    table: DifferenceTable = {"relative": difference.value, "ci95": _plain(difference), "n": difference.n}
    if difference.lower_bound:
        table["lower_bound"] = True
    if difference.upper_bound:
        table["upper_bound"] = True
    if few := difference.few_events:
        table["few_events"] = {"move": few.move, "share": few.share, "seeds": few.seeds}
    return table


def _plain(estimate: Estimate) -> list[float] | None:
    return None if estimate.ci95 is None else list(estimate.ci95)
