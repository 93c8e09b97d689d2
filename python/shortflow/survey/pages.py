"""The survey's report: one page with heat maps and all tables, and the tables once more as Markdown."""

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template

import plotly.graph_objects as go
import plotly.io
from plotly.offline import get_plotlyjs

from shortflow.comparison import Comparison
from shortflow.files import write_text
from shortflow.survey.engine import Survey
from shortflow.survey.schemes import LEFT_OUT, SCHEMES
from shortflow.survey.tables import matrix, numbers, participants, standings
from shortflow.survey.winners import AFCT, DISTANCE, GOODPUT, MISSES, P99, Criterion, winners
from shortflow.survey.workloads import Workload
from shortflow.tables import NOTHING, Section, number

TITLE = "Beyond the papers: who wins where"
LEAD = (
    "All schemes on the main workload of each of the five papers and on four published distributions of flow sizes, a "
    "table that none of the papers has."
)
READING = (
    "A scheme wins where its mean over the seeds is best, and with it every scheme that is not worse with the whole "
    "95 % interval of the paired comparison: of the logarithm of the ratio for times and rates, of the difference for "
    "shares of deadlines. Names that tie stand in the order of their means. A tie may also mean that a scheme scatters "
    "too much to be told apart with so few seeds, as those with timeouts do. Each comparison has its own interval, not "
    "adjusted for how many schemes there are: among so many, one that is as good may be left out by chance, and the "
    "best mean owes something to chance too. In the tables a star marks who wins; with "
    "a dagger a scheme left flows unfinished, so that its slowest ones are missing, and it cannot win.",
    "Over ideal is the mean completion time of short flows over that under ideal SRPT of the same flows, on a fluid "
    "link that loses nothing and knows all sizes. The goodput of long flows is their payload over the time that they "
    "took, all of them together.",
    "Every scheme has the parameters of its paper everywhere, and none is tuned to a workload. K, buffers, RTOmin and "
    "initial window belong to the workload and are the same for all; pFabric's own paper has smaller buffers and a "
    "shorter RTO than any of them. xDCTCP is told the class of each flow and D2TCP its deadline, as their papers want.",
)


def write_pages(found: Survey, out: Path) -> Path:
    """Write `beyond.html` and `beyond.md` below `out`; returns the former."""
    write_text(out / "beyond.md", _markdown(found))
    page = out / "beyond.html"
    write_text(page, _html(found))
    return page


def _workloads(found: Survey) -> list[Workload]:
    return list(dict.fromkeys(place.workload for place in found.places))


def _state(found: Survey) -> str:
    changed = "".join(f" Changed: {key}={value}." for key, value in found.settings.items())
    return f"Scale {found.scale.value}, {found.seeds} seeds, {found.runs} runs. Means ± 95 % over the seeds.{changed}"


def _left_out() -> str:
    return "Not among them: " + "; ".join(f"{scheme} ({reason})" for scheme, reason in LEFT_OUT.items()) + "."


def _markdown(found: Survey) -> str:
    parts = [
        f"# {TITLE}",
        LEAD,
        _state(found),
        *(_section_markdown(each) for each in (matrix(found), standings(found))),
    ]
    parts += ["## How to read it", *READING]
    for workload in _workloads(found):
        parts += [_section_markdown(numbers(found, workload.name)), f"`{workload.name}`: {workload.about}."]
    parts += [_section_markdown(participants()), _left_out()]
    return "\n\n".join(parts) + "\n"


def _section_markdown(section: Section) -> str:
    columns = [*section.lead, *section.columns]
    head = "| " + " | ".join(column.header.replace("\n", " ") for column in columns) + " |"
    rule = "|" + "---|" * len(section.lead) + "---:|" * len(section.columns)
    rows = ["| " + " | ".join(cells) + " |" for cells in zip(*(column.cells for column in columns), strict=True)]
    return "\n".join([f"## {section.heading}\n", head, rule, *(row.replace("*", "\\*") for row in rows)])


def _html(found: Survey) -> str:
    reading = "".join(f"<p>{escape(text)}</p>" for text in READING)
    body = [_section_html(matrix(found)), _section_html(standings(found)), reading]
    body += [_heat_map(found, *each) for each in _MAPS]
    for workload in _workloads(found):
        body += [_section_html(numbers(found, workload.name)), f"<p>{escape(workload.about)}.</p>"]
    body += [_section_html(participants()), f"<p>{escape(_left_out())}</p>"]
    template = resources.files("shortflow.reproduction").joinpath("page.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        title=escape(TITLE),
        about=escape(LEAD),
        state=escape(_state(found)),
        body="\n".join(body),
        plotly=get_plotlyjs(),
    )


def _section_html(section: Section) -> str:
    columns = [*section.lead, *section.columns]
    head = "".join(f"<th>{escape(column.header).replace(chr(10), '<br>')}</th>" for column in columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
        for cells in zip(*(column.cells for column in columns), strict=True)
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<h2>{escape(section.heading)}</h2><div class="wide">{table}</div>'


Best = Callable[[Iterable[float]], float] | None
_MAPS: tuple[tuple[Criterion, str, str, Best], ...] = (
    (DISTANCE, "Mean completion time of short flows over that of ideal SRPT", "times ideal", None),
    (P99, "99th percentile of short flows' completion times over the best scheme's", "times the best", min),
    (MISSES, "Deadlines missed by short flows", "%", None),
    (GOODPUT, "Goodput of long flows in per cent of the best scheme's", "% of the best", max),
)
"""Criterion, heading, unit, and which end of the values the others are divided by."""
_BOLD = "bold: wins, by 95 % intervals that are not adjusted for the number of schemes"


def _heat_map(found: Survey, criterion: Criterion, heading: str, unit: str, best: Best) -> str:
    """Schemes by workloads and levels. Ratios above one are coloured by their logarithm; winners are bold.

    The colour is that of the number shown, so that equal numbers have equal colours.
    """
    shown = {place: each for place, each in found.places.items() if winners(each, criterion)}
    percent = unit.startswith("%")
    columns = [_relative(comparison, criterion, best, 100 if percent else 1) for comparison in shown.values()]
    won = [winners(comparison, AFCT if criterion is DISTANCE else criterion) for comparison in shown.values()]
    values = [[column.get(scheme) for column in columns] for scheme in SCHEMES]
    texts = [
        [
            _text(column.get(scheme), each is not None and scheme in each.names)
            for column, each in zip(columns, won, strict=True)
        ]
        for scheme in SCHEMES
    ]
    figure = go.Figure(
        go.Heatmap(
            x=[[place.workload.name for place in shown], [place.label for place in shown]],
            y=list(SCHEMES),
            z=values if percent else [[None if v is None else math.log10(v) for v in row] for row in values],
            text=texts,
            texttemplate="%{text}",
            hovertemplate="%{y}, %{x}: %{text} " + unit + "<extra></extra>",
            colorscale="Blues" if criterion.most else "Oranges",
            colorbar=_colour_bar(values, unit, percent),
        )
    )
    figure.update_yaxes(autorange="reversed")
    figure.update_layout(template="none", height=560, margin={"l": 90, "r": 20, "t": 20, "b": 110}, font={"size": 10})
    body = plotly.io.to_html(
        figure,
        config={"displaylogo": False, "responsive": True},
        full_html=False,
        include_plotlyjs=False,
        div_id=f"map-{criterion.metric}",
    )
    return f"<figure><h3>{escape(heading)} ({unit}); {_BOLD}</h3>{body}</figure>"


def _relative(comparison: Comparison, criterion: Criterion, best: Best, factor: int) -> dict[str, float]:
    """The means of all schemes that have the metric, over the best one where that is asked for, as shown."""
    means = {scheme: each.value for scheme in SCHEMES if (each := comparison.estimate(scheme, criterion.metric))}
    reference = best(means.values()) if best else 1.0
    return {scheme: _as_shown(factor * value / reference) for scheme, value in means.items()}


def _as_shown(value: float) -> float:
    """Rounded as `number` shows it."""
    return round(float(f"{value:.3g}"), 3)


def _text(value: float | None, bold: bool) -> str:
    if value is None:
        return NOTHING
    text = number(value)
    return f"<b>{text}</b>" if bold else text


def _colour_bar(values: Sequence[Sequence[float | None]], unit: str, percent: bool) -> dict[str, object]:
    """The legend; on a logarithmic scale it is labelled with the ratios themselves."""
    if percent:
        return {"title": unit}
    largest = max(value for row in values for value in row if value is not None)
    decades = range(math.ceil(math.log10(largest)) + 1)
    return {"title": unit, "tickvals": list(decades), "ticktext": [f"{10**decade:,}" for decade in decades]}
