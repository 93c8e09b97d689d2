"""Tables for the terminal: at most 100 columns wide, with units in headers and 95 % intervals as ± or [low, high]."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shortflow.metrics.catalogue import (
    DEADLINE_MISS,
    DROPS,
    FLOWS_DONE,
    MEAN_FCT,
    OF_BIN,
    OF_NETWORK,
    OF_PORTS,
    OF_SIZE,
    SIZE_LONGEST,
    SIZE_SLOWDOWNS,
    TIMEOUTS,
    UNFINISHED_OF_ALL,
    Metric,
)
from shortflow.metrics.stats import Estimate
from shortflow.quantities import Scale, scale_for
from shortflow.report.wording import NOTHING, factor, headline_metrics, metrics_of, percent, scheme_pairs, shown, title
from shortflow.results import Results
from shortflow.scenario import Setting

WIDTH = 100
_LOSSES = (DEADLINE_MISS, DROPS, TIMEOUTS)
_GAP = 3  # padding and rule between two columns


def terminal_width() -> int:
    """Largest width of a table."""
    return min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)


@dataclass
class Column:
    """A column before layout: header and cells."""

    header: str
    cells: list[str] = field(default_factory=list)
    text: bool = False
    """True for words, False for numbers."""

    @property
    def width(self) -> int:
        """Width of the widest line."""
        return max(cell_len(line) for text in (self.header, *self.cells) for line in text.splitlines() or [""])


@dataclass(frozen=True)
class Section:
    """A table before layout: heading, columns that name the rows, and columns of values."""

    heading: str
    lead: Sequence[Column]
    columns: Sequence[Column]
    apart: int = 0
    """Number of last rows set apart from the others."""

    @property
    def all(self) -> list[Column]:
        """All columns."""
        return [*self.lead, *self.columns]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Cells by row."""
        return list(zip(*(column.cells for column in self.all), strict=True))


def common_scales(estimates: Mapping[Metric, Sequence[Estimate | None]]) -> dict[str, Scale]:
    """Scale for each unit of the metrics, common to all estimates."""
    values: dict[str, list[float]] = {}
    for metric, found in estimates.items():
        values.setdefault(metric.unit, []).extend(each.value for each in found if each)
    return {unit: scale_for(unit, of_unit) for unit, of_unit in values.items()}


def comparison_sections(comparison: Results, metrics: Sequence[Metric] = ()) -> list[Section]:
    """All sections of a comparison, or only the given metrics."""
    groups = [("Chosen metrics", metrics)] if metrics else list(_metric_groups(comparison))
    sections = [_estimates(comparison, heading, found) for heading, found in groups]
    if len(comparison.schemes) > 1:
        sections.append(_differences(comparison, metrics or headline_metrics(comparison)))
    return sections


def comparison_tables(comparison: Results, metrics: Sequence[Metric] = ()) -> RenderableType:
    """Sections of a comparison for a terminal."""
    return _laid_out(comparison, comparison_sections(comparison, metrics))


def main_tables(comparison: Results, more: str = "") -> RenderableType:
    """Main metrics and paired differences; `more` tells how to get the others."""
    return _laid_out(comparison, main_sections(comparison, f"Main metrics{more}"))


def main_sections(comparison: Results, heading: str = "Main metrics") -> list[Section]:
    """Like `main_tables`, before layout."""
    main = headline_metrics(comparison)
    sections = [_estimates(comparison, heading, [*main, *_unfinished(comparison)])]
    sections.append(_estimates(comparison, "Deadlines and losses", metrics_of(comparison, *_LOSSES)))
    if len(comparison.schemes) > 1:
        sections.append(_differences(comparison, main))
    return sections


def _laid_out(comparison: Results, sections: Sequence[Section]) -> RenderableType:
    tables = [table for section in sections for table in lay_out(section)]
    return stacked(Text(caption(comparison)), *tables)


def _unfinished(comparison: Results) -> list[Metric]:
    """Share of unfinished flows, if there are any."""
    runs = [*comparison.runs, *comparison.ideal]
    return [
        each for each in metrics_of(comparison, UNFINISHED_OF_ALL) if any(run.metrics.get(each.name) for run in runs)
    ]


def overview_section(heading: str, x_name: str, points: Sequence[Results], chosen: Sequence[Metric] = ()) -> Section:
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
            columns.append(_factors(metric, rows, rows[0][1]))
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
    return Section("All numbers", [*lead, Column("scheme", [scheme for _, scheme in rows])], columns)


def _factors(metric: Metric, rows: Sequence[tuple[Results, str]], baseline: str) -> Column:
    """Each scheme as a factor of a baseline, paired by seed."""
    cells = [
        NOTHING if scheme == baseline else factor(point.change(scheme, baseline, metric.name)) for point, scheme in rows
    ]
    return Column(f"× {baseline}", cells)


def stacked(*parts: RenderableType) -> Group:
    """Parts with an empty line between them."""
    return Group(*(each for part in parts for each in (part, Text())))


def settings_table(settings: Sequence[Setting], heading: str) -> Group:
    """Resolved values with their source."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("key", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("source", overflow="fold")
    for setting in settings:
        plain = setting["source"] == "default"
        table.add_row(setting["key"], setting["value"], setting["source"], style="dim" if plain else None)
    return _headed(heading, table)


def named_table(heading: str, rows: Sequence[tuple[str, str]], head: tuple[str, str] = ("name", "meaning")) -> Group:
    """Names with one line each."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column(head[0], no_wrap=True)
    table.add_column(head[1], overflow="fold")
    for row in rows:
        table.add_row(*row)
    return _headed(heading, table)


def lay_out(section: Section) -> Iterator[Group]:
    """One table, or several one below the other if the columns do not fit."""
    room = terminal_width() - 1 - sum(column.width + _GAP for column in section.lead)
    batch: list[Column] = []
    for column in section.columns:
        if batch and sum(each.width + _GAP for each in [*batch, column]) > room:
            yield _table(replace(section, columns=batch))
            batch = []
        batch.append(column)
    if batch:
        yield _table(replace(section, columns=batch))


def _table(section: Section) -> Group:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for column in section.lead:
        table.add_column(column.header, vertical="bottom", overflow="fold")
    for column in section.columns:
        side: Literal["left", "right"] = "left" if column.text else "right"
        table.add_column(column.header, justify=side, vertical="bottom", overflow="fold")
    ordinary = len(section.rows) - section.apart
    for number, cells in enumerate(section.rows, start=1):
        table.add_row(*cells, end_section=number == ordinary, style=None if number <= ordinary else "dim")
    return _headed(section.heading, table)


def _headed(heading: str, table: Table) -> Group:
    """A table below its heading, which may be wider."""
    return Group(Text(heading, style="bold"), table)


def caption(comparison: Results) -> str:
    """Scenario, seeds and measured time of a comparison, in two lines."""
    seeds = comparison.seeds
    one = len(seeds) == 1
    spread = f"seed {seeds[0]}" if one else f"mean ± 95 % confidence over {len(seeds)} seeds"
    changed = "".join(f", {key} = {value}" for key, value in comparison.settings.items())
    own = f"\n{comparison.measured.note}" if comparison.measured else ""
    return f"{comparison.title}\n{comparison.scenario}{changed}: {spread}{measured_time(comparison)}{own}"


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
    longest = (SIZE_LONGEST, SIZE_SLOWDOWNS[100])
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
