"""Reproduction report: a front page and one page per paper in HTML, and the evidence of the project's site."""

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from shortflow.errors import MissingRequirement
from shortflow.papers import choices, figures, set_apart, title
from shortflow.report.markup import page, part
from shortflow.reproduction.charts import chart
from shortflow.reproduction.engine import Judged, Reproduction, count
from shortflow.reproduction.kept import Entry, judged, made, update
from shortflow.reproduction.summary import HEADERS, measured, summary_row, verdict_text
from shortflow.reproduction.tried import coverage
from shortflow.store.files import Kind, check_replaceable, write_text

_SHOWN = 3
"""Most numbers of a claim that are not folded."""
_EMPTILY = "emptily"
"""CSS class of a verdict that the baseline reaches too."""


def _style(each: Judged) -> str:
    return _EMPTILY if each.agrees_emptily else each.finding.verdict.value


_SHARED = {
    "measured": measured,
    "shown": _SHOWN,
    "verdict_text": verdict_text,
    "style": _style,
    "set_apart": set_apart,
}


def check_pages(papers: Iterable[str], out: Path) -> None:
    """Refuses in advance to overwrite other files below `out`."""
    for name in ("index", *papers):
        check_replaceable(out / f"{name}.html", Kind.PAGE)


def write_pages(done: Reproduction, out: Path) -> Path:
    """Writes the pages and, with vl-convert, a picture of each chart below `out`; returns the front page.

    Pages of other papers stay.
    """
    known = update(done, out / "results.json")
    for paper in done.summary:
        for old in (out / "pictures").glob(f"{paper}-*.svg"):
            old.unlink()
        shown = []
        for each in done.of_paper(paper):
            name = each.figure.id.replace("/", "-")
            charts = [chart(drawing, f"{name}-{number}") for number, drawing in enumerate(each.drawings, 1)]
            shown.append((each, charts))
            for drawn in charts:
                with contextlib.suppress(MissingRequirement):
                    write_text(out / "pictures" / f"{drawn.name}.svg", drawn.svg, Kind.PICTURE)
        html = page(
            "reproduction/paper.html",
            heading=paper,
            about=title(paper),
            state=done.conditions(paper),
            choices=choices(paper),
            figures=shown,
            **_SHARED,
        )
        write_text(out / f"{paper}.html", html, Kind.PAGE)
    front = out / "index.html"
    write_text(front, _front(known), Kind.PAGE)
    return front


def _front(known: Mapping[str, Entry]) -> str:
    verdicts = {paper: judged(entry) for paper, entry in known.items()}
    of_one_kind = len({(entry["scale"], *entry["made"]) for entry in known.values() if entry["made"]}) < 2
    every = {"all": [each for claims in verdicts.values() for each in claims]} if of_one_kind else {}
    states = [f"{paper}: {entry['state']} {made(entry)}" for paper, entry in known.items()]
    return page(
        "reproduction/front.html",
        heading="The papers, claim by claim",
        about="",
        state="",
        headers=HEADERS,
        rows=[summary_row(name, count(claims)) for name, claims in {**verdicts, **every}.items()],
        states=states if of_one_kind else [*states, "No sum: several builds or scales made these."],
        papers={paper: [each for each in claims if not each.finding.holds] for paper, claims in verdicts.items()},
        **_SHARED,
    )


def evidence(paper: str, entry: Entry) -> str:
    """Claims of a paper for the site: one line per claim below its figure, with the numbers folded."""
    verdicts = {each.claim.id: each for each in judged(entry)}
    shown = [
        (figure, [verdicts[claim.id] for claim in figure.claims if claim.id in verdicts])
        for figure in figures().values()
        if figure.paper == paper
    ]
    state = f"{entry['state']} {made(entry)} {coverage(paper)}"
    return part("reproduction/evidence.html", state=state, figures=shown, choices=choices(paper), **_SHARED)
