"""Blocks of output: words, tables and charts. Terminals, pages, notebooks and Markdown show the same blocks."""

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

from rich import box
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shortflow.report.chart import Chart

WIDTH = 100
_GAP = 3
"""Width of the padding and rule between two columns, in characters."""


@dataclass
class Column:
    """A column before layout: header and cells."""

    header: str
    cells: list[str] = field(default_factory=list)
    text: bool = False
    """True for words, False for numbers."""
    joined: bool = False
    """True for a column that stays beside the previous column if a table is split."""

    @property
    def width(self) -> int:
        """Width of the widest line, in characters."""
        return max(cell_len(line) for text in (self.header, *self.cells) for line in text.splitlines() or [""])


@dataclass(frozen=True)
class Section:
    """A table before layout: heading, columns that name the rows, and columns of values."""

    kind: ClassVar[str] = "table"
    heading: str
    lead: Sequence[Column]
    columns: Sequence[Column]
    apart: int = 0
    """Number of last rows that a rule separates from the rows above."""
    faint: Collection[int] = ()
    """Indices of rows of less interest, from 0."""
    name: str = ""
    """File name for the rows as CSV. On pages, a table with a name can be sorted and filtered."""
    spaced: bool = False
    """True if an empty line separates the rows, for rows of several lines."""

    @property
    def all(self) -> list[Column]:
        """All columns."""
        return [*self.lead, *self.columns]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Cells by row."""
        return list(zip(*(column.cells for column in self.all), strict=True))

    def is_faint(self, row: int) -> bool:
        """True for a row that is separated from the rows above, or of less interest."""
        return row in self.faint or row >= len(self.lead[0].cells) - self.apart


def text_section(heading: str, heads: Sequence[str], rows: Sequence[Sequence[str]], **more: Any) -> Section:
    """A table whose cells are words. `more` has further fields of the section."""
    lead, *columns = (Column(head, [row[place] for row in rows], text=True) for place, head in enumerate(heads))
    return Section(heading, [lead], columns, **more)


@dataclass(frozen=True)
class Words:
    """Lines of text. Backticks enclose code."""

    kind: ClassVar[str] = "words"
    text: str
    role: Literal["text", "answer", "note", "code"] = "text"
    """Lines with the role `code`, such as commands, are never wrapped."""


@dataclass(frozen=True)
class Legend:
    """Legend and menus for the charts that follow. Only pages show them."""

    kind: ClassVar[str] = "legend"
    schemes: Sequence[str]
    menus: Sequence[tuple[str, Sequence[str], str]] = ()
    """For each varying setting: its name, its values, and the value shown first."""


@dataclass(frozen=True)
class PagePart:
    """Blocks under a heading. A folded part is closed at first on pages, and left out in terminals."""

    kind: ClassVar[str] = "part"
    heading: str
    blocks: Sequence["Block"]
    folded: bool = False


Block: TypeAlias = "Words | Section | Chart | Legend | PagePart"
"""An element of output for people in a terminal, on a page, or in Markdown."""

Pictures: TypeAlias = "Callable[[Chart], str]"
"""Function that returns the address of a chart's picture; empty without a picture."""


def terminal_width() -> int:
    """Maximum width of a table, in characters."""
    return min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)


def terminal(blocks: Iterable[Block]) -> Group:
    """Words and tables for a terminal, with an empty line between blocks."""
    found: list[RenderableType] = []
    for block in blocks:
        found += (each for part in _rich(block) for each in (Text(), part))
    return Group(*found[1:])


def _rich(block: Block) -> Iterator[RenderableType]:
    if isinstance(block, Words):
        is_code = block.role == "code"
        yield Text(block.text, no_wrap=is_code, overflow="ignore" if is_code else "fold")
    elif isinstance(block, Section):
        yield from _laid_out(block)
    elif isinstance(block, PagePart) and not block.folded:
        yield Text(block.heading, style="bold")
        for each in block.blocks:
            yield from _rich(each)


def _laid_out(section: Section) -> Iterator[RenderableType]:
    """Terminal tables of a section. If the columns of numbers do not fit, several tables follow one another."""
    room = terminal_width() - 1 - sum(column.width + _GAP for column in section.lead)
    batch: list[Column] = []
    for place, column in enumerate(section.columns, 1):
        joined = [each for each in section.columns[place : place + 1] if each.joined]
        if batch and not column.text and sum(each.width + _GAP for each in [*batch, column, *joined]) > room:
            yield _table(replace(section, columns=batch))
            batch = []
        batch.append(column)
    if batch:
        yield _table(replace(section, columns=batch))


def _table(section: Section) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, leading=int(section.spaced))
    vertical: Literal["top", "bottom"] = "top" if any(column.text for column in section.columns) else "bottom"
    for place, column in enumerate(section.all):
        side: Literal["left", "right"] = "left" if column.text or place < len(section.lead) else "right"
        table.add_column(column.header, justify=side, vertical=vertical, overflow="fold")
    for number, cells in enumerate(section.rows):
        last = number + 1 == len(section.rows) - section.apart
        table.add_row(*cells, end_section=last, style="dim" if section.is_faint(number) else None)
    return Group(Text(section.heading, style="bold"), table) if section.heading else table


def markdown(blocks: Iterable[Block], picture: "Pictures" = lambda _: "", level: int = 2) -> str:
    """Blocks as Markdown, with headings from `level` on.

    `picture` returns the address of a chart's picture. A chart without a picture is only its caption.
    """
    return "\n\n".join(text for block in blocks if (text := _markdown(block, picture, level))) + "\n"


def _markdown(block: Block, picture: "Pictures", level: int) -> str:
    if isinstance(block, Words):
        return "\n".join(f"- {line}" for line in block.text.splitlines() if line)
    if isinstance(block, Section):
        heads = ["---" if each.text or place < len(block.lead) else "--:" for place, each in enumerate(block.all)]
        rows = [[each.header for each in block.all], heads, *block.rows]
        lines = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
        return "\n".join([*([f"**{block.heading}**", ""] if block.heading else []), *lines])
    if isinstance(block, Chart):
        address = picture(block)
        return (f"![{block.heading}]({address})\n\n" if address else "") + f"**{block.heading}.** {block.caption}"
    if isinstance(block, PagePart):
        inside = markdown(block.blocks, picture, level + 1)
        if block.folded:
            return f"<details><summary>{block.heading}</summary>\n\n{inside}\n</details>"
        return f"{'#' * level} {block.heading}\n\n{inside}".rstrip()
    return ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
