"""After a kill at any moment, the next command works on the same directory.

`SHORTFLOW_KILLS` is the number of kills of the slow test.
"""

import multiprocessing
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w

from conftest import Tables
from shortflow.errors import ExitCode
from shortflow.front.shell import run_command
from shortflow.metrics.columns import TABLES
from shortflow.store.runs import Store

OUT, SWEPT, TUNED = "store", "swept", "tuned"
TUNE = ("tune", "small.toml", "--scheme", "l2dct", "--param", "transport.w_max=1:5", "--minimize", "afct_short_s")
COMMANDS = (
    ("compare", "small.toml", "--schemes", "tcp,dctcp", "--seeds", "2", "--out", OUT),
    ("reproduce", "fast/fig3", "--out", OUT),
    ("survey", "fast", "--seeds", "2", "--set", "traffic.1.repeat=1", "--set", "duration=20ms", "--out", OUT),
    ("search", "small.toml", "--key", "load=0.1:0.4:0.1", "--condition", "drops>=0", "--seeds", "2"),
    ("sweep", "small.toml", "--schemes", "tcp,dctcp", "--grid", "load=0.2:0.5:0.1", "--seeds", "2", "--out", SWEPT),
    (*TUNE, "--trials", "16", "--seeds", "2", "--check-seeds", "2", "--check-on", "none", "--out", TUNED),
    ("report", OUT),
)
ERRORS = "errors.txt"
TIMES = ("finished_at", "wall_s")


SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["shortflow.front.shell", "shortflow.commands.report", "shortflow_papers.survey"])
"""Server that imports all modules before commands start, which saves most of their time."""


def work(command: tuple[str, ...], folder: Path) -> None:
    """Runs the command in a process, as a shell would."""
    os.chdir(folder)
    for number, name in ((1, os.devnull), (2, str(folder / ERRORS))):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.exit(run_command(list(command)))


def begun(command: tuple[str, ...], folder: Path) -> Any:
    process = SERVER.Process(target=work, args=(command, folder), daemon=True)
    process.start()
    return process


def to_the_end(command: tuple[str, ...], folder: Path) -> float:
    """Runs a command to its end, and returns its time in seconds."""
    begin = time.perf_counter()
    process = begun(command, folder)
    process.join(300)
    claims = ExitCode.CLAIM_FAILED if command[0] in ("reproduce", "tune") else ExitCode.FINE
    errors = (folder / ERRORS).read_text(encoding="utf-8")
    assert process.exitcode in (ExitCode.FINE, claims), (command, errors)
    assert "Traceback" not in errors
    assert "damaged" not in errors
    return time.perf_counter() - begin


def killed(command: tuple[str, ...], folder: Path, moment: float) -> bool:
    """Kills a command after `moment` seconds. Returns True if it was still running."""
    process = begun(command, folder)
    process.join(moment)
    process.kill()
    process.join()
    return bool(process.exitcode == -signal.SIGKILL)


def report_of_what_is_left(folder: Path, store: str) -> None:
    """Checks that the store of a killed command has a report, or has no runs to report."""
    process = begun(("report", store), folder)
    process.join(300)
    errors = (folder / ERRORS).read_text(encoding="utf-8")
    assert process.exitcode == (ExitCode.WRONG_INPUT if "holds no results" in errors else ExitCode.FINE), errors


def contents(store: Path) -> dict[tuple[str, bool], Any]:
    """Every run of a store: its record without times, and its tables."""
    found = {}
    for result in Store(store).results():
        origin = {key: value for key, value in result.provenance.items() if key not in TIMES}
        tables = {name: result.table(name).to_dict(as_series=False) for name in TABLES if result.tables}
        found[result.key, bool(tables)] = ({**result.record, "provenance": origin}, tables)
    return found


def runs_table(store: Path) -> pl.DataFrame:
    return pl.read_parquet(store / "runs.parquet").drop("finished_at").sort("run")


def small_files(folder: Path, small: Tables) -> Path:
    folder.mkdir()
    (folder / "small.toml").write_text(tomli_w.dumps(small), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "kills", [7, pytest.param(int(os.environ.get("SHORTFLOW_KILLS", "100")), marks=pytest.mark.slow, id="many")]
)
def test_whatever_is_killed_the_next_command_works(kills: int, small: Tables, tmp_path: Path) -> None:
    calm, wild = (small_files(tmp_path / name, small) for name in ("calm", "wild"))
    usual = {command: to_the_end(command, calm) for command in COMMANDS}
    dice = random.Random(1)
    done = 0
    while done < kills:
        command = COMMANDS[done % len(COMMANDS)]
        # Some finished runs are removed, so that each command has runs to write.
        places = sorted((wild / OUT).glob("runs/*"))
        for place in dice.sample(places, min(len(places), 8)):
            shutil.rmtree(place)
        for whole in (SWEPT, TUNED):
            if dice.randrange(2):
                shutil.rmtree(wild / whole, ignore_errors=True)
        done += killed(command, wild, dice.uniform(0.0, usual[command]))
        if "--out" in command:
            report_of_what_is_left(wild, command[-1])
        to_the_end(COMMANDS[dice.randrange(2)], wild)
    for command in COMMANDS:
        to_the_end(command, wild)
    assert contents(wild / OUT) == contents(calm / OUT)
    for store in (OUT, SWEPT, TUNED):
        assert runs_table(wild / store).equals(runs_table(calm / store))
    assert (wild / TUNED / "tuning.json").read_bytes() == (calm / TUNED / "tuning.json").read_bytes()
    left, known = ({path.name for path in (folder / OUT).rglob("*")} for folder in (wild, calm))
    assert [name for name in left - known if not name.endswith(".jsonl")] == []
    print(f"{done} kills; {len(contents(wild / OUT))} runs, each like that of an undisturbed directory")
