"""Python code of the testbed, with a stand-in for the program."""

import json
import os
import runpy
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import shortflow
from conftest import Patch
from made import make_results, make_run, sure
from shortflow.judge.verdicts import Verdict
from shortflow.metrics.catalogue import FCT, MARKS, MEAN_FCT
from shortflow.metrics.statistic import Metric, MetricValue, Statistic
from shortflow.result import Result
from shortflow.results import Results
from shortflow.runs import Plan, plan
from shortflow.scenario import Settings, as_pairs, load_scenario, path_of
from shortflow_linux import agreement, commands, kernels, testbed
from stand_in import SCENARIO, SHORT, StandIn, document, stand_in

SHORTER = ("--set", "duration=300ms", "--set", "warmup=100ms")


@pytest.fixture
def kernel(monkeypatch: Patch) -> StandIn:
    return stand_in(monkeypatch)


needs_testbed = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/dev/net/tun").exists() or not shutil.which("tc"), reason="needs root, TUN and tc"
)


def bed(scenario: str = SCENARIO, attempts: int = 1) -> testbed.Testbed:
    return testbed.Testbed(scenario, attempts=attempts)


def measured(settings: Settings) -> Result:
    """Result of a run on the stand-in."""
    (result,) = bed().answer(Plan(load_scenario(SCENARIO), ["dctcp"]).runs([1], dict(as_pairs(settings))))
    return result


def test_a_measured_run_has_the_tables_and_metrics_of_a_simulation(kernel: StandIn) -> None:
    kernel.answer = document()
    found = measured(SHORT)
    simulated = shortflow.run(shortflow.load(SCENARIO), "dctcp", settings=SHORT)
    assert testbed.is_trustworthy(found)
    assert found.metrics == simulated.metrics
    assert found.flows.schema == simulated.flows.schema
    assert found.ports.equals(simulated.ports)
    (arguments,) = kernel.calls
    assert " ".join(arguments) == f"{SCENARIO}.toml --scheme dctcp --seed 1 --set duration=300ms --set warmup=100ms"


def test_a_testbed_that_waits_for_another_says_so_meanwhile(monkeypatch: Patch, tmp_path: Path) -> None:
    """The stand-in ends when the test has seen its message, or after 10 s with another exit code."""
    heard, script = tmp_path / "heard", tmp_path / "shortflow-linux"
    script.write_text(
        f"#!{sys.executable}\nimport sys, time\nprint('waiting: for another', file=sys.stderr, flush=True)\n"
        f"for _ in range(1000):\n    if open({str(heard)!r}).read():\n        break\n    time.sleep(0.01)\n"
        "else:\n    sys.exit(4)\nprint('out')\nprint('in vain', file=sys.stderr)\nsys.exit(3)\n"
    )
    script.chmod(0o755)
    monkeypatch.setattr(kernels, "program", lambda: script)
    with heard.open("w") as told:
        monkeypatch.setattr(sys, "stderr", told)
        done = kernels.ThisKernel().run(path_of(SCENARIO), [])
    assert done.args == [str(script), "testbed", str(path_of(SCENARIO)), "--parent", str(os.getpid())]
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "in vain\n")
    assert heard.read_text() == "waiting: for another\n"


LINUX_TRANSPORT: Settings = {"transport.recovery": "rack"}
SIMULATED_ALONE: Settings = {
    "tcp.ack_message_end": "true",
    "tcp.quick_acks": "254",
    "tcp.ack_ecn_changes": "true",
    "tcp.grow_by_segments": "true",
    "tcp.tlp_ack_delay": "200ms",
    "tcp.tlp_slack": "4ms",
    "host.jitter": "50us",
}


def test_a_comparison_gives_both_sides_linuxs_tcp_and_the_same_seeds(kernel: StandIn) -> None:
    kernel.answer = document()
    given = {**SHORT, "topology.rtt": "2ms"}
    comparison = testbed.side_by_side(bed(), "dctcp", [1, 2], given)
    assert comparison.schemes == [testbed.SIMULATED, testbed.REAL]
    assert comparison.seeds == [1, 2]
    assert testbed.kept_time(testbed.real_runs(comparison)) == "2 of 2"
    # The scenario has the other settings of Linux's TCP. Settings of the simulator alone do not reach the kernel.
    assert set(kernel.settings) == {f"{key}={value}" for key, value in {**LINUX_TRANSPORT, **given}.items()}
    settings = {**LINUX_TRANSPORT, **SIMULATED_ALONE, **SHORT}
    alone = shortflow.run(shortflow.load(SCENARIO), "dctcp", settings=settings).metrics
    (expected,) = plan(shortflow.load(SCENARIO), ["dctcp"], [1], {**settings, "topology.rtt": "2ms"})
    run = sure(comparison.runs[0].run)
    assert run.scenario.fingerprint == expected.scenario.fingerprint
    assert comparison.values(testbed.SIMULATED, "marks")[1] == alone["marks"] > 400
    assert comparison.values(testbed.SIMULATED, "goodput_long_bps")[1] == alone["goodput_long_bps"]


def test_both_sides_have_the_round_trip_of_the_seed(kernel: StandIn) -> None:
    kernel.answer = document()
    both = testbed.side_by_side(bed(), "dctcp", range(1, 21), SHORT)
    given = [line.removeprefix("topology.rtt=") for line in kernel.settings if "rtt=" in line]
    assert given == [account["rtt"] for account in testbed.accounts(both)]
    assert given == [testbed.drawn_rtt(SCENARIO, seed) for seed in range(1, 21)]
    drawn = [int(rtt.removesuffix("ns")) / 2e6 for rtt in given]
    assert len(set(drawn)) == 20
    assert 0.95 <= min(drawn) < 0.97
    assert 1.03 < max(drawn) <= 1.05
    settings = {**LINUX_TRANSPORT, **SIMULATED_ALONE, **SHORT, "topology.rtt": given[4]}
    alone = shortflow.run(shortflow.load(SCENARIO), "dctcp", seed=5, settings=settings).metrics
    assert both.values(testbed.SIMULATED, "marks")[5] == alone["marks"]


def test_runs_that_did_not_keep_time_are_repeated_and_enter_no_average(kernel: StandIn, shortflow: Any) -> None:
    late, on_time = document("late"), document()
    kernel.queue = [late, on_time, late, late, late, late]
    both = testbed.side_by_side(bed(attempts=2), "dctcp", [1, 2, 3], SHORT)
    accounts = testbed.accounts(both)
    assert [account["attempts"] for account in accounts] == [2, 2, 2]
    assert [account["late"] for account in accounts] == [["late"], ["late", "late"], ["late", "late"]]
    assert both.seeds == [1]
    assert testbed.kept_time(testbed.real_runs(both)) == "1 of 3"
    for attempts, options, code in (("2", (), 1), ("3", (), 0), ("2", ("--allow-late",), 0)):
        kernel.queue = [late, late, on_time]
        run = ("linux", "compare-sim", SCENARIO, "--seeds", "1", "--attempts", attempts)
        said = shortflow(*run, *options, *SHORTER, code=code)
        assert f"The testbed kept time in {1 if attempts == '3' else 0} of 1 seeds." in said.stdout
        assert "seed 1, attempt 1: late\nseed 1, attempt " in said.stderr
        answer = "The simulation agrees with the kernel within 5 % (marks: 10 %) in "
        assert (answer in said.stdout) is (attempts == "3")
        assert "wins" not in said.stdout


def test_an_answer_with_the_kernel_speaks_of_agreement(kernel: StandIn, shortflow: Any) -> None:
    kernel.queue = [document()]
    run = ("linux", "compare-sim", SCENARIO, "--seeds", "1", "--json")
    found = json.loads(shortflow(*run, *SHORTER).stdout)
    assert "answer" not in found
    agreed = found["agreement"]
    differences, aims = agreed["difference"], agreed["tolerance"]
    assert {name: aim for name, aim in aims.items() if aim != 0.05} == {"marks": 0.1}
    assert (agreed["within"], agreed["outside"], agreed["undecided"]) == ([], [], [*differences]), (
        "one seed has no interval and decides nothing"
    )
    name = next(iter(differences))
    both = {side: found["schemes"][side]["metrics"][name]["mean"] for side in testbed.BOTH}
    expected = both["simulated"] / both["kernel"] - 1
    assert differences[name] == pytest.approx(expected)


def test_the_answer_uses_whole_intervals() -> None:
    """A point estimate within the aim does not agree while its interval spans the aim."""
    near = [(1.0, 1.01), (2.0, 2.02), (3.0, 3.03)]
    wide = [(1.0, 0.9), (1.0, 1.12), (1.0, 1.0)]
    far = [(2.0, 3.0), (3.0, 4.5), (4.0, 6.0)]
    cell = side_by_side({SHORT_MEAN: near, SHORT_TAIL: far, LARGE_MEAN: wide})
    found = commands._agreement(cell)
    assert (found["within"], found["outside"]) == (["afct_short_s"], ["p95_short_s"])
    assert found["undecided"] == ["afct_large_s"]
    assert abs(found["difference"]["afct_large_s"]) < 0.05
    words = commands._in_words(cell)
    assert "in 1 of 3 metrics: there the whole 95 % interval" in words
    assert "Outside: p95 FCT short -33.3 % [-33.3 %, -33.3 %]." in words
    assert "Undecided: mean FCT large " in words


@pytest.mark.parametrize(
    ("verdict", "options", "code"), [("trustworthy", (), 0), ("late", (), 1), ("late", ("--allow-late",), 0)]
)
def test_a_run_that_did_not_keep_time_is_told_by_the_exit_code(
    kernel: StandIn, shortflow: Any, verdict: str, options: tuple[str, ...], code: int
) -> None:
    is_late = verdict == "late"
    kernel.code, kernel.answer = int(is_late), document(verdict)
    said = shortflow("linux", "testbed", SCENARIO, *SHORTER, *options, code=code)
    assert len(kernel.calls) == (3 if is_late else 1)
    assert ("attempt 1: late\nattempt 2: late\n" in said.stderr) is is_late
    assert "attempt 3" not in said.stderr, "the last one is told in full"
    way_out = "the testbed did not keep time; close other programs, or use --virtual\n"
    assert said.stderr.endswith(way_out) is is_late


SHORT_MEAN, SHORT_TAIL = Metric(MEAN_FCT, "short"), Metric(FCT[95], "short")
LARGE_MEAN, LARGE_TAIL = Metric(MEAN_FCT, "large"), Metric(FCT[95], "large")


NEAR, FAR = shortflow.Estimate(0.01, (0.0, 0.02), 5), shortflow.Estimate(0.08, (0.06, 0.1), 5)


@pytest.mark.parametrize(
    ("statistic", "difference", "expected"),
    [
        (MEAN_FCT, shortflow.Estimate(0.0, (-0.05, 0.05), 3), "within"),
        (MEAN_FCT, shortflow.Estimate(0.01, (-0.03, 0.051), 3), "undecided"),
        (MEAN_FCT, shortflow.Estimate(0.05, (-0.09, 0.2), 3), "undecided"),
        (MEAN_FCT, shortflow.Estimate(0.2, (0.051, 0.3), 3), "outside"),
        (MEAN_FCT, shortflow.Estimate(-0.2, (-0.3, -0.051), 3), "outside"),
        (MARKS, shortflow.Estimate(0.08, (0.06, 0.1), 3), "within"),
        (MARKS, shortflow.Estimate(0.08, (0.06, 0.11), 3), "undecided"),
        # A bound cannot agree.
        (MEAN_FCT, NEAR, "within"),
        (MEAN_FCT, replace(NEAR, lower_bound=True), "undecided"),
        (MEAN_FCT, replace(FAR, lower_bound=True), "outside"),
        (MEAN_FCT, replace(FAR, upper_bound=True), "undecided"),
        # With too few seeds, the verdict is undecided.
        (MEAN_FCT, None, "undecided"),
        (MEAN_FCT, shortflow.Estimate(0.0, None, 1), "undecided"),
        (MEAN_FCT, shortflow.Estimate(0.3, (0.3, 0.3), 2), "undecided"),
    ],
)
def test_the_whole_interval_decides(statistic: Statistic, difference: shortflow.Estimate | None, expected: str) -> None:
    assert agreement.STANDINGS[agreement.standing(Metric(statistic), difference)] == expected


def side_by_side(values: dict[Metric, list[tuple[float, float]]]) -> Results:
    """A cell with these values of metrics: for each seed a pair, simulated and on the kernel."""
    (seeds,) = {len(pairs) for pairs in values.values()}
    runs = [
        make_run(side, seed, "", [MetricValue(metric, pairs[seed][place]) for metric, pairs in values.items()], 0.0)
        for place, side in enumerate((testbed.SIMULATED, testbed.REAL))
        for seed in range(seeds)
    ]
    meta: Any = {"testbed": {"verdict": "trustworthy", "attempts": 1}}
    for run in runs[seeds:]:
        run.record["meta"] = meta
    return make_results("s", "S", {}, runs)


def test_rows_that_say_nothing_are_left_out() -> None:
    one_flow = [(1.0, 1.01), (2.0, 2.02), (3.0, 3.03)]
    of_many = {SHORT_MEAN: one_flow, SHORT_TAIL: [(2.0, 3.0), (3.0, 4.5), (4.0, 6.0)]}
    cell = side_by_side({LARGE_MEAN: one_flow, LARGE_TAIL: one_flow, **of_many, Metric(MARKS): [(0.0, 0.0)] * 3})
    agrees = dict.fromkeys((LARGE_MEAN, SHORT_MEAN), Verdict.AGREES)
    assert agreement.standings(cell) == {**agrees, SHORT_TAIL: Verdict.DIFFERS}
    found = agreement.Agreement({("s", "dctcp"): cell, ("s", "l2dct"): side_by_side({SHORT_MEAN: []})})
    assert found.named(Verdict.DIFFERS) == ["s dctcp p95_short_s"]
    assert found.named(Verdict.UNDECIDED) == ["s l2dct no data"]
    table = agreement.agreement_tables(found.document())
    assert "|  | p95 FCT of short flows | **+50.0 ± 0.0 %** | – ? |  |  |" in table
    assert "|  | mean FCT of short flows | +1.0 ± 0.0 % | – ? |  |  |" in table
    once = agreement.Agreement({("s", "dctcp"): side_by_side({SHORT_MEAN: [(1.0, 1.0)]})})
    assert "| kept time | 1 of 1 seeds in 1 run |  |  |  |" in agreement.agreement_tables(once.document())
    slower = agreement.agreement_tables(replace(found, slower=("s",)).document())
    assert slower == table.replace("| `s` |", "| `s`, at a quarter of its rates |") != table


def test_the_page_has_the_table_of_what_was_measured() -> None:
    """`tools/agreement.py` updates the page and the file of numbers."""
    docs = kernels.CHECKOUT / "docs"
    cells = json.loads((docs / "testbed" / "agreement.json").read_text(encoding="utf-8"))
    measured = {(cell["scenario"], cell["scheme"]) for cell in cells}
    assert measured == {(name, scheme) for name, schemes in agreement.CELLS.items() for scheme in schemes}
    page = (docs / "agreement.md").read_text(encoding="utf-8")
    assert all(table in page for table in agreement.agreement_tables(cells).split("\n\n"))


def test_agreement_has_all_cells_and_tries(monkeypatch: Patch, kernel: StandIn, tmp_path: Path, shortflow: Any) -> None:
    quick: Settings = {"duration": "40ms", "warmup": "0s", "traffic.1.repeat": 1}
    monkeypatch.setattr(agreement, "CELLS", {"testbed-narrow-incast": {"dctcp": quick, "l2dct": quick}})
    near = document("trustworthy", "testbed-narrow-incast", "dctcp", quick)
    kernel.of_scheme = {"dctcp": near, "l2dct": near.replace("trustworthy", "late")}
    command = ("linux", "agreement", "--seeds", "2", "--out", str(tmp_path))
    said = shortflow(*command, code=1)
    table = (tmp_path / "agreement.md").read_text()
    assert "| `testbed-narrow-incast` | mean FCT of short flows | " in table
    assert "|  | kept time | 2 of 2 seeds in 2 runs | 0 of 2 seeds in 6 runs |  |  |" in table
    found = json.loads((tmp_path / "agreement.json").read_text())
    tool = runpy.run_path(str(kernels.CHECKOUT / "tools" / "agreement.py"))
    assert agreement.agreement_tables([tool["essence"](cell) for cell in found]) == table, (
        "the page's file keeps enough"
    )
    (of_kernel,) = tool["essence"](found[0])["builds"]["kernel"]
    assert of_kernel.endswith(f" on {kernels.ThisKernel().name}"), "the page's file names the kernel and the build"
    essence = [(cell["scheme"], cell["kept_time"], len(cell["testbed"])) for cell in found]
    assert essence == [("dctcp", 2, 2), ("l2dct", 0, 2)]
    assert [set(cell["standing"].values()) for cell in found] == [{"undecided"}, set()], "two seeds decide nothing"
    assert "l2dct: 0 of 2 kept time, in 6 runs\n" in said.stderr
    assert "undecided: testbed-narrow-incast dctcp afct_short_s" in said.stderr
    assert "undecided: testbed-narrow-incast l2dct no data" in said.stderr
    kernel.of_scheme["l2dct"] = near
    assert shortflow(*command).code == 0, "whether the aims are met is no matter of the exit code"
    kept_time = "|  | kept time | 2 of 2 seeds in 2 runs | 2 of 2 seeds in 8 runs |  |  |"
    assert kept_time in (tmp_path / "agreement.md").read_text()


def test_every_cell_of_agreement_is_valid() -> None:
    assert len(agreement.CELLS) == 18
    for row, schemes in agreement.CELLS.items():
        setup = agreement.SETUPS.get(row, agreement.Setup(row, agreement.SLOWER.get(row, {})))
        for column, of_cell in schemes.items():
            scenario, scheme, slower, _ = agreement.cell_of(setup, column, of_cell)
            linux = {**testbed.linux_settings(scenario, scheme, slower), "duration": "60ms", "warmup": "0s"}
            linux |= {key: value for key, value in (("traffic.1.repeat", "1"),) if "incast" in scenario}
            linux |= {"traffic.2.at": "10ms", "traffic.2.jitter": "0s"} if "weights" in scenario else {}
            linux |= (
                {"traffic.2.start": "0s"}
                if any(
                    name in scenario for name in ("short-long", "messages", "one-host", "stagger", "same-host", "card")
                )
                else {}
            )
            linux |= {key: str(value) for key, value in setup.simulated.items()}
            assert shortflow.run(shortflow.load(scenario), scheme, settings=linux).metrics["marks"] >= 0


@pytest.mark.parametrize("is_in_scenario", [False, True])
def test_what_is_chosen_of_the_simulators_side_stays(kernel: StandIn, tmp_path: Path, is_in_scenario: bool) -> None:
    kernel.answer = document()
    chosen: Settings = {"host.jitter": "1ms", "tcp.quick_acks": "0", "tcp.ack_message_end": "false"}
    scenario = SCENARIO
    if is_in_scenario:
        text = path_of(SCENARIO).read_text().replace("[tcp]\n", "[tcp]\nquick_acks = 0\nack_message_end = false\n")
        scenario = str(tmp_path / "own.toml")
        Path(scenario).write_text(text.replace("[host]\n", '[host]\njitter = "1ms"\n'))
    given = {**SHORT, "topology.rtt": "2ms"} if is_in_scenario else {**SHORT, "topology.rtt": "2ms", **chosen}
    comparison = testbed.side_by_side(bed(scenario), "dctcp", [1], given)
    settings = {**LINUX_TRANSPORT, **SIMULATED_ALONE, **SHORT, **chosen}
    alone = shortflow.run(shortflow.load(SCENARIO), "dctcp", settings=settings).metrics
    for name in ("marks", "goodput_long_bps", "queue_mean_pkt"):
        assert comparison.values(testbed.SIMULATED, name)[1] == alone[name]


def test_the_differences_that_matter_are_named(kernel: StandIn) -> None:
    kernel.answer = document()
    marked = testbed.side_by_side(bed(), "dctcp", [1], SHORT)
    assert testbed.known_differences(marked, "dctcp") == []
    (reason,) = testbed.known_differences(marked, "tcp-ecn")
    assert "Reno halves again" in reason
    priorities = testbed.side_by_side(bed(), "pecn", [1], SHORT)
    (reason,) = testbed.known_differences(priorities, "pecn")
    assert "six bits" in reason
    for key, value in (("priority.by", "size-dscp"), ("tcp.header", "72B")):
        same = testbed.side_by_side(bed(), "pecn", [1], {**SHORT, key: value})
        assert not testbed.known_differences(same, "pecn"), key
    levels = testbed.side_by_side(bed(), "pias", [1], SHORT)
    assert not testbed.known_differences(levels, "pias")
    small: Settings = {**SHORT, "switch.buffer": "9pkt"}
    for recovery, word in (({}, "undoes"), ({"transport.recovery": "sack"}, "probes")):
        drops = testbed.side_by_side(bed(), "cubic", [1], {**small, **recovery})
        of_drops, of_cubic = testbed.known_differences(drops, "cubic")
        assert word in of_drops
        assert "HyStart" in of_cubic


def test_seeds_of_the_command_differ_in_the_round_trip(kernel: StandIn, shortflow: Any) -> None:
    kernel.answer = document()
    drawn = [testbed.drawn_rtt(SCENARIO, seed) for seed in (1, 2)]
    for seed, options, rtt in ((1, (), drawn[0]), (2, (), drawn[1]), (2, ("--set", "topology.rtt=3ms"), "3ms")):
        answer = shortflow("linux", "testbed", SCENARIO, "--seed", str(seed), *options, "--json")
        assert answer.document["settings"] == {"topology.rtt": rtt}
        assert kernel.settings.count(f"topology.rtt={rtt}") == 1
    assert drawn[0] != drawn[1]


def test_what_is_set_or_in_the_scenario_stays() -> None:
    plain = testbed.linux_settings("incast", "dctcp", {})
    assert plain["tcp.mss"] == testbed.LINUX_TCP["tcp.mss"]
    assert "tcp.rto_min" not in plain, "the scenario says 10ms"
    chosen = testbed.linux_settings("incast", "tcp", {"tcp.mss": "1460B", "transport.recovery": "newreno"})
    assert (chosen["tcp.mss"], chosen["transport.recovery"]) == ("1460B", "newreno")


@pytest.mark.parametrize(("code", "error"), [(2, shortflow.ConfigError), (3, shortflow.MissingRequirement)])
def test_failures_of_the_program_are_passed_on(kernel: StandIn, code: int, error: type[Exception]) -> None:
    kernel.code, kernel.errors = code, "tcp.header: 60B is not 40B"
    with pytest.raises(error, match="60B is not 40B"):
        measured({})


@needs_testbed
def test_the_command_on_real_tcp(shortflow: Any) -> None:
    run = ("linux", "testbed", SCENARIO, "--scheme", "tcp-ecn", "--set", "duration=1500ms", "--attempts", "1")
    answer = shortflow(*run, "--allow-late", "--json")
    if answer.code == 3:
        pytest.skip(answer.stderr)
    assert answer.code == 0, answer.stderr
    metrics = answer.document["schemes"]["tcp-ecn"]["metrics"]
    assert 60e6 < metrics["goodput_long_bps"]["mean"] < 97e6
    assert metrics["marks"]["mean"] > 50
    assert answer.document["testbed"]["congestion"] == "reno"


@needs_testbed
def test_a_card_holds_two_segments_of_each_connection(shortflow: Any) -> None:
    """Linux keeps at most two segments of a connection in the card (TCP small queues), as a host's port shows."""
    run = ("linux", "testbed", "testbed-one-host", "--scheme", "cubic", "--set", "later=7", "--set", "duration=3s")
    answer = shortflow(*run, "--attempts", "1", "--allow-late", "--json")
    if answer.code == 3:
        pytest.skip(answer.stderr)
    assert answer.code == 0, answer.stderr
    metrics = answer.document["schemes"]["cubic"]["metrics"]
    assert metrics["queue_mean_pkt"]["mean"] == pytest.approx(16, rel=0.05)
    assert metrics["goodput_later_bps"]["mean"] == pytest.approx(7 * metrics["goodput_first_bps"]["mean"], rel=0.1)


def test_a_row_names_its_congestion_control_and_keeps_its_runs(kernel: StandIn, tmp_path: Path, shortflow: Any) -> None:
    """The kernel's dctcp over fq is compared with the simulator's DCTCP over DRR."""
    kernel.answer = document("trustworthy", "testbed-one-host-messages", "dctcp", {})
    kept = tmp_path / "kept"
    answer = shortflow("linux", "agreement", "messages, fq", "--seeds", "1", "--out", "kept", code=0)
    assert str(kernel.calls).count("'--congestion', 'dctcp', '--card', 'fq'") == 2, "the check and the run"
    assert "host.queue" not in str(kernel.calls), "the simulator's alone"
    assert [path.name.split("-")[2:] for path in kept.glob("kernel-*")] == [["dctcp", "fq"]]
    (cell,) = json.loads((kept / "agreement.json").read_text())
    assert (cell["scenario"], cell["scheme"]) == ("messages, fq", "linux-dctcp")
    kernels_own, simulated = (float(text) for text in cell["host_queue"].split("; "))
    assert kernels_own == pytest.approx(simulated, abs=1)
    assert f"| queue, packets on the kernel; simulated |  |  | {cell['host_queue']} |  |" in answer.stdout
    answer = shortflow("linux", "agreement", "messages, fk", "--seeds", "1", "--out", "kept", code=2)
    assert "unknown row 'messages, fk'" in answer.stderr
    assert 'did you mean "messages, fq"' in answer.stderr


@pytest.mark.parametrize("command", [["testbed", SCENARIO], ["compare-sim", SCENARIO]])
def test_ctrl_c_is_answered(kernel: StandIn, shortflow: Any, command: list[str]) -> None:
    kernel.fails = KeyboardInterrupt()
    answer = shortflow("linux", *command, code=130)
    assert "shortflow: interrupted" in answer.stderr
