"""What a comparison shows, in words: paired differences with their intervals, and what these leave open."""

import math
from collections.abc import Iterator, Sequence

from shortflow.metrics.catalogue import (
    DISTANCE,
    FCT,
    FLOWS_DONE,
    GOODPUT,
    MEAN_FCT,
    TASK_TIME,
    TASK_TIMES,
    TASKS,
    UNFINISHED,
    UNFINISHED_OF_ALL,
    Metric,
)
from shortflow.metrics.stats import Estimate
from shortflow.quantities import scale_for
from shortflow.report.tables import headline_metrics, is_lopsided, metrics_of, number, scheme_pairs, shown
from shortflow.results import Results

ENOUGH = 10
"""A class with so many flows in a seed may lead."""
EVERY_FLOW = "Every flow that counts finished."


def verdict(comparison: Results) -> list[str]:
    """The sentences that a reader needs first: who finishes what sooner, what that costs, and what did not finish."""
    return [*_findings(comparison), *_unfinished(comparison), *_chance(comparison), *few_events(comparison)]


def few_events(comparison: Results, metrics: Sequence[Metric] = ()) -> Iterator[str]:
    """The first metric, of some or of the headline ones, with a difference that rests on few events: the largest such.

    How many other differences do is told too.
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
    """The warning of a difference that rests on few events; empty of another."""
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


def study_verdict(study: Results) -> tuple[list[str], list[str]]:
    """The same of a study: sentences about all of it, and one paragraph for each point if there are several."""
    comparisons = study.points
    if len(comparisons) == 1:
        return verdict(comparisons[0]), []
    points = [
        " ".join(
            [
                f"{study.x_name} {point.label}:",
                *_findings(point),
                *_unfinished(point, quiet=True),
                *few_events(point),
            ]
        )
        for point in study.points
    ]
    done = not any(True for each in comparisons for _ in _unfinished(each, quiet=True))
    finished = [EVERY_FLOW] if done and any(_has_flows(each) for each in comparisons) else []
    return [*finished, *dict.fromkeys(note for each in comparisons for note in _chance(each))], points


def _findings(comparison: Results) -> Iterator[str]:
    main = _main(comparison)
    if main and main.flow_class and (of_seed := _done(comparison, main)) < ENOUGH:
        yield f"Only {number(of_seed)} {_whom(main)} finished in a seed: few to judge by."
    if main is None or len(comparison.schemes) == 1:
        yield from _alone(comparison, main)
        return
    found = {scheme: comparison.mean(scheme, main.name) for scheme in comparison.schemes}
    means = {scheme: each for scheme, each in found.items() if each and math.isfinite(each.value)}
    if not means:
        return
    exact = [scheme for scheme, each in means.items() if not each.lower_bound]
    if not exact:
        yield f"Under every scheme some {_whom(main)} did not finish: times are lower bounds, their order is open."
        return
    if len({frozenset(run.seed for run in comparison.runs if run.scheme == scheme) for scheme in means}) > 1:
        yield "The schemes have different seeds: run them with the same ones to know which finishes sooner."
        return
    best = min(exact, key=lambda scheme: means[scheme].value)
    others = sorted((scheme for scheme in means if scheme != best), key=lambda scheme: means[scheme].value)
    yield from _beside(comparison, main, best, others)
    if others:
        yield from _costs(comparison, main, best, others[0])


def _main(comparison: Results) -> Metric | None:
    """What schemes are judged by first: the mean time of tasks, or of the first class that has enough flows."""
    classes = metrics_of(comparison, MEAN_FCT)
    enough = [each for each in classes if _done(comparison, each) >= ENOUGH]
    most = sorted(classes, key=lambda each: -_done(comparison, each))
    return next(iter([*metrics_of(comparison, TASK_TIME), *enough, *most]), None)


def _done(comparison: Results, mean: Metric) -> float:
    """How many of the flows that a mean is of finish in a seed, under the scheme that finishes most."""
    counts = (comparison.mean(scheme, Metric(FLOWS_DONE, mean.flow_class).name) for scheme in comparison.schemes)
    return max((each.value for each in counts if each), default=0.0)


def _alone(comparison: Results, main: Metric | None) -> Iterator[str]:
    """The levels of the only scheme, or of all where nothing finite is sent."""
    for scheme in comparison.schemes:
        parts = []
        if main and (mean := _level(comparison, scheme, main)):
            tail = _level(comparison, scheme, _tail(main))
            parts.append(
                f"finishes {_whom(main)} in {mean} on average{f', 99 % of them within {tail}' if tail else ''}"
            )
        for metric in metrics_of(comparison, GOODPUT):
            if rate := _level(comparison, scheme, metric):
                parts.append(f"gives the {metric.flow_class} flows {rate}")
        if parts:
            yield f"{scheme} {_joined(parts)}."
        for metric in metrics_of(comparison, DISTANCE):
            if metric.flow_class == (main and main.flow_class) and (of := comparison.mean(scheme, metric.name)):
                yield f"That mean is {shown(of)} times what ideal SRPT takes for the same flows."


def _beside(comparison: Results, main: Metric, best: str, others: Sequence[str]) -> Iterator[str]:
    """How much sooner the best scheme is than each other, as far as that can be told."""
    sooner, same, alike, late = [], [], [], []
    for other in others:
        difference = comparison.relation(best, other, main.name)
        if difference is None or not difference.has_sign:
            late.append(other)
        elif _is_equal(difference):
            same.append(other)
        elif _is_told(difference):
            sooner.append(f"{_size(difference)} sooner than {other}")
        else:
            alike.append(f"{other} ({_signed(difference)})")
    if sooner:
        yield f"{best} finishes {_whom(main)} {_joined(sooner)}."
    if len(sooner) > 1 and len(comparison.seeds) > 1:
        picked = f"{best} was picked as the best of {len(others) + 1} schemes on these same seeds"
        yield f"The intervals take no account of it that {picked}."
    if same:
        yield f"{_joined([best, *same])} take the same time for {_whom(main)}."
    if alike:
        what = f"{best} finishes them" if sooner else f"{best}, whose mean is least, finishes {_whom(main)}"
        yield f"Whether {what} sooner than {_joined(alike, 'or')}, {len(comparison.seeds)} seeds do not tell."
    if late:
        what = "them" if sooner or alike else _whom(main)
        those = "where some flows did not finish"
        yield f"Whether {best} finishes {what} sooner than {_joined(late, 'or')}, {those}, is open."


def _costs(comparison: Results, main: Metric, best: str, other: str) -> Iterator[str]:
    """What else differs between the best scheme and the next."""
    more = [_tail(main)]
    more += [each for each in metrics_of(comparison, MEAN_FCT) if each != main and main.flow_class != each.flow_class]
    more += metrics_of(comparison, GOODPUT)
    told, alike, same = [], [], []
    for metric in more:
        difference = comparison.relation(best, other, metric.name)
        if difference is None or not difference.has_sign or not math.isfinite(difference.value):
            continue
        if _is_told(difference):
            told.append(_effect(metric, difference))
        elif _is_equal(difference):
            same.append(_whose(metric))
        else:
            alike.append(f"{_whose(metric)} ({_signed(difference)})")
    if told:
        yield f"Against {other}, {best} {_joined(told)}."
    if alike:
        yield f"No difference{f' from {other}' if not told else ''} can be told in {_joined(alike, 'or')}."
    if same:
        yield f"{best} and {other} are equal in {_joined(same)}."


def _effect(metric: Metric, difference: Estimate) -> str:
    """What a scheme does to what a metric is about."""
    size, less = _size(difference), difference.value < 0
    if metric.statistic is GOODPUT:
        flows = f"the {metric.flow_class} flows"
        return f"costs {flows} {size} of their goodput" if less else f"gives {flows} {size} more goodput"
    if metric.statistic is MEAN_FCT:
        return f"finishes {_whom(metric)} {size} {'sooner' if less else 'later'}"
    return f"{'lowers' if less else 'raises'} the 99th percentile of {_whom(metric)} by {size}"


def _unfinished(comparison: Results, *, quiet: bool = False) -> Iterator[str]:
    """How many flows did not finish; unless `quiet`, also that none did not."""
    if not _has_flows(comparison):
        return
    parts = []
    for scheme in comparison.schemes:
        late, counted = _counts(comparison, scheme)
        if late:
            parts.append(f"{late:,} of {counted:,} flows" + (f" under {scheme}" if len(comparison.schemes) > 1 else ""))
    if parts:
        yield f"{_joined(parts)} did not finish, and count with their age at the end of the run."
    elif not quiet:
        yield EVERY_FLOW


def _counts(comparison: Results, scheme: str) -> tuple[int, int]:
    """How many flows of all seeds that started in the measured time did not finish, and how many there were."""
    rows = [row for run in comparison.runs if run.scheme == scheme for row in run.rows]
    late = round(sum(row.value for row in rows if row.metric.statistic is UNFINISHED))
    return late, late + round(sum(row.value for row in rows if row.metric.statistic is FLOWS_DONE))


def _has_flows(comparison: Results) -> bool:
    return bool(metrics_of(comparison, UNFINISHED_OF_ALL))


def _chance(comparison: Results) -> Iterator[str]:
    """What the intervals do not say, if there are any."""
    digests = {(run.scheme, run.digest) for run in comparison.runs}
    if len(comparison.seeds) == 1:
        yield "There is one seed, and so no interval: how far chance goes is not known."
    elif len(digests) == len(comparison.schemes):
        yield "Every seed gives the same run: nothing is random here, and intervals say nothing of chance."


def _level(comparison: Results, scheme: str, metric: Metric) -> str:
    found = comparison.mean(scheme, metric.name) if metric.name in comparison.metrics else None
    if found is None or not math.isfinite(found.value):
        return ""
    scale = scale_for(metric.unit, [found.value])
    return shown(found, scale.divisor, scale.unit)


def _tail(main: Metric) -> Metric:
    """The 99th percentile of the times that a metric is the mean of."""
    return Metric(TASK_TIMES[99], task=main.task) if main.task else Metric(FCT[99], main.flow_class)


def _whom(metric: Metric) -> str:
    return TASKS[metric.task] if metric.task else f"{metric.flow_class} flows"


def _whose(metric: Metric) -> str:
    if metric.statistic is GOODPUT:
        return f"the goodput of {metric.flow_class} flows"
    what = "mean" if metric.statistic is MEAN_FCT else "99th percentile"
    return f"the {what} of {_whom(metric)}"


def _is_told(difference: Estimate) -> bool:
    """Whether its interval has one sign; a bound has the sign that is asked for before."""
    low, high = difference.ci95 or (difference.value, difference.value)
    return low > 0 or high < 0


def _is_equal(difference: Estimate) -> bool:
    """Whether two schemes have the same value in every seed."""
    few = difference.few_events
    return difference.value == 0 and (difference.ci95 in (None, (0, 0)) or (few is not None and few.seeds is None))


def _size(difference: Estimate) -> str:
    """How large a difference is, without its sign."""
    value = abs(difference.value) * 100
    if difference.lower_bound or difference.upper_bound:
        return f"at least {number(min(abs(end) for end in difference.ci95 or (difference.value,)) * 100)} %"
    if difference.ci95 is None:
        return f"{number(value)} %"
    ends = sorted(abs(end) * 100 for end in difference.ci95)
    if is_lopsided(difference):
        return f"{number(value)} % ({number(ends[0])} to {number(ends[1])} %)"
    return f"{number(value, (ends[1] - ends[0]) / 2)} %"


def _signed(difference: Estimate) -> str:
    low, high = difference.ci95 or (difference.value, difference.value)
    return f"{difference.value * 100:+,.1f} %, from {low * 100:+,.1f} to {high * 100:+,.1f} %"


def _joined(parts: Sequence[str], word: str = "and") -> str:
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}" if len(parts) > 1 else parts[0]
