"""The report of a reproduction: a front page and one page for each paper, in HTML; and the same in Markdown."""

from collections.abc import Sequence
from pathlib import Path

import plotly.graph_objects as go

from shortflow.lab.drawing import Drawing, Line
from shortflow.papers import choices, title
from shortflow.report.markup import page
from shortflow.report.plotting import error_bars, log_axis, plain
from shortflow.reproduction.engine import Reproduction
from shortflow.reproduction.markdown import write_markdown
from shortflow.reproduction.summary import HEADERS, measured, printed, summary_rows, verdict_text
from shortflow.store.files import write_text

_SHOWN = 5
"""So many numbers of a claim are not folded away."""
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b7280", "#000000")
_SHARED = {"measured": measured, "printed": printed, "shown": _SHOWN, "verdict_text": verdict_text}


def write_pages(done: Reproduction, out: Path) -> Path:
    """Write the pages below `out`; returns the front page."""
    for paper in done.summary:
        figures = [
            (each, [(drawing, draw(drawing)) for drawing in each.drawings])
            for each in done.figures
            if each.figure.paper == paper
        ]
        html = page(
            "reproduction/paper.html",
            heading=paper,
            about=title(paper),
            state=done.conditions,
            choices=choices(paper),
            figures=figures,
            **_SHARED,
        )
        write_text(out / f"{paper}.html", html)
    front = out / "index.html"
    write_text(front, _front(done))
    write_markdown(done, out / "markdown")
    return front


def draw(drawing: Drawing) -> go.Figure:
    """The figure of a drawing."""
    figure = go.Figure()
    for place, line in enumerate(drawing.lines):
        figure.add_scatter(
            x=list(line.x),
            y=list(line.y),
            name=plain(line.name),
            line={"color": _COLOURS[place % len(_COLOURS)]},
            error_y=error_bars(line.y, line.ci95) if line.ci95 else None,
            **_marks(line),
        )
    x = [value for line in drawing.lines for value in line.x]
    y = [value for line in drawing.lines for value in line.y]
    y += [end for line in drawing.lines for ends in line.ci95 if ends for end in ends]
    figure.update_xaxes(**_axis(drawing.x_label, x, logarithmic=drawing.log_x))
    figure.update_yaxes(**_axis(drawing.y_label, y, logarithmic=drawing.log_y))
    figure.update_layout(
        template="none", height=340, margin={"l": 70, "r": 20, "t": 20, "b": 50}, legend={"orientation": "h", "y": 1.12}
    )
    return figure


def _axis(label: str, values: Sequence[float], *, logarithmic: bool) -> dict[str, object]:
    kind = log_axis(values) if logarithmic else {"type": "linear"}
    return {"title_text": plain(label), "showline": True, **kind}


def _marks(line: Line) -> dict[str, object]:
    """Marks, hollow and with a sign where they are lower bounds."""
    if not line.markers:
        return {"mode": "lines"}
    if not any(line.lower_bound):
        return {"mode": "lines+markers"}
    return {
        "mode": "lines+markers+text",
        "marker": {"symbol": ["circle-open" if low else "circle" for low in line.lower_bound]},
        "text": ["≥" if low else "" for low in line.lower_bound],
        "textposition": "top center",
    }


def _front(done: Reproduction) -> str:
    return page(
        "reproduction/front.html",
        heading="The papers, claim by claim",
        about="",
        state=done.conditions,
        headers=HEADERS,
        rows=summary_rows(done),
        papers=list(done.summary),
        open=[judged for judged in done.claims if not judged.finding.holds or judged.agrees_emptily],
        **_SHARED,
    )
