"""Scenarios built of typed values are equal to those from files, and raise errors when they are built."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import shortflow as sf
from shortflow import _core, declared
from shortflow.scenario import SHIPPED
from shortflow.scheme import load_schemes
from shortflow.spec import Topology
from shortflow.stubs import stubs
from test_schema import tables

ROOT = Path(__file__).parents[1]
UNIFORM = sf.sizes.Uniform(min="2KB", max="98KB")


def test_the_types_for_editors_are_those_of_the_core() -> None:
    written = (ROOT / "python/shortflow/spec.pyi").read_text(encoding="utf-8")
    assert written == stubs(), "make setup"


def named(values: Mapping[str, Any]) -> dict[str, Any]:
    return {declared.python_name(key): value for key, value in values.items()}


def of_kind(table: str, values: Mapping[str, Any]) -> object:
    """The mapping as typed values, including nested ones."""
    inner = {key: of_kind(key, values[key]) for key in ("sizes", "deadline", "interarrival") if key in values}
    if "parts" in values:
        inner["parts"] = [of_kind("part", part) for part in values["parts"]]
    keys = named({key: value for key, value in {**values, **inner}.items() if key != "kind"})
    return getattr(getattr(sf, table), declared.class_name(values["kind"]))(**keys)


def typed(values: Mapping[str, Any]) -> sf.Spec:
    plain = {"switch": sf.Switch, "host": sf.Host, "tcp": sf.Tcp, "measure": sf.Measure, "faults": sf.Faults}

    def table(key: str, value: Any) -> object:
        if key == "topology":
            return of_kind(key, value)
        if isinstance(value, list):
            return [of_kind(key, entry) if key == "traffic" else plain[key](**named(entry)) for entry in value]
        return plain[key](**named(value)) if key in plain else value

    keys: dict[str, Any] = {key: table(key, value) for key, value in values.items()}
    return sf.Spec(**keys)


@pytest.mark.parametrize("name", sf.shipped_scenarios())
def test_every_shipped_scenario_can_be_built_of_typed_values(name: str) -> None:
    built = sf.load(typed(tables(name)), directory=SHIPPED)
    assert built.resolved() == sf.load(name).resolved()


SPEC = sf.Spec(
    title="Short flows beside a long one",
    duration="30ms",
    topology=sf.topology.Star(hosts=5, rate="1Gbps", rtt="300us"),
    switch=sf.Switch(buffer="250pkt", mark_above="20pkt"),
    tcp=sf.Tcp(rto_min="10ms", handshake=True),
    traffic=[
        sf.traffic.LongLived(flows=1, from_=0, to=4),
        sf.traffic.Poisson(load=sf.parameter("load"), sizes=UNIFORM, from_="1-3", to=4, class_="mice"),
    ],
    parameters={"load": 0.2},
)
FILE = """
title = "Short flows beside a long one"
duration = "30ms"
topology = { kind = "star", hosts = 5, rate = "1Gbps", rtt = "300us" }
switch = { buffer = "250pkt", mark_above = "20pkt" }
tcp = { rto_min = "10ms", handshake = true }
parameters = { load = 0.2 }

[[traffic]]
kind = "long-lived"
flows = 1
from = 0
to = 4

[[traffic]]
kind = "poisson"
load = "$load"
sizes = { kind = "uniform", min = "2KB", max = "98KB" }
from = "1-3"
to = 4
class = "mice"
"""


def test_a_run_of_typed_values_has_the_digest_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(FILE, encoding="utf-8")
    of_file, of_values = sf.load(tmp_path / "scenario.toml"), sf.load(SPEC)
    assert of_values.resolved() == of_file.resolved()
    values, file, other = (sf.run(each).meta["digest"] for each in (of_values, of_file, sf.load(SPEC, {"load": 0.3})))
    assert values == file != other


def test_values_can_be_looked_at_and_printed() -> None:
    star = sf.topology.Star(hosts=5, rate="1Gbps", rtt="300us")
    assert dict(star) == {"kind": "star", "hosts": 5, "rate": "1Gbps", "rtt": "300us"}
    assert repr(star) == "topology.Star(hosts=5, rate='1Gbps', rtt='300us')"
    assert isinstance(star, Topology)
    assert "hosts: number of hosts" in (inspect.getdoc(sf.topology.Star) or "")
    assert list(inspect.signature(sf.topology.Star).parameters) == ["hosts", "rate", "rtt"]
    tor = sf.Switch(buffer="9pkt", mark_above="5pkt", tor={"buffer": "7pkt"})
    assert tor["tor"] == {"buffer": "7pkt"}
    assert sf.schemes.Dctcp(g=0.1, recovery="rack") == "dctcp+g=0.1+recovery=rack"


# The comment after each line ignores Mypy's error. Mypy would report a comment without an error.
WRONG: dict[str, Callable[[], object]] = {
    'topology.Star.hots: unknown key; did you mean "topology.Star.hosts"?': lambda: sf.topology.Star(
        hots=3,
        rate="1Gbps",
        rtt="300us",  # type: ignore[call-arg]
    ),
    "topology.Star.hosts: missing; expected a whole number from 2": lambda: sf.topology.Star(  # type: ignore[call-arg]
        rate="1Gbps", rtt="300us"
    ),
    "Switch.buffer: 250 is not a queue size": lambda: sf.Switch(
        buffer=250,  # type: ignore[arg-type]
        mark_above="20pkt",
    ),
    'Tcp.handshake: "on" is not true or false': lambda: sf.Tcp(handshake="on"),  # type: ignore[arg-type]
    "Tcp.rto_min: None is not text, a number": lambda: sf.Tcp(rto_min=None),  # type: ignore[arg-type]
    "traffic.Poisson.load: 0 is not a number above 0": lambda: sf.traffic.Poisson(load=0, sizes=UNIFORM),
    'traffic.Poisson.sizes: "50KB" is not a table of keys': lambda: sf.traffic.Poisson(
        load=0.2,
        sizes="50KB",  # type: ignore[arg-type]
    ),
    'traffic.Poisson.connections: "newer" is not one of new, persistent, shared; did you mean "new"?': lambda: (
        sf.traffic.Poisson(load=0.2, sizes=UNIFORM, connections="newer")  # type: ignore[arg-type]
    ),
    "sizes.Mixture.parts.1.shar: unknown key": lambda: sf.sizes.Mixture(
        parts=[{"kind": "fixed", "value": "1KB", "shar": 1}]  # type: ignore[list-item]
    ),
    'Spec.durations: unknown key; did you mean "Spec.duration"?': lambda: sf.Spec(
        **dict(SPEC),  # type: ignore[arg-type]
        durations="1s",  # type: ignore[call-arg]
    ),
}


@pytest.mark.parametrize("said", WRONG)
def test_what_is_wrong_with_a_value_is_said_when_it_is_made(said: str) -> None:
    with pytest.raises(sf.ConfigError) as error:
        WRONG[said]()
    assert str(error.value).startswith(said)


def test_what_is_wrong_between_values_is_said_when_they_are_loaded() -> None:
    late = sf.Spec(**{**SPEC, "warmup": "40ms"})  # type: ignore[arg-type]
    with pytest.raises(sf.ConfigError, match="warmup: 40ms is not before duration = 30ms"):
        sf.load(late)


def test_an_unknown_kind_is_answered_with_the_nearest() -> None:
    with pytest.raises(AttributeError, match=r"topology\.Stra: unknown kind.*Star"):
        _ = sf.topology.Stra  # type: ignore[attr-defined]


@pytest.mark.parametrize("entry", _core.registry()["schemes"], ids=lambda entry: entry["name"])
def test_every_scheme_is_a_typed_value_with_all_its_parameters(entry: Mapping[str, Any]) -> None:
    kind = getattr(sf.schemes, declared.class_name(entry["name"]))
    assert kind() == entry["name"]
    assert entry["source"] in kind.__doc__
    defaults = {each["name"]: each["default"] for each in entry["parameters"]}
    assert len(inspect.signature(kind).parameters) == len(defaults)
    (named,) = load_schemes([kind(**{declared.python_name(key): value for key, value in defaults.items()})])
    (plain,) = load_schemes([entry["name"]])
    assert {(key, value) for key, value, _ in named.resolved()} == {(key, value) for key, value, _ in plain.resolved()}
