"""Reproduction report: a front page and one page per paper in HTML, and the evidence on the project's site."""

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from shortflow import MissingRequirement
from shortflow.api.files import Kind, check_replaceable, write_text
from shortflow.api.pages import Words, page, part
from shortflow_papers.lab.figure import Figure
from shortflow_papers.lab.finding import shortened
from shortflow_papers.papers import choices, figures, paper_headlines, set_apart, title
from shortflow_papers.reproduction.engine import Reproduced, Reproduction
from shortflow_papers.reproduction.judged import Judged, count
from shortflow_papers.reproduction.kept import KeptPaper, judged, made, update
from shortflow_papers.reproduction.summary import count_section, measured_texts, verdict_text
from shortflow_papers.reproduction.tried import coverage

_INTERVALS = "Intervals are 95 % over the seeds; differences between schemes are paired."
_LINE_NUMBERS = 3
"""Maximum number of a claim's numbers in its line of the table."""
FOLDER = Path(__file__).parents[1]
"""Folder of the templates."""
_SHARED = {"measured": measured_texts, "verdict_text": verdict_text, "set_apart": set_apart}


def check_pages(papers: Iterable[str], out: Path) -> None:
    """Raises `ConfigError` if a page of the report would replace a file of another kind below `out`."""
    for name in ("index", *papers):
        check_replaceable(out / f"{name}.html", Kind.PAGE)


def write_pages(done: Reproduction, out: Path) -> Path:
    """Writes the pages below `out` and, with vl-convert, a picture of each chart. Returns the path of the front page.

    Pages of papers that were not reproduced stay.
    """
    known = update(done, out / "results.json")
    for paper in done.summary:
        for old in (out / "pictures").glob(f"{paper}-*.svg"):
            old.unlink()
        shown = done.of_paper(paper)
        for chart in [chart for each in shown for chart in each.charts]:
            with contextlib.suppress(MissingRequirement):
                write_text(out / "pictures" / f"{chart.name}.svg", chart.svg, Kind.PICTURE)
        html = page(
            "reproduction/page.html",
            FOLDER,
            heading=paper,
            links=[("index.html", "all papers"), *map(_place, shown)],
            head=[Words(title(paper)), Words(_INTERVALS, "note")],
            state=done.conditions(paper),
            figures=[(each.figure, each.claims) for each in shown],
            charts={each.figure.id: each.charts for each in shown},
            choices=choices(paper),
            **_SHARED,
        )
        write_text(out / f"{paper}.html", html, Kind.PAGE)
    front = out / "index.html"
    write_text(front, _front(known), Kind.PAGE)
    return front


def _place(of: Reproduced) -> tuple[str, str]:
    """Link to a figure on its paper's page, and its text with the number of claims that agree."""
    return f"#{of.figure.id}", f"{of.figure.ref} {sum(each.finding.holds for each in of.claims)}/{len(of.claims)}"


def _front(known: Mapping[str, KeptPaper]) -> str:
    verdicts = {paper: judged(entry) for paper, entry in known.items()}
    of_one_kind = len({(entry["scale"], *entry["made"]) for entry in known.values() if entry["made"]}) < 2
    every = [each for claims in verdicts.values() for each in claims]
    states = [f"{paper}: {entry['state']} {made(entry)}" for paper, entry in known.items()]
    states += [] if of_one_kind else ["No sum: several builds or scales made these."]
    counts = {name: count(claims) for name, claims in verdicts.items()}
    counts |= {"all": count(every)} if of_one_kind else {}
    return page(
        "reproduction/page.html",
        FOLDER,
        heading="The papers, claim by claim",
        links=[(f"{paper}.html", paper) for paper in known],
        head=[count_section(counts), Words("\n".join([*states, _INTERVALS]), "note")],
        state="Claims that do not agree:",
        figures=_by_figure([each for each in every if not each.finding.holds]),
        charts={},
        choices={},
        **_SHARED,
    )


def evidence(paper: str, entry: KeptPaper) -> str:
    """HTML with the claims of a paper for the site: one line per claim below its figure, with the numbers folded."""
    return part(
        "reproduction/evidence.html",
        FOLDER,
        state=f"{entry['state']} {made(entry)} {coverage(paper)}",
        figures=_by_figure(judged(entry)),
        charts={},
        choices=choices(paper),
        links=(),
        **_SHARED,
    )


def evidence_table(entry: KeptPaper) -> str:
    """Table in Markdown with one line for each claim of a paper, for readers of the repository."""
    heads = ("claim", "the paper says", "ours", "agrees if", "verdict", "over other choices")
    rows = [heads, ("---",) * len(heads)]
    for each in judged(entry):
        claim = each.claim
        ours = shortened(measured_texts(each.finding), _LINE_NUMBERS) or each.reason
        name = f'<a id="{claim.id}"></a>{claim.id.partition("/")[2]}'
        over = each.over_set_ups or each.over_choices
        verdict = verdict_text(each) + ", used by the fit" * claim.fitted
        rows.append((name, claim.statement, ours, claim.tolerance, verdict, over))
    return "".join(_row(cells) for cells in rows)


_PAIR = re.compile(r"[\w-]+ over [\w-]+")
"""Schemes that a condition compares."""


def headline_table(paper: str, entry: KeptPaper) -> str:
    """Table in Markdown with the results at the top of a paper's page."""
    rows, scales = [], set[str]()
    untried = "" if any(choice.undecided for choice in choices(paper).values()) else "not swept"
    known = {each.claim.id: each for each in judged(entry)}
    for name, cause in paper_headlines(paper).items():
        each = known[name]
        verdict = f"{verdict_text(each)} ([evidence](evidence.md#{name}))"
        scales |= {*re.findall(r" at the \w+ scale", each.over_choices)}
        over = re.sub(r" other values?( agree)( at the \w+ scale)?", r"\1", each.over_choices)
        over = each.over_set_ups or each.over_undecided or over
        rows.append((each.claim.statement, _deciding(each), over or untried, verdict, cause))
    heads = ("the paper says", "ours", "over other choices" + "".join(scales), "verdict", "cause")
    return "".join(_row(cells) for cells in (heads, ("---",) * len(heads), *rows))


def _deciding(each: Judged) -> str:
    """The deciding number; named if it has no unit, or is that of one point or one pair of schemes among several."""
    number, name = next(iter(measured_texts(each.finding)), "").rpartition(": ")[2], each.finding.deciding
    words = [condition.text.partition(": ")[0] for condition in each.claim.conditions]
    if each.finding.units.get(name) and name in ("value", *words):
        pairs = {text: found[0] for text in words if (found := _PAIR.search(text))}
        return f"{pairs[name]}: {number}" if name in pairs and len({*pairs.values()}) > 1 else number
    return f"{words[0] if name == 'value' else next((text for text in words if text.endswith(name)), name)}: {number}"


def moved_table(entry: KeptPaper) -> str:
    """Table in Markdown of the claims of which some set-up has another verdict than the choices as taken."""
    rows = [("claim", "as taken", "over the set-ups"), ("---",) * 3]
    for each in judged(entry):
        finding = each.finding
        if finding.set_ups and [*finding.set_ups] != [finding.as_taken]:
            over = ", ".join(f"{verdict} {count}" for verdict, count in finding.set_ups.items())
            rows.append((f"[{each.claim.id}](evidence.md#{each.claim.id})", finding.as_taken, over))
    return "".join(_row(cells) for cells in rows)


def _row(cells: Sequence[str]) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join(cell.replace('|', '/').strip() for cell in cells)} |\n"


def _by_figure(claims: Sequence[Judged]) -> list[tuple[Figure, list[Judged]]]:
    known = {each.claim.id: each for each in claims}
    shown = [(each, [known[claim.id] for claim in each.claims if claim.id in known]) for each in figures().values()]
    return [(figure, found) for figure, found in shown if found]
