"""The search for the largest value of a key, against runs whose answer is known beforehand."""

from pathlib import Path
from typing import Any

import pytest
import tomli_w

import shortflow
from conftest import Answer, Command
from shortflow import Condition, Search, Steps, read_store
from shortflow.errors import ConfigError

LIMIT_MS = 4
SCENARIO: dict[str, object] = {
    "title": "As many flows as fit into a deadline",
    "duration": "20ms",
    "drain": "1s",
    "parameters": {"flows": 1},
    "topology": {"kind": "star", "hosts": 5, "rate": "1Gbps", "rtt": "100us"},
    "switch": {"buffer": "unlimited", "mark_above": "20pkt"},
    "traffic": [
        {
            "kind": "incast",
            "flows": "$flows",
            "sizes": {"kind": "fixed", "value": "14600B"},
            "deadline": {"kind": "fixed", "value": f"{LIMIT_MS}ms"},
        }
    ],
}
NO_MISS = Condition.parse("deadline_miss==0")


def test_bisection_finds_what_trying_every_value_finds() -> None:
    scenario = shortflow.load(SCENARIO)
    found = shortflow.search(scenario, "tcp", Steps.parse("flows=1:60"), NO_MISS, [1, 2])
    assert found.largest[1] == found.largest[2], "nothing is drawn at random"
    largest = found.largest_for(1.0)
    assert largest is not None
    # A flow is ten packets of 12 us: 33 of them fill 4 ms.
    assert 25 <= largest <= 33
    for flows, holds in ((largest, True), (largest + 1, False)):
        result = shortflow.run(shortflow.load(SCENARIO, {"flows": flows}), "tcp")
        assert NO_MISS.holds(result.metrics) is holds
    assert len(found.trials) <= 2 * 6


def test_both_ends_of_the_range_may_be_the_answer() -> None:
    scenario = shortflow.load(SCENARIO)
    assert shortflow.search(scenario, "tcp", Steps.parse("flows=1:5"), NO_MISS, [1]).largest == {1: 5}
    assert shortflow.search(scenario, "tcp", Steps.parse("flows=50:60"), NO_MISS, [1]).largest == {1: None}


def test_shares_of_seeds() -> None:
    largest: dict[int, Any] = {1: 54, 2: 60, 3: None, 4: 57}
    found = Search("s", "t", "dctcp", {}, Steps.parse("n=1:99"), NO_MISS, largest)
    assert found.largest_for(1.0) is None
    assert found.largest_for(0.75) == 54
    assert found.largest_for(0.5) == 57
    assert found.document()["largest"] == {"1": 54, "2": 60, "3": None, "4": 57}


def test_steps_and_conditions_are_read() -> None:
    assert list(Steps.parse("load=0.1:0.3:0.1").values) == [0.1, 0.2, 0.3]
    assert list(Steps.parse("servers = 2:4").values) == [2, 3, 4]
    marks = Steps.parse("switch.mark_above=5pkt:15pkt:5pkt")
    assert [marks.written(value) for value in marks.values] == ["5pkt", "10pkt", "15pkt"]
    assert Steps.parse("duration=0.5ms:1ms:0.25ms").written(0.75) == "0.75ms"
    assert list(Steps.parse("servers=1:10:4").values) == [1, 5, 9, 10], "the high end belongs to the range"
    assert list(Steps.parse("load=0.1:0.7:0.2").values) == [0.1, 0.3, 0.5, 0.7]
    condition = Condition.parse(" p99_short_s <= 5e-3 ")
    assert condition.holds({"p99_short_s": 0.005})
    assert not condition.holds({"p99_short_s": 0.006})
    assert condition.text == "p99_short_s <= 5e-3"
    assert Condition.parse("p99_short_s<=5ms").bound == 0.005
    assert Condition.parse("goodput_long_bps>=600Mbps").bound == 6e8
    assert Condition.parse("deadline_miss<=2%").bound == 0.02


@pytest.mark.parametrize("text", ["afct_short_s<5KB", "afct_short_s<5%", "drops<5ms"])
def test_a_condition_in_another_unit_is_refused(text: str) -> None:
    scenario = shortflow.load(SCENARIO)
    condition = Condition.parse(text.replace("short", scenario.classes[0]))
    with pytest.raises(ConfigError, match=f"{condition.metric} is (in s|without a unit)"):
        shortflow.search(scenario, "tcp", Steps.parse("flows=1:2"), condition, [1])


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
def test_a_condition_on_a_lower_bound_holds_only_if_it_does_for_every_larger_value(
    text: str, holds: bool, is_open: bool
) -> None:
    condition, run = Condition.parse(text), {"afct_short_s": 0.005, "deadline_miss": 0.0}
    assert condition.holds(run, {"afct_short_s"}) is holds
    assert condition.is_open(run, {"afct_short_s"}) is is_open
    assert not condition.is_open(run, ())


@pytest.mark.parametrize(
    "text",
    [
        "servers",
        "servers=1",
        "=1:2",
        "servers=a:9",
        "servers=9:1",
        "servers=1:9:0",
        "servers=1:9:1:1",
        "servers=1e999:1e999",
        "servers=1:1:1e999",
        "load=0.1:0.9",
        "duration=1ms:1pkt",
        "switch.mark_above=5pkt:20",
        "topology.rtt=100µs:200µs",
    ],
)
def test_wrong_steps_are_named(text: str) -> None:
    with pytest.raises(ConfigError, match="expected"):
        Steps.parse(text)


@pytest.mark.parametrize("text", ["deadline_miss", "deadline_miss=0", "deadline_miss==x", "==0"])
def test_wrong_conditions_are_named(text: str) -> None:
    with pytest.raises(ConfigError, match="not a condition"):
        Condition.parse(text)


def test_a_metric_that_the_runs_do_not_have() -> None:
    scenario = shortflow.load(SCENARIO)
    for name, wanted in (
        ("query_miss", "query_miss: no run here has it: share of the tasks"),
        ("afct_shrot_s", '"afct_shrot_s": unknown metric; did you mean "afct_short_s"'),
    ):
        with pytest.raises(ConfigError, match=wanted):
            shortflow.search(scenario, "tcp", Steps.parse("flows=1:2"), Condition.parse(f"{name}==0"), [1])


def test_the_command(shortflow: Command) -> None:
    arguments = (
        "search",
        "incast-deadlines",
        "--key",
        "senders=1:8",
        "--condition",
        "deadline_miss==0",
        "--seeds",
        "2",
    )
    document = shortflow(*arguments, "--json").document
    assert document["largest_all"] == document["largest_half"] == 8
    assert document["condition"] == "deadline_miss==0"
    table = shortflow(*arguments)
    assert table.code == 0
    assert "Largest senders for which deadline_miss==0" in table.stdout
    assert "in every seed" in table.stdout
    wrong = shortflow("search", "incast-deadlines", "--key", "sender=1:8", "--condition", "deadline_miss==0")
    assert wrong.code == 2
    assert 'did you mean "senders"' in wrong.stderr


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    (tmp_path / "fits.toml").write_text(tomli_w.dumps(SCENARIO))
    return "fits.toml"


def search_with(shortflow: Command, scenario: str, key: str, *more: str) -> Answer:
    arguments = ("--scheme", "tcp", "--condition", "deadline_miss==0", "--seeds", "1")
    return shortflow("search", scenario, "--key", key, *arguments, *more)


def test_an_answer_at_an_end_of_the_range_says_so(shortflow: Command, scenario: str) -> None:
    whole = search_with(shortflow, scenario, "flows=1:5")
    assert (whole.stderr, whole.stdout.count("5 or more")) == ("", 1)
    assert "deadline_miss==0 still holds at 5" in search_with(shortflow, scenario, "flows=1:5", "--json").stderr
    shorter = search_with(shortflow, scenario, "flows=1:10:4", "--json").document
    assert (shorter["high"], shorter["largest_all"], shorter["holds_at_high"]) == (10, 10, [1])
    none = search_with(shortflow, scenario, "flows=50:60", "--json")
    assert "deadline_miss==0 fails at 50 already" in none.stderr
    assert none.document["largest"] == {"1": None}
    assert (none.document["fails_at_low"], none.document["holds_at_high"]) == ([1], [])
    within = search_with(shortflow, scenario, "flows=1:60", "--json")
    assert within.stderr == ""
    assert (within.document["fails_at_low"], within.document["holds_at_high"]) == ([], [])


def test_the_key_may_have_a_unit(shortflow: Command, scenario: str) -> None:
    found = search_with(shortflow, scenario, "traffic.1.sizes.value=10KB:1000KB:10KB", "--json").document
    assert found["unit"] == "KB"
    assert 300 <= found["largest_all"] <= 500, "1 Gbps carries 500 KB in 4 ms"
    unknown = search_with(shortflow, scenario, "traffic.1.sizes.value=10furlongs:20furlongs")
    assert unknown.code == 2
    assert "traffic.1.sizes.value" in unknown.stderr
    assert "10furlongs" in unknown.stderr or "15furlongs" in unknown.stderr


def test_flows_that_never_ended_are_told(shortflow: Command, scenario: str) -> None:
    late = search_with(shortflow, scenario, "flows=300:300", "--set", "drain=1ms", "--json")
    (trial,) = late.document["trials"]
    assert 0 < trial["unfinished"] <= 300
    assert f"unfinished at the end of the drain: up to {trial['unfinished']} flows, in 1 of 1 runs" in late.stderr
    assert "open at" not in late.stderr, "deadlines have passed"


def test_a_condition_that_unfinished_flows_leave_open_counts_as_not_holding(shortflow: Command, scenario: str) -> None:
    arguments = ("--key", "flows=299:300", "--scheme", "tcp", "--seeds", "1", "--set", "drain=1ms", "--json")
    found = shortflow("search", scenario, *arguments, "--condition", "afct_short_s<0.5")
    assert found.document["largest"] == {"1": None}
    assert {(trial["holds"], trial["open"], trial["lower_bound"]) for trial in found.document["trials"]} == {
        (False, True, True)
    }
    assert "afct_short_s<0.5 is open at flows = 299: it counts as not holding there" in found.stderr


def test_small_values_are_written_without_an_exponent(shortflow: Command, scenario: str) -> None:
    found = search_with(shortflow, scenario, "traffic.1.deadline.value=0.00001s:0.00003s:0.00001s", "--json")
    assert found.code == 0, found.stderr
    assert [trial["value"] for trial in found.document["trials"]] == [2e-05, 1e-05]


@pytest.mark.parametrize("setting", ["flows=3", "parameters.flows=3"])
def test_the_key_cannot_be_set_too(shortflow: Command, scenario: str, setting: str) -> None:
    answer = search_with(shortflow, scenario, "flows=2:6", "--set", setting)
    assert answer.code == 2
    assert "flows: its values vary, so it cannot be set too" in answer.stderr


def test_a_search_keeps_its_runs_and_finds_them_again(shortflow: Command, scenario: str, tmp_path: Path) -> None:
    first = search_with(shortflow, scenario, "flows=2:40", "--out", "store", "--json")
    table = read_store(tmp_path / "store").to_frame()
    assert table.height == len(first.document["trials"])
    assert len(list((tmp_path / "store" / "run-logs").iterdir())) == 1
    again = search_with(shortflow, scenario, "flows=2:40", "--out", "store", "--json")
    assert again.document == first.document
    assert len(list((tmp_path / "store" / "run-logs").iterdir())) == 1, "nothing was run"
