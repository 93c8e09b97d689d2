"""What the commands print and keep: the JSON other programs rely on, the same at any number of jobs, and never half."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w

from conftest import Answer, Command
from shortflow import Ack, CongestionControl, Window, bench
from shortflow import compare as api_compare
from shortflow import run as api_run
from shortflow.commands.list import KINDS
from shortflow.runs import Run
from shortflow.scenario import load_scenario
from shortflow.scheme import load_schemes
from shortflow.store.runs import read_run

SHORT = ("--set", "duration=100ms", "--set", "warmup=10ms")


def test_compare_prints_one_document_in_the_promised_shape(shortflow: Command, scenario: str) -> None:
    answer = shortflow("compare", scenario, "--schemes", "tcp,dctcp,l2dct", "--seeds", "3", "--json")
    assert answer.code == 0, answer.stderr
    document = answer.document
    assert document["scenario"] == "small"
    assert document["seeds"] == [1, 2, 3]
    assert len(document["runs_digest"]) == 64
    assert list(document["schemes"]) == ["tcp", "dctcp", "l2dct"]
    for scheme in document["schemes"].values():
        metrics = scheme["metrics"]
        wanted = {"afct_short_s", "p99_short_s", "goodput_long_bps", "queue_mean_pkt", "queue_max_pkt", "utilisation"}
        assert wanted | {"timeouts", "drops", "marks", "unfinished", "retransmits"} <= set(metrics)
        assert "deadline_miss" not in metrics
        for metric in metrics.values():
            assert metric["n"] == 3
            assert metric["ci95"][0] <= metric["mean"] <= metric["ci95"][1]
    paired = document["paired"]["l2dct"]["dctcp"]["afct_short_s"]
    ours, theirs = (document["schemes"][name]["metrics"]["afct_short_s"]["mean"] for name in ("l2dct", "dctcp"))
    assert paired["relative"] == pytest.approx(ours / theirs - 1)
    assert paired["ci95"][0] <= paired["relative"] <= paired["ci95"][1]


def test_means_over_ports_that_nobody_named_say_which(
    shortflow: Command, small: dict[str, Any], tmp_path: Path
) -> None:
    """Queries go out to the workers, so all ports are measured and not that to the one receiver, unless it is named."""
    note = "queues and link use are means over all 5 switch ports, as traffic goes to several hosts; see measure.ports"
    queries = {"kind": "queries", "workers": 3, "to": 4, "sizes": {"kind": "fixed", "value": "2KB"}}
    named = {"sample_every": "1ms", "ports": ["s0->h4"]}
    several = {**small, "traffic": [*small["traffic"], queries]}
    for scenario, is_told in ((small, False), (several, True), ({**several, "measure": named}, False)):
        (tmp_path / "queues.toml").write_text(tomli_w.dumps(scenario), encoding="utf-8")
        answer = shortflow("run", "queues.toml", "--scheme", "dctcp")
        assert answer.code == 0, answer.stderr
        assert (note in answer.stderr) is is_told


def test_run_prints_one_scheme_and_nothing_paired(shortflow: Command, scenario: str) -> None:
    document = shortflow("run", scenario, "--scheme", "l2dct", "--seed", "7", "--json").document
    assert document["seeds"] == [7]
    assert list(document["schemes"]) == ["l2dct"]
    assert "paired" not in document
    assert document["schemes"]["l2dct"]["metrics"]["afct_short_s"]["ci95"] is None
    alone = api_run(load_scenario(scenario), "l2dct", 7).provenance["digest"]
    assert document["schemes"]["l2dct"]["digests"] == {"7": alone} != {"7": document["runs_digest"]}
    assert "digest" not in document, "which is a run's"


def test_a_run_on_several_cores_prints_the_same_and_says_where_it_takes_one(shortflow: Command, scenario: str) -> None:
    alone, several = (shortflow("run", scenario, "--json", *more) for more in ((), ("--cores", "2")))
    assert several.stdout == alone.stdout
    assert "cores: 1 of 2, as all hosts are at one switch" in several.stderr
    assert "cores" not in alone.stderr


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two processors")
def test_a_network_cut_in_two_prints_the_same_and_keeps_how_many_cores_it_took(
    shortflow: Command, tmp_path: Path
) -> None:
    run = ("run", "permutation-fat-tree", "--set", "duration=300us", "--set", "warmup=100us", "--json")
    alone, several = (shortflow(*run, "--cores", cores, "--out", str(tmp_path / cores)) for cores in ("1", "2"))
    assert several.stdout == alone.stdout
    assert "cores: " not in several.stderr, "which would say why it took one"
    for cores in ("1", "2"):
        (kept,) = (tmp_path / cores).rglob("result.json")
        assert json.loads(kept.read_text())["provenance"]["cores"] == int(cores)


def test_compare_shows_the_main_metrics_unless_all_are_asked_for(shortflow: Command, scenario: str) -> None:
    arguments = ("compare", scenario, "--schemes", "tcp,dctcp", "--seeds", "2", "--no-ideal")
    main, every, one = (shortflow(*arguments, *more) for more in ((), ("--metrics", "all"), ("--metrics", "marks")))
    assert main.code == every.code == one.code == 0
    assert "Main metrics (--metrics all: every one)" in main.stdout
    assert main.stdout.index("Every flow that counts finished.") > main.stdout.rindex("─"), "in words, below the tables"
    for label in ("mean FCT", "p99 FCT", "slowdown", "goodput", "queue, mean", "timeouts", "dctcp vs tcp"):
        assert label in main.stdout, label
    assert "p95 FCT" not in main.stdout
    assert "p95 FCT" in every.stdout
    assert "marks" in every.stdout
    assert "mean FCT" not in one.stdout
    assert len(main.stdout.splitlines()) < len(every.stdout.splitlines()) / 2


def test_the_measured_time_is_stated(shortflow: Command, scenario: str, tmp_path: Path) -> None:
    measured = ("--no-ideal", "--set", "warmup=5ms", "--set", "duration=20ms")
    assert "; measured from 0.005 s to 0.02 s" in shortflow("run", scenario, *measured[1:]).stdout
    arguments = (
        "compare",
        scenario,
        "--schemes",
        "tcp,dctcp",
        "--seeds",
        "1",
        "--no-ideal",
        *measured,
        "--out",
        "kept",
    )
    assert "; measured from 0.005 s to 0.02 s" in shortflow(*arguments).stdout
    assert shortflow(*arguments, "--json").document["measured_s"] == [0.005, 0.02]
    shortflow("report", "kept")
    assert "measured from 0.005 s to 0.02 s" in (tmp_path / "kept/report.html").read_text(encoding="utf-8")


def test_the_number_of_jobs_changes_nothing(shortflow: Command, scenario: str) -> None:
    arguments = ("compare", scenario, "--schemes", "tcp,l2dct", "--seeds", "4", "--json")
    one, two = (shortflow(*arguments, "--jobs", jobs).document for jobs in ("1", "2"))
    assert one == two
    assert len({digest for scheme in one["schemes"].values() for digest in scheme["digests"].values()}) == 8


def test_a_metric_beside_ideal_schedulers_needs_them(shortflow: Command, scenario: str) -> None:
    answer = shortflow("compare", scenario, "--schemes", "tcp", "--metrics", "distance_short", "--no-ideal")
    assert answer.code == 2
    assert answer.stderr == "shortflow: distance_short: compares with ideal SRPT, and --no-ideal leaves that out\n"


def test_settings_reach_the_scenario_and_the_schemes_that_have_them(shortflow: Command, scenario: str) -> None:
    base = ("compare", scenario, "--schemes", "tcp,dctcp", "--seeds", "1", "--json")
    plain = shortflow(*base).document
    changed = shortflow(*base, "--set", "transport.g=0.9").document
    assert changed["settings"] == {"transport.g": "0.9"}
    assert changed["schemes"]["tcp"]["digests"] == plain["schemes"]["tcp"]["digests"]
    assert changed["schemes"]["dctcp"]["digests"] != plain["schemes"]["dctcp"]["digests"]
    heavier = shortflow(*base, "--set", "load=0.6").document
    flows, more_flows = (each["schemes"]["tcp"]["metrics"]["flows_short"]["mean"] for each in (plain, heavier))
    assert more_flows > flows


def test_kept_runs_are_complete_and_not_run_again(shortflow: Command, scenario: str, tmp_path: Path) -> None:
    arguments = ("compare", scenario, "--schemes", "dctcp,l2dct", "--no-ideal", "--json", "--out", "kept")
    first = shortflow(*arguments, "--seeds", "2")
    assert "4 runs, 0 of them from before" in first.stderr
    again = shortflow(*arguments, "--seeds", "3")
    assert "6 runs, 4 of them from before" in again.stderr
    digests, more_digests = (each.document["schemes"]["l2dct"]["digests"] for each in (first, again))
    assert digests.items() <= more_digests.items()
    changed = shortflow(*arguments, "--seeds", "2", "--set", "load=0.5")
    assert "0 of them from before" in changed.stderr
    runs = list((tmp_path / "kept" / "runs").iterdir())
    assert len(runs) == 10
    for run in runs:
        result = read_run(run)
        assert result.flows.height > 0
        assert result.provenance["scenario_settings"]
    together = (
        pl.scan_parquet(tmp_path / "kept/runs/*/flows.parquet").select("scheme", "seed", "run").unique().collect()
    )
    assert together.height == 10, "rows of different runs can be told apart"
    answer = shortflow("report", "kept")
    assert answer.code == 0
    assert (tmp_path / answer.stdout.strip()).stat().st_size > 1_000_000


def test_a_directory_may_have_brackets_in_its_name(shortflow: Command, scenario: str, tmp_path: Path) -> None:
    for name, seed in (("kept1", "1"), ("kept[1]", "2")):
        assert shortflow("run", scenario, "--seed", seed, "--out", name).code == 0
    assert read_run(tmp_path / "kept[1]").flows["seed"].unique().to_list() == [2]
    shutil.rmtree(tmp_path / "kept1")
    answer = shortflow("report", "kept[1]")
    assert answer.code == 0, answer.stderr


def test_a_changed_trace_is_a_changed_scenario(shortflow: Command, tmp_path: Path) -> None:
    table = {
        "title": "trace",
        "duration": "10ms",
        "topology": {"kind": "star", "hosts": 3, "rate": "1Gbps", "rtt": "100us"},
        "switch": {"buffer": "100pkt", "mark_above": "20pkt"},
        "traffic": [{"kind": "trace", "file": "flows.csv"}],
    }
    (tmp_path / "trace.toml").write_text(tomli_w.dumps(table))
    for size in ("1000", "200000"):
        (tmp_path / "flows.csv").write_text(f"start,source,destination,bytes\n0,0,2,{size}\n")
        answer = shortflow("compare", "trace.toml", "--schemes", "dctcp", "--seeds", "1", "--out", "kept", "--json")
        assert "0 of them from before" in answer.stderr, answer.stderr
    assert answer.document["schemes"]["dctcp"]["metrics"]["flows_short"]["mean"] == 1


def test_run_keeps_tables_and_their_birth_certificate(shortflow: Command, scenario: str, tmp_path: Path) -> None:
    answer = shortflow("run", scenario, "--out", "kept/one", "--csv", "--set", "load=0.3")
    assert answer.code == 0, answer.stderr
    result = read_run(tmp_path / "kept" / "one")
    sources = {each["key"]: each["source"] for each in result.provenance["scenario_settings"]}
    assert sources["parameters.load"] == "--set"
    assert sources["topology.rate"] == "scenario"
    assert "default" in sources.values()
    header = (tmp_path / "kept" / "one" / "flows.csv").read_text().splitlines()[0]
    assert header.startswith("id,source,destination,class,size_bytes,start_s,finish_s,fct_s")
    counters = result.meta["counters"]
    accounted = counters["packets_delivered"] + counters["packets_dropped"] + counters["packets_in_flight"]
    assert accounted == counters["packets_sent"] > 0


class Stalls(CongestionControl):
    """Sends next to nothing after about five segments."""

    floor = 1e-4

    def on_ack(self, window: Window, ack: Ack) -> None:
        window.cwnd = 4.0 if ack.snd_una < 7000 else 1e-4


def test_a_law_that_stalls_is_not_ahead_of_one_that_finishes(small: dict[str, object], tmp_path: Path) -> None:
    scenario = load_scenario(small, {"drain": "100ms"})
    finished = api_run(scenario, Stalls).flows["fct_s"].drop_nulls().to_numpy().mean()
    comparison = api_compare(scenario, ["dctcp", Stalls], [1, 2], out=tmp_path)
    stalls, dctcp, ideal = (comparison.estimate(name, "afct_short_s") for name in ("Stalls", "dctcp", "ideal-srpt"))
    assert stalls
    assert dctcp
    assert ideal
    assert finished < dctcp.value, "those that finish are the shortest"
    assert stalls.lower_bound
    assert stalls.value > dctcp.value > ideal.value
    difference = comparison.difference("Stalls", "dctcp", "afct_short_s")
    assert difference
    assert difference.lower_bound
    assert difference.value > 0
    share = comparison.document()["schemes"]["Stalls"]["unfinished_share"]
    assert share is not None
    assert 0.5 < share < 1
    kept = api_compare(scenario, ["dctcp", Stalls], [1, 2], out=tmp_path)
    assert all(each.reused for each in kept.runs)
    assert kept.document() == comparison.document()


def test_seeds_that_change_nothing_are_pointed_out(shortflow: Command) -> None:
    arguments = ("--schemes", "dctcp", "--seeds", "2", "--no-ideal")
    assert "every seed gives the same run" in shortflow("compare", "two-long-flows", *arguments).stderr
    assert "same run" not in shortflow("compare", "incast", *arguments, "--set", "servers=4").stderr


def test_it_is_said_where_hosts_decide(shortflow: Command, small: dict[str, object], tmp_path: Path) -> None:
    """A long flow fills its host, in which messages wait; flows of two hosts. A store says it too."""
    long: dict[str, object] = {"kind": "long-lived", "to": 4}
    messages = {"kind": "poisson", "sizes": {"kind": "fixed", "value": "1KB"}, "load": 0.01, "from": 3, "to": 4}
    pair = {**long, "flows": 2, "from": "0-1", "stagger": "20ms"}
    long = {**long, "flows": 1, "from": 3}
    times = {"duration": "500ms", "warmup": "100ms", "parameters": {}}
    for name, traffic in {"own": [long, messages], "pair": [pair]}.items():
        (tmp_path / f"{name}.toml").write_text(tomli_w.dumps({**small, **times, "traffic": traffic}), encoding="utf-8")
    own = ("compare", "own.toml", "--schemes", "tcp,dctcp", "--seeds", "1", "--no-ideal", "--out", "kept")
    said = shortflow(*own, "--set", "host.model=fifo").stderr
    assert re.search(r"h3 holds up to \d{3,} packets, and small queues of its flows, \d+ at once, ", said), said
    assert re.search(r"packets of short flows wait in the port of their own host for \d+ % of the mean", said), said
    assert "tcp.growth=unless-held keeps it from that" in said
    assert "holds up to" in shortflow(*own, "--set", "host.model=fifo").stderr, "read back"
    for scheme, phase in (("dctcp", False), ("tcp", True)):
        for each in ("own.toml", "pair.toml"):
            said = shortflow("run", each, "--scheme", scheme).stderr
            assert "holds up to" not in said
            assert "in the port of their own host" not in said
            assert "what its path holds" not in said
            assert ("phase may decide" in said) == (phase and each == "pair.toml"), said
    assert "phase may decide" not in shortflow("run", "pair.toml", "--scheme", "tcp", "--set", "host.jitter=6us").stderr


def test_bench_has_a_row_for_each_case_and_scheme(shortflow: Command) -> None:
    names = [row["name"] for row in shortflow("list", "schemes", "--json").document]
    rows = [(case.label, scheme.label) for case, scheme in bench.chosen(None, None)]
    assert rows == [(case.label, name) for case in bench.CASES for name in names]


def test_bench_compares_with_the_floor(shortflow: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    case = bench.Case("S1", "short", "bench-star", {"duration": "50ms"}, 1)
    monkeypatch.setattr(bench, "CASES", (case,))
    document = shortflow("bench", "--cases", "S1", "--schemes", "dctcp,dctcp+g=0.25", "--json").document
    assert [row["scheme"] for row in document["rows"]] == ["dctcp", "dctcp+g=0.25"]
    for row in document["rows"]:
        assert row["over_floor"] > 1
        assert row["packet_hops"] > 10_000
        assert row["peak_rss_bytes"] > 10_000_000
    assert 0.01 < document["start_up"]["cpu_s"] < 60
    answer = shortflow("bench", "--cases", "S1x")
    assert answer.code == 2
    assert '--cases S1x: unknown case; did you mean "S1"?' in answer.stderr


def test_another_simulator_does_not_find_the_runs_of_this_one(
    small: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    (scheme,) = load_schemes(["dctcp"])
    keys = [Run(load_scenario(small), scheme, seed).key for seed in (1, 1, 2)]
    assert keys[0] == keys[1] != keys[2]
    monkeypatch.setattr("shortflow.runs.build_id", lambda: "another build")
    assert len({*keys, Run(load_scenario(small), scheme, 1).key}) == 3


@pytest.mark.parametrize(
    "kind",
    [
        "schemes",
        "ideal",
        "transports",
        "queues",
        "topologies",
        "routing",
        "traffic",
        "sizes",
        "tables",
        "scenarios",
        "metrics",
        "choices",
    ],
)
def test_every_list_has_names_and_summaries(shortflow: Command, kind: str) -> None:
    entries = shortflow("list", kind, "--json").document
    assert entries
    assert all(entry["name"] and entry["summary"] for entry in entries)
    text = shortflow("list", kind).stdout
    assert all(entry["name"] in text for entry in entries)
    assert max(len(line) for line in text.splitlines()) <= 100


def test_a_list_is_short_until_names_or_details_are_asked_for(shortflow: Command) -> None:
    short = " ".join(shortflow("list", "schemes").stdout.split())
    assert "DCTCP, SIGCOMM 2010" in short
    assert "transport.g" not in short
    assert "list schemes NAME" in short
    assert "transport.g = 0.0625" in shortflow("list", "schemes", "--long").stdout
    one = shortflow("list", "schemes", "dctcp").stdout
    assert "transport.g = 0.0625" in one
    assert "l2dct" not in one
    several = shortflow("list", "schemes", "l2dct*", "--json").document
    assert [entry["name"] for entry in several] == ["l2dct", "l2dct-srpt", "l2dct-ps"]
    wrong = shortflow("list", "schemes", "dctpc")
    assert (wrong.code, wrong.stdout) == (2, "")
    assert '"dctpc": unknown name in `list schemes`; did you mean "dctcp"?' in wrong.stderr
    assert "rto_min = 10ms" in " ".join(shortflow("list", "tables", "tcp").stdout.split())


def test_the_help_of_lists_names_every_kind(shortflow: Command) -> None:
    text = shortflow("list", "--help").stdout
    assert [kind for kind in KINDS if kind not in text] == []


def test_show_tells_where_each_value_came_from(shortflow: Command) -> None:
    document = shortflow("show", "l2dct-benchmark", "--scheme", "l2dct", "--set", "load=0.4", "--json").document
    found = {each["key"]: (each["value"], each["source"]) for each in document["settings"]}
    assert found["parameters.load"] == ("0.4", "--set")
    assert found["traffic.2.load"][1] == "parameter load"
    assert found["switch.mark_above"] == ("20pkt", "scenario")
    assert found["tcp.mss"][1] == "default"
    assert document["notes"]
    assert any(each["key"].startswith("transport.") for each in document["scheme"]["settings"])
    text = shortflow("show", "l2dct-benchmark").stdout
    assert max(len(line) for line in text.splitlines()) <= 100


def test_version_and_help(shortflow: Command) -> None:
    assert shortflow("--version").stdout.startswith("shortflow ")
    assert "compare" in shortflow("--help").stdout
    for command in ("run", "reproduce", "survey", "list", "linux", "linux agreement", "linux fig14"):
        text = shortflow(*command.split(), "--help").stdout
        assert not re.search(r"<(str|bool|int|float|path|list).*>", text), "types of Python's tell a user nothing"


def test_a_class_and_a_bin_without_flows_in_a_seed_count_nothing_there(shortflow: Command, tmp_path: Path) -> None:
    """Two classes that are so rare that some seeds have none; the sizes of one lie in two bins."""
    path = tmp_path / "rare.toml"
    path.write_text("""
title = "rare"
duration = "20ms"
warmup = "5ms"
topology = { kind = "star", hosts = 4, rate = "1Gbps", rtt = "100us" }
switch = { buffer = "100pkt", mark_above = "20pkt" }
[[traffic]]
kind = "poisson"
class = "rare"
from = 0
to = 3
rate_per_s = 60
sizes = { kind = "uniform", min = "2KB", max = "18KB" }
[[traffic]]
kind = "poisson"
class = "never"
from = 1
to = 3
rate_per_s = 1e-9
sizes = { kind = "fixed", value = "20KB" }
""")
    answer = shortflow("compare", str(path), "--schemes", "dctcp", "--seeds", "8", "--no-ideal", "--json", "--out", "k")
    metrics = answer.document["schemes"]["dctcp"]["metrics"]
    runs = pl.read_parquet(tmp_path / "k/runs.parquet")
    counts = {name: runs[name].to_list() for name in ("flows_rare", "flows_rare_10kb", "flows_rare_100kb")}
    assert [a + b for a, b in zip(counts["flows_rare_10kb"], counts["flows_rare_100kb"], strict=True)] == counts[
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
        "p99_rare_1mb_s": "no rare flow of 100 KB–1 MB was counted",
        "goodput_rare_bps": "no run here has it: payload of all backlogged flows",
    }.items():
        answer = chosen(name)
        assert answer.code == 2
        assert wanted in answer.stderr


def test_unfinished_flows_are_counted_alike_in_every_place(shortflow: Command, scenario: str, tmp_path: Path) -> None:
    """Without a drain the last flows do not finish, nor does one of the warm-up, which counts nowhere."""
    early = {"kind": "incast", "class": "early", "flows": 1, "sizes": {"kind": "fixed", "value": "80MB"}}
    with (tmp_path / scenario).open("a", encoding="utf-8") as file:
        file.write(tomli_w.dumps({"traffic": [{**early, "from": 0, "to": 4, "at": "0s", "unmeasured": True}]}))
    answer = shortflow("run", scenario, "--scheme", "dctcp", "--set", "drain=0s", "--out", "kept")
    flows = pl.read_parquet(tmp_path / "kept/flows.parquet").filter(pl.col("size_bytes").is_not_null())
    left = flows.filter(pl.col("fct_s").is_null())
    counted = left.filter(pl.col("start_s") >= 0.01)
    assert 0 < counted.height < left.height, "otherwise it tests nothing"
    assert f"unfinished at the end of the drain: {counted.height} of dctcp;" in answer.stderr
    assert re.search(rf"unfinished flows +{counted.height} ", answer.stdout)
    every = flows.filter(pl.col("start_s") >= 0.01).height
    assert shortflow("report", "kept").code == 0
    assert f"{counted.height} of {every} flows did not finish" in (tmp_path / "kept/report.html").read_text("utf-8")


def test_no_control_character_of_a_user_reaches_the_terminal(
    shortflow: Command, tmp_path: Path, small: dict[str, object]
) -> None:
    evil = "\x1b[2J\x07\x9b31m"
    (tmp_path / "small.toml").write_text(tomli_w.dumps({**small, "title": f"t{evil}"}))
    scheme = {"name": f"s{evil}", "transport": "newreno", "queue": "droptail"}
    (tmp_path / "own.toml").write_text(tomli_w.dumps({"scheme": [scheme]}))
    answers = [
        shortflow("show", "small.toml"),
        shortflow("run", "small.toml", "--scheme", f"own.toml:s{evil}"),
        shortflow("compare", "small.toml", "--schemes", f"tcp,own.toml:s{evil}", "--seeds", "2", "--out", f"o{evil}"),
        shortflow("run", "small.toml", "--json"),
        shortflow("run", f"no{evil}.toml"),
        shortflow("run", "small.toml", "--set", f"title={evil}", "--set", f"x{evil}=1"),
    ]
    assert [answer.code for answer in answers] == [0, 0, 0, 0, 2, 2], answers
    told = "".join(answer.stdout + answer.stderr for answer in answers)
    assert not set(told) & set(evil) - set("[2J31m"), told
    assert answers[3].document["title"] == f"t{evil}"
