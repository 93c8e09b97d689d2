"""Sweeps, searches and `--until-ci`: grids of settings, bisection, and seeds until intervals are narrow."""

import itertools
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortflow
from conftest import Command, Tables
from made import make_results, make_rows, make_run, star, sure
from shortflow.asks import rounds
from shortflow.errors import ConfigError, ExitCode
from shortflow.precision import Precision, more_seeds, widths
from shortflow.results import Results


def test_every_combination_is_a_point_and_the_last_axis_varies_fastest() -> None:
    grid = shortflow.Grid.parse(["load=0.2,0.4", "switch.mark_above=5pkt:15pkt:5pkt"])
    assert grid.keys == ["load", "switch.mark_above"]
    assert [tuple(point.values()) for point in grid.points] == [
        (load, above) for load in ("0.2", "0.4") for above in ("5pkt", "10pkt", "15pkt")
    ]


def test_values_are_ranges_and_lists_in_the_order_in_which_they_are_written() -> None:
    for text, values in {
        "transport.g=0.05:0.07:0.01,0.0625,0.06": ["0.05", "0.06", "0.07", "0.0625"],
        "topology.rtt=1ms,100us,900us": ["1ms", "100us", "900us"],
        "topology.rtt=900us:1ms:50us": ["900us", "950us", "1000us"],
        "load=.2,.1,1,.3": [".2", ".1", "1", ".3"],
        "transport.g=1e-13:3e-13:1e-13": ["0.0000000000001", "0.0000000000002", "0.0000000000003"],
        "topology.kind=star,pair,star": ["star", "pair"],
    }.items():
        (axis,) = shortflow.Grid.parse([text]).axes
        assert [value for (value,) in axis.values] == values


def test_a_link_gives_two_keys_one_value_and_a_zip_takes_values_in_step() -> None:
    linked = shortflow.Grid.parse(["queue.low=5pkt,9pkt"], links=["queue.low=queue.high"])
    assert linked.points == [{"queue.low": low, "queue.high": low} for low in ("5pkt", "9pkt")]
    zipped = shortflow.Grid.parse(["hosts=4,8", "load=0.1,0.2", "rate=1Gbps,10Gbps"], zips=["hosts,rate"])
    assert zipped.keys == ["hosts", "rate", "load"]
    assert [tuple(point.values()) for point in zipped.points] == [
        ("4", "1Gbps", "0.1"),
        ("4", "1Gbps", "0.2"),
        ("8", "10Gbps", "0.1"),
        ("8", "10Gbps", "0.2"),
    ]


VALUES = st.sampled_from(["0.1", "2", "10", "9", "100us", "1ms", "500KB", "1MB", "5pkt", "20pkt", "websearch", "tcp"])


@given(
    st.integers(1, 5).flatmap(
        lambda length: st.lists(st.lists(VALUES, min_size=length, max_size=length), min_size=2, max_size=3)
    )
)
def test_a_grid_has_what_was_written_as_it_was_written(written: list[list[str]]) -> None:
    keys = "abc"[: len(written)]
    grids = [f"{key}={','.join(values)}" for key, values in zip(keys, written, strict=True)]
    in_step = shortflow.Grid.parse(grids, ["a=linked"], [",".join(keys)])
    assert [tuple(point.values()) for point in in_step.points] == [
        (*row, row[0]) for row in dict.fromkeys(zip(*written, strict=True))
    ]
    every = shortflow.Grid.parse(grids)
    assert [tuple(point.values()) for point in every.points] == list(itertools.product(*map(dict.fromkeys, written)))
    for grid in (in_step, every):
        assert sorted(map(str, grid.coarse_first)) == sorted(map(str, grid.points))


def test_the_first_points_are_a_coarse_picture() -> None:
    line = shortflow.Grid.parse(["n=0:8"])
    assert [point["n"] for point in line.coarse_first] == [*"084261357"]
    mixed = shortflow.Grid.parse(["n=2,8,5,6,0,1,3,4,7"])
    assert [point["n"] for point in mixed.coarse_first][:5] == ["8", "0", "4", "2", "6"]
    square = shortflow.Grid.parse(["a=1:3", "b=1:3"])
    assert square.coarse_first[:4] == [{"a": a, "b": b} for a in ("1", "3") for b in ("1", "3")]
    words = shortflow.Grid.parse(["kind=x,y,z", "n=1,2,3"])
    first = words.coarse_first[:6]
    assert first == [{"kind": kind, "n": n} for kind in "xyz" for n in "13"], "words have no middle"


LIMIT_MS = 4
INCAST = {"kind": "incast", "flows": "$flows", "sizes": {"kind": "fixed", "value": "14600B"}}
INCAST |= {"deadline": {"kind": "fixed", "value": f"{LIMIT_MS}ms"}}
SCENARIO = star([INCAST], duration="20ms", drain="1s", buffer="unlimited", parameters={"flows": 1})
NO_MISS = shortflow.Condition.parse("deadline_miss==0")


def test_bisection_finds_what_trying_every_value_finds() -> None:
    scenario = shortflow.load(SCENARIO)
    found = shortflow.search(scenario, "tcp", shortflow.Steps.parse("flows=1:60"), NO_MISS, [1, 2])
    assert found.largest[1] == found.largest[2], "nothing is drawn at random"
    assert (found.title, found.scheme, found.settings) == ("made", "tcp", {})
    largest = sure(found.largest_for(1.0))
    # A flow has ten packets of 12 us each, so 33 flows fill 4 ms.
    assert 25 <= largest <= 33
    for flows, holds in ((largest, True), (largest + 1, False)):
        result = shortflow.run(shortflow.load(SCENARIO, {"flows": flows}), "tcp")
        assert NO_MISS.holds(result.metrics) is holds
    assert len(found.trials) <= 2 * 6


@pytest.mark.parametrize(
    ("range_", "largest", "tried"),
    [
        ("flows=1:1", 1, [1]),
        ("flows=1:2", 2, [1, 2]),
        ("flows=25:34:9", 25, [25, 34]),
        ("flows=40:42", None, [41, 40]),
    ],
)
def test_the_ends_of_a_range_belong_to_the_search(range_: str, largest: int | None, tried: list[int]) -> None:
    # A flow has ten packets of 12 us each, so 34 flows do not fit into 4 ms.
    found = shortflow.search(SCENARIO, "tcp", range_, NO_MISS, [1], settings={"duration": "10ms"})
    assert found.largest == {1: largest}
    assert [trial["value"] for trial in found.trials] == tried
    assert found.settings == {"duration": "10ms"}


@pytest.mark.parametrize(
    ("key", "scheme", "condition", "error"),
    [
        ("flows=0:2", "tcp", "deadline_miss==0", "--key: at flows=0: "),
        ("transport.g=0.5:2:0.5", "dctcp", "deadline_miss==0", "--key: at transport.g=2: transport.g: 2 is not a "),
        ("flows=1:2", "tpc", "deadline_miss==0", '"tpc": unknown scheme; '),
        ("flows=1:2", "tcp", "afct_short_s<5MB", "afct_short_s<5MB: afct_short_s is in s; expected a number in s"),
        ("flows=1:2", "tcp", "distance_short<2", "distance_short: the metric compares with ideal SRPT, and a search "),
    ],
)
def test_what_a_search_cannot_run_is_an_error_before_its_first_run(
    key: str, scheme: str, condition: str, error: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(error)}"):
        shortflow.search(SCENARIO, scheme, key, condition, [1])


def test_shares_of_seeds() -> None:
    largest: dict[int, Any] = {1: 54, 2: 60, 3: None, 4: 57}
    found = shortflow.Search("s", "t", "dctcp", {}, shortflow.Steps.parse("n=1:99"), NO_MISS, largest)
    assert found.largest_for(1.0) is None
    assert found.largest_for(0.75) == 54
    assert found.largest_for(0.5) == 57
    assert found.largest_for(0.01) == 60, "one seed is the least"
    assert found.document()["largest"] == {"1": 54, "2": 60, "3": None, "4": 57}
    assert (found.fails_at_low, found.holds_at_high) == ([3], [])


def test_a_search_as_plain_data() -> None:
    steps, changed = shortflow.Steps.parse("switch.mark_above=5pkt:15pkt:5pkt"), {"load": "0.4"}
    trials = [{"value": 10, "seed": 1}]
    found = shortflow.Search("s", "t", "dctcp", changed, steps, NO_MISS, {1: 15, 2: 10, 3: 10}, trials)
    assert found.document() == {
        **{"scenario": "s", "scheme": "dctcp", "settings": changed},
        **{"key": "switch.mark_above", "low": 5, "high": 15, "unit": "pkt", "condition": "deadline_miss==0"},
        **{"seeds": [1, 2, 3], "largest": {"1": 15, "2": 10, "3": 10}, "largest_all": 10, "largest_half": 10},
        **{"fails_at_low": [], "holds_at_high": [1], "trials": trials},
    }


def test_a_search_keeps_its_runs_without_tables(tmp_path: Path) -> None:
    shortflow.search(SCENARIO, "tcp", "flows=1:1", NO_MISS, [1], out=tmp_path)
    assert [each.metrics["deadline_miss"] for each in shortflow.read_store(tmp_path).runs] == [0.0]
    assert not list((tmp_path / "runs").iterdir())


def test_a_trial_says_what_unfinished_flows_leave_open() -> None:
    # The run ends after 50 us. One flow takes 120 us, so that its time is a lower bound, which may be above 1 ms.
    short = {**SCENARIO, "duration": "50us", "drain": "0s"}
    (trial,) = shortflow.search(short, "tcp", "flows=1:1", "afct_short_s<1ms", [1]).trials
    assert (trial["value"], trial["lower_bound"], trial["holds"], trial["open"]) == (1, True, False, True)
    assert (trial["seed"], trial["unfinished"]) == (1, 1)
    assert trial["measured"] <= 50e-6


def test_a_metric_that_no_run_of_a_search_has_is_an_error() -> None:
    error = r"^convergence_short_s: needs two or more backlogged flows of class short, and no run here has one$"
    with pytest.raises(ConfigError, match=error):
        shortflow.search(SCENARIO, "tcp", "flows=1:2", "convergence_short_s<1s", [1])


@pytest.mark.parametrize("text", ["p99_short_s", "p99_short_s<", "<5ms", "p99_short_s<soon", "p99_short_s<1e999s"])
def test_a_text_that_is_no_condition_is_an_error_that_names_it(text: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{text}: expected METRIC, one of == <= >= < >, and a number"):
        shortflow.Condition.parse(text)


def test_steps_and_conditions_are_read() -> None:
    assert list(shortflow.Steps.parse("load=0.1:0.3:0.1").values) == [0.1, 0.2, 0.3]
    assert list(shortflow.Steps.parse("servers = 2:4").values) == [2, 3, 4]
    marks = shortflow.Steps.parse("switch.mark_above=5pkt:15pkt:5pkt")
    assert [marks.written(value) for value in marks.values] == ["5pkt", "10pkt", "15pkt"]
    assert shortflow.Steps.parse("duration=0.5ms:1ms:0.25ms").written(0.75) == "0.75ms"
    assert list(shortflow.Steps.parse("servers=1:10:4").values) == [1, 5, 9, 10], "the high end belongs to the range"
    assert list(shortflow.Steps.parse("load=0.1:0.7:0.2").values) == [0.1, 0.3, 0.5, 0.7]
    condition = shortflow.Condition.parse(" p99_short_s <= 5e-3 ")
    assert condition.holds({"p99_short_s": 0.005})
    assert not condition.holds({"p99_short_s": 0.006})
    assert condition.text == "p99_short_s <= 5e-3"
    assert shortflow.Condition.parse("p99_short_s<=5ms").bound == 0.005
    assert shortflow.Condition.parse("goodput_long_bps>=600Mbps").bound == 6e8
    assert shortflow.Condition.parse("deadline_miss<=2%").bound == 0.02


@pytest.mark.parametrize(
    ("text", "holds", "is_open"),
    [
        ("afct_short_s<0.006", False, True),
        ("afct_short_s<=0.005", False, True),
        ("afct_short_s<0.005", False, False),
        ("afct_short_s==0.005", False, True),
        ("afct_short_s==0.006", False, True),
        ("afct_short_s==0.004", False, False),
        ("afct_short_s>0.004", True, False),
        ("afct_short_s>=0.005", True, False),
        ("afct_short_s>0.005", False, True),
        ("deadline_miss==0", True, False),
    ],
)
def test_a_condition_on_a_bound_holds_if_it_does_for_every_larger_value(text: str, holds: bool, is_open: bool) -> None:
    condition, run = shortflow.Condition.parse(text), {"afct_short_s": 0.005, "deadline_miss": 0.0}
    assert condition.holds(run, {"afct_short_s"}) is holds
    assert condition.is_open(run, {"afct_short_s"}) is is_open
    assert not condition.is_open(run, ())


def compared(*values: float, scheme: str = "dctcp") -> Results:
    runs = [
        make_run(scheme, seed, f"d{seed}", make_rows(afct_short_s=value, drops=value * 1000), 0.0)
        for seed, value in enumerate(values, 1)
    ]
    return make_results("made", "made", {}, runs)


def test_the_width_is_half_the_interval_over_the_mean() -> None:
    # The standard error of 9, 10, 11 is 1/sqrt(3). Student's quantile with 2 degrees of freedom is 4.3027.
    (found,) = widths(compared(9.0, 10.0, 11.0), ["drops"])
    assert found.share == pytest.approx(4.3027 / math.sqrt(3) / 10, rel=1e-4)


def test_the_seeds_that_a_width_takes_are_those_after_which_it_is_reached() -> None:
    (found,) = widths(compared(9.0, 10.0, 11.0), ["drops"])
    # With standard deviation 1 and mean 10, ± 2 % of the mean is t / sqrt(n) <= 0.2: n = 99 has t = 1.9845 and gives
    # 0.19945, n = 98 gives 0.20049.
    assert more_seeds([found], 0.02) == 99 - 3
    assert more_seeds([found], 0.5) == 0
    assert more_seeds([found], 0.02) > more_seeds([found], 0.05) > more_seeds([found], 0.1) > 0


def test_the_looks_are_after_every_five_seeds_and_at_the_most() -> None:
    def looks(most: int, first: int = 5) -> list[list[int]]:
        return [list(new) for new in rounds(range(1, first + 1), Precision(0.1, most=most))]

    assert looks(12) == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12]]
    assert looks(9, first=8) == [[1, 2, 3, 4, 5, 6, 7, 8], [9]]
    assert looks(5) == [[1, 2, 3, 4, 5]]
    with pytest.raises(ConfigError, match="--seeds 10: is above --max-seeds 6"):
        looks(6, first=10)


def test_what_is_zero_with_every_seed_is_known() -> None:
    nothing = compared(0.0, 0.0, 0.0)
    assert widths(nothing, ["drops"])[0].share == 0
    assert Precision(0.05, "drops").is_met(nothing)
    assert not Precision(0.05, "drops").is_met(compared(0.0, 0.0, 1.0))


def test_a_sweep_has_each_scheme_and_seed_at_each_point_and_the_settings_of_all_points() -> None:
    settings = {"duration": "10ms", "transport.g": "0.1"}
    found = shortflow.sweep(SCENARIO, "tcp,dctcp", {"flows": [2, 3, 1]}, 2, settings=settings)
    expected = [*itertools.product("231", ("tcp", "dctcp"), (1, 2))]  # the order of the grid, not of the runs
    assert sorted((run.at["flows"], run.scheme, run.seed) for run in found.done) == sorted(expected)
    assert [run.at["flows"] for run in found.done] == [flows for flows, _, _ in expected]
    assert [point.at["flows"] for point in found.points] == [*"231"]
    assert (found.settings, found.keys, found.met_at) == (settings, ["flows"], None)


def test_a_sweep_needs_a_seed() -> None:
    with pytest.raises(ConfigError, match=r"^seeds: 0 is not a whole number from 1 on$"):
        shortflow.sweep(SCENARIO, "tcp", {"flows": [1]}, 0)


def test_a_comparison_has_the_settings_that_differ_from_the_scenario_and_the_ideal_schedulers() -> None:
    found = shortflow.compare(SCENARIO, "tcp", [1, 2], settings={"flows": "2"})
    assert found.settings == {"flows": "2"}
    assert [(run.scheme, run.seed) for run in found.done][:2] == [("tcp", 1), ("tcp", 2)]
    assert {run.scheme for run in found.done} == {"tcp", *found.ideal_names}
    assert found.ideal_names
    without = shortflow.compare(SCENARIO, "tcp", [1], ideal=False)
    assert (without.ideal_names, without.no_ideal) == ([], "")


QUERIES = {"kind": "queries", "workers": 2, "repeat": 1, "sizes": {"kind": "fixed", "value": "1KB"}, "to": 0}


def test_a_comparison_has_the_reason_why_no_ideal_scheduler_runs() -> None:
    found = shortflow.compare(star([QUERIES]), "tcp", [1])
    assert {run.scheme for run in found.done} == {"tcp"}
    assert found.no_ideal.startswith("traffic.1: ")
    assert f"no ideal rows: {found.no_ideal}" in found.notes


@pytest.mark.usefixtures("scenario")
def test_each_point_of_a_sweep_has_the_seeds_that_it_needs(shortflow: Command, small: Tables) -> None:
    answer = shortflow(
        *("sweep", "small.toml", "--schemes", "dctcp", "--grid", "load=0.3,0.7", "--until-ci", "afct_short_s=25%"),
        *("--max-seeds", "30", "--out", "store", "--json"),
        code=ExitCode.FINE,
    )
    few, many = answer.document["points"]
    assert few["until_ci_met"]
    assert len(few["seeds"]) < len(many["seeds"])
    assert "--until-ci: " in answer.stderr


def test_no_lower_bound_is_ever_narrow_enough() -> None:
    exact = compared(1.0, 1.0, 1.0)
    last = exact.done[2]
    bounded = replace(last, record={**last.record, "lower_bounds": [*last.metrics]})
    bound = replace(exact, done=[*exact.done[:2], bounded])
    assert Precision(0.05).is_met(exact)
    assert not Precision(0.05).is_met(bound)
    assert widths(bound)[0].share == math.inf
