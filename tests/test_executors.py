"""Threads, processes and Dask workers give equal results."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import shortflow as api
from conftest import Command, Patch, Tables, started
from shortflow.errors import ConfigError, ExitCode, LostRun, MissingRequirement
from shortflow.executors import Executor, Local
from shortflow.executors.cluster import Dask, _Cluster
from shortflow.metrics.columns import TABLES
from shortflow.runs import Run, plan
from shortflow.scenario import load_scenario

LAW = """
import os
import time
import shortflow


class Halving(shortflow.CongestionControl):
    parameters = {"to": 0.5}

    def on_congestion(self, window, cause, flow):
        if cause == "ecn-echo":
            self.multiplicative_decrease(window, self.to)
        else:
            super().on_congestion(window, cause, flow)


class Deadly(Halving):
    def on_ack(self, window, ack):
        os.kill(os.getpid(), 9)


class Leaving(Halving):
    leave = staticmethod(os._exit)  # which may be another during a run

    def on_ack(self, window, ack):
        self.leave(0)


class Failing(Halving):
    wait_s = 0.0

    def on_ack(self, window, ack):
        time.sleep(self.wait_s)
        raise ValueError(f"failed as {type(self).__name__}")


class Late(Failing):
    wait_s = 1.0
"""


CLUSTER = """
import sys
import distributed

if __name__ == "__main__":
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def law(tmp_path: Path, scenario: str) -> str:
    """Path of the file with the laws, in the directory of the scenario."""
    (tmp_path / "law.py").write_text(LAW, encoding="utf-8")
    return str(tmp_path / "law.py")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a scheduler with two workers, each of which is a process with one thread."""
    pytest.importorskip("distributed")
    script = tmp_path_factory.mktemp("cluster") / "cluster.py"
    script.write_text(CLUSTER, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=script.parent,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate()


def digests(executor: Executor, runs: list[Run]) -> dict[tuple[str, int], str]:
    found = {}
    for run, outcome in executor.outcomes(runs, tables=True):
        assert not outcome.error, outcome.error_text
        origin = outcome.provenance
        assert origin["key"] == run.key
        assert origin["scenario_settings"] == run.scenario.resolved()
        assert set(outcome.tables) == set(TABLES)
        found[run.scheme.name, run.seed] = origin["digest"]
    return found


@pytest.fixture
def runs(small: Tables, tmp_path: Path, law: str) -> list[Run]:
    """Runs of a built-in scheme and of a law in Python, with sizes from a file and a changed setting."""
    (tmp_path / "sizes.csv").write_text("bytes,cumulative\n2000,0.5\n30000,1\n", encoding="utf-8")
    traffic: Any = small["traffic"]
    traffic[1]["sizes"] = {"kind": "cdf", "file": "sizes.csv"}
    scenario = load_scenario(small, {"load": 0.3}, directory=tmp_path)
    return plan(scenario, ["dctcp", "l2dct+w_max=1", f"{law}:Halving"], [1, 2], {"transport.to": 0.6})


def test_processes_give_what_a_thread_gives(runs: list[Run]) -> None:
    alone, many = digests(Local(1), runs), digests(Local(2), runs)
    assert alone == many
    assert len(set(alone.values())) == 6


def test_a_dask_cluster_gives_what_this_process_gives(runs: list[Run], tmp_path: Path, cluster: str) -> None:
    """The file of sizes is sent with the runs. After the first run, the file does not exist anywhere else."""
    expected = digests(Local(1), runs)
    found = {}
    with closing(Dask(cluster).outcomes(iter(runs))) as outcomes:
        for run, result in outcomes:
            (tmp_path / "sizes.csv").unlink(missing_ok=True)
            assert not result.error, result.error_text
            found[run.scheme.name, run.seed] = result.digest
    assert found == expected


class Told:
    """A client that records its calls."""

    status = "running"

    def __init__(self) -> None:
        self.files: list[Mapping[str, tuple[str, bytes]]] = []
        self.names: list[str] = []

    def submit(self, _: object, *given: Any, key: str = "", **__: object) -> str:
        self.names.append(key) if key else self.files.append(given[0])
        return f"future {len(self.files)}"


def test_files_are_shared_by_the_key_that_names_them(small: Tables, tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text("bytes,cumulative\n2000,0.5\n30000,1\n", encoding="utf-8")
    first: Any = small["traffic"]
    sized = {**first[1], "sizes": {"kind": "cdf", "file": "sizes.csv"}}
    client = Told()
    session = _Cluster(client, "tcp://there", False)
    for traffic in ([first[0], sized, first[1]], [first[0], first[1], sized], [first[0], sized, first[1]]):
        (run,) = plan(load_scenario({**small, "traffic": traffic}, directory=tmp_path), ["dctcp"], [1])
        session.submit(run)
    assert [list(files) for files in client.files] == [["traffic.2.sizes.file"], ["traffic.3.sizes.file"]]


def test_no_two_commands_have_a_run_in_common_that_one_could_cancel(small: Tables) -> None:
    client = Told()
    for run in plan(load_scenario(small), ["dctcp"], [1, 2]):
        for session in [_Cluster(client, "tcp://there", False) for _ in range(2)]:
            session.submit(run)
    assert len(set(client.names)) == 4


def test_a_tuning_is_the_same_on_a_cluster(shortflow: Command, tmp_path: Path, cluster: str) -> None:
    tune = ("tune", "small.toml", "--scheme", "l2dct", "--param", "transport.w_max=1:5", "--minimize", "afct_short_s")
    quick = ("--trials", "8", "--seeds", "3", "--check-seeds", "2", "--check-on", "none", "--json")
    here = shortflow(*tune, *quick, "--out", "here", "--jobs", "1")
    there = shortflow(*tune, *quick, "--out", "there", "--dask", cluster)
    assert there.document == here.document, there.stderr
    assert (tmp_path / "there" / "tuning.json").read_bytes() == (tmp_path / "here" / "tuning.json").read_bytes()


def test_a_lost_worker_changes_no_result(small: Tables, tmp_path: Path, cluster: str) -> None:
    distributed = pytest.importorskip("distributed")
    scenario = load_scenario({**small, "duration": "400ms"})
    runs = plan(scenario, ["dctcp", "tcp"], list(range(1, 21)))
    expected = {
        (run.scheme.name, run.seed): api.run(scenario, run.scheme.name, run.seed).provenance["digest"] for run in runs
    }
    with closing(distributed.Client(cluster, set_as_default=False)) as client:
        victim = next(iter(client.run(os.getpid).values()))
    found: dict[tuple[str, int], str] = {}
    for run, outcome in Dask(cluster).outcomes(runs):
        if len(found) == 5:
            os.kill(victim, signal.SIGKILL)
        assert not outcome.error, outcome.error_text
        found[run.scheme.name, run.seed] = outcome.digest
    assert found == expected


def test_workers_of_another_build_are_refused(small: Tables, cluster: str, monkeypatch: Patch) -> None:
    runs = plan(load_scenario(small), ["dctcp"], [1])
    monkeypatch.setattr("shortflow.executors.task.build_id", lambda: "9.9.9+mine")
    with pytest.raises(MissingRequirement, match=r"worker tcp://\S+ has Shortflow \d.*, expected 9\.9\.9\+mine"):
        list(Dask(cluster).outcomes(runs))
    # A worker that joins later is checked when it gets its first run.
    monkeypatch.setattr("shortflow.executors.cluster._check_workers", lambda *_: None)
    with pytest.raises(MissingRequirement, match=r"worker tcp://\S+ has Shortflow \d.*, and not 9\.9\.9\+mine"):
        list(Dask(cluster).outcomes(runs))


def test_a_law_that_a_worker_does_not_have_is_an_error_of_that_run(small: Tables, law: str, cluster: str) -> None:
    runs = plan(load_scenario(small), ["dctcp", f"{law}:Halving"], [1])
    Path(law).unlink()
    outcomes = {run.scheme.name: outcome for run, outcome in Dask(cluster).outcomes(runs)}
    assert not outcomes["dctcp"].error
    failed = outcomes["Halving"]
    assert isinstance(failed.error, ConfigError)
    assert "there is no file" in failed.error_text


@pytest.mark.parametrize(
    ("address", "code", "wanted"),
    [
        ("tcp://127.0.0.1:9", ExitCode.MISSING_REQUIREMENT, "--dask tcp://127.0.0.1:9: no scheduler answers there"),
        ("foo", ExitCode.WRONG_INPUT, "--dask foo: not an address such as tcp://10.0.0.1:8786 (missing port"),
        ("nonsense://x", ExitCode.WRONG_INPUT, "--dask nonsense://x: not an address such as tcp://10.0.0.1:8786"),
    ],
)
def test_a_scheduler_that_is_not_there_is_a_clear_error(
    shortflow: Command, monkeypatch: Patch, address: str, code: ExitCode, wanted: str
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.delattr(distributed, "Client")  # a client that cannot connect would continue after its error
    monkeypatch.setattr("shortflow.executors.cluster._PATIENCE_S", 1)
    for command in (
        ("compare", "incast", "--schemes", "tcp,dctcp"),
        ("search", "incast", "--key", "servers=10:20", "--condition", "drops==0"),
        ("sweep", "incast", "--schemes", "tcp", "--grid", "switch.mark_above=5pkt,9pkt", "--out", "store"),
        ("reproduce", "pecn/fig6"),
        ("survey", "fast"),
    ):
        answer = shortflow(*command, "--dask", address, code=code)
        assert wanted in answer.stderr
        assert "Traceback" not in answer.stderr


def test_a_process_that_dies_is_tried_again_and_then_an_error(small: Tables, law: str) -> None:
    runs = plan(load_scenario(small), [f"{law}:{name}" for name in ("Deadly", "Halving", "Leaving")], [1])
    outcomes = {run.scheme.name: outcome for run, outcome in Local(2).outcomes(runs)}
    assert not outcomes["Halving"].error
    failed = outcomes["Deadly"]
    assert isinstance(failed.error, LostRun)
    assert not failed.is_final
    assert failed.error_text == "its process died 3 times, of signal 9; is there too little memory?"
    left = "Leaving: the law ended its process with exit code 0; raise an error in place of os._exit"
    assert (outcomes["Leaving"].error_text, outcomes["Leaving"].is_final) == (left, True)


def test_a_process_that_cannot_start_is_no_fault_of_the_law(
    small: Tables, law: str, tmp_path: Path, monkeypatch: Patch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "shortflow.py").write_text("raise ImportError('a broken installation')", encoding="utf-8")
    runs = plan(load_scenario(small), [f"{law}:Halving"], [1, 2])
    monkeypatch.syspath_prepend(str(tmp_path / "broken"))
    for _, failed in Local(2).outcomes(runs):
        assert isinstance(failed.error, LostRun)
        assert failed.error_text == "its process ended with exit code 1 before the run began; an error above says why"
    assert "a broken installation" in capfd.readouterr().err


def test_a_killed_process_loses_no_run(small: Tables, law: str) -> None:
    def workers() -> list[str]:
        children = [pid for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()]
        return [pid for pid in children if b"executors.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def kill_the_first() -> None:
        while not (found := workers()):
            time.sleep(0.01)
        os.kill(int(found[0]), signal.SIGKILL)

    runs = plan(load_scenario(small), [f"{law}:Halving"], list(range(1, 7)))
    expected = digests(Local(1), runs)
    killer = threading.Thread(target=kill_the_first)
    killer.start()
    assert digests(Local(2), runs) == expected
    killer.join()


@pytest.mark.parametrize("jobs", ["1", "2", "4"])
def test_of_several_errors_that_of_the_first_run_is_raised(shortflow: Command, tmp_path: Path, jobs: str) -> None:
    several = ("--schemes", "tcp,law.py:Late,law.py:Failing,dctcp", "--seeds", "1", "--jobs", jobs)
    answer = shortflow("compare", "small.toml", *several, "--out", "kept")
    assert answer.code not in (0, 1)
    assert "failed as Late" in answer.stderr
    assert "failed as Failing" not in answer.stderr
    assert any("tcp" in place.name for place in (tmp_path / "kept" / "runs").iterdir()), "what was done is kept"


def test_closing_the_outcomes_stops_what_is_at_work(small: Tables) -> None:
    runs = plan(load_scenario({**small, "duration": "1000s"}), ["dctcp"], [1, 2, 3])
    quick = plan(load_scenario(small), ["dctcp"], [1])
    begin = time.monotonic()
    with closing(Local(2).outcomes([*quick, *runs])) as outcomes:
        assert next(outcomes)[0] is quick[0]
    assert time.monotonic() - begin < 30


def test_a_scheduler_without_workers_or_gone_is_an_error(small: Tables, tmp_path: Path, monkeypatch: Patch) -> None:
    pytest.importorskip("distributed")
    about, quiet = tmp_path / "scheduler.json", {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "dask"]
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(about)]
    runs = plan(load_scenario({**small, "duration": "1s"}), ["dctcp"], list(range(1, 41)))
    with started([*dask, "scheduler", *options], cwd=tmp_path, **quiet) as scheduler:
        while not about.exists() or not about.read_text(encoding="utf-8"):
            assert scheduler.poll() is None
            time.sleep(0.05)
        executor = Dask(json.loads(about.read_text(encoding="utf-8"))["address"])
        with monkeypatch.context() as patch:
            patch.setattr("shortflow.executors.cluster._PATIENCE_S", 2)
            with pytest.raises(MissingRequirement, match="the scheduler has no workers"):
                list(executor.outcomes(runs))
        monkeypatch.setattr("shortflow.executors.cluster._PATIENCE_S", 60)
        worker = ["worker", executor.address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        with started([*dask, *worker], cwd=tmp_path, **quiet), closing(executor.outcomes(runs)) as outcomes:
            assert not next(outcomes)[1].error
            scheduler.kill()
            with pytest.raises(MissingRequirement, match="the scheduler is gone"):
                list(outcomes)
