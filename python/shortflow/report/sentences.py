"""Sentences of an answer: the best scheme by a metric, its value and interval, and its factor of the baseline."""

from collections.abc import Sequence
from dataclasses import replace

from shortflow.grid import Dimension
from shortflow.judge.best import Order
from shortflow.judge.estimates import ESTIMABLE, Estimate
from shortflow.metrics.statistic import Metric
from shortflow.order import AnswerLine
from shortflow.quantities import DisplayUnit
from shortflow.report.wording import extreme, in_words, is_plural, listed, number, phrase, times, times_between

_FEW = 3
"""Maximum number of schemes that are named if each scheme may be the best."""


def at_one_point(line: AnswerLine, unit: DisplayUnit, baseline: str, margin: float) -> str:
    """Sentences on a single point: the best scheme, its value, and its factor of the baseline."""
    best = line.standings[0]
    value = in_words(best.mean, unit)
    if line.outcome is Order.ALONE:
        return f"Under {best.scheme}, the {phrase(line.metric)} {_are(line.metric)} {value}.{_cut([line])}"
    values = f"{value}{_factor(line, baseline)}"
    if line.outcome is Order.WINNER:
        text = f"{best.scheme} has the {extreme(line.metric)}: {values}."
    else:
        text = f"{_shared(line)}: {best.scheme} has {values}."
    return f"{text}{advice([line], margin)}{_cut([line])}"


def on_points(groups: Sequence[tuple[Sequence[AnswerLine], str, str]], unit: DisplayUnit, margin: float) -> str:
    """Sentences on a metric at several points.

    Each group has the lines of one outcome, the text that names their points, and the text with their factors. The
    first sentence names the metric.
    """
    (lines, place, factors), *others = groups
    line = lines[0]
    texts = {
        Order.WINNER: f"{line.leaders[0]} has the {extreme(line.metric)} at {place}{factors}.",
        Order.ALONE: f"Under {line.leaders[0]}, the {phrase(line.metric)} {_are(line.metric)} {_values(lines, unit)} "
        f"at {place}.",
    }
    found = [texts.get(line.outcome, f"{_shared(line)} at {place}{factors}.") + advice(lines, margin) + _cut(lines)]
    for lines, place, factors in others:
        found.append(f"At {place}, {outcome_clause(lines[0])}{factors}.{advice(lines, margin)}{_cut(lines)}")
    return " ".join(found)


def outcome_clause(line: AnswerLine) -> str:
    """Outcome of a line as a clause, which does not name the metric."""
    names = line.leaders
    texts = {
        Order.WINNER: f"{names[0]} is best",
        Order.TIE: f"{listed(names)} tie",
        Order.ALONE: f"only {names[0]} has runs",
    }
    return texts.get(line.outcome) or f"the order of {_contenders(line)} is open"


def _contenders(line: AnswerLine) -> str:
    """Text that names the schemes of which each may be the best."""
    every, names = len(line.standings), line.leaders
    if not every == len(names) > _FEW:
        return listed(names)
    return f"all {every} {'values' if '=' in names[0].partition('+')[0] else 'schemes'}"


def _shared(line: AnswerLine) -> str:
    """Beginning of a sentence on several schemes of which each may be the best."""
    if line.outcome is Order.TIE:
        return f"{listed(line.leaders)} tie for the {extreme(line.metric)}"
    return f"The {extreme(line.metric)} {_are(line.metric)} open between {_contenders(line)}"


def _are(metric: Metric) -> str:
    return "are" if is_plural(metric) else "is"


def _factor(line: AnswerLine, baseline: str) -> str:
    """Text with the best scheme's factor of the baseline. If the baseline leads, the factor is the next scheme's."""
    (best, *others), whose = line.standings, f"{baseline}'s"
    if best.scheme == baseline:
        following = next((each for each in others if each.factor), None)
        ratio = times(following.factor, whose).removesuffix(f" as {whose}") if following else ""
        return f"; {following.scheme} has {ratio}" if following else ""
    return f", {times(best.factor, whose)}" if best.factor else ""


def advice(lines: Sequence[AnswerLine], margin: float) -> str:
    """Sentence with the number of seeds that settle an open order; empty if no number is known.

    `margin` is the half-width of a factor's interval that settles any order.
    """
    seeds = min(line.standings[0].mean.n for line in lines)
    if lines[0].outcome is not Order.OPEN or seeds < ESTIMABLE:
        return ""
    wanted = [line.more_seeds for line in lines]
    most = max((each for each in wanted if each), default=None)
    if not most or None in wanted:
        return ""
    seeds_text = f"{most:,} more {'seeds narrow' if most > 1 else 'seed narrows'}"
    return f" About {seeds_text} the ratios to ±{100 * margin:.3g} %, which settles the order."


def where(dimensions: Sequence[Dimension], places: Sequence[Sequence[str]], every: Sequence[Sequence[str]]) -> str:
    """Text that names `places` among `every` point, such as `load 0.2 to 0.6 with switch.mark_above 20pkt`."""
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
            text += f" with {where(rest, sorted(others), sorted(every_other))}"
        texts.append(text)
    return listed(texts)


def _spans(values: Sequence[str], dimension: Dimension) -> str:
    """Text that lists values of a setting, with neighbouring numbers as a range."""
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


def _values(lines: Sequence[AnswerLine], unit: DisplayUnit) -> str:
    """Text with the smallest and the largest mean of a single scheme."""
    means = sorted((line.standings[0].mean for line in lines), key=lambda each: each.value)
    ends = [f"{'at least ' if each.lower_bound else ''}{number(each.value / unit.divisor)}" for each in means]
    return f"{' to '.join(dict.fromkeys((ends[0], ends[-1])))}{unit.suffix}"


def range_of(factors: Sequence[Estimate | None], whose: str) -> str:
    """Text with the smallest and the largest factor, the largest first if the factors fall along the points.

    If a factor is a bound, the end of the range on its open side is one, too.
    """
    known = [replace(each, ci95=None) for each in factors if each]
    if not known:
        return ""
    ends = sorted(known, key=lambda each: each.value, reverse=known[0].value > known[-1].value)
    falls = ends[0].value > ends[-1].value
    least, most = (-1, 0) if falls else (0, -1)
    ends[least] = replace(ends[least], upper_bound=any(each.upper_bound for each in known))
    ends[most] = replace(ends[most], lower_bound=any(each.lower_bound for each in known))
    where = f" at {len(known)} of {len(factors)} points" if len(known) < len(factors) else ""
    return times_between((ends[0], ends[-1]), whose) + where


def _cut(lines: Sequence[AnswerLine]) -> str:
    """Sentence with the times up to which flows count because some did not finish; empty if all times count."""
    times = [line.cut_s for line in lines if line.cut_s is not None]
    if not times:
        return ""
    ends = dict.fromkeys(f"{number(1e3 * time)} ms" for time in (min(times), max(times)))
    return f" Each flow counts up to {' to '.join(ends)} only, because some flows did not finish."
