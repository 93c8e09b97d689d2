"""Tables of results. Headers have units, and 95 % intervals are written as ± or [low, high]."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from shortflow.judge.estimates import Estimate
from shortflow.metrics.catalogue import (
    DEADLINE_MISS,
    DROPS,
    FAMILIES,
    FCT,
    FLOWS_DONE,
    GOODPUT,
    MEAN_FCT,
    OF_BIN,
    OF_NETWORK,
    OF_PORTS,
    OF_SIZE,
    QUEUE_MEAN,
    SIZE_FLOW_GOODPUT,
    SIZE_FLOWS_DONE,
    SIZE_SLOWDOWNS,
    TIMEOUTS,
    UNFINISHED_OF_ALL,
    UNFINISHED_SHARE,
)
from shortflow.metrics.statistic import Metric
from shortflow.quantities import DisplayUnit, counted, scale_for
from shortflow.report.blocks import Block, Column, Section, Words, terminal_width, text_section
from shortflow.report.links import link_blocks
from shortflow.report.queues import queue_unit
from shortflow.report.study import without_effect
from shortflow.report.wording import (
    NOTHING,
    everyone,
    factor,
    headline_metrics,
    metrics_of,
    number,
    percent,
    phrase,
    scheme_pairs,
    shown,
    unit_in_study,
)
from shortflow.result import Result
from shortflow.results import Results
from shortflow.scenario import Setting, is_default

_LOSSES = (DEADLINE_MISS, DROPS, TIMEOUTS)
_UNSHOWN = {
    UNFINISHED_OF_ALL,
    *(each for family in FAMILIES for percent, each in family.percentiles.items() if percent in (1, 5, 100)),
}
"""Statistics that tables have on request only: extreme percentiles, and the unfinished share of all flows."""
_OF_SIZES = ("flows done", "mean FCT", "p99 FCT", "p99 slowdown")
"""Labels of the statistics by size in the tables of a single run."""
_MOST_ROWS = 40
"""Maximum number of rows of a table in a terminal."""
NARROWEST = 80
"""Minimum width of a terminal, in characters, for plots made of characters."""
_SPREAD = (1, 5, 50, 95, 99)
"""Percentiles in a plot of characters."""
_MOST = 64
"""Maximum width of the plot's axis, in characters."""


def common_scales(estimates: Mapping[Metric, Sequence[Estimate | None]]) -> dict[str, DisplayUnit]:
    """Display unit for each unit of the metrics, common to all estimates in that unit."""
    values: dict[str, list[float]] = {}
    for metric, found in estimates.items():
        values.setdefault(metric.unit, []).extend(each.value for each in found if each)
    return {unit: scale_for(unit, of_unit) for unit, of_unit in values.items()}


def comparison_blocks(comparison: Results, metrics: Sequence[Metric] = ()) -> list[Block]:
    """Caption and tables of a comparison: of the given metrics or, without any, of all but extreme percentiles."""
    groups = [("Chosen metrics", metrics)] if metrics else list(_metric_groups(comparison))
    sections = [_estimates(comparison, heading, found) for heading, found in groups]
    if len(comparison.schemes) > 1:
        sections.append(_differences(comparison, metrics or headline_metrics(comparison)))
    return [caption(comparison), *sections]


def run_blocks(alone: Results, more: str = "") -> list[Block]:
    """Caption and tables of one run. `more`, in the first heading, says how to get the metrics that are left out."""
    groups = [(heading, found) for heading, every in _metric_groups(alone) if (found := _brief(alone, every))]
    sections = [
        _estimates(alone, heading + ("" if place else more), found) for place, (heading, found) in enumerate(groups)
    ]
    return [caption(alone), *sections, *link_blocks(alone.runs[0])]


def main_blocks(comparison: Results, metrics: Sequence[Metric], more: str = "") -> list[Block]:
    """Caption, a table of the main metrics, and a table of their paired differences.

    `more`, in the heading, says how to get the other metrics.
    """
    sections = [_estimates(comparison, f"Main metrics{more}", [*metrics, *_beside(comparison, metrics)])]
    if len(comparison.schemes) > 1:
        sections.append(_differences(comparison, metrics))
    return [caption(comparison), *sections]


def _beside(study: Results, metrics: Sequence[Metric]) -> list[Metric]:
    """Metrics that accompany `metrics`: mean FCTs and goodputs of several classes, the mean queue, and losses.

    Losses that are zero in all runs are left out. The share of unfinished flows is included for several points; for a
    single point, the answer has it.
    """
    means, goodputs, runs = metrics_of(study, MEAN_FCT), metrics_of(study, GOODPUT), [*study.runs, *study.ideal]
    losses = metrics_of(study, *_LOSSES, *([UNFINISHED_OF_ALL] if study.x_name else []))
    losses = [each for each in losses if any(run.metrics.get(each.name) for run in runs)]
    several = any(sum(row.metric.statistic is GOODPUT for row in run.rows) > 1 for run in runs)
    of_classes = [*(means if len(means) > 1 else []), *(goodputs if several else [])]
    found = [*of_classes, *metrics_of(study, QUEUE_MEAN[queue_unit(study)]), *losses]
    return [each for each in found if each not in metrics]


def sweep_section(sweep: Results, metrics: Sequence[Metric], baseline: str) -> Section:
    """Table of `metrics` with factors of the baseline, the queue and losses.

    It has a row for each point and scheme, at most 40. Points whose rows do not all fit are left out, except the first.
    """
    points = [point for point in sweep.points if point.runs]
    ends = list(itertools.accumulate(len(_rows(sweep, [point])) for point in points))
    shown = points[: max(1, sum(end <= _MOST_ROWS for end in ends))]
    heading = "Main metrics at " + f"{len(shown):,} of " * (len(shown) < len(points)) + counted(len(points), "point")
    rows = _rows(sweep, shown)
    if len(rows) > _MOST_ROWS:
        heading += f" ({_MOST_ROWS} of its {len(rows):,} rows)"
    return _of_points(sweep, rows[:_MOST_ROWS], heading, metrics, baseline, _beside(sweep, metrics))


def study_section(study: Results, metrics: Sequence[Metric], baseline: str) -> Section:
    """Table of all numbers, with a row for each point and scheme. `metrics` have factors of the baseline."""
    more = [*metrics_of(study, SIZE_SLOWDOWNS[99]), *headline_metrics(study)]
    more += metrics_of(study, *_LOSSES, UNFINISHED_OF_ALL)
    return _of_points(study, _rows(study, study.points), "All numbers", metrics, baseline, more, study.scenario)


def _rows(study: Results, points: Sequence[Results]) -> list[tuple[Results, str]]:
    """Pairs of a point and a scheme that has numbers there. Ideal schedulers and measured flows count as schemes."""
    rows = [(point, scheme) for point in points for scheme in everyone(study)]
    return [(point, scheme) for point, scheme in rows if any(point.mean(scheme, each) for each in study.metric_names)]


def _of_points(
    study: Results,
    rows: Sequence[tuple[Results, str]],
    heading: str,
    metrics: Sequence[Metric],
    baseline: str,
    more: Sequence[Metric],
    name: str = "",
) -> Section:
    columns = []
    for metric in dict.fromkeys([*metrics, *more]):
        estimates = [point.mean(scheme, metric.name) for point, scheme in rows]
        columns.append(_estimate_column(metric, estimates, unit_in_study(study, metric)))
        if metric in metrics and baseline in study.schemes and len(study.schemes) > 1:
            cells = [
                NOTHING if scheme == baseline else factor(point.change(scheme, baseline, metric.name))
                for point, scheme in rows
            ]
            columns.append(Column(f"× {baseline}", cells, joined=True))
    keys = [key for each in study.dimensions for key in (each.key, *each.in_step)]
    first = [not i or point is not rows[i - 1][0] for i, (point, _) in enumerate(rows)]
    # Readers can sort a table with a name, so each of its rows states the settings.
    stated = [point.settings if name or is_first else {} for (point, _), is_first in zip(rows, first, strict=True)]
    idle = {key for each in without_effect(study) for key in (each.key, *each.in_step)}
    lead = [Column(key + "\n(no effect)" * (key in idle), [at.get(key, "") for at in stated]) for key in keys]
    return Section(heading, [*lead, Column("scheme", [scheme for _, scheme in rows])], columns, name=name)


def settings_section(settings: Sequence[Setting], heading: str) -> Section:
    """Table of resolved values with their sources. Default values are faint."""
    rows = [(each["key"], each["value"], each["source"]) for each in settings]
    usual = [place for place, each in enumerate(settings) if is_default(each)]
    return text_section(heading, ("key", "value", "source"), rows, faint=usual)


def settings_sections(results: Sequence[Result]) -> list[Section]:
    """Tables of all values that the runs use: of the scenario, and of each scheme."""
    by_scheme = {result.provenance["scheme"]: result.provenance["scheme_settings"] for result in results}
    sections = [settings_section(settings, f"Scheme {name}") for name, settings in by_scheme.items() if settings]
    return [settings_section(results[0].provenance["scenario_settings"], "Scenario"), *sections]


def caption(comparison: Results) -> Words:
    """Title, scenario, seeds and measured time of a comparison, in two lines. Measured flows add a third line."""
    seeds = comparison.seeds
    one = len(seeds) == 1
    spread = f"seed {seeds[0]}" if one else f"mean ± 95 % confidence over {len(seeds)} seeds"
    changed = "".join(f", {key} = {value}" for key, value in comparison.settings.items())
    own = f"\n{comparison.measured.note}" if comparison.measured else ""
    return Words(f"{comparison.title}\n{comparison.scenario}{changed}: {spread}{measured_time(comparison)}{own}")


def measured_time(comparison: Results) -> str:
    """Suffix of a caption with the measured time; empty if the time is unknown."""
    return "; measured from {:g} s to {:g} s".format(*comparison.measured_s) if comparison.measured_s else ""


def _metric_groups(comparison: Results) -> Iterator[tuple[str, list[Metric]]]:
    """Headings with their metrics: tasks, completion times by class and by size, throughput and ports, the network.

    Queues are in one unit: packets, or bytes if the schemes' packets differ in size. If only one class has finite
    flows, its metrics by size are left out, because they equal those of all flows.
    """
    metrics = [each for each in comparison.metrics.values() if each.statistic not in _UNSHOWN]
    if tasks := [metric for metric in metrics if metric.task]:
        yield "Queries, jobs and requests", tasks
    finite = {metric.flow_class for metric in metrics if metric.statistic is FLOWS_DONE}
    of_classes = [metric for metric in metrics if metric.flow_class]
    rates = [metric for metric in of_classes if metric.unit == "bps" or metric.flow_class not in finite]
    for flow_class in dict.fromkeys(metric.flow_class for metric in of_classes):
        of_class = [metric for metric in of_classes if metric.flow_class == flow_class and metric not in rates]
        for sizes, in_bins in (("", False), (" by size", True)) if len(finite) > 1 else (("", False),):
            if found := [metric for metric in of_class if (metric.statistic in OF_BIN.statistics) is in_bins]:
                yield f"Completion time (FCT) of {flow_class} flows{sizes}", found
    if by_size := [each for each in metrics if each.statistic in OF_SIZE.statistics]:
        yield "All flows by size", by_size
    other = "B" if queue_unit(comparison) == "pkt" else "pkt"
    of_ports = [each for each in metrics if each.statistic in OF_PORTS.statistics and each.unit != other]
    if rates or of_ports:
        yield "Throughput and the measured ports" if rates else "The measured ports", [*rates, *of_ports]
    yield "Whole network, per run", [metric for metric in metrics if metric.statistic in OF_NETWORK.statistics]


def _brief(alone: Results, metrics: Sequence[Metric]) -> list[Metric]:
    """Those of `metrics` that the tables of a single run have.

    Times to receipt are left out. By size, only the main statistics and the goodput of long flows are kept. A range of
    sizes is left out if it has all flows of the only class. The share of unfinished flows is left out for a single
    class, for which their number suffices, and if it is zero.
    """
    (run,) = alone.runs
    done = {row.metric: row.value for row in run.rows if row.metric.statistic is FLOWS_DONE}
    one_class = len(done) == 1
    by_size = {row.metric.size_bin: row.value for row in run.rows if row.metric.statistic is SIZE_FLOWS_DONE}
    whole = {sizes for sizes, count in by_size.items() if [count] == [*done.values()]}
    kept = []
    for metric in metrics:
        of_sizes = metric.size_bin in whole or metric.statistic.label not in _OF_SIZES
        if metric.size_bin and of_sizes and metric != Metric(SIZE_FLOW_GOODPUT, size_bin=alone.bins.long):
            continue
        counted_once = metric.statistic is UNFINISHED_SHARE and (one_class or not run.metrics[metric.name])
        if not counted_once and not metric.statistic.label.endswith("time to receipt"):
            kept.append(metric)
    return kept


def _estimates(comparison: Results, heading: str, metrics: Sequence[Metric]) -> Section:
    """Table with a row per scheme and a column per metric, ideal schedulers last.

    For a single scheme, the table has a row per metric.
    """
    apart = [*_own(comparison, metrics), *_telling(comparison, metrics)]
    if len(comparison.schemes) == 1 and not apart and not comparison.ideal:
        return _one_by_one(comparison, heading, metrics)
    schemes = [*comparison.schemes, *apart]
    estimates = {metric: [comparison.mean(scheme, metric.name) for scheme in schemes] for metric in metrics}
    columns = [_estimate_column(metric, estimates[metric], unit_in_study(comparison, metric)) for metric in metrics]
    return Section(heading, [Column("scheme", schemes)], columns, apart=len(apart))


def _one_by_one(comparison: Results, heading: str, metrics: Sequence[Metric]) -> Section:
    (scheme,) = comparison.schemes
    found = [(metric, each) for metric in metrics if (each := comparison.mean(scheme, metric.name))]
    scales = [unit_in_study(comparison, metric) for metric, _ in found]
    values = [shown(each, scale.divisor) for (_, each), scale in zip(found, scales, strict=True)]
    one_class = len({metric.flow_class for metric, _ in found}) == 1  # named in the heading
    names = [phrase(replace(each, flow_class=None) if one_class else each) for each, _ in found]
    units = Column("", [scale.unit for scale in scales], text=True)
    return Section(heading, [Column("metric", names)], [Column(scheme, values), units])


def _telling(comparison: Results, metrics: Sequence[Metric]) -> list[str]:
    """Names of ideal schedulers, if any of their metrics is not zero."""
    values = (run.metrics.get(metric.name) for run in comparison.ideal for metric in metrics)
    return list(comparison.ideal_names) if any(values) else []


def _own(comparison: Results, metrics: Sequence[Metric]) -> list[str]:
    """Name of the measured flows, if they have one of the metrics."""
    found = comparison.measured and comparison.measured.result
    return [found.scheme] if found and any(metric.name in found.metrics for metric in metrics) else []


def _estimate_column(metric: Metric, estimates: Sequence[Estimate | None], scale: DisplayUnit) -> Column:
    return Column(_header(metric, scale.unit), [shown(each, scale.divisor) for each in estimates])


def _differences(comparison: Results, metrics: Sequence[Metric]) -> Section:
    pairs = scheme_pairs(comparison)
    lead = Column("schemes", [f"{scheme} vs {baseline}" for scheme, baseline in pairs])
    columns = [
        Column(_header(metric, "%"), [percent(comparison.change(*pair, metric.name)) for pair in pairs])
        for metric in metrics
    ]
    return Section("Difference on the same flows, paired by seed", [lead], columns)


def _header(metric: Metric, unit: str) -> str:
    return "\n".join(
        line for line in (metric.label, metric.flow_class, metric.sizes, f"({unit})" if unit else "") if line
    )


def spread_section(comparison: Results) -> Section | None:
    """Plot of characters: p1 to p99 of the completion times of the first class with finite flows, by scheme.

    Percentiles are means over the seeds, and ideal schedulers are last. None if no flow finished, or if the terminal is
    narrower than `NARROWEST`.
    """
    main = next(iter(metrics_of(comparison, MEAN_FCT)), None)
    if main is None or terminal_width() < NARROWEST:
        return None
    metrics = [Metric(FCT[percent], main.flow_class) for percent in _SPREAD]
    ends, found = metrics[-1], {}
    for scheme in (*comparison.schemes, *comparison.ideal_names):
        estimates = [comparison.mean(scheme, metric.name) for metric in metrics]
        times = [each.value for each in estimates if each and 0 < each.value < math.inf]
        if len(times) == len(metrics):
            bound = estimates[-1]
            found[scheme] = (times, bool(bound and bound.lower_bound))
    if not found:
        return None
    low, high = min(times[0] for times, _ in found.values()), max(times[-1] for times, _ in found.values())
    names = Column("scheme", list(found))
    room = min(_MOST, terminal_width() - names.width - 8)
    lines = [_line(times, low, high, room, cut=cut) for times, cut in found.values()]
    scale = scale_for(ends.unit, [low, high])
    left, right = (f"{number(end / scale.divisor)} {scale.unit}" for end in (low, high))
    axis = Column(f"{left}{right:>{room - len(left)}}", lines, text=True)
    heading = f"FCT of {main.flow_class} flows, on a logarithmic axis: ─ p1 to p99, ━ p5 to p95, ● median"
    apart = sum(name in comparison.ideal_names for name in found)
    return Section(
        heading + (", → longer still" if any(cut for _, cut in found.values()) else ""), [names], [axis], apart
    )


def _line(times: Sequence[float], low: float, high: float, room: int, *, cut: bool) -> str:
    """Line of one scheme in the plot of characters. If `cut`, an arrow marks p99 as a lower bound."""

    def place(time: float) -> int:
        share = math.log(time / low) / math.log(high / low) if high > low else 0.0
        return round(share * (room - 1))

    first, left, median, right, last = map(place, times)
    letters = [" "] * first + ["─"] * (last - first + 1)
    letters[left : right + 1] = ["━"] * (right - left + 1)
    if cut:
        letters[last] = "→"
    letters[median] = "●"
    return "".join(letters)
