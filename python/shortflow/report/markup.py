"""Pages from templates. All inserted text is escaped; plots are data drawn by one script."""

import functools
import re
import secrets
from pathlib import Path

import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs


def page(template: str, **values: object) -> str:
    """Renders a page from a template of this package.

    Browsers run only scripts with the page's nonce.
    """
    return _environment().get_template(template).render(nonce=secrets.token_urlsafe(), plotly=_plotly_code(), **values)


def part(template: str, **values: object) -> str:
    """Renders a part of a foreign page, without scripts."""
    return _environment().get_template(template).render(**values)


def markdown(template: str, **values: object) -> str:
    """Renders Markdown. Templates include parts, because macros would escape twice."""
    return _markdown_environment().get_template(template).render(**values)


@functools.cache
def _environment() -> Environment:
    environment = _templates().overlay(autoescape=True)
    environment.policies["json.dumps_function"] = _figure_json
    return environment


@functools.cache
def _markdown_environment() -> Environment:
    return _templates().overlay(finalize=_as_markdown)


def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parents[1]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _as_markdown(text: object) -> str:
    """Text escaped for Markdown, in one line, for table cells."""
    plain = re.sub(r"\s*\n\s*", " ", str(text)).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*|]|\](?=[(\[]))", r"\\\1", plain)


def _figure_json(figure: go.Figure, **_: object) -> str:
    return str(figure.to_json())


@functools.cache
def _plotly_code() -> Markup:
    """Code of the plotting library, the only unescaped text."""
    return Markup(get_plotlyjs())
