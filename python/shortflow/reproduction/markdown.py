"""The report of a reproduction in Markdown: a front page and one page for each paper, without drawings."""

from pathlib import Path

from shortflow.papers import choices, title
from shortflow.reproduction.engine import Judged, Reproduced, Reproduction
from shortflow.reproduction.summary import HEADERS, measured, printed, summary_rows, verdict_text
from shortflow.store.files import write_text

_CLAIMS = "| claim | verdict | paper | measured | agrees if |\n|---|---|---|---|---|"
_CHOICES = "| choice | what the paper leaves unspecified | taken | others |\n|---|---|---|---|"


def write_markdown(done: Reproduction, folder: Path) -> None:
    """Write the pages into a folder."""
    for paper in done.summary:
        write_text(folder / f"{paper}.md", _page(done, paper))
    head = f"| {' | '.join(HEADERS)} |\n|---|{'---:|' * (len(HEADERS) - 1)}"
    linked = [
        [f"[{row[0]}]({row[0]}.md)" if row[0] in done.summary else row[0], *row[1:]] for row in summary_rows(done)
    ]
    table = "\n".join([head, *(f"| {' | '.join(row)} |" for row in linked)])
    write_text(folder / "README.md", f"# The papers, claim by claim\n\n{done.conditions}\n\n{table}\n")


def _page(done: Reproduction, paper: str) -> str:
    (row,) = (row for row in summary_rows(done) if row[0] == paper)
    counts = ", ".join(f"{name}: {number}" for name, number in zip(HEADERS[1:], row[1:], strict=True))
    rows = [
        f"| `{name}` | {choice.about} | {choice.taken} | {', '.join(choice.others)} |"
        for name, choice in choices(paper).items()
    ]
    figures = [_figure(figure) for figure in done.figures if figure.figure.paper == paper]
    head = [f"# {paper}", title(paper), f"{counts}. {done.conditions}", "## Choices", "\n".join([_CHOICES, *rows])]
    return "\n\n".join([*head, *figures]) + "\n"


def _figure(done: Reproduced) -> str:
    table = "\n".join([_CLAIMS, *map(_row, done.claims)])
    return f"## {done.figure.ref}: {done.figure.title}\n\n{table}"


def _row(judged: Judged) -> str:
    found = "; ".join(measured(judged.finding))
    cells = (
        f"{judged.claim.says} (`{judged.claim.id}`)",
        verdict_text(judged),
        "; ".join(printed(judged.claim.paper)),
        ". ".join(part for part in (found, judged.reason) if part),
        judged.claim.tolerance,
    )
    return f"| {' | '.join(cell(text) for text in cells)} |"


def cell(text: str) -> str:
    """A text as it stands in a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ").replace("*", "\\*").replace("<", "&lt;")
