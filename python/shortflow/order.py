"""Order of schemes by one metric at one point: a winner, a tie, or an open order.

The winner comes from multiple comparisons with the best (`shortflow.judge.best`) on the intervals of the paired
differences. With fewer than `DECISIVE` seeds, no winner is named, unless every seed gives the same run. Answers have no
correction for several points and metrics. The survey confirms its winners over all of them (`judge.best.confirmed`).
"""

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from shortflow.criteria import USUAL
from shortflow.judge.best import Best, Order, beside
from shortflow.judge.estimates import DECISIVE, ESTIMABLE, FAR, Estimate, student
from shortflow.judge.verdicts import Verdict, true_interval, verdict_of
from shortflow.metrics.catalogue import MEAN_FCT, SIZE_MEAN_FCT
from shortflow.metrics.data import RunData, Times, mean
from shortflow.metrics.stakes import stake_source
from shortflow.metrics.statistic import Metric, MetricValue
from shortflow.metrics.stats import nearest_rank
from shortflow.result import as_measured
from shortflow.results import Results

_PLACES = {Verdict.AGREES: "tie", Verdict.UNDECIDED: "open", Verdict.DIFFERS: "worse"}


@dataclass(frozen=True)
class Standing:
    """Standing of one scheme by one metric at one point."""

    scheme: str
    mean: Estimate
    factor: Estimate | None
    """Relative difference from the baseline; None if the sign of the difference is open."""
    verdict: Verdict
    """Verdict on the statement "as good as the best"."""
    lead: Estimate | None = None
    """Relative difference of the best scheme from this one, with the interval that decides.

    None for the best, for a scheme with the same runs, and beside a mean of zero.
    """
    more_seeds: int | None = None
    """Estimated number of further seeds that settle an open order.

    None with fewer than `ESTIMABLE` seeds, above `FAR` seeds, or if the interval allows for rare events.
    """


@dataclass(frozen=True)
class AnswerLine:
    """Standings of all schemes by one metric at one point, best first."""

    metric: Metric
    at: str
    standings: Sequence[Standing]
    cut_s: float | None = None
    """Time in seconds up to which every flow counts; None if flows count with their whole time."""

    @property
    def best(self) -> Best:
        """Comparison with the best."""
        return Best({each.scheme: each.verdict for each in self.standings})

    @property
    def leaders(self) -> list[str]:
        """Schemes of which each may be the best."""
        return self.best.leaders

    def factor(self, scheme: str) -> Estimate | None:
        """Relative difference of a scheme from the baseline, if it has a sign."""
        return next((each.factor for each in self.standings if each.scheme == scheme), None)

    @property
    def outcome(self) -> Order:
        """Order of the schemes."""
        return self.best.order

    def place(self, standing: Standing) -> str:
        """Position of a scheme: `best`, `tie`, `open` or `worse`."""
        return "best" if standing is self.standings[0] else _PLACES[standing.verdict]

    @property
    def more_seeds(self) -> int | None:
        """Estimated number of further seeds that settle the open order.

        None if no order is open, or if the number is unknown for a scheme.
        """
        wanted = [each.more_seeds for each in self.standings if each.verdict is Verdict.UNDECIDED]
        return max((each for each in wanted if each), default=0) if wanted and None not in wanted else None


def on_common_seeds(point: Results) -> Results:
    """The point with only the seeds that all its schemes have."""
    seeds = [{run.seed for run in point.runs if run.scheme == scheme} for scheme in point.schemes]
    common = set.intersection(*seeds) if seeds else set()
    kept = [run for run in point.done if run.seed in common]
    return point if all(each == common for each in seeds) else replace(point, done=kept)


def line_of(
    point: Results,
    metric: Metric,
    ties: tuple[float, float] = USUAL.ties,
    *,
    baseline: str = "",
    at: str = "",
    among: float = 1.0,
) -> AnswerLine | None:
    """Order by a metric at a point whose schemes have equal seeds; None if no scheme has the metric.

    If the means of several schemes are lower bounds, flows count up to a common time, if one can be found: the means
    are then exact. The paired intervals of `among` such orders together have 95 % confidence (Bonferroni).
    """
    found = _means(point, metric)
    if not found:
        return None
    cut_s = None
    if sum(each.lower_bound for each in found.values()) > 1:
        times = _times(point, metric)
        cut_s = _common_time(times)
        if cut_s is not None:
            point = _up_to(cut_s, point, metric, times)
            found = _means(point, metric)
    sign = -1 if metric.more_is_better else 1
    # A lower bound may be far below the true mean, so a scheme with a bound comes after all schemes without.
    order = sorted(found, key=lambda scheme: (found[scheme].lower_bound, sign * found[scheme].value))
    best = order[0]
    decided, standings = min(each.n for each in found.values()) >= DECISIVE or is_exact(point), []
    others = among * (len(order) - 1)
    for scheme in order:
        verdict, lead = _beside(point, metric, best, scheme, others, ties)
        more = _more_seeds(lead, others, margin(ties)) if lead and verdict is Verdict.UNDECIDED else None
        # Fewer than `DECISIVE` seeds name no winner.
        verdict = Verdict.UNDECIDED if verdict is Verdict.DIFFERS and not decided else verdict
        factor = point.change(scheme, baseline, metric.name)
        standings.append(Standing(scheme, found[scheme], factor, verdict, lead, more))
    return AnswerLine(metric, at, standings, cut_s)


def is_exact(point: Results) -> bool:
    """True if, under every scheme, several seeds gave the same run."""
    return all(map(point.is_exact, point.schemes))


def _means(point: Results, metric: Metric) -> dict[str, Estimate]:
    found = {scheme: point.mean(scheme, metric.name) for scheme in point.schemes}
    return {scheme: each for scheme, each in found.items() if each and math.isfinite(each.value)}


def _times(point: Results, metric: Metric) -> list[Times]:
    """Completion times of each run whose mean is the metric. Empty for other metrics, and without tables of flows."""
    if metric.statistic not in (MEAN_FCT, SIZE_MEAN_FCT) or not all(run.tables for run in point.runs):
        return []
    data = [RunData({"flows": run.table("flows")}, run.meta, run.bins) for run in point.runs]
    if metric.size_bin:
        return [each.sizes[metric.size_bin].times for each in data]
    return [each.classes[metric.flow_class or ""].times for each in data]


def _common_time(times: Sequence[Times]) -> float | None:
    """Smallest age of an unfinished flow in seconds. Means of times that are cut at this age are exact.

    None if more than 1 % of finished flows took longer, because means would then hide the slow flows.
    """
    flows = [each for of in times for each in zip(of.values, of.censored, strict=True)]
    done = [time for time, late in flows if not late]
    cut_s = min((age for age, late in flows if late), default=None)
    return cut_s if cut_s is not None and done and nearest_rank(done, 99) <= cut_s else None


def _up_to(cut_s: float, point: Results, metric: Metric, times: Sequence[Times]) -> Results:
    """The point with mean FCTs that count every flow up to `cut_s` seconds."""
    source = stake_source(metric)
    assert source  # `_times` has times of mean FCTs alone
    runs = []
    for run, of in zip(point.runs, times, strict=True):
        # The stake of the mean is computed from the longest time, so this time is cut too.
        cut = {
            metric.name: mean([min(time, cut_s) for time in of.values]) or 0.0,
            source.longest: min(run.metrics[source.longest], cut_s),
        }
        rows = [
            MetricValue(row.metric, cut.get(row.metric.name, row.value), row.lower_bound and row.metric != metric)
            for row in run.rows
        ]
        runs.append(replace(run, record={**run.record, **as_measured(rows, run.bins)}))
    return replace(point, done=runs)


def _beside(
    point: Results, metric: Metric, best: str, other: str, among: float, ties: tuple[float, float]
) -> tuple[Verdict, Estimate | None]:
    """Verdict on "`other` is as good as the best", and the best's relative difference from it, if that decides."""
    more_is_better = metric.more_is_better
    found = None if point.are_same(best, other) else point.relation(best, other, metric.name, among)
    if found is None:  # the runs are the same, as those of the best itself, or the other mean is zero
        if point.mean(best, metric.name) == point.mean(other, metric.name):
            return Verdict.AGREES, None
        starved = point.relation(other, best, metric.name, among) if more_is_better else None
        return verdict_of(true_interval(starved), (0.0, math.inf)), None
    return beside(found, more_is_better, ties), found


def margin(ties: tuple[float, float]) -> float:
    """Half-width of a factor's interval that settles any order as a winner or a tie."""
    return min(ties[0], ties[1] - ties[0])


def _more_seeds(found: Estimate, among: float, margin: float) -> int | None:
    """Estimated number of further seeds until the half-width of a factor's logarithm is as narrow as the margin.

    The estimate uses the scatter alone. An estimate that also uses the ratio is off by
    more than a factor of 3 in most draws.
    """
    low, high = true_interval(found)
    if found.n < ESTIMABLE or found.few_events or margin <= 0 or low <= -1 or found.lower_bound:
        return None
    scatter = (math.log1p(high) - math.log1p(low)) / 2 * math.sqrt(found.n) / student(found.n, among)
    aim, further = math.log1p(margin), range(1, FAR + 1)
    settled = bisect.bisect_left(
        further, True, key=lambda more: student(found.n + more, among) * scatter / math.sqrt(found.n + more) <= aim
    )
    return further[settled] if settled < FAR else None
