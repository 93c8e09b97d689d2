"""README, committed pages and comments agree with the reproduction."""

import collections
import functools
import re
from pathlib import Path

import pytest

from shortflow import papers
from shortflow.lab.finding import Verdict
from shortflow.reproduction.markdown import cell

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_a_paper_has_the_same_authors_and_title_everywhere(paper: str) -> None:
    pages = [
        (ROOT / "docs" / folder / f"{paper}.md").read_text(encoding="utf-8") for folder in ("reproduction", "papers")
    ]
    said = papers.title(paper)
    assert said in pages[0]
    assert said.partition(": ")[2].removesuffix(".") in " ".join(pages[1].split())
    (cited,) = re.findall(r'"(.+)"', said)
    authors, _, _ = said.partition(": ")[2].partition(f', "{cited}"')
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (entry,) = (each for each in citation.split("  - type: ") if re.search(rf'title: "?{re.escape(cited)}"?\n', each))
    families = re.findall("family-names: (.+?),", entry)
    named = re.findall(r"(?:[A-Z]\. )+(\w+)", authors)
    assert named == families[: len(named)]
    assert (len(named) < len(families)) == authors.endswith(" et al.")


def test_rust_tests_name_a_claim_that_agrees_or_its_verdict() -> None:
    """A claim in a comment is one that the test bears out, unless `(VERDICT` follows its name."""
    wrong = []
    for file in sorted((ROOT / "crates").rglob("*.rs")):
        comments = " ".join(re.findall(r"^\s*//[/!]? ?(.*)$", file.read_text(encoding="utf-8"), re.MULTILINE))
        for name, more in re.findall(rf"\b((?:{'|'.join(papers.PAPERS)})/[a-z]+[0-9a-z-]*)`?(?: \((\w+))?", comments):
            said = more if more in set(Verdict) else Verdict.AGREES.value
            if said != _published()[name]:
                wrong.append(f"{file.relative_to(ROOT)}: {name} {said}, published: {_published()[name]}")
    assert wrong == []


@functools.cache
def _published() -> dict[str, str]:
    """The verdict of every claim on the committed pages."""
    pages = [(ROOT / "docs" / "reproduction" / f"{paper}.md").read_text(encoding="utf-8") for paper in papers.PAPERS]
    rows = re.findall(r"^\|.*\(`(.+?)`\) \| (\w+).*$", "\n".join(pages), re.MULTILINE)
    return dict(rows)


def test_readme_counts_the_claims_that_agree_as_the_reproduction_does() -> None:
    front = (ROOT / "docs" / "reproduction" / "README.md").read_text(encoding="utf-8")
    (row,) = (line.strip("| ").split(" | ") for line in front.splitlines() if line.startswith("| all "))
    claims, (_, within_20, _, numbers) = [int(each) for each in row[1:7]], re.findall(r"\d+", row[8])
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"{claims[0]} of {sum(claims)} claims agree" in readme
    assert f"{within_20} of {numbers} printed numbers are met within 20 %" in readme


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_the_committed_pages_have_every_claim_as_the_code_states_it(paper: str) -> None:
    page = (ROOT / "docs" / "reproduction" / f"{paper}.md").read_text(encoding="utf-8")
    rows = [row.split(" | ") for row in page.splitlines() if f"(`{paper}/" in row]
    figures = [figure for figure in papers.figures().values() if figure.paper == paper]
    claims = [claim for figure in figures for claim in figure.claims]
    said = [cell(f"{claim.says} (`{claim.id}`)") for claim in claims]
    assert sorted(row[0].removeprefix("| ") for row in rows) == sorted(said)
    bullets = [line for line in page.splitlines() if line.startswith("- `")]
    details = {line.split("`")[1]: line.partition(" agrees if ")[2] for line in bullets}
    assert sorted(details) == sorted(claim.id for claim in claims)
    assert [each.id for each in claims if not details[each.id].startswith(cell(each.tolerance))] == []
    pictures = set(re.findall(r"\]\((pictures/[^)]+)\)", page))
    kept = {f"pictures/{each.name}" for each in (ROOT / "docs" / "reproduction" / "pictures").glob(f"{paper}-*.svg")}
    assert pictures == kept
    verdicts = {row[0].removeprefix("| "): row[1] for row in rows}
    assert {each.partition(" (")[0].partition(",")[0] for each in verdicts.values()} <= {each.value for each in Verdict}
    results = [cell(f"{claim.says} (`{claim.id}`)") for claim in claims if claim.kind != "equation"]
    counts = collections.Counter(verdicts[name].partition(" (")[0] for name in results)
    front = (ROOT / "docs" / "reproduction" / "README.md").read_text(encoding="utf-8")
    assert f"| [{paper}]({paper}.md) | {' | '.join(str(counts[verdict.value]) for verdict in Verdict)} |" in front
