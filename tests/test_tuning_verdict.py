"""Verdict of a check of found parameters, and its text."""

import dataclasses
import html
from pathlib import Path

import pytest

from made import sure
from made_tuning import AFCT, BOTH, FASTEST, GOODPUT, KEPT, MISS, checked, made
from shortflow.judge.estimates import Estimate
from shortflow.judge.verdicts import Verdict
from shortflow.tuning.goal import Constraint, Goal, Measurement, Objective
from shortflow.tuning.pages import tuning_table, write_page
from shortflow.tuning.plots import plots
from shortflow.tuning.record import Tuning
from shortflow.tuning.tables import sections
from shortflow.tuning.verdict import PairedChange, joint_verdict, sentence, verdict, verdicts


@pytest.mark.parametrize(
    ("tuned", "expected"),
    [
        (made(1.00, 1.01, 0.99), Verdict.AGREES),
        (made(3.00, 3.01, 2.99), Verdict.DIFFERS),
        (made(1.00, 3.50, 1.10), Verdict.UNDECIDED),
        (made(1.00, 1.01, 0.99, unfinished=0.001, bound=True), Verdict.DIFFERS),
        (made(1.00, 1.01, 0.99, goodput=0.8e8), Verdict.DIFFERS),
        (made(1.00, 1.01, 0.99, goodput=0.95e8), Verdict.AGREES),
        (made(1.00, 1.01, 0.99, goodput=[0.97e8, 0.94e8, 0.95e8]), Verdict.AGREES),
        (made(1.00, 1.01, 0.99, goodput=[1.05e8, 0.85e8, 0.94e8]), Verdict.UNDECIDED),
        (made(1.00, 1.01, 0.99, goodput=[0.95e8, 0.80e8, 0.89e8]), Verdict.UNDECIDED),
        (made(1.00, 1.01, 0.99, goodput=[0.81e8, 0.79e8, 0.80e8]), Verdict.DIFFERS),
    ],
)
def test_a_verdict_needs_the_whole_interval(tuned: Measurement, expected: Verdict) -> None:
    """Constraints need it, too. Required is 0.9 of a steady 1e8; a constraint met only on average is undecided."""
    found = checked(KEPT, tuned, made(2.0, 2.1, 1.9), made(3.0, 3.1, 2.9))
    assert joint_verdict(found) is expected
    words = {Verdict.AGREES: "hold on", Verdict.DIFFERS: "do not hold on", Verdict.UNDECIDED: "undecided whether"}
    assert words[expected] in sentence(found)


def test_a_verdict_has_its_numbers() -> None:
    found = checked(KEPT, made(1.0, 1.0, 1.0, goodput=0.95e8), made(2.0, 2.0, 2.0), made(4.0, 4.0, 4.0))
    words = verdict(found, found.checks[0], 0).words
    assert "50.0 %" in words
    assert "lower than with untuned l2dct and 75.0 %" in words
    assert "goodput_long_bps is 95.0 % of dctcp's (95 % interval 95.0 to 95.0 %, at least 90 % wanted)" in words


def test_a_gain_that_rests_on_few_events_is_told_and_may_not_hold() -> None:
    # The change is -33 %. One late flow would add 1.0 to one of three seeds, so three late flows add 1.0 to the mean.
    tuned, untuned = (dataclasses.replace(made(*times), stakes={AFCT: 1.0}) for times in ((1.9, 2.0, 2.1), (3.0,) * 3))
    few = checked(FASTEST, tuned, untuned, untuned)
    found = verdict(few, few.checks[0], 0)
    assert found.verdict is Verdict.UNDECIDED
    assert "difference in mean FCT of short flows from untuned l2dct allows for rare events" in found.words
    plain = checked(FASTEST, made(1.9, 2.0, 2.1), made(3.0, 3.0, 3.0), made(3.0, 3.0, 3.0))
    assert verdict(plain, plain.checks[0], 0).verdict is Verdict.AGREES


@pytest.mark.parametrize(
    ("goodput", "expected", "interval"),
    [
        ([0.9e8, 1.2e8, 1.5e8], Verdict.UNDECIDED, "4.548e+07 to 1.945e+08"),  # 1.2e8 ± 4.303 * 0.3e8 / √3
        ([1.19e8, 1.2e8, 1.21e8], Verdict.AGREES, "1.175e+08 to 1.225e+08"),
        ([0.89e8, 0.9e8, 0.91e8], Verdict.DIFFERS, "8.752e+07 to 9.248e+07"),
        ([1.2e8], Verdict.UNDECIDED, ""),
    ],
)
def test_a_bound_by_number_needs_the_whole_interval(goodput: list[float], expected: Verdict, interval: str) -> None:
    goal = Goal([Objective(AFCT)], [Constraint.parse(f"{GOODPUT} >= 100Mbps")])
    tuned, others = made(*[1.0, 1.01, 0.99][: len(goodput)], goodput=goodput), made(*[2.0, 2.1, 1.9][: len(goodput)])
    found = checked(goal, tuned, others, others)
    assert joint_verdict(found) is expected
    words = f"(95 % interval {interval} bps, at least" if interval else "1.2e+08 bps (at least 1e+08 bps wanted)"
    assert words in verdict(found, found.checks[0], 0).words


def test_a_bound_by_number_allows_for_events_that_no_seed_had() -> None:
    # One late flow would take 0.3e8 from a seed of three, so three such take 0.3e8 from the mean of 1.2e8.
    goal = Goal([Objective(AFCT)], [Constraint.parse(f"{GOODPUT} >= 100Mbps")])
    tuned = made(1.0, 1.01, 0.99, goodput=[1.19e8, 1.2e8, 1.21e8])
    rare = dataclasses.replace(tuned, stakes={GOODPUT: 0.3e8})
    found = checked(goal, rare, *FRESH)
    assert joint_verdict(found) is Verdict.UNDECIDED
    assert (
        "(95 % interval 8.99e+07 to 1.501e+08 bps, at least 1e+08 bps wanted)"
        in verdict(found, found.checks[0], 0).words
    )
    (section,) = (each for each in sections(found) if "fresh seeds" in each.heading)
    (goodput,) = (column for column in section.columns if GOODPUT in column.header)
    assert goodput.cells[0] == "120 ± 30"
    exact = dataclasses.replace(rare, digests=["1", "1", "1"])
    assert joint_verdict(checked(goal, exact, *FRESH)) is Verdict.AGREES, "other seeds would give the same"


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        (Estimate(0.0, (-0.1, 0.1), 5), "the same as with dctcp"),
        (Estimate(0.25, None, 1), "25.0 % higher than with dctcp"),
        (Estimate(0.25, None, 1, lower_bound=True, upper_bound=True), "not comparable with dctcp"),
    ],
)
def test_a_change_is_told_beside_its_reference(estimate: Estimate, expected: str) -> None:
    assert PairedChange(estimate, relative=True).beside("s", "dctcp") == expected


def test_a_bound_by_a_scheme_with_the_same_runs_is_kept() -> None:
    goal = Goal([Objective(AFCT)], [Constraint(GOODPUT, ">=", 1.0, scheme="dctcp")])
    tuned = dataclasses.replace(made(1.0, 1.01, 0.99), stakes={GOODPUT: 0.3e8})
    slow = made(2.0, 2.0, 2.0)
    assert joint_verdict(checked(goal, tuned, slow, tuned)) is Verdict.AGREES
    other = dataclasses.replace(tuned, digests=["4", "5", "6"])
    assert joint_verdict(checked(goal, tuned, slow, other)) is Verdict.UNDECIDED


def test_an_infeasible_scheme_is_no_yardstick() -> None:
    slow = {"l2dct": made(0.5, 0.5, goodput=0.1e8), "dctcp": made(3.0, 3.0)}
    fresh = made(0.5, 0.5, 0.5, goodput=0.1e8), made(3.0, 3.1, 2.9)
    found = checked(KEPT, made(2.0, 2.0, 2.1), *fresh, trials=[made(2.0, 2.0)], references=slow)
    assert found.yardstick == "dctcp"
    assert sentence(found).endswith(
        "hold on fresh seeds. They are compared with dctcp, because untuned l2dct is infeasible."
    )
    worse = checked(KEPT, made(3.5, 3.5, 3.5), *fresh, trials=[made(3.5, 3.5)], references=slow)
    assert sentence(worse) == "No feasible trial is better than dctcp."
    assert joint_verdict(worse) is Verdict.DIFFERS


def test_where_all_schemes_are_infeasible_feasibility_alone_is_judged() -> None:
    wanted = Goal([Objective(AFCT)], [Constraint(GOODPUT, ">=", 1.2, scheme="dctcp")])
    fresh, slow = (made(2.0, 2.1, 1.9), made(3.0, 3.1, 2.9)), [made(3.5, 3.5, goodput=1.3e8)]
    found = checked(wanted, made(3.5, 3.4, 3.6, goodput=1.3e8), *fresh, trials=slow)
    assert found.yardstick is None
    assert joint_verdict(found) is Verdict.AGREES
    assert sentence(found) == (
        "The found parameters hold on fresh seeds. Only feasibility is judged: untuned l2dct and dctcp are infeasible "
        "too, so there is no gain to state."
    )
    assert joint_verdict(checked(wanted, made(1.0, 1.0, 1.0, goodput=1.1e8), *fresh, trials=slow)) is Verdict.DIFFERS


MISSES = Goal([Objective(AFCT), Objective(MISS)])
FRESH = (made(2.0, 2.1, 1.9), made(3.0, 3.1, 2.9))


def test_what_was_zero_is_judged_by_its_difference() -> None:
    fast, whole = made(1.0, 1.0, misses=[0.4, 0.5]), made(1.5, 1.5)
    found = checked(MISSES, made(1.5, 1.51, 1.49), *FRESH, trials=[fast, whole])
    assert sure(found.chosen).number == 1, "0 loses deadlines, of which none was missed"
    assert joint_verdict(found) is Verdict.AGREES
    lost = checked(MISSES, made(1.5, 1.51, 1.49, misses=[0.4, 0.5, 0.45]), *FRESH, trials=[whole])
    assert joint_verdict(lost) is Verdict.DIFFERS
    assert "deadline_miss is 0.45 (95 % interval 0.3258 to 0.5742) higher than with untuned l2dct, where it is 0" in (
        verdict(lost, lost.checks[0], 0).words  # 0.45 ± 4.303 * 0.05 / √3
    )
    some = checked(MISSES, made(1.5, 1.51, 1.49, misses=[0.0, 0.2, 0.0]), *FRESH, trials=[whole])
    assert joint_verdict(some) is Verdict.UNDECIDED
    rates = Goal([Objective(GOODPUT, maximize=True)])
    nothing, all_of_it = made(2.0, 2.0, goodput=0.0), made(2.0, 2.0, 2.0, goodput=0.0)
    risen = checked(
        *(rates, made(1.0, 1.0, 1.0), all_of_it, all_of_it),
        trials=[made(1.0, 1.0)],
        references={"l2dct": nothing, "dctcp": nothing},
    )
    assert sentence(risen) == "The found parameters hold on fresh seeds."
    assert "goodput_long_bps is 1e+08 bps (95 % interval 1e+08 to 1e+08 bps) higher" in (
        verdict(risen, risen.checks[0], 0).words
    )


@pytest.mark.parametrize(
    ("promised", "goodput", "expected"),
    [
        ([0.995e8, 0.995e8], [0.40e8, 0.40e8, 0.40e8], Verdict.DIFFERS),
        ([0.95e8, 0.95e8], [0.96e8, 0.96e8, 0.96e8], Verdict.AGREES),
        ([0.94e8, 0.96e8], [0.949e8, 0.948e8, 0.950e8], Verdict.AGREES),  # within the interval of the trials' seeds
        ([0.95e8, 0.95e8], [0.98e8, 0.80e8, 0.96e8], Verdict.UNDECIDED),
    ],
)
def test_the_first_promise_is_held(promised: list[float], goodput: list[float], expected: Verdict) -> None:
    found = checked(BOTH, made(1.0, 1.01, 0.99, goodput=goodput), *FRESH, trials=[made(1.0, 1.0, goodput=promised)])
    assert joint_verdict(found) is expected


def test_the_price_is_in_the_first_sentence() -> None:
    found = checked(BOTH, made(1.0, 1.01, 0.99, goodput=0.96e8), *FRESH, trials=[made(1.0, 1.0, goodput=0.95e8)])
    assert sentence(found) == (
        "The found parameters hold on fresh seeds; they pay with goodput_long_bps, 4.0 % lower on fresh seeds."
    )
    assert "with dctcp (5.0 % lower on the trials' seeds)" in verdict(found, found.checks[0], 0).words


def test_a_page_has_verdict_tables_and_charts(tmp_path: Path) -> None:
    trials = [made(1.0, 1.0), made(1.5, 1.5, goodput=1.5e8)]
    found = checked(BOTH, made(1.0, 1.01, 0.99), *FRESH, trials=trials)
    found.question.settings.update({"load": "0.4", "duration": "30ms"})
    write_page(found, tmp_path / "report.html")
    page = html.unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    words = [sentence(found), *(each.words for each in verdicts(found)), found.question.goal.text]
    shown = [
        "Trials and checks",
        *(section.heading for section in sections(found)),
        *(each.heading for each in plots(found)),
    ]
    assert not [text for text in (*words, *shown) if text not in page]
    assert '<p class="note">t (scenario <code>s</code>, load = 0.4, duration = 30ms). Every trial ran with' in page


def test_a_price_that_the_check_cannot_measure_is_unknown() -> None:
    lacking = made(1.0, 1.01, 0.99)
    lacking.values[GOODPUT] = [None] * 3
    found = checked(BOTH, lacking, *FRESH, trials=[made(1.0, 1.0, goodput=0.95e8)])
    assert joint_verdict(found) is Verdict.UNDECIDED
    assert "they pay with goodput_long_bps, unknown on fresh seeds" in sentence(found)
    assert "not comparable with untuned l2dct" in verdict(found, found.checks[0], 0).words


def test_a_constraint_that_is_not_measured_there_is_said_to_be_left_out() -> None:
    found = checked(KEPT, made(1.0, 1.01, 0.99), *FRESH, left_out=["goodput_long_bps >= 0.9 * dctcp"])
    assert sentence(found) == (
        "The found parameters hold on fresh seeds (without goodput_long_bps >= 0.9 * dctcp, not measured there)."
    )


def test_a_constraint_by_a_scheme_without_the_metric_is_undecided() -> None:
    lacking = made(3.0, 3.1, 2.9)
    lacking.values[GOODPUT] = [None] * 3
    found = checked(KEPT, made(1.0, 1.01, 0.99), FRESH[0], lacking)
    assert joint_verdict(found) is Verdict.UNDECIDED
    assert "goodput_long_bps >= 0.9 * dctcp is undecided there" in verdict(found, found.checks[0], 0).words


def test_untuned_parameters_that_nothing_beats_are_kept() -> None:
    def untuned(*trials: Measurement) -> Tuning:
        found = checked(BOTH, made(2.0, 2.1, 1.9), *FRESH, trials=trials)
        found.question.untuned["transport.w_max"] = sure(found.chosen).settings["transport.w_max"]
        return found

    alone = untuned(made(2.0, 2.0), made(2.5, 2.5))
    assert sentence(alone) == "No trial is better than untuned l2dct: keep its parameters."
    traded = untuned(made(2.0, 2.0), made(1.0, 1.0, goodput=0.5e8), made(3.0, 3.0, goodput=2e8))
    assert "in one objective without losing in the other" in sentence(traded)
    assert sentence(traded).endswith("among the other trials on the front (2).")
    check = next(each for each in sections(traded) if "fresh seeds" in each.heading)
    assert check.rows[0][0] == "trial 0, untuned"


def test_a_difference_whose_interval_has_both_signs_is_said_to_be_open() -> None:
    found = checked(FASTEST, made(1.0, 3.5, 1.1), *FRESH)
    assert "%, so undecided) lower than with untuned l2dct" in verdict(found, found.checks[0], 0).words


def test_a_parameter_that_changes_the_flows_is_told() -> None:
    found = checked(FASTEST, made(1.0, 1.01, 0.99), *FRESH)
    found.question.flow_keys.append("load")
    assert sentence(found).endswith(
        "hold on fresh seeds. Trials differ in more than the scheme: load changes the flows themselves."
    )


def test_runs_that_fail_in_the_check_are_told() -> None:
    broken = checked(FASTEST, made(1.0, 1.01, 0.99, failed=[3]), *FRESH)
    assert joint_verdict(broken) is Verdict.DIFFERS
    assert "1 of 3 runs with the found parameters failed: it went wrong" in verdict(broken, broken.checks[0], 0).words
    other = checked(FASTEST, made(1.0, 1.01, 0.99), FRESH[0], made(3.0, 3.1, 2.9, failed=[1, 2]))
    assert joint_verdict(other) is Verdict.UNDECIDED
    assert "2 of 3 runs with dctcp failed: it went wrong" in verdict(other, other.checks[0], 0).words


def test_before_its_check_a_tuning_is_undecided() -> None:
    begun = dataclasses.replace(checked(FASTEST, made(1.0, 1.0), *FRESH), checks=[])
    assert joint_verdict(begun) is Verdict.UNDECIDED
    assert sentence(begun) == "Trials so far: 1, not checked yet; the same command resumes."
    table = tuning_table(begun)
    assert (table["verdict"], list(table["references"]), table["checks"]) == (sentence(begun), ["l2dct", "dctcp"], [])


def test_a_bound_without_unfinished_flows_does_not_hold() -> None:
    found = checked(KEPT, made(1.0, 1.01, 0.99, bound=True), *FRESH)
    assert joint_verdict(found) is Verdict.DIFFERS
    assert "afct_short_s is a lower bound only" in verdict(found, found.checks[0], 0).words


def test_flows_that_the_untuned_scheme_leaves_too_leave_it_open() -> None:
    left = made(2.0, 2.1, 1.9, unfinished=0.02, bound=True)
    found = checked(KEPT, made(1.0, 1.01, 0.99, unfinished=0.01, bound=True), left, left)
    assert joint_verdict(found) is Verdict.UNDECIDED
    words = verdict(found, found.checks[0], 0).words
    assert "1 % of the flows did not finish, 2 % with untuned l2dct" in words
    assert "afct_short_s is not comparable with untuned l2dct" in words, "both means are bounds"
    few = made(2.0, 2.1, 1.9, unfinished=0.001, bound=True)
    more = checked(KEPT, made(1.0, 1.01, 0.99, unfinished=0.3, bound=True), few, made(4.0, 4.0, 4.0))
    assert joint_verdict(more) is Verdict.DIFFERS
    assert "30 % of the flows did not finish, 0.1 % with untuned l2dct" in verdict(more, more.checks[0], 0).words
    assert "and at most 75.0 % lower than with dctcp" in verdict(more, more.checks[0], 0).words


def test_what_untuned_leaves_unfinished_makes_a_gain_a_bound() -> None:
    left = made(2.0, 2.1, 1.9, unfinished=0.02, bound=True)
    found = checked(FASTEST, made(1.0, 1.01, 0.99), left, FRESH[1])
    assert joint_verdict(found) is Verdict.AGREES
    assert "afct_short_s is at least 50.0 % lower than with untuned l2dct" in verdict(found, found.checks[0], 0).words
