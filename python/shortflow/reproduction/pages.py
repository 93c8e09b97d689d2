"""The report of a reproduction: a front page and one page for each paper, in HTML and in Markdown."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template

import plotly.graph_objects as go
import plotly.io
from plotly.offline import get_plotlyjs

from shortflow.papers import choices
from shortflow.reproduction.drawing import Drawing, Line
from shortflow.reproduction.engine import Judged, Reproduced, Reproduction
from shortflow.reproduction.finding import Verdict
from shortflow.reproduction.summary import measured_text, paper_text
from shortflow.store import write_text

_TEMPLATE = Path(__file__).with_name("page.html")
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b7280", "#000000")


def write_pages(done: Reproduction, out: Path) -> Path:
    """Write the pages below `out`; returns the front page."""
    for paper in done.summary:
        figures = [figure for figure in done.figures if figure.figure.paper == paper]
        body = "\n".join([_choices_html(paper), *(_figure_html(figure) for figure in figures)])
        write_text(out / f"{paper}.html", _page(f"{paper}: figures and claims", body, done, get_plotlyjs()))
    front = out / "index.html"
    write_text(front, _page("Five papers, claim by claim", _summary_html(done), done, ""))
    write_markdown(done, out / "markdown")
    return front


def write_markdown(done: Reproduction, folder: Path) -> None:
    """The same without drawings as Markdown, one file for each paper and a front page."""
    for paper in done.summary:
        figures = [figure for figure in done.figures if figure.figure.paper == paper]
        parts = [f"# {paper}", _state(done), _choices_markdown(paper), *(_figure_markdown(each) for each in figures)]
        write_text(folder / f"{paper}.md", "\n\n".join(parts) + "\n")
    rows = [
        f"| [{paper}]({paper}.md) | " + " | ".join(str(counts[v.value]) for v in Verdict) + " |"
        for paper, counts in done.summary.items()
    ]
    head = "| paper | " + " | ".join(verdict.value for verdict in Verdict) + " |\n|---|" + "---|" * len(Verdict)
    write_text(folder / "README.md", "\n\n".join(["# Reproduction", _state(done), "\n".join([head, *rows])]) + "\n")


def _state(done: Reproduction) -> str:
    """What was run."""
    chosen = ", ".join(f"{name}={value}" for name, value in done.chosen.items()) or "as the recipes take them"
    return f"Scale {done.scale.value}, {done.runs} runs. Choices: {chosen}."


def _page(title: str, body: str, done: Reproduction, plotly_code: str) -> str:
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=escape(title), state=escape(_state(done)), body=body, plotly=plotly_code
    )


def _summary_html(done: Reproduction) -> str:
    head = "".join(f"<th>{verdict.value}</th>" for verdict in Verdict)
    rows = "".join(
        f'<tr><td><a href="{paper}.html">{paper}</a></td>'
        + "".join(f'<td class="number">{counts[verdict.value]}</td>' for verdict in Verdict)
        + "</tr>"
        for paper, counts in done.summary.items()
    )
    return f"<table><thead><tr><th>paper</th>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _choices_html(paper: str) -> str:
    rows = "".join(
        f"<tr><td><code>{name}</code></td><td>{escape(choice.about)}</td><td>{escape(choice.taken)}</td>"
        f"<td>{escape(', '.join(choice.others))}</td></tr>"
        for name, choice in choices(paper).items()
    )
    head = "<tr><th>choice</th><th>what the paper leaves unsaid</th><th>taken</th><th>others</th></tr>"
    return f"<h2>Choices</h2><table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _choices_markdown(paper: str) -> str:
    rows = [
        f"| `{name}` | {choice.about} | {choice.taken} | {', '.join(choice.others)} |"
        for name, choice in choices(paper).items()
    ]
    head = "| choice | what the paper leaves unsaid | taken | others |\n|---|---|---|---|"
    return "\n".join(["## Choices\n", head, *rows])


def _figure_html(done: Reproduced) -> str:
    figure = done.figure
    heading = f'<section id="{escape(figure.id)}"><h2>{escape(figure.ref)}: {escape(figure.title)}</h2>'
    plots = "".join(_plot(figure.id, number, drawing) for number, drawing in enumerate(done.drawings))
    return f"{heading}{plots}{_claims_html(done.claims)}</section>"


def _claims_html(claims: Iterable[Judged]) -> str:
    head = "".join(f"<th>{name}</th>" for name in ("claim", "verdict", "paper", "measured", "agrees if"))
    rows = "".join(
        f"<tr><td>{escape(judged.claim.says)}<br><code>{judged.claim.id}</code></td>"
        f'<td class="{judged.finding.verdict.value}">{judged.finding.verdict.value}</td>'
        f"<td>{escape(paper_text(judged.entry['expected']))}</td>"
        f"<td>{escape(measured_text(judged.finding))}<br>{escape(judged.reason)}</td>"
        f"<td>{escape(judged.claim.tolerance)}</td></tr>"
        for judged in claims
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _figure_markdown(done: Reproduced) -> str:
    head = "| claim | verdict | paper | measured | agrees if |\n|---|---|---|---|---|"
    rows = [
        f"| {_cell(judged.claim.says)} (`{judged.claim.id}`) | {judged.finding.verdict.value} "
        f"| {_cell(paper_text(judged.entry['expected']))} "
        f"| {_cell('. '.join(part for part in (measured_text(judged.finding), judged.reason) if part))} "
        f"| {_cell(judged.claim.tolerance)} |"
        for judged in done.claims
    ]
    return "\n".join([f"## {done.figure.ref}: {done.figure.title}\n", head, *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _plot(name: str, number: int, drawing: Drawing) -> str:
    figure = go.Figure()
    for line, colour in zip(drawing.lines, _colours(drawing.lines), strict=True):
        figure.add_scatter(
            x=list(line.x),
            y=list(line.y),
            name=line.name,
            mode="lines+markers" if line.markers else "lines",
            line={"color": colour},
            error_y=_error_bars(line),
        )
    figure.update_xaxes(title_text=drawing.x_label, type="log" if drawing.log_x else "linear", showline=True)
    figure.update_yaxes(title_text=drawing.y_label, type="log" if drawing.log_y else "linear", showline=True)
    figure.update_layout(template="none", height=400, margin={"l": 70, "r": 30, "t": 30, "b": 60})
    body = plotly.io.to_html(
        figure,
        config={"displaylogo": False, "responsive": True},
        full_html=False,
        include_plotlyjs=False,
        div_id=f"plot-{name.replace('/', '-')}-{number}",
    )
    return f"<figure><h3>{escape(drawing.title)}</h3>{body}</figure>"


def _error_bars(line: Line) -> dict[str, object] | None:
    if line.low is None or line.high is None:
        return None
    above = [high - y for high, y in zip(line.high, line.y, strict=True)]
    below = [y - low for low, y in zip(line.low, line.y, strict=True)]
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below}


def _colours(lines: Sequence[Line]) -> list[str]:
    return [_COLOURS[index % len(_COLOURS)] for index in range(len(lines))]
