"""A result directory exists complete or not at all, even if writing it is interrupted."""

import dataclasses
import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w

import shortflow as sf
from conftest import Command, Patch, Tables, started
from made import make_flows, make_meta, make_result, sure, with_tables
from shortflow import _core
from shortflow.errors import ConfigError, DamagedResult, ExitCode
from shortflow.front.shell import run_command as execute_command
from shortflow.metrics.columns import TABLES
from shortflow.runs import plan
from shortflow.scenario import load_scenario
from shortflow.simulate import simulate_run
from shortflow.store.directories import loaded, place_of, write_burst, write_run
from shortflow.store.files import Kind, new_directory, new_file, read_json_file, write_text
from shortflow.store.frames import completion
from shortflow.store.run_logs import RunLog
from shortflow.store.runs import Store, load_run, save, select_runs


def everything_below(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


def test_a_result_comes_back_as_it_was(tmp_path: Path) -> None:
    result = make_result()
    write_run(result, tmp_path / "run", csv=True)
    assert pl.read_csv(tmp_path / "run" / "flows.csv").height == result.flows.height
    back = load_run(tmp_path / "run")
    shutil.rmtree(tmp_path / "run")  # the tables are in memory
    assert back.flows.equals(result.flows)
    assert back.samples.equals(result.samples)
    assert back.ports.equals(result.ports)
    assert (back.meta, back.provenance, back.metrics) == (result.meta, result.provenance, result.metrics)


def test_the_events_of_a_burst_come_back_unless_they_are_damaged(tmp_path: Path) -> None:
    events = pl.DataFrame({"at_s": [0.5, 0.7]})
    write_run(with_tables(make_result(), burst=events), tmp_path / "run")
    write_run(make_result(), tmp_path / "later")
    write_burst(tmp_path / "later", events)
    for name in ("run", "later"):
        back = load_run(tmp_path / name)
        assert [pl.DataFrame(each.tables["burst"]).equals(events) for each in (back, loaded(back))] == [True, True]
    path = tmp_path / "run" / "burst.parquet"
    path.write_bytes(path.read_bytes()[:-1])
    assert "burst" not in load_run(tmp_path / "run").tables


def test_every_damaged_run_is_named_at_once(tmp_path: Path) -> None:
    for seed, name in enumerate(("a", "b", "c"), 1):
        write_run(make_result(seed=seed), tmp_path / name)
    for name in "ab":
        (tmp_path / name / "result.json").write_text("{")
    with pytest.raises(DamagedResult, match=rf"a/result\.json: damaged.*\n{tmp_path}/b/result\.json: damaged"):
        select_runs(tmp_path)
    damages: list[str] = []
    assert len(select_runs(tmp_path, damages=damages).current) == 1
    assert len(damages) == 2
    (tmp_path / "b" / "result.json").unlink()
    (tmp_path / "b" / "result.json").mkdir()
    with pytest.raises(DamagedResult, match=r"b/result\.json: damaged: Is a directory"):
        load_run(tmp_path / "b")


def test_damaged_logs_of_all_stores_below_are_named(tmp_path: Path) -> None:
    for name in "ab":
        save([make_result()], tmp_path / name)
        (log,) = (tmp_path / name / "run-logs").iterdir()
        log.write_bytes(log.read_bytes().replace(b"0", b"1", 1))
    with pytest.raises(DamagedResult, match=r"a/run-logs/.* line 1: damaged.*\n.*b/run-logs/.* line 1: damaged"):
        select_runs(tmp_path)


def test_a_claim_is_renewed_with_its_runs(small: Tables, tmp_path: Path, monkeypatch: Patch) -> None:
    one, other = plan(load_scenario(small), ["tcp"], [1, 2])
    store = Store(tmp_path)

    def claims() -> list[tuple[set[str], float]]:
        lines = [json.loads(line[9:]) for line in store.log.path.read_bytes().splitlines()]
        return [({*line["keys"]}, line["time"]) for line in lines if line["line"] == "claim"]

    assert store.claim(one)
    assert store.claim(other)
    store.log.renew()
    assert len(claims()) == 2, "both claims are new"
    monkeypatch.setattr("shortflow.store.run_logs._RENEW_S", -1.0)
    store.log.renew()
    *_, (_, before), (keys, after) = claims()
    assert (keys, after >= before) == ({one.key, other.key}, True)
    store.log.path.unlink()  # another process has swept it
    store.log.flush()


@pytest.mark.parametrize(("later_s", "is_ours"), [(-1.0, False), (1.0, True)])
def test_of_two_claims_at_once_the_earlier_counts(
    small: Tables, tmp_path: Path, monkeypatch: Patch, later_s: float, is_ours: bool
) -> None:
    """Another process claims the run after this process has asked for claims, and before it looks again."""
    (run,), store, look = plan(load_scenario(small), ["tcp"], [1]), Store(tmp_path), Store.look
    rival = tmp_path / "run-logs" / "rival.jsonl"
    rival.parent.mkdir(exist_ok=True)

    def look_later(found: Store) -> None:
        claim = {"line": "claim", "host": "elsewhere", "pid": 1, "time": time.time() + later_s, "keys": [run.key]}
        text = json.dumps(claim).encode()
        rival.write_bytes(b"%08x %b\n" % (zlib.crc32(text), text))
        look(found)

    with rival.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # the other process lives
        monkeypatch.setattr(Store, "look", look_later)
        assert store.claim(run) is is_ours


def test_a_store_does_not_take_the_runs_of_stores_below_it(tmp_path: Path) -> None:
    (run,) = plan(load_scenario("incast"), ["dctcp"], [1], {"traffic.1.repeat": 1, "duration": "10ms"})
    result = simulate_run(run, _core.Control())
    Store(tmp_path / "reproduction").keep(result)
    assert places(tmp_path) == {tmp_path / "reproduction" / "runs"}
    Store(tmp_path).keep(result)
    write_run(result, tmp_path / "alone")
    assert places(tmp_path) == {tmp_path, tmp_path / "runs"}


def test_a_store_whose_records_are_gone_says_so(tmp_path: Path) -> None:
    (run,) = plan(load_scenario("incast"), ["dctcp"], [1], {"traffic.1.repeat": 1, "duration": "10ms"})
    save([simulate_run(run, _core.Control())], tmp_path)
    shutil.rmtree(tmp_path / "run-logs")
    with pytest.raises(ConfigError, match=r"run-logs, are missing; restore them, or .* metrics are still in "):
        select_runs(tmp_path)
    (tmp_path / "runs.parquet").unlink()
    with pytest.raises(
        ConfigError, match=r"run-logs, are missing; restore them, or repeat the command that made the store$"
    ):
        select_runs(tmp_path)
    shutil.rmtree(tmp_path / "runs")
    with pytest.raises(ConfigError, match="holds no results"):
        select_runs(tmp_path)


def places(directory: Path) -> set[Path]:
    """Parent directories of all readable runs' directories."""
    selection = select_runs(directory)
    return {place_of(result).parent for result in [*selection.current, *selection.superseded]}


def test_metrics_are_kept_until_other_code_measures(tmp_path: Path) -> None:
    (run,) = plan(load_scenario("incast"), ["dctcp"], [1], {"traffic.1.repeat": 1, "duration": "10ms"})
    result = simulate_run(run, _core.Control())
    store = Store(tmp_path)
    assert store.find(run) is None
    kept = store.keep(result)
    log = RunLog(tmp_path)
    metrics = {**result.metrics, "drops": 12345.0}
    log.add(dataclasses.replace(kept, record={**kept.record, "metrics": metrics}))
    found = sure(Store(tmp_path).find(run))
    assert found.metrics["drops"] == load_run(place_of(found)).metrics["drops"] == 12345.0
    log.add(dataclasses.replace(kept, record={**kept.record, "metrics": metrics, "measured_by": "code of yesterday"}))
    assert load_run(place_of(found)).metrics == result.metrics
    renewed = [sure(Store(tmp_path).find(run)), *Store(tmp_path).results()]
    assert [each.metrics for each in renewed] == [result.metrics] * 2


OURS = '<!doctype html><meta name="generator" content="Shortflow">'


def test_nothing_else_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(ConfigError, match="no result of an earlier run"):
        write_run(make_result(), tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "precious"
    write_run(make_result(), tmp_path / "run", csv=True)
    write_run(make_result(), tmp_path / "run")
    write_text(tmp_path / "run" / "page.html", OURS, Kind.PAGE)
    (tmp_path / "run" / "trace.parquet").write_bytes(b"PAR1 cwnd_seg PAR1")
    (tmp_path / "run" / "packets.pcapng").write_bytes(b"\n\r\r\n" + bytes(24) + b"shortflow 0.3.0")
    write_run(make_result(), tmp_path / "run")
    (tmp_path / "file").write_text("precious")
    with pytest.raises(ConfigError, match="file: exists and is no result of an earlier run"):
        write_run(make_result(), tmp_path / "file")
    (tmp_path / "run" / "thesis.txt").write_text("precious")
    with pytest.raises(ConfigError, match=r"run: holds thesis\.txt, which is no output of a run"):
        write_run(make_result(), tmp_path / "run")
    assert (tmp_path / "run" / "thesis.txt").read_text() == "precious"


def test_a_failure_while_writing_leaves_what_was_there_before(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    write_run(make_result(seed=1), tmp_path / "run")
    write_text(page, OURS, Kind.PAGE)
    before = everything_below(tmp_path)

    def in_a_directory() -> None:
        with new_directory(tmp_path / "run") as directory:
            (directory / "flows.parquet").write_text("half")
            raise KeyboardInterrupt

    def in_a_file() -> None:
        with new_file(page, Kind.PAGE) as partial:
            partial.write_text("half")
            raise KeyboardInterrupt

    for fail in (in_a_directory, in_a_file):
        with pytest.raises(KeyboardInterrupt):
            fail()
    assert everything_below(tmp_path) == before
    assert load_run(tmp_path / "run").provenance["seed"] == 1
    assert page.read_text() == OURS


def test_a_file_that_is_a_link_or_a_pipe_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link.html").symlink_to("page.html")
    write_text(tmp_path / "link.html", "page", Kind.PAGE)
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "page.html").read_text() == "page"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_text(tmp_path / "pipe", "page", Kind.PAGE)
    assert os.read(reader, 100) == b"page"
    os.close(reader)
    with pytest.raises(OSError, match=r"this pipe has no reader: .*pipe") as refused:
        write_text(tmp_path / "pipe", "page", Kind.PAGE)
    assert refused.value.errno == errno.ENXIO


KILLED = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from shortflow.store.files import new_directory
with new_directory(Path(sys.argv[1]) / "runs" / "victim") as directory:
    (directory / "result.json").write_text("{}")
    print("writing", flush=True)
    time.sleep(60)
"""


def test_a_process_killed_while_writing_leaves_no_result_and_its_leftovers_are_swept(tmp_path: Path) -> None:
    with started([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "runs" / "victim").exists()
    assert len(everything_below(tmp_path / "runs")) == 2  # the hidden directory and the file in it
    (tmp_path / "runs" / ".partial@here@abc@x").mkdir()
    (tmp_path / "runs" / ".partial@file").touch()
    with new_directory(tmp_path / "runs" / "busy") as directory:
        Store(tmp_path)
        assert list((tmp_path / "runs").iterdir()) == [directory], "what a living process writes is not swept"


@pytest.mark.parametrize("step", ["open", "flock"])
def test_what_is_swept_before_it_is_locked_is_made_again(tmp_path: Path, monkeypatch: Patch, step: str) -> None:
    """Another process may remove the hidden directory between its creation and the lock."""
    module = {"open": os, "flock": fcntl}[step]
    original, swept = getattr(module, step), list[Path]()

    def sweep_first(*arguments: Any) -> Any:
        if not swept:
            swept.extend(tmp_path.iterdir())
            swept[0].rmdir()
        return original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(module, step, sweep_first)
        with new_directory(tmp_path / "run") as directory:
            (directory / "file").write_text("whole")
    assert len(swept) == 1
    assert everything_below(tmp_path) == ["run", "run/file"]


def test_two_processes_may_remove_one_leftover(tmp_path: Path, monkeypatch: Patch) -> None:
    rmtree = shutil.rmtree

    def remove(path: Path, **options: Any) -> None:
        rmtree(path)  # the other process
        rmtree(path, **options)

    def fail() -> None:
        with new_directory(tmp_path / "run"):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", remove)
        with pytest.raises(KeyboardInterrupt):
            fail()
    assert everything_below(tmp_path) == []


def test_a_leftover_that_cannot_be_opened_stays(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / ".partial@link").symlink_to(tmp_path / "precious")
    (tmp_path / "runs" / ".partial@old").touch()
    Store(tmp_path)
    assert everything_below(tmp_path / "runs") == [".partial@link"]
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_json_file_of_another_shape_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_text('{"a": 1}')
    assert read_json_file(path, dict[str, int], "repeat the command") == {"a": 1}
    for text in ('{"a": "x"}', "{"):
        path.write_text(text)
        with pytest.raises(DamagedResult, match=r"kept\.json: damaged: .*; remove it, and repeat the command$"):
            read_json_file(path, dict[str, int], "repeat the command")
    path.unlink()
    with pytest.raises(OSError, match=r"No such file or directory: .*kept\.json"):
        read_json_file(path, dict[str, int], "repeat the command")


@pytest.mark.usefixtures("scenario")
def test_a_directory_of_another_run_is_refused(shortflow: Command) -> None:
    for seed, code in (("1", ExitCode.FINE), ("1", ExitCode.FINE), ("2", ExitCode.WRONG_INPUT)):
        answer = shortflow("run", "small.toml", "--scheme", "dctcp", "--seed", seed, "--out", "one", code=code)
    assert "--out: one holds the result of another run (small, dctcp, seed 1)" in answer.stderr


def test_a_result_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        write_run(make_result(seed=seed), tmp_path / "run", csv=seed == 1)
        assert load_run(tmp_path / "run").provenance["seed"] == seed
    of_run = ["run/result.json", *(f"run/{name}.parquet" for name in TABLES)]
    assert everything_below(tmp_path) == ["run", *sorted(of_run)]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot exchange two names")
def test_a_result_below_the_working_directory_is_replaced_in_one_step(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    write_run(make_result(seed=1), Path("a/b/run"))
    rmtree, removed = shutil.rmtree, list[str]()

    def remove(path: Path, **options: Any) -> None:
        removed.append(path.name)
        rmtree(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", remove)
        write_run(make_result(seed=2), Path("a/b/run"))
    assert load_run("a/b/run").provenance["seed"] == 2
    assert removed
    assert "run" not in removed, "readers find the earlier result or the later one"


def test_flows_that_count_have_their_age_until_they_finish() -> None:
    """The warm-up ends at 1 s, and the run at 4 s. The unfinished flow has an ideal time of 0.5 s."""
    flows = make_flows(
        [
            {"id": 0, "size_bytes": 1, "start_s": 0.5, "fct_s": 1.0, "slowdown": 1.0},
            {"id": 1, "size_bytes": 1, "start_s": 1.0, "fct_s": 1.0, "slowdown": 2.0},
            {"id": 2, "size_bytes": 1, "start_s": 2.0, "ideal_fct_s": 0.5},
            {"id": 3, "class": "long"},
        ]
    )
    found = completion(flows, make_meta()).select("id", "elapsed_s", "elapsed_slowdown", "censored")
    assert found.rows() == [(1, 1.0, 2.0, False), (2, 2.0, 4.0, True)]


def test_right_columns_of_wrong_types_are_damaged(tmp_path: Path) -> None:
    flows = make_result().flows
    for changed, wanted in (
        (flows.with_columns(pl.col("marks").cast(pl.Int64)), "marks: found Int64 in place of UInt32"),
        (flows.with_columns(source=pl.lit(None, pl.String)), "source: 3 of 3 rows have no value"),
        (flows.drop("marks", "id"), "has no id, marks, or was written by another version"),
    ):
        write_run(with_tables(make_result(), flows=changed), tmp_path / "run")
        with pytest.raises(DamagedResult, match=rf"flows\.parquet: damaged: {wanted}"):
            load_run(tmp_path / "run")


def test_numbers_that_cannot_be_are_damaged(tmp_path: Path) -> None:
    write_run(make_result(), tmp_path / "run")
    path = tmp_path / "run" / "result.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    del record["checksum"]
    good = json.dumps(record)
    for old, new, wanted in (
        ('"unfinished": 0', '"unfinished": NaN', "malformed"),
        ('"warmup_s": 1.0', '"warmup_s": 3.0', r"warmup_s = 3\.0 is not before duration_s = 3\.0"),
        ('"seed": 1,', '"seed": -1,', "seed -1 is not a whole number from 0 to 18446744073709551615"),
        ('"seed": 1,', '"seed": 18446744073709551616,', ""),
    ):
        assert old in good
        path.write_text(good.replace(old, new), encoding="utf-8")
        with pytest.raises(DamagedResult, match=rf"result\.json: damaged.*{wanted}"):
            load_run(tmp_path / "run")


@pytest.mark.usefixtures("scenario")
def test_a_full_disk_is_an_error_of_the_environment_that_names_the_place(
    small: Tables, tmp_path: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, _: bytes) -> int:
        path.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.chdir(tmp_path)
    Path("schema.json").write_text(_core.schema())
    monkeypatch.setattr(Path, "write_bytes", full)
    command = ["compare", "small.toml", "--schemes", "dctcp", "--seeds", "1", "--no-ideal", "--out", "here"]
    assert {execute_command(x) for x in (["schema", "--out", "schema.json"], command)} == {ExitCode.MISSING_REQUIREMENT}
    said = " ".join(capsys.readouterr().err.split())
    assert "here/runs/small-dctcp-seed1-" in said
    assert "No space left on device; free some space there, or name another place" in said
    assert (everything_below(tmp_path / "here"), Path("schema.json").read_text()) == (["runs"], _core.schema())


def test_names_that_are_too_long_are_refused_before_anything_runs(small: Tables, tmp_path: Path) -> None:
    path = tmp_path / f"{'n' * 240}.toml"
    path.write_text(tomli_w.dumps(small), encoding="utf-8")
    scenario = load_scenario(path)
    with pytest.raises(ConfigError, match="10 bytes too long for a directory"):
        sf.compare(scenario, ["dctcp"], seeds=[1], out=tmp_path / "out", ideal=False)
    assert set(everything_below(tmp_path / "out")) <= {"runs", "runs.parquet"}, "no run"


def test_seeds_of_any_size_have_one_type(small: Tables) -> None:
    types = {sf.run(load_scenario(small), "dctcp", seed).flows.schema["seed"] for seed in (1, 2**64 - 1)}
    assert types == {pl.UInt64()}


def test_results_can_be_read_by_whom_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_run(make_result(), tmp_path / "run")
    finally:
        os.umask(before)
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o755


def test_two_writers_of_one_place_leave_one_whole_result(tmp_path: Path) -> None:
    target = tmp_path / "run"

    def write(number: int) -> None:
        for _ in range(50):
            with new_directory(target) as directory:
                (directory / "result.json").write_text(str(number))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert (target / "result.json").read_text() in "0123"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
