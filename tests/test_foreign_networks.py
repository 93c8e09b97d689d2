"""Networks of other tools, by the public call: no silent guesses or omissions, and errors name the line."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import shortflow as sf
from conftest import Command
from test_foreign_texts import RING, TOPO
from test_imports import CONFIG as HPCC
from test_imports import TOPOLOGY
from test_sonic import changed


def made(folder: Path, texts: Mapping[str, str], **options: Any) -> sf.Imported:
    """The import of all these files together."""
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return sf.import_files([folder / name for name in texts], out=folder / "made", **options)


def refused(folder: Path, texts: Mapping[str, str], **options: Any) -> str:
    """Text of the error of an import, without the folder. Checks that a failed import writes no files."""
    with pytest.raises(sf.ConfigError) as error:
        made(folder, texts, **options)
    assert not (folder / "made").exists()
    return str(error.value).replace(f"{folder}/", "")


def rates(folder: Path) -> dict[str, str]:
    """Rates of the written links by their ends."""
    rows = (line.split(",") for line in (folder / "made" / "links.csv").read_text().splitlines()[2:])
    return {f"{a}-{b}": rate for a, b, rate, _ in rows}


def said(found: sf.Imported) -> str:
    """All sentences of a summary."""
    return "\n".join([*found.summary["left_out"], *found.summary["notes"], *found.summary["assumed"]])


def lab(links: Sequence[str]) -> str:
    nodes = "".join(
        f"    {name}: {{ kind: {'linux' if name[0] == 's' else 'ceos'} }}\n" for name in ("leaf", "s1", "s2")
    )
    return f"topology:\n  nodes:\n{nodes}    top: {{ kind: ceos }}\n  links:\n" + "".join(
        f"    - {each}\n" for each in links
    )


ENDS = ['endpoints: ["leaf:e3", "s1:e1"]', 'endpoints: ["leaf:e4", "s2:e1"]']
TWO = [f'endpoints: ["leaf:e{port}", "top:e{port}"]' for port in (1, 2)]


def test_parallel_links_without_rates_have_the_rate_of_the_scenario_each(tmp_path: Path) -> None:
    found = made(tmp_path, {"a.clab.yml": lab([*TWO, *ENDS])}, settings={"topology.rate": "100Gbps"})
    assert rates(tmp_path) == {"leaf-top": "200Gbps", "leaf-s1": "", "leaf-s2": ""}
    assert "have topology.rate = 100Gbps each, and links.csv has their sum: leaf-top." in said(found)


def test_a_rate_that_is_assumed_for_parallel_links_is_said(tmp_path: Path) -> None:
    edges = "a,b,rate\nh0,s0,1Gbps\nh1,s1,1Gbps\ns0,s1,\ns0,s1,\ns0,s1,40Gbps\n"
    found = made(tmp_path, {"links.csv": edges})
    assert rates(tmp_path) == {"h0-s0": "1Gbps", "h1-s1": "1Gbps", "s0-s1": "60Gbps"}
    assert 'topology.rate = "10Gbps"' in said(found)


ZEEK = (
    "#separator \\x09\n#fields\tts\tid.orig_h\tid.resp_h\torig_bytes\tresp_bytes\n"
    "1.5\t10.0.0.1\t10.0.0.2\t3000\t20\n1.7\t10.0.0.2\t10.0.0.3\t-\t7\n"
)
EDGES = "a,b,rate,delay\nh0,rack1,10Gbps,2us\nh1,rack1,10Gbps,2us\nh2,rack2,10Gbps,2us\nrack1,rack2,40Gbps,5us\n"


def test_a_log_takes_the_network_of_an_edge_list(shortflow: Command, tmp_path: Path) -> None:
    hosts = "address,host\n10.0.0.1,h0\n10.0.0.2,h1\n10.0.0.3,h2\n"
    for name, text in {"conn.log": ZEEK, "links.txt": EDGES, "hosts.csv": hosts}.items():
        (tmp_path / name).write_text(text, "utf-8")
    shortflow("import", "conn.log", "links.txt", "--hosts", "hosts.csv", "--out", "made", code=0)
    flows = sf.run(tmp_path / "made" / "scenario.toml", "dctcp").flows.sort("id")
    assert flows.select("source", "destination", "size_bytes").rows() == [
        ("h0", "h1", 3000),
        ("h1", "h0", 20),
        ("h2", "h1", 7),
    ]
    # 47 bytes cross links of 10, 40 and 10 Gbps, an ACK of 40 bytes returns, and propagation takes 9 us each way.
    far = 2 * 9e-6 + (47 + 40) * 8 * (2 / 10e9 + 1 / 40e9)
    assert flows["fct_s"][2] == pytest.approx(far, rel=1e-6)


def test_an_edge_list_may_have_a_list_of_nodes(tmp_path: Path) -> None:
    texts = {"edges.csv": "a,b\nx,t\ny,t\n", "nodes.csv": "name,kind,tier\nx,host,\ny,host,\nt,switch,tor\n"}
    assert made(tmp_path, texts).summary["hosts"] == 2
    assert "\nt,switch,tor\n" in (tmp_path / "made" / "nodes.csv").read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "h1,rack1,10Gbps,2us",
            "h1,rack1,10Gbps",
            'l.csv:3: row: "h1,rack1,10Gbps"; expected 4 fields: a,b,rate,delay',
        ),
        ("10Gbps", "ten", 'l.csv:2: rate: "ten"; expected a rate above zero such as 10Gbps'),
        ("5us", "5m", 'l.csv:5: delay: "5m"; expected a time such as 2us'),
        ("h1,rack1", "rack1,h0", 'l.csv:3: a,b: "rack1,h0"; expected each link once, and line 2'),
        ("h1,rack1", "h1,h1", 'l.csv:3: b: "h1"; expected another node than a'),
    ],
)
def test_errors_of_an_edge_list_name_the_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert message in refused(tmp_path, {"l.csv": EDGES.replace(old, new, 1)})


def test_a_node_that_no_list_has_is_refused(tmp_path: Path) -> None:
    nodes = "name,kind\n" + "".join(f"{name},host\n" for name in ("h0", "h1", "h2")) + "rack1,switch\nrack2,switch\n"
    wrong = {"l.csv": EDGES.replace("h1,rack1", "h1,rack"), "n.csv": nodes}
    assert 'l.csv:3: b: "rack"; expected the name of a node; did you mean' in refused(tmp_path, wrong)


def graph(*edges: Mapping[str, str]) -> str:
    names = dict.fromkeys(name for edge in edges for name in edge)
    keys = "".join(f'<key id="{name}" for="edge" attr.name="{name}"/>' for name in names)
    rows = "".join(
        f'<edge source="h{at}" target="s">'
        + "".join(f'<data key="{key}">{text}</data>' for key, text in edge.items())
        + "</edge>\n"
        for at, edge in enumerate(edges)
    )
    hosts = "".join(f'<node id="h{at}"/>' for at in range(len(edges)))
    return f'<graphml>{keys}\n<graph edgedefault="undirected"><node id="s"/>{hosts}\n{rows}</graph></graphml>'


def test_rates_and_delays_without_a_unit_are_refused(tmp_path: Path) -> None:
    good = {"rate": "10Gbps", "delay": "2us"}
    names = {"host_names": ["h*"]}
    for key, word in (("rate", "10Gbps"), ("delay", "5us")):
        text = graph(good, {**good, key: "25"})
        assert f'g.graphml:4: {key}: "25"; expected a' in (found := refused(tmp_path, {"g.graphml": text}, **names))
        assert f"with its unit, such as {word}" in found


def test_units_that_a_format_defines_are_said(tmp_path: Path) -> None:
    raw = graph({"LinkSpeedRaw": "1e9"}, {"LinkSpeedRaw": "1e9"})
    assert "LinkSpeedRaw is in bit/s" in said(made(tmp_path, {"g.graphml": raw}, host_names=["h*"]))
    (tmp_path / "hpcc").mkdir()
    of_hpcc = {"topology.txt": TOPOLOGY.replace("25Gbps", "25000000000", 1)}
    assert "in bit/s, as ns-3 reads them: line 5." in said(made(tmp_path / "hpcc", of_hpcc))


def test_a_speed_without_its_unit_is_named(tmp_path: Path) -> None:
    text = graph({"LinkSpeed": "10"}, {"LinkSpeed": "10", "LinkSpeedUnits": "G"})
    found = made(tmp_path, {"g.graphml": text}, host_names=["h*"])
    assert "Labels of 1 link are not one rate with its unit and are not read: LinkSpeed 10." in said(found)
    assert rates(tmp_path) == {"h0-s": "", "h1-s": "10Gbps"}


def test_a_rate_of_hpcc_is_checked_in_its_line(tmp_path: Path) -> None:
    line = next(at for at, text in enumerate(HPCC.split("\n"), start=1) if text.startswith("RATE_AI"))
    wrong = re.sub("RATE_AI .*", "RATE_AI fast", HPCC, count=1)
    files = {"topology.txt": TOPOLOGY, "config.txt": wrong}
    assert f'config.txt:{line}: RATE_AI: "fast"; expected a rate above zero' in refused(tmp_path, files)


def test_fields_of_sonic_that_are_read_past_are_named(tmp_path: Path) -> None:
    config = changed("PORT", "Ethernet0", to={"speed": "25000", "mtu": "9100", "fec": "rs"})
    config["BUFFER_PORT_INGRESS_PROFILE_LIST"] = {"Ethernet0": {"profile_list": "q_lossy"}}
    config["QUEUE"]["Ethernet0-8|5"] = {"wred_profile": "SLOW"}
    found = said(made(tmp_path, {"config_db.json": json.dumps(config)}, queue=3))
    for words in (
        "mtu of PORT (9100): mtu is a limit",
        "Fields without a counterpart: PORT.fec.",
        "BUFFER_PORT_INGRESS_PROFILE_LIST: Shortflow has no limit",
        "Queues and priority groups of Ethernet0-8: PORT has no such port.",
        "speed of PORT is in Mbit/s",
    ):
        assert words in found


def test_ports_of_one_rate_with_different_profiles_are_named_beside_a_network(tmp_path: Path) -> None:
    config = changed("QUEUE", "Ethernet3|3-4", to={"wred_profile": "FAST"})
    edges = "a,b,rate\n" + "".join(f"h{at},s,25Gbps\n" for at in range(3))
    found = made(tmp_path, {"config_db.json": json.dumps(config), "links.csv": edges})
    assert "Ports of 25Gbps have different settings. Links take those of Ethernet0, which 3 ports have" in said(found)


def test_keys_of_a_topology_that_are_read_past_have_their_reason(tmp_path: Path) -> None:
    text = TOPO.replace("Radix_Up 2\nTier 1", "Radix_Up 2\nQueue_Up 300\nQueue_Down 200\nOversubscribed 2\nTier 1")
    found = said(made(tmp_path, {"a.topo": text}))
    assert (
        "Queue_Up 300 and Queue_Down 200 of tier 0: the file does not say whether the numbers are bytes or packets"
        in found
    )
    assert "Oversubscribed 2 of tier 0" in found


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.cm", RING.replace("Connections 4", "Connections 5"), 'a.cm:2: Connections: "5"; expected 4, as many'),
        ("a.cm", RING.replace("Triggers 2", "Triggers 3"), 'a.cm:3: Triggers: "3"; expected 2, as many'),
        ("a.cm", RING.replace("Triggers 2", "Nodes 16"), 'a.cm:3: Nodes: "16"; expected each count once; line 1'),
        ("a.topo", TOPO.replace("Nodes 16", "Nodes 15"), 'a.topo:1: Nodes: "15"; expected a multiple of Radix_Down 2'),
        ("a.topo", TOPO.replace("Tiers 3", "Tiers 4"), 'a.topo:2: Tiers: "4"; expected 2 or 3'),
        ("a.topo", TOPO.replace("Tiers 3", "Tiers 2"), 'a.topo:12: Tier: "2"; expected a tier from 0 to 1'),
        (
            "a.topo",
            TOPO.replace("Bundle 1", "Bundle 3"),
            'a.topo:14: Bundle: "3"; expected at most Radix_Up 2 of tier 1',
        ),
        ("a.topo", TOPO.replace("Radix_Down 4\n", ""), 'a.topo:12: Tier 2: "no Radix_Down"'),
        (
            "a.topo",
            TOPO.replace("Bundle 1", "Radix_Down 4"),
            'a.topo:14: Radix_Down: "4"; expected each key once; line 13',
        ),
    ],
)
def test_errors_of_htsim_name_the_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    assert refused(tmp_path, {name: text}).startswith(message)


def test_times_are_the_decimals_of_the_file(tmp_path: Path) -> None:
    """10,000,000 ps become 10 us, not 9.999999999999999e-06 s."""
    found = made(tmp_path, {"a.cm": "Nodes 2\nConnections 1\n0->1 id 1 start 10000000 size 3000\n"})
    assert "Starts count from the first: 10 us are subtracted" in said(found)


def netbox(cable: Mapping[str, Any]) -> str:
    """A NetBox export with a leaf whose port of 100 Gbps breaks out to four servers."""
    speeds = [(1, "leaf", 100), *((10 + at, f"srv{at}", 25) for at in range(4))]
    interfaces = [
        {"id": of, "name": "e", "device": {"name": name}, "type": {"value": "other"}, "speed": gbps * 1_000_000}
        for of, name, gbps in speeds
    ]
    roles = {name: "server" if "srv" in name else "leaf" for _, name, _ in speeds}
    devices = [{"name": name, "device_type": {}, "role": {"slug": role}} for name, role in roles.items()]
    far = [{"object_type": "dcim.interface", "object_id": 10 + at} for at in range(4)]
    ends = {"a_terminations": [{"object_type": "dcim.interface", "object_id": 1}], "b_terminations": far}
    return json.dumps([*devices, *interfaces, {"id": 1, **ends, **cable}], indent=1)


def test_a_breakout_cable_is_a_link_to_each_of_its_ends(tmp_path: Path) -> None:
    found = made(tmp_path, {"n.json": netbox({"length": 3, "length_unit": {"value": "m"}})})
    assert rates(tmp_path) == {f"leaf-srv{at}": "25Gbps" for at in range(4)}
    assert ",15000ps\n" in (tmp_path / "made" / "links.csv").read_text(), "3 m at 5 ns a metre"
    assert "A link has the rate of its slower interface: leaf e" in said(found)
    assert "speed of interfaces is in kbit/s" in said(found)


def test_a_length_without_a_unit_is_refused(tmp_path: Path) -> None:
    found = refused(tmp_path, {"n.json": netbox({"length": 3, "length_unit": None})})
    assert re.match(r'n\.json:\d+: \d+\.length: "3"; expected a length_unit of km, m', found)


def test_planned_devices_of_netbox_have_no_links(tmp_path: Path) -> None:
    rows = json.loads(netbox({}))
    next(row for row in rows if row["name"] == "srv3")["status"] = {"value": "planned"}
    found = made(tmp_path, {"n.json": json.dumps(rows)})
    assert list(rates(tmp_path)) == ["leaf-srv0", "leaf-srv1", "leaf-srv2"]
    assert "1 link of interfaces that are disabled, or of devices by their status: leaf e (srv3 is not there)" in said(
        found
    )


def eos(links: Mapping[str, Sequence[str]]) -> str:
    return json.dumps(
        {
            name: {"lldpNeighbors": [{"port": f"Et{at}", "neighborDevice": of} for at, of in enumerate(neighbours)]}
            for name, neighbours in links.items()
        }
    )


def test_ends_that_list_different_numbers_of_links_are_named(tmp_path: Path) -> None:
    seen = {"leaf": ["spine", "spine", "srv1", "srv2"], "spine": ["leaf"]}
    found = made(tmp_path, {"lldp.json": eos(seen)}, host_names=["srv*"])
    assert "leaf lists 2 to spine, and spine lists 1" in said(found)


def test_links_of_a_lab_have_an_interface_of_their_own(tmp_path: Path) -> None:
    twice = [TWO[0], 'endpoints: ["top:e1", "leaf:e1"]', *ENDS]
    assert 'a.clab.yml:9: topology.links.1.endpoints.0: "top:e1"; expected each interface in one link' in refused(
        tmp_path, {"a.clab.yml": lab(twice)}
    )
    marked = lab([*TWO, *(f"{{ {each}, mtu: 1500 }}" for each in ENDS)])
    assert "Keys of links without a counterpart: mtu." in said(made(tmp_path, {"b.clab.yml": marked}))
