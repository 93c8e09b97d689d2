"""Wrong input ends in exit code 2 and one message that says what was expected; no traceback reaches a user."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import tomli_w

from conftest import Command, Tables
from made import star
from shortflow import load

ROOT = Path(__file__).parents[1]
BENCHMARK = "l2dct-benchmark"


def test_a_number_of_thousands_of_digits_is_wrong_input(shortflow: Command) -> None:
    """Python refuses to read such a number. Other errors of the command line are in `golden/errors.txt`."""
    assert "is not a whole number from 0 on" in shortflow("run", BENCHMARK, "--seed", "1" * 5000, code=2).stderr


LONG_LIVED = {"kind": "long-lived"}
NAMED_BY = {
    "trace": star([{"kind": "trace", "file": "it.csv"}], 4),
    "sizes": star([{"kind": "poisson", "load": 0.1, "sizes": {"kind": "cdf", "file": "it.csv"}}], 4),
    "links": {**star([LONG_LIVED]), "topology": {"kind": "explicit", "file": "it.csv"}},
    "graphml": {**star([LONG_LIVED]), "topology": {"kind": "explicit", "file": "it.xml"}},
}
"""Scenarios with each key that names a file."""


@pytest.mark.parametrize("kind", [*NAMED_BY, "measured", "scenario", "schemes"])
def test_input_is_regular_files_of_a_size(kind: str, shortflow: Command, tmp_path: Path) -> None:
    arguments = {
        "measured": ["compare", "incast", "--schemes", "tcp", "--measured", "it.csv"],
        "scenario": ["run", "it.toml"],
        "schemes": ["run", "incast", "--scheme", "it.toml:mine"],
    }.get(kind, ["run", "mine.toml"])
    if kind in NAMED_BY:
        (tmp_path / "mine.toml").write_text(tomli_w.dumps(NAMED_BY[kind]))
    place = tmp_path / f"it.{'xml' if kind == 'graphml' else 'toml' if kind in ('scenario', 'schemes') else 'csv'}"
    heard = socket.socket(socket.AF_UNIX)

    def large() -> None:
        with place.open("w") as file:
            file.truncate(600_000_000)

    makes: dict[str, Callable[[], object]] = {
        "a device": lambda: place.symlink_to("/dev/zero"),
        "a pipe": lambda: os.mkfifo(place),
        "a directory": place.mkdir,
        "a socket": lambda: heard.bind(place.name),
        "600 MB; expected at most 512 MB": large,
    }
    for found, make in makes.items():
        make()
        answer = shortflow(*arguments, code=2)
        assert found in answer.stderr
        assert place.name in answer.stderr
        if place.is_dir():
            place.rmdir()
        else:
            place.unlink()
    heard.close()


@pytest.mark.parametrize("kind", [*NAMED_BY, "measured"])
def test_an_error_about_a_header_does_not_tell_the_file(kind: str, shortflow: Command, tmp_path: Path) -> None:
    arguments = (
        ["compare", "incast", "--schemes", "tcp", "--measured", "it.csv"]
        if kind == "measured"
        else ["run", "mine.toml"]
    )
    if kind in NAMED_BY:
        (tmp_path / "mine.toml").write_text(tomli_w.dumps(NAMED_BY[kind]))
    texts = (
        "root:hunter2:1\nb:c\n",
        "hunter2,1\n2,3\n",
        "hunter2,x\n2,3\n4,5\n",
        "hunter2\n2\n3\n",
        "hunter2\n",
        '"hunter2\n',
    )
    for text in texts:
        for name in ("it.csv", "it.xml"):
            (tmp_path / name).write_text(text)
        answer = shortflow(*arguments, code=2)
        assert "it." in answer.stderr
        assert "hunter2" not in answer.stderr


def test_no_output_replaces_a_file_that_is_none(shortflow: Command, tmp_path: Path, small: Tables) -> None:
    (tmp_path / "small.toml").write_text(tomli_w.dumps(small))
    assert shortflow("run", "small.toml", "--out", "run").code == 0
    run = ["run", "small.toml"]
    port = load(small).core.ports()[0]
    tune = ["tune", "small.toml", "--scheme", "dctcp", "--param", "transport.g=0.05:0.5", "--minimize", "afct_short_s"]
    tune += ["--trials", "1", "--seeds", "1", "--check-seeds", "2", "--check-on", "none", "--out", "tuned"]
    commands = {
        "flows.pcapng": [*run, "--pcap", f"{port}=flows.pcapng"],
        "flows.parquet": [*run, "--trace", "0=flows.parquet"],
        "page.html": ["report", "run", "--out", "page.html"],
        "run/report.html": ["report", "run"],
        "schema.json": ["schema", "--out", "schema.json"],
        "tuned/report.html": tune,
    }
    mine = ["precious", "# shortflow 0.2.0\n<!doctype html> {}", (tmp_path / "small.toml").read_text()]
    (tmp_path / "tuned").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert "pipe: this pipe has no reader" in shortflow(*run, "--trace", "0=pipe", code=2).stderr
    for name, command in commands.items():
        for text in mine:
            (tmp_path / name).write_text(text)
            answer = shortflow(*command)
            assert (answer.code, (tmp_path / name).read_text()) == (2, text), (command, answer)
            assert f"{name}: exists" in answer.stderr
        (tmp_path / name).write_text("")
        for _ in range(2):  # the first call replaces an empty file, the second its own output
            answer = shortflow(*command)
            assert answer.code != 2, (command, answer)
            assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize(
    ("command", "names"),
    [(["reproduce", "fast/fig3"], ["index.html", "fast.html"]), (["survey", "fast"], ["beyond.html"])],
)
def test_pages_replace_no_other_file(shortflow: Command, tmp_path: Path, command: list[str], names: list[str]) -> None:
    for name in names:
        out = tmp_path / name.replace("/", "-")
        (out / name).parent.mkdir(parents=True)
        (out / name).write_text("precious")
        assert f"{name}: exists" in shortflow(*command, "--out", out.name, code=2).stderr
        assert not (out / "runs").exists()


@pytest.mark.usefixtures("scenario")
def test_a_page_of_an_earlier_version_is_replaced(shortflow: Command, tmp_path: Path) -> None:
    policy = "default-src 'none'; script-src 'nonce-x3'; style-src 'unsafe-inline'; img-src data: blob:"
    head = '\n<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    (tmp_path / "page.html").write_text(
        f'{head}<meta http-equiv="Content-Security-Policy" content="{policy}">\n<title>0.2.0</title>'
    )
    assert shortflow("run", "small.toml", "--out", "run").code == 0
    shortflow("report", "run", "--out", "page.html", code=0)
    assert "0.2.0</title>" not in (tmp_path / "page.html").read_text()


def test_a_reader_who_leaves_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -c 'from shortflow.__main__ import main; main()' show {BENCHMARK} | true"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_an_old_python_is_named_with_what_is_needed(tmp_path: Path) -> None:
    old = tmp_path / "python3.9"
    old.write_text("#!/bin/sh\necho Python 3.9.2\nexit 1\n")
    old.chmod(0o755)
    command = ["make", "--silent", "setup", f"PYTHON={old}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert f"missing: Python 3.11 or newer; {old} is Python 3.9.2" in done.stderr
    none = subprocess.run([*command[:-1], "PYTHON=no-python"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert none.returncode != 0
    assert "missing: Python 3.11 or newer; no-python does not start" in none.stderr


QUERIES = {"kind": "queries", "workers": 1, "repeat": 1_000_000, "sizes": {"kind": "fixed", "value": "1B"}, "to": 0}
UNBOUNDED = star([QUERIES], 2, duration="1000s", rtt="1us", buffer="20pkt", mark_above="5pkt")
"""Scenario with more flows than memory can hold."""
# The second run of the command may take at most 100 MB more memory than the first.
LIMITED = """
import resource, sys
from shortflow.front.shell import run_command
run_command(["run", sys.argv[1], "--set", "duration=1ms", "--json"])
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 100_000_000, resource.RLIM_INFINITY))
sys.exit(run_command(["run", sys.argv[1]]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are Linux's")
def test_a_result_too_large_for_memory_says_so_before_the_run_and_in_it(tmp_path: Path) -> None:
    limited = "ulimit -v 4000000; exec "
    many = "--set measure.sample_every=200ns --set traffic.1.flows=100"
    sampled = f"{limited} {sys.executable} -m shortflow run {BENCHMARK} {many}"
    done = subprocess.run(["bash", "-c", sampled], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "its tables do not fit in memory: they need at least" in done.stderr
    assert "measure.sample_every" in done.stderr
    (tmp_path / "unbounded.toml").write_text(tomli_w.dumps(UNBOUNDED))
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "unbounded.toml")]
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 3, done.stderr
    assert "no memory is left for more rows of the tables" in done.stderr
