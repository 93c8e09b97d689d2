"""Fixtures for the tests of all packages: a small scenario, and the command as a user runs it."""

import contextlib
import io
import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import tomli_w

from browser import Browser, opened
from shortflow.front import shell

hypothesis.settings.register_profile("the same everywhere", deadline=None, derandomize=True)
hypothesis.settings.load_profile("the same everywhere")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="write the transcripts of tests/golden anew")


@pytest.fixture(scope="session", autouse=True)
def usual_terminal() -> Iterator[None]:
    """Removes settings of terminals and colours from the environment of commands under test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
            patch.delenv(name, raising=False)
        patch.setenv("TERM", "xterm")
        yield


@dataclass(frozen=True)
class Answer:
    """Result of a command."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        return json.loads(self.stdout)


Command = Callable[..., Answer]
Patch = pytest.MonkeyPatch
Tables = dict[str, object]
"""Tables of a scenario."""


@pytest.fixture
def shortflow(tmp_path: Path, monkeypatch: Patch) -> Command:
    """Runs the command in this process, in an empty directory outside the checkout. It must end with `code`, if any."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, code: int | None = None) -> Answer:
        with contextlib.redirect_stdout(io.StringIO()) as stdout, contextlib.redirect_stderr(io.StringIO()) as stderr:
            found = shell.run_command(arguments)
        assert code in (None, found), stderr.getvalue()
        return Answer(found, stdout.getvalue(), stderr.getvalue())

    return run


def ran(command: Sequence[Any], **options: Any) -> "subprocess.CompletedProcess[str]":
    """Runs a process to its end, and returns its result for any exit code."""
    usual: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 300}
    return subprocess.run(command, check=False, **{**usual, **options})


@contextlib.contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """A process that runs during the block, for at most 5 minutes. It is killed after the block, so no test hangs."""
    with subprocess.Popen(command, **options) as process:
        patience = threading.Timer(300, process.kill)
        patience.start()
        try:
            yield process
        finally:
            patience.cancel()
            process.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A running Chromium. Without it, the test is skipped. It ends with the module, because it runs an event loop."""
    with opened() as found:
        yield found


@pytest.fixture
def small() -> Tables:
    """A scenario that runs in milliseconds: three senders of short flows and one long flow to a fourth host."""
    return {
        "title": "small",
        "duration": "60ms",
        "warmup": "10ms",
        "parameters": {"load": 0.4},
        "topology": {"kind": "star", "hosts": 5, "rate": "1Gbps", "rtt": "100us"},
        "switch": {"buffer": "100pkt", "mark_above": "20pkt"},
        "tcp": {"rto_min": "10ms"},
        "traffic": [
            {"kind": "long-lived", "flows": 1, "from": 3, "to": 4},
            {
                "kind": "poisson",
                "sizes": {"kind": "uniform", "min": "2KB", "max": "30KB"},
                "load": "$load",
                "from": "0-2",
                "to": 4,
            },
        ],
        "measure": {"sample_every": "1ms"},
    }


@pytest.fixture
def scenario(tmp_path: Path, small: Tables) -> str:
    """Name of a file with the scenario `small`, in the current directory of a test."""
    (tmp_path / "small.toml").write_text(tomli_w.dumps(small), encoding="utf-8")
    return "small.toml"
