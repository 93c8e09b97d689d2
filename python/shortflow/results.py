"""Finished runs and the settings that differ between them: a comparison, a sweep, a store, or the data of a figure.

Within a point (equal `at`), schemes have common seeds, so differences are paired.
"""

import functools
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from shortflow.criteria import Criteria
from shortflow.errors import ConfigError, front_door, unknown_name
from shortflow.grid import Dimension, dimensions
from shortflow.judge.estimates import Estimate
from shortflow.judge.samples import Sample, are_same, gave_one_run
from shortflow.metrics import catalogue
from shortflow.metrics.absence import check_name, missing
from shortflow.metrics.data import USUAL_BINS, Bins
from shortflow.metrics.statistic import Metric, MetricValue
from shortflow.quantities import parse
from shortflow.result import Result

if TYPE_CHECKING:
    from shortflow.measured import MeasuredFlows


@dataclass(frozen=True, repr=False, eq=False)
class Results:
    """Finished runs of schemes over common seeds, with ideal schedulers on the same flows.

    `estimate` and `difference` are computed over the seeds. If settings vary, `points` has the results of each point.
    """

    done: Sequence[Result]
    """All runs in the requested order, including failed runs."""
    scenario: str = ""
    title: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings by `--set`, of scenario and schemes."""
    keys: Sequence[str] = ()
    """Settings that vary between points."""
    ideal_names: Sequence[str] = ()
    """Schemes that are ideal schedulers."""
    no_ideal: str = ""
    """Reason why ideal schedulers were left out. Empty if they were left out on request."""
    measured: "MeasuredFlows | None" = None
    """The user's measured flows, shown beside the schemes without differences."""
    allows_for_events: bool = True
    """True if intervals allow for timeouts and late flows that no seed had."""
    met_at: Mapping[tuple[str, ...], bool] | None = None
    """For each point, true if its intervals are narrow enough. None if no width was wanted."""
    superseded: Sequence[Result] = ()
    """Older runs that newer runs with equal settings supersede."""
    directory: Path | None = None
    """The store of the runs, with one or several scenarios."""
    label: str = ""
    """Values of a point's settings, as text."""
    criteria: Criteria | None = None
    """Criteria of the answer. None for the usual criteria."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for two runs of one scheme and seed, which are a programming error."""
        if not self.keys and not self.directory:  # several points, and a store, may repeat a scheme and seed
            seen = set()
            for run in self.done:
                if (run.scheme, run.seed) in seen:
                    raise ValueError(f"{self.scenario}: there are several runs of {run.scheme} with seed {run.seed}")
                seen.add((run.scheme, run.seed))

    @classmethod
    def of_point(cls, runs: Sequence[Result], settings: Mapping[str, str]) -> Self:
        """Results from runs of one scenario with equal settings."""
        of = runs[0].provenance
        return cls(runs, of["scenario"], of["title"], settings)

    def __add__(self, more: Sequence[Result]) -> Self:
        """These results with more runs."""
        return replace(self, done=[*self.done, *more])

    @functools.cached_property
    def runs(self) -> Sequence[Result]:
        """Successful runs of schemes, without ideal schedulers."""
        return [run for run in self.done if not run.error and run.scheme not in self.ideal_names]

    @functools.cached_property
    def ideal(self) -> list[Result]:
        """Successful runs of ideal schedulers."""
        return [run for run in self.done if not run.error and run.scheme in self.ideal_names]

    @functools.cached_property
    def results(self) -> Sequence[Result]:
        """Successful runs, with ideal schedulers last. A run at several points is listed once."""
        return list({(run.key, run.digest): run for run in [*self.runs, *self.ideal]}.values())

    @functools.cached_property
    def failed(self) -> list[Result]:
        """Failed runs. A run at several points is listed once, at its first point."""
        found: dict[str, Result] = {}
        for run in self.done:
            if run.error:
                found.setdefault(run.key, run)
        return list(found.values())

    @property
    def failures(self) -> list[dict[str, Any]]:
        """Failed runs as plain data."""
        return [
            {"at": dict(run.at), "scheme": run.scheme, "seed": run.seed, "error": run.error_text} for run in self.failed
        ]

    @property
    def reused(self) -> int:
        """Number of runs found in the store."""
        return sum(run.reused for run in self.results)

    @property
    def scenarios(self) -> list[str]:
        """Names of the scenarios."""
        return list(dict.fromkeys(run.provenance["scenario"] for run in self.done))

    @property
    def at(self) -> Mapping[str, str]:
        """Settings of a point."""
        return self.settings

    @functools.cached_property
    def points(self) -> list[Self]:
        """Results of each point. If nothing varies, the only point is these results."""
        if not self.keys:
            return [self]
        groups: dict[tuple[tuple[str, str], ...], list[Result]] = {}
        for run in self.done:
            groups.setdefault(tuple(run.at.items()), []).append(run)
        return [self._point(dict(at), group) for at, group in groups.items()]

    def _point(self, at: Mapping[str, str], done: Sequence[Result]) -> Self:
        here, label = {run.scheme for run in done}, ", ".join(at[each.key] for each in self.dimensions)
        beside = [name for name in self.ideal_names if name in here]
        beside = beside if len(beside) < len(here) else []  # if there are only ideal schedulers, they are the schemes
        return replace(self, done=done, settings=at, keys=(), ideal_names=beside, superseded=(), label=label)

    @functools.cached_property
    def dimensions(self) -> list[Dimension]:
        """Settings with several values. Settings whose values correspond one to one are one dimension."""
        return dimensions(self.keys, list({tuple(run.at.items()): run.at for run in self.done}.values()))

    @property
    def x_name(self) -> str | None:
        """Names of the settings that vary. None if no setting varies."""
        return ", ".join(each.label for each in self.dimensions) or None

    @property
    def place(self) -> str:
        """Settings of a point, as text."""
        return ", ".join(f"{key} {value}" for key, value in self.settings.items())

    @functools.cached_property
    def with_tables(self) -> Self:
        """The runs that have tables."""
        return replace(self, done=[run for run in self.done if run.tables])

    @property
    def classes(self) -> list[str]:
        """Flow classes that metrics cover."""
        return list(dict.fromkeys(metric.flow_class for metric in self.metrics.values() if metric.flow_class))

    @property
    def met(self) -> bool | None:
        """True if a point's intervals reached the wanted width. None if no width was wanted."""
        return None if self.met_at is None else self.met_at[tuple(self.settings.values())] and not self.failed

    @property
    def schemes(self) -> list[str]:
        """Schemes in the order of their first run."""
        return list(dict.fromkeys(run.scheme for run in self.runs))

    @property
    def seeds(self) -> list[int]:
        """Seeds in ascending order."""
        return sorted({run.seed for run in self.runs})

    @functools.cached_property
    def metrics(self) -> dict[str, Metric]:
        """Informative metrics by name, in the order of the runs."""
        return catalogue.telling(self._rows.values(), self.bins)

    @property
    def bins(self) -> Bins:
        """Size bins of the metrics."""
        return next((run.bins for run in self.runs), USUAL_BINS)

    @front_door
    def with_bins(self, bins: Bins | str | Sequence[str | int]) -> Self:
        """The runs with metrics of other size bins: upper ends in bytes, or a text such as `10KB,100KB,1MB`.

        Short flows end at the last size but one, and long flows begin at the last size. Raises `ConfigError` if runs
        have no tables.
        """
        found = Bins.parse(bins)
        own = self.measured and replace(self.measured, bins=found)
        return replace(self, done=[run.with_bins(found) for run in self.done], measured=own)

    @property
    def metric_names(self) -> list[str]:
        """Names of the metrics."""
        return list(self.metrics)

    @property
    def runs_digest(self) -> str:
        """Hash over the digests of all runs."""
        ordered = sorted(self.runs, key=lambda run: (run.scheme, run.seed))
        return hashlib.sha256("".join(run.digest for run in ordered).encode()).hexdigest()

    @property
    def measured_s(self) -> tuple[float, float] | None:
        """Measured time (start, end) in seconds, from warm-up to duration. None if unknown."""
        known = {key: parse(value) for key, value in self.resolved.items() if key in ("warmup", "duration")}
        start, end = (known.get(key) for key in ("warmup", "duration"))
        return (start.number * start.factor, end.number * end.factor) if start and end else None

    @property
    def resolved(self) -> dict[str, str]:
        """Resolved settings of the first run's scenario."""
        return {each["key"]: each["value"] for run in self.runs[:1] for each in run.provenance["scenario_settings"]}

    def absent(self, names: Iterable[str]) -> dict[str, ConfigError]:
        """Metrics that no run has, with the error of each metric: the reason or the nearest name."""
        known, metas = [row.metric for row in self._rows.values()], [run.meta for run in self.runs]
        return {name: missing(name, known, metas, self.bins) for name in names if name not in self._rows}

    def require(self, name: str) -> Metric:
        """The metric, if at least one run has it. Otherwise raises the metric's error from `absent`."""
        for error in self.absent([name]).values():
            raise error
        return self._rows[name].metric

    def values(self, scheme: str, metric: str) -> dict[int, float]:
        """Values of a metric by seed, from the runs that have the metric."""
        return {run.seed: run.metrics[metric] for run in self._of(scheme) if metric in run.metrics}

    @front_door
    def estimate(self, scheme: str, metric: str) -> Estimate | None:
        """Mean of a metric over the seeds with its 95 % interval. None if the scheme lacks the metric.

        Raises `ConfigError` with the nearest name for an unknown scheme or metric.
        """
        self._check(metric, scheme)
        return self.mean(scheme, metric)

    def mean(self, scheme: str, metric: str) -> Estimate | None:
        """Like `estimate`, but None for an unknown scheme or metric."""
        found = self._sample(scheme, metric)
        return found.mean if found else None

    @front_door
    def difference(self, scheme: str, baseline: str, metric: str) -> Estimate | None:
        """Relative difference from a baseline, paired by seed (-0.3 means 30 % lower).

        None if unfinished flows leave the sign open. Raises `ConfigError` with the nearest name for an unknown scheme
        or metric.
        """
        self._check(metric, scheme, baseline)
        return self.change(scheme, baseline, metric)

    def change(self, scheme: str, baseline: str, metric: str) -> Estimate | None:
        """Like `difference`, but None for an unknown scheme or metric."""
        found = self.relation(scheme, baseline, metric)
        return found if found and found.has_sign else None

    def relation(self, scheme: str, baseline: str, metric: str, among: float = 1.0) -> Estimate | None:
        """Like `change`, but also if the sign is open.

        With `among` above 1, the interval is wider (`paired_difference`). The difference is a lower bound if the
        scheme's metric is one, and an upper bound if the baseline's metric is a lower bound.
        """
        ours, theirs = self._sample(scheme, metric), self._sample(baseline, metric)
        if ours is None or theirs is None:
            return None
        return Estimate(0.0, None, len(ours.values)) if scheme == baseline else ours.relation(theirs, among)

    def digests(self, scheme: str) -> dict[str, str]:
        """Digest of each run of a scheme, by seed."""
        return {str(run.seed): run.digest for run in self._of(scheme)}

    def are_same(self, scheme: str, other: str) -> bool:
        """True if two schemes have equal runs: the same digest for every seed."""
        return scheme == other or are_same(self._digests(scheme), self._digests(other))

    def is_exact(self, scheme: str) -> bool:
        """True if several seeds of a scheme gave equal runs, so that other seeds would too."""
        return gave_one_run(self._digests(scheme).values())

    def _check(self, metric: str, *schemes: str) -> None:
        for scheme in schemes:
            if scheme not in self._by_scheme:
                raise unknown_name("scheme of this comparison", scheme, self._by_scheme)
        if metric not in self._described:
            classes = [each.flow_class for each in self._described.values() if each.flow_class]
            check_name(metric, classes, bins=self.bins)

    @functools.cached_property
    def _by_scheme(self) -> dict[str, list[Result]]:
        """Runs of each scheme, in the order of their seeds."""
        found: dict[str, list[Result]] = {}
        for run in [*self.runs, *self.ideal, *([self.measured.result] if self.measured else [])]:
            found.setdefault(run.scheme, []).append(run)
        return {scheme: sorted(runs, key=lambda run: run.seed) for scheme, runs in found.items()}

    @functools.cached_property
    def _rows(self) -> dict[str, MetricValue]:
        """One row for each metric that a scheme's run has, by name."""
        return {row.metric.name: row for run in self.runs for row in run.rows}

    @functools.cached_property
    def _described(self) -> dict[str, Metric]:
        """Metrics of all runs, including ideal schedulers and measured flows."""
        beside = [*self.ideal, *([self.measured.result] if self.measured else [])]
        rows = [*self._rows.values(), *(row for run in beside for row in run.rows)]
        return {row.metric.name: row.metric for row in rows}

    def _of(self, scheme: str) -> list[Result]:
        return self._by_scheme.get(scheme, [])

    def _digests(self, scheme: str) -> dict[int, str]:
        return {run.seed: run.digest for run in self._of(scheme)}

    def _sample(self, scheme: str, metric: str) -> Sample | None:
        """Values of a metric for the judge; None if no run of the scheme has it."""
        values = self.values(scheme, metric)
        if not values:
            return None
        about = self._described[metric]
        stakes = [run.stake(about) for run in self._of(scheme)] if self.allows_for_events else [0.0]
        return Sample(values, self._digests(scheme), about.support, max(stakes), self.is_bound(scheme, metric))

    def is_bound(self, scheme: str, metric: str) -> bool:
        """True if a metric of a scheme is a lower bound in at least one run."""
        return any(metric in run.lower_bounds for run in self._of(scheme))
