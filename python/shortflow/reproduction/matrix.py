"""Overview of all verdicts: a row per paper, a cell per figure, coloured by its claims."""

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from shortflow.lab.finding import Verdict
from shortflow.reproduction.index import EMPTILY, Cell, Entry
from shortflow.reproduction.svg import document

COLOURS = {
    Verdict.AGREES.value: ("#86d3a0", "agrees"),
    Verdict.DIRECTION.value: ("#f4d35e", "direction"),
    Verdict.DIFFERS.value: ("#f08a6c", "differs"),
    Verdict.UNDECIDED.value: ("#b8c4d6", "undecided"),
    EMPTILY: ("#d6d3c4", "agrees, as the baseline"),
    Verdict.UNTESTED.value: ("#eef0f3", "untested"),
}
"""Colour and name of each kind of verdict."""
_LEFT, _WIDE, _HIGH, _IN_ROW = 74, 94, 36, 10
_LETTERS = 15
"""Letters per line of a cell."""
_FONT = 'font-family="system-ui, sans-serif"'
_TEXT = f'{_FONT} fill="#374151"'


def matrix(papers: Mapping[str, Entry], *, linked: bool) -> str:
    """The picture. With `linked`, cells link to the figures on the papers' pages."""
    top, parts = 34, list(_legend())
    for paper, entry in papers.items():
        rows = [entry["figures"][at : at + _IN_ROW] for at in range(0, len(entry["figures"]), _IN_ROW)]
        labels = Counter(tuple(_short(cell["ref"])) for cell in entry["figures"])
        parts.append(f'<text x="4" y="{top + 22}" font-size="14" font-weight="600" {_TEXT}>{html.escape(paper)}</text>')
        for row in rows:
            for place, cell in enumerate(row):
                lines = _short(cell["ref"])
                if labels[*lines] > 1:
                    lines = [*lines, cell["id"].partition("/")[2]]
                drawn = "".join(_cell(cell, lines, _LEFT + place * _WIDE, top))
                place_of = f"{paper}.html#{cell['id']}"
                parts.append(f'<a href="{html.escape(place_of)}">{drawn}</a>' if linked else drawn)
            top += _HIGH + 4
        top += 8
    width = _LEFT + _IN_ROW * _WIDE
    return document("Verdicts by paper and figure", top, parts, width)


def _legend() -> Iterator[str]:
    left = _LEFT
    for colour, name in COLOURS.values():
        yield f'<rect x="{left}" y="6" width="14" height="14" rx="2" fill="{colour}"/>'
        yield f'<text x="{left + 19}" y="18" font-size="13" {_TEXT}>{name}</text>'
        left += 34 + 8 * len(name)


def _cell(cell: Cell, lines: Sequence[str], left: int, top: int) -> Iterator[str]:
    """Stripes in proportion to the figure's claims, and its name."""
    claims, width, at = sum(cell["claims"].values()), _WIDE - 4, float(left)
    said = ", ".join(f"{number} {COLOURS[kind][1]}" for kind, number in cell["claims"].items())
    yield f"<title>{html.escape(cell['id'])}: {said}</title>"
    for kind, (colour, _) in COLOURS.items():
        part = width * cell["claims"].get(kind, 0) / claims
        yield f'<rect x="{at:.1f}" y="{top}" width="{part:.1f}" height="{_HIGH}" fill="{colour}"/>' * bool(part)
        at += part
    for number, line in enumerate(lines):
        text = line if len(line) <= _LETTERS else f"{line[: _LETTERS - 1]}…"
        y = top + _HIGH / 2 + 4 + 13 * (number - (len(lines) - 1) / 2)
        where = f'x="{left + width / 2:.0f}" y="{y:.0f}" font-size="11" text-anchor="middle"'
        yield f'<text {where} {_FONT} fill="#1f2937">{html.escape(text)}</text>'


def _short(ref: str) -> list[str]:
    """Name of a figure in two lines."""
    parts = re.split(r", (?=[A-Z])", ref)
    return [parts[0], ", ".join(parts[1:])] if len(parts) > 1 else [ref]
