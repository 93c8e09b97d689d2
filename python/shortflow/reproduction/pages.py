"""The report of a reproduction: a front page and one page for each paper, in HTML; and the same in Markdown."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template

import plotly.graph_objects as go
import plotly.io
from plotly.offline import get_plotlyjs

from shortflow.files import write_text
from shortflow.papers import choices, title
from shortflow.reproduction.drawing import Drawing, Line
from shortflow.reproduction.engine import Judged, Reproduced, Reproduction
from shortflow.reproduction.finding import UNDECIDED, Finding, Verdict
from shortflow.reproduction.markdown import write_markdown
from shortflow.reproduction.summary import measured, printed

_TEMPLATE = Path(__file__).with_name("page.html")
_SHOWN = 5
"""So many numbers of a claim are not folded away."""
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b7280", "#000000")


def write_pages(done: Reproduction, out: Path) -> Path:
    """Write the pages below `out`; returns the front page."""
    for paper in done.summary:
        figures = [figure for figure in done.figures if figure.figure.paper == paper]
        body = "\n".join([_contents(figures), _choices(paper), *(_figure(figure) for figure in figures)])
        write_text(out / f"{paper}.html", _page(paper, title(paper), body, done, get_plotlyjs()))
    front = out / "index.html"
    write_text(front, _page("The papers, claim by claim", "", _summary(done), done, ""))
    write_markdown(done, out / "markdown")
    return front


def _page(heading: str, about: str, body: str, done: Reproduction, plotly_code: str) -> str:
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=escape(heading), about=escape(about), state=escape(done.conditions), body=body, plotly=plotly_code
    )


def _table(headers: Sequence[str], rows: Iterable[str]) -> str:
    head = "".join(f"<th>{name}</th>" for name in headers)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _summary(done: Reproduction) -> str:
    links = {f'<a href="{paper}.html">{paper}</a>': counts for paper, counts in done.summary.items()}
    total = {verdict.value: sum(counts[verdict.value] for counts in done.summary.values()) for verdict in Verdict}
    rows = (
        f"<tr><td>{name}</td>" + "".join(f'<td class="number">{count}</td>' for count in counts.values()) + "</tr>"
        for name, counts in {**links, "all": total}.items()
    )
    differing = [judged for judged in done.claims if judged.finding.verdict is not Verdict.AGREES]
    return (
        _table(("paper", *(verdict.value for verdict in Verdict)), rows)
        + "<h2>What does not agree, and why</h2>"
        + _table(("claim", "verdict", "why"), map(_difference, differing))
    )


def _difference(judged: Judged) -> str:
    paper = judged.claim.id.partition("/")[0]
    link = f'<a href="{paper}.html#{judged.claim.id}">{escape(judged.claim.says)}</a>'
    return (
        f"<tr><td>{link}<br><code>{judged.claim.id}</code></td>{_verdict(judged.finding)}"
        f"<td>{escape(judged.reason)}</td></tr>"
    )


def _verdict(finding: Finding) -> str:
    undecided = f"<br><small>{UNDECIDED}</small>" if finding.undecided else ""
    return f'<td class="{finding.verdict.value}">{finding.verdict.value}{undecided}</td>'


def _contents(figures: Sequence[Reproduced]) -> str:
    """Links to the figures, with how many of their claims agree."""
    links = []
    for done in figures:
        agree = sum(judged.finding.holds for judged in done.claims)
        text = f"{escape(done.figure.ref)} <small>{agree}/{len(done.claims)}</small>"
        links.append(f'<a href="#{escape(done.figure.id)}">{text}</a>')
    return f'<nav><a href="index.html">all papers</a> {" ".join(links)}</nav>'


def _choices(paper: str) -> str:
    rows = (
        f"<tr><td><code>{name}</code></td><td>{escape(choice.about)}</td><td>{escape(choice.taken)}</td>"
        f"<td>{escape(', '.join(choice.others))}</td></tr>"
        for name, choice in choices(paper).items()
    )
    return "<h2>Choices</h2>" + _table(("choice", "what the paper leaves unsaid", "taken", "others"), rows)


def _figure(done: Reproduced) -> str:
    figure = done.figure
    heading = f'<section id="{escape(figure.id)}"><h2>{escape(figure.ref)}: {escape(figure.title)}</h2>'
    plots = "".join(_plot(figure.id, number, drawing) for number, drawing in enumerate(done.drawings))
    claims = _table(("claim", "verdict", "paper", "measured", "agrees if"), map(_claim, done.claims))
    return f'{heading}<div class="plots">{plots}</div>{claims}</section>'


def _claim(judged: Judged) -> str:
    reason = f"<p>{escape(judged.reason)}</p>" if judged.reason else ""
    return (
        f'<tr id="{judged.claim.id}"><td>{escape(judged.claim.says)}<br><code>{judged.claim.id}</code></td>'
        f"{_verdict(judged.finding)}<td>{_lines(printed(judged.entry['expected']))}</td>"
        f"<td>{_lines(measured(judged.finding))}{reason}</td><td>{escape(judged.claim.tolerance)}</td></tr>"
    )


def _lines(parts: Sequence[str]) -> str:
    """One part on each line; those beyond the first few are folded away."""
    first, rest = ("<br>".join(map(escape, some)) for some in (parts[:_SHOWN], parts[_SHOWN:]))
    more = f"<details><summary>{len(parts) - _SHOWN} more</summary>{rest}</details>" if rest else ""
    return first + more


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
    figure.update_layout(
        template="none", height=340, margin={"l": 70, "r": 20, "t": 20, "b": 50}, legend={"orientation": "h", "y": 1.12}
    )
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
