"""The page of a default sweep has the same blocks as that of a comparison, at all points of the grid."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import shortflow as sf
from conftest import Command
from made import make_results, make_rows, make_run
from shortflow.criteria import Criteria
from shortflow.judge.estimates import Estimate
from shortflow.metrics.catalogue import short_and_long
from shortflow.metrics.data import USUAL_BINS
from shortflow.report.answer import answer
from shortflow.report.figures import charts, over_points
from shortflow.report.sentences import range_of
from shortflow.report.study import studies
from shortflow.result import Result
from shortflow.results import Results
from shortflow.scenario import Setting
from shortflow.store.runs import select_runs
from valid import check

TAIL, MEAN, RATE = (metric.name for metric in short_and_long(USUAL_BINS))
SEEDS = range(1, 6)


def run_of(scheme: str, seed: int, ms: float, scenario: dict[str, str], law: dict[str, str]) -> Result:
    """A stored run without tables, whose digest follows from its mean FCT."""

    def settings(values: dict[str, str]) -> list[Setting]:
        return [{"key": key, "value": value, "source": "--set"} for key, value in values.items()]

    origin: Any = {
        **{"scenario": "made", "title": "Made", "version": "0", "finished_at": "2020"},
        **{"scenario_settings": settings(scenario), "scheme_settings": settings(law)},
    }
    rows = make_rows(**{MEAN: ms * 1e-3, TAIL: 3 * ms, RATE: 1e9 / ms})
    return make_run(scheme, seed, f"{ms * seed}", rows, origin=origin)


def of_keys(loads: list[str], gains: list[str]) -> Results:
    """Runs of l2dct at all loads and gains, and of tcp, which has no gain. Times rise with load and gain."""
    runs = [
        run_of(
            "l2dct", seed, (float(load) + float(g)) * (1 + seed / 100), {"parameters.load": load}, {"transport.g": g}
        )
        for load in loads
        for g in gains
        for seed in SEEDS
    ]
    runs += [
        run_of("tcp", seed, 2.0 * (1 + seed / 100), {"parameters.load": load}, {}) for load in loads for seed in SEEDS
    ]
    (study,) = studies(runs)
    return study


def mean_words(study: Results) -> list[str]:
    return answer(study, Criteria([MEAN])).words


def test_a_scheme_without_a_key_stands_at_all_its_values() -> None:
    study = of_keys(["0.4", "0.2"], ["1", "3", "2"])
    values = [(each.key, each.values) for each in study.dimensions]
    assert values == [("load", ["0.2", "0.4"]), ("transport.g", ["1", "2", "3"])]
    assert [point.label for point in study.points] == ["0.2, 1", "0.2, 2", "0.2, 3", "0.4, 1", "0.4, 2", "0.4, 3"]
    assert {tuple(point.schemes) for point in study.points} == {("tcp", "l2dct")}
    assert len(study.results) == 5 * (2 + 6), "each run once"


def test_a_scheme_with_a_key_stands_only_where_it_ran(tmp_path: Path) -> None:
    short = sf.load("l2dct-benchmark").with_(warmup="5ms", duration="30ms")
    sf.compare(short, "dctcp,l2dct,tcp", seeds=2, ideal=False, out=tmp_path)
    sf.compare(short, "dctcp", seeds=2, settings={"transport.g": 0.25}, ideal=False, out=tmp_path)
    (study,) = studies(select_runs(tmp_path).current)
    told = {point.label: point.schemes for point in study.points}
    assert told == {"0.0625": ["tcp", "dctcp", "l2dct"], "0.25": ["tcp", "dctcp"]}
    assert "l2dct has no runs at transport.g 0.25." in answer(study).words


def test_a_scheme_without_others_does_not_win() -> None:
    runs = [run for run in of_keys(["0.2", "0.4"], ["1"]).done if run.scheme == "l2dct" or "0.2" in run.at.values()]
    (study,) = studies(runs)
    assert mean_words(study)[0].endswith(
        "flows up to 100 KB at load 0.2 (0.600 of tcp's). At load 0.4, only l2dct has runs."
    )
    assert not any(each.startswith("load") for each in mean_words(study)), "both points are in the sentence over all"


def test_a_setting_that_changes_no_run_of_a_scheme_is_no_choice_of_it(shortflow: Command) -> None:
    sets = ("--set", "warmup=5ms", "--set", "duration=60ms", "--seeds", "2", "--out", "here")
    grid = ("--grid", "transport.g=0.0625,0.5", "--grid", "switch.mark_above=5pkt,20pkt")
    done = shortflow("sweep", "l2dct-benchmark", "--schemes", "dctcp,tcp-ecn", *grid, *sets, "--json").document
    words = done["answer"]["words"]
    of_dctcp, of_ecn = ([each for each in words if each.startswith(f"{scheme}:")] for scheme in ("dctcp", "tcp-ecn"))
    assert {"transport.g" in each for each in of_dctcp} == {True}
    assert {"transport.g" in each for each in of_ecn} == {False}


def test_the_points_of_two_keys_are_said_key_by_key() -> None:
    told = mean_words(of_keys(["0.2", "0.4"], ["1", "2", "3"]))
    assert told[0] == (
        "l2dct has the lowest mean FCT of flows up to 100 KB at load 0.2 to 0.4 with transport.g 1 (0.600 to 0.700 of "
        "tcp's). At load 0.2 to 0.4 with transport.g 2 to 3, tcp is best (l2dct has 1.10 to 1.70 times tcp's)."
    )
    assert told[1] == "l2dct: transport.g=1 has the best mean FCT of flows up to 100 KB."
    many = of_keys([f"0.{i}" for i in range(1, 10)], ["1", "1.1", "1.2", "1.3", "1.4"])
    assert "l2dct has the lowest mean FCT of flows up to 100 KB at 35 of 45 points (" in mean_words(many)[0]
    assert [each for each in mean_words(many) if each.startswith("load 0.1, transport.g 1: mean FCT of flows up to")]
    mixed = mean_words(of_keys(["0.2", "0.9"], ["1", "1.2"]))[0]
    assert "at load 0.2 with every transport.g and load 0.9 with transport.g 1 (" in mixed


def test_one_scheme_is_compared_with_itself_where_its_flows_are_the_same() -> None:
    alone = of_keys(["0.2"], ["1", "2"])
    runs = [run for run in alone.done if run.scheme == "l2dct"]
    (line,) = (ranking := answer(replace(alone, done=runs), Criteria([MEAN]))).lines
    assert (line.outcome, line.leaders) == ("winner", ["transport.g=1"])
    assert ranking.words[0].endswith("; transport.g=2 has 1.83 times transport.g=1's.")
    loads = [run_of("tcp", seed, float(load) * seed, {"parameters.load": load}, {}) for load in "12" for seed in (1, 2)]
    (study,) = studies(loads)
    assert mean_words(study)[0] == "Under tcp, the mean FCT of flows up to 100 KB is 1.50 to 3 ms at load 1 to 2."


def test_keys_in_step_are_one_dimension() -> None:
    runs = [run_of("tcp", 1, 1.0, {"topology.hosts": n, "topology.rate": f"{n}Gbps"}, {}) for n in ("8", "16")]
    runs = [
        replace(run, at={each["key"]: each["value"] for each in run.provenance["scenario_settings"]}) for run in runs
    ]
    study = Results(runs, "made", "Made", keys=["topology.hosts", "topology.rate"])
    assert study.x_name == "topology.hosts (with topology.rate)"
    assert [point.label for point in study.points] == ["8", "16"]


def test_curves_over_each_key_hold_the_others_at_the_values_of_the_menu() -> None:
    study = of_keys(["0.2", "0.4"], ["1", "2", "3"])
    for chart in charts(study):
        check(chart)
    chart = over_points(study, [study.require(MEAN)])
    assert [panel["layer"][0]["encoding"]["x"]["title"] for panel in chart.panels] == ["load", "transport.g"]
    assert [panel["transform"][1]["filter"] for panel in chart.panels] == [
        "at == null || datum.at1 == at[1]",
        "at == null || datum.at0 == at[0]",
    ]
    assert chart.at == ["0.4", "1"]
    (row,) = (row for row in chart.rows if (row["scheme"], row["at"]) == ("l2dct", "0.4, 3"))
    assert (row["x"], row["x1"], row["at0"], row["at1"]) == (0.4, 3.0, "0.4", "3")
    assert row["value"] == pytest.approx(3.4 * 1.03)


def test_equal_runs_are_a_tie_and_a_baseline_has_no_interval_beside_itself() -> None:
    runs = [run_of(scheme, seed, 2.0 * seed, {}, {}) for scheme in ("tcp", "twin") for seed in SEEDS]
    other = [run_of("slow", seed, 9.0 * seed, {}, {}) for seed in SEEDS]
    found = make_results("made", "Made", {}, [*runs, *other])
    (line,) = (ranking := answer(found, Criteria([MEAN]))).lines
    assert (line.outcome, line.leaders) == ("tie", ["tcp", "twin"])
    table = ranking.document()["lines"][0]["schemes"]
    assert (table["tcp"]["factor"], table["tcp"]["factor_ci95"]) == (1.0, None)
    single = make_results("made", "Made", {}, [run for run in found.done if run.seed == 1 and run.scheme != "slow"])
    assert answer(single, Criteria([MEAN])).lines[0].outcome == "tie", "with one seed too"


@pytest.mark.usefixtures("scenario")
def test_the_report_of_a_default_sweep_answers_as_the_command_does(shortflow: Command, tmp_path: Path) -> None:
    grid = ("--grid", "load=0.2,0.4", "--grid", "switch.mark_above=5pkt,20pkt")
    runs = ("sweep", "small.toml", "--schemes", "dctcp,tcp", *grid, "--seeds", "3", "--out", "s")
    found = shortflow(*runs, "--json").document
    assert found["answer"]["baseline"] == "tcp", "the first that `list schemes` has"
    assert shortflow("report", "s").code == 0
    page = (tmp_path / "s" / "report.html").read_text(encoding="utf-8")
    for heading in (
        "Schemes by mean",
        "p99 slowdown by flow size",
        "Trade-off",
        "All numbers",
        "Best values of each",
    ):
        assert heading in page
    assert "Headlines over load and switch.mark_above" in page
    assert "these runs have no tables. <code>sweep --tables</code> stores tables." in page
    (study,) = shortflow("report", "s", "--json").document["studies"]
    assert study["answer"]["lines"] == found["answer"]["lines"]
    assert study["answer"]["words"][:6] == found["answer"]["words"][:6]
    chosen = ("--metrics", "drops,timeouts", "--baseline", "dctcp", "--ties", "1%,2%")
    own = shortflow("report", "s", *chosen, "--json").document["studies"][0]["answer"]
    assert own["baseline"] == "dctcp"
    assert {line["metric"] for line in own["lines"]} == {"drops", "timeouts"}
    shortflow("report", "s", *chosen)
    page = (tmp_path / "s" / "report.html").read_text(encoding="utf-8")
    assert "ratio is within 1 % of 1, and the interval of the ratio within 2 %" in page
    again = ("compare", "small.toml", "--schemes", "tcp", "--no-ideal", "--out", "s", "--seeds", "2")
    assert shortflow(*again, "--set", "load=0.4").code == 0
    mixed = shortflow("report", "s", "--json").document["studies"][0]
    assert mixed["answer"] == study["answer"], "runs that also have tables stay in their sweep"
    assert "distribution" in {plot["name"] for plot in mixed["plots"]}
    python = sf.read_store("s")
    assert python.answer() == study["answer"]
    assert python.plot.metric(TAIL).heading == "Headlines over load and switch.mark_above"


@pytest.mark.parametrize("ties", ["5", "10%,5%", "x%,y%", "5%,10%,20%", "-1%,5%", "5%,100%"])
def test_wrong_ties_are_refused_before_any_run(shortflow: Command, scenario: str, ties: str) -> None:
    expected = f"--ties {ties}: expected two shares below 100%, the smaller first, such as 5%,10%"
    for command in (("compare", scenario), ("sweep", scenario, "--grid", "load=0.2,0.4"), ("report", ".")):
        more = () if command[0] == "report" else ("--schemes", "tcp,dctcp", "--out", "kept")
        assert shortflow(*command, *more, "--ties", ties).stderr == f"shortflow: {expected}\n"
    assert not Path("kept").exists()


def test_wrong_ties_are_refused_in_python_too(tmp_path: Path, scenario: str) -> None:
    file = tmp_path / scenario
    with pytest.raises(sf.ConfigError, match=r"--ties \(0.2, 0.1\): expected two shares below 100%"):
        sf.compare(file, "tcp,dctcp", 1, ties=(0.2, 0.1))
    runs = sf.compare(file, "tcp,dctcp", 1, ideal=False, progress=False)
    assert runs.answer(ties="5%,10%") == runs.answer(ties=[0.05, 0.1]) == runs.answer()
    with pytest.raises(sf.ConfigError, match=r"--ties 5: expected"):
        runs.answer(ties="5")


def test_goodput_of_long_flows_that_did_not_finish_depends_on_the_drain(shortflow: Command) -> None:
    words = "The goodput per flow above 1 MB depends on the length of the drain: under tcp some of these flows"
    for drain, is_said in (("0s", True), ("5s", False)):
        settings = ("--set", "duration=50ms", "--set", "warmup=5ms", "--set", f"drain={drain}", "--set", "load=0.4")
        found = shortflow("compare", "websearch-star", "--schemes", "tcp", "--seeds", "1", "--no-ideal", *settings)
        assert (words in " ".join(found.stdout.split())) is is_said


def test_a_range_of_factors_keeps_the_sign_of_each_bound() -> None:
    factors = [Estimate(-0.7, None, 3), Estimate(-0.9, None, 3), Estimate(-0.8, None, 3, upper_bound=True)]
    assert range_of(factors, "tcp's") == "0.300 to at most 0.100 of tcp's"
    assert range_of([*factors[:1], None], "tcp's") == "0.300 of tcp's at 1 of 2 points"
