"""`new-paper`: the package of a paper of your own, to begin with."""

import re
import shlex
from pathlib import Path
from typing import Annotated

from shortflow import ConfigError
from shortflow.api.commands import Answer, Arg, Opt, command
from shortflow.api.pages import Words
from shortflow_papers import __version__
from shortflow_papers.papers import every_paper

TEMPLATE = Path(__file__).parents[1] / "template"
FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "__init__.py": "MODULE/__init__.py",
    "fig1.py": "MODULE/fig1.py",
    "test_claims.py": "tests/test_claims.py",
}
"""Files of the template, each with its place in the package."""


@command
def new_paper(
    name: Annotated[str, Arg("Short name of the paper, such as swift or my-law, for `reproduce NAME`.", "NAME")],
    *,
    out: Annotated[
        str | Path | None, Opt("New directory to write the package to (default: NAME).", "DIR", read=Path)
    ] = None,
) -> Answer:
    """Write a package for a paper of your own, with one figure, one claim, a page and a test.

    After `pip install ./NAME`, `shortflow reproduce NAME` runs the paper. docs/your-own-paper.md describes the steps.
    """
    if not re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ConfigError(f"NAME: {name!r} is not lower-case letters, digits and single hyphens, such as my-law")
    if name in every_paper():
        raise ConfigError(f"NAME: there is a paper {name!r} already; `shortflow list figures {name}` shows it")
    folder = Path(out or name)
    if folder.exists():
        raise ConfigError(f"{folder}: exists already; name another place with --out")
    words = {"NAME": name, "MODULE": f"paper_{name.replace('-', '_')}", "VERSION": __version__}
    written = []
    for source, place in FILES.items():
        path = folder / _filled(place, words)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_filled((TEMPLATE / f"{source}.in").read_text("utf-8"), words), "utf-8")
        written.append(str(path))
    installed = shlex.quote(str(folder) if folder.is_absolute() else f"./{folder}")
    remedy = f"Next: pip install {installed}, and then shortflow reproduce {name}"
    return Answer(lambda: {"files": written}, [Words("\n".join([*written, remedy]))])


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub("|".join(words), lambda found: words[found[0]], text)
