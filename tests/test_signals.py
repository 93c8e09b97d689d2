"""Ctrl-C and SIGTERM: finished runs are kept, no partial files stay, and no hook of a user's law delays the end."""

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w

from conftest import ran, started
from made import star
from shortflow.store.runs import load_run

HIDE_CURSOR, SHOW_CURSOR = b"\x1b[?25l", b"\x1b[?25h"
# A shell that started the tests in the background may have disabled Ctrl-C for its children.
WITH_CTRL_C = """
import signal
from shortflow.__main__ import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


def test_ctrl_c_keeps_what_was_finished_and_nothing_half(tmp_path: Path) -> None:
    out = tmp_path / "kept"
    command = [sys.executable, "-c", WITH_CTRL_C, "compare", "l2dct-benchmark", "--schemes", "tcp,dctcp"]
    command += ["--seeds", "500", "--no-ideal", "--out", str(out)]
    with started(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not list(out.glob("runs/[a-z]*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stdout == ""
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    kept = list((out / "runs").iterdir())
    told = f"interrupted; {len(kept)} of 1,000 runs finished and are stored in {out}; the same command resumes"
    assert told in stderr
    assert 0 < len(kept) < 1000
    assert pl.read_parquet(out / "runs.parquet").height == len(kept)
    for run in kept:
        assert not run.name.startswith(".")
        assert load_run(run).flows.height > 0


INSIDE_A_LOCK = """
import os, signal, threading
from shortflow.__main__ import main
signal.signal(signal.SIGINT, signal.default_int_handler)

main_thread, take, taken = threading.get_ident(), threading.Condition.__enter__, 0

def take_and_interrupt(condition):
    global taken
    have = take(condition)
    if threading.get_ident() == main_thread:
        taken += 1
        if taken == 100:
            os.kill(os.getpid(), signal.SIGINT)
    return have

threading.Condition.__enter__ = take_and_interrupt
main()
"""


def test_ctrl_c_while_a_lock_is_taken_does_not_stop_the_workers_for_ever(tmp_path: Path) -> None:
    command = [sys.executable, "-c", INSIDE_A_LOCK, "compare", "l2dct-benchmark", "--schemes", "tcp", "--no-ideal"]
    command += ["--seeds", "100", "--jobs", "1", "--out", str(tmp_path / "kept")]
    done = ran(command, timeout=60)
    assert done.returncode == 130
    assert "interrupted; " in done.stderr
    assert "Traceback" not in done.stderr


NEVER_RETURNS = """
from pathlib import Path
from typing import Any
import shortflow

class NeverReturns(shortflow.CongestionControl):
    def on_ack(self, window, ack):
        Path("called").touch()
        while True:
            pass

class Fails(shortflow.CongestionControl):
    def on_ack(self, window, ack):
        while not Path("called").exists():
            pass
        raise ValueError("on purpose")
"""


@contextlib.contextmanager
def hanging(folder: Path, schemes: str, jobs: int) -> Iterator["subprocess.Popen[Any]"]:
    """A process with a comparison of which one run never ends. The block starts after this run has begun."""
    (folder / "law.py").write_text(NEVER_RETURNS, encoding="utf-8")
    command = [sys.executable, "-c", WITH_CTRL_C, "compare", "incast", "--schemes", schemes, "--seeds", "1"]
    with started([*command, "--jobs", str(jobs)], stderr=subprocess.PIPE, text=True, cwd=folder) as process:
        deadline = time.monotonic() + 60
        while not (folder / "called").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        yield process


@pytest.mark.parametrize("fails", [False, True])
def test_ctrl_c_or_a_failure_ends_a_hook_that_never_returns_in_its_own_process(tmp_path: Path, fails: bool) -> None:
    with hanging(tmp_path, f"{'law.py:Fails,' if fails else ''}law.py:NeverReturns", 2) as process:
        if not fails:
            process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == (2 if fails else 130)
    assert ("ValueError: on purpose" if fails else "interrupted; ") in stderr


TWICE = """
import os, signal
from shortflow.front import shell

def twice(**_):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        os.kill(os.getpid(), signal.SIGINT)

shell.app = twice
shell.run_and_exit()
"""


def test_what_timeout_sends_twice_is_one_ctrl_c() -> None:
    done = ran([sys.executable, "-c", TWICE])
    assert (done.returncode, done.stderr) == (130, "shortflow: interrupted\n")


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_a_hook_without_end(tmp_path: Path, first: signal.Signals, second: signal.Signals) -> None:
    with hanging(tmp_path, "law.py:NeverReturns", 1) as process:
        process.send_signal(first)
        time.sleep(1.5)
        assert process.poll() is None, "the first waits for the run"
        process.send_signal(second)
        process.communicate(timeout=20)
    assert process.returncode == 128 + second


EARLY_CTRL_C = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
from shortflow.__main__ import main
main()
"""


def test_ctrl_c_during_the_imports_is_one_line(tmp_path: Path) -> None:
    done = ran([sys.executable, "-c", EARLY_CTRL_C, "list", "schemes"], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "shortflow: interrupted\n")


@pytest.mark.parametrize("signals", [[signal.SIGINT], [signal.SIGTERM], [signal.SIGINT, signal.SIGTERM]])
def test_a_signal_stops_a_run_of_hours_and_shows_the_cursor_again(
    tmp_path: Path, signals: list[signal.Signals]
) -> None:
    command = [sys.executable, "-c", WITH_CTRL_C, "run", "bench-star", "--set", "duration=10000s", "--out", "kept"]
    terminal, side = pty.openpty()
    with started(command, stderr=side, stdout=subprocess.DEVNULL, cwd=tmp_path) as process:
        os.close(side)
        printed = b""
        while HIDE_CURSOR not in printed:
            printed += os.read(terminal, 4096)
        time.sleep(0.5)
        for number in signals:
            process.send_signal(number)
        with contextlib.suppress(OSError):  # reading a terminal fails when the process at its other end has ended
            while more := os.read(terminal, 4096):
                printed += more
        assert process.wait(timeout=20) == 128 + signals[-1]
    os.close(terminal)
    assert printed.rindex(SHOW_CURSOR) > printed.rindex(HIDE_CURSOR)
    assert b"Traceback" not in printed
    assert list(tmp_path.iterdir()) == []


def test_progress_has_room_in_a_narrow_terminal(tmp_path: Path) -> None:
    """The terminal has 60 columns, and five flows drain for 20 s of simulated time."""
    large = {"kind": "incast", "flows": 5, "from": "0-4", "to": 5, "sizes": {"kind": "fixed", "value": "500MB"}}
    scenario = star([{**large, "at": "0s"}], 6, title="drain", duration="5ms", drain="60s", buffer="250pkt")
    (tmp_path / "drain.toml").write_text(tomli_w.dumps(scenario))
    command = [sys.executable, "-c", "from shortflow.__main__ import main; main()", "run", "drain.toml"]
    terminal, side = pty.openpty()
    options = {"stderr": side, "stdout": subprocess.DEVNULL, "cwd": tmp_path, "env": {**os.environ, "COLUMNS": "60"}}
    with started(command, **options) as process:
        os.close(side)
        printed = b""
        with contextlib.suppress(OSError):
            while more := os.read(terminal, 4096):
                printed += more
        assert process.wait(timeout=20) == 0
    os.close(terminal)
    lines = [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line) for line in re.split(r"[\r\n]+", printed.decode())]
    assert "…" not in "".join(lines)
    assert any(re.fullmatch(r"drain, dctcp .*0/1 runs", line.strip()) for line in lines)
    assert any(re.match(r"0:00:\d\d so far, about .* left; drain: 5 of 5 flows", line) for line in lines)
    assert max(map(len, lines)) <= 60
