"""Answer of a comparison: winner by each metric at each point, a tie, or an open order.

The winner comes from multiple comparisons with the best (J. C. Hsu, Ann. Stat. 12, 1984) on the intervals of the paired
differences, with the level divided by the number of other schemes (Bonferroni). Points and metrics are not corrected.
"""

import bisect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Any, Literal

from shortflow.errors import unknown_name
from shortflow.metrics.catalogue import (
    FCT,
    FLOWS_DONE,
    MEAN_FCT,
    SIZE_MEAN_FCT,
    TASK_TIME,
    UNFINISHED,
    Metric,
    Row,
    short_and_long,
)
from shortflow.metrics.data import USUAL_BINS, Bins, RunData, mean
from shortflow.metrics.stakes import place
from shortflow.metrics.stats import Estimate, nearest_rank, student
from shortflow.quantities import scale_for
from shortflow.report.wording import factor, headline_metrics, metrics_of, number, scheme_pairs, shown, title
from shortflow.result import as_measured
from shortflow.results import Results, mean_table

_BEYOND = 10
"""Flows beyond a percentile, per seed, for a steady estimate."""
_MOST_POINTS = 20
"""Most points with a line each."""
_FAR = 10_000
"""Most further seeds to suggest."""
EVERY_FLOW = "All measured flows finished."

Place = Literal["best", "tie", "open", "worse"]


@dataclass(frozen=True)
class Criteria:
    """What decides an answer."""

    metrics: Sequence[str] = ()
    """Names (default: headlines)."""
    baseline: str | None = None
    """Scheme of the factors (default: the first)."""
    ties: tuple[float, float] = (0.05, 0.1)
    """Schemes tie if their factor is within the first share of 1, and its interval within the second."""
    bins: Bins = USUAL_BINS
    """Size bins of the metrics."""

    @property
    def text(self) -> str:
        """How winners and ties are decided."""
        factor, interval = (f"{100 * share:g} %" for share in self.ties)
        return (
            "Winners are decided by multiple comparisons with the best at 95 % confidence. Points and metrics are not "
            f"corrected. Schemes tie if their factor is within {factor} and its interval within {interval}."
        )


USUAL = Criteria()


@dataclass(frozen=True)
class Standing:
    """One scheme by one metric at one point."""

    scheme: str
    mean: Estimate
    factor: Estimate | None
    """Relative difference from the baseline; None without a sign."""
    place: Place
    more_seeds: int | None = None
    """Estimated further seeds to settle an open order; None above 10,000, and with one seed."""


@dataclass(frozen=True)
class Line:
    """Schemes by one metric at one point, best first."""

    metric: Metric
    at: str
    standings: Sequence[Standing]
    cut_s: float | None = None
    """Time in seconds up to which every flow counts; None if all of it counts."""

    @property
    def leaders(self) -> list[str]:
        """Schemes that may be the best."""
        return [each.scheme for each in self.standings if each.place != "worse"]

    def factor(self, scheme: str) -> Estimate | None:
        """Relative difference of a scheme from the baseline, if it has a sign."""
        return next((each.factor for each in self.standings if each.scheme == scheme), None)

    @property
    def outcome(self) -> Literal["winner", "tie", "open"]:
        """Outcome of the line."""
        places = {each.place for each in self.standings}
        return "open" if "open" in places else "tie" if "tie" in places else "winner"

    @property
    def more_seeds(self) -> int | None:
        """Estimated further seeds to settle an open order; None if nothing is open, or if too many."""
        wanted = [each.more_seeds for each in self.standings if each.place == "open"]
        return max((each for each in wanted if each), default=0) if wanted and None not in wanted else None


@dataclass(frozen=True)
class Ranking:
    """Answer of results at all their points."""

    study: Results
    baseline: str
    lines: Sequence[Line]
    criteria: Criteria = USUAL

    def of(self, metric: Metric) -> list[Line]:
        """Lines of a metric."""
        return [line for line in self.lines if line.metric == metric]

    @property
    def metrics(self) -> list[Metric]:
        """Metrics, each once."""
        return list(dict.fromkeys(line.metric for line in self.lines))

    @property
    def words(self) -> list[str]:
        """One sentence per metric over all points, then one per point if several, then caveats."""
        at_points = self.at_points if len(self.study.points) > 1 else []
        return [*self.over_points, *at_points, *self.caveats]

    @property
    def over_points(self) -> list[str]:
        """A sentence for each metric over all points."""
        return [self._over_points(metric) for metric in self.metrics]

    @property
    def caveats(self) -> list[str]:
        """Limits of the answer."""
        return [*self._few_flows(), *notes(self.study, self.metrics)]

    @property
    def at_points(self) -> list[str]:
        """One sentence per point."""
        found = []
        for point in self.study.points[:_MOST_POINTS]:
            here = [line for line in self.lines if line.at == point.label]
            told = "; ".join(
                f"{_short_title(line.metric)} {_verdict(line)}{self._factors([line], all_worse=False)}" for line in here
            )
            found += [f"{self.study.x_name} {point.label}: {told}."] if told else []
        return found

    def document(self) -> dict[str, Any]:
        """The answer as plain data."""
        return {"baseline": self.baseline, "words": self.words, "lines": [_line_table(line) for line in self.lines]}

    def _over_points(self, metric: Metric) -> str:
        lines = self.of(metric)
        if not self.study.x_name:
            return f"{title(metric)}: {self._at_length(lines[0])}."
        groups = [list(group) for _, group in groupby(lines, key=lambda line: (line.outcome, {*line.leaders}))]
        return f"{title(metric)}: {'; '.join(self._group(group) for group in groups)}."

    def _group(self, lines: Sequence[Line]) -> str:
        """Text on neighbouring points with the same outcome."""
        at = lines[0].at if len(lines) == 1 else f"{lines[0].at} to {lines[-1].at}"
        where = f"at {self.study.x_name} {at}"
        return f"{_verdict(lines[0])} {where}{self._factors(lines)}{_would_tell(lines)}{_cut(lines)}"

    def _factors(self, lines: Sequence[Line], *, all_worse: bool = True) -> str:
        """Factors of the baseline at points with one outcome: the winner's, if another, and those of all that lose."""
        if lines[0].outcome == "open":
            return ""
        leads = self.baseline in lines[0].leaders
        lost = [each.scheme for each in lines[0].standings if each.place == "worse" and each.scheme != self.baseline]
        told = [*([] if leads else lines[0].leaders[:1]), *(lost if leads or all_worse else [])]
        found = {scheme: _range([line.factor(scheme) for line in lines]) for scheme in told}
        texts = [text if scheme in lines[0].leaders else f"{scheme} {text}" for scheme, text in found.items() if text]
        return f" ({', '.join(texts)} × {self.baseline})" if texts else ""

    def _at_length(self, line: Line) -> str:
        """Text on the only point: value of the best scheme, and factors over the baseline."""
        best = line.standings[0]
        scale = scale_for(line.metric.unit, [best.mean.value])
        text = f"{_verdict(line)}, {shown(best.mean, scale.divisor, scale.unit)}{_would_tell([line])}{_cut([line])}"
        factors = [
            f"{each.scheme} {factor(each.factor)}"
            for each in line.standings
            if each.scheme != self.baseline and each.factor is not None
        ]
        return text + (f"; factors of {self.baseline}: {', '.join(factors)}" if factors else "")

    def _few_flows(self) -> Iterator[str]:
        """Notes on percentiles from few flows."""
        for metric in self.metrics:
            found = place(metric)
            if found is None or found[0] is None or found[0] >= 100:
                continue
            wanted = round(_BEYOND / (1 - found[0] / 100))
            counts = [
                each.value
                for point in self.study.points
                for scheme in point.schemes
                if (each := point.mean(scheme, found[1][0]))
            ]
            if counts and min(counts) < wanted:
                seen = " to ".join(dict.fromkeys(f"{count:,.0f}" for count in (min(counts), max(counts))))
                yield f"{title(metric)} rests on {seen} flows a seed. Use {wanted:,} or more."


def answer(study: Results, criteria: Criteria = USUAL) -> Ranking:
    """Answer by some criteria."""
    schemes, baseline = study.schemes, criteria.baseline
    if baseline is not None and baseline not in schemes:
        raise unknown_name("scheme of these runs", baseline, schemes)
    chosen = [study.require(name) for name in criteria.metrics]
    baseline = baseline or (schemes[0] if schemes else "")
    lines = [
        line
        for metric in chosen or headlines(study)
        for point in study.points
        if (line := _line(_on_common_seeds(point), metric, baseline, criteria.ties, point.label))
    ]
    return Ranking(study, baseline, lines, criteria)


def headlines(study: Results) -> list[Metric]:
    """Headline metrics: task times, p99 slowdown and mean FCT of short flows, goodput of long flows.

    Without short flows, FCTs of the first class stand in.
    """
    known = study.metrics.values()
    *short, goodput = ([each] if each in known else [] for each in short_and_long(study.bins))
    if not any(short) and (first := metrics_of(study, MEAN_FCT)[:1]):
        short = [[Metric(FCT[99], first[0].flow_class)], first]
    return [*metrics_of(study, TASK_TIME), *chain(*short), *goodput]


def _on_common_seeds(point: Results) -> Results:
    """Runs with seeds that all schemes have."""
    seeds = [{run.seed for run in point.runs if run.scheme == scheme} for scheme in point.schemes]
    common = set.intersection(*seeds) if seeds else set()
    kept = [run for run in point.done if run.seed in common]
    return point if all(each == common for each in seeds) else replace(point, done=kept)


def _line(point: Results, metric: Metric, baseline: str, ties: tuple[float, float], at: str) -> Line | None:
    found = _means(point, metric)
    if not found:
        return None
    cut_s = None
    if sum(each.lower_bound for each in found.values()) > 1 and (cut := _cut_short(point, metric)):
        point, cut_s = cut
        found = _means(point, metric)
    sign = -1 if metric.more_is_better else 1
    order = sorted(found, key=lambda scheme: (found[scheme].lower_bound, sign * found[scheme].value))
    best = order[0]
    standings = []
    for scheme in order:
        compared = (point, metric, best, scheme, len(order) - 1, ties)
        where, more = ("best", None) if scheme == best else _beside(*compared)
        standings.append(Standing(scheme, found[scheme], point.change(scheme, baseline, metric.name), where, more))
    return Line(metric, at, standings, cut_s)


def _means(point: Results, metric: Metric) -> dict[str, Estimate]:
    found = {scheme: point.mean(scheme, metric.name) for scheme in point.schemes}
    return {scheme: each for scheme, each in found.items() if each and math.isfinite(each.value)}


def _cut_short(point: Results, metric: Metric) -> tuple[Results, float] | None:
    """Runs whose mean FCT counts every flow up to one time, the least age of an unfinished flow; and this time.

    These means are exact. None for other metrics, without tables of flows, and if more than 1 % of finished flows took
    longer: such means would leave out the slow flows.
    """
    if metric.statistic not in (MEAN_FCT, SIZE_MEAN_FCT) or not all(run.tables for run in point.runs):
        return None
    data = [RunData({"flows": run.table("flows")}, run.meta, run.bins) for run in point.runs]
    groups = [
        each.sizes[metric.size_bin] if metric.size_bin else each.classes[metric.flow_class or ""] for each in data
    ]
    times = [each for group in groups for each in zip(group.times.values, group.times.censored, strict=True)]
    cut_s = min(age for age, late in times if late)
    done = [time for time, late in times if not late]
    _, (*_, longest, _, longest_s) = place(metric) or (None, ("", "", ""))
    if not done or nearest_rank(done, 99) > cut_s:
        return None
    means = (mean([min(time, cut_s) for time in group.times.values]) or 0.0 for group in groups)
    runs = []
    for run, value in zip(point.runs, means, strict=True):
        cut = {metric.name: value, **{name: min(run.metrics[name], cut_s) for name in (longest, longest_s)}}
        rows = [
            Row(row.metric, cut.get(row.metric.name, row.value), row.lower_bound and row.metric != metric)
            for row in run.rows
        ]
        runs.append(replace(run, record={**run.record, **as_measured(rows, run.bins)}))
    return replace(point, done=runs), cut_s


def _beside(
    point: Results, metric: Metric, best: str, other: str, among: int, ties: tuple[float, float]
) -> tuple[Place, int | None]:
    """Position of a scheme relative to the best, and further seeds to settle an open order."""
    found = point.relation(best, other, metric.name, among)
    if found is None:  # the other mean is zero
        if point.mean(best, metric.name) == point.mean(other, metric.name):
            return "tie", None
        starved = metric.more_is_better and point.relation(other, best, metric.name, among)
        return ("worse" if starved and starved.has_sign and starved.ci95 and starved.ci95[1] < 0 else "open"), None
    low, high = found.ci95 or (-1.0, math.inf)
    if low > 0 and not found.upper_bound if metric.more_is_better else high < 0 and not found.lower_bound:
        worse: Place = "worse"
    else:
        worse = "open"
    if found.lower_bound or found.upper_bound or found.ci95 is None or low <= -1:
        return worse, None
    near, within = map(math.log1p, ties)
    ratio, ends = math.log1p(found.value), (math.log1p(low), math.log1p(high))
    if abs(ratio) <= near and max(map(abs, ends)) <= within:
        return "tie", None
    if worse == "worse":
        return worse, None
    aim = max(abs(ratio), within - abs(ratio) if abs(ratio) <= near else 0.0)
    scatter = (ends[1] - ends[0]) / 2 * math.sqrt(found.n) / student(found.n, among)
    further = range(1, _FAR + 1)
    settled = bisect.bisect_left(
        further, True, key=lambda more: student(found.n + more, among) * scatter / math.sqrt(found.n + more) <= aim
    )
    return "open", further[settled] if settled < _FAR else None


def _range(factors: Sequence[Estimate | None]) -> str:
    """Smallest and largest of some factors, in the order of the points if they fall; a bound has its sign."""
    known = [each for each in factors if each]
    ends = sorted(known, key=lambda each: each.value, reverse=bool(known) and known[0].value > known[-1].value)
    return " to ".join(dict.fromkeys(factor(replace(each, ci95=None)) for each in (*ends[:1], *ends[-1:])))


def _cut(lines: Sequence[Line]) -> str:
    """Times up to which flows count, as some did not finish under several schemes."""
    times = [line.cut_s for line in lines if line.cut_s is not None]
    if not times:
        return ""
    ends = dict.fromkeys(f"{number(1e3 * time)} ms" for time in (min(times), max(times)))
    return f" (flows count up to {' to '.join(ends)}, as some did not finish)"


def _verdict(line: Line) -> str:
    names = line.leaders
    if len(line.standings) == 1:
        return names[0]
    if line.outcome == "winner":
        return f"{names[0]} wins"
    return f"{_joined(names)} tie" if line.outcome == "tie" else f"open between {_joined(names)}"


def _would_tell(lines: Sequence[Line]) -> str:
    if lines[0].outcome != "open":
        return ""
    wanted = [line.more_seeds for line in lines]
    most = max((each for each in wanted if each), default=None)
    return f" (about {most:,} more {'seeds' if most > 1 else 'seed'} would tell)" if most and None not in wanted else ""


def _short_title(metric: Metric) -> str:
    whose = metric.flow_class or metric.sizes
    return f"{metric.label} ({whose})" if whose else metric.label


def _line_table(line: Line) -> dict[str, Any]:
    schemes = {
        each.scheme: {
            "mean": mean_table(each.mean),
            "factor": 1 + each.factor.value if each.factor else None,
            "factor_ci95": [1 + end for end in each.factor.ci95] if each.factor and each.factor.ci95 else None,
            "factor_bound": each.factor
            and ("lower" if each.factor.lower_bound else "upper" if each.factor.upper_bound else None),
            "place": each.place,
        }
        for each in line.standings
    }
    more: dict[str, Any] = {"more_seeds": line.more_seeds} if line.more_seeds else {}
    more |= {"cut_s": line.cut_s} if line.cut_s is not None else {}
    about = {"metric": line.metric.name, "at": line.at, "outcome": line.outcome, "leaders": line.leaders}
    return {**about, **more, "schemes": schemes}


def notes(study: Results, metrics: Sequence[Metric] = ()) -> Iterator[str]:
    """Notes on unfinished flows, seeds, and events of few seeds."""
    yield from _unfinished(study)
    if len(study.seeds) == 1:
        yield "One seed has no interval: run several seeds."
    elif all(len(_digests(point, scheme)) == 1 for point in study.points for scheme in point.schemes):
        yield "Every seed gives the same run: nothing is random here, so intervals say nothing of chance."
    seeds = [{run.seed for run in study.runs if run.scheme == scheme} for scheme in study.schemes]
    if any(each != seeds[0] for each in seeds):
        common = len(set.intersection(*seeds))
        yield f"Schemes have different seeds. The answer uses those that all schemes have: {common or 'none'}."
    few = [(point.label, text) for point in study.points for text in few_events(point, metrics)]
    if few:
        at = f"{study.x_name} {few[0][0]}: " if study.x_name else ""
        more = f" Other points with such differences: {len(few) - 1}." if len(few) > 1 else ""
        yield f"{at}{few[0][1]}{more}"


def _digests(point: Results, scheme: str) -> set[str]:
    return {run.digest for run in point.runs if run.scheme == scheme}


def _unfinished(study: Results) -> Iterator[str]:
    """Numbers of unfinished flows over all points and seeds, if any are finite."""
    counted = {scheme: _counts(study, scheme) for scheme in study.schemes}
    if not any(total for _, total in counted.values()):
        return
    late = [f"{scheme} {count:,} of {total:,}" for scheme, (count, total) in counted.items() if count]
    yield (
        f"Unfinished flows: {', '.join(late)}. They count with their age at the end of the run." if late else EVERY_FLOW
    )


def _counts(study: Results, scheme: str) -> tuple[int, int]:
    """Numbers of unfinished and of all measured flows over all seeds."""
    rows = [row for run in study.runs if run.scheme == scheme for row in run.rows]
    late = round(sum(row.value for row in rows if row.metric.statistic is UNFINISHED))
    return late, late + round(sum(row.value for row in rows if row.metric.statistic is FLOWS_DONE))


def few_events(comparison: Results, metrics: Sequence[Metric] = ()) -> Iterator[str]:
    """Warning for the first metric (default: of the headlines) with a difference that rests on few events.

    Names the largest such difference, and the number of others.
    """
    found = [
        (-place, difference.allowance, f"{scheme} vs {baseline} in {metric.name}", difference)
        for place, metric in enumerate(metrics or headline_metrics(comparison))
        for scheme, baseline in scheme_pairs(comparison)
        if (difference := comparison.change(scheme, baseline, metric.name)) and difference.few_events
    ]
    if found:
        *_, what, difference = max(found, key=lambda each: each[:2])
        more = f" Of the other differences {len(found) - 1} rest on few events." if len(found) > 1 else ""
        yield few_events_of(difference, what) + more


def few_events_of(difference: Estimate, what: str) -> str:
    """Warning for a difference that rests on few events; empty for others."""
    if (few := difference.few_events) is None:
        return ""
    text = (
        f"The interval of {what} allows for events that these {difference.n} seeds may have missed, such as a timeout: "
        f"one more would move the difference by {number(100 * few.move)} points, and up to {100 * few.share:.0f} % of "
        "all seeds may have one."
    )
    if few.seeds:
        times = number((difference.n + few.seeds) / difference.n)
        text += f" Up to {few.seeds:,} more seeds, or {times} times the measured time, narrow the interval."
    return text


def _joined(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
