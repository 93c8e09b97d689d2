"""SONiC's configuration: profiles as settings of switch ports, exact thresholds, and import of exported patches."""

import copy
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from shortflow import export, import_files, run
from shortflow.errors import ConfigError
from shortflow.exports.sonic import patch
from shortflow.imports import ports, sonic, sonic_switch
from shortflow.imports.documents import read_json
from shortflow.imports.files import File
from shortflow.imports.formats import recognised
from shortflow.imports.parts import Link, Network, Node, Options, Part

WRED = {"ecn": "ecn_all", "wred_green_enable": "true"}
CONFIG: dict[str, Any] = {
    "DEVICE_METADATA": {"localhost": {"hostname": "tor1"}},
    "PORT": {
        **{f"Ethernet{port}": {"speed": "25000", "admin_status": "up"} for port in range(4)},
        "Ethernet4": {"speed": "100000", "admin_status": "up"},
        "Ethernet8": {"speed": "100000", "admin_status": "down"},
    },
    "CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}},
    "QUEUE": {
        "Ethernet0,Ethernet1,Ethernet2,Ethernet3|3-4": {
            "wred_profile": "[WRED_PROFILE|SLOW]",
            "scheduler": "scheduler.1",
        },
        "Ethernet4|3-4": {"wred_profile": "FAST"},
    },
    "WRED_PROFILE": {
        "SLOW": {
            **WRED,
            "green_min_threshold": "100000",
            "green_max_threshold": "400000",
            "green_drop_probability": "5",
            "yellow_min_threshold": "50000",
            "yellow_max_threshold": "400000",
        },
        "FAST": {
            **WRED,
            "green_min_threshold": "400000",
            "green_max_threshold": "1600000",
            "green_drop_probability": "20",
        },
    },
    "BUFFER_QUEUE": {
        "Ethernet0,Ethernet1,Ethernet2,Ethernet3|3-4": {"profile": "q_lossy"},
        "Ethernet4|3-4": {"profile": "q_static"},
    },
    "BUFFER_PROFILE": {
        "q_lossy": {"pool": "[BUFFER_POOL|egress_lossy_pool]", "size": "1518", "dynamic_th": "-1"},
        "q_static": {"pool": "egress_lossy_pool", "size": "0", "static_th": "3995680"},
    },
    "BUFFER_POOL": {
        "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "9243812"},
        "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "10875072"},
    },
    "SCHEDULER": {"scheduler.1": {"type": "DWRR", "weight": "15"}},
    "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "pfc_enable": "3,4"}},
    "DSCP_TO_TC_MAP": {"AZURE": {"26": "3", "8": "0"}},
    "TC_TO_QUEUE_MAP": {"AZURE": {"0": "0", "3": "3"}},
    "BGP_NEIGHBOR": {},
}


def file(folder: Path, config: Mapping[str, Any] = CONFIG, name: str = "config_db.json") -> File:
    path = folder / name
    path.write_text(json.dumps(config, indent=4), "utf-8")
    return File(path)


def read(folder: Path, config: Mapping[str, Any] = CONFIG, options: Options | None = None) -> Part:
    found = file(folder, config)
    assert recognised(found).name == "sonic"
    return recognised(found).read(found, options or Options())


def changed(*path: str, to: Any) -> dict[str, Any]:
    """The configuration with a value changed, or removed for None."""
    found = copy.deepcopy(CONFIG)
    *outer, last = path
    table: Any = found
    for key in outer:
        table = table[key]
    if to is None:
        del table[last]
    else:
        table[last] = to
    return found


SLOW = {
    "mark_above": "100000B",
    "mark_all_above": "400000B",
    "mark_probability": 0.05,
    "buffer": "unlimited",
    "memory": "9243812B",
    "memory_alpha": 0.5,
}
FAST = {"mark_above": "400000B", "mark_all_above": "1600000B", "mark_probability": 0.2, "buffer": "3995680B"}


def test_profiles_are_settings_by_rate_of_the_port(tmp_path: Path) -> None:
    found = read(tmp_path).ports
    assert found
    settings = {rate: {key: value.value for key, value in each.items()} for rate, each in found.by_rate.items()}
    assert settings == {25e9: SLOW, 100e9: FAST}
    origin = found.by_rate[25e9]["mark_above"].origin
    line = int(origin.removeprefix("config_db.json, line ").partition(":")[0])
    assert '"green_min_threshold": "100000"' in (tmp_path / "config_db.json").read_text().split("\n")[line - 1]


def test_a_switch_alone_is_a_rack_with_a_host_at_each_port(tmp_path: Path) -> None:
    found = read(tmp_path).ports
    assert found
    assert found.rack
    network, by_host = found.rack
    links = [(link.a, link.b, link.rate, link.delay) for link in network.links]
    assert links[0] == ("tor1", "h0", "25Gbps", "200000ps")  # 40 m at 5 ns a metre
    assert links[-1] == ("tor1", "h4", "100Gbps", "")
    tables = {key: value.value for key, value in ports.of_rack(network, by_host)[0].items()}
    assert {f"switch.{key}": value for key, value in SLOW.items()}.items() <= tables.items()
    assert {key.rpartition(".")[2]: value for key, value in tables.items() if '"tor1->h4"' in key} == FAST


def leaf_spine(host: str, up: str) -> Network:
    switches = [Node("leaf1", False, "leaf"), Node("leaf2", False, "leaf"), Node("spine", False, "spine")]
    links = [
        Link("leaf1", "h0", host),
        Link("leaf2", "h1", host),
        Link("leaf1", "spine", up),
        Link("leaf2", "spine", up),
    ]
    return Network([*switches, Node("h0", True), Node("h1", True)], links, "made")


def test_ports_of_a_network_take_the_profile_of_their_rate_by_tier(tmp_path: Path) -> None:
    found = read(tmp_path).ports
    assert found
    tables, _, missing = ports.of_network(leaf_spine("25Gbps", "100Gbps"), found, "10Gbps")
    values = {key: value.value for key, value in tables.items()}
    assert values["switch.mark_above"] == "400000B"  # the value of four of six ports
    assert values["switch.leaf.mark_above"] == "100000B"
    assert values["switch.leaf.up.mark_above"] == "400000B"
    assert not [key for key in values if key.startswith("switch.spine")]
    assert missing == []
    assert ports.of_network(leaf_spine("25Gbps", "40Gbps"), found, "10Gbps")[2] == [40e9]


def test_all_that_is_not_carried_is_listed(tmp_path: Path) -> None:
    part = read(tmp_path)
    left_out = "\n".join(part.left_out)
    for words in (
        "Ethernet8",
        "curves of SLOW for yellow",
        "ingress_lossless_pool",
        "PFC of 1 port: no BUFFER_PG of queue 3 has a profile",
        "PFC of priority 4",
        "scheduler.1",
        "1518",
    ):
        assert words in left_out
    assert "Queue 3 takes packets of DSCP 26, by AZURE and AZURE." in part.notes


def test_queues_with_different_profiles_are_asked_for(tmp_path: Path) -> None:
    config = changed("QUEUE", "Ethernet0|5", to={"wred_profile": "FAST"})
    with pytest.raises(ConfigError, match=r"queue 3, 4: FAST, SLOW; queue 5: FAST.*--queue 3"):
        read(tmp_path, config)
    found = read(tmp_path, config, Options(queue=5)).ports
    assert found
    assert found.by_rate[25e9]["mark_above"].value in ("400000B", "unlimited")
    with pytest.raises(ConfigError, match=r"--queue: 7: .*expected one of 3, 4, 5"):
        read(tmp_path, config, Options(queue=7))


@pytest.mark.parametrize(
    ("path", "to", "said"),
    [
        (
            ("WRED_PROFILE", "SLOW", "green_min_threshold"),
            "low",
            'SLOW.green_min_threshold: "low"; expected a number of bytes',
        ),
        (("WRED_PROFILE", "SLOW", "green_max_threshold"), "99", "expected at least green_min_threshold = 100000"),
        (("WRED_PROFILE", "SLOW", "green_drop_probability"), "105", "expected a share in per cent, from 0 to 100"),
        (
            ("WRED_PROFILE", "SLOW"),
            None,
            '3-4.wred_profile: "[WRED_PROFILE|SLOW]"; expected a name in WRED_PROFILE: FAST',
        ),
        (("QUEUE", "Ethernet4|3-4", "wred_profile"), "FATS", 'SLOW, FAST; did you mean "FAST"?'),
        (("BUFFER_PROFILE", "q_lossy", "pool"), "egress", "expected a name in BUFFER_POOL: egress_lossy_pool"),
        (("BUFFER_PROFILE", "q_lossy", "dynamic_th"), "x", 'q_lossy.dynamic_th: "x"; expected an exponent of 2'),
        (("PORT", "Ethernet0", "speed"), "fast", 'PORT.Ethernet0.speed: "fast"; expected a speed in Mbit/s'),
        (("QUEUE", "Ethernet0|x"), {"wred_profile": "SLOW"}, "expected PORT|QUEUE, such as Ethernet0|3"),
    ],
)
def test_errors_name_the_place(path: tuple[str, ...], to: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        read(tmp_path, changed(*path, to=to))
    assert said in str(error.value)
    assert str(error.value).startswith(f"{tmp_path}/config_db.json:")


def test_the_summary_names_the_probability_that_a_profile_leaves_to_the_switch(
    shortflow: Command, tmp_path: Path
) -> None:
    config = changed("WRED_PROFILE", "SLOW", "green_drop_probability", to=None)
    file(tmp_path, config)
    said = shortflow("import", "config_db.json", "--out", "made", "--json").document
    assert any(each.startswith("switch.mark_probability = 1: ") and "SAI" in each for each in said["assumed"])


def test_marks_begin_at_the_byte_of_the_profile(tmp_path: Path) -> None:
    """Three senders each send ten packets of 1,500 bytes to one port of the senders' rate.

    In each of ten packet times, three packets arrive and one leaves. The packets find 2k, 2k + 1 and 2k + 2 packets,
    for k from 0 to 9. With marks from 10 packets on, all three are marked from k = 5 on, and the last one for k = 4.
    With marks from 11 packets on, there are two fewer marks.
    """
    scheme = sonic.SCHEMES[0]
    flows = tmp_path / "flow.txt"
    flows.write_text("3\n" + "".join(f"{sender} 3 3 100 14600 2.0\n" for sender in range(3)))
    marks = {}
    for threshold in (1, 13500, 13501, 15000, 15001):
        step = {
            "green_min_threshold": str(threshold),
            "green_max_threshold": str(threshold),
            "green_drop_probability": "100",
        }
        config = changed("WRED_PROFILE", "SLOW", to={**WRED, **step})
        del config["CABLE_LENGTH"]
        found = import_files([file(tmp_path, config).path, flows], out=tmp_path / str(threshold))
        marks[threshold] = run(found.scenario, scheme).metrics["marks"]
    assert marks == {1: 29, 13500: 17, 13501: 16, 15000: 16, 15001: 14}


def test_what_is_imported_runs_with_the_named_schemes(shortflow: Command, tmp_path: Path) -> None:
    file(tmp_path)
    said = shortflow(
        "import", "config_db.json", "--out", "made", "--set", "duration=200us", "--set", "traffic.1.load=0.3"
    )
    named = "made/schemes.toml:dctcp-imported,made/schemes.toml:dcqcn-imported"
    assert f"Run it: shortflow compare made/scenario.toml --schemes {named}\n" in said.stdout
    compared = shortflow("compare", "made/scenario.toml", "--schemes", named, "--no-ideal", "--seeds", "1")
    assert "mark" not in compared.stderr  # no key of the curve is idle
    text = (tmp_path / "made" / "scenario.toml").read_text()
    assert 'mark_all_above = "400000B"  # config_db.json, line' in text
    of_file = [run(tmp_path / "made" / "scenario.toml", each).digest for each in absolute(tmp_path, named)]
    assert of_file == [run(tmp_path / "made" / "scenario.toml", each).digest for each in sonic.SCHEMES]


def absolute(folder: Path, schemes: str) -> list[str]:
    return [f"{folder}/{each}" for each in schemes.split(",")]


def merged(config: Mapping[str, Any], tables: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration after `config load` of a patch."""
    found = copy.deepcopy(dict(config))
    for table, profiles in tables.items():
        for name, fields in profiles.items():
            found.setdefault(table, {}).setdefault(name, {}).update(fields)
    return found


def test_a_patch_comes_back_as_the_same_settings(tmp_path: Path) -> None:
    wanted = {
        "switch.mark_above": "40KB",
        "switch.mark_all_above": "123456B",
        "switch.mark_probability": "0.35",
        "switch.memory_alpha": "2",
    }
    made = patch(wanted, 1500, base=read_json(file(tmp_path)))
    assert made.tables == {
        "WRED_PROFILE": {
            "SLOW": {"green_min_threshold": "40000", "green_max_threshold": "123456", "green_drop_probability": "35"}
        },
        "BUFFER_PROFILE": {"q_lossy": {"dynamic_th": "1"}},
    }
    assert made.not_expressed == []
    found = read(tmp_path, merged(CONFIG, made.tables)).ports
    assert found
    settings = {key: value.value for key, value in found.by_rate[25e9].items()}
    assert settings == {
        **SLOW,
        "mark_above": "40000B",
        "mark_all_above": "123456B",
        "mark_probability": 0.35,
        "memory_alpha": 2,
    }
    assert {key: value.value for key, value in found.by_rate[100e9].items()} == FAST


def test_a_patch_of_new_profiles_names_what_it_cannot_express(tmp_path: Path) -> None:
    wanted = {
        "switch.buffer": "100pkt",
        "switch.memory": "static",
        "switch.memory_alpha": "1",
        "switch.mark_above": "20pkt",
        "switch.mark_all_above": "auto",
        "switch.mark_probability": "auto",
        "switch.leaf.up.mark_above": "65pkt",
        "queue.max": "3",
        "queue.max_p": "0.123",
        "queue.weight": "0.002",
    }
    made = patch(wanted, 1500)
    assert made.tables["WRED_PROFILE"]["SHORTFLOW"] == {
        "ecn": "ecn_all",
        "wred_green_enable": "true",
        "green_min_threshold": "30000",
        "green_max_threshold": "90000",
        "green_drop_probability": "12",
    }
    assert made.tables["WRED_PROFILE"]["SHORTFLOW_LEAF_UP"]["green_min_threshold"] == "97500"
    assert made.tables["BUFFER_PROFILE"]["SHORTFLOW"] == {
        "pool": "egress_lossy_pool",
        "size": "0",
        "static_th": "150000",
    }
    assert any("12.3 %" in each for each in made.not_expressed)
    assert any("queue.weight = 0.002" in each for each in made.not_expressed)
    assert "Thresholds in packets were converted to bytes, with 1500 bytes per packet." in made.notes


def test_a_step_has_one_threshold(tmp_path: Path) -> None:
    wanted = {"switch.mark_above": "30KB", "switch.mark_all_above": "auto", "switch.mark_probability": "auto"}
    made = patch(wanted, 1500).tables["WRED_PROFILE"]["SHORTFLOW"]
    assert (made["green_min_threshold"], made["green_max_threshold"], made["green_drop_probability"]) == (
        "30000",
        "30000",
        "100",
    )


def test_a_scenario_goes_out_and_comes_back(shortflow: Command, tmp_path: Path) -> None:
    every = "Ethernet0,Ethernet1,Ethernet2,Ethernet3,Ethernet4|3"
    base = changed("QUEUE", to={every: {"wred_profile": "SLOW"}}) | {"BUFFER_QUEUE": {every: {"profile": "q_lossy"}}}
    file(tmp_path, base)
    keys = ("switch.mark_above=30KB", "switch.mark_probability=0.5", "switch.memory_alpha=4")
    shortflow("import", "config_db.json", "--out", "made", *(word for key in keys for word in ("--set", key)))
    export = ("export", "made/scenario.toml", "--as", "sonic", "--base", "config_db.json", "--out", "patch")
    said = shortflow(*export, "--scheme", sonic.SCHEMES[0], code=0)
    assert "switch.memory" not in said.stdout, "it is that of --base"
    made = json.loads((tmp_path / "patch" / "patch.json").read_text())
    assert made["BUFFER_PROFILE"] == {"q_lossy": {"dynamic_th": "2"}}
    file(tmp_path, merged(base, made))
    shortflow("import", "config_db.json", "--out", "again")
    one, other = (
        tomllib.loads((tmp_path / name / "scenario.toml").read_text())["switch"] for name in ("made", "again")
    )
    assert other == {**one, "mark_above": "30000B"}
    assert "--out: patch exists" in shortflow(*export, code=2).stderr


def test_ports_with_the_same_settings_share_a_profile() -> None:
    wanted = {"switch.mark_above": "10KB", "switch.tor.mark_above": "20KB", "switch.agg.mark_above": "20KB"}
    made = patch(wanted, 1500)
    assert list(made.tables["WRED_PROFILE"]) == ["SHORTFLOW", "SHORTFLOW_AGG"]
    assert "Assign SHORTFLOW_AGG to the ports of [switch.agg], [switch.tor] in QUEUE and BUFFER_QUEUE." in made.notes


def of_arista(*, lossless: bool, is_old: bool, threshold: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Configuration of a ToR switch with eight ports, cables of 5 and 300 m, and separate queues 3 and 4."""

    def to(table: str, name: str) -> str:
        return f"[{table}|{name}]" if is_old else name

    ports = [f"Ethernet{4 * port}" for port in range(8)]
    curves = {
        f"{colour}_{end}_threshold": size
        for colour in sonic_switch.COLOURS
        for end, size in (("min", 1048576), ("max", 2097152))
    }
    of_cable = {"5m": "66560", "300m": "165568"}
    limit = (
        {"static_th": "300000", "xon": "18432"}
        if threshold == "static_th"
        else {"dynamic_th": "-3", "xon": "0", "xon_offset": "2288"}
    )
    groups = {
        f"pg_{metres}": {"pool": to("BUFFER_POOL", "ingress_lossless_pool"), "size": "1248", "xoff": xoff, **limit}
        for metres, xoff in of_cable.items()
    }
    queues = {f"{port}|{queue}": {"wred_profile": to("WRED_PROFILE", "AZURE")} for port in ports for queue in (3, 4)}
    egress = {"static_th": "3995680"} if lossless or threshold == "static_th" else {"dynamic_th": "1"}
    found: dict[str, Any] = {
        "DEVICE_METADATA": {"localhost": {"hostname": "tor-1"}},
        "PORT": {port: {"speed": "100000", "mtu": "9100", "admin_status": "up"} for port in ports},
        "CABLE_LENGTH": {"AZURE": {port: "5m" if at < 6 else "300m" for at, port in enumerate(ports)}},
        "WRED_PROFILE": {
            "AZURE": {**WRED, **{key: str(size) for key, size in curves.items()}, "green_drop_probability": "5"},
            "SMALL": {**WRED, "green_min_threshold": "0", "green_max_threshold": "400000"},
        },
        "QUEUE": queues,
        "BUFFER_POOL": {
            "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "10875072", "xoff": "4194112"},
            "egress_lossless_pool": {"type": "egress", "mode": "static", "size": "15982720"},
        },
        "BUFFER_PROFILE": {
            "egress": {"pool": to("BUFFER_POOL", "egress_lossless_pool"), "size": "0", **egress},
            **groups,
        },
        "BUFFER_QUEUE": {",".join(ports) + "|3-4": {"profile": to("BUFFER_PROFILE", "egress")}},
        "BUFFER_PG": {
            f"{port}|3-4": {"profile": to("BUFFER_PROFILE", "pg_5m" if at < 6 else "pg_300m")}
            for at, port in enumerate(ports)
        },
        "PORT_QOS_MAP": {port: {"pfc_enable": "3,4"} if lossless else {} for port in ports},
    }
    for entry, profile in changes.items():
        found["QUEUE"][entry]["wred_profile"] = to("WRED_PROFILE", profile)
    return found


SMALL = {f"Ethernet{port}|{queue}": "SMALL" for port in (20, 24, 28) for queue in (3, 4)}


@pytest.mark.parametrize(
    ("lossless", "is_old", "threshold", "changes"),
    [
        (True, False, "static_th", {}),
        (True, False, "dynamic_th", SMALL),
        (True, True, "dynamic_th", {}),
        (False, False, "static_th", SMALL),
        (False, False, "dynamic_th", {}),
        (False, True, "dynamic_th", SMALL),
    ],
)
def test_an_export_over_the_base_of_an_import_changes_what_the_scenario_does(
    tmp_path: Path, *, lossless: bool, is_old: bool, threshold: str, changes: Mapping[str, str]
) -> None:
    """Without a change, the patch is empty. With a change, the merged file is imported as before, without --queue."""
    base = of_arista(lossless=lossless, is_old=is_old, threshold=threshold, changes=changes)
    path = file(tmp_path, base).path
    import_files(path, out=tmp_path / "made")
    said = export(tmp_path / "made" / "scenario.toml", "sonic", tmp_path / "none", scheme=sonic.SCHEMES[0], base=path)
    assert json.loads((tmp_path / "none" / "patch.json").read_text()) == {}
    assert said[0] == "patch.json is empty: no profile of --base needs a change."

    key = 'switch."tor-1->h2".mark_above'
    wanted = import_files(path, out=tmp_path / "wanted", settings={key: "70000B"})
    export(wanted.path, "sonic", tmp_path / "patch", scheme=sonic.SCHEMES[0], base=path)
    tables = json.loads((tmp_path / "patch" / "patch.json").read_text())
    name = "SHORTFLOW_TOR_1__H2"
    named = f"[WRED_PROFILE|{name}]" if is_old else name
    assert tables == {
        "WRED_PROFILE": {name: {**base["WRED_PROFILE"]["AZURE"], "green_min_threshold": "70000"}},
        "QUEUE": {f"Ethernet8|{queue}": {"wred_profile": named} for queue in (3, 4)},
    }
    file(tmp_path, merged(base, tables))
    import_files(path, out=tmp_path / "again")
    one, other = (tomllib.loads((tmp_path / each / "scenario.toml").read_text()) for each in ("wanted", "again"))
    assert other == one


def test_a_profile_whose_ports_agree_changes_in_its_place(tmp_path: Path) -> None:
    base = of_arista(lossless=True, is_old=False, threshold="dynamic_th", changes=SMALL)
    path = file(tmp_path, base).path
    found = import_files(path, out=tmp_path / "made", settings={"switch.mark_above": "70000B"})
    export(found.path, "sonic", tmp_path / "patch", scheme=sonic.SCHEMES[0], base=path)
    tables = json.loads((tmp_path / "patch" / "patch.json").read_text())
    assert tables == {"WRED_PROFILE": {"AZURE": {"green_min_threshold": "70000"}}}


def test_beside_a_network_an_export_changes_nothing_either(tmp_path: Path) -> None:
    edges = "a,b,rate\n" + "".join(f"h{at},leaf{at % 2},25Gbps\n" for at in range(4))
    (tmp_path / "links.csv").write_text(edges + "leaf0,top,100Gbps\nleaf1,top,100Gbps\n", "utf-8")
    path = file(tmp_path).path
    found = import_files([path, tmp_path / "links.csv"], out=tmp_path / "made")
    export(found.path, "sonic", tmp_path / "patch", scheme=sonic.SCHEMES[0], base=path)
    assert json.loads((tmp_path / "patch" / "patch.json").read_text()) == {}


def test_parts_of_the_memory_that_differ_are_named(tmp_path: Path) -> None:
    """Four ports share the pool, each with half of the free memory. Ethernet4 has its own limit."""
    found = import_files(file(tmp_path).path, out=tmp_path / "made")
    assert any(
        "The part of the memory of tor1->h4: all ports of a switch share" in each for each in found.summary["left_out"]
    )
    config = changed("BUFFER_QUEUE", "Ethernet1,Ethernet2,Ethernet3|3-4", to={"profile": "q_static"})
    import_files(file(tmp_path, config).path, out=tmp_path / "few")
    switch = tomllib.loads((tmp_path / "few" / "scenario.toml").read_text())["switch"]
    assert (switch["buffer"], switch["memory"], switch["memory_alpha"]) == ("3995680B", "9243812B", 0.5)
