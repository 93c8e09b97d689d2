"""Any text in a foreign format becomes a scenario or an error that names the file."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortflow.errors import ConfigError
from shortflow.imports.files import File
from shortflow.imports.formats import FORMATS, read_all, recognised
from shortflow.imports.hosts import HostsAt
from shortflow.imports.parts import Options
from shortflow.imports.scenario import draft, toml
from test_imported_networks import ZOO, as_containerlab, as_lldp, as_netbox, fabric
from test_imports import CONFIG, FLOWS, SIMAI, TOPOLOGY, ZEEK
from test_sonic import CONFIG as SONIC

RING = """Nodes 16
Connections 4
Triggers 2
0->1 id 1 start 0 size 20000 send_done_trigger 1
1->2 id 2 trigger 1 size 20000 recv_done_trigger 2
2->3 id 3 start 5000 size 0 recv_done_trigger 2
3->0 id 4 trigger 2 size 500 prio 3
trigger id 1 oneshot
trigger id 2 barrier count 2
"""
TOPO = """Nodes 16
Tiers 3
Podsize 4
Tier 0
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Tier 1
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Tier 2
Radix_Down 4
Bundle 1
"""
LINKS = fabric(2, 2, 2)
TEXTS: Mapping[str, str] = {
    "hpcc-topology": TOPOLOGY,
    "hpcc-topology of SimAI": SIMAI,
    "hpcc-flows": FLOWS,
    "hpcc-config": CONFIG,
    "htsim-cm": RING,
    "htsim-topo": TOPO,
    "zeek-conn": ZEEK + "1.5\tC\t10.0.0.1\t5\t10.0.0.2\t80\ttcp\t1.0\t300\t20\n1.7\tC\ta\t5\tb\t80\ttcp\t-\t-\t7\n",
    "zeek-conn of JSON": '{"ts":1.5,"id.orig_h":"a","id.resp_h":"b","orig_bytes":5,"resp_bytes":null}\n' * 2,
    "flow-table": 'start,source,destination,bytes,class\n0.5,0,1,3000,q\n1ms,"1",0,3KB,\n',
    "flow-table of dates": "ts;src;dst;size_KB\n2026-01-31 12:00:00.5;a;b;0,5\n2026-01-31 12:00:01;b;a;3\n",
    "sizes": "0 0\n10000 0.15\n200000 0.6\n30000000 1\n",
    "sizes of ns-2": "6 1 0\n6 1 0.5\n20 1 1\n",
    "sizes with a header": "bytes;cdf\n1000;0,5\n2000;1\n",
    "size-samples": "size,count\n1000,5\n2000,7\n",
    "graphml": ZOO,
    "containerlab": next(iter(as_containerlab(LINKS).values())),
    "lldp": next(iter(as_lldp(LINKS).values())),
    "netbox": next(iter(as_netbox(LINKS).values())),
    "edge-list": "a,b,rate,delay\nh0,s0,10Gbps,2us\nh1,s0,10Gbps,\n",
    "sonic": json.dumps(SONIC, indent=1),
}
WORDS = [
    "",
    " ",
    "0",
    "-1",
    "1e300",
    "nan",
    "99999999999999999999",
    '"',
    ",",
    ";",
    "\t",
    "\n",
    "\r\n",
    "#",
    "é",
    "\0",
    "{",
    "]",
]
CHANGES = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(WORDS) | st.text(max_size=4)), min_size=1, max_size=4
)
OPTIONS = Options(hosts_at=[HostsAt.parse("2x10Gbps")])


def outcome(path: Path, name: str | None, options: Options) -> None:
    """Reads a file and writes its scenario. Errors must name the file."""
    error = None
    try:
        toml(draft(read_all([File(path)], name, options), options, {}))
    except ConfigError as found:
        error = str(found)
    assert error is None or path.name in error


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_of_its_format(tmp_path: Path, name: str) -> None:
    path = tmp_path / "text.txt"
    path.write_text(TEXTS[name], "utf-8")
    found = recognised(File(path)).name
    assert found == ("sizes" if name == "size-samples" else name.partition(" ")[0])


def test_every_format_has_a_text() -> None:
    assert {each.name for each in FORMATS} == {name.partition(" ")[0] for name in TEXTS}


@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=30)
@given(changes=CHANGES, is_named=st.booleans(), adds_hosts=st.booleans())
def test_a_changed_text_is_a_scenario_or_an_error(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    changes: list[tuple[float, int, str]],
    is_named: bool,
    adds_hosts: bool,
) -> None:
    text = TEXTS[name]
    for place, length, word in changes:
        at = round(place * len(text))
        text = text[:at] + word + text[at + length :]
    path = tmp_path_factory.getbasetemp() / "changed.txt"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    outcome(path, name.partition(" ")[0] if is_named else None, OPTIONS if adds_hosts else Options())


@pytest.mark.parametrize("name", [each.name for each in FORMATS])
@settings(max_examples=30)
@given(data=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_scenario_or_an_error(tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(data)
    outcome(path, name, Options())
