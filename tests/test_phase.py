"""The note on phase effects. With its remedy, pasted as printed, chance decides and not the phase."""

import re
from pathlib import Path

import pytest
import tomli_w

import shortflow as sf
from conftest import Answer, Command, Tables

SWITCH: Tables = {"buffer": "100pkt", "mark_above": "65pkt"}
TIMES: Tables = {"duration": "300ms", "warmup": "100ms", "drain": "0s"}
LINKS = "a,b,rate,delay\n"
# Hosts 0 to 3 are near h8. Hosts 4 to 7 are behind a fast link of 40 µs.
RACKS = LINKS + "".join(f"h{host},{'s1' if host < 4 or host == 8 else 's0'},10Gbps,5us\n" for host in range(9))
# Five pairs of hosts have an RTT of 16 ms, and five of 48 ms, over a slow link, as in studies of RTT unfairness.
ENDS = "".join(f"h{host},s0,1Gbps,{7998 if host < 5 else 23998}us\n" for host in range(10))
SLOW = LINKS + ENDS + "s0,s1,100Mbps,1us\n" + "".join(f"h{host},s1,1Gbps,1us\n" for host in range(10, 20))


def metric(answer: Answer, name: str) -> float:
    (scheme,) = answer.document["schemes"].values()
    return float(scheme["metrics"][name]["mean"])


def long_flows(name: str, first: int, last: int, to: int | str) -> Tables:
    return {"kind": "long-lived", "class": name, "flows": last - first + 1, "from": f"{first}-{last}", "to": to}


def two_classes(file: str, switch: Tables, times: Tables, traffic: list[Tables]) -> Tables:
    topology = {"kind": "explicit", "file": file}
    return {"title": "near and far", **times, "topology": topology, "switch": switch, "traffic": traffic}


RTT: Tables = {
    **two_classes(
        "slow.csv",
        {"buffer": "267pkt", "mark_above": "unlimited"},
        {"duration": "40s", "warmup": "10s", "drain": "0s"},
        [
            {**long_flows("near", 0, 4, 0), "to": [10, 11, 12, 13, 14]},
            {**long_flows("far", 5, 9, 0), "to": [15, 16, 17, 18, 19]},
        ],
    ),
    "tcp": {"rto_min": "200ms"},
}
TO_ONE = two_classes("racks.csv", SWITCH, TIMES, [long_flows("near", 0, 3, 8), long_flows("far", 4, 7, 8)])


@pytest.mark.parametrize(
    ("tables", "scheme", "port", "jitter"),
    [(RTT, "cubic", "s0->s1", "60us"), (TO_ONE, "tcp", "s1->h8", "600ns"), (TO_ONE, "cubic", "s1->h8", "600ns")],
)
def test_near_flows_are_ahead_with_the_jitter_of_the_remark(
    shortflow: Command, tmp_path: Path, tables: Tables, scheme: str, port: str, jitter: str
) -> None:
    """Without jitter, far flows get more, which no law intends. Jitter of half a packet is too small."""
    (tmp_path / "racks.csv").write_text(RACKS + "s0,s1,100Gbps,40us\n", encoding="utf-8")
    (tmp_path / "slow.csv").write_text(SLOW, encoding="utf-8")
    (tmp_path / "far.toml").write_text(tomli_w.dumps(tables), encoding="utf-8")
    run = ("run", "far.toml", "--scheme", scheme, "--json")
    step = shortflow(*run)
    assert metric(step, "flow_goodput_far_bps") > 1.2 * metric(step, "flow_goodput_near_bps")
    found = re.search(r"share the full port (\S+), .*--set (host\.jitter=(\S+)), half", step.stderr)
    assert found, step.stderr
    assert (found[1], found[3]) == (port, jitter)
    if tables is RTT:
        assert found[2] in shortflow(*run, "--set", "host.jitter=6us").stderr
    chance = shortflow(*run, "--set", found[2])
    assert "phase may decide" not in chance.stderr
    assert metric(chance, "flow_goodput_near_bps") > 1.5 * metric(chance, "flow_goodput_far_bps")


def test_a_sender_as_fast_as_the_port_keeps_no_other_out(shortflow: Command, tmp_path: Path) -> None:
    """All links have one rate. The first flow's packets arrive when there is room, and the second flow finds none."""
    tables: Tables = {
        "title": "a newcomer",
        **{"duration": "6s", "warmup": "1s", "drain": "0s"},
        "topology": {"kind": "star", "hosts": 3, "rate": "1Gbps", "rtt": "100us"},
        "switch": {"buffer": "250pkt", "mark_above": "20pkt"},
        "traffic": [{**long_flows("long", 0, 1, 2), "stagger": "500ms"}],
    }
    (tmp_path / "pair.toml").write_text(tomli_w.dumps(tables), encoding="utf-8")
    run = ("run", "pair.toml", "--scheme", "tcp", "--json")
    step = shortflow(*run)
    assert metric(step, "jain_long") < 0.6
    found = re.search(r"share the full port s0->h2, .*--set (host\.jitter=6us), half", step.stderr)
    assert found, step.stderr
    assert metric(shortflow(*run, "--set", found[1]), "jain_long") > 0.97


def test_a_flow_over_two_full_ports_that_starves_is_named(shortflow: Command, tmp_path: Path) -> None:
    """One flow crosses both links of 100 Mbps, and one flow crosses each. An idle slow link elsewhere has no effect."""
    ends = "h0,s0,1Gbps,5us\nh1,s0,1Gbps,5us\nh2,s1,1Gbps,5us\nh3,s1,1Gbps,5us\nh4,s2,1Gbps,5us\nh5,s2,1Gbps,5us\n"
    core = "s0,s1,100Mbps,10us\ns1,s2,100Mbps,10us\nh6,s0,1Mbps,5us\n"
    (tmp_path / "lot.csv").write_text(LINKS + ends + core, encoding="utf-8")
    pairs = {"both": (0, 5), "one": (1, 3), "two": (2, 4)}
    tables: Tables = {
        "title": "two full ports",
        **{"duration": "10s", "warmup": "2s", "drain": "0s"},
        "topology": {"kind": "explicit", "file": "lot.csv"},
        "switch": {"buffer": "100pkt", "mark_above": "unlimited"},
        "traffic": [long_flows(name, sender, sender, to) for name, (sender, to) in pairs.items()],
    }
    (tmp_path / "lot.toml").write_text(tomli_w.dumps(tables), encoding="utf-8")
    run = ("run", "lot.toml", "--scheme", "tcp", "--json")
    step = shortflow(*run)
    assert metric(step, "flow_goodput_both_bps") < 12e6
    found = re.search(
        r"from h0 to h5 crosses the full ports s0->s1 and s1->s2 .*--set (host\.jitter=60us), half", step.stderr
    )
    assert found, step.stderr
    for jitter in (found[1], "host.jitter=half-packet"):
        chance = shortflow(*run, "--set", jitter)
        assert metric(chance, "flow_goodput_both_bps") > 20e6
        assert "phase may decide" not in chance.stderr


def test_jitter_above_a_delay_target_is_named_with_the_setting_that_helps(tmp_path: Path) -> None:
    """Four Swift flows share 50 Mbps. Jitter of 120 us is part of the hosts' delay, whose target is 100 us."""
    tables = {
        "title": "jitter",
        "duration": "1s",
        "warmup": "300ms",
        "drain": "0s",
        "topology": {"kind": "dumbbell", "pairs": 4, "rate": "1Gbps", "bottleneck": "50Mbps", "rtt": "4ms"},
        "switch": {"buffer": "20pkt", "mark_above": "unlimited"},
        "host": {"jitter": "120us"},
        "traffic": [{"kind": "long-lived", "from": "0-3", "to": "4-7"}],
    }
    (tmp_path / "net.toml").write_text(tomli_w.dumps(tables))
    slow = sf.run(tmp_path / "net.toml", "swift")
    assert "set transport.host_target=340us to allow for the jitter" in slow.meta["remarks"]["jitter"]
    full = sf.run(tmp_path / "net.toml", "swift", settings={"transport.host_target": "340us"})
    assert "jitter" not in full.meta.get("remarks", {})
    assert slow.metrics["goodput_long_bps"] < 0.1 * full.metrics["goodput_long_bps"]
