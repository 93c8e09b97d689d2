"""Output and files of the commands: JSON for programs, equal for any number of jobs, and never partial."""

import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from conftest import Answer, Command, Patch, Tables
from made import star
from shortflow.commands import bench
from shortflow.store.runs import load_run

SHORT = ("--set", "duration=100ms", "--set", "warmup=10ms")


def test_means_over_ports_that_nobody_named_say_so(shortflow: Command, small: dict[str, Any], tmp_path: Path) -> None:
    """Queries also go to the workers, so all switch ports are measured unless the scenario names ports."""
    note = "queues and link use are means over all 5 switch ports, because traffic goes to several hosts; choose ports"
    queries = {"kind": "queries", "workers": 3, "to": 4, "sizes": {"kind": "fixed", "value": "2KB"}}
    named = {"sample_every": "1ms", "ports": ["s0->h4"]}
    several = {**small, "traffic": [*small["traffic"], queries]}
    for scenario, is_told in ((small, False), (several, True), ({**several, "measure": named}, False)):
        (tmp_path / "queues.toml").write_text(tomli_w.dumps(scenario), encoding="utf-8")
        for command in (
            ("run", "queues.toml", "--scheme", "dctcp"),
            ("sweep", "queues.toml", "--schemes", "dctcp", "--grid", "load=0.2,0.4", "--seeds", "1", "--out", "kept"),
        ):
            assert shortflow(*command, code=0).stderr.count(note) == is_told


def test_a_directory_may_have_brackets_in_its_name(shortflow: Command, scenario: str, tmp_path: Path) -> None:
    for name, seed in (("kept1", "1"), ("kept[1]", "2")):
        assert shortflow("run", scenario, "--seed", seed, "--out", name).code == 0
    assert load_run(tmp_path / "kept[1]").flows["seed"].unique().to_list() == [2]
    shutil.rmtree(tmp_path / "kept1")
    shortflow("report", "kept[1]", code=0)


def test_a_changed_trace_is_a_changed_scenario(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "trace.toml").write_text(tomli_w.dumps(star([{"kind": "trace", "file": "flows.csv"}], 3)))
    for size in ("1000", "200000"):
        (tmp_path / "flows.csv").write_text(f"start,source,destination,bytes\n0,0,2,{size}\n")
        answer = shortflow("compare", "trace.toml", "--schemes", "dctcp", "--seeds", "1", "--out", "kept", "--json")
        assert "0 reused" in answer.stderr, answer.stderr
    assert answer.document["schemes"]["dctcp"]["metrics"]["flows_short"]["mean"] == 1


def test_it_is_said_where_hosts_decide(shortflow: Command, small: Tables, tmp_path: Path) -> None:
    """A long flow fills its host's queue, in which messages wait; flows come from two hosts. A store says so, too."""
    long: dict[str, object] = {"kind": "long-lived", "to": 4}
    messages = {"kind": "poisson", "sizes": {"kind": "fixed", "value": "1KB"}, "load": 0.01, "from": 3, "to": 4}
    pair = {**long, "flows": 2, "from": "0-1", "stagger": "20ms"}
    late = {**pair, "stagger": "150ms"}  # the second starts in the measured time
    long = {**long, "flows": 1, "from": 3}
    times = {"duration": "500ms", "warmup": "100ms", "parameters": {}}
    for name, traffic in {"own": [long, messages], "pair": [pair], "late": [late]}.items():
        (tmp_path / f"{name}.toml").write_text(tomli_w.dumps({**small, **times, "traffic": traffic}), encoding="utf-8")
    own = ("compare", "own.toml", "--schemes", "tcp,dctcp", "--seeds", "1", "--no-ideal", "--out", "kept")
    said = shortflow(*own, "--set", "host.model=fifo").stderr
    assert re.search(r"h3 holds up to \d{3,} packets, where small queues would hold \d+ \(simultaneous flows", said), (
        said
    )
    assert re.search(r"packets of short flows wait in the port of their own host for \d+ % of the mean", said), said
    assert "set host.model=linux to prevent this" in said
    assert "holds up to" in shortflow(*own, "--set", "host.model=fifo").stderr, "read back"
    for scheme, phase in (("dctcp", False), ("tcp", True)):
        for each in ("own.toml", "pair.toml", "late.toml"):
            said = shortflow("run", each, "--scheme", scheme).stderr
            assert "holds up to" not in said
            assert "in the port of their own host" not in said
            assert "the capacity of its path" not in said
            assert ("phase may decide" in said) == (phase and each != "own.toml"), said
    assert "phase may decide" not in shortflow("run", "pair.toml", "--scheme", "tcp", "--set", "host.jitter=6us").stderr


def test_bench_compares_with_the_floor(shortflow: Command, monkeypatch: Patch) -> None:
    case = bench.Case("S1", "short", "bench-star", {"duration": "50ms"}, 1)
    monkeypatch.setattr(bench, "CASES", (case,))
    document = shortflow("bench", "--cases", "S1", "--schemes", "dctcp,dctcp+g=0.25", "--json").document
    assert [row["scheme"] for row in document["rows"]] == ["dctcp", "dctcp+g=0.25"]
    for row in document["rows"]:
        assert row["over_floor"] > 1
        assert row["packet_hops"] > 10_000
        assert row["peak_rss_bytes"] > 10_000_000
    assert 0.01 < document["start_up"]["cpu_s"] < 60
    assert '"S1x": unknown case in --cases; did you mean "S1"?' in shortflow("bench", "--cases", "S1x", code=2).stderr


def test_a_class_and_a_bin_without_flows_in_a_seed_count_nothing_there(shortflow: Command, tmp_path: Path) -> None:
    """Two classes are so rare that some seeds do not have them. The sizes of one class are in two bins."""
    path = tmp_path / "rare.toml"
    rare = {"kind": "poisson", "class": "rare", "from": 0, "to": 3, "rate_per_s": 60}
    rare["sizes"] = {"kind": "uniform", "min": "2KB", "max": "18KB"}
    never = {**rare, "class": "never", "from": 1, "rate_per_s": 1e-9, "sizes": {"kind": "fixed", "value": "20KB"}}
    path.write_text(tomli_w.dumps(star([rare, never], 4, duration="20ms", warmup="5ms")))
    answer = shortflow("compare", str(path), "--schemes", "dctcp", "--seeds", "8", "--no-ideal", "--json", "--out", "k")
    metrics = answer.document["schemes"]["dctcp"]["metrics"]
    runs = pl.read_parquet(tmp_path / "k/runs.parquet")
    counts = {name: runs[name].to_list() for name in ("flows_rare", "flows_rare_upto_10kb", "flows_rare_100kb")}
    assert [a + b for a, b in zip(counts["flows_rare_upto_10kb"], counts["flows_rare_100kb"], strict=True)] == counts[
        "flows_rare"
    ]
    for name, of_runs in counts.items():
        having = sum(count > 0 for count in of_runs)
        assert 0 < having < 8, "otherwise it tests nothing"
        assert (metrics[name]["mean"], metrics[name]["n"]) == (sum(of_runs) / 8, 8)
        assert metrics[f"{name.replace('flows', 'afct')}_s"]["n"] == having
    assert metrics["flows_never"]["mean"] == 0

    def chosen(name: str) -> Answer:
        return shortflow("compare", str(path), "--schemes", "dctcp", "--seeds", "8", "--out", "k", "--metrics", name)

    assert chosen("flows_never").code == 0
    for name, wanted in {
        "afct_never_s": "no never flow was counted, as none started in the measured time of any run",
        "p99_rare_1mb_s": "no rare flow of 100 KB–1 MB was counted, as none started in the measured time of any "
        "run; more seeds or a longer `duration` may have one if the scenario has such sizes",
        "p99_over_1mb_s": "no finite flow of > 1 MB was counted",
        "queue_p99_pkt": "no run here has this metric",
    }.items():
        answer = chosen(name)
        assert answer.code == 0
        assert wanted in answer.stderr


def test_unfinished_flows_are_counted_alike_in_every_place(shortflow: Command, scenario: str, tmp_path: Path) -> None:
    """Without a drain, the last flows do not finish. An unfinished flow of the warm-up does not count."""
    early = {"kind": "incast", "class": "early", "flows": 1, "sizes": {"kind": "fixed", "value": "80MB"}}
    with (tmp_path / scenario).open("a", encoding="utf-8") as file:
        file.write(tomli_w.dumps({"traffic": [{**early, "from": 0, "to": 4, "at": "0s", "unmeasured": True}]}))
    answer = shortflow("run", scenario, "--scheme", "dctcp", "--set", "drain=0s", "--out", "kept")
    flows = pl.read_parquet(tmp_path / "kept/flows.parquet").filter(pl.col("size_bytes").is_not_null())
    left = flows.filter(pl.col("fct_s").is_null())
    counted = left.filter(pl.col("start_s") >= 0.01)
    assert 0 < counted.height < left.height, "otherwise it tests nothing"
    assert f"Unfinished flows: dctcp {counted.height} of " in answer.stderr
    assert re.search(rf"unfinished flows +{counted.height} ", answer.stdout)
    every = flows.filter(pl.col("start_s") >= 0.01).height
    assert shortflow("report", "kept").code == 0
    assert f"Unfinished flows: dctcp {counted.height} of {every}." in (tmp_path / "kept/report.html").read_text("utf-8")


def test_no_control_character_of_a_user_reaches_the_terminal(shortflow: Command, tmp_path: Path, small: Tables) -> None:
    evil = "\x1b[2J\x07\x9b31m"
    (tmp_path / "small.toml").write_text(tomli_w.dumps(small))
    (tmp_path / "titled.toml").write_text(tomli_w.dumps({**small, "title": f"t{evil}"}))
    scheme = {"name": f"s{evil}", "transport": "newreno", "queue": "droptail"}
    (tmp_path / "own.toml").write_text(tomli_w.dumps({"scheme": [scheme]}))
    answers = [
        shortflow("show", "titled.toml"),
        shortflow("run", "small.toml", "--scheme", f"own.toml:s{evil}"),
        shortflow("compare", "small.toml", "--schemes", "tcp,dctcp", "--seeds", "2", "--out", f"o{evil}"),
        shortflow("run", f"no{evil}.toml"),
        shortflow("run", "small.toml", "--set", f"title={evil}", "--set", f"x{evil}=1"),
    ]
    assert [answer.code for answer in answers] == [2, 2, 0, 2, 2], answers
    told = "".join(answer.stdout + answer.stderr for answer in answers)
    assert not set(told) & set(evil) - set("[2J31m"), told
