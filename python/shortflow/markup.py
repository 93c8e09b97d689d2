"""HTML pages from templates: whatever is put into them is escaped, and plots are data that one script draws."""

import functools
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


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_function"] = _figure_json
    return environment


def _figure_json(figure: go.Figure, **_: object) -> str:
    return str(figure.to_json())


@functools.cache
def _plotly_code() -> Markup:
    """The plotting library, the one text that is put into pages as code."""
    return Markup(get_plotlyjs())
