"""Pages and parts of pages from templates. All inserted text is escaped. One script draws the charts from data."""

import functools
import re
import secrets
from pathlib import Path

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from shortflow.report import library, looks

OWN = Path(__file__).parents[1]


def page(template: str, folder: Path = OWN, **values: object) -> str:
    """Renders a page from a template of this package or of `folder`.

    Browsers run only scripts that have the page's nonce.
    """
    return _environment(folder).get_template(template).render(nonce=secrets.token_urlsafe(), **values)


def part(template: str, folder: Path = OWN, **values: object) -> str:
    """Renders HTML that another page or a notebook embeds, without a nonce."""
    return _environment(folder).get_template(template).render(**values)


@functools.cache
def _environment(folder: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([OWN, folder]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # JSON has no NaN and no infinities, so msgspec writes them as null.
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
