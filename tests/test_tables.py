"""Tables fit into 100 columns, have units and intervals, and have no rows or columns without values."""

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import tomli_w
from rich.console import Console

from conftest import Command, Patch
from made import make_flows, make_result, make_results, make_samples, star, sure, with_rows, with_tables
from shortflow.errors import ConfigError
from shortflow.judge.estimates import Estimate
from shortflow.metrics.catalogue import GOODPUT, MEAN_FCT
from shortflow.metrics.statistic import Metric
from shortflow.quantities import scale_for
from shortflow.report import caveats, tables, wording
from shortflow.report.answer import headlines
from shortflow.report.blocks import Block, terminal
from shortflow.report.document import results_table
from shortflow.result import Result, with_distances
from shortflow.results import Results

SHOWN = ("flows done", "mean FCT", "p99 FCT", "p99 slowdown")
"""Labels of the statistics by size in the tables of a run."""


def printed(blocks: Iterable[Block], width: int = 1000) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(terminal(blocks))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def main_blocks(comparison: Results) -> list[Block]:
    return tables.main_blocks(comparison, headlines(comparison))


def compared(schemes: Sequence[str], seeds: Sequence[int] = (1, 2, 3)) -> Results:
    results = [
        make_result(s, seed, fct_s=(1e-3 * seed, 3e-3 + i * 1e-3)) for i, s in enumerate(schemes) for seed in seeds
    ]
    return make_results("made", "A made-up scenario", {"load": "0.2"}, results)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_tables_fit_a_narrow_terminal_without_breaking_their_cells(width: int, monkeypatch: Patch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = printed(main_blocks(compared(["tcp", "dctcp", "l2dct"])), width)
    assert max(len(line) for line in lines) <= width
    assert sum("l2dct vs dctcp" in line for line in lines) == sum("schemes" in line for line in lines)


@pytest.mark.parametrize(
    "schemes", [["dctcp"], ["tcp", "dctcp", "l2dct"], [f"a-long-scheme-name-{i}" for i in range(6)]]
)
def test_no_line_is_wider_than_100_columns(schemes: Sequence[str]) -> None:
    comparison = compared(schemes)
    lines = printed(tables.comparison_blocks(comparison))
    assert max(len(line) for line in lines) <= 100
    runs = [replace(run, at={"load": load}) for load in ("0.2", "0.4") for run in comparison.runs]
    section = tables.sweep_section(replace(comparison, done=runs, keys=["load"]), headlines(comparison), schemes[0])
    assert [row[:2] for row in section.rows[: len(schemes) + 1 : len(schemes)]] == [
        ("0.2", schemes[0]),
        ("0.4", schemes[0]),
    ]
    assert any(each.header == f"× {schemes[0]}" for each in section.columns) is (len(schemes) > 1)
    lines = printed([section])
    assert max(len(line) for line in lines) <= 100
    assert not [line for line in lines if line.split()[:3] == ["load", "scheme", "×"]], "a factor without its metric"


def test_a_metric_that_a_scheme_lacks_is_a_dash() -> None:
    with_flows, without = make_result("dctcp"), make_result("l2dct", fct_s=())
    comparison = make_results("made", "made", {}, [with_flows, without])
    row = next(line for line in printed(tables.comparison_blocks(comparison)) if line.startswith(" l2dct"))
    assert "–" in row


def test_numbers_have_about_three_digits() -> None:
    texts = [wording.number(value) for value in (0.0, 3.0, 0.9374, 1.2345, 23.456, 345.6, 12345.6)]
    assert texts == ["0", "3", "0.937", "1.23", "23.5", "346", "12,346"]
    assert wording.number(23.456, 1.29) == "23.5 ± 1.3"
    assert wording.percent(Estimate(-0.3012, (-0.3312, -0.2712), 5)) == "-30.1 ± 3.0"
    assert wording.percent(None) == wording.shown(None) == "–"
    assert wording.percent(Estimate(308.72, None, 1)) == "+30,872.0"


def test_the_ends_of_a_lopsided_interval_are_shown() -> None:
    assert wording.shown(Estimate(5.98e-3, (5.64e-3, 6.34e-3), 2), 1e-3) == "5.98 ± 0.35"
    assert wording.shown(Estimate(5.98e-3, (4.41e-3, 8.11e-3), 2), 1e-3) == "5.98 [4.41, 8.11]"
    assert wording.shown(Estimate(2.0, (0.0, 14.7), 2)) == "2.00 [0.00, 14.70]"
    assert wording.shown(Estimate(2.0, (2.0, 2.0), 2)) == "2 ± 0"
    assert wording.percent(Estimate(-0.9, (-1.0, 0.371), 2)) == "-90.0 [-100.0, +37.1]"


def test_a_bound_has_no_interval_and_stands_behind_its_sign() -> None:
    assert wording.shown(Estimate(1.0114, (0.96, 1.06), 2, lower_bound=True), 1e-3) == "≥ 1,011"
    assert wording.percent(Estimate(3.5, (3.0, 4.0), 2, lower_bound=True)) == "≥ +350.0"
    assert wording.percent(Estimate(-0.5, (-0.6, -0.4), 2, upper_bound=True)) == "≤ -50.0"


def test_the_unit_stands_before_the_seeds() -> None:
    some = Estimate(0.5, (0.4, 0.6), 9, lacking=1)
    assert wording.percent(some, "%") == "+50.0 ± 10.0 % (9 of 10 seeds)"
    assert wording.shown(some, 1e-3, "ms") == "500 ± 100 ms (9 of 10 seeds)"


def stalled(scheme: str, fct_s: float | None, seed: int = 1) -> Result:
    """A run of two flows. The second flow starts 2.5 s before the end, and stalls if `fct_s` is None."""
    flow: dict[str, object] = {"size_bytes": 1000, "start_s": 1.5, "ideal_fct_s": 0.5}
    times: list[dict[str, object]] = [
        {**flow, "fct_s": each, "slowdown": each / 0.5 if each else None} for each in (1.0, fct_s)
    ]
    return with_tables(make_result(scheme, seed), flows=make_flows(times))


def test_a_scheme_that_stalls_is_not_shown_ahead() -> None:
    results = [stalled("stalls", None), stalled("quick", 1.2), stalled("slow", 9.0), stalled("stalls too", None)]
    comparison = make_results("made", "made", {}, results)
    lines = printed(main_blocks(comparison))
    rows = {
        scheme: next(line.split() for line in lines if line.startswith(f" {scheme}  "))
        for scheme in ("stalls", "quick")
    }
    # The slowdown is at least 2.5 s over 0.5 s, and the mean that of 1 s and at least 2.5 s. Unfinished flows count.
    assert rows["stalls"][1:5] == ["≥", "5", "≥", "1.75"]
    assert caveats.unfinished(comparison).startswith("Unfinished flows: stalls 1 of 2, stalls too 1 of 2.")
    afct = {(a, b): comparison.difference(a, b, "afct_short_s") for a in comparison.schemes for b in comparison.schemes}
    assert wording.percent(afct["stalls", "quick"]) == "≥ +59.1"
    assert wording.percent(afct["quick", "stalls"]) == "≤ -37.1"
    # The sign is open between 1.75 s or more and exactly 5 s, and between two lower bounds.
    assert afct["stalls", "slow"] is afct["slow", "stalls"] is afct["stalls", "stalls too"] is None
    document = results_table(comparison)
    assert document["schemes"]["stalls"]["unfinished_share"] == 0.5
    assert document["schemes"]["stalls"]["metrics"]["afct_short_s"] == {
        "mean": 1.75,
        "ci95": None,
        "n": 1,
        "lower_bound": True,
    }
    assert "lower_bound" not in document["schemes"]["quick"]["metrics"]["afct_short_s"]
    paired = document["paired"]
    assert paired["stalls"]["slow"]["afct_short_s"] == {"relative": None, "ci95": None, "n": 1}
    assert paired["quick"]["stalls"]["afct_short_s"]["upper_bound"]
    assert paired["stalls"]["quick"]["afct_short_s"]["lower_bound"]
    # The median is the time of the first flow, which is equal in all runs.
    assert paired["stalls"]["slow"]["p50_short_s"] == {"relative": 0.0, "ci95": None, "n": 1}


def test_a_distance_from_an_ideal_that_itself_left_flows_open_is_none() -> None:
    def distance(ours: float | None, best: float | None) -> Result:
        return with_distances([stalled("dctcp", ours), stalled("ideal-srpt", best)])[0]

    assert distance(1.4, 1.0).metrics["distance_short"] == pytest.approx(1.2)
    assert "distance_short" not in distance(1.4, 1.0).lower_bounds
    assert "distance_short" in distance(None, 1.0).lower_bounds
    assert "distance_short" not in distance(1.4, None).metrics


def test_a_class_whose_flows_all_started_in_the_warm_up_says_so() -> None:
    early = make_flows([{"size_bytes": 1000, "start_s": 0.0, "fct_s": 1.0, "slowdown": 2.0, "class": "incast"}])
    result = with_tables(make_result("dctcp"), flows=early)
    comparison = make_results("made", "made", {}, [result])
    with pytest.raises(ConfigError, match=r"p99_incast_s: no incast flow was counted, as all of them .* `warmup`"):
        comparison.require("p99_incast_s")
    with pytest.raises(
        ConfigError, match=r"jain_incast .Jain index of the goodput of two or more.*: no run here has this metric"
    ):
        comparison.require("jain_incast")  # the error must not advise a later start, which makes no flow backlogged
    with pytest.raises(ConfigError, match="unknown metric"):
        comparison.require("p99_short_s")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("afct_short_1mb_s", "no short flow of 100 KB–1 MB was counted, as none started in the measured time"),
        ("p99_over_1mb_s", "no finite flow of > 1 MB was counted, as none started in the measured time"),
        ("receipt_p50_over_1mb_s", "no finite flow of > 1 MB was counted"),
        ("convergence_long_s", "needs two or more backlogged flows of class long, and no run here has one"),
        *((name, "no run here has this metric") for name in ("afct_long_s", "query_time_s")),
        *((name, "no run here has this metric") for name in ("receipt_p50_short_s", "receipt_upto_100kb_s")),
    ],
)
def test_a_metric_that_no_run_has_says_why(name: str, reason: str) -> None:
    """The run has two short flows of at most 2 KB, without times of receipt, and one backlogged flow."""
    with pytest.raises(ConfigError, match=f"^{name}( .*)?: {reason}"):
        make_results("made", "made", {}, [make_result()]).require(name)


def test_a_metric_of_fairness_without_samples_names_the_interval_that_it_needs() -> None:
    """The window of convergence is 1 s, and that of the mean Jain index is 100 times as long."""
    long = make_flows([{"id": number, "class": "long", "delivered_bytes": 1} for number in (0, 1)])
    comparison = make_results("made", "made", {}, [with_tables(make_result(), flows=long, samples=make_samples())])
    for name, every in (("convergence_long_s", "1000000us"), ("jain_sampled_long", "100000000us")):
        with pytest.raises(ConfigError, match=f"^{name}: .* {every} apart; `--set measure.sample_every={every}` "):
            comparison.require(name)


def test_units_suit_the_values() -> None:
    assert scale_for(MEAN_FCT.unit, [0.0005, 0.02]).unit == "ms"
    assert scale_for(MEAN_FCT.unit, [20e-6]).unit == "µs"
    assert scale_for(GOODPUT.unit, [361e6, 900e6]).unit == "Mbps"
    assert scale_for(GOODPUT.unit, [9.1e9]).unit == "Gbps"
    assert scale_for("share", [0.5]).divisor == 0.01


def test_the_spread_of_times_is_a_line_between_its_percentiles(monkeypatch: Patch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    times = {"tcp": [1e-3 * 10 ** (i / 99) for i in range(100)], "dctcp": [1e-3] * 100}
    results = [make_result(scheme, 1, fct_s=of) for scheme, of in times.items()]
    comparison = make_results("made", "Made", {}, results)
    section = sure(tables.spread_section(comparison))
    tcp, dctcp = section.columns[0].cells
    assert section.columns[0].header.split() == ["1", "ms", "9.77", "ms"], "the 1st and the 99th percentile"
    assert (len(tcp), tcp[0], tcp[-1], tcp.index("●")) == (64, "─", "─", 32)
    assert (tcp.index("━"), tcp.rindex("━")) == (3, 60), "percentiles 5 and 95"
    assert dctcp == "●"
    monkeypatch.setenv("COLUMNS", "79")
    assert tables.spread_section(comparison) is None


def test_two_runs_of_one_scheme_and_seed_are_no_comparison() -> None:
    run = make_result()
    with pytest.raises(ValueError, match="several runs of dctcp with seed 1"):
        make_results("made", "", {}, [run, run])


def test_cells_say_where_seeds_have_no_value() -> None:
    whole = compared(["dctcp", "l2dct"])
    lacks = [with_rows(run, run.rows if run.seed > 1 else []) for run in whole.runs]
    text = "\n".join(printed(tables.comparison_blocks(replace(whole, done=lacks), [Metric(MEAN_FCT, "short")])))
    assert text.count("(2 of 3 seeds)") == 3, "each scheme's mean and their difference"
    assert "seeds)" not in "\n".join(printed(tables.comparison_blocks(whole, [Metric(MEAN_FCT, "short")])))


def test_queues_of_packets_that_differ_in_size_are_shown_in_bytes(shortflow: Command, tmp_path: Path) -> None:
    """Segments are smaller with FaST than with DCTCP, and with a smaller `tcp.mss`."""
    given = ("incast", "--seeds", "1", "--set", "servers=20")
    shown = shortflow("compare", *given, "--schemes", "dctcp,fast", "--no-ideal").stdout
    assert re.search(r"queue, mean\s*\n.*\(ms\) +\(B\)", shown), shown
    sweep = ("sweep", *given, "--schemes", "dctcp", "--out", str(tmp_path / "swept"), "--grid", "tcp.mss=536B,1460B")
    shown = shortflow(*sweep).stdout
    assert re.search(r"queue, mean\s*\n.*\(ms\) +\(B\)", shown), shown
    noted = " ".join(shortflow(*sweep, "--metrics", "queue_mean_pkt").stdout.split())
    said = (
        r"differ in mean size: tcp.mss=536B \d+ B and tcp.mss=1460B [\d,]+ B. Compare queues in bytes: queue_mean_bytes"
    )
    assert re.search(said, noted), noted


def test_rows_of_a_trace_that_start_too_late_are_counted_beside_the_answer(shortflow: Command, tmp_path: Path) -> None:
    """The file's starts were meant in ms, but are read in s, so only one of four is within the simulated 10 ms."""
    rows = "".join(f"{start},h0,h1,2000\n" for start in (0, 10, 20, 30))
    (tmp_path / "late.csv").write_text(f"start,source,destination,bytes\n{rows}")
    (tmp_path / "late.toml").write_text(tomli_w.dumps(star(traffic=[{"kind": "trace", "file": "late.csv"}])))
    said = "late.csv: rows that start at duration"
    for command in (("run", "--scheme", "dctcp"), ("compare", "--schemes", "tcp,dctcp", "--seeds", "1")):
        done = shortflow(command[0], str(tmp_path / "late.toml"), *command[1:])
        assert done.stderr.count(said) == 1
        assert done.stdout.count(said) == 1
        assert "Are the starts in milliseconds" in " ".join(done.stdout.split())


def test_a_run_shows_the_main_metrics_by_size_and_no_size_that_holds_all_flows(shortflow: Command) -> None:
    command = ("run", "l2dct-benchmark", "--scheme", "dctcp", "--set", "duration=300ms")
    text, whole = shortflow(*command).stdout, shortflow(*command, "--json").document["schemes"]["dctcp"]["metrics"]
    assert whole["flows_upto_100kb"]["mean"] == whole["flows_short"]["mean"], "all of them"
    assert not [line for line in text.splitlines() if "up to 100 KB" in line or "time to receipt" in line]
    sizes = [line.split("  ")[0].strip() for line in text.splitlines() if "10 KB" in line]
    assert sizes == [f"{each} of flows up to 10 KB".replace("done of flows", "done") for each in SHOWN]
    assert [line.split()[-1] for line in text.splitlines() if "unfinished" in line] == ["0"]
    assert {"receipt_short_s", "slowdown_p50_upto_100kb", "unfinished_share_short"} <= whole.keys()
