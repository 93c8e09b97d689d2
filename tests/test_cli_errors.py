"""Wrong input ends in exit code 2 and one message that says what was expected; no traceback reaches a user."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import tomli_w

from conftest import Command
from shortflow import ConfigError, load, run

ROOT = Path(__file__).parents[1]
BENCHMARK = "l2dct-benchmark"


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["run", "l2dct-bench"], ["l2dct-bench", 'did you mean "l2dct-benchmark"']),
        (["run", "no/such/file.toml"], ["no/such/file.toml", "cannot be read"]),
        (["run", BENCHMARK, "--scheme", "l2dkt"], ["l2dkt", "l2dct"]),
        (["run", BENCHMARK, "--set", "topology.rat=1Gbps"], ["topology.rat", "rate"]),
        (["run", BENCHMARK, "--set", "laod=0.4"], ["laod", "load"]),
        (["run", BENCHMARK, "--set", "topology.rate=-1Gbps"], ["topology.rate", "-1Gbps"]),
        (["run", BENCHMARK, "--set", "switch.mark_above=300pkt"], ["switch.mark_above", "300pkt", "250pkt"]),
        (["run", BENCHMARK, "--set", "load"], ["--set load", "KEY=VALUE"]),
        (["run", BENCHMARK, "--scheme", "tcp", "--set", "transport.g=0.1"], ["transport.g", "tcp"]),
        (["run", BENCHMARK, "--scheme", "dctcp", "--set", "transport.gg=0.1"], ["transport.gg", "transport.g"]),
        (["run", BENCHMARK, "--csv"], ["--csv", "--out"]),
        (["run", BENCHMARK, "--scheme", "tcp-cubic"], ['"tcp-cubic"', 'did you mean "cubic"?']),
        (["compare", BENCHMARK, "--schemes", "tcp", "--metrics", "p99"], ['"p99_long_s", "p99_short_s" or "queue_p99']),
        (["run", BENCHMARK, "--set", "g=0.1"], ['g: unknown parameter; did you mean "transport.g"?']),
        (["run", BENCHMARK, "--scheme", "dctcp+gg=0.1"], ['transport.gg: no parameter of dctcp; did you mean "trans']),
        (["run", BENCHMARK, "--scheme", "dctcp+g=1+transport.g=0.5"], ["transport.g is given twice, as 1 and 0.5"]),
        (["run", BENCHMARK, "--scheme", "dctcp+mark_above=9"], ["no parameter of dctcp (known: transport.g, "]),
        (["compare", BENCHMARK, "--schemes", "tcp", "--metrics", "latency"], ["`shortflow list metrics` has them all"]),
        (["run", BENCHMARK, "--set", "swich.buffer=9pkt"], ["swich.buffer", 'did you mean "switch.buffer"']),
        (["run", BENCHMARK, "--seed", "-1"], ["--seed", "-1 is not a whole number from 0 on"]),
        (
            ["run", BENCHMARK, "--seed", "99999999999999999999"],
            ["seed: 99999999999999999999 is not a whole number"],
        ),
        (["compare", BENCHMARK, "--schemes", "tcp", "--jobs", "x"], ["--jobs", "x is not a whole number from 1 on"]),
        (["run", BENCHMARK, "--sed", "1"], ["--sed", "--seed"]),
        (["compare", BENCHMARK, "--schemes", "tcp,,dctcp"], ["--schemes", "commas"]),
        (["compare", BENCHMARK, "--schemes", "tcp,tcp"], ["tcp", "twice"]),
        (
            ["compare", BENCHMARK, "--schemes", "tcp", "--seeds", "0"],
            ["--seeds", "0 is not a whole number from 1 to"],
        ),
        (["compare", BENCHMARK, "--schemes", "tcp", "--seeds", "1000000000000"], ["--seeds", "from 1 to 100000"]),
        (["run", BENCHMARK, "--seed", "1" * 5000], ["--seed", "is not a whole number from 0 on"]),
        (["compare", BENCHMARK, "--schemes", "tcp", "--metrics", "qeue_mean_pkt"], ["qeue_mean_pkt", "queue_mean_pkt"]),
        (["compare", BENCHMARK, "--schemes", "tcp", "--metrics", "all,drops"], ["all,drops", "`all` alone"]),
        (["compare", BENCHMARK, "--schemes", "tcp", "--metrics", "ALL"], ["ALL", "`all` alone"]),
        (["compare", BENCHMARK], ["--schemes"]),
        (["list"], ["one of these kinds", "schemes", "choices"]),
        (["list", "scheme"], ["scheme", 'did you mean "schemes"']),
        (["list", "figures", "--long"], ["--long", "figures have no details", "choices"]),
        (["list", "metrics", "afct_short_ms"], ["afct_short_ms", "afct_<class>_s"]),
        (["list", "figures", "fats"], ["fats", "fast/"]),
        (["show", "incats"], ['did you mean "incast"']),
        (["report", "nowhere"], ["nowhere", "holds no results"]),
        (["rum"], ["rum", "run'?\n"]),
    ],
    ids=lambda value: " ".join(value) if "run" in value or "compare" in value else None,
)
def test_wrong_input(shortflow: Command, arguments: list[str], wanted: list[str]) -> None:
    answer = shortflow(*arguments)
    assert answer.code == 2, answer
    assert answer.stdout == ""
    assert "Traceback" not in answer.stderr
    assert all(text in answer.stderr for text in wanted), answer.stderr


def test_an_unknown_choice_lists_every_known_name_once(shortflow: Command) -> None:
    assert shortflow("list", "choices", "nope").stderr.count("initial-window") == 1


def test_list_metrics_takes_a_metric_for_its_kind(shortflow: Command) -> None:
    rows = shortflow("list", "metrics", "afct_short_s", "afct_short_10kb_s", "--json").document
    assert [row["name"] for row in rows] == ["afct_<class>_<bin>_s", "afct_<class>_s"]


def test_a_scenario_that_is_no_toml_names_the_file_and_the_place(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('title = "x"\nduration = 2s\n')
    answer = shortflow("run", "mine.toml")
    assert answer.code == 2
    assert answer.stderr.startswith("shortflow: mine.toml:2: duration: ")
    (tmp_path / "bytes.toml").write_bytes(b"title = '\xff'")
    assert "UTF-8" in shortflow("run", "bytes.toml").stderr


TRACE = """
title = "trace"
duration = "10ms"
[topology]
kind = "star"
hosts = 4
rate = "1Gbps"
rtt = "100us"
[switch]
buffer = "100pkt"
mark_above = "20pkt"
[[traffic]]
kind = "trace"
file = "flows.csv"
"""


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ("0.001,0,3,lots", ["bytes", "lots"]),
        ("0.001,0,9,1000", ["9"]),
        ("soon,0,3,1000", ["start", "soon"]),
        ("0.001,0,3", []),
    ],
)
def test_an_unreadable_row_of_a_trace_is_named_by_its_line(
    shortflow: Command, tmp_path: Path, row: str, wanted: list[str]
) -> None:
    (tmp_path / "mine.toml").write_text(TRACE)
    (tmp_path / "flows.csv").write_text(f"start,source,destination,bytes\n0,0,3,1000\n{row}\n")
    answer = shortflow("run", "mine.toml")
    assert answer.code == 2
    assert "flows.csv" in answer.stderr
    assert "3" in answer.stderr.replace(row, "")
    assert all(text in answer.stderr for text in wanted), answer.stderr


def test_a_file_that_is_not_there_or_no_text_is_named_with_its_place(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(TRACE.replace("flows.csv", "no/such/flows.csv"))
    answer = shortflow("run", "mine.toml")
    assert f'"no/such/flows.csv": there is no directory {tmp_path}/no/such' in answer.stderr
    (tmp_path / "mine.toml").write_text(TRACE)
    assert f'"flows.csv": there is no such file in {tmp_path}' in shortflow("run", "mine.toml").stderr
    (tmp_path / "flows.csv").write_bytes(b"start,source,destination,bytes\n0,0,3,1000\n0.001,\xff,3,1000\n")
    answer = shortflow("run", "mine.toml")
    assert answer.code == 2
    assert '"flows.csv": line 3 is not text in UTF-8' in answer.stderr


def test_a_required_key_may_come_from_set(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("start,source,destination,bytes\n0,0,3,1000\n")
    (tmp_path / "mine.toml").write_text(TRACE.replace('mark_above = "20pkt"\n', ""))
    assert "switch.mark_above: missing" in shortflow("show", "mine.toml").stderr
    for command in (["show"], ["run"], ["compare", "--schemes", "dctcp", "--seeds", "1"]):
        answer = shortflow(command[0], "mine.toml", *command[1:], "--set", "switch.mark_above=30pkt", "--json")
        assert answer.code == 0, answer.stderr
    found = {
        each["key"]: each
        for each in shortflow("show", "mine.toml", "--set", "switch.mark_above=30pkt", "--json").document["settings"]
    }
    assert found["switch.mark_above"] == {"key": "switch.mark_above", "value": "30pkt", "source": "--set"}


def test_every_wrong_key_is_named_at_once_with_file_and_line(shortflow: Command, tmp_path: Path) -> None:
    text = TRACE.replace('"10ms"', '"$time"').replace('"100us"', '"fast"').replace("buffer", "bufer")
    (tmp_path / "mine.toml").write_text(f"{text}load = -1\n[parameters]\ntime = 3\n")
    answer = shortflow("run", "mine.toml", "--set", "topology.hosts=none")
    assert answer.code == 2
    assert [line.split(" ")[:2] for line in answer.stderr.removeprefix("shortflow: ").splitlines()] == [
        ["topology.hosts:", '"none"'],
        ["mine.toml:8:", "topology.rtt:"],
        ["mine.toml:10:", "switch.bufer:"],
        ["mine.toml:15:", "traffic.1.load:"],
        ["mine.toml:17:", "duration:"],
    ], answer.stderr
    (tmp_path / "mine.toml").write_text('title = "x\nduration = 2s\n[a\n')
    lines = shortflow("run", "mine.toml").stderr.removeprefix("shortflow: ").splitlines()
    assert [line.split(":")[:2] for line in lines] == [["mine.toml", str(line)] for line in (1, 2, 3)], lines


def test_a_parameter_has_no_name_of_a_key(shortflow: Command, tmp_path: Path) -> None:
    text = TRACE.replace('"10ms"', '"$duration"') + '[parameters]\nduration = "3ms"\n'
    (tmp_path / "mine.toml").write_text(text)
    answer = shortflow("run", "mine.toml", "--set", "duration=9ms")
    assert answer.code == 2
    assert 'mine.toml:15: parameters: "duration" is not a parameter name' in answer.stderr


def test_letters_in_turn_are_one_mistake(shortflow: Command) -> None:
    assert 'did you mean "tcp"?' in shortflow("run", "incast", "--scheme", "tpc").stderr
    assert 'did you mean "dctcp"?' in shortflow("run", "incast", "--scheme", "dtccp").stderr


def test_a_quote_without_its_end_is_named_by_its_line(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(TRACE)
    for rest in ("", "0.002,0,3,1000\n"):
        (tmp_path / "flows.csv").write_text(f'start,source,destination,bytes\n0,0,3,1000\n0.001,0,3,"1000\n{rest}')
        answer = shortflow("run", "mine.toml")
        assert answer.code == 2
        assert answer.stderr.startswith("shortflow: flows.csv:3: a quote has no end")


NAMED_BY = {
    "trace": ('kind = "trace"\nfile = "it.csv"', "star"),
    "sizes": ('kind = "poisson"\nload = 0.1\nsizes = { kind = "cdf", file = "it.csv" }', "star"),
    "links": ('kind = "long-lived"', 'explicit"\nfile = "it.csv'),
    "graphml": ('kind = "long-lived"', 'explicit"\nfile = "it.xml'),
}


def naming(kind: str) -> str:
    """A scenario that names a file in one of the ways that there are."""
    traffic, topology = NAMED_BY[kind]
    text = TRACE.replace('kind = "trace"\nfile = "flows.csv"', traffic).replace('"star"', f'"{topology}"')
    return text if topology == "star" else text.replace('hosts = 4\nrate = "1Gbps"\nrtt = "100us"\n', "")


@pytest.mark.parametrize("kind", [*NAMED_BY, "measured", "scenario", "schemes"])
def test_input_is_regular_files_of_a_size(kind: str, shortflow: Command, tmp_path: Path) -> None:
    arguments = {
        "measured": ["compare", "incast", "--schemes", "tcp", "--measured", "it.csv"],
        "scenario": ["run", "it.toml"],
        "schemes": ["run", "incast", "--scheme", "it.toml:mine"],
    }.get(kind, ["run", "mine.toml"])
    if kind in NAMED_BY:
        (tmp_path / "mine.toml").write_text(naming(kind))
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
        answer = shortflow(*arguments)
        assert answer.code == 2
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
        (tmp_path / "mine.toml").write_text(naming(kind))
    for text in ("root:hunter2:1\nb:c\n", "hunter2,1\n2,3\n", "hunter2\n", '"hunter2\n'):
        for name in ("it.csv", "it.xml"):
            (tmp_path / name).write_text(text)
        answer = shortflow(*arguments)
        assert answer.code == 2
        assert "it." in answer.stderr
        assert "hunter2" not in answer.stderr


def test_no_output_replaces_a_file_that_is_none(shortflow: Command, tmp_path: Path, small: dict[str, object]) -> None:
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
    answer = shortflow(*run, "--trace", "0=pipe")
    assert answer.code == 2
    assert "pipe: nobody reads this pipe" in answer.stderr
    for name, command in commands.items():
        for text in mine:
            (tmp_path / name).write_text(text)
            answer = shortflow(*command)
            assert (answer.code, (tmp_path / name).read_text()) == (2, text), (command, answer)
            assert f"{name}: is there already" in answer.stderr
        (tmp_path / name).write_text("")
        for _ in range(2):  # in place of an empty file, and of its own
            answer = shortflow(*command)
            assert answer.code != 2, (command, answer)
            assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (["reproduce", "fast/fig3"], ["index.html", "fast.html", "markdown/README.md", "markdown/fast.md"]),
        (["survey", "fast"], ["beyond.html", "beyond.md"]),
    ],
)
def test_pages_in_place_of_what_is_none_are_refused_before_the_work(
    shortflow: Command, tmp_path: Path, command: list[str], names: list[str]
) -> None:
    for name in names:
        out = tmp_path / name.replace("/", "-")
        (out / name).parent.mkdir(parents=True)
        (out / name).write_text("precious")
        answer = shortflow(*command, "--out", out.name)
        assert answer.code == 2, answer
        assert f"{name}: is there already" in answer.stderr
        assert not (out / "runs").exists()


@pytest.mark.usefixtures("scenario")
def test_a_page_of_an_earlier_version_is_replaced(shortflow: Command, tmp_path: Path) -> None:
    policy = "default-src 'none'; script-src 'nonce-x3'; style-src 'unsafe-inline'; img-src data: blob:"
    head = '\n<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    (tmp_path / "page.html").write_text(
        f'{head}<meta http-equiv="Content-Security-Policy" content="{policy}">\n<title>0.2.0</title>'
    )
    assert shortflow("run", "small.toml", "--out", "run").code == 0
    answer = shortflow("report", "run", "--out", "page.html")
    assert answer.code == 0, answer
    assert "0.2.0</title>" not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_that_cannot_be_is_wrong_input_in_python_too(small: dict[str, object], seed: int) -> None:
    with pytest.raises(ConfigError, match=f"seed: {seed} is not a whole number from 0 to"):
        run(load(small), seed=seed)


NETWORK = """
title = "network"
duration = "10ms"
[topology]
kind = "explicit"
file = "links.csv"
[switch]
buffer = "100pkt"
mark_above = "20pkt"
[[traffic]]
kind = "long-lived"
"""


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ("h2,s9,1Gbps,5us", "no path from h0 to h2"),
        ("s0,h1,1Gbps,5us", "already given in line 3"),
        ("h2,s0,0Gbps,5us", "not a positive rate"),
        ("s0,s0,1Gbps,5us", "linked to itself"),
        ("h2,s0,1Gbps", "3 columns"),
    ],
)
def test_a_malformed_link_is_named_by_its_line(shortflow: Command, tmp_path: Path, row: str, wanted: str) -> None:
    (tmp_path / "mine.toml").write_text(NETWORK)
    (tmp_path / "links.csv").write_text(f"a,b,rate,delay\nh0,s0,1Gbps,5us\nh1,s0,1Gbps,5us\n{row}\n")
    answer = shortflow("run", "mine.toml")
    assert answer.code == 2
    assert "links.csv:4: " in answer.stderr
    assert wanted in " ".join(answer.stderr.split())


def test_an_unknown_node_is_named_by_its_line(shortflow: Command, tmp_path: Path) -> None:
    text = NETWORK.replace('file = "links.csv"', 'file = "net.graphml"\nrate = "1Gbps"\ndelay = "1us"')
    (tmp_path / "mine.toml").write_text(text)
    (tmp_path / "net.graphml").write_text(
        "<graphml><graph>\n<node id='h0'/><node id='h1'/>\n<edge source='h0' target='s0'/>\n</graph></graphml>\n"
    )
    answer = shortflow("run", "mine.toml")
    assert answer.code == 2
    assert 'net.graphml:3: unknown node "s0"' in answer.stderr


def test_a_place_that_holds_something_else_is_refused_before_the_run(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    answer = shortflow("run", BENCHMARK, "--out", ".")
    assert answer.code == 2
    assert "not a result" in answer.stderr


def test_a_reader_who_leaves_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -c 'from shortflow.__main__ import main; main()' show {BENCHMARK} | true"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_a_result_is_not_overwritten_by_another_run(shortflow: Command, tmp_path: Path) -> None:
    first = ["run", "two-long-flows", "--set", "duration=20ms", "--set", "warmup=0s", "--out", str(tmp_path / "out")]
    assert shortflow(*first).code == 0
    assert shortflow(*first).code == 0, "the same run may be written again"
    other = shortflow(*first, "--scheme", "tcp")
    assert other.code == 2
    assert "holds the result of another run (two-long-flows, dctcp, seed 1)" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (
            ["run", "incast", "--set", "warmup=10ms", "--set", "traffic.1.repeat=1"],
            ["traffic.1.at: with", "from warmup = 10ms to duration = 2s", "traffic.1.unmeasured = true"],
        ),
        (
            ["run", "permutation-fat-tree", "--set", "traffic.1.from=[0, 1, 1]", "--set", "traffic.1.to=[0, 1, 2]"],
            ["traffic.1.from", "host 1 is listed twice"],
        ),
        (
            ["run", BENCHMARK, "--scheme", "red", "--set", "switch.mark_above=0pkt"],
            ["switch.mark_above", "RED's minimum threshold", "queue.min"],
        ),
        (["run", BENCHMARK, "--scheme", "red", "--set", "queue.min=0pkt"], ["queue.min", "above zero"]),
    ],
    ids=["nothing counts", "a host twice", "RED with K = 0", "RED with min = 0"],
)
def test_models_that_cannot_work_are_refused(shortflow: Command, arguments: list[str], wanted: list[str]) -> None:
    answer = shortflow(*arguments)
    assert (answer.code, answer.stdout) == (2, ""), answer
    assert all(text in answer.stderr for text in wanted), answer.stderr


def test_keys_that_the_hosts_of_a_scheme_do_not_read_are_a_warning(shortflow: Command) -> None:
    changes = [
        "--set",
        "tcp.handshake=true",
        "--set",
        "tcp.ack_every=2",
        "--set",
        "tcp.mss=1000B",
        "--set",
        "servers=4",
    ]
    schemes = "dctcp,pfabric-minimal,pfabric-minimal+rto=1ms"
    answer = shortflow("compare", "incast", "--no-ideal", "--seeds", "1", *changes, "--schemes", schemes, "--json")
    said = [line for line in answer.stderr.splitlines() if "without effect on" in line]
    assert (answer.code, len(said)) == (0, 1), answer
    keys = "tcp.initial_window, tcp.rto_min, tcp.ack_every, tcp.handshake"
    assert said[0].startswith(f"warning: {keys}: without effect on minimal")


def test_a_buffer_of_one_packet_is_a_warning(shortflow: Command) -> None:
    changes = ["--set", "switch.buffer=1pkt", "--set", "switch.mark_above=0pkt"]
    quick = [*changes, "--set", "duration=20ms", "--set", "warmup=0s", "--set", "drain=0s"]
    answer = shortflow("run", BENCHMARK, *quick, "--scheme", "tcp", "--json")
    assert answer.code == 0
    assert "warning: switch.buffer: 1pkt holds one packet" in answer.stderr
    notes = shortflow("show", BENCHMARK, *changes, "--json").document["notes"]
    assert any(note.startswith("warning: switch.buffer: 1pkt") for note in notes)


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


UNBOUNDED = """
title = "more flows than memory"
duration = "1000s"
topology = { kind = "star", hosts = 2, rate = "1Gbps", rtt = "1us" }
switch = { buffer = "20pkt", mark_above = "5pkt" }
[[traffic]]
kind = "queries"
workers = 1
repeat = 1_000_000
sizes = { kind = "fixed", value = "1B" }
to = 0
"""
# A run of the command that may take 100 MB more than one before it.
LIMITED = """
import resource, sys
from shortflow.front.shell import execute
execute(["run", sys.argv[1], "--set", "duration=1ms", "--json"])
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 100_000_000, resource.RLIM_INFINITY))
sys.exit(execute(["run", sys.argv[1]]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are Linux's")
def test_a_result_too_large_for_memory_says_so_before_the_run_and_in_it(tmp_path: Path) -> None:
    limited = "ulimit -v 4000000; exec "
    sampled = f"{limited} {sys.executable} -m shortflow run {BENCHMARK} --set measure.sample_every=200ns"
    done = subprocess.run(["bash", "-c", sampled], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "its tables do not fit into memory: they take" in done.stderr
    assert "measure.sample_every" in done.stderr
    (tmp_path / "unbounded.toml").write_text(UNBOUNDED)
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "unbounded.toml")]
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 3, done.stderr
    assert "no memory is left for more rows of the tables" in done.stderr
