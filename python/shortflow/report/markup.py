"""Pages from templates. All inserted text is escaped; plots are data drawn by one script."""

import functools
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
    environment.policies["json.dumps_function"] = _figure_json
    return environment


def _figure_json(figure: go.Figure, **_: object) -> str:
    return str(figure.to_json())


@functools.cache
def _plotly_code() -> Markup:
    """Code of the plotting library, the only unescaped text."""
    return Markup(get_plotlyjs())
