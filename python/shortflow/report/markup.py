"""Pages from templates: whatever is put into them is escaped, and plots are data that one script draws."""

import functools
import re
import secrets
from pathlib import Path

import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs


def page(template: str, **values: object) -> str:
    """The page that a template below this package makes of some values.

    Only scripts with the page's nonce run: browsers refuse all others.
    """
    return _environment().get_template(template).render(nonce=secrets.token_urlsafe(), plotly=_plotly_code(), **values)


def part(template: str, **values: object) -> str:
    """A part of a page of somebody else's, without plots that scripts draw."""
    return _environment().get_template(template).render(**values)


def markdown(template: str, **values: object) -> str:
    """The Markdown that a template makes of some values. It includes parts, for macros would escape twice."""
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
    """Text of which Markdown makes nothing else, in one line, so that it may stand in a table's cell."""
    plain = re.sub(r"\s*\n\s*", " ", str(text)).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*|]|\](?=[(\[]))", r"\\\1", plain)


def _figure_json(figure: go.Figure, **_: object) -> str:
    return str(figure.to_json())


@functools.cache
def _plotly_code() -> Markup:
    """The plotting library, the one text that is put into pages as code."""
    return Markup(get_plotlyjs())
