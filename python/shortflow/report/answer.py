"""Answer of a comparison, as data and in sentences: by each metric at each point a winner, a tie, or an open order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shortflow.criteria import USUAL, Criteria
from shortflow.errors import unknown_name
from shortflow.judge.best import Order
from shortflow.judge.estimates import DECISIVE, ESTIMABLE, mean_table
from shortflow.judge.verdicts import Verdict
from shortflow.metrics.catalogue import FCT, MEAN_FCT, STATISTICS, TASK_TIME, UNFINISHED, short_and_long
from shortflow.metrics.stakes import stake_source
from shortflow.metrics.statistic import TASKS, Metric
from shortflow.order import AnswerLine, is_exact, line_of, margin, on_common_seeds
from shortflow.quantities import counted
from shortflow.report.asked import why_equal
from shortflow.report.caveats import notes
from shortflow.report.sentences import at_one_point, on_points, outcome_clause, range_of, where
from shortflow.report.study import by_value, registry_place, without_effect
from shortflow.report.wording import listed, metrics_of, phrase, unit_in_study
from shortflow.results import Results

_BEYOND = 10
"""Number of flows beyond a percentile, per seed, for a steady estimate of the percentile."""
_MOST_POINTS = 20
"""Maximum number of points that get a line each."""
_LONGEST_PLACE = 150
"""Maximum length, in characters, of the text that names points. If it would be longer, only their number is given."""


@dataclass(frozen=True)
class Ranking:
    """Answer of a study: the order of schemes by each metric at each point."""

    study: Results
    shown: Results
    """Results as shown in tables and charts, whose units the answer uses."""
    baseline: str
    lines: Sequence[AnswerLine]
    criteria: Criteria = USUAL

    def of(self, metric: Metric) -> list[AnswerLine]:
        """Lines of a metric."""
        return [line for line in self.lines if line.metric == metric]

    @property
    def metrics(self) -> list[Metric]:
        """Metrics of the lines, without duplicates."""
        return list(dict.fromkeys(line.metric for line in self.lines))

    @property
    def words(self) -> list[str]:
        """Sentences of the answer: by metric over all points, on best values, on single points, then caveats."""
        return [*self.over_points, *self.by_value, *self.at_points, *self.caveats]

    @property
    def over_points(self) -> list[str]:
        """For each metric, one text about all points."""
        near = margin(self.criteria.ties)
        groups = {metric: self._groups(metric) for metric in self.metrics}
        units = {metric: unit_in_study(self.shown, metric) for metric in groups}
        if not self.study.x_name:
            alone = {metric: of[0][0] for metric, of in groups.items()}
            return [at_one_point(line, units[metric], self.baseline, near) for metric, line in alone.items()]
        placed = {
            metric: [(of, self._place(of), self._factors(of)) for of in every] for metric, every in groups.items()
        }
        return [on_points(every, units[metric], near) for metric, every in placed.items()]

    @property
    def by_value(self) -> list[str]:
        """For each of several schemes, a sentence on its best values of settings that leave the flows unchanged.

        Empty for a single scheme. Schemes with equal sentences share one.
        """
        schemes = self.study.schemes if len(self.study.schemes) > 1 else []
        found: dict[str, list[str]] = {}
        for scheme in schemes:
            values, named = by_value(self.study, scheme), self.criteria.metrics
            shown = [name for name in named if values and not values.absent([name])]
            if values and (shown or not named):
                criteria = replace(self.criteria, metrics=shown, baseline=values.schemes[0])
                found.setdefault(answer(values, criteria)._outcomes, []).append(scheme)
        return [f"{listed(of)}: {outcomes}." for outcomes, of in found.items()]

    @property
    def _outcomes(self) -> str:
        """Clauses that name each value of settings that is best at all points, with the metrics by which it is."""
        best: dict[str, list[str]] = {}
        for metric in self.metrics:
            (first, *_), *others = self._groups(metric)
            names, one = listed(first.leaders), not others
            clause = {Order.WINNER: f"{names} has the best", Order.TIE: f"{names} tie for the best"}.get(first.outcome)
            best.setdefault(clause if one and clause else "", []).append(phrase(metric))
        nowhere, keys = best.pop("", []), [value.partition("=")[0] for value in self.study.schemes[0].split("+")]
        texts = [f"{clause} {listed(of)}" for clause, of in best.items()]
        texts += [f"no value of {listed(keys)} is known to have the best {listed(nowhere, ' or ')}"] if nowhere else []
        return "; ".join(texts)

    @property
    def caveats(self) -> list[str]:
        """Sentences on limits of the answer, such as few seeds, few flows or missing runs."""
        idle = [f"{each.label} has no effect on these runs." for each in without_effect(self.study)]
        found = [*idle, *why_equal(self.study, self.lines), *self._few_seeds(), *self._without_runs()]
        found += [*self._few_flows(), *notes(self.study, self.metrics)]
        among = max((len(line.standings) for line in self.lines if line.outcome is Order.OPEN), default=0)
        if among > 2 and len(self.study.seeds) >= DECISIVE:
            level = f"{100 - 5 / (among - 1):.3g} %"
            found.append(
                f"With {among} schemes, {level} intervals decide the order. They are wider than those of the tables."
            )
        return found

    @property
    def at_points(self) -> list[str]:
        """For each of several points, the outcomes there of which `over_points` gives only the number of points."""
        if len(self.study.points) < 2 or len(self.study.schemes) < 2:
            return []
        groups = [group for metric in self.metrics for group in self._groups(metric)]
        unnamed = [line for group in groups if len(self._where(group)) > _LONGEST_PLACE for line in group]
        found = []
        for point in self.study.points[:_MOST_POINTS]:
            here = "; ".join(
                f"{phrase(line.metric)}: {outcome_clause(line)}{self._factors([line])}"
                for line in unnamed
                if line.at == point.label
            )
            found += [f"{point.place}: {here}."] if here else []
        return found

    def document(self) -> dict[str, Any]:
        """The answer as plain data."""
        return {"baseline": self.baseline, "words": self.words, "lines": [_line_table(line) for line in self.lines]}

    def _groups(self, metric: Metric) -> list[list[AnswerLine]]:
        """Lines of a metric, grouped by outcome and leaders."""
        groups: dict[tuple[Order, frozenset[str]], list[AnswerLine]] = {}
        for line in self.of(metric):
            groups.setdefault((line.outcome, frozenset(line.leaders)), []).append(line)
        return list(groups.values())

    def _where(self, lines: Sequence[AnswerLine]) -> str:
        """Text that names the points of some lines."""
        dimensions = self.study.dimensions
        places = {point.label: tuple(point.settings[each.key] for each in dimensions) for point in self.study.points}
        return where(dimensions, [places[line.at] for line in lines], [*places.values()])

    def _place(self, lines: Sequence[AnswerLine]) -> str:
        """Text that names the points of some lines, or gives their number if the names are too long."""
        found = self._where(lines)
        return found if len(found) <= _LONGEST_PLACE else f"{len(lines)} of {len(self.study.points)} points"

    def _factors(self, lines: Sequence[AnswerLine]) -> str:
        """Text with the leader's values as factors of the baseline's, for lines with one outcome.

        If the baseline leads, the factors are those of the schemes that lose.
        """
        if lines[0].outcome in (Order.OPEN, Order.ALONE):
            return ""
        leaders = lines[0].leaders
        if self.baseline not in leaders:
            found = range_of([line.factor(leaders[0]) for line in lines], f"{self.baseline}'s")
            return f" ({found})" if found else ""
        lost = [each.scheme for each in lines[0].standings if each.verdict is Verdict.DIFFERS]
        found_of = {scheme: range_of([line.factor(scheme) for line in lines], f"{self.baseline}'s") for scheme in lost}
        texts = [f"{scheme} has {text}" for scheme, text in found_of.items() if text]
        return f" ({listed(texts)})" if texts else ""

    def _few_seeds(self) -> Iterator[str]:
        """Note if orders are open, and the seeds are too few to name a winner or to estimate how many more it needs."""
        exact = {point.label for point in self.study.points if is_exact(point)}
        lines = [line for line in self.lines if line.outcome is Order.OPEN and line.at not in exact]
        seeds = min((each.mean.n for line in lines for each in line.standings), default=0)
        if 1 < seeds < DECISIVE:
            yield f"No winner is named from fewer than {DECISIVE} seeds: run at least {DECISIVE} seeds."
        elif DECISIVE <= seeds < ESTIMABLE:
            yield f"Run at least {ESTIMABLE} seeds to estimate how many seeds settle an open order."

    def _without_runs(self) -> Iterator[str]:
        """Note for each scheme that has no runs at some points."""
        for scheme in self.study.schemes:
            places = [point.place for point in self.study.points if scheme not in point.schemes]
            others = f" and {counted(len(places) - 1, 'more point')}" if len(places) > 1 else ""
            if places:
                yield f"{scheme} has no runs at {places[0]}{others}."

    def _few_flows(self) -> Iterator[str]:
        """Note for each metric that is a percentile of too few flows."""
        for metric in self.metrics:
            source = stake_source(metric)
            if source is None or source.percent is None or source.percent >= 100:
                continue
            wanted = round(_BEYOND / (1 - source.percent / 100))
            counts = self._counts(source.number)
            if counts and min(counts) < wanted:
                one, many = (metric.task, TASKS[metric.task]) if metric.task else ("flow", "flows")
                each = " in each seed" if len(self.study.seeds) > 1 else ""
                data = f"{_span(counts)} finished {one if max(counts) == 1 else many}{each}"
                if late := [] if metric.task else self._counts(UNFINISHED.pattern, bounds=metric.name):
                    data += f", and from unfinished {many} by their age ({_span(late)} of all sizes{each})"
                remedy = f"Simulate longer, until there are at least {wanted:,} {many}{each}."
                if max(counts):
                    yield f"The {phrase(metric)} is computed from {data}, so a single {one} can change it. {remedy}"
                else:
                    yield f"The {phrase(metric)} is computed from unfinished {many} alone. {remedy}"

    def _counts(self, name: str, bounds: str = "") -> list[float]:
        """Values of a metric over schemes, points and seeds; with `bounds`, only where this metric is a lower bound."""
        return [
            count
            for point in self.study.points
            for scheme in point.schemes
            if not bounds or point.is_bound(scheme, bounds)
            for count in point.values(scheme, name).values()
        ]


def _span(counts: Sequence[float]) -> str:
    """The smallest and largest count; one number if they are equal."""
    return " to ".join(dict.fromkeys(f"{count:,.0f}" for count in (min(counts), max(counts))))


def answer(study: Results, criteria: Criteria = USUAL) -> Ranking:
    """Answer of a study by `criteria`. Without metrics in the criteria, the answer is by headline metrics.

    If the study has a single scheme, each value of settings that leave the flows unchanged counts as a scheme. The
    default baseline is then the smallest value. Raises `ConfigError` for an unknown metric or baseline.
    """
    metrics = [study.require(name) for name in criteria.metrics] or headlines(study)
    shown, (study, baseline) = study, _compared(study, criteria.baseline)
    lines = [
        line
        for metric in metrics
        for point in study.points
        if (line := line_of(on_common_seeds(point), metric, criteria.ties, baseline=baseline, at=point.label))
    ]
    return Ranking(study, shown, baseline, lines, criteria)


def _compared(study: Results, baseline: str | None) -> tuple[Results, str]:
    """The study whose schemes are compared, and its baseline. A single scheme is split by values of settings."""
    schemes = study.schemes
    values = by_value(study, schemes[0]) if len(schemes) == 1 else None
    known = [*schemes, *(values.schemes if values else ())]
    if baseline is not None and baseline not in known:
        raise unknown_name("scheme of these runs", baseline, known)
    if values:
        return values, baseline if baseline in values.schemes else values.schemes[0]
    # The order of `shortflow list schemes` has the plain schemes first, such as tcp.
    return study, baseline or min(schemes, key=registry_place, default="")


def headlines(study: Results) -> list[Metric]:
    """Headline metrics: task times, p99 slowdown and mean FCT of short flows, goodput of long flows.

    Without short flows, p99 and mean FCT of the first class take their place. If all flows are backlogged, Jain's index
    does.
    """
    known = study.metrics.values()
    found = [each for each in short_and_long(study.bins) if each in known]
    if not any(each.size_bin == study.bins.short for each in found):
        of_class = metrics_of(study, MEAN_FCT)[:1]
        instead = [*(Metric(FCT[99], each.flow_class) for each in of_class), *of_class]
        found = [*(instead or metrics_of(study, STATISTICS["jain_<class>"])), *found]
    return [*metrics_of(study, TASK_TIME), *found]


def _line_table(line: AnswerLine) -> dict[str, Any]:
    schemes = {
        each.scheme: {
            "mean": mean_table(each.mean),
            "factor": 1 + each.factor.value if each.factor else None,
            "factor_ci95": [1 + end for end in each.factor.ci95] if each.factor and each.factor.ci95 else None,
            "factor_bound": each.factor
            and ("lower" if each.factor.lower_bound else "upper" if each.factor.upper_bound else None),
            "place": line.place(each),
        }
        for each in line.standings
    }
    more: dict[str, Any] = {"more_seeds": line.more_seeds} if line.more_seeds else {}
    more |= {"cut_s": line.cut_s} if line.cut_s is not None else {}
    about = {"metric": line.metric.name, "at": line.at, "outcome": line.outcome, "leaders": line.leaders}
    return {**about, **more, "schemes": schemes}
