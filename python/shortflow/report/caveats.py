"""Notes that accompany an answer: unfinished flows, numbers of seeds, and rare events."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from shortflow.judge.estimates import DECISIVE, ESTIMABLE, Estimate
from shortflow.metrics.catalogue import FLOWS_DONE, SIZE_FLOW_GOODPUT, SIZE_MEAN_FCT, UNFINISHED
from shortflow.metrics.statistic import Metric
from shortflow.quantities import counted
from shortflow.report.notes import omitted_flows
from shortflow.report.queues import packet_bytes, queue_unit
from shortflow.report.used_links import inner_bottleneck, links
from shortflow.report.wording import listed, phrase, scheme_pairs
from shortflow.results import Results

_LEAST_MOVE = 0.0005
"""Minimum change that moves a printed difference, which is rounded to 0.1 %."""


def notes(study: Results, metrics: Sequence[Metric]) -> Iterator[str]:
    """All notes on a study that is compared by these metrics."""
    yield from (f"{text}." for text in omitted_flows(study))
    if any(_counts(study, scheme)[1] for scheme in study.schemes):
        yield unfinished(study) or "All measured flows finished."
    yield from _cut_goodput(study, metrics)
    yield from _sizes(study, metrics)
    if len(study.seeds) == 1:
        yield f"One seed has no interval: run at least {DECISIVE} seeds."
    elif all(point.is_exact(scheme) for point in study.points for scheme in point.schemes):
        yield "Every seed gives the same run: nothing is random here, so the numbers are exact."
    seeds = [{run.seed for run in study.runs if run.scheme == scheme} for scheme in study.schemes]
    if any(each != seeds[0] for each in seeds):
        common = len(set.intersection(*seeds))
        yield f"Schemes have different seeds. The answer uses the seeds that all schemes have ({common or 'none'})."
    of = len(study.seeds)
    if fewer := [f"{each.place} ({len(each.seeds)} of {of})" for each in study.points if len(each.seeds) < of]:
        yield f"Some points have fewer seeds: {listed(fewer)}."
    yield from _inner_links(study)
    few = [(point.place, text) for point in study.points for text in few_events(point, metrics)]
    if few:
        (place, text), *others = few
        first = f"At {place}, {text[0].lower()}{text[1:]}" if study.x_name else text
        yield first + (f" Other points with such differences: {len(others)}." if others else "")


def _inner_links(study: Results) -> Iterator[str]:
    """Notes on schemes whose most used link leads to no receiver, from one run each. Empty for several points."""
    if len(study.points) > 1:
        return
    said: dict[str, list[str]] = defaultdict(list)
    for scheme in study.schemes:
        run = next((run for run in study.runs if run.scheme == scheme and run.tables), None)
        if run and (used := links(run)) and (text := inner_bottleneck(used)):
            said[text].append(scheme)
    yield from (f"{listed(schemes)}, first seed: {text[0].lower()}{text[1:]}" for text, schemes in said.items())


def unfinished(study: Results) -> str:
    """Sentences with the unfinished flows of each scheme, over all points and seeds; empty if all finished."""
    counts = {scheme: _counts(study, scheme) for scheme in study.schemes}
    late = [f"{scheme} {count:,} of {total:,}" for scheme, (count, total) in counts.items() if count]
    if not late:
        return ""
    return (
        f"Unfinished flows: {', '.join(late)}. They count with their age at the end of the run, so their times are "
        "lower bounds (≥). If the bounds hide the order of schemes, raise drain."
    )


def _counts(study: Results, scheme: str) -> tuple[int, int]:
    """Numbers of unfinished and of all measured flows of a scheme, over all points and seeds."""
    rows = [row for run in study.runs if run.scheme == scheme for row in run.rows]
    late = round(sum(row.value for row in rows if row.metric.statistic is UNFINISHED))
    return late, late + round(sum(row.value for row in rows if row.metric.statistic is FLOWS_DONE))


def _sizes(study: Results, metrics: Sequence[Metric]) -> Iterator[str]:
    """Note if metrics are queues in packets, but the schemes' packets differ in mean size."""
    if queue_unit(study) == "B" and (named := [each for each in metrics if each.unit == "pkt"]):
        sizes = listed([f"{scheme} {size:,.0f} B" for scheme, size in packet_bytes(study).items()])
        instead = named[0].name.replace("_pkt", "_bytes")
        yield f"Packets in the queues differ in mean size: {sizes}. Compare queues in bytes: {instead}."


def _cut_goodput(study: Results, metrics: Sequence[Metric]) -> Iterator[str]:
    """Note if long flows did not finish: a longer drain would change their goodput."""
    long = study.bins.long
    time, goodput = Metric(SIZE_MEAN_FCT, size_bin=long), Metric(SIZE_FLOW_GOODPUT, size_bin=long)
    late = [scheme for scheme in study.schemes if any(point.is_bound(scheme, time.name) for point in study.points)]
    if goodput in metrics and late:
        yield (
            f"The {phrase(goodput)} depends on the length of the drain: under {listed(late)} some of these flows did "
            "not finish."
        )


def few_events(comparison: Results, metrics: Sequence[Metric]) -> Iterator[str]:
    """Note on differences that are open only because their intervals allow for rare events.

    Of the first metric with such differences, names the one with the largest allowance. Gives the number of others.
    """
    found = [
        (-place, difference.allowance, text)
        for place, metric in enumerate(metrics)
        for scheme, baseline in scheme_pairs(comparison)
        if (difference := comparison.change(scheme, baseline, metric.name))
        and (text := few_events_of(difference, phrase(metric), f"between {scheme} and {baseline}"))
    ]
    if found:
        more = f" Other such differences: {len(found) - 1}." if len(found) > 1 else ""
        yield max(found)[-1] + more


def few_events_of(difference: Estimate, metric: str, between: str) -> str:
    """Text that gives the allowance for rare events as the reason why a difference is open; otherwise empty.

    The text is empty if the interval, which includes the allowance, has one sign: the order is then certain. It is also
    empty if one event moves no printed digit of the difference.
    """
    few, (low, high) = difference.few_events, difference.ci95 or (0.0, 0.0)
    if few is None or few.move < _LEAST_MOVE or low > 0 or high < 0:
        return ""
    wanted = few.seeds if difference.n >= ESTIMABLE else None
    advice = f" About {counted(wanted, 'more seed')} would make this allowance small." if wanted else ""
    return (
        f"The interval of the difference in {metric} {between} allows for rare events, such as timeouts, that few or "
        f"no seeds had.{advice}"
    )
