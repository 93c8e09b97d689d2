"""Tables of results, with units in headers and 95 % intervals as ± or [low, high]."""

from collections.abc import Iterator, Mapping, Sequence

from shortflow.metrics.catalogue import (
    DEADLINE_MISS,
    DROPS,
    FLOWS_DONE,
    MEAN_FCT,
    OF_BIN,
    OF_NETWORK,
    OF_PORTS,
    OF_SIZE,
    SIZE_FCT,
    SIZE_RECEIPTS,
    SIZE_SLOWDOWNS,
    TIMEOUTS,
    UNFINISHED_OF_ALL,
    Metric,
)
from shortflow.metrics.stats import Estimate
from shortflow.quantities import Scale, scale_for
from shortflow.report.blocks import Block, Column, Section, Words, text_section
from shortflow.report.wording import NOTHING, factor, headline_metrics, metrics_of, percent, scheme_pairs, shown, title
from shortflow.result import Result
from shortflow.results import Results
from shortflow.scenario import Setting, is_default

_LOSSES = (DEADLINE_MISS, DROPS, TIMEOUTS)


def common_scales(estimates: Mapping[Metric, Sequence[Estimate | None]]) -> dict[str, Scale]:
    """Scale for each unit of the metrics, common to all estimates."""
    values: dict[str, list[float]] = {}
    for metric, found in estimates.items():
        values.setdefault(metric.unit, []).extend(each.value for each in found if each)
    return {unit: scale_for(unit, of_unit) for unit, of_unit in values.items()}


def comparison_blocks(comparison: Results, metrics: Sequence[Metric] = ()) -> list[Block]:
    """Caption and tables of a comparison: all metrics, or only the given ones."""
    groups = [("Chosen metrics", metrics)] if metrics else list(_metric_groups(comparison))
    sections = [_estimates(comparison, heading, found) for heading, found in groups]
    if len(comparison.schemes) > 1:
        sections.append(_differences(comparison, metrics or headline_metrics(comparison)))
    return [caption(comparison), *sections]


def main_blocks(comparison: Results, more: str = "") -> list[Block]:
    """Caption, main metrics and paired differences; `more` tells how to get the others."""
    main = headline_metrics(comparison)
    sections = [_estimates(comparison, f"Main metrics{more}", [*main, *_unfinished(comparison)])]
    sections.append(_estimates(comparison, "Deadlines and losses", metrics_of(comparison, *_LOSSES)))
    if len(comparison.schemes) > 1:
        sections.append(_differences(comparison, main))
    return [caption(comparison), *sections]


def _unfinished(comparison: Results) -> list[Metric]:
    """Share of unfinished flows, if there are any."""
    runs = [*comparison.runs, *comparison.ideal]
    return [
        each for each in metrics_of(comparison, UNFINISHED_OF_ALL) if any(run.metrics.get(each.name) for run in runs)
    ]


def overview_section(
    heading: str,
    x_name: str,
    points: Sequence[Results],
    chosen: Sequence[Metric] = (),
    baseline: str | None = None,
) -> Section:
    """Comparisons along a parameter: one row per value and scheme, with chosen or headline metrics."""
    rows = [(point, scheme) for point in points for scheme in point.schemes]
    metrics = list(chosen or dict.fromkeys(metric for point in points for metric in headline_metrics(point)))
    labels = [point.label if scheme == point.schemes[0] else "" for point, scheme in rows]
    lead = [Column(x_name, labels), Column("scheme", [scheme for _, scheme in rows])]
    metrics += dict.fromkeys(each for point in points for each in _unfinished(point))
    estimates = {each: [point.mean(scheme, each.name) for point, scheme in rows] for each in metrics}
    scales = common_scales(estimates)
    columns = []
    for metric in metrics:
        columns.append(_estimate_column(metric, estimates[metric], scales[metric.unit]))
        if metric.statistic is MEAN_FCT and len(points) < len(rows):
            columns.append(_factors(metric, rows, baseline or rows[0][1]))
    return Section(heading, lead, columns)


def study_section(study: Results, metrics: Sequence[Metric], baseline: str) -> Section:
    """Everything in one table: a row for each point and scheme, the headlines with factors of a baseline, and more."""
    schemes = [*study.schemes, *study.ideal_names, *([study.measured.result.scheme] if study.measured else [])]
    rows = [(point, scheme) for point in study.points for scheme in schemes]
    rows = [(point, scheme) for point, scheme in rows if any(point.mean(scheme, name) for name in study.metric_names)]
    more = [*metrics_of(study, SIZE_SLOWDOWNS[99]), *headline_metrics(study), *metrics_of(study, *_LOSSES)]
    every = [*dict.fromkeys([*metrics, *more]), *metrics_of(study, UNFINISHED_OF_ALL)]
    estimates = {metric: [point.mean(scheme, metric.name) for point, scheme in rows] for metric in every}
    scales = {
        metric: scale_for(metric.unit, [each.value for each in found if each]) for metric, found in estimates.items()
    }
    columns = []
    for metric in every:
        columns.append(_estimate_column(metric, estimates[metric], scales[metric]))
        if metric in metrics and len(study.schemes) > 1:
            columns.append(_factors(metric, rows, baseline))
    lead = [Column(study.x_name, [point.label for point, _ in rows])] if study.x_name else []
    lead.append(Column("scheme", [scheme for _, scheme in rows]))
    return Section("All numbers", lead, columns, name=study.scenario)


def _factors(metric: Metric, rows: Sequence[tuple[Results, str]], baseline: str) -> Column:
    """Each scheme as a factor of a baseline, paired by seed."""
    cells = [
        NOTHING if scheme == baseline else factor(point.change(scheme, baseline, metric.name)) for point, scheme in rows
    ]
    return Column(f"× {baseline}", cells)


def settings_section(settings: Sequence[Setting], heading: str) -> Section:
    """Resolved values with their source."""
    rows = [(each["key"], each["value"], each["source"]) for each in settings]
    usual = [place for place, each in enumerate(settings) if is_default(each)]
    return text_section(heading, ("key", "value", "source"), rows, faint=usual)


def choices(results: Sequence[Result]) -> list[Section]:
    """All values used by the runs: those of the scenario, and those of each scheme."""
    by_scheme = {result.provenance["scheme"]: result.provenance["scheme_settings"] for result in results}
    sections = [settings_section(settings, f"Scheme {name}") for name, settings in by_scheme.items() if settings]
    return [settings_section(results[0].provenance["scenario_settings"], "Scenario"), *sections]


def caption(comparison: Results) -> Words:
    """Scenario, seeds and measured time of a comparison, in two lines."""
    seeds = comparison.seeds
    one = len(seeds) == 1
    spread = f"seed {seeds[0]}" if one else f"mean ± 95 % confidence over {len(seeds)} seeds"
    changed = "".join(f", {key} = {value}" for key, value in comparison.settings.items())
    own = f"\n{comparison.measured.note}" if comparison.measured else ""
    return Words(f"{comparison.title}\n{comparison.scenario}{changed}: {spread}{measured_time(comparison)}{own}")


def measured_time(comparison: Results) -> str:
    """Suffix with the measured time; empty if unknown."""
    return "; measured from {:g} s to {:g} s".format(*comparison.measured_s) if comparison.measured_s else ""


def _metric_groups(comparison: Results) -> Iterator[tuple[str, list[Metric]]]:
    """Metrics by topic: tasks, completion per class, throughput and queue, losses.

    Queues are shown in packets only.
    """
    metrics = list(comparison.metrics.values())
    if tasks := [metric for metric in metrics if metric.task]:
        yield "Queries, jobs and requests", tasks
    finite = {metric.flow_class for metric in metrics if metric.statistic is FLOWS_DONE}
    of_classes = [metric for metric in metrics if metric.flow_class]
    rates = [metric for metric in of_classes if metric.unit == "bps" or metric.flow_class not in finite]
    for flow_class in dict.fromkeys(metric.flow_class for metric in of_classes):
        of_class = [metric for metric in of_classes if metric.flow_class == flow_class and metric not in rates]
        for sizes, in_bins in (("", False), (" by size", True)):
            if found := [metric for metric in of_class if (metric.statistic in OF_BIN.statistics) is in_bins]:
                yield f"Completion time (FCT) of {flow_class} flows{sizes}", found
    longest = (SIZE_FCT[100], SIZE_RECEIPTS[100], SIZE_SLOWDOWNS[100])
    if by_size := [each for each in metrics if each.statistic in OF_SIZE.statistics and each.statistic not in longest]:
        yield "All flows by size", by_size
    in_packets = [each for each in metrics if each.statistic in OF_PORTS.statistics and each.unit != "B"]
    if rates or in_packets:
        yield "Throughput and the measured ports" if rates else "The measured ports", [*rates, *in_packets]
    yield "Whole network, per run", [metric for metric in metrics if metric.statistic in OF_NETWORK.statistics]


def _estimates(comparison: Results, heading: str, metrics: Sequence[Metric]) -> Section:
    """Metrics by scheme, ideal schedulers last; metrics of one kind share a unit.

    A single scheme has one row per metric, each with its own unit.
    """
    apart = [*_own(comparison, metrics), *_telling(comparison, metrics)]
    if len(comparison.schemes) == 1 and not apart and not comparison.ideal:
        return _one_by_one(comparison, heading, metrics)
    schemes = [*comparison.schemes, *apart]
    estimates = {metric: [comparison.mean(scheme, metric.name) for scheme in schemes] for metric in metrics}
    scales = common_scales(estimates)
    columns = [_estimate_column(metric, estimates[metric], scales[metric.unit]) for metric in metrics]
    return Section(heading, [Column("scheme", schemes)], columns, apart=len(apart))


def _one_by_one(comparison: Results, heading: str, metrics: Sequence[Metric]) -> Section:
    (scheme,) = comparison.schemes
    found = [(metric, each) for metric in metrics if (each := comparison.mean(scheme, metric.name))]
    scales = [scale_for(metric.unit, [each.value]) for metric, each in found]
    values = [shown(each, scale.divisor) for (_, each), scale in zip(found, scales, strict=True)]
    one_class = len({metric.flow_class for metric, _ in found}) == 1  # named in the heading
    names = [" of ".join(filter(None, (each.label, each.sizes))) if one_class else title(each) for each, _ in found]
    units = Column("", [scale.unit for scale in scales], text=True)
    return Section(heading, [Column("metric", names)], [Column(scheme, values), units])


def _telling(comparison: Results, metrics: Sequence[Metric]) -> list[str]:
    """Ideal schedulers, if any of their values is not zero."""
    values = (run.metrics.get(metric.name) for run in comparison.ideal for metric in metrics)
    return list(comparison.ideal_names) if any(values) else []


def _own(comparison: Results, metrics: Sequence[Metric]) -> list[str]:
    """Measured flows, if they have one of the metrics."""
    found = comparison.measured and comparison.measured.result
    return [found.scheme] if found and any(metric.name in found.metrics for metric in metrics) else []


def _estimate_column(metric: Metric, estimates: Sequence[Estimate | None], scale: Scale) -> Column:
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
