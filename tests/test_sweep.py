"""Sweeps: their runs, the results that they keep after interruptions and errors, and how they resume."""

import fcntl
import itertools
import json
import os
import re
import subprocess
import sys
import time
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import tomli_w

import shortflow as api
from browser import Browser
from conftest import Command, Patch, Tables, started
from made import make_result, make_rows, make_run
from shortflow._core import Control
from shortflow.criteria import Criteria
from shortflow.errors import ConfigError, DamagedResult, ExitCode, SimulationError
from shortflow.report.blocks import Section
from shortflow.report.views import sweep_blocks
from shortflow.runs import plan
from shortflow.scenario import load_scenario
from shortflow.simulate import simulate_run
from shortflow.store.run_logs import Kept, RunLog, RunLogs
from shortflow.store.runs import Store

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.usefixtures("scenario")
GRID = ("--grid", "load=0.2,0.4,0.6", "--grid", "switch.mark_above=5pkt,20pkt")
SWEEP = ("sweep", "small.toml", "--schemes", "tcp,dctcp", *GRID, "--seeds", "2", "--out", "store")
RUNS = 2 * 3 * 2 * 2


def in_logs(store: Path) -> Kept:
    kept = Kept()
    RunLogs(store).more(kept)
    return kept


def rows(store: Path) -> pl.DataFrame:
    return pl.read_parquet(store / "runs.parquet").drop("finished_at")


def test_points_are_named_that_are_overloaded_have_fewer_seeds_or_have_tables(
    shortflow: Command, browser: Browser
) -> None:
    swept = shortflow("sweep", "small.toml", "--schemes", "dctcp,pfabric", "--grid", "load=0.2,1.2", "--out", "store")
    assert swept.stderr.startswith("warning: at load 1.2: traffic.2.load: 1.2 of")
    more = ("--set", "load=0.2", "--seeds", "4", "--no-ideal", "--out", "store")
    assert shortflow("compare", "small.toml", "--schemes", "dctcp,pfabric", *more).code == ExitCode.FINE
    assert shortflow("report", "store").code == ExitCode.FINE
    page = Path("store/report.html").read_text(encoding="utf-8")
    told = (
        "warning: at load 1.2:",
        "host.queue differs between the schemes",
        "Some points have fewer seeds: load 1.2 (3 of 4)",
    )
    assert not [text for text in told if text not in page]
    assert "<option selected>0.2</option>" in page, "only this point has tables"
    empty: list[int] = []

    def choose(page: "Page") -> None:
        for load in ("1.2", "0.2"):
            page.locator("select").select_option(load)
            empty.append(page.locator(".missing:visible").count())

    assert browser.see(Path("store/report.html"), then=choose).faults == []
    assert empty == [2, 0], "flows and queue"


def test_tables_are_kept_where_they_are_asked_for(
    shortflow: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    narrow = (*SWEEP[:4], "--grid", "load=0.2,0.4", "--seeds", "1", "--out", "store")
    assert shortflow(*narrow).code == ExitCode.FINE
    with pytest.raises(ConfigError, match="the tables of dctcp were not stored; pass tables=True, or `sweep --tables`"):
        _ = api.read_store(tmp_path / "store").flows
    for without in (api.read_store(tmp_path / "store"), api.sweep("small.toml", "tcp", {"load": ["0.2"]}, 1)):
        for chart in (without.plot.fct_cdf, without.plot.queue, without.plot.timeline):
            with pytest.raises(ConfigError, match="these runs have no tables"):
                chart()
    again = shortflow(*narrow, "--tables").stderr
    assert "4 runs in store: stored without tables, so done again" in again
    assert "0 reused" in again
    assert len(list((tmp_path / "store" / "runs").iterdir())) == 4
    stored = api.read_store(tmp_path / "store")
    assert set(stored.flows.join(stored.to_frame(), on="run")["load"]) == {0.2, 0.4}
    assert "4 reused" in shortflow(*narrow).stderr, "a run with tables is a run"
    shortflow(*SWEEP[:4], "--grid", "load=0.6", "--seeds", "1", "--out", "store")
    assert api.read_store(tmp_path / "store").flows.equals(stored.flows)
    assert "store: 2 runs have no tables" in caplog.text


@pytest.mark.parametrize("more", [(), ("--tables",)])
def test_two_processes_share_the_runs_of_one_sweep(small: Tables, tmp_path: Path, more: tuple[str, ...]) -> None:
    (tmp_path / "small.toml").write_text(tomli_w.dumps({**small, "duration": "500ms"}), encoding="utf-8")
    command = [sys.executable, "-m", "shortflow", *SWEEP, "--json", "--jobs", "1", *more]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": tmp_path}
    with started(command, **pipes) as one, started(command, **pipes) as other:
        answers = [process.communicate() for process in (one, other)]
    assert [one.returncode, other.returncode] == [ExitCode.FINE, ExitCode.FINE], answers
    assert answers[0][0] == answers[1][0]
    reused = [int(re.search(r"(\d+) reused", errors)[1]) for _, errors in answers]  # type: ignore[index]
    assert min(reused) > 0
    assert sum(reused) >= RUNS - 2, "a lost claim costs a run twice"
    table = api.read_store(tmp_path / "store").to_frame()
    assert table.filter(~pl.col("superseded")).height == RUNS


def test_a_run_log_has_its_name_only_from_when_it_is_locked(small: Tables, tmp_path: Path, monkeypatch: Patch) -> None:
    (run,) = plan(load_scenario(small), ["tcp"], [1])
    seen: list[Path] = []
    lock = fcntl.flock

    def flock(file: int, option: int) -> None:
        seen.extend((tmp_path / "run-logs").glob("*.jsonl"))
        lock(file, option)

    (tmp_path / "run-logs").mkdir()
    (tmp_path / "run-logs" / ".partial@killed").touch()
    store = Store(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", flock)
        assert store.claim(run)
    assert not seen, "another process would take it for that of a dead one"
    (log,) = (tmp_path / "run-logs").iterdir()
    Store(tmp_path)
    assert log.exists()


def test_a_directory_of_run_logs_may_vanish_while_one_is_made(
    small: Tables, tmp_path: Path, monkeypatch: Patch
) -> None:
    (run,) = plan(load_scenario(small), ["tcp"], [1])
    one, other = Store(tmp_path), Store(tmp_path)
    make = os.mkdir
    made: list[Any] = []

    def mkdir(*arguments: Any) -> None:
        make(*arguments)
        if not made:
            made.append(arguments)
            other.log.flush()

    with monkeypatch.context() as patch:
        patch.setattr(os, "mkdir", mkdir)
        assert one.claim(run)
    assert made


def test_a_claim_of_a_process_that_does_nothing_is_stale_after_a_minute(shortflow: Command, tmp_path: Path) -> None:
    calm = shortflow(*SWEEP[:-1], "calm", "--json")
    (log,) = (tmp_path / "calm" / "run-logs").iterdir()
    lines = [json.loads(line[9:]) for line in log.read_bytes().splitlines()]
    keys = [line["origin"]["key"] for line in lines if line["line"] == "run"]
    assert {key for line in lines if line["line"] == "claim" for key in line["keys"]} == set(keys)
    claim = {"line": "claim", "host": "elsewhere", "pid": 1, "time": time.time() - 56, "keys": keys[:2]}
    text = json.dumps(claim).encode()
    hung = tmp_path / "store" / "run-logs" / "hung.jsonl"
    hung.parent.mkdir(parents=True)
    hung.write_bytes(b"%08x %b\n" % (zlib.crc32(text), text))
    with hung.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        begun = time.monotonic()
        done = shortflow(*SWEEP, "--json")
        assert time.monotonic() - begun > 2
        assert done.document == calm.document
        assert hung.exists(), "its process may still write"
    assert shortflow(*SWEEP).code == ExitCode.FINE
    assert not hung.exists(), "nobody writes it any more"


STOPPED = """
import sys, time
from pathlib import Path
from shortflow import _core
from shortflow.runs import plan
from shortflow.scenario import load_scenario
from shortflow.simulate import simulate_run
from shortflow.store.runs import Store

first, *others = plan(load_scenario("small.toml"), ["tcp"], [1, 2, 3])
store = Store(Path("store"))
assert all(map(store.claim, (first, *others)))
store.keep(simulate_run(first, _core.Control()), tables=False)
store.keep(simulate_run(others[0], _core.Control()))
print(flush=True)
sys.stdin.readline()
store.log.flush()
print(flush=True)
time.sleep(60)
"""


def test_a_command_that_has_ended_holds_no_claim_while_its_process_lives(tmp_path: Path) -> None:
    runs = plan(load_scenario(tmp_path / "small.toml"), ["tcp"], [1, 2, 3])
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": tmp_path}
    with started([sys.executable, "-c", STOPPED], **pipes) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == b"\n"
        assert [Store(tmp_path / "store").claim(run) for run in runs] == [True, True, False]
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"\n"
        assert [Store(tmp_path / "store").claim(run) for run in runs] == [True, True, True]


def test_an_unfinished_last_line_is_not_there_and_a_damaged_one_is_named(shortflow: Command, tmp_path: Path) -> None:
    whole = shortflow(*SWEEP, "--json")
    (log,) = (tmp_path / "store" / "run-logs").iterdir()
    data = log.read_bytes()
    log.write_bytes(data[:-40])
    assert api.read_store(tmp_path / "store").to_frame().height == RUNS - 1
    assert f"found {RUNS - 1} of {RUNS} runs" in shortflow(*SWEEP).stderr
    lines = data.splitlines(keepends=True)
    number = next(place for place, line in enumerate(lines, 1) if b'"line":"run"' in line)
    lines[number - 1] = lines[number - 1].replace(b"0", b"1", 1)
    log.write_bytes(b"".join(lines))
    with pytest.raises(DamagedResult, match=rf"line {number}: damaged.*its checksum is wrong; remove the line"):
        api.read_store(tmp_path / "store").to_frame()
    report = shortflow("report", "store", code=ExitCode.CLAIM_FAILED)
    assert f"{RUNS - 1} runs\nleft out: store/run-logs/{log.name}, line {number}: damaged" in report.stderr
    again = shortflow(*SWEEP, "--json")
    assert f"line {number}: damaged" in again.stderr
    assert again.document == whole.document


def test_an_unreadable_log_hides_no_other_run(small: Tables, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (run,) = plan(load_scenario(small), ["tcp"], [1])
    one, other = Store(tmp_path), Store(tmp_path)
    one.keep(simulate_run(run, Control()), tables=False)
    (tmp_path / "run-logs" / "zzz.jsonl").mkdir()
    for _ in range(2):
        other.look()
        assert other.find(run, tables=False)
    assert Store(tmp_path).find(run, tables=False)
    assert "zzz.jsonl: damaged: Is a directory; move it away; it is run again" in caplog.text
    with pytest.raises(DamagedResult, match=r"zzz\.jsonl: damaged: Is a directory; move it away, and the same command"):
        api.read_store(tmp_path)


def test_a_full_disk_loses_nothing_that_was_finished(shortflow: Command, tmp_path: Path, monkeypatch: Patch) -> None:
    room, into = 12_000, os.write

    def write(file: int, data: bytes) -> int:
        nonlocal room
        if room == 0:
            room = 10**9  # later writes succeed, and must begin a new line
            raise OSError(28, "No space left on device")
        written = into(file, data[:room])
        room -= written
        return written

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        failed = shortflow(*SWEEP)
    assert failed.code == ExitCode.MISSING_REQUIREMENT
    assert ".jsonl: No space left on device; free some space there" in failed.stderr
    found = in_logs(tmp_path / "store")
    assert (0 < len(found.results) < RUNS, found.damages) == (True, [])
    assert f"found {len(found.results)} of {RUNS} runs" in shortflow(*SWEEP).stderr
    assert rows(tmp_path / "store").height == RUNS


LAW = """
import shortflow


class Fragile(shortflow.CongestionControl):
    parameters = {"g": 0.1}

    def on_ack(self, window, ack):
        if self.g > 0.25:
            raise ValueError("too much")
        super().on_ack(window, ack)
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_that_fails_is_kept_with_its_error_and_stops_none(shortflow: Command, tmp_path: Path, jobs: str) -> None:
    (tmp_path / "law.py").write_text(LAW, encoding="utf-8")
    command = ("sweep", "small.toml", "--schemes", "law.py:Fragile,tcp", "--grid", "transport.g=0.1:0.4:0.1")
    answer = shortflow(*command, "--seeds", "1", "--jobs", jobs, "--out", "store", "--json", code=ExitCode.CLAIM_FAILED)
    failed = answer.document["failed"]
    assert [each["at"]["transport.g"] for each in failed] == ["0.3", "0.4"]
    assert "Fragile: ValueError: too much (law.py:" in failed[0]["error"]
    assert "2 runs failed; the same command retries them" in answer.stderr
    table = api.read_store(tmp_path / "store").to_frame()
    assert table.filter(pl.col("error").is_not_null())["transport.g"].to_list() == [0.3, 0.4]
    assert table.filter(pl.col("error").is_null()).height == 3
    assert table.filter(pl.col("error").is_not_null())["digest"].null_count() == 2
    assert shortflow("report", "store").code == ExitCode.FINE
    page = (tmp_path / "store" / "report.html").read_text(encoding="utf-8")
    assert "2 runs failed. No number on this page includes them. The same command runs them again." in page
    for g in (0.3, 0.4):
        assert f"<li>Fragile, seed 1, transport.g = {g}: Fragile: ValueError: too much (law.py:" in page
    numbers = shortflow("report", "store", "--json").document
    failures = [(each["settings"]["transport.g"], each["scheme"]) for each in numbers["failed"]]
    assert failures == [("0.3", "Fragile"), ("0.4", "Fragile")]


def test_a_point_that_stops_at_a_failure_is_not_told_as_too_wide(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "law.py").write_text(LAW, encoding="utf-8")
    command = ("sweep", "small.toml", "--schemes", "law.py:Fragile", "--grid", "transport.g=0.1,0.4", "--out", "store")
    answer = shortflow(*command, "--until-ci", "900%", "--max-seeds", "20")
    assert "5 runs failed; the same command retries them" in answer.stderr
    assert "\nMain metrics at 1 point\n" in answer.stdout
    assert "±900 % of the mean times reached at 1 of 2 points; stopped by a failed run at 1" in answer.stderr
    again = shortflow(*command, "--until-ci", "0.1%", "--max-seeds", "11")
    assert "found" not in again.stderr, "how many there are to be is not known before"
    assert "±0.1 % of the mean times reached at 0 of 2 points; not within 11 seeds at 1; stopped" in again.stderr


@pytest.mark.parametrize(
    ("schemes", "loads", "heading", "shown"),
    [
        ([f"dctcp+g=0.{i:02}" for i in range(1, 42)], "0.2", "1 point (40 of its 41 rows)", 40),
        (["tcp", "dctcp", "ideal-srpt"], ",".join(f"0.{i}" for i in range(10, 24)), "13 of 14 points", 39),
    ],
)
def test_a_table_of_a_sweep_has_at_most_40_rows(
    shortflow: Command, schemes: list[str], loads: str, heading: str, shown: int
) -> None:
    sweep = ("sweep", "small.toml", "--schemes", ",".join(schemes), "--grid", f"load={loads}", "--seeds", "1")
    found = shortflow(*sweep, "--set", "duration=20ms", "--out", "store", code=ExitCode.FINE).stdout
    table = found.split(f"\nMain metrics at {heading}\n")[1].split("\n\n")[0]
    assert len(table.split("─\n")[1].splitlines()) == shown


def test_metrics_may_be_those_of_a_later_point() -> None:
    grid = api.Grid.parse(["load=0.1,0.2"])
    gave = make_rows(goodput_long_bps=1e8), make_rows(goodput_long_bps=1e8, afct_short_s=1e-3)
    runs = [replace(make_run("tcp", 1, "-", rows), at=at) for at, rows in zip(grid.points, gave, strict=True)]
    _, table, _ = sweep_blocks(api.Results(runs, "s", "s", keys=grid.keys, criteria=Criteria(["afct_short_s"])))
    assert isinstance(table, Section)
    assert table.columns[0].header.startswith("mean FCT")


def test_runs_of_another_build_stay_and_are_run_again(shortflow: Command, tmp_path: Path, monkeypatch: Patch) -> None:
    narrow = (*SWEEP[:4], "--grid", "load=0.2", "--seeds", "1", "--out", "mixed")
    with monkeypatch.context() as patch:
        patch.setattr("shortflow.runs.build_id", lambda: "0.0.1+old")
        shortflow(*SWEEP)
        shortflow(*narrow)
    assert "found" not in shortflow(*SWEEP).stderr
    table = api.read_store(tmp_path / "store").to_frame()
    assert table.filter(pl.col("superseded"))["build"].unique().to_list() == ["0.0.1+old"]
    assert table.height == 2 * RUNS
    shortflow(*narrow[:-4], "--seeds", "2", "--out", "mixed")
    assert api.read_store(tmp_path / "mixed").to_frame().filter(~pl.col("superseded")).height == 4


def test_metrics_of_other_code_are_neither_shown_nor_lost(shortflow: Command, tmp_path: Path) -> None:
    shortflow(*SWEEP)
    (log,) = (tmp_path / "store" / "run-logs").iterdir()
    kept = in_logs(tmp_path / "store")
    log.unlink()
    older = RunLog(tmp_path / "store")
    for result in kept.results:
        older.add(replace(result, record={**result.record, "measured_by": "code of yesterday"}))
    with pytest.raises(ConfigError, match="were measured by another version of Shortflow"):
        api.read_store(tmp_path / "store").to_frame()
    assert rows(tmp_path / "store").height == RUNS, "the table is as it was"
    assert "found" not in shortflow(*SWEEP).stderr
    assert api.read_store(tmp_path / "store").to_frame().filter(~pl.col("superseded")).height == RUNS


def test_what_run_logs_hold_comes_back_as_it_was(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    results = [make_result(*of) for of in itertools.product(("dctcp", "tcp"), (1, 2), ("0.2", "0.4"))]
    first: Any = results[0].record
    bounded: Any = {**first, "lower_bounds": ["afct_short_s"], "provenance": {**first["provenance"], "key": "bounded"}}
    results += [replace(results[0], record=bounded)]
    results += [api.Result.failed({**results[0].provenance, "key": "another"}, SimulationError("it went wrong"))]
    for result in results:
        log.add(result)
    kept = in_logs(tmp_path)
    assert {each.key: each.record for each in kept.results} == {each.key: each.record for each in results}
    assert [result.error_text for result in kept.results if result.error] == ["it went wrong"]
    lines = [json.loads(line[9:])["line"] for line in log.path.read_bytes().splitlines()]
    assert lines.count("part") == 2 + 2 + 1, "two loads, two schemes, one code"
    assert lines.count("run") == 9
