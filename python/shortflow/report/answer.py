"""Answer of a comparison: winner by each metric at each point, a tie, or an open order.

The winner comes from multiple comparisons with the best (J. C. Hsu, Ann. Stat. 12, 1984) on the intervals of the paired
differences, with the level divided by the number of other schemes (Bonferroni). Points and metrics are not corrected.
"""

import bisect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from shortflow.errors import unknown_name
from shortflow.metrics.catalogue import (
    FCT,
    MEAN_FCT,
    SIZE_MEAN_FCT,
    STATISTICS,
    TASK_TIME,
    Metric,
    MetricValue,
    short_and_long,
)
from shortflow.metrics.data import USUAL_BINS, Bins, RunData, Times, mean
from shortflow.metrics.stakes import place
from shortflow.metrics.stats import Estimate, nearest_rank, student
from shortflow.quantities import scale_for
from shortflow.report.caveats import notes
from shortflow.report.study import by_value, default_baseline
from shortflow.report.wording import factor, listed, metrics_of, number, shown, title
from shortflow.result import as_measured
from shortflow.results import Dimension, Results, mean_table

_BEYOND = 10
"""Flows beyond a percentile, per seed, for a steady estimate."""
_MOST_POINTS = 20
"""Most points with a line each."""
_LONGEST_PLACE = 150
"""Most characters on the points of an outcome; of others, their number is said."""
_FAR = 10_000
"""Most further seeds to suggest."""

Place = Literal["best", "tie", "open", "worse"]


@dataclass(frozen=True)
class Criteria:
    """Criteria of an answer."""

    metrics: Sequence[str] = ()
    """Names (default: headlines)."""
    baseline: str | None = None
    """Scheme of the factors (default: the first of the registry)."""
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
class AnswerLine:
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
    def outcome(self) -> Literal["winner", "tie", "open", "alone"]:
        """Outcome of the line; `alone` without another scheme."""
        if len(self.standings) == 1:
            return "alone"
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
    lines: Sequence[AnswerLine]
    criteria: Criteria = USUAL

    def of(self, metric: Metric) -> list[AnswerLine]:
        """Lines of a metric."""
        return [line for line in self.lines if line.metric == metric]

    @property
    def metrics(self) -> list[Metric]:
        """Metrics, each once."""
        return list(dict.fromkeys(line.metric for line in self.lines))

    @property
    def words(self) -> list[str]:
        """One sentence per metric over all points, then by values and by points if several, then caveats."""
        return [*self.over_points, *self.by_value, *self.at_points, *self.caveats]

    @property
    def over_points(self) -> list[str]:
        """A sentence for each metric over all points."""
        groups = {metric: self._groups(metric) for metric in self.metrics}
        if not self.study.x_name:
            return [f"{title(metric)}: {self._at_length(lines[0])}." for metric, (lines,) in groups.items()]
        return [f"{title(metric)}: {'; '.join(map(self._group, of))}." for metric, of in groups.items()]

    @property
    def by_value(self) -> list[str]:
        """For each of several schemes, the best values of settings that keep the flows."""
        schemes = self.study.schemes if len(self.study.schemes) > 1 else []
        found: list[str] = []
        for scheme in schemes:
            values, named = by_value(self.study, scheme), self.criteria.metrics
            shown = [name for name in named if values and not values.absent([name])]
            if values and (shown or not named):
                criteria = replace(self.criteria, metrics=shown, baseline=values.schemes[0])
                found += [f"{scheme}: {words}" for words in answer(values, criteria).over_points]
        return found

    @property
    def caveats(self) -> list[str]:
        """Limits of the answer."""
        found = [*self._without_runs(), *self._few_flows(), *notes(self.study, self.metrics)]
        among = max((len(line.standings) for line in self.lines if line.outcome == "open"), default=0)
        if among > 2 and len(self.study.seeds) > 1:
            level = f"{100 - 5 / (among - 1):.3g} %"
            found.append(f"With {among} schemes an order is decided by intervals of {level}, wider than in the tables.")
        return found

    @property
    def at_points(self) -> list[str]:
        """For each of several points, outcomes and factors that the sentences over all points leave open."""
        if len(self.study.points) < 2 or len(self.study.schemes) < 2:
            return []
        told = [line for metric in self.metrics for group in self._groups(metric) for line in self._not_told(group)]
        found = []
        for point in self.study.points[:_MOST_POINTS]:
            here = "; ".join(
                f"{_short_title(line.metric)} {_verdict(line)}{self._factors([line], all_worse=False)}"
                for line in told
                if line.at == point.label
            )
            found += [f"{point.place}: {here}."] if here else []
        return found

    def _not_told(self, lines: Sequence[AnswerLine]) -> list[AnswerLine]:
        """Lines of a group whose point is not named, or whose factors are only within the range of several points."""
        if len(self._where(lines)) > _LONGEST_PLACE:
            return list(lines)
        return [line for line in lines if len(lines) > 1 and self._factors([line], all_worse=False)]

    def document(self) -> dict[str, Any]:
        """The answer as plain data."""
        return {"baseline": self.baseline, "words": self.words, "lines": [_line_table(line) for line in self.lines]}

    def _groups(self, metric: Metric) -> list[list[AnswerLine]]:
        """Lines of a metric by outcome."""
        groups: dict[tuple[str, frozenset[str]], list[AnswerLine]] = {}
        for line in self.of(metric):
            groups.setdefault((line.outcome, frozenset(line.leaders)), []).append(line)
        return list(groups.values())

    def _where(self, lines: Sequence[AnswerLine]) -> str:
        """The points of some lines."""
        dimensions = self.study.dimensions
        places = {point.label: tuple(point.settings[each.key] for each in dimensions) for point in self.study.points}
        return _where(dimensions, [places[line.at] for line in lines], [*places.values()])

    def _group(self, lines: Sequence[AnswerLine]) -> str:
        """Text on points with the same outcome."""
        where = self._where(lines)
        if len(where) > _LONGEST_PLACE:
            where = f"{len(lines)} of {len(self.study.points)} points"
        told = _verdict(lines[0]) if len(self.study.schemes) > 1 else _values(lines)
        return f"{told} at {where}{self._factors(lines)}{_would_tell(lines)}{_cut(lines)}"

    def _factors(self, lines: Sequence[AnswerLine], *, all_worse: bool = True) -> str:
        """Factors of the baseline at points with one outcome: the winner's, if another, and those of all that lose."""
        if lines[0].outcome in ("open", "alone"):
            return ""
        leads = self.baseline in lines[0].leaders
        lost = [each.scheme for each in lines[0].standings if each.place == "worse" and each.scheme != self.baseline]
        told = [*([] if leads else lines[0].leaders[:1]), *(lost if leads or all_worse else [])]
        found = {scheme: range_of([line.factor(scheme) for line in lines]) for scheme in told}
        texts = [text if scheme in lines[0].leaders else f"{scheme} {text}" for scheme, text in found.items() if text]
        return f" ({listed(texts, ', ')} × {self.baseline})" if texts else ""

    def _at_length(self, line: AnswerLine) -> str:
        """Text on the only point: value of the best scheme, and factors over the baseline."""
        best = line.standings[0]
        scale = scale_for(line.metric.unit, [best.mean.value])
        verdict = _verdict(line) if len(self.study.schemes) > 1 else best.scheme
        text = f"{verdict}, {shown(best.mean, scale.divisor, scale.unit)}{_would_tell([line])}{_cut([line])}"
        factors = [
            f"{each.scheme} {factor(each.factor)}"
            for each in line.standings
            if each.scheme != self.baseline and each.factor is not None
        ]
        return text + (f"; factors of {self.baseline}: {listed(factors, ', ')}" if factors else "")

    def _without_runs(self) -> Iterator[str]:
        """Schemes that have no runs at some point."""
        for scheme in self.study.schemes:
            places = [point.place for point in self.study.points if scheme not in point.schemes]
            if places:
                yield f"{scheme} has no runs at {places[0]}{f' and {len(places) - 1} more points' * (len(places) > 1)}."

    def _few_flows(self) -> Iterator[str]:
        """Notes on percentiles from few flows."""
        for metric in self.metrics:
            found = place(metric)
            if found is None or found[0] is None or found[0] >= 100:
                continue
            wanted = round(_BEYOND / (1 - found[0] / 100))
            counts = [
                count
                for point in self.study.points
                for scheme in point.schemes
                for count in point.values(scheme, found[1][0]).values()
            ]
            if counts and min(counts) < wanted:
                seen = " to ".join(dict.fromkeys(f"{count:,.0f}" for count in (min(counts), max(counts))))
                yield f"{title(metric)} rests on {seen} flows a seed. Use {wanted:,} or more."


def answer(study: Results, criteria: Criteria = USUAL) -> Ranking:
    """Answer by some criteria.

    A single scheme is compared with itself at other values of settings that keep the flows, by default with the least.
    """
    metrics = [study.require(name) for name in criteria.metrics] or headlines(study)
    study, baseline = _compared(study, criteria.baseline)
    lines = [
        line
        for metric in metrics
        for point in study.points
        if (line := _line(_on_common_seeds(point), metric, baseline, criteria.ties, point.label))
    ]
    return Ranking(study, baseline, lines, criteria)


def _compared(study: Results, baseline: str | None) -> tuple[Results, str]:
    """Runs of the schemes, or by value of the only scheme; and the baseline among them."""
    schemes = study.schemes
    values = by_value(study, schemes[0]) if len(schemes) == 1 else None
    known = [*schemes, *(values.schemes if values else ())]
    if baseline is not None and baseline not in known:
        raise unknown_name("scheme of these runs", baseline, known)
    if values:
        return values, baseline if baseline in values.schemes else values.schemes[0]
    return study, baseline or default_baseline(schemes)


def headlines(study: Results) -> list[Metric]:
    """Headline metrics: task times, p99 slowdown and mean FCT of short flows, goodput of long flows.

    Without short flows, FCTs of the first class stand in. If all flows are backlogged, their fairness comes first.
    """
    known = study.metrics.values()
    found = [each for each in short_and_long(study.bins) if each in known]
    if not any(each.size_bin == study.bins.short for each in found):
        of_class = metrics_of(study, MEAN_FCT)[:1]
        instead = [*(Metric(FCT[99], each.flow_class) for each in of_class), *of_class]
        found = [*(instead or metrics_of(study, STATISTICS["jain_<class>"])), *found]
    return [*metrics_of(study, TASK_TIME), *found]


def _on_common_seeds(point: Results) -> Results:
    """Runs with seeds that all schemes have."""
    seeds = [{run.seed for run in point.runs if run.scheme == scheme} for scheme in point.schemes]
    common = set.intersection(*seeds) if seeds else set()
    kept = [run for run in point.done if run.seed in common]
    return point if all(each == common for each in seeds) else replace(point, done=kept)


def _line(point: Results, metric: Metric, baseline: str, ties: tuple[float, float], at: str) -> AnswerLine | None:
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
    order = sorted(found, key=lambda scheme: (found[scheme].lower_bound, sign * found[scheme].value))
    best = order[0]
    standings = []
    for scheme in order:
        compared = (point, metric, best, scheme, len(order) - 1, ties)
        where, more = ("best", None) if scheme == best else _beside(*compared)
        standings.append(Standing(scheme, found[scheme], point.change(scheme, baseline, metric.name), where, more))
    return AnswerLine(metric, at, standings, cut_s)


def _means(point: Results, metric: Metric) -> dict[str, Estimate]:
    found = {scheme: point.mean(scheme, metric.name) for scheme in point.schemes}
    return {scheme: each for scheme, each in found.items() if each and math.isfinite(each.value)}


def _times(point: Results, metric: Metric) -> list[Times]:
    """Completion times behind a mean, by run; empty for other metrics, and without tables of flows."""
    if metric.statistic not in (MEAN_FCT, SIZE_MEAN_FCT) or not all(run.tables for run in point.runs):
        return []
    data = [RunData({"flows": run.table("flows")}, run.meta, run.bins) for run in point.runs]
    if metric.size_bin:
        return [each.sizes[metric.size_bin].times for each in data]
    return [each.classes[metric.flow_class or ""].times for each in data]


def _common_time(times: Sequence[Times]) -> float | None:
    """Least age of an unfinished flow in seconds: means up to this time are exact.

    None if more than 1 % of finished flows took longer, as such means would leave out the slow flows.
    """
    flows = [each for of in times for each in zip(of.values, of.censored, strict=True)]
    done = [time for time, late in flows if not late]
    cut_s = min((age for age, late in flows if late), default=None)
    return cut_s if cut_s is not None and done and nearest_rank(done, 99) <= cut_s else None


def _up_to(cut_s: float, point: Results, metric: Metric, times: Sequence[Times]) -> Results:
    """Runs whose mean FCT counts every flow up to one time."""
    _, (*_, longest, _, longest_s) = place(metric) or (None, ("", "", ""))
    runs = []
    for run, of in zip(point.runs, times, strict=True):
        value = mean([min(time, cut_s) for time in of.values]) or 0.0
        cut = {metric.name: value, **{name: min(run.metrics[name], cut_s) for name in (longest, longest_s)}}
        rows = [
            MetricValue(row.metric, cut.get(row.metric.name, row.value), row.lower_bound and row.metric != metric)
            for row in run.rows
        ]
        runs.append(replace(run, record={**run.record, **as_measured(rows, run.bins)}))
    return replace(point, done=runs)


def _beside(
    point: Results, metric: Metric, best: str, other: str, among: int, ties: tuple[float, float]
) -> tuple[Place, int | None]:
    """Position of a scheme relative to the best, and further seeds to settle an open order."""
    found = None if point.are_same(best, other) else point.relation(best, other, metric.name, among)
    if found is None:  # the runs are the same, or the other mean is zero
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


def _where(dimensions: Sequence[Dimension], places: Sequence[Sequence[str]], every: Sequence[Sequence[str]]) -> str:
    """Text on some points among all: `load 0.2 to 0.6 with switch.mark_above 20pkt`."""
    first, *rest = dimensions
    every_other = {tuple(place[1:]) for place in every}
    groups: dict[frozenset[tuple[str, ...]], list[str]] = {}
    for value in first.values:
        if others := frozenset(tuple(place[1:]) for place in places if place[0] == value):
            groups.setdefault(others, []).append(value)
    texts = []
    for others, values in groups.items():
        text = f"{first.label} {_spans(values, first)}"
        if rest and others == every_other:
            text += f" with every {listed([each.label for each in rest])}"
        elif rest:
            text += f" with {_where(rest, sorted(others), sorted(every_other))}"
        texts.append(text)
    return listed(texts)


def _spans(values: Sequence[str], dimension: Dimension) -> str:
    """Values of a setting, with neighbouring numbers as a range."""
    if not dimension.numbers:
        return listed(values)
    spans: list[list[str]] = []
    for value in values:
        place = dimension.values.index(value)
        if spans and dimension.values[place - 1] == spans[-1][-1]:
            spans[-1].append(value)
        else:
            spans.append([value])
    return listed([" to ".join(dict.fromkeys((span[0], span[-1]))) for span in spans])


def _values(lines: Sequence[AnswerLine]) -> str:
    """The only scheme with its smallest and largest mean."""
    means = [line.standings[0].mean for line in lines]
    scale = scale_for(lines[0].metric.unit, [each.value for each in means])
    ends = (min(means, key=lambda each: each.value), max(means, key=lambda each: each.value))
    texts = dict.fromkeys(shown(replace(each, ci95=None), scale.divisor) for each in ends)
    return f"{lines[0].leaders[0]} {' to '.join(texts)} {scale.unit}".rstrip()


def range_of(factors: Sequence[Estimate | None]) -> str:
    """Smallest and largest of some factors, in the order of the points if they fall; bounds have their sign."""
    known = [replace(each, ci95=None) for each in factors if each]
    if not known:
        return ""
    ends = sorted(known, key=lambda each: each.value, reverse=known[0].value > known[-1].value)
    falls = ends[0].value > ends[-1].value
    least, most = (-1, 0) if falls else (0, -1)
    ends[least] = replace(ends[least], upper_bound=any(each.upper_bound for each in known))
    ends[most] = replace(ends[most], lower_bound=any(each.lower_bound for each in known))
    where = f" at {len(known)} of {len(factors)} points" if len(known) < len(factors) else ""
    return " to ".join(dict.fromkeys(factor(each) for each in (ends[0], ends[-1]))) + where


def _cut(lines: Sequence[AnswerLine]) -> str:
    """Times up to which flows count, as some did not finish under several schemes."""
    times = [line.cut_s for line in lines if line.cut_s is not None]
    if not times:
        return ""
    ends = dict.fromkeys(f"{number(1e3 * time)} ms" for time in (min(times), max(times)))
    return f" (flows count up to {' to '.join(ends)}, as some did not finish)"


def _verdict(line: AnswerLine) -> str:
    names = line.leaders
    texts = {"winner": f"{names[0]} wins", "tie": f"{listed(names)} tie", "alone": f"{names[0]} alone"}
    return texts.get(line.outcome) or f"open between {listed(names)}"


def _would_tell(lines: Sequence[AnswerLine]) -> str:
    if lines[0].outcome != "open":
        return ""
    wanted = [line.more_seeds for line in lines]
    most = max((each for each in wanted if each), default=None)
    return f" (about {most:,} more {'seeds' if most > 1 else 'seed'} would tell)" if most and None not in wanted else ""


def _short_title(metric: Metric) -> str:
    whose = metric.flow_class or metric.sizes
    return f"{metric.label} ({whose})" if whose else metric.label


def _line_table(line: AnswerLine) -> dict[str, Any]:
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
