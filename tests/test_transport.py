"""Transports written in Python, beside the built-in ones."""

import re
from pathlib import Path

import pytest

import shortflow
from shortflow.transport import load_transport

PAGE = Path(__file__).parents[1] / "docs" / "adding-a-transport.md"
STAR = {
    "title": "two senders, marks and losses",
    "duration": "20ms",
    "topology": {"kind": "star", "hosts": 4, "rate": "1Gbps", "rtt": "200us"},
    "switch": {"buffer": "40pkt", "mark_above": "10pkt"},
    "traffic": [
        {"kind": "incast", "flows": 3, "sizes": {"kind": "fixed", "value": "60KB"}, "repeat": 3, "every": "5ms"},
        {"kind": "long-lived", "flows": 1},
    ],
    "faults": {"loss": 0.002},
}


@pytest.fixture
def example(tmp_path: Path) -> str:
    block = re.search(r"^```python file=my_dctcp.py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert block
    (tmp_path / "my_dctcp.py").write_text(block[1], encoding="utf-8")
    return f"{tmp_path / 'my_dctcp.py'}:MyDctcp"


@pytest.fixture
def star() -> shortflow.Scenario:
    return shortflow.load_scenario(STAR)


def test_the_example_equals_the_built_in_dctcp_exactly(example: str, star: shortflow.Scenario) -> None:
    comparison = shortflow.compare(star, ["dctcp", example], seeds=[1, 2])
    digests = {(run.scheme, run.seed): run.digest for run in comparison.runs}
    for seed in (1, 2):
        assert digests["MyDctcp", seed] == digests["dctcp", seed]
    assert any(run.metrics["marks"] > 0 and run.metrics["retransmits"] > 0 for run in comparison.runs)


def test_a_parameter_can_be_set_and_matters(example: str, star: shortflow.Scenario) -> None:
    plain = shortflow.run(star, example)
    other = shortflow.run(star, example, settings={"transport.g": 0.5})
    built_in = shortflow.run(star, "dctcp", settings={"transport.g": 0.5})
    assert other.provenance["digest"] == built_in.provenance["digest"] != plain.provenance["digest"]


def test_an_error_in_a_hook_ends_the_run_and_is_raised(star: shortflow.Scenario) -> None:
    class Broken(shortflow.CongestionControl):
        def on_ack(self, window: object, ack: object) -> None:
            raise ZeroDivisionError("in the hook")

    with pytest.raises(
        shortflow.ConfigError, match=r"Broken: ZeroDivisionError: in the hook \(.*test_transport.py:\d+\)"
    ):
        shortflow.compare(star, [Broken], seeds=[1])


def test_a_senseless_window_is_an_error(star: shortflow.Scenario) -> None:
    class Vanishing(shortflow.CongestionControl):
        def on_ack(self, window: shortflow.Window, ack: shortflow.Ack) -> None:
            window.cwnd = -1.0

    with pytest.raises(shortflow.ConfigError, match=r"Vanishing.*cwnd = -1"):
        shortflow.compare(star, [Vanishing], seeds=[1])


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("missing.py:Law", "there is no file 'missing.py'"),
        ("{dir}/my_dctcp.py:MyDctpc", 'did you mean "MyDctcp"'),
        ("{dir}/wrong.py:Law", "wrong.py: SyntaxError"),
    ],
)
def test_wrong_references_are_explained(reference: str, message: str, example: str) -> None:
    folder = Path(example.rpartition(":")[0]).parent
    (folder / "wrong.py").write_text("def (", encoding="utf-8")
    with pytest.raises(shortflow.ConfigError, match=re.escape(message)):
        load_transport(reference.format(dir=folder))


def test_an_unknown_parameter_names_the_known_ones(example: str, star: shortflow.Scenario) -> None:
    with pytest.raises(shortflow.ConfigError, match=r"transport\.h.*transport\.g"):
        shortflow.run(star, example, settings={"transport.h": 1})
