"""The search for the largest value of a key, against runs whose answer is known beforehand."""

from typing import Any

import pytest

import shortflow
from made import star, sure
from shortflow import Condition, Search, Steps

LIMIT_MS = 4
INCAST = {"kind": "incast", "flows": "$flows", "sizes": {"kind": "fixed", "value": "14600B"}}
INCAST |= {"deadline": {"kind": "fixed", "value": f"{LIMIT_MS}ms"}}
SCENARIO = star([INCAST], duration="20ms", drain="1s", buffer="unlimited", parameters={"flows": 1})
NO_MISS = Condition.parse("deadline_miss==0")


def test_bisection_finds_what_trying_every_value_finds() -> None:
    scenario = shortflow.load(SCENARIO)
    found = shortflow.search(scenario, "tcp", Steps.parse("flows=1:60"), NO_MISS, [1, 2])
    assert found.largest[1] == found.largest[2], "nothing is drawn at random"
    largest = sure(found.largest_for(1.0))
    # A flow is ten packets of 12 us: 33 of them fill 4 ms.
    assert 25 <= largest <= 33
    for flows, holds in ((largest, True), (largest + 1, False)):
        result = shortflow.run(shortflow.load(SCENARIO, {"flows": flows}), "tcp")
        assert NO_MISS.holds(result.metrics) is holds
    assert len(found.trials) <= 2 * 6


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
