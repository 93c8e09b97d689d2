"""The JSON Schema of scenarios, and scenarios that are given as Python values."""

import copy
import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import shortflow
from conftest import Command
from shortflow import _core
from shortflow.scenario import SHIPPED

SCHEMA = json.loads(_core.schema())
JUDGE = jsonschema.Draft202012Validator(SCHEMA)
Change = Callable[[dict[str, Any]], object]


def tables(name: str) -> dict[str, Any]:
    return tomllib.loads((SHIPPED / f"{name}.toml").read_text(encoding="utf-8"))


def complaints(scenario: dict[str, Any]) -> str:
    return "\n".join(error.message for error in JUDGE.iter_errors(scenario))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", shortflow.shipped_scenarios())
def test_every_shipped_scenario_fits(name: str) -> None:
    assert not complaints(tables(name))


WRONG: dict[str, Change] = {
    "duration: missing": lambda scenario: scenario.pop("duration"),
    "warmpu: unknown key": lambda scenario: scenario.update(warmpu="1ms"),
    'topology.kind: "sta" is not': lambda scenario: scenario["topology"].update(kind="sta"),
    "topology.racks: 0 is not a whole number from 1": lambda scenario: scenario["topology"].update(racks=0),
    "topology.spines: unknown key": lambda scenario: scenario["topology"].update(spines=2),
    'topology.rate: "1Gb" is not': lambda scenario: scenario["topology"].update(rate="1Gb"),
    "switch.buffer: 250 is not": lambda scenario: scenario["switch"].update(buffer=250),
    'tcp.handshake: "on" is not true or false': lambda scenario: scenario.update(tcp={"handshake": "on"}),
    'tcp.rto_min: "0s" is not': lambda scenario: scenario.update(tcp={"rto_min": "0s"}),
    "host.stalls: -1 is not a number from 0": lambda scenario: scenario.update(host={"stalls": -1}),
    "traffic.1.kind: missing": lambda scenario: scenario["traffic"][0].pop("kind"),
    "traffic.2.load: 0 is not a number above 0": lambda scenario: scenario["traffic"][1].update(load=0),
    "traffic.2.sizes.max: missing": lambda scenario: scenario["traffic"][1]["sizes"].pop("max"),
    "faults.loss: 2 is not a number from 0 to 0.9": lambda scenario: scenario.update(faults={"loss": 2}),
}


@pytest.mark.parametrize("complaint", WRONG)
def test_what_reading_refuses_the_schema_refuses_too(complaint: str) -> None:
    wrong = copy.deepcopy(tables("l2dct-benchmark"))
    wrong["parameters"] = {}
    wrong["traffic"][1]["load"] = 0.2
    assert not complaints(wrong)
    WRONG[complaint](wrong)
    assert complaints(wrong)
    with pytest.raises(shortflow.ConfigError) as error:
        shortflow.load(wrong)
    assert str(error.value).startswith(complaint)


def test_a_table_of_a_tier_may_leave_out_what_all_switches_have() -> None:
    scenario = tables("l2dct-benchmark")
    scenario["switch"]["tor"] = {"mark_above": "9pkt", "up": {"buffer": "300pkt"}}
    assert not complaints(scenario)
    scenario["switch"]["tor"]["up"]["bufer"] = "9pkt"
    assert complaints(scenario)


def test_every_default_and_every_scheme_parameter_fits_its_own_shape() -> None:
    defs = {"$defs": SCHEMA["$defs"]}
    assert set(SCHEMA["$defs"]["schemes"]) == {scheme["name"] for scheme in _core.registry()["schemes"]}
    for scheme in _core.registry()["schemes"]:
        properties = SCHEMA["$defs"]["schemes"][scheme["name"]]["properties"]
        assert set(properties) == {parameter["name"] for parameter in scheme["parameters"]}
        for key, property_ in properties.items():
            assert "default" in property_, key
            jsonschema.Draft202012Validator({**property_, **defs}).validate(property_["default"])
    for table in ("tcp", "host", "measure"):
        for property_ in SCHEMA["properties"][table]["properties"].values():
            if "default" in property_:
                jsonschema.Draft202012Validator({**property_, **defs}).validate(property_["default"])


def test_the_command_prints_it_or_keeps_it(shortflow: Command, tmp_path: Path) -> None:
    assert shortflow("schema").document == SCHEMA
    answer = shortflow("schema", "--out", "schema.json")
    assert (answer.code, answer.stdout) == (0, "")
    assert json.loads((tmp_path / "schema.json").read_text(encoding="utf-8")) == SCHEMA


@pytest.mark.parametrize("name", shortflow.shipped_scenarios())
def test_python_values_mean_what_the_file_means(name: str) -> None:
    of_file = shortflow.load(name)
    of_values = shortflow.load(tables(name), directory=SHIPPED)
    assert of_values.resolved() == of_file.resolved()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "topology.hosts: None is not text, a number, true or false, a list or a table"),
        (b"3", "topology.hosts: b'3' is not text"),
        (2**70, "topology.hosts: 1180591620717411303424 is not text"),
        (3.0, "topology.hosts: 3.0 is not a whole number from"),
        (True, "topology.hosts: true is not a whole number from"),
    ],
)
def test_python_values_that_no_file_can_hold_are_named(small: dict[str, Any], value: object, said: str) -> None:
    with pytest.raises(shortflow.ConfigError) as error:
        shortflow.load({**small, "topology": {**small["topology"], "hosts": value}})
    assert str(error.value).startswith(said)


def test_a_scenario_is_not_read_again_for_the_settings_that_it_was_read_with(tmp_path: Path) -> None:
    for file in SHIPPED.glob("cdf-example.*"):
        shutil.copy(file, tmp_path)
    scenario = shortflow.load(tmp_path / "cdf-example.toml", {"duration": "300ms"})
    (tmp_path / "cdf-example.csv").unlink()
    assert scenario.with_({"duration": "300ms"}).resolved() == scenario.resolved()
    with pytest.raises(shortflow.ConfigError, match=r"cdf-example\.csv"):
        scenario.with_({"duration": "301ms"})
