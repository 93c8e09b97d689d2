"""Flow control of other tools: SONiC's lossless queues and HPCC's switches pause as `switch.xoff` does."""

import copy
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import shortflow as sf
from shortflow.errors import ConfigError
from shortflow.imports.formats import recognised
from shortflow.imports.parts import Options, Part
from test_imports import CONFIG as HPCC
from test_imports import FLOWS, TOPOLOGY
from test_sonic import CONFIG, file

LOSSLESS: dict[str, Any] = {
    **{name: CONFIG[name] for name in ("DEVICE_METADATA", "WRED_PROFILE")},
    "PORT": {f"Ethernet{port}": {"speed": "25000"} for port in range(4)},
    "QUEUE": {f"Ethernet{port}|3": {"wred_profile": "SLOW"} for port in range(4)},
    "BUFFER_QUEUE": {f"Ethernet{port}|3": {"profile": "q_lossless"} for port in range(4)},
    "BUFFER_PG": {f"Ethernet{port}|3-4": {"profile": "[BUFFER_PROFILE|pg_lossless]"} for port in range(4)},
    "BUFFER_PROFILE": {
        "q_lossless": {"pool": "egress_lossless_pool", "size": "0", "static_th": "12000000"},
        "pg_lossless": {
            "pool": "[BUFFER_POOL|ingress_lossless_pool]",
            "size": "1248",
            "dynamic_th": "-3",
            "xoff": "40000",
            "xon": "18432",
        },
    },
    "BUFFER_POOL": {
        "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "2000000"},
        "egress_lossless_pool": {"type": "egress", "mode": "static", "size": "12000000"},
    },
    "PORT_QOS_MAP": {f"Ethernet{port}": {"pfc_enable": "3,4"} for port in range(4)},
}


def read(folder: Path, config: Mapping[str, Any]) -> Part:
    found = file(folder, config)
    return recognised(found).read(found, Options())


def with_(*path: str, to: Any) -> dict[str, Any]:
    """The lossless configuration with a value changed, or removed for None."""
    found = copy.deepcopy(LOSSLESS)
    *outer, last = path
    table: Any = found
    for key in outer:
        table = table.setdefault(key, {})
    if to is None:
        del table[last]
    else:
        table[last] = to
    return found


def settings(part: Part) -> dict[str, object]:
    assert part.ports
    (found,) = part.ports.by_rate.values()
    return {key: value.value for key, value in found.items() if not key.startswith("mark")}


PAUSES = {
    "buffer": "unlimited",
    # The memory is the pool and the headroom of four ports.
    "memory": "2160000B",
    "xoff": "2000000B",
    "xoff_alpha": 0.125,
    "headroom": "40000B",
    "xon": "18432B",
}


def test_a_lossless_queue_of_sonic_pauses(tmp_path: Path) -> None:
    part = read(tmp_path, LOSSLESS)
    assert settings(part) == PAUSES
    assert (
        "PFC of priority 4: it belongs to another queue. For traffic with pfc_priority = 4, set switch.pfc_thresholds "
        '= "4 2000000B 18432B 40000B 0.125" and raise switch.memory by 160000B.'
    ) in part.left_out
    assert not any("ingress" in each for each in part.left_out)


def test_thresholds_of_other_queues_are_named_if_all_ports_share_them(tmp_path: Path) -> None:
    config = with_("BUFFER_PG", to={f"Ethernet{port}|3": {"profile": "pg_lossless"} for port in range(4)})
    config["BUFFER_PG"] |= {f"Ethernet{port}|4": {"profile": "pg_other"} for port in range(4)}
    pool = "ingress_lossless_pool"
    config["BUFFER_PROFILE"]["pg_other"] = {"pool": pool, "size": "0", "static_th": "80000", "xoff": "50000"}
    said = 'set switch.pfc_thresholds = "4 80000B auto 50000B none" and raise switch.memory by 200000B.'
    assert sum(each.endswith(said) for each in read(tmp_path, config).left_out) == 1
    config["BUFFER_PG"]["Ethernet2|4"] = {"profile": "pg_lossless"}
    assert "PFC of priority 4: it belongs to another queue." in read(tmp_path, config).left_out


PROFILE = ("BUFFER_PROFILE", "pg_lossless")


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (with_(*PROFILE, "xon_offset", to="2288"), {key: PAUSES[key] for key in PAUSES if key != "xon"}),
        (
            with_(*PROFILE, to={**LOSSLESS["BUFFER_PROFILE"]["pg_lossless"], "static_th": "300000"}),
            {**{key: PAUSES[key] for key in PAUSES if key != "xoff_alpha"}, "xoff": "300000B"},
        ),
        (
            {
                **with_("BUFFER_PG", to={f"Ethernet{port}|3": {"profile": "NULL"} for port in range(4)}),
                "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
            },
            {"buffer": "unlimited", "memory": "2000000B", "xoff": "2000000B", "xoff_alpha": 1.0},
        ),
    ],
)
def test_thresholds_of_sonic(tmp_path: Path, config: Mapping[str, Any], expected: Mapping[str, object]) -> None:
    assert settings(read(tmp_path, config)) == expected


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (with_("BUFFER_PG", to=None), "no BUFFER_PG of queue 3 has a profile"),
        (with_("BUFFER_POOL", "ingress_lossless_pool", "size", to=None), "ingress_lossless_pool has no size"),
        (with_(*PROFILE, "xoff", to=None), "pg_lossless has no xoff"),
        (with_(*PROFILE, "dynamic_th", to=None), "pg_lossless has neither static_th nor dynamic_th"),
        (
            with_("BUFFER_PG", to={f"Ethernet{port}|3": {"profile": "NULL"} for port in range(4)}),
            "computes the profile",
        ),
    ],
)
def test_flow_control_that_is_not_carried_has_a_reason(tmp_path: Path, config: Mapping[str, Any], why: str) -> None:
    part = read(tmp_path, config)
    assert settings(part) == {"buffer": "12000000B"}
    assert any("PFC of 4 ports" in each and why in each for each in part.left_out), part.left_out


def test_maps_lead_to_the_queue_and_the_group(tmp_path: Path) -> None:
    """Pause frames of priority 4 pause queue 3. The traffic class of this queue is 5, and its priority group 4."""
    maps = {"pfc_enable": "4", "pfc_to_queue_map": "M", "tc_to_queue_map": "[TC_TO_QUEUE_MAP|M]", "tc_to_pg_map": "M"}
    config = {
        **with_("PORT_QOS_MAP", to={"Ethernet0,Ethernet1,Ethernet2,Ethernet3": maps}),
        "BUFFER_PG": {f"Ethernet{port}|4": {"profile": "pg_lossless"} for port in range(4)},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"M": {"3": "4", "4": "3"}},
        "TC_TO_QUEUE_MAP": {"M": {"5": "3"}},
        "TC_TO_PRIORITY_GROUP_MAP": {"M": {"5": "4"}},
    }
    assert settings(read(tmp_path, config)) == PAUSES
    config["MAP_PFC_PRIORITY_TO_QUEUE"] = {}
    assert "xoff" not in settings(read(tmp_path, config))


def test_ports_without_flow_control_keep_dropping(tmp_path: Path) -> None:
    file(tmp_path, with_("PORT_QOS_MAP", "Ethernet3", to=None))
    sf.import_files(tmp_path / "config_db.json", out=tmp_path / "made")
    switch = tomllib.loads((tmp_path / "made" / "scenario.toml").read_text())["switch"]
    assert switch["memory"] == "2120000B", "the pool and the headroom of three ports"
    assert switch["tor1->h3"]["xoff"] == "none"


def test_an_imported_switch_pauses_and_loses_nothing(tmp_path: Path) -> None:
    """Three hosts send 4 MB each to one host over 2.16 MB of memory. Without flow control, even 300 KB lose packets."""
    file(tmp_path, LOSSLESS)
    rows = "".join(f"0,h{source},h3,4000000\n" for source in range(3))
    (tmp_path / "flows.csv").write_text(f"start,source,destination,bytes\n{rows}", "utf-8")
    paths = [tmp_path / name for name in ("config_db.json", "flows.csv")]
    scenario = sf.import_files(paths, out=tmp_path / "made").scenario
    lossless = sf.run(scenario, "dcqcn").metrics
    assert lossless["drops"] == 0
    assert lossless["pauses"] > 0
    plain = {"switch.xoff": "none", "switch.memory": "300KB"}
    assert sf.run(scenario, "dcqcn", settings=plain).metrics["drops"] > 0


def hpcc(folder: Path, config: str, topology: str = TOPOLOGY) -> dict[str, Any]:
    folder.mkdir()
    for name, text in (("topology.txt", topology), ("flow.txt", FLOWS), ("config.txt", config)):
        (folder / name).write_text(text, "utf-8")
    found = sf.import_files(folder / "config.txt", out=folder / "made")
    switch = tomllib.loads((folder / "made" / "scenario.toml").read_text())["switch"]
    return {**switch, "schemes": found.summary["schemes"], "left_out": "\n".join(found.summary["left_out"])}


def test_ports_of_hpcc_pause_by_their_rate(tmp_path: Path) -> None:
    """A port with twice the rate of the first host's link gets twice the share of the free memory, at most all."""
    rates = ("25Gbps", "25Gbps", "100Gbps", "25Gbps", "400Gbps", "200Gbps")
    lines = TOPOLOGY.split("\n")
    lines[2:8] = [" ".join([*line.split()[:2], rate, "1us", "0"]) for line, rate in zip(lines[2:8], rates, strict=True)]
    found = hpcc(tmp_path / "mix", HPCC, "\n".join(lines))
    assert (found["xoff_alpha"], found["headroom"]) == (0.125, "9375B")
    assert (found["5->2"]["xoff_alpha"], found["5->2"]["headroom"]) == (0.5, "37500B")
    assert (found["4->6"]["xoff_alpha"], found["6->4"]["headroom"]) == (1, "150000B")


STEP = HPCC.replace(" 400 50000000000 800 100000000000 1600", " 100 50000000000 200 100000000000 400")
STEP = STEP.replace("CC_MODE 1", "CC_MODE 8")


def test_marks_of_hpcc(tmp_path: Path) -> None:
    """Marks begin at a threshold if KMIN equals KMAX, and follow a curve otherwise. ENABLE_QCN 0 turns marks off."""
    assert hpcc(tmp_path / "step", STEP)["schemes"] == ["dctcp+queue.mark=departure+g=0.00390625"]
    (curve,) = hpcc(tmp_path / "curve", HPCC.replace("CC_MODE 1", "CC_MODE 8"))["schemes"]
    assert curve.startswith("dctcp over red+queue.weight=1")
    assert sf.run(tmp_path / "curve" / "made" / "scenario.toml", curve).metrics
    assert hpcc(tmp_path / "off", HPCC.replace("ENABLE_QCN 1", "ENABLE_QCN 0"))["mark_above"] == "unlimited"


def test_keys_of_hpcc_that_change_results_are_named_alone(tmp_path: Path) -> None:
    faults = "ERROR_RATE_PER_LINK 0.001\nLINK_DOWN 0 0 0\n"
    found = hpcc(tmp_path / "mix", f"{HPCC}ENABLE_PFC 1\n{faults}")
    assert "xoff" not in found
    assert "ENABLE_PFC 1 in line" in found["left_out"]
    assert "ERROR_RATE_PER_LINK 0.001 in line" in found["left_out"]
    assert "LINK_DOWN" not in found["left_out"], "0 0 0 means none"
    off = hpcc(tmp_path / "off", f"{HPCC}ENABLE_PFC 0\n")
    assert "xoff" not in off
    assert "PFC" not in off["left_out"]


DCQCN = """2
0 2 3 10000000 2.0 9.5
1 3 3 100 2 9.5

First line: flow #
src dst pg packet#
"""


def test_flows_of_dcqcn_count_packets(tmp_path: Path) -> None:
    (tmp_path / "flow.txt").write_text(DCQCN, "utf-8")
    with pytest.raises(ConfigError, match=r'flow.txt:2: packets: "10000000"; expected a unit: .* --unit 1000B'):
        sf.import_files(tmp_path / "flow.txt", out=tmp_path / "none")
    found = sf.import_files(tmp_path / "flow.txt", out=tmp_path / "made", unit="1000B")
    assert found.summary["bytes"] == 10_000_100_000
    assert any("The end time of each flow" in each for each in found.summary["left_out"])
    (tmp_path / "flow.txt").write_text(FLOWS, "utf-8")
    with pytest.raises(ConfigError, match="sizes in bytes"):
        sf.import_files(tmp_path / "flow.txt", out=tmp_path / "none", unit="KB")
