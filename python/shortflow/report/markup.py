"""Pages from templates. All inserted text is escaped; plots are data drawn by one script."""

import contextlib
import functools
import itertools
import re
import secrets
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from shortflow.errors import MissingRequirement
from shortflow.report import library, looks
from shortflow.report.blocks import Block, Part, markdown
from shortflow.report.chart import Chart
from shortflow.store.files import Kind, write_text


def page(template: str, **values: object) -> str:
    """Renders a page from a template of this package.

    Browsers run only scripts with the page's nonce.
    """
    return _environment().get_template(template).render(nonce=secrets.token_urlsafe(), **values)


def write(path: Path, *, title: str, heading: str, head: Iterable[Block], parts: Sequence[Part], footer: str) -> None:
    """Writes blocks as a page or, under a name that ends in .md, as Markdown. Its pictures need vl-convert."""
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


def part(template: str, **values: object) -> str:
    """Renders a part of a foreign page, without scripts."""
    return _environment().get_template(template).render(**values)


def now() -> str:
    """Time for the foot of a page."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # numbers that are not finite become null
    environment.policies["json.dumps_function"] = lambda value, **_: msgspec.json.encode(value).decode()
    environment.filters["code"] = _with_code
    environment.globals |= {
        "chart_config": looks.theme(legend=False),
        "css": looks.css,
        "library": lambda: Markup(library.library()),
        "looks": looks.looks,
    }
    return environment


def _with_code(text: str) -> Markup:
    """Escaped text in which backticks enclose code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))
