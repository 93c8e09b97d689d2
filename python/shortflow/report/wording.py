"""Texts for numbers and metrics, shared by tables, answers and reports."""

import math
import re
from collections.abc import Sequence

from shortflow.judge.estimates import Estimate
from shortflow.metrics.catalogue import FCT, GOODPUT, MEAN_FCT, QUEUE_MEAN, SLOWDOWN, TASK_TIME
from shortflow.metrics.data import Sizes
from shortflow.metrics.statistic import TASKS, Metric, Statistic
from shortflow.quantities import DisplayUnit, scale_for
from shortflow.report.queues import queue_unit
from shortflow.results import Results

NOTHING = "–"
"""Cell of a table without a value."""
_ALL_PAIRS = 4
"""Maximum number of schemes for which all pairs are compared."""
_MOST_LISTED = 8
"""Maximum number of parts that a list names."""
_LOPSIDED = 0.1
"""If an end of an interval differs by more than this share of the half-width from value ± half-width, both ends are
shown."""
_PLURAL = re.compile(
    rf"(\w+ )?(flows|packets|marks|segments|timeouts|inversions|deadlines|{'|'.join(TASKS.values())})\b"
)
"""Pattern for the beginning of a label whose noun is plural."""


def number(value: float, spread: float | None = None) -> str:
    """A number with about three significant digits. The spread after ± has the same number of decimals."""
    decimals = _decimals(value, exact=not spread)
    text = f"{value:,.{decimals}f}"
    return text if spread is None else f"{text} ± {spread:,.{decimals}f}"


def shown(estimate: Estimate | None, divisor: float = 1.0, unit: str = "") -> str:
    """An estimate, divided by `divisor`, with its interval. Bounds have no interval.

    If some seeds lack a value, the text gives the number of seeds.
    """
    if estimate is None:
        return NOTHING
    value, end = estimate.value / divisor, (f" {unit}" if unit else "") + _of_seeds(estimate)
    if estimate.lower_bound:
        return f"≥ {number(value)}{end}"
    if not is_lopsided(estimate):
        return number(value, None if estimate.half_width is None else estimate.half_width / divisor) + end
    decimals = _decimals(value)
    low, high = (f"{limit / divisor:,.{decimals}f}" for limit in estimate.ci95 or ())
    return f"{value:,.{decimals}f} [{low}, {high}]{end}"


def _of_seeds(estimate: Estimate) -> str:
    return f" ({estimate.n} of {estimate.n + estimate.lacking} seeds)" if estimate.lacking else ""


def percent(difference: Estimate | None, unit: str = "") -> str:
    """A signed relative difference in per cent with its interval, followed by `unit`. Bounds have no interval.

    If some seeds lack a value, the text gives the number of seeds.
    """
    if difference is None:
        return NOTHING
    text, end = f"{difference.value * 100:+,.1f}", (f" {unit}" if unit else "") + _of_seeds(difference)
    if difference.lower_bound or difference.upper_bound:
        return f"{'≥' if difference.lower_bound else '≤'} {text}{end}"
    if is_lopsided(difference):
        low, high = (f"{limit * 100:+,.1f}" for limit in difference.ci95 or ())
        return f"{text} [{low}, {high}]{end}"
    return text + ("" if difference.half_width is None else f" ± {difference.half_width * 100:.1f}") + end


def factor(difference: Estimate | None) -> str:
    """A relative difference as a factor of the baseline, with its interval. Bounds have no interval."""
    if difference is None:
        return NOTHING
    bound = "≥ " if difference.lower_bound else "≤ " if difference.upper_bound else ""
    if difference.ci95 is None or bound:
        return f"{bound}{number(1 + difference.value)}"
    low, high = (number(1 + end) for end in difference.ci95)
    return f"{number(1 + difference.value)} [{low}, {high}]"


def percentage(share: float) -> str:
    """A share in per cent. Shares near 0 and 1 are written as `< 0.1 %` and `> 99.9 %`, never rounded to 0 or 100 %."""
    percent = 100 * share
    if 0 < percent < 0.1:
        return "< 0.1 %"
    return "> 99.9 %" if 99.9 < percent < 100 else f"{percent:.3g} %"


def is_lopsided(estimate: Estimate) -> bool:
    """True if the interval is too asymmetric for ±."""
    if estimate.ci95 is None or not estimate.half_width:
        return False
    return abs(estimate.ci95[1] - estimate.value - estimate.half_width) > _LOPSIDED * estimate.half_width


def _decimals(value: float, *, exact: bool = False) -> int:
    """Number of decimals for about three significant digits, at most 3; 0 for whole numbers if `exact`."""
    magnitude = math.floor(math.log10(abs(value))) if value else 0
    return 0 if exact and value.is_integer() else max(0, min(3, 2 - magnitude))


def phrase(metric: Metric) -> str:
    """Name of a metric in sentences and titles, such as `p99 slowdown of flows up to 100 KB`."""
    label = re.sub("^queue, (.+)", r"\1 queue", metric.label)
    label = re.sub("(.+), (measured time|whole run)$", r"\1 in the \2", label)
    label = re.sub("^unfinished$", "unfinished share", label)
    sizes = sizes_in_words(metric.size_bin)
    counts = label.startswith("flows ")  # `flows done`: the label has the noun
    if metric.flow_class is None:
        whose = "" if counts or label.endswith("per flow") else "of flows "
        return f"{label} {whose}{sizes}" if sizes else label
    named = f"{metric.flow_class} {label}" if counts else f"{label} of {metric.flow_class} flows"
    return f"{named} {sizes}" if sizes else named


def is_plural(metric: Metric) -> bool:
    """True if the phrase of a metric is plural, such as `dropped packets`."""
    return bool(_PLURAL.match(metric.label))


def extreme(metric: Metric) -> str:
    """Phrase for the best value of a metric, such as `lowest mean queue` or `fewest timeouts`."""
    low, high = ("fewest", "most") if is_plural(metric) else ("lowest", "highest")
    return f"{high if metric.more_is_better else low} {phrase(metric)}"


def times(difference: Estimate | None, whose: str) -> str:
    """A relative difference as a ratio, such as `0.5 of tcp's` or `2 times tcp's`; empty without a difference.

    The text has no interval, because tables have it.
    """
    return times_between((difference, difference), whose) if difference else ""


def times_between(ends: tuple[Estimate, Estimate], whose: str) -> str:
    """Two relative differences as a range of ratios, such as `0.5 to 0.7 of tcp's` or `the same as tcp's`."""
    if not any(end.value or end.lower_bound or end.upper_bound for end in ends):
        return f"the same as {whose}"
    texts: dict[str, None] = {}
    for end in ends:
        # With unfinished flows, a mean is a bound, and so is its ratio.
        bound = "at least " if end.lower_bound else "at most " if end.upper_bound else ""
        texts[f"{bound}{number(1 + end.value)}"] = None
    joint = "times" if any(float(number(1 + end.value).replace(",", "")) >= 1 for end in ends) else "of"
    return f"{' to '.join(texts)} {joint} {whose}"


def sizes_in_words(sizes: Sizes | None) -> str:
    """Sizes as text after the word `flows`, such as `up to 100 KB` or `of 10 to 100 KB`; empty for all sizes."""
    label = sizes.label if sizes else ""
    return re.sub(r"(.+)–(.+)", r"of \1 to \2", label.replace("≤", "up to").replace(">", "above"))


def in_words(estimate: Estimate, unit: DisplayUnit) -> str:
    """An estimate within a sentence, such as `5.6 ms (95 % interval 4.2 to 7.4)`. Bounds have no interval."""
    value, decimals = estimate.value / unit.divisor, _decimals(estimate.value / unit.divisor)
    notes = []
    if estimate.ci95 and estimate.half_width and not estimate.lower_bound:
        notes += ["95 % interval " + " to ".join(f"{end / unit.divisor:,.{decimals}f}" for end in estimate.ci95)]
    if estimate.lacking:
        notes += [f"{estimate.n} of {estimate.n + estimate.lacking} seeds"]
    bound = "at least " if estimate.lower_bound else ""
    return f"{bound}{number(value)}{unit.suffix}" + (f" ({'; '.join(notes)})" if notes else "")


def unit_in_study(study: Results, metric: Metric) -> DisplayUnit:
    """Display unit of a metric, the same in every table, sentence and axis of a study."""
    found = [point.mean(scheme, metric.name) for point in study.points for scheme in everyone(study)]
    return scale_for(metric.unit, [each.value for each in found if each])


def headline_metrics(comparison: Results) -> list[Metric]:
    """Main metrics of a comparison: task times, FCTs, slowdowns, goodput of backlogged flows, and mean queue."""
    queue = QUEUE_MEAN[queue_unit(comparison)]
    return metrics_of(comparison, TASK_TIME, MEAN_FCT, FCT[99], SLOWDOWN, GOODPUT, queue)


def metrics_of(comparison: Results, *statistics: Statistic) -> list[Metric]:
    """Metrics of these statistics that at least one run has, in the order of the statistics."""
    found = comparison.metrics.values()
    return [metric for statistic in statistics for metric in found if metric.statistic is statistic]


def everyone(study: Results) -> list[str]:
    """Names of the schemes, the ideal schedulers, and the measured flows."""
    return [*study.schemes, *study.ideal_names, *([study.measured.result.scheme] if study.measured else [])]


def scheme_pairs(comparison: Results) -> list[tuple[str, str]]:
    """Pairs of each scheme with each earlier scheme. For more than four schemes, pairs with the first scheme only."""
    schemes = comparison.schemes
    if len(schemes) > _ALL_PAIRS:
        return [(scheme, schemes[0]) for scheme in schemes[1:]]
    return [(scheme, baseline) for i, scheme in enumerate(schemes) for baseline in schemes[:i]]


def listed(parts: Sequence[str], last: str = " and ") -> str:
    """A list of parts as text. A long list has the first 8 parts and the number of the rest."""
    if len(parts) > _MOST_LISTED + 1:
        parts = [*parts[:_MOST_LISTED], f"{len(parts) - _MOST_LISTED} more"]
        last = " and "
    return f"{', '.join(parts[:-1])}{last}{parts[-1]}" if len(parts) > 1 else parts[0]
