"""Networks from files: the order of rows has no effect, numbers are names, and notes name the defaults in use."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import shortflow as sf
from conftest import Command

PODS = range(4)
ENDS = [(f"edge{pod}{i}", f"agg{pod}{j}") for pod in PODS for i in (0, 1) for j in (0, 1)]
ENDS += [(f"agg{pod}{i}", f"core{i}{j}") for pod in PODS for i in (0, 1) for j in (0, 1)]
ENDS += [(f"h{4 * pod + 2 * i + j}", f"edge{pod}{i}") for pod in PODS for i in (0, 1) for j in (0, 1)]
"""Links of a fat-tree with four pods. The names of its switches do not sort in the order of the tiers."""
NODES = sorted({name for link in ENDS for name in link})
TIERED = """
title = "Fat-tree from a file"
duration = "2ms"
[topology]
kind = "explicit"
file = "FILE"
[switch]
buffer = "1MB"
mark_above = "100KB"
[switch.edge.up]
buffer = "30KB"
mark_above = "15KB"
[[traffic]]
kind = "poisson"
pattern = "all-to-all"
sizes = { kind = "fixed", value = "100KB" }
load = 0.6
"""
STAR = """
title = "Hosts called by numbers"
duration = "20ms"
[topology]
kind = "explicit"
file = "links.csv"
node_file = "nodes.csv"
[switch]
buffer = "1MB"
mark_above = "100KB"
[tcp]
rto_min = "1ms"
[[traffic]]
kind = "trace"
file = "flows.csv"
class = "traced"
[[traffic]]
kind = "incast"
class = "made"
flows = 1
from = FROM
to = TO
sizes = { kind = "fixed", value = "1MB" }
"""
NUMBERED = {
    "links.csv": "a,b,rate,delay\n1,0,10Gbps,1us\n2,0,10Gbps,1us\n3,0,10Gbps,1us\n4,0,1Gbps,1us\n",
    "nodes.csv": "name,kind\n0,switch\n1,host\n2,host\n3,host\n4,host\n",
    "flows.csv": "start,source,destination,bytes\n0,1,3,1000000\n",
}
"""A switch called 0, with four hosts called 1 to 4."""
SPEEDS = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="k" for="node" attr.name="kind"/>
<key id="r" for="edge" attr.name="LinkSpeedRaw"/>
<graph edgedefault="undirected">
<node id="s"><data key="k">switch</data></node><node id="h0"/><node id="h1"/>
<edge source="h0" target="s"><data key="r">10000000000</data></edge>
<edge source="h1" target="s"><data key="r">1000000000</data></edge>
</graph></graphml>
"""
ONE_FLOW = """
title = "Speeds under another name"
duration = "30ms"
[topology]
kind = "explicit"
file = "net.graphml"
delay = "5us"
[switch]
buffer = "1MB"
mark_above = "100KB"
[[traffic]]
kind = "incast"
flows = 1
from = "h0"
to = "h1"
sizes = { kind = "fixed", value = "1MB" }
"""


def tier(node: str) -> str:
    return "" if node.startswith("h") else node.rstrip("0123456789")


def fat_tree(rows: Sequence[str], place: Path) -> str:
    """Text of a scenario whose node file has rows in this order."""
    place.mkdir()
    links = "".join(f"{a},{b},10Gbps,1us\n" for a, b in ENDS)
    (place / "links.csv").write_text("a,b,rate,delay\n" + links)
    nodes = "".join(f"{name},{'switch' if tier(name) else 'host'},{tier(name)}\n" for name in rows)
    (place / "nodes.csv").write_text("name,kind,tier\n" + nodes)
    (place / "net.toml").write_text(TIERED.replace('"FILE"', '"links.csv"\nnode_file = "nodes.csv"'))
    return str(place / "net.toml")


def test_the_order_of_nodes_changes_no_result(tmp_path: Path) -> None:
    upwards = sorted(NODES, key=lambda name: ("edge", "agg", "core", "").index(tier(name)))
    orders = {"sorted": NODES, "upwards": upwards, "downwards": upwards[::-1]}
    found = [sf.run(fat_tree(rows, tmp_path / name), "dctcp", seed=1) for name, rows in orders.items()]
    assert len({each.digest for each in found}) == 1
    assert found[0].metrics["drops"] > 0


def test_graphml_has_the_tiers_of_the_edge_list(tmp_path: Path) -> None:
    expected = sf.run(fat_tree(NODES, tmp_path / "csv"), "dctcp", seed=1)
    keys = "".join(f'<key id="{name}" for="node" attr.name="{name}"/>' for name in ("kind", "tier"))
    kind = '<data key="kind">{}</data>'.format
    node = '<node id="{}">{}<data key="tier">{}</data></node>'.format
    nodes = "".join(node(name, kind("switch" if tier(name) else "host"), tier(name)) for name in NODES[::-1])
    edges = "".join(f'<edge source="{a}" target="{b}"/>' for a, b in ENDS)
    (tmp_path / "net.graphml").write_text(f"<graphml>{keys}<graph>{nodes}{edges}</graph></graphml>")
    scenario = TIERED.replace('"FILE"', '"net.graphml"\nrate = "10Gbps"\ndelay = "1us"')
    (tmp_path / "net.toml").write_text(scenario)
    assert sf.run(tmp_path / "net.toml", "dctcp", seed=1).digest == expected.digest


def test_a_tier_in_any_row_limits_its_ports(tmp_path: Path) -> None:
    """A buffer of 15 KB holds ten packets. The switches above and the ports to hosts have 1 MB."""
    scenario = fat_tree(NODES, tmp_path / "net")
    ports = sf.run(
        scenario,
        "tcp",
        seed=1,
        settings={"switch.edge.up.buffer": "15KB", "switch.mark_above": "1pkt", "switch.edge.up.mark_above": "1pkt"},
    ).ports
    most = dict(ports.select("port", "queue_max_bytes").rows())
    upwards = {port: size for port, size in most.items() if port.startswith("edge") and "->agg" in port}
    assert len(upwards) == 16
    assert 13_500 < max(upwards.values()) <= 15_000
    assert max(size for port, size in most.items() if port not in upwards) > 15_000


def test_a_tier_at_two_heights_leaves_the_ports_of_others_clear(tmp_path: Path) -> None:
    links = ["h0,e0", "h1,e1", "h2,b0", "e0,a0", "e1,a0", "b0,a0", "a0,b1"]
    (tmp_path / "links.csv").write_text("a,b,rate,delay\n" + "".join(f"{ends},10Gbps,1us\n" for ends in links))
    tiers = {"h": "", "e": "edge", "a": "agg", "b": "border"}
    names = ["h0", "h1", "h2", "e0", "e1", "a0", "b0", "b1"]
    nodes = "".join(f"{name},{'switch' if tiers[name[0]] else 'host'},{tiers[name[0]]}\n" for name in names)
    (tmp_path / "nodes.csv").write_text("name,kind,tier\n" + nodes)
    (tmp_path / "net.toml").write_text(TIERED.replace('"FILE"', '"links.csv"\nnode_file = "nodes.csv"'))
    around = {"duration": "1ms"}
    assert sf.run(tmp_path / "net.toml", "tcp", settings={**around, "switch.edge.up.buffer": "40KB"}).digest
    with pytest.raises(sf.ConfigError, match='tier "border" are not equally far from the hosts'):
        sf.run(tmp_path / "net.toml", "tcp", settings={**around, "switch.border.up.buffer": "15KB"})


def numbered(sender: str, receiver: str, place: Path) -> None:
    for name, text in NUMBERED.items():
        (place / name).write_text(text)
    (place / "star.toml").write_text(STAR.replace("FROM", sender).replace("TO", receiver))


def test_a_number_in_a_trace_is_a_name_and_names_hold_in_every_key(shortflow: Command, tmp_path: Path) -> None:
    numbered('"1"', '"3"', tmp_path)
    result = sf.run("star.toml", "dctcp", seed=1)
    assert result.flows.select("source", "destination").unique().rows() == [("1", "3")]
    result = sf.run("star.toml", "dctcp", seed=1, settings={"traffic.2.from": '["1", "2"]', "traffic.2.to": '"4"'})
    made = result.flows.filter(result.flows["class"] == "made")
    assert made.select("source", "destination").rows() == [("1", "4")]


@pytest.mark.parametrize(
    ("sender", "receiver", "said"),
    [
        (
            "1",
            '"3"',
            'traffic.2.from: 1 has two meanings: host 1, counted from 0, is called "2", and the host called "1" is '
            'host 0; write the name in quotes, "2" or "1", several as a list',
        ),
        (
            '"1"',
            "0",
            'traffic.2.to: 0 has two meanings: host 0, counted from 0, is called "1", and "0" is a switch; write the '
            'name in quotes, "1"',
        ),
        ('"0"', '"3"', 'traffic.2.from: "0" is a switch, not a host; hosts are 1 to 4'),
        (
            '"1"',
            "4",
            'traffic.2.to: there is no host 4; the topology has hosts 0 to 3; write "4", in quotes, for the host of '
            "this name",
        ),
    ],
)
def test_a_number_with_two_meanings_is_refused(
    sender: str, receiver: str, said: str, shortflow: Command, tmp_path: Path
) -> None:
    numbered(sender, receiver, tmp_path)
    key = "from = FROM" if said.startswith("traffic.2.from") else "to = TO"
    line = STAR.splitlines().index(key) + 1
    assert shortflow("run", "star.toml", code=2).stderr == f"shortflow: star.toml:{line}: {said}\n"


def test_a_switch_sends_no_flow_of_a_trace(shortflow: Command, tmp_path: Path) -> None:
    numbered('"1"', '"3"', tmp_path)
    with (tmp_path / "flows.csv").open("a") as file:
        file.write("0.005,0,3,1000000\n")
    said = 'shortflow: flows.csv:3: source: "0" is a switch, not a host; hosts are 1 to 4\n'
    assert shortflow("compare", "star.toml", "--schemes", "tcp", code=2).stderr == said


def test_a_default_names_the_attribute_that_it_replaces(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "net.graphml").write_text(SPEEDS)
    (tmp_path / "net.toml").write_text(ONE_FLOW)
    advice = (
        'LinkSpeedRaw looks like a rate and is not read; write attr.name="rate" and values in bits per second or with '
        "a unit, such as 10Gbps"
    )
    missing = "rate: missing, and the scenario has no topology.rate for such links"
    refused = shortflow("run", "net.toml", code=2).stderr
    assert refused.splitlines() == [f"shortflow: net.graphml:{line}: {missing}; {advice}" for line in (6, 7)]
    warning = f"topology.rate: 10Gbps holds for 2 of 2 links, which have no rate in net.graphml; {advice}"
    filled = shortflow("compare", "net.toml", "--schemes", "tcp,dctcp", "--seeds", "1", "--set", "topology.rate=10Gbps")
    assert filled.stderr.count(f"warning: {warning}\n") == 1
    (tmp_path / "net.graphml").write_text(SPEEDS.replace("LinkSpeedRaw", "rate"))
    assert "topology.rate" not in shortflow("run", "net.toml", code=0).stderr
