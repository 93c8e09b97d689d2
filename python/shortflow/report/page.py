"""The report's page: plots, tables and provenance put into one HTML file that opens offline."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from string import Template

import plotly.io
from plotly.offline import get_plotlyjs

from shortflow import _core
from shortflow.report.figures import Plot, plots
from shortflow.report.study import Study
from shortflow.result import RunResult, git_revision
from shortflow.scenario import Setting
from shortflow.tables import Section, comparison_sections, overview_section

_TEMPLATE = Path(__file__).with_name("page.html")
_NO_SAMPLES = (
    "There is no plot of the queue over time: these runs took no samples. <code>--set measure.sample_every=1ms</code> "
    "turns them on."
)
_PLOT_CONFIG = {"displaylogo": False, "responsive": True}


def render(studies: Sequence[Study]) -> str:
    """The whole page."""
    results = [result for study in studies for point in study.points for result in point.results]
    versions = sorted({result.provenance["version"] for result in results})
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        lead=escape(_lead(studies, results)),
        contents="".join(f'<li><a href="#{escape(study.name)}">{escape(study.title)}</a></li>' for study in studies),
        studies="".join(_study(study) for study in studies),
        version=escape(", ".join(versions)),
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        revision=escape(git_revision() or f"version {_core.version()}"),
        plotly=get_plotlyjs(),
    )


def _lead(studies: Sequence[Study], results: Sequence[RunResult]) -> str:
    schemes = {scheme for study in studies for scheme in study.schemes}
    flows = sum(len(result.flows) for result in results)
    simulated = sum(result.meta["end_s"] for result in results)
    return f"{len(results)} runs of {len(schemes)} schemes: {flows:,} flows in {simulated:,.1f} simulated seconds."


def _study(study: Study) -> str:
    parts = [f'<section id="{escape(study.name)}"><h2>{escape(study.title)}</h2>']
    parts.append(_notes(study))
    if study.x_name:
        labelled = [(point.label, point.comparison) for point in study.points]
        parts.append(_table(overview_section("Overview", study.x_name, labelled)))
    parts += [_plot(study, number, plot) for number, plot in enumerate(plots(study))]
    of_packets = [result for point in study.points for result in point.results if not result.ports.is_empty()]
    if of_packets and all(result.samples.is_empty() for result in of_packets):
        parts.append(f'<p class="note">{_NO_SAMPLES}</p>')
    parts += [_point_tables(study, index) for index in range(len(study.points))]
    parts.append(_choices(study))
    parts.append(_runs(study))
    return "\n".join([*parts, "</section>"])


def _notes(study: Study) -> str:
    """What the traffic amounts to at the first point, in the scenario's own words."""
    point = study.points[0]
    at = f" (at {escape(study.x_name)} {escape(point.label)})" if study.x_name else ""
    lines = "".join(f"<li>{escape(note)}</li>" for note in point.results[0].provenance["traffic_notes"])
    return f'<p class="note">Scenario <code>{escape(study.name)}</code>. Traffic{at}:</p><ul class="note">{lines}</ul>'


def _plot(study: Study, number: int, plot: Plot) -> str:
    body = plotly.io.to_html(
        plot.figure,
        config=_PLOT_CONFIG,
        full_html=False,
        include_plotlyjs=False,
        default_height="430px",
        div_id=f"plot-{study.name}-{number}",
    )
    return f"<figure><h3>{escape(plot.heading)}</h3>{body}<figcaption>{escape(plot.caption)}</figcaption></figure>"


def _point_tables(study: Study, index: int) -> str:
    """The full tables of one point; folded away when there are several points."""
    point = study.points[index]
    tables = "".join(_table(section) for section in comparison_sections(point.comparison))
    if not study.x_name:
        return tables
    return f"<details><summary>All numbers at {escape(study.x_name)} {escape(point.label)}</summary>{tables}</details>"


def _choices(study: Study) -> str:
    """Every value the runs used, and which of them somebody chose."""
    result = study.points[0].results[0]
    tables = [_settings("Scenario", result.provenance["scenario_settings"])]
    by_scheme = {each.provenance["scheme"]: each for point in study.points for each in point.results}
    for scheme, each in by_scheme.items():
        if each.provenance["scheme_settings"]:
            tables.append(_settings(f"Scheme {scheme}", each.provenance["scheme_settings"]))
    varies = f"; {escape(study.x_name)} varies and is shown for the first point" if study.x_name else ""
    return (
        f"<details><summary>Choices: every value, and where it came from{varies}</summary>{''.join(tables)}</details>"
    )


def _settings(heading: str, settings: Iterable[Setting]) -> str:
    rows = "".join(_setting_row(setting) for setting in settings)
    head = "<tr><th>key</th><th>value</th><th>where from</th></tr>"
    return f"<table><caption>{escape(heading)}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _setting_row(setting: Setting) -> str:
    style = "default" if setting["source"] == "default" else "chosen"
    key, value, source = (escape(setting[name]) for name in ("key", "value", "source"))
    return f'<tr class="{style}"><td><code>{key}</code></td><td>{value}</td><td>{source}</td></tr>'


def _runs(study: Study) -> str:
    """Where each number came from: one row per run."""
    x_name = study.x_name or "settings"
    head = "".join(
        f"<th>{escape(name)}</th>" for name in (x_name, "scheme", "seed", "digest", "finished", "seconds", "version")
    )
    rows = []
    for point in study.points:
        for result in point.results:
            origin = result.provenance
            code = f"{origin['version']} {(origin['revision'] or origin['build'])[:19]}"
            cells = (
                point.label or "as shipped",
                origin["scheme"],
                str(origin["seed"]),
                origin["digest"][:16],
                origin["finished_at"],
                f"{origin['wall_s']:.2f}",
                code,
            )
            rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    body = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<details><summary>Provenance: all {len(rows)} runs</summary>{body}</details>{_superseded(study)}"


def _superseded(study: Study) -> str:
    """The runs that are left out, as newer ones with the same settings are there."""
    if not study.superseded:
        return ""
    items = "".join(
        f"<li>{escape(each['scheme'])}, seed {each['seed']}, {escape(each['finished_at'])}: "
        f"{escape(each['digest'][:16])}</li>"
        for each in study.superseded
    )
    what = "superseded by newer runs with the same settings, and left out"
    return f"<details><summary>{len(study.superseded)} runs {what}</summary><ul>{items}</ul></details>"


def _table(section: Section) -> str:
    columns = [*section.lead, *section.columns]
    head = "".join(f"<th>{escape(column.header).replace(chr(10), '<br>')}</th>" for column in columns)
    rows = []
    all_cells = list(zip(*(column.cells for column in columns), strict=True))
    for number, cells in enumerate(all_cells):
        style = ' class="apart"' if number >= len(all_cells) - section.apart else ""
        marked = [
            f'<td class="{"name" if i < len(section.lead) else "number"}">{escape(c)}</td>' for i, c in enumerate(cells)
        ]
        rows.append(f"<tr{style}>" + "".join(marked) + "</tr>")
    caption = f"<caption>{escape(section.heading)}</caption>"
    return (
        f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )
