"""Answer of a comparison: winner by each metric at each point, a tie, or an open order, as data and in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shortflow.criteria import USUAL, Criteria
from shortflow.errors import unknown_name
from shortflow.judge.estimates import DECISIVE, ESTIMABLE, mean_table
from shortflow.judge.verdicts import Verdict
from shortflow.metrics.catalogue import FCT, MEAN_FCT, STATISTICS, TASK_TIME, Metric, short_and_long
from shortflow.metrics.stakes import place
from shortflow.quantities import counted
from shortflow.report.asked import why_equal
from shortflow.report.caveats import notes
from shortflow.report.order import AnswerLine, is_exact, line_of, margin, on_common_seeds
from shortflow.report.sentences import at_one_point, on_points, outcome_clause, range_of, where
from shortflow.report.study import by_value, default_baseline, without_effect
from shortflow.report.wording import listed, metrics_of, phrase, unit_in_study
from shortflow.results import Results

_BEYOND = 10
"""Flows beyond a percentile, per seed, for a steady estimate."""
_MOST_POINTS = 20
"""Most points with a line each."""
_LONGEST_PLACE = 150
"""Most characters on the points of an outcome; of others, their number is said."""


@dataclass(frozen=True)
class Ranking:
    """Answer of results at all their points."""

    study: Results
    shown: Results
    """The results as tables and charts have them, with their units."""
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
        """Sentences for each metric over all points."""
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
        """For each of several schemes, the best values of settings that keep the flows."""
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
        """Values of settings that are best at all points, each with its metrics."""
        best: dict[str, list[str]] = {}
        for metric in self.metrics:
            (first, *_), *others = self._groups(metric)
            names, one = listed(first.leaders), not others
            clause = {"winner": f"{names} has the best", "tie": f"{names} tie for the best"}.get(first.outcome)
            best.setdefault(clause if one and clause else "", []).append(phrase(metric))
        nowhere, keys = best.pop("", []), [value.partition("=")[0] for value in self.study.schemes[0].split("+")]
        texts = [f"{clause} {listed(of)}" for clause, of in best.items()]
        texts += [f"no value of {listed(keys)} is known to have the best {listed(nowhere, ' or ')}"] if nowhere else []
        return "; ".join(texts)

    @property
    def caveats(self) -> list[str]:
        """Limits of the answer."""
        idle = [f"{each.label} has no effect on these runs." for each in without_effect(self.study)]
        found = [*idle, *why_equal(self.study, self.lines), *self._few_seeds(), *self._without_runs()]
        found += [*self._few_flows(), *notes(self.study, self.metrics)]
        among = max((len(line.standings) for line in self.lines if line.outcome == "open"), default=0)
        if among > 2 and len(self.study.seeds) >= DECISIVE:
            level = f"{100 - 5 / (among - 1):.3g} %"
            found.append(
                f"With {among} schemes, {level} intervals decide the order. They are wider than those of the tables."
            )
        return found

    @property
    def at_points(self) -> list[str]:
        """For each of several points, the outcomes whose points the sentences over all points do not name."""
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
        """Lines of a metric by outcome."""
        groups: dict[tuple[str, frozenset[str]], list[AnswerLine]] = {}
        for line in self.of(metric):
            groups.setdefault((line.outcome, frozenset(line.leaders)), []).append(line)
        return list(groups.values())

    def _where(self, lines: Sequence[AnswerLine]) -> str:
        """The points of some lines."""
        dimensions = self.study.dimensions
        places = {point.label: tuple(point.settings[each.key] for each in dimensions) for point in self.study.points}
        return where(dimensions, [places[line.at] for line in lines], [*places.values()])

    def _place(self, lines: Sequence[AnswerLine]) -> str:
        """The points of some lines, or their number if the points take too long to name."""
        found = self._where(lines)
        return found if len(found) <= _LONGEST_PLACE else f"{len(lines)} of {len(self.study.points)} points"

    def _factors(self, lines: Sequence[AnswerLine]) -> str:
        """The leader's factors of the baseline at points with one outcome; the others' if the baseline leads."""
        if lines[0].outcome in ("open", "alone"):
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
        """Note on open orders of several seeds that are too few to settle them, or to estimate how many would."""
        exact = {point.label for point in self.study.points if is_exact(point)}
        lines = [line for line in self.lines if line.outcome == "open" and line.at not in exact]
        seeds = min((each.mean.n for line in lines for each in line.standings), default=0)
        if 1 < seeds < DECISIVE:
            yield f"No winner is named from fewer than {DECISIVE} seeds: run at least {DECISIVE} seeds."
        elif DECISIVE <= seeds < ESTIMABLE:
            yield f"Run at least {ESTIMABLE} seeds to estimate how many seeds settle an open order."

    def _without_runs(self) -> Iterator[str]:
        """Schemes that have no runs at some point."""
        for scheme in self.study.schemes:
            places = [point.place for point in self.study.points if scheme not in point.schemes]
            others = f" and {counted(len(places) - 1, 'more point')}" if len(places) > 1 else ""
            if places:
                yield f"{scheme} has no runs at {places[0]}{others}."

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
                flows = "flow" if max(counts) == 1 else "flows"
                each = " in each seed" if len(self.study.seeds) > 1 else ""
                remedy = f"Simulate longer, until there are {wanted:,} or more."
                yield f"The {phrase(metric)} rests on {seen} {flows}{each}. {remedy}"


def answer(study: Results, criteria: Criteria = USUAL) -> Ranking:
    """Answer by some criteria.

    A single scheme is compared with itself at other values of settings that keep the flows, by default with the least.
    """
    metrics = [study.require(name) for name in criteria.metrics] or headlines(study)
    shown, (study, baseline) = study, _compared(study, criteria.baseline)
    lines = [
        line
        for metric in metrics
        for point in study.points
        if (line := line_of(on_common_seeds(point), metric, baseline, criteria.ties, point.label))
    ]
    return Ranking(study, shown, baseline, lines, criteria)


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
