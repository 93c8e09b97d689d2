"""Completion as shells ask for it, without imports of slow libraries."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ran

BY_HAND = """#!{python}
from shortflow.__main__ import main
main()
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the command, bash's completion script, and packages that must not be imported."""
    folder = tmp_path_factory.mktemp("home")
    command = folder / "shortflow"
    command.write_text(BY_HAND.format(python=sys.executable))
    command.chmod(0o755)
    for name in ("polars", "numpy", "scipy"):
        (folder / f"{name}.py").write_text("raise ImportError('completion waits for this')")
    said = ran(["shortflow", "--show-completion", "bash"], env=environment(folder))
    (folder / "script").write_text(said.stdout)
    return folder


def environment(home: Path, **more: str) -> dict[str, str]:
    """Environment of a user with this home directory, which is also on the path."""
    search = os.pathsep.join([str(home), *sys.path[1:]])
    ours = {"HOME": str(home), "PATH": f"{home}:{os.environ['PATH']}", "PYTHONPATH": search}
    return {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1", **ours, **more}


def offered(home: Path, *words: str) -> list[str]:
    """Completions that bash offers for the last word."""
    script = """source "$HOME/script"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _shortflow_completion "$1"; printf '%s\n' "${COMPREPLY[@]}" """
    command = ["bash", "-c", script, "bash", "shortflow", *words]
    done = subprocess.run(command, env=environment(home), capture_output=True, text=True, timeout=60, check=True)
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "some"),
    [
        ([""], ["run", "compare", "sweep", "linux"]),
        (["compare", "incast-"], ["incast-deadlines"]),
        (["compare", "incast", "--schemes", "tcp,l2"], ["tcp,l2dct", "tcp,l2dct-srpt"]),
        (["compare", "incast", "--metrics", "p99_short"], ["p99_short_s", "p99_short_upto_10kb_s"]),
        (["run", "l2dct-benchmark", "--set", "lo"], ["load="]),
        (["run", "incast", "--set", "servers=3", "--set", "switch.m"], ["switch.mark_above=", "switch.memory="]),
        (["run", "incast", "--scheme", "l2dct", "--set", "transport.w_"], ["transport.w_min="]),
        (["search", "incast", "--key", "serv"], ["servers="]),
        (["list", "m"], ["metrics"]),
        (["list", "queues", "pf"], ["pfabric"]),
        (["show", "incast", "--js"], ["--json"]),
    ],
    ids=" ".join,
)
def test_bash_offers(home: Path, words: list[str], some: list[str]) -> None:
    found = offered(home, *words)
    assert set(some) <= set(found)
    assert all(name.startswith(words[-1]) for name in found)


@pytest.mark.parametrize("words", [["run", "nothing-like-it", "--set", "a"], ["run", "--set", "a"], ["list", "no", ""]])
def test_where_nothing_is_known_nothing_is_said(home: Path, words: list[str]) -> None:
    assert offered(home, *words) == []


@pytest.mark.parametrize("shell", ["fish", "zsh"])
def test_fish_and_zsh_offer_the_same(home: Path, shell: str) -> None:
    asked = environment(
        home,
        _SHORTFLOW_COMPLETE=f"complete_{shell}",
        _TYPER_COMPLETE_ARGS="shortflow compare incast-",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
    )
    said = subprocess.run(["shortflow"], env=asked, capture_output=True, text=True, timeout=60, check=True)
    assert "incast-deadlines" in said.stdout


def test_bash_is_set_up(home: Path, tmp_path: Path) -> None:
    command = ["shortflow", "--install-completion", "bash"]
    subprocess.run(command, env=environment(home, HOME=str(tmp_path)), capture_output=True, timeout=60, check=True)
    assert "shortflow.sh" in (tmp_path / ".bashrc").read_text()
    assert "_SHORTFLOW_COMPLETE" in (tmp_path / ".bash_completions" / "shortflow.sh").read_text()
