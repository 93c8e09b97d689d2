"""Laws of every command: the same answer for any number of jobs, from a store, and from Python; a quick start."""

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from typer.main import get_command

import shortflow as sf
from conftest import Command, Patch, Tables
from shortflow.errors import ExitCode, Interrupted
from shortflow.front import shell
from shortflow.runner import Runner
from test_golden import settled

AFCT = "afct_short_s"
QUICK = ("--trials", "8", "--seeds", "2", "--check-seeds", "2", "--check-on", "none")
COMMANDS: dict[tuple[str, ...], Callable[[Path], Any] | None] = {
    ("compare", "small.toml", "--schemes", "tcp,dctcp", "--seeds", "2"): lambda out: sf.compare(
        "small.toml", "tcp,dctcp", 2, out=out
    ),
    ("compare", "small.toml", "--schemes", "dctcp", "--until-ci", "25%", "--no-ideal"): lambda out: sf.compare(
        "small.toml", "dctcp", until_ci="25%", ideal=False, out=out
    ),
    ("sweep", "small.toml", "--schemes", "tcp,dctcp", "--grid", "load=0.2,0.4", "--seeds", "2"): lambda out: sf.sweep(
        "small.toml", "tcp,dctcp", {"load": [0.2, 0.4]}, 2, out=out
    ),
    ("search", "small.toml", "--key", "load=0.2:0.8:0.2", "--condition", "timeouts==0"): lambda out: sf.search(
        "small.toml", "dctcp", "load=0.2:0.8:0.2", "timeouts==0", out=out
    ),
    ("tune", "small.toml", "--scheme", "dctcp", "--param", "transport.g=0.05:0.5", "--minimize", AFCT, *QUICK): None,
    ("reproduce", "fast/fig3"): None,
}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:3]))
def test_a_command_has_one_answer(shortflow: Command, small: Tables, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "small.toml").write_text(tomli_w.dumps(small), encoding="utf-8")

    def logs() -> list[Path]:
        return sorted((tmp_path / "1" / "run-logs").iterdir())

    one, two = (shortflow(*command, "--jobs", jobs, "--out", jobs, "--json") for jobs in "12")
    assert one.code in (0, 1), one.stderr
    assert settled(two.document) == settled(one.document)
    tables = [sf.read_store(tmp_path / jobs).to_frame().drop("finished_at") for jobs in "12"]
    assert tables[0].equals(tables[1])
    kept = logs()
    again, shown = shortflow(*command, "--out", "1", "--json"), shortflow(*command, "--out", "1")
    assert (settled(again.document), again.code) == (settled(one.document), one.code)
    assert logs() == kept, "nothing was run"
    assert (shown.code, max(map(len, shown.stdout.splitlines())) <= 100) == (one.code, True)
    if call := COMMANDS[command]:
        found = call(tmp_path / "1")
        assert settled(found.document()) == settled(one.document)
        assert str(found).splitlines()[0] == shown.stdout.splitlines()[0], "print() shows the command's tables"


def test_an_example_of_the_help_comes_to_its_first_run(shortflow: Command, monkeypatch: Patch) -> None:
    def stop(*_: object) -> None:
        raise Interrupted("a run was wanted")

    monkeypatch.setattr(Runner, "do", stop)
    root = get_command(shell.app)
    context = root.make_context("shortflow", [], resilient_parsing=True)
    helps = [root.get_command(context, name).help for name in shell.COMMANDS]  # type: ignore[attr-defined]
    examples = [example for text in helps if text for example in re.findall("Example: shortflow (.*)", text)]
    assert len(examples) == sum((text or "").count("Example") for text in helps) > 0
    for example in examples:
        shortflow(*example.split(), code=ExitCode.INTERRUPTED)


SLOW = {"jinja2", "msgspec", "numpy", "pandas", "polars", "rich", "scipy"}


SHORT = ["two-long-flows", "--set", "duration=20ms", "--set", "warmup=1ms"]


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["--version"], set()),
        (["run", *SHORT, "--json"], set()),
        (["compare", *SHORT, "--schemes", "tcp,dctcp", "--seeds", "1", "--json"], set()),
        (["run", *SHORT], {"rich"}),
        (["list", "schemes"], {"rich"}),
    ],
)
def test_a_command_imports_nothing_slow_that_it_does_not_need(arguments: list[str], needed: set[str]) -> None:
    assert {name.partition(".")[0] for name in imported(arguments)} & SLOW == needed


def imported(arguments: Sequence[str]) -> set[str]:
    """Modules that a command has imported at its end."""
    code = (
        "import sys; from shortflow.front.shell import run_command; code = run_command(sys.argv[1:]); "
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [["--help"], ["compra"]])
def test_the_names_of_all_commands_need_none_of_their_imports(arguments: list[str]) -> None:
    needed = {"shortflow", "shortflow._core", "shortflow.errors", "shortflow.lazy", "shortflow.front"}
    needed |= {"shortflow.installed"} | {f"shortflow.front.{each}" for each in ("command", "console", "shell")}
    found = imported(arguments)
    assert {name for name in found if name.partition(".")[0] == "shortflow"} == needed
    assert not {name.partition(".")[0] for name in found} & (SLOW - {"rich"})


def test_the_help_imports_little_more_than_a_list() -> None:
    """Counts modules, of which a start consists: on a busy machine, the CPU time of a process differs by a third."""
    assert len(imported(["--help"])) <= 1.3 * len(imported(["list", "schemes"]))
