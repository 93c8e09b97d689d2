"""Reproduction report: a front page and one page per paper, in HTML and in Markdown."""

from collections.abc import Iterable
from pathlib import Path

from markupsafe import Markup

from shortflow.papers import choices, set_apart, title
from shortflow.report.markup import page
from shortflow.reproduction.engine import Reproduction
from shortflow.reproduction.index import Entry, counts_of, kind, states, update
from shortflow.reproduction.markdown import write_markdown
from shortflow.reproduction.matrix import matrix
from shortflow.reproduction.summary import HEADERS, measured, printed, summary_row, verdict_text
from shortflow.reproduction.svg import picture
from shortflow.store.files import Kind, check_replaceable, write_text

_SHOWN = 3
"""Most numbers of a claim that are not folded."""
_SHARED = {
    "measured": measured,
    "printed": printed,
    "shown": _SHOWN,
    "verdict_text": verdict_text,
    "kind": kind,
    "set_apart": set_apart,
}


def check_pages(papers: Iterable[str], out: Path) -> None:
    """Refuses in advance to overwrite other files below `out`."""
    papers = list(papers)
    for name in ("index", *papers):
        check_replaceable(out / f"{name}.html", Kind.PAGE)
    for name in ("README", *papers):
        check_replaceable(out / "markdown" / f"{name}.md", Kind.DOCUMENT)


def write_pages(done: Reproduction, out: Path) -> Path:
    """Writes the pages below `out`; returns the front page. Pages of other papers stay."""
    known = update(done, out / "index.json")
    for paper in done.summary:
        figures = [
            (each, [(drawing.title, Markup(picture(drawing))) for drawing in each.drawings])
            for each in done.of_paper(paper)
        ]
        html = page(
            "reproduction/paper.html",
            heading=paper,
            about=title(paper),
            state=done.conditions(paper),
            choices=choices(paper),
            figures=figures,
            **_SHARED,
        )
        write_text(out / f"{paper}.html", html, Kind.PAGE)
    front = out / "index.html"
    write_text(front, _front(known), Kind.PAGE)
    write_markdown(done, known, out / "markdown")
    return front


def _front(known: dict[str, Entry]) -> str:
    return page(
        "reproduction/front.html",
        heading="The papers, claim by claim",
        about="",
        state="",
        matrix=Markup(matrix(known, linked=True)),
        headers=HEADERS,
        rows=[summary_row(name, each) for name, each in counts_of(known).items()],
        states=states(known),
        papers=known,
    )
