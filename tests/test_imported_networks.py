"""Networks in the formats of other tools: one fabric in each format, labels of rates, and places of errors."""

import contextlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Command
from shortflow.errors import ConfigError, MissingRequirement
from shortflow.imports import rates
from shortflow.imports.documents import json_lines
from shortflow.imports.files import File
from shortflow.imports.formats import FORMATS, recognised
from shortflow.imports.hosts import HostsAt
from shortflow.imports.parts import Network, Options, Part

Links = Sequence[tuple[str, str, int]]
"""Names of the two ends of each link, and its rate in Gbit/s."""


def fabric(leaves: int, spines: int, hosts: int) -> Links:
    up = [(f"leaf{leaf}", f"spine{spine}", 100) for leaf in range(leaves) for spine in range(spines)]
    down = [(f"leaf{leaf}", f"srv{leaf * hosts + host}", 25) for leaf in range(leaves) for host in range(hosts)]
    return [*up, *down]


def names(links: Links) -> list[str]:
    return sorted({end for a, b, _ in links for end in (a, b)})


def as_graphml(links: Links) -> Mapping[str, str]:
    ids = {name: number for number, name in enumerate(names(links))}
    nodes = "\n".join(f'<node id="{ids[name]}"><data key="n">{name}</data></node>' for name in ids)
    speeds = {100: ("100", "G"), 25: ("25000", "M")}
    edges = "\n".join(
        f'<edge source="{ids[a]}" target="{ids[b]}"><data key="s">{speeds[gbps][0]}</data>'
        f'<data key="u">{speeds[gbps][1]}</data></edge>'
        for a, b, gbps in links
    )
    keys = '<key id="n" for="node" attr.name="label"/><key id="s" for="edge" attr.name="LinkSpeed"/>'
    keys += '<key id="u" for="edge" attr.name="LinkSpeedUnits"/>'
    xmlns = "http://graphml.graphdrawing.org/xmlns"
    head = f'<?xml version="1.0" encoding="utf-8"?><graphml xmlns="{xmlns}">{keys}\n<graph edgedefault="undirected">\n'
    return {"zoo.graphml": f"{head}{nodes}\n{edges}\n</graph></graphml>\n"}


def as_containerlab(links: Links) -> Mapping[str, str]:
    kinds = {name: "linux" if name.startswith("srv") else "nokia_srlinux" for name in names(links)}
    nodes = "".join(f"    {name}: {{ kind: {kind} }}\n" for name, kind in kinds.items())
    ends = "".join(f'    - endpoints: ["{a}:e1-{at}", "{b}:e1-{at}"]\n' for at, (a, b, _) in enumerate(links))
    return {"lab.clab.yml": f"name: lab\ntopology:\n  nodes:\n{nodes}  links:\n{ends}"}


def as_lldp(links: Links) -> Mapping[str, str]:
    """Output of `lldpcli -f json show neighbors` for each switch."""
    seen: dict[str, list[Any]] = {name: [] for name in names(links) if not name.startswith("srv")}
    for a, b, gbps in links:
        for here, there in ((a, b), (b, a)):
            if here in seen:
                kind = "Station" if there.startswith("srv") else "Bridge"
                chassis = {
                    there: {"id": {"type": "mac", "value": "02:00"}, "capability": [{"type": kind, "enabled": True}]}
                }
                port = {"id": {"type": "ifname", "value": here}, "auto-negotiation": {"current": f"{gbps}GbaseCR"}}
                seen[here].append({f"Ethernet{len(seen[here])}": {"via": "LLDP", "chassis": chassis, "port": port}})
    return {f"{name}.json": json.dumps({"lldp": {"interface": each}}, indent=1) for name, each in seen.items()}


def as_netbox(links: Links) -> Mapping[str, str]:
    roles = {name: "server" if name.startswith("srv") else name.rstrip("0123456789") for name in names(links)}
    devices = [
        {"id": at, "name": name, "device_type": {"id": 1}, "role": {"slug": role}}
        for at, (name, role) in enumerate(roles.items())
    ]
    interfaces, cables = [], []
    for at, (a, b, gbps) in enumerate(links):
        for side, name in enumerate((a, b)):
            kind = {"value": "100gbase-x-qsfp28"} if gbps == 100 else {"value": "other"}
            speed = None if gbps == 100 else gbps * 1_000_000
            interface = {"id": 2 * at + side, "name": f"e{at}", "device": {"name": name}, "type": kind, "speed": speed}
            interfaces.append({**interface, "enabled": True, "cable": {"id": at}})
        ends = [[{"object_type": "dcim.interface", "object_id": 2 * at + side}] for side in (0, 1)]
        cables.append(
            {"id": at, "a_terminations": ends[0], "b_terminations": ends[1], "status": {"value": "connected"}}
        )
    lists = {"devices.json": devices, "interfaces.json": interfaces, "cables.json": cables}
    return {name: json.dumps({"count": len(each), "results": each}) for name, each in lists.items()}


FORMS: Mapping[str, Callable[[Links], Mapping[str, str]]] = {
    "graphml": as_graphml,
    "containerlab": as_containerlab,
    "lldp": as_lldp,
    "netbox": as_netbox,
}


def imported(folder: Path, texts: Mapping[str, str], options: Options | None = None) -> Part:
    files = []
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
        files.append(File(folder / name))
    form = recognised(files[0])
    assert all(recognised(file) is form for file in files)
    read = options or Options()
    return form.read_all(files, read) if form.read_all else form.read(files[0], read)


def network(folder: Path, texts: Mapping[str, str], options: Options | None = None) -> Network:
    found = imported(folder, texts, options).network
    assert found
    return found


def plain(found: Network) -> tuple[dict[str, str], set[tuple[str, str, str]]]:
    """Tiers by node, `host` for hosts, and links by name."""
    links = {(*sorted((link.a, link.b)), link.rate) for link in found.links}
    return {node.name: "host" if node.is_host else node.tier for node in found.nodes}, links  # type: ignore[return-value]


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(leaves=st.integers(1, 4), spines=st.integers(1, 3), hosts=st.integers(2, 3))
def test_a_fabric_is_the_same_in_every_form(form: str, leaves: int, spines: int, hosts: int, tmp_path: Path) -> None:
    links = fabric(leaves, spines, hosts)
    options = Options(host_names=["srv*"] if form == "graphml" else [])
    tiers, found = plain(network(tmp_path, FORMS[form](links), options))
    assert tiers == {name: "host" if name.startswith("srv") else name.rstrip("0123456789") for name in names(links)}
    rated = form != "containerlab"  # whose virtual links have no rates
    assert found == {(*sorted((a, b)), f"{gbps}Gbps" if rated else "") for a, b, gbps in links}
    assert {recognised(File(tmp_path / name)).name for name in FORMS[form](links)} == {form}


def test_parallel_links_add_up_and_are_seen_from_both_ends(tmp_path: Path) -> None:
    hosts = [("leaf0", "srv0", 25), ("leaf0", "srv1", 25)]
    links = [("leaf0", "spine0", 100), ("leaf0", "spine0", 100), *hosts]
    for form in ("lldp", "netbox"):
        _, found = plain(network(tmp_path, FORMS[form](links)))
        rated = {("leaf0", "spine0", "200Gbps"), ("leaf0", "srv0", "25Gbps"), ("leaf0", "srv1", "25Gbps")}
        assert found == rated, form


ZOO = """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key attr.name="LinkLabel" for="edge" id="l"/><key attr.name="LinkSpeedRaw" for="edge" id="r"/>
<key attr.name="label" for="node" id="n"/><key attr.name="Latitude" for="node" id="y"/>
<key attr.name="Longitude" for="node" id="x"/>
<graph edgedefault="undirected">
<node id="0"><data key="n">Quito</data><data key="y">0</data><data key="x">0</data></node>
<node id="1"><data key="n">Libreville</data><data key="y">0</data><data key="x">90</data></node>
<node id="2"><data key="n">?</data></node>
<edge source="0" target="1"><data key="r">2500000000.0</data></edge>
<edge source="1" target="2"><data key="l">2 x 10 Gbps</data></edge>
<edge source="0" target="2"><data key="l">10-20Gbps</data></edge>
</graph></graphml>
"""


def test_a_map_gives_delays_and_labels_give_rates(tmp_path: Path) -> None:
    part = imported(
        tmp_path, {"zoo.graphml": ZOO}, Options(hosts_at=[HostsAt.parse("Q*=2x1Gbps"), HostsAt.parse("1x10G")])
    )
    assert part.network
    by_ends = {f"{link.a}-{link.b}": (link.rate, link.delay) for link in part.network.links}
    # The nodes are a quarter of the equator apart, pi / 2 times 6,371 km. Light in fibre has 200,000 km/s.
    assert by_ends["Quito-Libreville"] == ("2.5Gbps", "50037717ns")
    assert by_ends["Libreville-2"] == ("20Gbps", "")
    assert by_ends["Quito-2"] == ("", "")
    assert [name for name in by_ends if name.startswith("Quito-h")] == ["Quito-h0", "Quito-h1", "Quito-h2"]
    assert any("10-20Gbps" in note for note in part.notes)


def test_hosts_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no node is a host \(3 switches: Quito, Libreville, 2\).*--hosts-at"):
        imported(tmp_path, {"zoo.graphml": ZOO})
    with pytest.raises(ConfigError, match=r'"leaf\*" matches no switch'):
        imported(tmp_path, {"zoo.graphml": ZOO}, Options(hosts_at=[HostsAt.parse("leaf*=1x1Gbps")]))
    with pytest.raises(ConfigError, match='--hosts-at: "4"; expected COUNTxRATE'):
        HostsAt.parse("4")


@pytest.mark.parametrize(
    ("label", "bps"),
    [
        ("2.5 Gbps", 2.5e9),
        ("10G", 1e10),
        ("4x10G", 4e10),
        ("100 Mbit/s", 1e8),
        ("10GbE", 1e10),
        ("1G Ethernet", 1e9),
        ("10 Gigabit Ethernet", 1e10),
        ("GigE", 1e9),
        ("OC-48", 2488.32e6),
        ("STM-16", 2488.32e6),
        ("E1", 2.048e6),
        ("1 GB/s", None),
        ("10-20Gbps", None),
        ("< 10 Gbps", None),
        ("DWDM", None),
    ],
)
def test_labels_that_are_one_rate_are_read(label: str, bps: float | None) -> None:
    assert rates.of_label(label) == bps


@pytest.mark.parametrize(
    ("label", "bps"),
    [("100GBASE-CR4", 1e11), ("10GigBaseSR", 1e10), ("2.5gbase-t", 2.5e9), ("1000BaseT", 1e9), ("lag", None)],
)
def test_types_of_ethernet_are_rates(label: str, bps: float | None) -> None:
    assert rates.of_ethernet(label) == bps


def test_neighbours_of_eos_and_napalm_are_links_too(tmp_path: Path) -> None:
    eos = {
        "leaf0": {"lldpNeighbors": [{"port": "Ethernet1", "neighborDevice": "spine0.dc", "neighborPort": "Ethernet1"}]}
    }
    napalm = {
        "spine0": {"Ethernet1": [{"hostname": "leaf0.dc", "port": "Ethernet1"}]},
        "leaf0": {
            "Ethernet8": [{"hostname": "srv1", "port": "eth0"}],
            "Ethernet9": [{"hostname": "srv0", "port": "eth0"}],
            "Management1": [{"hostname": "oob", "port": "1"}],
        },
    }
    texts = {"eos_lldp.json": json.dumps(eos), "napalm_lldp.json": json.dumps(napalm)}
    part = imported(tmp_path, texts, Options(host_names=["srv*"]))
    assert part.network
    assert plain(part.network) == (
        {"leaf0": "leaf", "spine0": "spine", "srv0": "host", "srv1": "host"},
        {("leaf0", "spine0", ""), ("leaf0", "srv0", ""), ("leaf0", "srv1", "")},
    )
    assert "1 neighbour at ports for management: leaf0 Management1." in part.left_out


def junos(*neighbours: tuple[str, str]) -> str:
    rows = [
        {"lldp-local-port-id": [{"data": port}], "lldp-remote-system-name": [{"data": name}]}
        for port, name in neighbours
    ]
    return json.dumps({"lldp-neighbors-information": [{"lldp-neighbor-information": rows}]})


def test_neighbours_of_junos_and_sr_linux_are_links_too(tmp_path: Path) -> None:
    links = {("leaf0", "spine0"), ("leaf0", "srv0"), ("leaf1", "spine0"), ("leaf1", "srv1")}
    options = Options(host_names=["srv*"])
    of_junos = {
        f"leaf{leaf}.json": junos(("et-0/0/1", "spine0"), ("xe-0/0/2", f"srv{leaf}"), ("me0", "oob"))
        for leaf in range(2)
    }
    nokia = {
        f"leaf{leaf}": [
            {"interface": "ethernet-1/49", "Neighbors": [{"Nbr-System": "spine0", "Nbr-port": f"ethernet-1/{leaf}"}]},
            {"interface": "ethernet-1/1", "Neighbors": [{"Nbr-System": f"srv{leaf}", "Nbr-port": "eth1"}]},
        ]
        for leaf in range(2)
    }
    for folder, texts in (("junos", of_junos), ("nokia", {"lldp.json": json.dumps(nokia)})):
        (tmp_path / folder).mkdir()
        found = network(tmp_path / folder, texts, options)
        assert {(link.a, link.b) for link in found.links} == links


def test_one_host_is_too_few(tmp_path: Path) -> None:
    text = "topology:\n  nodes: {leaf: {kind: ceos}, srv: {kind: linux}}\n  links: [{endpoints: [leaf:e1, srv:e1]}]\n"
    with pytest.raises(ConfigError, match="srv is the only host that other nodes reach; expected two or more"):
        network(tmp_path, {"a.clab.yml": text})


def test_links_of_the_future_are_left_out(tmp_path: Path) -> None:
    keys = '<key id="s" for="edge" attr.name="LinkStatus"/><key id="r" for="edge" attr.name="LinkLabel"/>'
    nodes = "".join(f'<node id="n{each}"/>' for each in range(3))
    edges = "".join(
        f'<edge source="n{a}" target="n{b}"><data key="r">{label}</data><data key="s">{status}</data></edge>'
        for a, b, label, status in ((0, 1, "10GE", ""), (1, 2, "1G Ethernet", "Active"), (0, 2, "10GE", "Future"))
    )
    text = f'<graphml>{keys}<graph edgedefault="undirected">{nodes}{edges}</graph></graphml>'
    part = imported(tmp_path, {"a.graphml": text}, Options(hosts_at=[HostsAt.parse("1x1Gbps")]))
    assert part.network
    inner = {(link.a, link.b, link.rate) for link in part.network.links if "h" not in link.b}
    assert inner == {("n0", "n1", "10Gbps"), ("n1", "n2", "1Gbps")}
    assert "1 link of the future, by LinkStatus: n0-n2." in part.left_out


def test_nodes_have_the_settings_of_groups_kinds_and_defaults(tmp_path: Path) -> None:
    text = """
topology:
  defaults: { kind: nokia_srlinux }
  groups: { server: { kind: linux, image: alpine } }
  kinds: { linux: { image: frrouting/frr } }
  nodes:
    leaf1:
    router1: { kind: linux }
    srv1: { group: server }
    srv2: { kind: linux, image: alpine }
  links:
    - endpoints: ["leaf1:e1", "srv1:e1"]
    - { type: veth, endpoints: [{ node: leaf1, interface: e2 }, { node: srv2, interface: e1 }] }
    - endpoints: ["leaf1:e3", "router1:e1"]
    - endpoints: ["leaf1:e4", "mgmt-net:out"]
"""
    part = imported(tmp_path, {"lab.clab.yml": text})
    assert part.network
    kinds, links = plain(part.network)
    assert kinds == {"leaf1": "leaf", "router1": "spine", "srv1": "host", "srv2": "host"}
    assert len(links) == 3
    assert part.left_out == ["1 link to the machine of the lab: leaf1 to mgmt-net."]


def test_a_map_without_hosts_runs_with_those_that_are_added(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "zoo.graphml").write_text(ZOO, "utf-8")
    shortflow("import", "zoo.graphml", "--out", "made", "--hosts-at", "2x1Gbps", "--set", "topology.rate=1Gbps", code=0)
    shown = shortflow("show", "made/scenario.toml").stdout
    assert "6 hosts (h0 to h5), 3 switches, 9 links (1Gbps to 20Gbps, 1us to 50.037717ms)" in shown
    assert "no node is a host" in shortflow("import", "zoo.graphml", "--out", "other", code=2).stderr
    assert not (tmp_path / "other").exists()


def test_yaml_without_its_library_is_a_missing_requirement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingRequirement, match=r"pip install 'shortflow\[yaml\]'"):
        imported(tmp_path, as_containerlab(fabric(1, 1, 2)))


WRONG = {
    "lab.clab.yml": (
        'topology:\n  nodes:\n    a: {kind: linux}\n  links:\n    - endpoints: ["a:e1", "b:e1"]\n',
        'lab.clab.yml:5: topology.links.0.endpoints.1: "b:e1"; expected NODE:INTERFACE with a node of topology.nodes',
    ),
    "bad.clab.yml": ("topology:\n  nodes: {a: [}\n  links:\n", "bad.clab.yml:2: YAML: "),
    "bad.graphml": (
        '<graphml><graph>\n<node id="a"/>\n<edge source="a" target="c"/></graph></graphml>',
        'bad.graphml:3: target: "c"',
    ),
    "speed.graphml": (
        '<graphml><key id="r" for="edge" attr.name="LinkSpeedRaw"/><graph><node id="a"/><node id="b"/>\n'
        '<edge source="a" target="b"><data key="r">fast</data></edge></graph></graphml>',
        'speed.graphml:2: LinkSpeedRaw: "fast"; expected a number from 1 to 1e+15',
    ),
    "twice.graphml": (
        '<graphml><graph><node id="a"/>\n<node id="a"/></graph></graphml>',
        'id: "a"; expected each node once',
    ),
    "cut.graphml": ("<graphml><graph>", "cut.graphml:1: XML: "),
    "lldp.json": ('{"lldp": {"interface": [}', "lldp.json:1: JSON: "),
    "netbox.json": (
        '[\n{"id": 1, "name": "e1", "device": {"name": "a"}, "speed": "fast",\n"connected_endpoints": []}]',
        'netbox.json:2: 0.speed: "fast"; expected a speed in kbit/s',
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_file_line_field_value_and_what_was_expected(name: str, tmp_path: Path) -> None:
    text, said = WRONG[name]
    with pytest.raises(ConfigError) as error:
        imported(tmp_path, {name: text})
    assert said in str(error.value)


def test_a_document_that_expands_without_end_is_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE g [<!ENTITY a "x">]><graphml><graph><node id="&a;"/></graph></graphml>'
    with pytest.raises(ConfigError, match="entity"):
        imported(tmp_path, {"bomb.graphml": bomb})


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def paths(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [below for key, each in inner for below in [(*path, key), *paths(each, (*path, key))]]


@settings(deadline=None, max_examples=40)
@given(Json)
def test_every_value_of_a_document_has_its_line(value: object) -> None:
    text = json.dumps(value, indent=1)
    found = json_lines(text)
    assert set(found) == set(paths(value))
    for path, line in found.items():
        if isinstance(path[-1], str):
            assert text.split("\n")[line - 1].lstrip().startswith(f"{json.dumps(path[-1])}:")


SIGNS = ("lldp", "lldpNeighbors", "a_terminations", "PORT", "WRED_PROFILE", "device_type", "interfaces")


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=Json, key=st.sampled_from(SIGNS))
def test_no_document_has_another_outcome_than_a_network_or_an_error(value: object, key: str, tmp_path: Path) -> None:
    path = tmp_path / "any.json"
    path.write_text(json.dumps({key: value}), "utf-8")
    file = File(path)
    for form in FORMATS:
        assert form.is_of(file) in (True, False)
        if form.name in ("lldp", "netbox", "sonic", "containerlab"):
            with contextlib.suppress(ConfigError):
                form.read(file, Options())
