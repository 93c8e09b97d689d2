"""Flow control as SONiC's tables: import, export and second import give the same keys."""

import copy
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import shortflow as sf
from made import star, sure
from shortflow.quantities import parse
from test_imported_pfc import LOSSLESS, with_
from test_sonic import CONFIG, file, merged

STATIC = {key: value for key, value in LOSSLESS["BUFFER_PROFILE"]["pg_lossless"].items() if key != "dynamic_th"}
ONE_OTHER = copy.deepcopy(LOSSLESS)
ONE_OTHER["BUFFER_PROFILE"]["pg_short"] = {
    **LOSSLESS["BUFFER_PROFILE"]["pg_lossless"],
    "dynamic_th": "0",
    "xoff": "50000",
}
ONE_OTHER["BUFFER_PG"]["Ethernet2|3-4"] = {"profile": "pg_short"}
COMPUTED = {
    **with_("BUFFER_PG", to={f"Ethernet{port}|3-4": {"profile": "NULL"} for port in range(4)}),
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
}
CONFIGS: dict[str, dict[str, Any]] = {
    "a share of the free memory": LOSSLESS,
    "a static threshold": with_("BUFFER_PROFILE", "pg_lossless", to={**STATIC, "static_th": "300000"}),
    "no XON": with_("BUFFER_PROFILE", "pg_lossless", "xon", to=None),
    "one port with another share": ONE_OTHER,
}


def switch(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((folder / "scenario.toml").read_text())["switch"]
    return {key.partition("->")[2] if "->" in key else key: value for key, value in found.items()}


def exported(tmp_path: Path, base: Path | None = None, name: str = "patch") -> tuple[dict[str, Any], list[str]]:
    """Tables and sentences of an export of the scenario in `made`."""
    scheme = "dctcp over red+queue.weight=1+queue.gentle=false+queue.spread=false"
    said = sf.export(tmp_path / "made" / "scenario.toml", "sonic", tmp_path / name, scheme=scheme, base=base)
    return json.loads((tmp_path / name / "patch.json").read_text()), list(said)


@pytest.mark.parametrize("name", CONFIGS)
def test_flow_control_comes_back(tmp_path: Path, name: str) -> None:
    path = file(tmp_path, CONFIGS[name]).path
    sf.import_files(path, out=tmp_path / "made")
    tables, said = exported(tmp_path)
    assert set(tables) == {
        *("WRED_PROFILE", "BUFFER_PROFILE", "BUFFER_POOL", "QUEUE", "BUFFER_QUEUE", "BUFFER_PG", "PORT_QOS_MAP")
    }
    assert [each for each in said if "to Ethernet12 (to" in each] == said, "new names of ports, and nothing else"
    sf.import_files(tmp_path / "patch" / "patch.json", out=tmp_path / "again")
    expected = switch(tmp_path / "made")
    if name == "no XON":
        assert "xon" not in expected
    assert switch(tmp_path / "again") == expected
    changed, _ = exported(tmp_path, path, "changed")
    file(tmp_path, merged(CONFIGS[name], changed))
    sf.import_files(path, out=tmp_path / "over")
    assert switch(tmp_path / "over") == expected


def test_profiles_of_lossless_queues_are_in_lossless_pools(tmp_path: Path) -> None:
    sf.import_files(file(tmp_path, LOSSLESS).path, out=tmp_path / "made")
    tables, _ = exported(tmp_path)
    assert {each["pool"] for each in tables["BUFFER_PROFILE"].values()} == {
        "ingress_lossless_pool",
        "egress_lossless_pool",
    }
    group = tables["BUFFER_PROFILE"][tables["BUFFER_PG"]["Ethernet0|3"]["profile"]]
    assert group == {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "-3", "xoff": "40000", "xon": "18432"}
    # The memory of 2,160,000 bytes minus a headroom of 40,000 bytes for each of the four ports.
    assert tables["BUFFER_POOL"]["ingress_lossless_pool"]["size"] == "2000000"
    assert tables["PORT_QOS_MAP"]["Ethernet12"] == {"pfc_enable": "3"}


def test_profiles_that_the_switch_computes_stay_computed(tmp_path: Path) -> None:
    path = file(tmp_path, COMPUTED).path
    sf.import_files(path, out=tmp_path / "made", settings={"switch.xoff_alpha": "0.5"})
    tables, _ = exported(tmp_path, path)
    assert tables["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] == {"AZURE": {"default_dynamic_th": "-1"}}
    file(tmp_path, merged(COMPUTED, tables))
    sf.import_files(path, out=tmp_path / "again")
    assert switch(tmp_path / "again") == switch(tmp_path / "made")


def test_a_switch_without_flow_control_gets_it(tmp_path: Path) -> None:
    """The base drops packets. The patch makes its ports pause, and replaces the profile of the base's queues."""
    base = {**CONFIG, "PORT": {name: CONFIG["PORT"][name] for name in ("Ethernet0", "Ethernet1", "Ethernet2")}}
    base["BUFFER_QUEUE"] = {f"Ethernet{port}|3-4": {"profile": "q_lossy"} for port in range(3)}
    base = {**base, "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "1"}}}
    path = file(tmp_path, base).path
    keys = {"switch.memory": "4MB", "switch.xoff": "4MB", "switch.xoff_alpha": "0.25", "switch.headroom": "40KB"}
    sf.import_files(path, out=tmp_path / "made", settings={**keys, "switch.buffer": "unlimited"})
    tables, said = exported(tmp_path, path)
    assert set(tables["BUFFER_QUEUE"]) == {f"Ethernet{port}|3-4" for port in range(3)}, "the entries of the base"
    assert tables["PORT_QOS_MAP"]["Ethernet0"] == {"pfc_enable": "1,3"}
    assert [each.split(",")[0] for each in said] == [
        "The patch takes the ports of --base as the links of tor1 in order"
    ]
    file(tmp_path, merged(base, tables))
    sf.import_files(path, out=tmp_path / "again")
    found = switch(tmp_path / "again")
    # The pool has 4 MB minus the headroom, which becomes the limit of XOFF.
    assert (found["memory"], found["xoff"], found["xoff_alpha"], found["headroom"]) == (
        "4000000B",
        "3880000B",
        0.25,
        "40000B",
    )


def test_headroom_of_a_scenario_is_in_bytes(tmp_path: Path) -> None:
    """The headroom is that in `shortflow show` for this scenario: 53,184 bytes for each of 25 ports."""
    said = sf.export("lossless-incast", "sonic", tmp_path / "patch")
    tables = json.loads((tmp_path / "patch" / "patch.json").read_text())
    assert tables["BUFFER_PROFILE"]["SHORTFLOW_PG"]["xoff"] == "53184"
    assert tables["BUFFER_POOL"]["ingress_lossless_pool"]["size"] == str(25 * 20_000)
    assert any("buffer = 2MB" in each for each in said)
    assert any("switch.memory = static" in each for each in said)
    sf.import_files(tmp_path / "patch" / "patch.json", out=tmp_path / "again")
    found = switch(tmp_path / "again")
    assert (found["xoff"], found["xon"], found["headroom"]) == ("20000B", "17920B", "53184B")


def test_thresholds_of_single_priorities_are_named_as_left_out(tmp_path: Path) -> None:
    own = {"switch.pfc_thresholds": "3 15KB", "switch.s0->h1.pfc_thresholds": "3 10KB"}
    said = sf.export(sf.load("lossless-incast", own), "sonic", tmp_path / "patch")
    for key, value in own.items():
        assert any(each.startswith(f"{key} = {value} is not exported") for each in said)
    assert not any("pfc_thresholds" in each for each in sf.export("lossless-incast", "sonic", tmp_path / "usual"))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"host.jitter": "2us"},
        {"host.stalls": "10", "host.stall_min": "20us", "host.stall_max": "40us", "tcp.mss": "1460B"},
    ],
)
def test_each_link_has_the_headroom_that_the_simulator_requires(tmp_path: Path, settings: dict[str, str]) -> None:
    """The simulator warns of a smaller headroom and names the bytes that may arrive. Each link has its own profile."""
    xoff = {f"switch.s0->h{host}.xoff": f"{1_000_000 + host}B" for host in range(9)}
    scenario = sf.load("lossless-slow-port", {**settings, "switch.xoff_alpha": "none", **xoff})
    sf.export(scenario, "sonic", tmp_path / "patch", scheme="dcqcn")
    profiles = json.loads((tmp_path / "patch" / "patch.json").read_text())["BUFFER_PROFILE"].values()
    exported = {each["static_th"]: each["xoff"] for each in profiles if "xoff" in each}
    for host in range(9):
        short = sf.load("lossless-slow-port", {**settings, f"switch.s0->h{host}.headroom": "64B"})
        (text,) = (each for each in short.warnings() if each.startswith("switch.headroom"))
        required = sure(parse(re.search(rf"than the (\S+) that may arrive from h{host} ", text)[1]))  # type: ignore[index]
        assert float(exported[str(1_000_000 + host)]) == pytest.approx(required.number * required.factor, abs=1)
    assert len(set(exported.values())) == 2, "eight fast links and a slow one"


def test_the_pool_leaves_room_for_the_headroom_of_the_profile(tmp_path: Path) -> None:
    """One link is slower and needs less headroom, but has the same profile as the other links."""
    sf.export("lossless-slow-port", "sonic", tmp_path / "patch", scheme="dcqcn")
    sf.import_files(tmp_path / "patch" / "patch.json", out=tmp_path / "again")
    assert switch(tmp_path / "again")["memory"] == "32000000B"
    tables = json.loads((tmp_path / "patch" / "patch.json").read_text())
    priorities = [key.partition("|")[2] for key in tables["BUFFER_PG"]]
    assert priorities == ["3"] * 9, "each priority would take the headroom again"


def two_profiles(groups: str = "3") -> dict[str, Any]:
    """A configuration with four ports, of which the last has its own profile."""
    profiles = {name: {**STATIC, "static_th": "90000", "xoff": xoff} for name, xoff in (("P1", "1000"), ("P2", "2000"))}
    found = copy.deepcopy(LOSSLESS)
    found["BUFFER_PROFILE"] |= profiles
    found["BUFFER_PG"] = {f"Ethernet{port}|{groups}": {"profile": "P2" if port == 3 else "P1"} for port in range(4)}
    return found


def over_two_profiles(
    tmp_path: Path, ports: dict[str, Any] | None = None, groups: str = "3", **keys: str
) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """The patch of a star with PFC over a base with these profiles, its sentences, and the imported merged switch."""
    scenario = star([{"kind": "long-lived", "from": 0, "to": 1}], 4, title="Star")
    scenario["topology"]["rate"] = "25Gbps"
    pausing = {"buffer": "unlimited", "mark_above": "40KB", "memory": "2MB", "xoff": "100KB"}
    scenario["switch"] = {**pausing, **keys, **(ports or {})}
    base = two_profiles(groups)
    path = file(tmp_path, base).path
    said = sf.export(sf.load(scenario), "sonic", tmp_path / "patch", base=path)
    tables = json.loads((tmp_path / "patch" / "patch.json").read_text())
    file(tmp_path, merged(base, tables))
    sf.import_files(path, out=tmp_path / "again")
    return tables, "\n".join(said), switch(tmp_path / "again")


def test_the_pool_of_a_base_is_sized_by_its_profiles(tmp_path: Path) -> None:
    """All ports get the headroom of `auto`."""
    tables, said, found = over_two_profiles(tmp_path)
    headroom = int(tables["BUFFER_PROFILE"]["P1"]["xoff"])
    assert headroom > 30_000
    for name in ("P1", "P2"):
        assert f"{name}: xoff is {headroom} B, the headroom by switch.headroom = auto" in said
    assert set(tables) == {"BUFFER_PROFILE", "BUFFER_POOL", "WRED_PROFILE"}
    assert tables["BUFFER_POOL"] == {"ingress_lossless_pool": {"size": str(2_000_000 - 4 * headroom)}}
    assert found["memory"] == "2000000B"


def test_a_port_table_over_a_base_changes_the_profile_of_its_port(tmp_path: Path) -> None:
    tables, said, found = over_two_profiles(tmp_path, {"s0->h3": {"xoff": "300KB"}}, headroom="50KB")
    assert set(tables) == {"BUFFER_PROFILE", "BUFFER_POOL", "WRED_PROFILE"}
    assert tables["BUFFER_POOL"] == {"ingress_lossless_pool": {"size": "1800000"}}
    assert tables["BUFFER_PROFILE"] == {
        "P1": {"static_th": "100000", "xoff": "50000"},
        "P2": {"static_th": "300000", "xoff": "50000"},
    }
    assert found["memory"] == "2000000B"
    assert found["h3"]["xoff"] == "300000B"
    assert "stays as it is" not in said


def test_a_port_that_parts_from_its_profile_gets_one_of_its_own(tmp_path: Path) -> None:
    """h1 shares P1 with h0 and h2. Its entry keeps the base's range of queues, so that all queues stay equal."""
    tables, said, found = over_two_profiles(tmp_path, {"s0->h1": {"xoff": "300KB"}}, groups="3-4", headroom="50KB")
    assert tables["BUFFER_PG"] == {"Ethernet1|3-4": {"profile": "SHORTFLOW_S0__H1_PG"}}
    assert "BUFFER_QUEUE" not in tables
    assert "links of s0 in order, from Ethernet0 (to h0) to Ethernet3 (to h3)." in said
    assert (found["h1"]["xoff"], found["xoff"]) == ("300000B", "100000B")


def test_a_base_with_two_priorities_is_named(tmp_path: Path) -> None:
    _, said, found = over_two_profiles(tmp_path, groups="3-4", headroom="50KB", memory="static")
    assert "P1: several priorities of a port have this profile. Each takes its own headroom" in said
    assert "switch.xon = auto is not exported: P1 keeps its xon." in said
    assert "switch.memory = static is not exported: ingress_lossless_pool keeps its size." in said
    assert found["memory"] == "2200000B"


def test_several_switches_are_told_what_to_assign(tmp_path: Path) -> None:
    scenario = star([{"kind": "long-lived", "from": 0, "to": 1}], 3, title="Two")
    scenario["topology"] = {"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 2, "spines": 1, "rate": "10Gbps"}
    scenario["topology"] |= {"uplink_rate": "10Gbps", "rtt": "20us"}
    scenario["switch"] = {
        "buffer": "unlimited",
        "mark_above": "30KB",
        "memory": "2MB",
        "xoff": "2MB",
        "xoff_alpha": 0.5,
    }
    said = sf.export(sf.load(scenario), "sonic", tmp_path / "patch")
    tables = json.loads((tmp_path / "patch" / "patch.json").read_text())
    assert "BUFFER_PG" not in tables
    assert any("Assign SHORTFLOW to the ports of [switch] in QUEUE" in each and "pfc_enable" in each for each in said)
    assert any("has room for the 3 ports of" in each for each in said)


@pytest.mark.parametrize(
    ("scheme", "said"),
    [
        ("tcp", "the scheme's queue does not mark by switch.mark_above"),
        ("dctcp over codel", "the scheme's queue does not mark by switch.mark_above"),
        ("dctcp+queue.mark=departure", "mark = departure"),
        ("dcqcn", "min = 5KB"),
        ("dctcp over red+queue.drop_not_ect=false", "drop_not_ect = false"),
    ],
)
def test_a_scheme_that_wred_is_not_is_named(tmp_path: Path, scheme: str, said: str) -> None:
    found = sf.export("incast", "sonic", tmp_path / "patch", scheme=scheme)
    assert any(said in each for each in found), found
    tables = json.loads((tmp_path / "patch" / "patch.json").read_text())
    assert ("WRED_PROFILE" in tables) == ("does not mark by" not in said)


def test_red_that_drops_is_no_ecn(tmp_path: Path) -> None:
    sf.export("incast", "sonic", tmp_path / "patch", scheme="newreno over red+queue.ecn=false")
    tables = json.loads((tmp_path / "patch" / "patch.json").read_text())
    assert tables["WRED_PROFILE"]["SHORTFLOW"]["ecn"] == "ecn_none"
