"""Blocks as a page or as Markdown."""

import contextlib
import itertools
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from shortflow.errors import MissingRequirement
from shortflow.report.blocks import Block, PagePart, markdown
from shortflow.report.chart import Chart
from shortflow.report.templates import page
from shortflow.store.files import Kind, write_text


def write_blocks(
    path: Path, *, title: str, heading: str, head: Iterable[Block], parts: Sequence[PagePart], footer: str
) -> None:
    """Writes blocks as an HTML page or, if the file's name ends in .md, as Markdown.

    Pictures of Markdown need vl-convert, and are left out without it. Raises `ConfigError` if the path is another file.
    """
    if path.suffix != ".md":
        content = page("report/page.html", title=title, heading=heading, head=[*head], parts=parts, footer=footer)
        write_text(path, content, Kind.PAGE)
        return
    pictures = itertools.count(1)

    def picture(chart: Chart) -> str:
        name = f"{path.stem}-{next(pictures)}-{chart.name}.svg"
        with contextlib.suppress(MissingRequirement):
            write_text(path.with_name(name), chart.svg, Kind.PICTURE)
            return name
        return ""

    text = markdown([*head, *parts], picture)
    write_text(path, f"<!-- written by Shortflow -->\n\n# {heading}\n\n{text}\n{footer}\n", Kind.MARKDOWN)


def now() -> str:
    """Current time in UTC, for the footer of a page."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
