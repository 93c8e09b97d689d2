"""Tuning: its question, proposals that follow from the question alone, and the check of found parameters."""

import dataclasses
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest

import shortflow
from conftest import Command, Patch, Tables
from made import sure
from made_tuning import AFCT, BOTH, FASTEST, GOODPUT, KEPT, MISS, REFERENCES, W_MAX, W_MIN, checked, made, tuning_of
from shortflow.errors import ConfigError, DamagedResult, Interrupted, LostRun
from shortflow.executors import Local
from shortflow.scenario import load_scenario
from shortflow.tuning import engine, record
from shortflow.tuning.asking import TunedScenario, ask, second_workload
from shortflow.tuning.goal import Constraint, Goal, Measurement, Objective, Parameter
from shortflow.tuning.plots import plots
from shortflow.tuning.proposals import Proposals, importances, optuna_study
from shortflow.tuning.record import Question, Trial, Tuning
from shortflow.tuning.shown import read_tuning
from shortflow.tuning.tables import sections
from shortflow.tuning.verdict import sentence
from valid import check


def trial_settings(found: Tuning) -> list[dict[str, str]]:
    return [trial.settings for trial in found.trials]


def plain(found: Tuning) -> Any:
    return msgspec.to_builtins(found)


# Texts of parameters.


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        (["transport.g=0:1:log"], "--param transport.g=0:1:log: expected a logarithmic range that begins above 0"),
        (["transport.g=0.1:1e999"], "--param transport.g=0.1:1e999: expected a low end below the high end"),
        (["transport.g=0.1:0.2:0.03"], "--param transport.g=0.1:0.2:0.03: expected a step above 0 that divides"),
        (["transport.g=0.1:0.2", "transport.g=0.1:1"], "--param transport.g: is given twice"),
        (["transport.g=0.5:2"], "transport.g: 2 is not a number from 0 to 1"),
        (["g=0.1:0.2"], '--param g: unknown key; did you mean "transport.g"?'),
        (["transport.gg=0.1:0.2"], "transport.gg: "),
    ],
)
def test_a_parameter_that_cannot_be_tuned_is_an_error_that_names_it(
    small: Tables, parameters: list[str], error: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(error)}"):
        question_of(small, *parameters, scheme="dctcp")


def test_ranges_are_read_with_their_units() -> None:
    knee = Parameter.parse("transport.knee_low=20KB:1MB")
    assert (knee.low, knee.high, knee.unit) == (20.0, 1000.0, "KB")
    assert knee.written(123.456) == "123.5KB", "four digits"
    assert knee.written(1000.0) == "1000KB"
    assert knee.value("0.2MB") == 200.0
    assert knee.value("2MB") is None
    assert knee.value("unlimited") is None
    assert knee.text == "transport.knee_low=20KB:1000KB"
    k = Parameter.parse("switch.mark_above=5pkt:45pkt:10pkt")
    assert (k.high, k.step, k.value("25pkt"), k.value("26pkt")) == (45.0, 10.0, 25.0, None)
    assert k.at(3) == 35.0
    g = Parameter.parse("transport.g=0.00001:0.5:log")
    assert g.log
    assert g.written(g.low) == "0.00001", "the keys' own syntax has no exponent"


def test_constraints_are_read() -> None:
    assert Constraint.parse(f"{GOODPUT} >= 0.99 * dctcp") == Constraint(GOODPUT, ">=", 0.99, scheme="dctcp")
    assert Constraint.parse(f"{GOODPUT}>=99%*xdctcp+g=0.09") == Constraint(GOODPUT, ">=", 0.99, scheme="xdctcp+g=0.09")
    assert Constraint.parse(f"{AFCT} <= dctcp") == Constraint(AFCT, "<=", 1.0, scheme="dctcp")
    assert Constraint.parse("p99_short_s <= 5ms") == Constraint("p99_short_s", "<=", 0.005, "s")
    assert Constraint.parse("deadline_miss <= 2%") == Constraint("deadline_miss", "<=", 0.02, "share")
    assert Constraint.parse("queue_mean_pkt <= 30") == Constraint("queue_mean_pkt", "<=", 30.0)


def test_a_goal_as_text_is_that_of_the_options() -> None:
    goal = Goal.parse([AFCT], [GOODPUT], ["p99_short_s <= 5ms", f"{GOODPUT} >= 0.99 * dctcp"])
    assert goal.text == (
        "least afct_short_s and largest goodput_long_bps, subject to p99_short_s <= 0.005s and "
        "goodput_long_bps >= 0.99 * dctcp"
    )
    assert repr(tuning_of(FASTEST, made(1.0))) == "<Tuning s, l2dct: least afct_short_s; 1 trial>"


ASKED: dict[str, Any] = {"baseline": "dctcp", "seeds": 1, "batch": 8}


def question_of(
    small: Tables, *parameters: str, scheme: str = "l2dct", settings: dict[str, str] | None = None
) -> Question:
    here = TunedScenario(shortflow.load(small), settings or {}, FASTEST)
    parsed = [Parameter.parse(each) for each in parameters]
    return ask(here, None, scheme, parsed, **ASKED)


def test_a_setting_is_for_the_schemes_that_have_it(small: Tables) -> None:
    here = TunedScenario(shortflow.load(small), {"transport.w_min": "0.3", "transport.g": "0.2"}, FASTEST)
    ask(here, None, "l2dct", [W_MAX], **ASKED)
    (ours,), (theirs,) = here.runs("l2dct", [1]), here.runs("dctcp", [1])
    assert "0.3" in {key: value for key, value, _ in ours.scheme.resolved()}["transport.w_min"]
    assert {key: value for key, value, _ in theirs.scheme.resolved()}["transport.g"] == "0.2"
    wrong = TunedScenario(here.scenario, {"transport.w_mn": "1"}, FASTEST)
    for first, second in ((wrong, None), (here, wrong)):
        with pytest.raises(ConfigError, match=r'transport\.w_mn.*did you mean "transport\.w_min"'):
            ask(first, second, "l2dct", [W_MAX], **ASKED)
    with pytest.raises(ConfigError, match=r"transport\.w_min: this command varies the key, so --set cannot set it"):
        ask(here, None, "l2dct", [W_MIN], **ASKED)


def test_what_the_question_says_of_the_parameters(small: Tables) -> None:
    found = question_of(small, "transport.w_max=1:5", "transport.knee_low=1KB:900KB", "switch.mark_above=5pkt:50pkt")
    assert [each.step for each in found.parameters] == [None, None, 1.0], "packets are whole"
    assert found.untuned_values == {"transport.w_max": 2.5, "transport.knee_low": 200.0, "switch.mark_above": 20.0}
    assert question_of(small, "transport.w_max=3:5").untuned_values is None
    assert question_of(small, "load=0.1:0.9").untuned == {"load": "0.4"}
    assert not found.flow_keys
    assert question_of(small, "load=0.1:0.9", "transport.w_max=1:5").flow_keys == ["load"]
    switch: Any = small["switch"]
    named = {**small, "parameters": {"load": 0.4, "k": "20pkt"}, "switch": {**switch, "mark_above": "$k"}}
    assert not question_of(named, "k=5pkt:50pkt").flow_keys, "it stands for a threshold"


def test_a_second_workload_has_the_metrics_or_their_counterparts() -> None:
    benchmark = shortflow.load("l2dct-benchmark")
    goal = Goal([Objective(AFCT)], [Constraint.parse(f"{GOODPUT} >= 0.99 * dctcp")])
    assert second_workload(None, benchmark, goal, {}, {}).scenario.name == "l2dct-pareto"
    websearch = second_workload("websearch-star", benchmark, goal, {}, {AFCT: "afct_websearch_100kb_s"})
    assert [each.metric for each in websearch.goal.objectives] == ["afct_websearch_100kb_s"]
    assert not websearch.goal.constraints
    assert [each.metric for each in websearch.left_out] == [GOODPUT], "there are no backlogged flows of a class long"
    renamed = second_workload("websearch-star", benchmark, FASTEST, {"traffic.1.class": "short"}, {})
    assert renamed.goal == FASTEST
    assert renamed.runs("dctcp", [1])[0].scenario.classes == ["short"]
    with pytest.raises(ConfigError, match=r"--check-on websearch-star: .*afct_short_s.*--check-metric"):
        second_workload("websearch-star", benchmark, goal, {}, {})
    with pytest.raises(ConfigError, match='metric of the goal; did you mean "afct_short_s"'):
        second_workload("l2dct-pareto", benchmark, goal, {}, {"afct_shrt_s": AFCT})
    with pytest.raises(ConfigError, match="--check-on: none of"):
        second_workload(None, benchmark, Goal([Objective("afct_mine_s")]), {}, {})


# Judgements of trials.


def test_unfinished_flows_make_a_trial_infeasible_however_fast_it_seems() -> None:
    assert KEPT.judge(made(1.0, 1.0), REFERENCES).feasible
    assert not KEPT.judge(made(1.0, 1.0, unfinished=0.01), REFERENCES).feasible
    assert not KEPT.judge(made(1.0, 1.0, bound=True), REFERENCES).feasible
    lost = KEPT.judge(made(1.0, 1.0, goodput=0.5e8), REFERENCES)
    assert lost.violations == pytest.approx([0.0, 4 / 9])
    missing = made(1.0)
    missing.values[GOODPUT][0] = None
    assert KEPT.judge(missing, REFERENCES).objectives is None


def test_the_best_feasible_trial_is_chosen() -> None:
    found = tuning_of(
        KEPT, made(1.5, 1.5), made(1.0, 1.0, goodput=0.5e8), made(1.2, 1.4), made(0.5, 0.5, unfinished=0.1)
    )
    assert sure(found.chosen).number == 2
    assert tuning_of(KEPT, made(1.0, 1.0, unfinished=0.5)).chosen is None
    broken = (made(1.0, 1.0, unfinished=0.5), *(made(1.0, 1.0, goodput=rate) for rate in (0.5e8, 0.6e8)))
    assert "unfinished in 1, goodput_long_bps >= 0.9 * dctcp was broken in 2." in sentence(tuning_of(KEPT, *broken))
    assert tuning_of(FASTEST, made(1.5, 1.5), made(1.0, 1.0), made(1.0, 1.0)).front == [1], "the first of equals"


def test_a_front_has_what_no_trial_beats_and_its_choice_loses_nothing() -> None:
    points = [(1.0, 0.5e8), (1.5, 1.1e8), (1.4, 0.9e8), (2.5, 1.5e8), (1.6, 1.1e8), (2.5, 1.4e8)]
    found = tuning_of(BOTH, *(made(time, time, goodput=rate) for time, rate in points))
    assert found.front == [0, 2, 1, 3]
    assert sure(found.chosen).number == 1, "0 doubles the speed for half the goodput, 3 is slower than l2dct untuned"
    wanted = dataclasses.replace(BOTH, constraints=[Constraint(GOODPUT, ">=", 1.2, scheme="dctcp")])
    alone = tuning_of(wanted, *(made(time, time, goodput=rate) for time, rate in ((2.0, 1.3e8), (3.0, 1.6e8))))
    assert alone.yardstick is None
    assert sure(alone.chosen).number == 0, "1.3 times the goodput as fast, or 1.6 times for two thirds of the speed"


def test_an_objective_that_is_zero_in_the_reference_counts_by_its_share_of_the_largest() -> None:
    # The products of the ratio of times and one minus the share: 2 / 0.9 * 0, 2 / 1 * 0.5 and 2 / 1.43 * 0.75.
    goal = Goal([Objective(AFCT), Objective(MISS)])
    found = tuning_of(goal, *(made(time, time, misses=miss) for time, miss in ((0.9, 0.4), (1.0, 0.2), (1.43, 0.1))))
    assert found.front == [0, 1, 2]
    assert sure(found.chosen).number == 2


def test_a_bound_by_another_scheme_is_that_of_the_same_seeds() -> None:
    references = {**REFERENCES, "dctcp": made(3.0, 3.0, goodput=[1e8, 3e8])}
    assert KEPT.judge(made(1.0, goodput=0.95e8), references).feasible, "0.9 of 1e8, by the first seed"
    assert not KEPT.judge(made(1.0, 1.0, goodput=0.95e8), references).feasible, "0.9 of 2e8, by both seeds"


def test_importance_is_for_the_trials_that_are_good() -> None:
    # The highest goodputs need the largest w_max, whatever w_min is. The smallest w_min gives the lowest goodputs.
    places = [(w_max, w_min) for w_max in range(6) for w_min in range(6)]
    rates = [1e8 + 5e7 * (w_max == 5) - 5e7 * (w_min == 0) for w_max, w_min in places]
    found = tuning_of(BOTH, *(made(2.0, 2.0, goodput=rate) for rate in rates))
    values = [{W_MAX.key: 1 + 0.8 * w_max, W_MIN.key: 0.05 + 0.19 * w_min} for w_max, w_min in places]
    trials = [dataclasses.replace(trial, values=each) for trial, each in zip(found.trials, values, strict=True)]
    question = dataclasses.replace(found.question, parameters=[W_MAX, W_MIN])
    tuning = Tuning(question, REFERENCES, trials)
    of_goodput = importances(tuning)[1]
    assert of_goodput[W_MAX.key] > of_goodput[W_MIN.key]
    *_, chart = plots(tuning)
    shares: dict[str, list[float]] = {}
    for row in chart.rows:
        shares.setdefault(row["panel"], []).append(row["share"])
    assert list(shares) == [AFCT, GOODPUT]
    assert [panel["layer"][0]["encoding"]["x"]["title"] for panel in chart.panels] == ["importance", "importance"]
    assert all(each == sorted(each, reverse=True) for each in shares.values()), "the most important first"


def test_what_is_worse_than_usual_after_a_third_of_the_seeds_is_given_up() -> None:
    usual = [made(1.0, 9.0), made(2.0, 9.0), made(3.0, 9.0), made(0.1, 0.1, goodput=1.0), made(4.0, 9.0)]
    found = tuning_of(KEPT, *usual)

    def is_hopeless(measured: Measurement) -> bool:
        return engine._is_hopeless(found, Trial(9, {}, {}, measured))

    assert is_hopeless(made(2.6))
    assert not is_hopeless(made(2.4)), "the median of the feasible ones with this seed is 2.5"
    assert is_hopeless(made(0.1, unfinished=0.1))
    assert not engine._is_hopeless(tuning_of(KEPT, *usual[:3]), Trial(9, {}, {}, made(99.0))), "too few to tell"


# Tables.


def test_tables_have_the_found_parameters_the_front_and_the_check() -> None:
    """Trial 3 leaves flows unfinished. In the check, 1.5 ± 0.25 s are three seeds: 4.303 * 0.1 / √3."""
    trials = [made(1.0, 1.0, goodput=0.5e8), made(1.5, 1.5, goodput=1.1e8), made(1.6, 1.6, goodput=0.9e8)]
    trials.append(made(0.5, 0.5, unfinished=0.5, bound=True))
    fresh = made(1.5, 1.6, 1.4), made(2.0, 2.0, 2.0), made(3.0, 3.0, 3.0)
    parameters, front, of_check = sections(checked(BOTH, *fresh, trials=trials))
    assert parameters.heading == "Trial 1 of 4 trials (0 given up, 1 infeasible)"
    assert [column.header for column in parameters.all[:4]] == ["parameter", "found", "untuned", "range"]
    assert parameters.rows == [("transport.w_max", "1.25", "2.5", "1:5", "100 %", "100 %")]
    assert front.heading == "The 2 trials on the Pareto front, by the trials' seeds"
    assert [column.header for column in front.all] == ["trial", W_MAX.key, f"{AFCT}\n(s)", f"{GOODPUT}\n(Mbps)"]
    assert front.rows == [("0", "1", "1 ± 0", "50 ± 0"), ("1 (chosen)", "1.25", "1.50 ± 0.00", "110 ± 0")]
    assert [(row[0], row[1], row[-2].partition(" ")[0]) for row in of_check.rows] == [
        ("trial 1, does not hold", "1.50 ± 0.25", "-25.0"),
        ("untuned l2dct", "2 ± 0", "0"),
        ("dctcp", "3 ± 0", "+50.0"),
    ]
    assert (of_check.heading, of_check.apart) == ("s, fresh seeds 1 to 3", 2)


def test_a_table_of_a_long_front_has_both_ends_and_the_checked_trials() -> None:
    found = tuning_of(BOTH, *(made(time, time, goodput=time * 1e8) for time in map(float, range(1, 15))))
    _, front = sections(found)
    assert front.heading.startswith("12 of the 14 trials on the Pareto front")
    assert [row[0] for row in front.rows][:: len(front.rows) - 1] == ["0 (chosen)", "13"]
    nothing = tuning_of(KEPT, made(1.0, 1.0, unfinished=0.5))
    nothing.trials.append(Trial(1, {W_MAX.key: 2.0}, {W_MAX.key: "2"}, made(9.0), given_up=True))
    (parameters,) = sections(nothing)
    assert parameters.heading == "None of 2 trials (1 given up, 1 infeasible)"
    assert parameters.rows == [(W_MAX.key, "–", "2.5", "1:5")]


def test_a_tuning_is_shown_with_its_settings_its_first_chart_and_a_row_per_trial() -> None:
    found = shortflow.Tuning.showing(tuning_of(KEPT, made(1.0, 2.0), made(0.5, 0.5, unfinished=0.5)))
    found.question.settings.update({"load": "0.4", "duration": "30ms"})
    assert "\ns, load = 0.4, duration = 30ms: l2dct for least afct_short_s" in str(found)
    assert found.plot.all()[0]._repr_html_() in found._repr_html_()
    frame = found.to_frame()
    assert frame.rows() == [(0, 1.0, 1.5, 1e8, 0.0, False, True), (1, 1.25, 0.5, 1e8, 0.5, False, False)]
    assert frame.columns[-2:] == ["given_up", "feasible"]
    assert shortflow.Tuning.showing(tuning_of(KEPT)).to_frame().schema == frame.schema


# Plots.


def test_the_trade_off_has_every_trial_by_what_it_is_worth() -> None:
    points = [(1.0, 0.5e8), (1.5, 1.1e8), (1.6, 0.9e8)]
    trials = [made(time, time, goodput=rate) for time, rate in points]
    found = tuning_of(BOTH, *trials, made(0.5, 0.5, unfinished=0.5, bound=True))
    trade_off, history, choices, importance = plots(found)
    marks: dict[str, list[tuple[float, float]]] = {}
    for row in trade_off.rows:
        marks.setdefault(row["scheme"], []).append((row["x"], row["y"]))
    assert marks["best"] == [(1.0, 50.0), (1.5, 110.0)]
    assert marks["feasible"] == [(1.6, 90.0)]
    assert marks["infeasible"] == [(0.5, 100.0)]
    assert marks["dctcp"] == [(3.0, 100.0)]
    assert [row["bound"] for row in trade_off.rows if row["scheme"] == "infeasible"] == [True]
    assert "trial 2: transport.w_max = 1.5" in {row["label"] for row in trade_off.rows}
    of_trial_1 = [(row["panel"], row["y"]) for row in history.rows if row["trial"] == 1]
    assert of_trial_1 == [(AFCT, 1.5), (GOODPUT, 110.0)]
    assert [(row["panel"], row["trial"]) for row in history.rows if row["bound"]] == [(AFCT, 3)]
    for metric, panel in zip((AFCT, GOODPUT), history.panels, strict=True):
        assert {"filter": {"field": "panel", "equal": metric}} in panel["transform"]
        shown = panel["layer"][0]["encoding"]
        assert [shown[axis]["field"] for axis in "xy"] == ["trial", "y"]
        assert shown["x"]["title"] == shown["tooltip"][1]["title"] == "trial"
    line = [row for row in choices.rows if row["scheme"] == "feasible"]
    assert {row["label"] for row in line} == {"trial 2: transport.w_max = 1.5"}
    assert [(row["axis"], row["value"], row["said"]) for row in line] == [
        *((W_MAX.key, 1.5, "1.5"), (AFCT, 1.6, "1.6 s"), (GOODPUT, 90.0, "90 Mbps"))
    ]
    assert [row["height"] for row in line] == pytest.approx([(1.5 - 1) / 4, 1.0, 40 / 60]), (
        "from 1 to 5, from 0.5 to 1.6, from 50 to 110"
    )
    assert {row["panel"] for row in importance.rows} == {AFCT, GOODPUT}
    found.trials[2] = dataclasses.replace(found.trials[2], given_up=True)
    later = next(chart for chart in plots(found) if chart.name == "history")
    assert "given up" not in history.caption
    assert later.caption.endswith("A trial that was given up has the mean of its first seeds.")
    for chart in (trade_off, history, choices, importance):
        check(chart)


# Whole tunings.


def tuned(scenario: shortflow.Scenario, scheme: str, ranges: Sequence[str], out: Path, **options: Any) -> Tuning:
    usual: dict[str, Any] = {"trials": 16, "seeds": 2, "check_seeds": 3, "minimize": AFCT, "check_on": "none"}
    return shortflow.tune(scenario, scheme, ranges, out=out, **{**usual, **options})


def run_tuning(small: Tables, out: Path, **options: Any) -> Tuning:
    return tuned(shortflow.load(small), "l2dct", [W_MAX.text, W_MIN.text], out, **options)


def test_the_best_of_different_trials_on_the_same_flows_is_chosen(small: Tables, tmp_path: Path) -> None:
    one = run_tuning(small, tmp_path / "t")
    assert len(one.trials) == 16
    assert one.trials[0].settings == {"transport.w_max": "2.5", "transport.w_min": "0.125"}, "untuned first"
    assert len({tuple(each.items()) for each in trial_settings(one)}) == 16
    assert one.feasible[sure(one.chosen).number][0] == min(values[0] for values in one.feasible.values())
    assert one.trials[0].found.digests == one.references["l2dct"].digests
    assert {tuple(trial.found.seeds) for trial in one.trials} <= {(1,), (1, 2)}
    assert one.checks[0].schemes["dctcp"].seeds == [3, 4, 5], "fresh"


def test_more_trials_go_on_from_those_that_are_there(small: Tables, tmp_path: Path) -> None:
    whole = run_tuning(small, tmp_path / "whole", trials=24)
    run_tuning(small, tmp_path / "parts", trials=8)
    assert plain(run_tuning(small, tmp_path / "parts", trials=20)) == plain(whole), "a multiple of 8"


def test_another_question_needs_another_directory(small: Tables, tmp_path: Path) -> None:
    run_tuning(small, tmp_path / "t", trials=8)
    with pytest.raises(ConfigError, match=r"another tuning, with other seeds \(2 there, 3 here\)"):
        run_tuning(small, tmp_path / "t", trials=8, seeds=3)
    kept = tmp_path / "t" / record.FILE
    kept.write_bytes(kept.read_bytes().replace(b'"afct_short_s": [\n', b'"afct_short_s": [\n     1,\n', 1))
    with pytest.raises(DamagedResult, match=r"tuning\.json: damaged.*its checksum"):
        run_tuning(small, tmp_path / "t", trials=8)
    kept.write_text('{"question": 1}')
    with pytest.raises(DamagedResult, match=r"tuning\.json: damaged"):
        run_tuning(small, tmp_path / "t", trials=8)


def test_the_number_of_runs_is_expected_from_the_beginning(small: Tables, tmp_path: Path) -> None:
    """One seed of two schemes and eight trials, one fresh run of each scheme first, then two seeds of scheme, baseline
    and the chosen trial: 10 + 2 + 6."""
    told: list[tuple[float, int, int]] = []
    options: dict[str, Any] = {"trials": 8, "seeds": 1, "check_seeds": 2, "progress": lambda *of: told.append(of[:3])}
    tuned(shortflow.load({**small, "duration": "20ms"}), "l2dct", ["transport.w_max=3:5"], tmp_path / "t", **options)
    assert {total for _, _, total in told} == {18}
    assert told == sorted(told)
    assert told[-1][1] == 18


def test_what_holds_no_tuning_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(DamagedResult, match=r"tuning\.json: missing; `shortflow tune` writes it"):
        read_tuning(tmp_path)
    (tmp_path / record.FILE).mkdir()
    with pytest.raises(DamagedResult, match=r"tuning\.json: Is a directory"):
        read_tuning(tmp_path)


def test_a_front_is_searched_and_checked(small: Tables, tmp_path: Path) -> None:
    found = run_tuning(small, tmp_path / "t", maximize=GOODPUT)
    assert not any(trial.given_up for trial in found.trials), "with two objectives no trial can be hopeless"
    assert sure(found.chosen).number in {*found.front} & {*found.checks[0].trials}
    assert len(found.checks[0].trials) == min(len(found.front), 5)
    assert len(importances(found)) == 2
    assert sum(importances(found)[0].values()) == pytest.approx(1.0)
    study = optuna_study(found)
    assert sorted(trial.number for trial in study.best_trials) == sorted(found.front)


def test_whole_numbers_on_a_logarithmic_axis(small: Tables, tmp_path: Path) -> None:
    def of(out: str, trials: int) -> Tuning:
        marks = ["switch.mark_above=2pkt:90pkt:log"]
        return tuned(shortflow.load(small), "dctcp", marks, tmp_path / out, trials=trials, seeds=1, check_seeds=2)

    whole = of("whole", 16)
    assert all(re.fullmatch(r"\d+pkt", each["switch.mark_above"]) for each in trial_settings(whole))
    assert list(whole.references) == ["dctcp"], "the baseline is the scheme itself"
    of("parts", 8)
    assert plain(of("parts", 16)) == plain(whole)


def test_combinations_that_a_scheme_refuses_are_not_proposed(small: Tables, tmp_path: Path) -> None:
    """They are not proposed even after the first batches, when the estimator favours refused combinations."""
    knees = ["transport.knee_low=10KB:1MB", "transport.knee_high=20KB:2MB"]
    scenario = shortflow.load({**small, "duration": "20ms"})
    found = tuned(scenario, "l2dct", knees, tmp_path, trials=40, seeds=1, check_seeds=2)
    assert len(found.trials) == 40
    assert all(trial.values["transport.knee_low"] <= trial.values["transport.knee_high"] for trial in found.trials)


def test_refused_combinations_end_it_where_nothing_else_is_found() -> None:
    proposals = Proposals(tuning_of(FASTEST))
    with pytest.raises(ConfigError, match="1,000 combinations in a row are invalid"):
        proposals.batch(0, lambda _: False)


def test_no_combination_is_tried_twice_and_few_of_them_end_the_search(shortflow: Command, scenario: str) -> None:
    tune = ("tune", "small.toml", "--scheme", "dctcp", "--param", "switch.mark_above=4pkt:14pkt:1pkt")
    quick = ("--minimize", AFCT, "--maximize", GOODPUT, "--seeds", "1", "--check-seeds", "2", "--check-on", "none")
    answer = shortflow(*tune, *quick, "--trials", "40", "--out", "t", "--json")
    tried = [trial["settings"]["switch.mark_above"] for trial in answer.document["trials"]]
    assert sorted(tried) == sorted(f"{value}pkt" for value in range(4, 15))
    assert "--trials: the parameters have only 11 valid combinations" in answer.stderr
    assert shortflow(*tune, *quick, "--trials", "40", "--out", "t", "--json").document == answer.document


@pytest.mark.parametrize(("text", "step"), [("switch.mark_above=5pkt:50pkt:5pkt", 5.0), ("k=3pkt:90pkt:log", 1.0)])
def test_proposals_are_steps_of_the_range(text: str, step: float) -> None:
    parameter = dataclasses.replace(Parameter.parse(text), step=step)
    found = tuning_of(FASTEST)
    proposals = Proposals(Tuning(dataclasses.replace(found.question, parameters=[parameter])))
    proposed = [values[parameter.key] for values in proposals.batch(0, lambda _: True)]
    assert len(set(proposed)) == found.question.batch
    assert all(parameter.low <= value <= parameter.high and value % step == 0 for value in proposed)


def test_the_second_batch_follows_from_the_first() -> None:
    def second(times: Sequence[float]) -> list[dict[str, float]]:
        proposals = Proposals(tuning_of(FASTEST))
        proposed = proposals.batch(0, lambda _: True)
        trials = [Trial(number, values, {}, made(times[number])) for number, values in enumerate(proposed)]
        proposals.tell(trials, [tuning_of(FASTEST).judge(trial) for trial in trials])
        return proposals.batch(1, lambda _: True)

    assert second([1, 2, 3, 4, 5, 6, 7, 8]) != second([8, 7, 6, 5, 4, 3, 2, 1])


def test_the_ends_of_a_front_are_checked_and_its_choice() -> None:
    points = [1.0 + place / 10 for place in range(9)]
    found = tuning_of(BOTH, *(made(time, time, goodput=time * 1e8) for time in points))
    assert len(found.front) == 9
    for number in range(9):
        found.__dict__["chosen"] = found.trials[number]  # replaces the cached property
        worth = engine._worth_checking(found)
        assert {number, found.front[0], found.front[-1]} <= set(worth)
        assert len(worth) == 5


class Losing(Local):
    """Executor with threads that, in batch number `at`, loses the first run or is interrupted."""

    def __init__(self, at: int, interrupt: BaseException | None = None) -> None:
        super().__init__(2)
        self._batches, self._at, self._interrupt = 0, at, interrupt

    def outcomes(self, runs: Any, *, tables: bool = False, watch: Any = None) -> Any:
        self._batches += 1
        for number, (run, result) in enumerate(super().outcomes(runs, tables=tables, watch=watch)):
            if self._batches == self._at and self._interrupt:
                raise self._interrupt
            lost = self._batches == self._at and not number
            yield run, shortflow.Result.failed(run, LostRun("three workers were lost")) if lost else result


@pytest.mark.parametrize("at", [2, 4, 7], ids=["references", "trials", "check"])
def test_a_run_that_was_lost_is_no_trial_and_is_done_again(small: Tables, tmp_path: Path, at: int) -> None:
    with pytest.raises(LostRun, match="three workers were lost"):
        run_tuning(small, tmp_path / "t", trials=16, jobs=Losing(at))
    assert plain(run_tuning(small, tmp_path / "t", trials=16)) == plain(run_tuning(small, tmp_path / "calm", trials=16))


def test_a_run_that_fails_late_leaves_what_was_done(small: Tables, tmp_path: Path, monkeypatch: Patch) -> None:
    whole = run_tuning(small, tmp_path / "whole", trials=16)
    monkeypatch.setattr(Proposals, "tell", mock.Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(Interrupted, match=r"runs are stored in .*; the same command resumes"):
        run_tuning(small, tmp_path / "early", trials=16)
    monkeypatch.undo()
    with pytest.raises(Interrupted):  # in the middle of the second batch
        run_tuning(small, tmp_path / "t", trials=16, jobs=Losing(5, KeyboardInterrupt()))
    assert len(record.load_tuning(tmp_path / "t").trials) == 8
    assert plain(run_tuning(small, tmp_path / "t", trials=16)) == plain(whole)


# The command.

TUNE = ("tune", "small.toml", "--scheme", "l2dct", "--param", "transport.w_max=1:5", "--minimize", AFCT)
QUICK = ("--trials", "8", "--seeds", "2", "--check-seeds", "2", "--check-on", "none", "--out", "t")


def test_a_tuning_has_its_report(shortflow: Command, scenario: str) -> None:
    answer = shortflow(*TUNE, "--maximize", GOODPUT, *QUICK, "--metrics", "queue_mean_pkt,p99_short_s")
    assert "queue_mean_pkt" in answer.stdout, "a column of the check"
    Path("t/report.html").unlink()
    assert shortflow("report", "t").code == 0
    page = Path("t/report.html").read_text(encoding="utf-8")
    assert f"Trade-off of {AFCT} and {GOODPUT}" in page
    assert "trials on the Pareto front, by the trials&#39; seeds" in page
    assert "p99_short_s" in page
    assert page.count("<figure") == 4
    assert shortflow("report", "t", "--json").document["verdict"] in " ".join(answer.stdout.split())


def test_tuning_without_optuna_says_what_to_install(shortflow: Command, scenario: str, monkeypatch: Patch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert "pip install 'shortflow[tune]'" in shortflow(*TUNE, *QUICK, code=3).stderr
    assert not Path("t").exists()


def test_an_edited_law_is_another_question(tmp_path: Path) -> None:
    file, space = tmp_path / "law.py", [Parameter.parse("switch.mark_above=5pkt:50pkt")]

    def asked(step: float) -> Question:
        file.write_text(
            f"import shortflow\nclass Law(shortflow.CongestionControl):\n    base = 'dctcp'\n    step = {step}\n"
            "    def on_ack(self, window, ack): window.cwnd += self.step\n    def on_congestion(self, *_): pass\n",
            encoding="utf-8",
        )
        here = TunedScenario(load_scenario("l2dct-benchmark"), {}, FASTEST)
        return ask(here, None, f"{file}:Law", space, baseline="dctcp", seeds=1, batch=8)

    assert asked(0.5).laws == asked(0.5).laws != asked(0.25).laws
