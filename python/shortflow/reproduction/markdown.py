"""Reproduction report in Markdown: a front page and one page per paper, with pictures."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from shortflow.papers import choices, set_apart, title
from shortflow.reproduction.engine import Judged, Reproduced, Reproduction
from shortflow.reproduction.index import Entry, counts_of, states
from shortflow.reproduction.matrix import matrix
from shortflow.reproduction.summary import HEADERS, measured, printed, summary_row, verdict_text
from shortflow.reproduction.svg import picture
from shortflow.store.files import Kind, write_text

_CLAIMS = "| claim | verdict | paper | ours |\n|---|---|---|---|"
_CHOICES = "| choice | what the paper leaves unspecified | taken | others |\n|---|---|---|---|"
_SHOWN = 2
"""Most of the paper's numbers in a row."""


def write_markdown(done: Reproduction, known: Mapping[str, Entry], folder: Path) -> None:
    """Writes the pages into a folder, with pictures below it. Files of other papers stay."""
    for paper in done.summary:
        for old in (folder / "pictures").glob(f"{paper}-*.svg"):
            old.unlink()
        for figure in done.of_paper(paper):
            for name, drawing in zip(_pictures(figure), figure.drawings, strict=True):
                write_text(folder / name, picture(drawing), Kind.PICTURE)
        write_text(folder / f"{paper}.md", _page(done, paper), Kind.DOCUMENT)
    write_text(folder / "pictures" / "matrix.svg", matrix(known, linked=False), Kind.PICTURE)
    shown = [
        summary_row(f"[{paper}]({paper}.md)" if paper in known else paper, each)
        for paper, each in counts_of(known).items()
    ]
    head = f"| {' | '.join(HEADERS)} |\n|---|{'---:|' * (len(HEADERS) - 1)}"
    table = "\n".join([head, *(f"| {' | '.join(row)} |" for row in shown)])
    front = [
        "# The papers, claim by claim",
        "![verdicts by paper and figure](pictures/matrix.svg)",
        table,
        "\n".join(f"- {each}" for each in states(known)),
    ]
    write_text(folder / "README.md", "\n\n".join(front) + "\n", Kind.DOCUMENT)


def _pictures(done: Reproduced) -> list[str]:
    """Paths of a figure's drawings, relative to its page."""
    return [f"pictures/{done.figure.id.replace('/', '-')}-{number + 1}.svg" for number in range(len(done.drawings))]


def _page(done: Reproduction, paper: str) -> str:
    row = summary_row(paper, done.summary[paper])
    counts = ", ".join(f"{name}: {number}" for name, number in zip(HEADERS[1:], row[1:], strict=True))
    rows = [
        f"| `{name}` | {choice.about} | {choice.taken} | {', '.join(choice.others)} |"
        for name, choice in choices(paper).items()
    ]
    figures = [part for each in done.of_paper(paper) for part in _figure(each)]
    head = [f"# {paper}", title(paper), f"{counts}. {done.conditions(paper)}"]
    return "\n\n".join([*head, *figures, "## Choices", "\n".join([_CHOICES, *rows])]) + "\n"


def _figure(done: Reproduced) -> Iterator[str]:
    yield f"## {done.figure.ref}: {done.figure.title}"
    if said := set_apart(done.figure):
        yield cell(said)
    pictures = zip(done.drawings, _pictures(done), strict=True)
    for drawing, name in pictures:
        said = cell(drawing.title)
        yield f"**{said}**"
        yield f"![{done.figure.ref}: {said}]({name})"
    yield "\n".join([_CLAIMS, *map(_row, done.claims)])
    yield "<details><summary>all numbers, and when a claim agrees</summary>"
    yield "\n".join(map(_details, done.claims))
    yield "</details>"


def _row(judged: Judged) -> str:
    paper = printed(judged.claim.paper)
    found = measured(judged.finding)[:1]
    more = [f"and {len(paper) - _SHOWN} more"] * (len(paper) > _SHOWN)
    cells = (
        f"{judged.claim.says} (`{judged.claim.id}`)",
        verdict_text(judged),
        "; ".join([*paper[:_SHOWN], *more]),
        ". ".join(part for part in (*found, judged.reason) if part),
    )
    return f"| {' | '.join(cell(text) for text in cells)} |"


def _details(judged: Judged) -> str:
    numbers = "; ".join(measured(judged.finding))
    parts = [f"agrees if {judged.claim.tolerance}", f"measured: {numbers}" if numbers else ""]
    return f"- `{judged.claim.id}` " + cell(". ".join(part for part in parts if part))


def cell(text: str) -> str:
    """Text escaped for a table cell."""
    return text.replace("|", "\\|").replace("\n", " ").replace("*", "\\*").replace("<", "&lt;")
