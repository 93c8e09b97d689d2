"""Every shipped scenario explains itself, is valid, and runs under every scheme that the papers compare."""

import pytest

import shortflow
from shortflow.scenario import SHIPPED

NAMES = shortflow.shipped_scenarios()


def test_what_the_documentation_promises_is_there() -> None:
    promised = {"l2dct-benchmark", "l2dct-pareto", "websearch-star", "facebook-hadoop-star", "incast", "trace-example"}
    assert promised | {"two-long-flows", "one-long-flow", "bench-star"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_header_explains_it_and_names_its_source(name: str) -> None:
    text = (SHIPPED / f"{name}.toml").read_text()
    header = [line for line in text.split("\n\n")[0].splitlines() if line.startswith("#")]
    assert len(header) >= 3
    assert any(word in "\n".join(header) for word in ("Source", "Ours", "made up"))


@pytest.mark.parametrize("name", NAMES)
def test_it_is_valid_and_every_value_has_a_source(name: str) -> None:
    scenario = shortflow.load_scenario(name)
    assert scenario.name == name
    assert scenario.title
    assert all(setting["source"] for setting in scenario.resolved())
    assert scenario.traffic_notes()


@pytest.mark.parametrize("scheme", ["tcp", "dctcp", "l2dct"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "bench-many-flows"])
def test_it_runs(name: str, scheme: str) -> None:
    settings: dict[str, str | int] = {"duration": "40ms", "warmup": "5ms"}
    if name == "incast":
        settings["traffic.1.repeat"] = 1
    scenario = shortflow.load_scenario(name, settings)
    result = shortflow.run(scenario, scheme)
    assert result.flows.height > 0
    assert result.metrics["utilisation"] > 0


def test_a_mapping_is_a_scenario_too(small: dict[str, object]) -> None:
    scenario = shortflow.load_scenario(small, {"load": 0.2})
    assert shortflow.run(scenario, "dctcp").metrics["afct_short_s"] > 0
    with pytest.raises(shortflow.ConfigError, match="warmpu"):
        shortflow.load_scenario({**small, "warmpu": "1ms"})
