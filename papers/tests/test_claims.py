"""Claims: declaration, text, and decision by a measurement."""

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from made import make_flows, make_result, make_results, make_rows, make_run, with_tables
from shortflow._core import Scheme
from shortflow.errors import ConfigError, TooLittle
from shortflow.judge.estimates import Estimate, estimate, over_seeds
from shortflow.judge.verdicts import Verdict
from shortflow.results import Results
from shortflow_papers import lab, papers
from shortflow_papers.lab.finding import BOUND, not_tested, ranging
from shortflow_papers.lab.study import Position
from shortflow_papers.papers.atcp.fig02 import _not_slower
from shortflow_papers.reproduction.judged import Baseline, ClaimGroup, Judged, count, judge_claim
from shortflow_papers.reproduction.summary import claim_section, measured_texts, summary_row, verdict_text

ROOT = Path(__file__).parents[2]
AGREES, DIRECTION, DIFFERS = Verdict.AGREES, Verdict.DIRECTION, Verdict.DIFFERS


def claim(*agrees: lab.ClaimCondition, name: str = "l2dct/one", equation: bool = False) -> lab.Claim:
    return lab.Claim(name, equation=equation).says("", *agrees)


def changed(value: float, low: float | None = None, high: float | None = None) -> lab.Quantity:
    """A relative change with its interval."""
    found = Estimate(value, None if low is None or high is None else (low, high), 3)
    return lab.computed("change", lambda: found, lab.RELATIVE, 0.0)


def found_by(condition: lab.ClaimCondition) -> lab.Finding:
    return found_in(condition, {})


def found_in(condition: lab.ClaimCondition, studies: dict[str, lab.Data]) -> lab.Finding:
    return claim(condition).judge(studies)


@pytest.mark.parametrize("each", papers.claims().values(), ids=lambda each: each.id)
def test_a_claim_says_what_is_printed_reads_runs_and_says_when_it_agrees(each: lab.Claim) -> None:
    assert each.studies
    assert each.statement
    assert each.tolerance
    assert "  " not in each.tolerance


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (-0.45, -0.50, -0.40, [AGREES]),
        (-0.37, -0.40, -0.34, [DIRECTION, AGREES]),
        (-0.30, -0.34, -0.20, [DIRECTION]),
        (-0.60, -0.65, -0.56, [DIRECTION]),
        (-0.10, -0.20, 0.05, [DIFFERS, DIRECTION]),
        (-0.30, -0.70, 0.10, [DIFFERS, AGREES]),
        (0.10, 0.05, 0.20, [DIFFERS]),
        (0.00, None, None, [DIFFERS]),
        (-0.36, None, None, [AGREES]),
        (-0.359, None, None, [DIRECTION]),
    ],
)
def test_a_published_change_agrees_within_20_percent_of_itself_and_else_may_have_its_direction(
    value: float, low: float | None, high: float | None, expected: list[Verdict]
) -> None:
    found = found_by(changed(value, low, high).near(-0.45))
    assert [found.worst, found.best] == [expected[0], expected[-1]]
    assert found.verdict is (expected[0] if len(expected) == 1 else Verdict.UNDECIDED)
    assert found.could_be == (expected if len(expected) > 1 else [])


def test_a_level_has_no_direction_and_a_ratio_has() -> None:
    def times(neutral: float | None, value: float) -> Verdict:
        return found_by(lab.computed("x", lambda: value, "s", neutral).near(2.0)).verdict

    assert [times(None, value) for value in (1.6, 2.4, 1.5)] == [AGREES, AGREES, DIFFERS]
    assert [times(1.0, value) for value in (2.4, 1.2, 1.0, 0.5)] == [AGREES, DIRECTION, DIFFERS, DIFFERS]


def test_printed_ranges_and_limits_have_20_percent_of_room_too() -> None:
    between = [found_by(changed(value).near(-0.4, -0.3)).verdict for value in (-0.48, -0.24, -0.2, 0.1)]
    assert between == [AGREES, AGREES, DIRECTION, DIFFERS]
    beyond = [found_by(changed(value).near(-0.4, limit="at most")).verdict for value in (-0.9, -0.32, -0.31, 0.1)]
    assert beyond == [AGREES, AGREES, DIRECTION, DIFFERS]
    share = lab.computed("share", lambda: 0.71)
    assert [
        found_by(share.near(0.9, limit="at least")).verdict,
        found_by(share.near(0.88, limit="at least")).verdict,
    ] == [DIFFERS, AGREES]
    assert [found_by(changed(value).near(0.01, limit="at most")).verdict for value in (-0.2, 0.012, 0.013)] == [
        AGREES,
        AGREES,
        DIFFERS,
    ]


def test_how_far_ours_lie_from_printed_numbers_is_told_where_they_lie_furthest(tmp_path: Path) -> None:
    data = {"runs": made(tmp_path, {"l2dct": [0.5, 0.6]})}
    times = lab.level("l2dct", AFCT)
    near, between = times.at(load=0.1).near(0.5), times.over("load").near(0.5, 1.0)
    assert claim(near, between).off(data) == claim(between).off(data) == pytest.approx(0.1)
    assert claim(between, times.at(load=0.1).near(0.0)).off(data) == math.inf
    assert claim(changed(-0.5).near(-0.4)).off({}) == pytest.approx(0.25)
    assert claim(times.at(load=0.1).within(high=1.0)).off(data) is None
    assert (
        claim(changed(-0.5).near(0.01, limit="at most"), changed(-0.5).near(-0.4, limit="at most")).off({}) is None
    ), "limits"
    unknown = lab.level("l2dct", "p99_short_s").at(load=0.1).near(0.5)
    assert claim(near, unknown).off(data) is None, "no run has the metric"


def test_orders_need_the_whole_interval_and_a_size_that_is_asked_for_may_be_missed() -> None:
    sure, unsure = changed(-0.2, -0.3, -0.1), changed(-0.2, -0.5, 0.1)
    assert found_by(sure.below()).holds
    assert found_by(unsure.below()).could_be == [DIFFERS, AGREES]
    assert found_by(sure.below(by=0.35)).verdict is DIRECTION
    assert found_by(sure.below(by=0.15)).could_be == [DIRECTION, AGREES]
    assert found_by(sure.above()).verdict is DIFFERS
    assert found_by(changed(0.2, 0.1, 0.3).above()).holds
    assert found_by(changed(0.01, -0.02, 0.04).alike(0.05)).holds
    assert found_by(changed(0.01, -0.06, 0.08).alike(0.05)).could_be == [DIFFERS, AGREES]
    assert found_by(changed(0.2, 0.15, 0.25).alike(0.05)).verdict is DIFFERS


def test_the_worst_part_decides_and_is_named() -> None:
    wide, sure = Estimate(-0.2, (-0.5, 0.1), 3), Estimate(-0.48, (-0.49, -0.47), 3)
    unsure, failing, good = lab.within(wide, -0.4, 0.4), lab.within(sure, -0.3, -0.1), lab.within(sure, -0.5, -0.3)
    refuted = lab.all_hold({"open": unsure, "sure": failing})
    assert (refuted.verdict, refuted.deciding, refuted.ci95) == (DIFFERS, "sure", sure.ci95)
    left = lab.all_hold({"good": good, "open": unsure})
    assert (left.verdict, left.could_be, left.deciding) == (Verdict.UNDECIDED, [DIFFERS, AGREES], "open")
    assert left.note == "undecided: open; holds: good"
    assert measured_texts(left) == ["open: -0.2 [-0.5, 0.1]", "good: -0.48"]
    right_way = found_by(changed(-0.2).near(-0.45))
    assert lab.all_hold({"size": right_way, "open": unsure}).could_be == [DIFFERS, DIRECTION]
    assert lab.all_hold({"size": right_way, "good": good}).verdict is DIRECTION


def test_a_verdict_ranges_over_findings_that_nothing_tells_apart() -> None:
    size, direction = lab.within(-0.4, -0.5, -0.3), found_by(changed(-0.2).near(-0.45))
    untested = not_tested("no flow")
    found = ranging(direction, {"recovery=sack": size})
    assert (found.could_be, found.measured) == ([DIRECTION, AGREES], direction.measured)
    assert found.note == "direction as taken, agrees with recovery=sack"
    assert ranging(direction, {"recovery=sack": size, "buffer=50pkt": direction}).open_by == ["recovery"]
    atcp = claim(name="atcp/one")
    assert Judged(atcp, found).reason == f"left open by recovery; {found.note}"
    by_seeds = ranging(found_by(changed(-0.2, -0.5, 0.1).below()), {"recovery=sack": size})
    assert Judged(atcp, by_seeds).reason.startswith("left open by recovery and seeds; undecided as taken, agrees with")
    assert ranging(size, {"recovery=sack": size, "rto-min=10ms": untested}) == size
    assert ranging(untested, {"recovery=sack": size}) == untested
    over = ranging(size, {}, [size, direction, untested], ["over the set-ups: -0.4 to -0.2"])
    assert (over.could_be, over.as_taken, over.set_ups) == (
        [DIRECTION, AGREES],
        "agrees",
        {"agrees": 1, "direction": 1, "untested": 1},
    )
    assert over.open_by == ["the set-up"]
    assert over.note == (
        "agrees as taken, agrees with 1 set-up, direction with 1 set-up, untested with 1 set-up; "
        "over the set-ups: -0.4 to -0.2"
    )


def test_of_parts_as_bad_the_one_farthest_beyond_its_band_decides() -> None:
    near, far = changed(-0.06).alike(0.05), changed(-0.53).alike(0.05)
    parts = {name: found_by(each) for name, each in (("good", changed(0.0).alike(0.05)), ("near", near), ("far", far))}
    found = lab.all_hold(parts)
    assert (found.deciding, found.note) == ("far", "differs: far, near; holds: good")
    assert parts["near"].beyond == pytest.approx(0.2)
    assert parts["good"].beyond == 0
    assert lab.within(Estimate(3.0, (1.0, 6.0), 3), 2.0, 4.0).beyond == pytest.approx(0.5)
    assert found_by(changed(0.3).below()).beyond == pytest.approx(0.3), "beyond zero it is the change itself"
    assert lab.within(math.inf, 0, 1).beyond == math.inf
    wide = lab.within(Estimate(0.5, (-2.0, 2.0), 3), 0, 1)
    assert (
        lab.all_hold({"bound": lab.within(Estimate(0.5, None, 1, lower_bound=True), 0, 1), "wide": wide}).deciding
        == "wide"
    )


def test_numbers_have_their_unit_and_what_never_happens_says_so() -> None:
    time = Estimate(0.03452, (0.0344, 0.03463), 3)
    assert measured_texts(found_by(lab.computed("", lambda: time, "s").near(0.072))) == ["34.52 ms [34.4, 34.63]"]
    assert measured_texts(found_by(changed(-0.5918, -0.5972, 0.1).near(-0.45))) == ["-59.18 % [-59.72, +10]"]
    assert measured_texts(found_by(lab.computed("", lambda: 120.0, "packets").within(high=100))) == ["120 packets"]
    onset = Estimate(math.inf, (35.0, math.inf), 3)
    assert measured_texts(found_by(lab.computed("", lambda: onset).near(25))) == ["never [35, never]"]
    shown = lab.Claim("l2dct/one").says("", changed(0.1).above(), shows=[lab.computed("t", lambda: 2e-5, "s")])
    assert measured_texts(shown.judge({})) == ["+10 %", "t: 20 µs"]


def test_a_fall_by_more_than_half_is_held_against_its_factor() -> None:
    """-95 % is 20 times less. Within 20 %, this is 16 to 24 times less. -84 % is six times less."""
    assert claim(changed(-0.9).near(-0.95)).tolerance == "change: -95.83 to -93.75 % (printed: -95 %)"
    assert [found_by(changed(x).near(-0.95)).verdict for x in (-0.83, -0.94, -0.958)] == [DIRECTION, AGREES, AGREES]
    offs = [claim(changed(-0.8).near(-0.9, high)).off({}) for high in (-0.9, -0.6)]
    assert offs == [pytest.approx(0.5), 0.0], "five times instead of ten; between ten and two and a half"
    assert claim(lab.computed("x", lambda: -2.0).near(-1.5)).tolerance == "x: -1.8 to -1.2 (printed: -1.5)"


def test_a_part_that_a_bound_leaves_open_says_so() -> None:
    bound = lab.within(Estimate(0.5, None, 1, lower_bound=True), 0, 1)
    found = lab.all_hold({"bound": bound, "good": lab.within(0.5, 0, 1)})
    assert found.note == f"undecided: bound; holds: good; {BOUND}"
    (text,) = claim_section([Judged(claim(), found)]).columns[-1].cells
    assert f"because: {found.note.removeprefix('undecided: ')}" in str(text)
    assert BOUND in Judged(claim(), found).document()["reason"]


def test_a_part_that_is_not_tested_leaves_the_whole_so_unless_another_differs() -> None:
    untested, good, bad = lab.not_tested("no flow of that size"), lab.within(1.0, 0, 1), lab.within(2.0, 0, 1)
    found = lab.all_hold({"one": good, "other": untested})
    assert (found.verdict, found.note) == (Verdict.UNTESTED, "other is not tested: no flow of that size")
    found = lab.all_hold({"one": untested, "other": bad})
    assert found.verdict is DIFFERS
    assert (found.note, found.deciding) == (
        "differs: other; none holds; one is not tested: no flow of that size",
        "other",
    )
    assert lab.all_hold({}).verdict is Verdict.UNTESTED


def test_a_bound_decides_a_claim_only_where_the_truth_beyond_it_cannot_matter() -> None:
    value = Estimate(-0.5, (-0.6, -0.4), 3)
    least, most = dataclasses.replace(value, lower_bound=True), dataclasses.replace(value, upper_bound=True)

    def of(bound: Estimate) -> lab.Quantity:
        return lab.computed("change", lambda: bound, lab.RELATIVE, 0.0)

    assert found_by(of(value).below()).note == ""
    assert (found_by(of(most).below()).verdict, found_by(of(most).below()).note) == (AGREES, BOUND)
    for found in (found_by(of(least).below()), found_by(of(least).alike(0.7)), lab.within(least, -1, 0)):
        assert found.verdict is Verdict.UNDECIDED
        assert found.note == BOUND
    assert lab.within(least, low=-0.7).holds
    assert lab.within(least, high=-0.7).verdict is DIFFERS
    assert found_by(of(most).above()).verdict is DIFFERS
    assert lab.within(Estimate(3.0, None, 1, lower_bound=True), high=2.0).verdict is DIFFERS


def test_equations_hold_to_nine_digits_or_to_those_that_are_printed() -> None:
    assert found_by(lab.equal(lambda: {"k": (0.05, 0.05 + 1e-12)})).holds
    assert not found_by(lab.equal(lambda: {"k": (0.05, 0.050001)})).holds
    assert found_by(lab.equal(lambda: {"k": (0.20741, 0.2074)}, digits=4)).holds
    found = found_by(lab.equal(lambda: {"one": (1.0, 1.0), "two": (2.0, 3.0)}))
    assert (found.verdict, found.note) == (DIFFERS, "differs: two; holds: one")


def made(directory: Path, times: Mapping[str, Sequence[float]]) -> lab.Data:
    """Data with two loads. At the second load, all times are twice as long."""
    study = lab.Study("incast", tuple(times), over={"load": (0.1, 0.2)})
    points: dict[Position, Results] = {
        (load,): make_results(
            "incast",
            "",
            {},
            [
                make_run(scheme, seed, "", make_rows(afct_short_s=factor * value), 0.0)
                for scheme, values in times.items()
                for seed, value in enumerate(values)
            ],
        )
        for load, factor in ((0.1, 1.0), (0.2, 2.0))
    }
    return lab.Data(study, ["load"], points)


AFCT = "afct_short_s"


def test_quantities_find_their_numbers_at_the_points_that_they_name(tmp_path: Path) -> None:
    studies = {"runs": made(tmp_path, {"ours": [1.0, 1.1], "theirs": [2.0, 2.2]})}
    ours = lab.level("ours", AFCT)
    assert {name: each.value for name, each in ours.over("load").points(studies).items()} == pytest.approx(
        {"load 0.1": 1.05, "load 0.2": 2.1}
    )
    assert ours.at(load=0.2).points(studies)[""].value == pytest.approx(2.1)
    assert ours.over("load").highest().points(studies)[""].value == pytest.approx(2.1)
    assert ours.over("load").trend().points(studies)[""].value == pytest.approx(1.0)
    both = lab.change("ours", "theirs", AFCT).at(load=lab.Every(0.15)).points(studies)
    assert both["load 0.2"].value == pytest.approx(-0.5)
    over = lab.ratio(lab.level("theirs", AFCT), ours).over("load").points(studies)
    assert [each.value for each in over.values()] == pytest.approx([2.0, 2.0])
    less = lab.difference(ours.at(load=0.2), ours.at(load=0.1)).points(studies)[""]
    assert less.value == pytest.approx(1.05)
    assert less.ci95 is not None, "the seeds scatter"
    slower = {**studies, "alone": made(tmp_path, {"ours": [0.5, 0.55]})}
    assert lab.effect("ours", AFCT, "runs", "alone").at(load=0.1).points(slower)[""].value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("quantity", "error", "says"),
    [
        (lab.level("ours", AFCT), ConfigError, "load: the grid has 0.1, 0.2; name one, such as load=0.1"),
        (lab.level("ours", AFCT).at(laod=0.1), ConfigError, '"laod": unknown key of the grid; did you mean "load"'),
        (
            lab.level("ours", AFCT).at(load=(0.1, 0.3)),
            TooLittle,
            "no run has load 0.3; the runs have load 0.1, 0.2",
        ),
        (lab.level("hours", AFCT).over("load"), ConfigError, '"hours": unknown scheme of the study'),
        (
            lab.level("ours", "p99_short_s").over("load"),
            TooLittle,
            "p99_short_s.*no run here has this metric at load 0.1",
        ),
        (
            lab.level("ours", AFCT).at(load=lab.Every(0.5)),
            TooLittle,
            "no run has load from 0.5; the runs have load 0.1, 0.2",
        ),
    ],
)
def test_a_quantity_refuses_points_that_were_not_run(
    tmp_path: Path, quantity: lab.Quantity, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        quantity.points({"runs": made(tmp_path, {"ours": [1.0]})})


def test_what_is_derived_from_several_points_scatters_as_the_seeds_do(tmp_path: Path) -> None:
    seeds: dict[str, list[float]] = {"ours": [1.0, 1.2, 0.8], "theirs": [2.0, 2.4, 1.6]}
    data = made(tmp_path, seeds)
    studies = {"runs": data}
    ours, theirs = (lab.level(name, AFCT) for name in seeds)

    def spread(quantity: lab.Quantity) -> float:
        (found,) = quantity.points(studies).values()
        return found.half_width or 0.0

    mean = estimate([1.5 * value for value in seeds["ours"]])
    assert ours.over("load").mean().points(studies)[""] == mean
    less = lab.difference(theirs.at(load=0.1), ours.at(load=0.1))
    assert less.points(studies)[""].ci95 == estimate(seeds["ours"]).ci95
    assert spread(lab.ratio(theirs.at(load=0.1), ours.at(load=0.1))) == pytest.approx(0), "both rise together"
    uneven = {"runs": made(tmp_path, {**seeds, "theirs": [2.0, 1.6, 2.4]})}
    (paired,) = lab.ratio(theirs.at(load=0.1), ours.at(load=0.1)).points(uneven).values()
    assert paired.value == pytest.approx(2.0)
    assert (paired.half_width or 0) > 1.0
    total = lab.computed("total", lambda runs: runs.mean("ours", AFCT, load=0.1).value)
    assert total.points(studies)[""] == estimate(seeds["ours"])
    assert found_in(total.within(high=1.1), studies).verdict is Verdict.UNDECIDED
    assert ours.over("load").trend().points(studies)[""].value == pytest.approx(1.0)
    assert less.points({"runs": data.of_seed(1)})[""].ci95 is None, "of a single seed"


def test_an_extreme_is_as_sure_as_the_intervals_of_all_points() -> None:
    points: dict[str, Estimate | float] = {"a": Estimate(1.0, (0.9, 1.1), 3), "b": Estimate(0.9, (0.1, 1.7), 3)}
    some = lab.computed("x", lambda: points)
    (highest,) = some.highest().points({}).values()
    assert (highest.value, highest.ci95) == (1.0, (0.9, 1.7))
    (lowest,) = some.lowest().points({}).values()
    assert (lowest.value, lowest.ci95) == (0.9, (0.1, 1.1))
    assert found_by(some.highest().within(high=1.5)).could_be == [DIFFERS, AGREES]
    assert found_by(some.lowest().within(low=0.5)).could_be == [DIFFERS, AGREES]
    bound = {**points, "c": Estimate(0.8, (0.7, 0.9), 3, lower_bound=True)}
    assert found_by(lab.computed("x", lambda: bound).highest().within(high=2.0)).verdict is Verdict.UNDECIDED
    assert found_by(lab.computed("x", lambda: bound).lowest().within(high=2.0)).holds


def test_much_more_has_an_end() -> None:
    assert found_by(changed(0.5, 0.4, 0.6).above(by=0.3)).holds
    assert found_by(changed(816.0, 700.0, 900.0).above(by=0.3)).verdict is DIRECTION


def test_a_bug_of_a_recipe_is_no_lack_of_runs() -> None:
    def buggy(error: Exception) -> lab.Claim:
        def check() -> lab.Finding:
            raise error

        return claim(lab.decided("", check))

    for lack in (TooLittle("no flow of that size"), ZeroDivisionError()):
        assert buggy(lack).judge({}).verdict is Verdict.UNTESTED
    for bug in (TypeError(), KeyError("x"), ValueError(), ConfigError("laod: not a key")):
        with pytest.raises(type(bug)):
            buggy(bug).judge({})


def test_the_sentence_is_printed_from_what_is_compared() -> None:
    found = lab.change("l2dct", "dctcp", AFCT).at(load=(0.1, 0.2)).near(-0.4, limit="at most")
    text = "mean FCT of short flows, l2dct over dctcp at load 0.1 and 0.2: at most -32 % (printed: -40 %)"
    assert claim(found).tolerance == text
    near = lab.level("tcp", "query_time_s").at(workers=100).near(0.072)
    assert claim(near).tolerance == "query time with tcp at workers 100: 57.6 to 86.4 ms (printed: 72 ms)"


@pytest.mark.parametrize(
    ("metric", "label"),
    [
        ("slowdown_short", "slowdown of short flows"),
        ("slowdown_p99_short", "p99 slowdown of short flows"),
        ("jain_sampled_long", "Jain index over short times of long flows"),
        ("p99_upto_10kb_s", "p99 FCT of upto 10kb flows"),
        ("p99_short_over_1mb_s", "p99 FCT of short over 1mb flows"),
        ("p99_query_time_s", "query time, p99"),
    ],
)
def test_a_quantity_has_the_name_of_its_metric_rather_than_of_a_metric_with_a_similar_name(
    metric: str, label: str
) -> None:
    assert lab.level("tcp", metric).text == f"{label} with tcp"


def test_a_claim_that_a_scheme_that_does_nothing_would_pass_is_no_agreement(tmp_path: Path) -> None:
    data = {"runs": made(tmp_path, {"dctcp": [1.0, 1.1], "l2dct": [0.5, 0.55], "tcp": [3.0, 3.1]})}
    better = claim(lab.change("l2dct", "dctcp", AFCT).over("load").below())
    worse_than_tcp = claim(lab.change("l2dct", "tcp", AFCT).over("load").below())
    of_tcp = claim(lab.level("tcp", AFCT).over("load").within(low=1.0))

    def with_dctcp(each: lab.Claim, data: dict[str, lab.Data]) -> Judged:
        return judge_claim(each, data, {"l2dct": "dctcp"}, None)

    judged = [with_dctcp(each, data) for each in (better, worse_than_tcp, of_tcp)]
    assert [each.finding.holds for each in judged] == [True, True, True]
    assert [each.baseline for each in judged] == [Baseline.FAILS, Baseline.AGREES, Baseline.OTHERS]
    alone = {"runs": made(tmp_path, {"l2dct": [0.5, 0.55]})}
    short = claim(lab.level("l2dct", AFCT).over("load").within(high=2.0))
    assert with_dctcp(short, alone).baseline is Baseline.UNTESTED
    widens = claim(
        lab.difference(lab.level("dctcp", AFCT), lab.level("l2dct", AFCT)).over("load").trend().within(low=0.5)
    )
    assert with_dctcp(widens, data).finding.holds
    assert with_dctcp(widens, data).baseline is Baseline.FAILS, "nothing widens"
    assert with_dctcp(claim(equation=True), alone).baseline is Baseline.EQUATION
    assert verdict_text(judged[1]) == "agrees, as the baseline"
    assert "says nothing about the scheme" in judged[1].reason
    away = [Judged(claim(), lab.fact(True), off=far) for far in (0.0, 0.1, 0.15, 0.31, math.inf)]
    emptily = Judged(claim(), lab.fact(True), Baseline.AGREES, off=0.0)
    counts = count([*judged, emptily, *away, Judged(claim(equation=True), lab.fact(True), Baseline.EQUATION)])
    assert (counts["scheme"]["agrees"], counts["others"]["agrees"]) == (1, 9)
    assert counts["numbers"] == {"all": 5, "within_10": 2, "within_20": 3, "within_30": 3}
    assert summary_row("l2dct", counts) == ["l2dct", "1", "0", "0", "0 of 0", "9 of 9", "0", "0", "2, 3, 3 of 5"]


@pytest.mark.parametrize(
    ("others", "verdict"), [((-0.1, 0.04), DIRECTION), ((0.06, -0.1), DIFFERS), ((0.01, 0.04), DIFFERS)]
)
def test_an_order_with_ties_at_a_few_points_has_the_right_direction(
    others: tuple[float, ...], verdict: Verdict
) -> None:
    points = {"first": -0.6, **{str(change): change for change in others}}
    assert found_by(lab.computed("change", lambda: points, lab.RELATIVE, 0.0).below()).verdict is verdict


def test_no_harm_is_counted_apart_and_its_verdict_stays(tmp_path: Path) -> None:
    data = {"runs": made(tmp_path, {"dctcp": [1.0, 1.1], "l2dct": [0.99, 1.09], "tcp": [3.0, 3.1]})}
    alike = lab.change("l2dct", "dctcp", AFCT).over("load").within(high=0.02)
    for no_harm, of in ((False, ClaimGroup.OTHERS), (True, ClaimGroup.NO_HARM)):
        each = lab.Claim("l2dct/one").says("", alike, no_harm=no_harm)
        judged = judge_claim(each, data, {"l2dct": "dctcp"}, None)
        assert judged.finding.holds
        assert judged.group is of
        assert judged.agrees_emptily is not no_harm
    open_one = lab.Claim("l2dct/two").says("", alike, no_harm=True)
    assert Judged(open_one, lab.not_tested("")).group is ClaimGroup.OPEN


@pytest.mark.parametrize("figure", papers.figures().values(), ids=lambda each: each.id)
def test_what_a_claim_about_a_scheme_looks_at_has_the_baseline_too_unless_it_lacks_the_parameter(
    figure: lab.Figure,
) -> None:
    stand_ins = papers.stand_ins(figure.paper)
    for each in (each for each in figure.claims if not each.equation and each.studies):
        for study in (figure.studies[name] for name in figure.looked_at(each)):
            needed = {stand_ins[scheme] for scheme in study.schemes if scheme in stand_ins}
            own = any(not Scheme.accepts(name, key) for name in needed for key in study.over if "transport." in key)
            assert own or needed <= set(study.schemes), each.id


def test_a_document_has_no_infinite_numbers() -> None:
    assert lab.within(float("inf"), 0, 1, knee=3.0).document() == {"value": "inf", "knee": 3.0}
    some = found_by(lab.computed("x", lambda: over_seeds([1.0, math.inf, 2.0])).within(high=3.0))
    assert some.could_be == [DIFFERS, AGREES]
    assert Judged(claim(), some).document()["ci95"] == [1.0, "inf"]


def test_of_many_points_the_extremes_and_the_one_that_decides_are_shown() -> None:
    points: dict[str, Estimate | float] = {f"at {n}": float(n) for n in range(9)}
    points["at 4"] = Estimate(4.0, (3.0, 20.0), 3)
    found = found_by(lab.computed("x", lambda: points).within(-1, 10))
    assert found.measured == {"at 0": 0.0, "at 4": 4.0, "at 8": 8.0}
    assert (found.deciding, found.ci95) == ("at 4", (3.0, 20.0))


def test_no_reason_has_numbers_that_nothing_computes() -> None:
    assert not {name: each.because for name, each in papers.claims().items() if re.search(r"(?<!\w)\d", each.because)}


def test_a_flow_that_finished_under_neither_is_not_called_no_slower() -> None:
    """Runs from 1 s to 4 s with four flows: faster, slower, certainly slower because of its age, and open."""
    made = [
        with_tables(
            make_result(scheme),
            flows=make_flows([{"id": i, "size_bytes": 9, "start_s": 1.0, "fct_s": fct} for i, fct in enumerate(times)]),
        )
        for scheme, times in (("atcp", [1.0, 2.0, None, None]), ("tcp", [2.0, 1.0, 1.0, None]))
    ]
    assert _not_slower(*made) == (0.25, True)
    assert _not_slower(made[0], made[0]) == (0.5, True)
    assert _not_slower(*made[::-1]) == (0.5, True)
