"""`new-paper`: its package is sound, and its refusals name the remedy. test_docs.py runs docs/your-own-paper.md."""

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from conftest import Command, Patch, ran
from shortflow import ConfigError
from shortflow_papers import papers


@pytest.fixture
def unknown_papers(monkeypatch: Patch) -> None:
    """Figures are read anew, and again behind the test."""
    for each in (papers.every_paper, papers.figures):
        monkeypatch.setattr(f"shortflow_papers.papers.{each.__name__}", each.__wrapped__)


def test_what_is_written_is_as_this_project_writes(shortflow: Command, tmp_path: Path) -> None:
    answer = shortflow("new-paper", "my-law", "--out", "mine", "--json", code=0)
    files = [tmp_path / name for name in answer.document["files"]]
    assert [str(path.relative_to(tmp_path / "mine")) for path in files] == [
        *("pyproject.toml", "README.md", "paper_my_law/__init__.py", "paper_my_law/fig1.py", "tests/test_claims.py")
    ]
    for path in files:
        text = path.read_text("utf-8")
        assert not [word for word in ("NAME", "MODULE", "VERSION") if word in text.replace("NAME=VALUE", "")]
    ruff = [sys.executable, "-m", "ruff"]
    for arguments in (["check", "--ignore", "D103"], ["format", "--check"]):
        done = ran([*ruff, *arguments, "--config", Path(__file__).parents[2] / "pyproject.toml", tmp_path / "mine"])
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Swift"], "NAME: 'Swift' is not lower-case letters, digits and single hyphens, such as my-law"),
        (["my_law"], "NAME: 'my_law' is not"),
        (["l2dct"], "NAME: there is a paper 'l2dct' already; `shortflow list figures l2dct` shows it"),
        (["mine", "--out", "."], ".: exists already; name another place with --out"),
    ],
)
def test_wrong_names_are_refused(shortflow: Command, arguments: list[str], message: str) -> None:
    assert message in shortflow("new-paper", *arguments, code=2).stderr


@pytest.mark.usefixtures("unknown_papers")
def test_a_figure_has_its_papers_name(shortflow: Command, tmp_path: Path, monkeypatch: Patch) -> None:
    shortflow("new-paper", "mine", code=0)
    figure = tmp_path / "mine/paper_mine/fig1.py"
    figure.write_text(figure.read_text("utf-8").replace('"mine/fig1"', '"other/fig1"'), "utf-8")
    monkeypatch.syspath_prepend(tmp_path / "mine")
    point = EntryPoint("mine", "paper_mine", papers.GROUP)
    monkeypatch.setattr("shortflow.installed.entry_points", lambda **_: [point])
    with pytest.raises(ConfigError, match="paper_mine: the figure other/fig1 must be named mine/"):
        papers.figures()
