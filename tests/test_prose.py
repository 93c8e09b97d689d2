"""Plain English in the pages written by hand: words a page, sentence lengths, and phrases that are not used."""

import json
import re
from pathlib import Path

import pytest

from shortflow.front import reference

ROOT = Path(__file__).parents[1]
# The most words of prose of each page that is held; the others are to become plain too.
TABLE = json.loads((ROOT / "tools" / "prose.json").read_text(encoding="utf-8"))
BANNED = re.compile(
    r"\b(?:no account of|is none|of those|that of the|over that|what is|what it|whatever|hardly|by itself)\b"
    r"|\b(?:or so|as before|at the last measurement|without gain|one of which|some of which)\b"
    r"|^(?:What|Whether|That|Those|Of|So|Which)\b[^?]*$"
)
NOT_PROSE = re.compile(r"^ *(?P<fence>`{3,}).*?^ *(?P=fence)$|^\$\$.*?\$\$|<!--.*?-->|^#.*?$", re.MULTILINE | re.DOTALL)


def sentences(text: str) -> list[str]:
    """Sentences of paragraphs, lists, and cells of more than eight words; code and formulas count as a word."""
    text = NOT_PROSE.sub("\n\n", text)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]+`|\$[^$]+\$", "CODE", text))
    rows = re.compile(r"^\|(.*)\|$", re.MULTILINE)
    cells = [cell for row in rows.findall(text) for cell in row.split("|") if len(cell.split()) > 8]
    blocks = cells + re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) ", rows.sub("", text))
    found = [re.split(r"(?<=[.?!])[)*\"]*\s+(?=[A-Z0-9(*\"])", " ".join(block.split())) for block in blocks]
    return [each.strip("*-_ ") for block in found for each in block if re.search(r"[A-Za-z]", each)]


def test_every_page_is_held_or_to_be() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    assert {str(page.relative_to(ROOT)) for page in pages} <= {*TABLE["words"], *TABLE["not yet held"]}


@pytest.mark.parametrize("name", TABLE["words"])
def test_a_page_is_plain(name: str) -> None:
    found = sentences((ROOT / name).read_text(encoding="utf-8"))
    lengths = sorted(len(each.split()) for each in found)
    assert [each for each in found if BANNED.search(each)] == []
    assert lengths[-1] <= 36, max(found, key=lambda each: len(each.split()))
    assert lengths[int(0.95 * (len(lengths) - 1))] <= 25, [each for each in found if len(each.split()) > 25]
    assert sum(lengths) <= TABLE["words"][name], "shorten the page, or raise tools/prose.json in a commit of its own"


def test_what_the_code_writes_into_pages_is_plain() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    names = re.findall(r"^<!-- generated: (.+) -->$", pages, re.MULTILINE)
    found = [each for name in names for each in sentences(reference.part(name))]
    assert len(found) > 500
    assert [each for each in found if BANNED.search(each) or len(each.split()) > 36] == []
