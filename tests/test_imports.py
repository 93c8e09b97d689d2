"""Files of other tools as scenarios: numbers worked out by hand, and errors that name a place."""

import random
import re
import tomllib
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortflow as sf
from conftest import Command
from shortflow.errors import ConfigError, ExitCode
from shortflow.imports.files import File
from shortflow.imports.formats import FORMATS, read_all
from shortflow.imports.parts import Options

TOPOLOGY = """7 3 6
4 5 6
0 4 100Gbps 0.001ms 0
1 4 100Gbps 1us 0
2 5 25Gbps 1000ns 0
3 5 25Gbps 1us 0
4 6 100Gbps 1us 0
5 6 100Gbps 1us 0
First line: total node #, switch node #, link #
"""
FLOWS = """4
0 2 3 100 1460 2.000000000
1 3 3 100 14600 2.00002
3 0 3 100 1460 2.0001
0 1 3 100 1460 2.0002
src0 dst0 3 dst_port0 size0 start_time0
"""


def hpcc(folder: Path) -> list[Path]:
    paths = [folder / "topology.txt", folder / "flow.txt"]
    for path, text in zip(paths, (TOPOLOGY, FLOWS), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def test_flows_of_hpcc_take_the_times_of_their_links(tmp_path: Path) -> None:
    found = sf.import_files(hpcc(tmp_path), out=tmp_path / "made")
    assert [found.summary[key] for key in ("hosts", "switches", "links", "flows", "bytes")] == [4, 3, 6, 4, 18980]
    assert found.summary["span_s"] == pytest.approx(0.0002)
    flows = sf.run(tmp_path / "made" / "scenario.toml", "dctcp").flows.sort("start_s")
    assert flows["start_s"].to_list() == [0, 2e-5, 1e-4, 2e-4]
    # A packet of 1,500 bytes takes 120 ns at 100 Gbps and 480 ns at 25 Gbps, and an ACK of 40 bytes 3.2 and 12.8 ns. A
    # flow ends when its last ACK arrives. There are four links of 1 us each way, and three of them have 100 Gbps.
    far = 2 * 4e-6 + 3 * (120e-9 + 3.2e-9) + 480e-9 + 12.8e-9
    near = 2 * 2e-6 + 2 * (120e-9 + 3.2e-9)
    assert flows["fct_s"].to_list() == pytest.approx([far, far + 9 * 480e-9, far, near], rel=1e-6)


@pytest.mark.parametrize("row", ["0 2 3 100 1460 2.5", "0 2 3 1460 2.5", "0 2 1460 2.5"])
def test_flows_with_and_without_group_and_port(tmp_path: Path, row: str) -> None:
    path = tmp_path / "flow.txt"
    path.write_text(f"1\n{row}\n")
    ((_, form, part),) = read_all([File(path)], None, Options())
    assert form.name == "hpcc-flows"
    assert part.flows is not None
    assert part.flows.table.select("source", "destination", "bytes", "start").rows() == [("0", "2", 1460, 2.5)]


def test_what_is_written_runs_and_names_its_sources(shortflow: Command, tmp_path: Path) -> None:
    hpcc(tmp_path)
    said = shortflow("import", "topology.txt", "flow.txt", "--out", "made", "--set", "switch.buffer=2MB")
    assert "2 s are subtracted" in said.stdout
    assert "Left out:" in said.stdout
    text = (tmp_path / "made" / "scenario.toml").read_text()
    assert 'buffer = "2MB"  # given with the import' in text
    assert 'file = "links.csv"  # topology.txt, lines 3 to 8' in text
    assert 'file = "flows.csv"  # flow.txt, lines 2 to 5' in text
    shortflow("compare", "made/scenario.toml", "--schemes", "dctcp,tcp", "--seeds", "2")
    again = shortflow("import", "topology.txt", "--out", "made", code=ExitCode.WRONG_INPUT)
    assert again.stderr == "shortflow: --out: made exists; name a new directory\n"


def test_a_network_alone_gets_traffic_that_the_summary_names(tmp_path: Path) -> None:
    found = sf.import_files(hpcc(tmp_path)[0], out=tmp_path / "made")
    assert [each for each in found.summary["assumed"] if each.startswith("traffic.1.load = 0.5")]
    tables = tomllib.loads((tmp_path / "made" / "scenario.toml").read_text())
    assert tables["traffic"][0]["kind"] == "poisson"


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("topology.txt", "0.001ms", "soon", 'topology.txt:3: delay: "soon"; expected a time such as 1us or 0.001ms'),
        ("topology.txt", "3 5 25G", "3 9 25G", 'topology.txt:6: destination: "9"; expected a node from 0 to 6'),
        (
            "topology.txt",
            "7 3 6",
            "7 3 8",
            'topology.txt:1: number of links: "8"; expected 7, as many as the file lists',
        ),
        ("flow.txt", "14600", "14.6k", 'flow.txt:3: bytes: "14.6k"; expected a whole number of bytes above zero'),
        ("flow.txt", "4\n", "9\n", 'flow.txt:1: number of flows: "9"; expected 4, as many as the file lists'),
        ("flow.txt", "0 2 3 100", "0 4 3 100", "4"),
    ],
)
def test_errors_name_the_place_and_leave_nothing(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    paths = hpcc(tmp_path)
    path = tmp_path / name
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ConfigError, match=re.escape(message)):
        sf.import_files(paths, out=tmp_path / "made")
    assert {each.name for each in tmp_path.iterdir()} == {"topology.txt", "flow.txt"}


def test_a_data_frame_is_a_file_of_flows(tmp_path: Path) -> None:
    rows = {"ts": [5.0, 5.5], "src": ["a", "b"], "dst": ["b", "a"], "bytes": [1500, 3000]}
    frames = {"polars": pl.DataFrame(rows), "pandas": pd.DataFrame(rows)}
    for name, frame in frames.items():
        found = sf.import_files(frame, out=tmp_path / name)
        assert (found.summary["flows"], found.summary["bytes"]) == (2, 4500)
    assert "data frame, lines 2 to 3" in (tmp_path / "polars" / "scenario.toml").read_text()
    with pytest.raises(sf.ConfigError, match="expected a file or a data frame, not dict"):
        sf.import_files(rows, out=tmp_path / "rows")


def test_sizes_beside_flows_are_named(tmp_path: Path) -> None:
    (tmp_path / "sizes.txt").write_text("0 0\n10000 50\n3000000 100\n")
    found = sf.import_files([hpcc(tmp_path)[1], tmp_path / "sizes.txt"], out=tmp_path / "made")
    assert (
        "sizes.txt: the distribution of sizes. The listed flows have sizes of their own." in found.summary["left_out"]
    )


def test_what_cannot_be_read_is_named(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for name, message in (
        ("missing", "cannot be read: there is no such file"),
        (".", "a directory"),
        ("empty", "is empty"),
    ):
        said = shortflow("import", name, "--out", "made", code=ExitCode.WRONG_INPUT).stderr
        assert message in said.splitlines()[0]


def test_a_file_of_no_format_hears_of_all(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "novel.txt").write_text("It was a dark and stormy night.\n")
    said = shortflow("import", "novel.txt", "--out", "made", code=ExitCode.WRONG_INPUT).stderr
    assert all(f"{each.name}: {each.begins}" in said for each in FORMATS)
    assert [each["name"] for each in shortflow("list", "formats", "--json").document] == [each.name for each in FORMATS]


def test_thresholds_and_constants_of_hpcc(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "mix").mkdir()
    hpcc(tmp_path / "mix")
    (tmp_path / "mix" / "config.txt").write_text(CONFIG, encoding="utf-8")
    found = sf.import_files(tmp_path / "mix" / "config.txt", out=tmp_path / "made")
    values = {each["key"]: each["value"] for each in found.scenario.resolved()}
    assert values["tcp.mss"] == "1000B"
    # BUFFER_SIZE counts MiB. Ports of the first host's rate pause above an eighth of the free memory, and have headroom
    # of three delays at their rate: 37,500 bytes for 1 us at 100 Gbps.
    of_switch = {key: values[f"switch.{key}"] for key in ("memory", "xoff", "xoff_alpha", "headroom")}
    assert of_switch == {"memory": "32MiB", "xoff": "32MiB", "xoff_alpha": "0.125", "headroom": "37500B"}
    tables = tomllib.loads((tmp_path / "made" / "scenario.toml").read_text())
    assert tables["switch"]["mark_above"] == "400KB"
    assert {port for port in tables["switch"] if "->" in port} == {"5->2", "5->3"}, "the ports of 25 Gbps"
    assert tables["switch"]["5->2"]["mark_above"] == "100KB"
    assert tables["switch"]["5->2"]["headroom"] == "9375B"
    (scheme,) = found.summary["schemes"]
    assert scheme.startswith("dcqcn+g=0.00390625+alpha_timer=1us+rate_timer=900us+decrease_timer=4us+")
    assert scheme.endswith("+cnp_every=0s+queue.min=auto+queue.mark=departure+queue.drop_not_ect=false")
    assert (tables["switch"]["mark_all_above"], tables["switch"]["mark_probability"]) == ("1600KB", 0.2)
    assert tables["switch"]["5->2"]["mark_all_above"] == "400KB"
    assert any("QLEN_MON_FILE" in each for each in found.summary["left_out"])
    shortflow("run", "made/scenario.toml", "--scheme", scheme)
    others = {"3": "hpcc+eta=0.95+min_rate=100Mbps", "7": "timely+delta=50Mbps+min_rate=100Mbps"}
    for mode, named in others.items():
        text = CONFIG.replace("CC_MODE 1", f"CC_MODE {mode}") + "U_TARGET 0.95\n"
        (tmp_path / "mix" / "config.txt").write_text(text, encoding="utf-8")
        found = sf.import_files(tmp_path / "mix" / "config.txt", out=tmp_path / f"mode-{mode}")
        assert found.summary["schemes"] == [named]
        shortflow("run", f"mode-{mode}/scenario.toml", "--scheme", named)
    (tmp_path / "mix" / "config.txt").write_text(CONFIG.replace("CC_MODE 1", "CC_MODE 10"), encoding="utf-8")
    said = shortflow("import", "mix/config.txt", "--out", "pint").stdout
    assert "HPCC-PINT has no counterpart" in said


CONFIG = """ENABLE_QCN 1
PACKET_PAYLOAD_SIZE 1000 {packet size}
TOPOLOGY_FILE mix/topology.txt
FLOW_FILE mix/flow.txt
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
RP_TIMER 900
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 50Mb/s
RATE_HAI 100Mb/s
MIN_RATE 100Mb/s
KMAX_MAP 3 25000000000 400 50000000000 800 100000000000 1600
KMIN_MAP 3 25000000000 100 50000000000 200 100000000000 400
PMAX_MAP 3 25000000000 0.2 50000000000 0.2 100000000000 0.2
BUFFER_SIZE 32
QLEN_MON_FILE mix/qlen.txt
"""
SIMAI = """7 2 2 1 8 H100
4 5 6
0 4 2880Gbps 0.000025ms 0
1 4 2880Gbps 0.000025ms 0
2 5 2880Gbps 0.000025ms 0
3 5 2880Gbps 0.000025ms 0
0 6 200Gbps 0.0005ms 0
1 6 200Gbps 0.0005ms 0
2 6 200Gbps 0.0005ms 0
3 6 200Gbps 0.0005ms 0
"""


def test_a_topology_of_simai(tmp_path: Path) -> None:
    (tmp_path / "topo").write_text(SIMAI)
    found = sf.import_files(tmp_path / "topo", out=tmp_path / "made")
    assert [found.summary[key] for key in ("hosts", "switches", "links")] == [4, 1, 4]
    assert "NVSwitches (2) and their 4 links." in found.summary["left_out"][0]


def test_hosts_with_several_links_keep_one_that_leads_on(tmp_path: Path) -> None:
    """Topologies of ASTRA-sim, without SimAI's first line, and of HPCC, with two switches per rack."""
    two_switches = SIMAI.replace("7 2 2 1 8 H100", "8 4 9").replace("4 5 6\n", "4 5 6 7\n")
    (tmp_path / "astra").write_text(two_switches + "6 7 400Gbps 1us 0\n")
    found = sf.import_files(tmp_path / "astra", out=tmp_path / "made")
    links = pl.read_csv(tmp_path / "made" / "links.csv", comment_prefix="#")
    assert links.select("a", "b", "rate").rows() == [*((host, 6, "200Gbps") for host in range(4)), (6, 7, "400Gbps")]
    further, switches = (each.removeprefix("astra: ") for each in found.summary["left_out"])
    assert further.startswith("4 further links of hosts: 0-4, 1-4, 2-5, 3-5. In Shortflow a host has one link")
    assert switches == "Switches that only such links lead to: 4, 5 (2)."


def test_an_incast_of_htsim(tmp_path: Path) -> None:
    rows = "\n".join(f"{host}->0 id {host} start 0 size 14600" for host in range(1, 16))
    (tmp_path / "incast.cm").write_text(f"Nodes 16\nConnections 15\n{rows}\n")
    found = sf.import_files(tmp_path / "incast.cm", out=tmp_path / "made")
    values = {each["key"]: each["value"] for each in found.scenario.resolved()}
    assert [values[f"topology.{key}"] for key in ("kind", "k", "rate", "rtt")] == ["fat-tree", "4", "100Gbps", "12us"]
    assert found.summary["bytes"] == 15 * 14600
    flows = sf.run(found.scenario, "dctcp").flows
    # The first packet comes from the same rack (120 ns, two links of 1 us). Then 150 packets of 1,500 bytes pass the
    # last link, at 120 ns each, and the last ACK returns over at most six links.
    last = float(flows["fct_s"].to_numpy().max())
    least = 2e-6 + 120e-9 + 150 * 120e-9 + 2e-6
    assert least < last < least + 10e-6


@pytest.mark.parametrize(
    ("text", "hosts", "switches", "links"),
    [
        (
            "Nodes 32\nTiers 2\nPodsize 32\n\nTier 0\n{low}Radix_Down 8\nRadix_Up 2\n\nTier 1\n{low}Radix_Down 4\n",
            32,
            6,
            40,
        ),
        (
            "# a comment\nNodes 16\nTiers 3\nPodsize 4\nTier 0\n{low}Radix_Down 2\nRadix_Up 2\n"
            "Tier 1\n{low}Radix_Down 2\nRadix_Up 2\nTier 2\n{low}Radix_Down 4\n",
            16,
            20,
            48,
        ),
    ],
)
def test_topologies_of_htsim(tmp_path: Path, text: str, hosts: int, switches: int, links: int) -> None:
    low = "Downlink_speed_Gbps 100\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 500\n"
    (tmp_path / "tiers.topo").write_text(text.format(low=low))
    rows = "0->15 id 1 start 2000000 size 1460\n0->1 id 2 start 90000000 size 1460\n"
    (tmp_path / "two.cm").write_text(f"Nodes 16\nConnections 2\n{rows}")
    found = sf.import_files([tmp_path / "tiers.topo", tmp_path / "two.cm"], out=tmp_path / "made")
    assert [found.summary[key] for key in ("hosts", "switches", "links")] == [hosts, switches, links]
    times = sf.run(found.scenario, "dctcp").flows["fct_s"]
    for time, hops in zip(times, (4 if "Tiers 2" in text else 6, 2), strict=True):
        there = hops * 1e-6 + (hops - 1) * 0.5e-6  # links of 1 us, and each switch of 0.5 us is crossed once
        assert time == pytest.approx(2 * there + hops * (120e-9 + 3.2e-9), rel=1e-6)


CHAIN = """Nodes 4
Connections 5
Triggers 3
2->3 id 2 trigger 1 size 5000
0->1 id 1 start 0 size 1000 send_done_trigger 1
1->0 id 3 start 5e6 size 2000 recv_done_trigger 2
3->2 id 4 trigger 2 size 700
0->3 id 5 trigger 3 size 900
trigger id 1 oneshot
trigger id 2 barrier count 1
trigger id 3 multishot
"""


def test_what_a_trigger_starts_waits_for_the_bytes_before(tmp_path: Path) -> None:
    (tmp_path / "chain.cm").write_text(CHAIN)
    found = sf.import_files(tmp_path / "chain.cm", out=tmp_path / "made")
    (left,) = (each for each in found.summary["left_out"] if "triggers" in each and "Connections" in each)
    assert left.startswith("chain.cm: Connections of triggers 3 in line 11. ")
    assert found.summary["flows"] == 4
    written = (tmp_path / "made" / "flows.csv").read_text().splitlines()[1:]
    assert [line.split(",")[4].strip('"') for line in written] == ["after", "", "", "1", "2"]
    flows = {row["size_bytes"]: row for row in sf.run(found.scenario, "dctcp").flows.iter_rows(named=True)}
    assert flows[5000]["start_s"] == flows[1000]["received_s"]
    assert flows[700]["start_s"] == flows[2000]["received_s"]
    assert flows[2000]["start_s"] == 5e-6


def test_flows_of_size_zero_send_until_the_end(tmp_path: Path) -> None:
    (tmp_path / "some.cm").write_text(
        "Nodes 16\nConnections 4\n1->0 start 0 size 0\n2->0 start 0 size 0\n"
        "3->1 start 2e6 size 0\n3->2 start 0 size 9\n"
    )
    found = sf.import_files(tmp_path / "some.cm", out=tmp_path / "made")
    entries = tomllib.loads((tmp_path / "made" / "scenario.toml").read_text())["traffic"]
    assert [entry["kind"] for entry in entries] == ["trace", "long-lived", "long-lived"]
    assert [(entry["from"], entry["to"]) for entry in entries[1:]] == [(["h1", "h2"], "h0"), (["h3"], "h1")]
    assert entries[2]["start"] == "2000000ps"
    metrics = sf.run(found.scenario, "dctcp", settings={"duration": "1ms"}).metrics
    assert metrics["goodput_endless_bps"] > 150e9, "two receivers of 100 Gbps"


ZEEK = """#separator \\x09
#set_separator\t,
#empty_field\t(empty)
#unset_field\t-
#path\tconn
#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tduration\torig_bytes\tresp_bytes
#types\ttime\tstring\taddr\tport\taddr\tport\tenum\tinterval\tcount\tcount
"""


def connections(count: int) -> list[tuple[float, int, int, int, int]]:
    """Connections drawn by a fixed seed: start, last parts of both addresses, and bytes in each direction."""
    draws = random.Random(7)
    found = []
    for _ in range(count):
        a, b = draws.sample(range(1, 21), 2)
        start = round(1.7e9 + draws.uniform(0, 5), 6)
        found.append((start, a, b, draws.randrange(0, 10**6), draws.randrange(0, 10**5)))
    return sorted(found)


def test_a_log_of_zeek_has_the_loads_of_its_hosts(tmp_path: Path) -> None:
    log = connections(1000)
    lines = [
        f"{ts:.6f}\tC{i}\t10.0.0.{a}\t5\t10.0.0.{b}\t80\ttcp\t1.0\t{sent}\t{back}\n"
        for i, (ts, a, b, sent, back) in enumerate(log)
    ]
    (tmp_path / "conn.log").write_text(
        ZEEK + "".join(lines) + f"{log[-1][0]:.6f}\tCx\t10.0.0.1\t5\t10.0.0.2\t80\ttcp\t-\t-\t-\n#close\t2026\n"
    )
    found = sf.import_files(tmp_path / "conn.log", out=tmp_path / "made", settings={"topology.rate": "25Gbps"})
    hosts = dict(pl.read_csv(tmp_path / "made" / "hosts.csv").iter_rows())
    flows = pl.read_csv(tmp_path / "made" / "flows.csv", comment_prefix="#")
    plain = pl.DataFrame(log, schema=["ts", "a", "b", "sent", "back"], orient="row")
    both = pl.concat([plain.select(to="b", bytes="sent"), plain.select(to="a", bytes="back")])
    known = {hosts[f"10.0.0.{to}"]: size for to, size in both.group_by("to").agg(pl.col("bytes").sum()).iter_rows()}
    assert dict(flows.group_by("destination").agg(pl.col("bytes").sum()).iter_rows()) == known
    span = log[-1][0] - log[0][0]
    assert found.summary["span_s"] == pytest.approx(span, abs=1e-6)
    assert found.summary["busiest_load"] == pytest.approx(max(known.values()) * 8 / 25e9 / span, rel=1e-6)
    assert flows["start"][0] == 0
    assert flows["start"].to_list()[2::2][:3] == [round(each[0] - log[0][0], 6) for each in log[1:4]]
    assert "1 connection without a number of bytes" in found.summary["left_out"][0]


def test_a_log_of_zeek_as_json(tmp_path: Path) -> None:
    row = '{{"ts":{ts},"id.orig_h":"a","id.resp_h":"b","orig_bytes":{size},"resp_bytes":0}}\n'
    (tmp_path / "conn.log").write_text(row.format(ts=1.5, size=100) + row.format(ts=2.5, size=300))
    assert sf.import_files(tmp_path / "conn.log", out=tmp_path / "made").summary["bytes"] == 400
    exact = row.format(ts="1700000000.000000100", size=1) + "," + row.format(ts="1700000000.000000200", size=1)
    (tmp_path / "conn.log").write_text(f"[{exact}]")
    made = sf.import_files(tmp_path / "conn.log", out=tmp_path / "listed")
    assert made.summary["span_s"] == pytest.approx(1e-7)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        (
            "ts,te,td,sa,da,sp,dp,pr,flg,ipkt,ibyt\n2026-01-31 12:00:00.5,x,1,10.0.0.1,10.0.0.2,1,2,TCP,A,3,4000\n"
            "2026-01-31 12:00:02.0,x,1,10.0.0.2,10.0.0.1,1,2,TCP,A,3,4000\nSummary\nflows,bytes\n2,8000\n",
            [0, 1.5],
        ),
        ("start_us;src;dst;bytes\n10;a;b;4000\n30;b;a;4000\n", [0, 2e-5]),
        ("firstSeen,srcAddr,dstAddr,bytes\n1700000000.25,a,b,4000\n1700000000.75,b,a,4000\n", [0, 0.5]),
        ("start,source,destination,bytes,deadline,class\n1ms,0,1,4000,10ms,Q\n3ms,1,0,4000,,\n", [0, 2e-3]),
    ],
)
def test_tables_of_flows(tmp_path: Path, text: str, starts: list[float]) -> None:
    (tmp_path / "flows.csv").write_text(text)
    found = sf.import_files(tmp_path / "flows.csv", out=tmp_path / "made")
    flows = pl.read_csv(tmp_path / "made" / "flows.csv", comment_prefix="#")
    assert flows["start"].to_list() == pytest.approx(starts)
    assert (found.summary["flows"], found.summary["bytes"]) == (2, 8000)


def test_hosts_of_addresses(shortflow: Command, tmp_path: Path) -> None:
    hpcc(tmp_path)
    (tmp_path / "log.csv").write_text("start,src,dst,bytes\n0,10.0.0.1,10.0.0.2,4000\n1,10.0.0.2,10.0.0.9,4000\n")
    (tmp_path / "hosts.csv").write_text("address,host\n10.0.0.1,0\n10.0.0.2,3\n")
    command = ("import", "topology.txt", "log.csv", "--hosts", "hosts.csv", "--out", "made")
    said = shortflow(*command, code=ExitCode.WRONG_INPUT)
    assert "10.0.0.9: no such address in --hosts" in said.stderr
    text = "# from the inventory\naddress,host\n10.0.0.1,0\n10.0.0.2,3\n10.0.0.9,1\n"
    (tmp_path / "hosts.csv").write_text(text)
    shortflow(*command)
    flows = pl.read_csv(tmp_path / "made" / "flows.csv", comment_prefix="#")
    assert flows.select("source", "destination").rows() == [(0, 3), (3, 1)]


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 2, st.integers(1, 10**12), st.integers(0, 10**9)), min_size=1))
def test_written_flows_are_read(
    tmp_path_factory: pytest.TempPathFactory, flows: list[tuple[int, int, int, int]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "flow.txt"
    path.write_text(f"{len(flows)}\n" + "".join(f"{a} {b} 3 100 {size} {ns * 1e-9:.9f}\n" for a, b, size, ns in flows))
    ((_, form, part),) = read_all([File(path)], None, Options())
    assert form.name == "hpcc-flows"
    assert part.flows is not None
    found = part.flows.table.select("source", "destination", "bytes", "start").rows()
    assert found == [(str(a), str(b), size, pytest.approx(ns * 1e-9)) for a, b, size, ns in flows]


WITHIN: dict[str, str] = {
    "Zeek": ZEEK
    + "".join(
        f"{ts}\tC{ts}\t{a}\t5\t{b}\t80\ttcp\t1.0\t{size}\t0\n"
        for ts, a, b, size in (
            (1.0, "10.0.0.1", "10.0.0.1", 500),
            (1.5, "10.0.0.2", "10.0.0.3", 1000),
            (2.0, "10.0.0.3", "10.0.0.2", 300),
        )
    ),
    "Zeek as JSON": "".join(
        f'{{"ts":{ts},"id.orig_h":"{a}","id.resp_h":"{b}","orig_bytes":{size},"resp_bytes":0}}\n'
        for ts, a, b, size in (
            (1.0, "::1", "::1", 500),
            (1.5, "fe80::2", "fe80::3", 1000),
            (2.0, "fe80::3", "fe80::2", 300),
        )
    ),
    "nfdump": "ts,te,td,sa,da,sp,dp,pr,flg,ipkt,ibyt\n"
    "2026-01-31 12:00:00.5,x,1,10.0.0.1,10.0.0.1,1,2,TCP,A,3,500\n"
    "2026-01-31 12:00:01.0,x,1,10.0.0.2,10.0.0.3,1,2,TCP,A,3,1000\n"
    "2026-01-31 12:00:01.5,x,1,10.0.0.3,10.0.0.2,1,2,TCP,A,3,300\n",
    "Argus": "StartTime,SrcAddr,DstAddr,TotBytes\n0.5,loop,loop,500\n1,east,west,1000\n1.5,west,east,300\n",
    "names that begin with h": "start,src,dst,bytes\n0.5,loop,loop,500\n1,hal,al,1000\n1.5,al,hal,300\n",
}


@pytest.mark.parametrize("name", WITHIN)
def test_a_host_that_talks_to_itself_alone_is_no_host(tmp_path: Path, name: str) -> None:
    """One of three addresses has only a flow to itself, so the note, the table and the network have two hosts."""
    (tmp_path / "log").write_text(WITHIN[name])
    found = sf.import_files(tmp_path / "log", out=tmp_path / "made")
    assert (found.summary["flows"], found.summary["bytes"]) == (2, 1300)
    assert "1 flow from a host to itself." in found.summary["left_out"]
    assert any("2 addresses became hosts h0 to h1, in order of address" in note for note in found.summary["notes"])
    assert pl.read_csv(tmp_path / "made" / "hosts.csv").height == 2
    values = {each["key"]: each["value"] for each in found.scenario.resolved()}
    assert values["topology.hosts"] == "2"


def test_addresses_of_one_host_leave_out_the_flows_between_them(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("start,src,dst,bytes\n0,a,b,500\n1,b,c,1000\n2,d,d,7\n")
    (tmp_path / "hosts.csv").write_text("address,host\na,h0\nb,h0\nc,h1\n")
    found = sf.import_files(tmp_path / "log.csv", out=tmp_path / "made", hosts=tmp_path / "hosts.csv")
    assert (found.summary["flows"], found.summary["bytes"]) == (1, 1000)
    assert "2 flows from a host to itself." in found.summary["left_out"]
    values = {each["key"]: each["value"] for each in found.scenario.resolved()}
    assert values["topology.hosts"] == "2"


def test_endless_flows_of_one_host_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "some.cm").write_text("Nodes 16\nConnections 2\n1->1 start 0 size 0\n2->0 start 0 size 0\n")
    found = sf.import_files(tmp_path / "some.cm", out=tmp_path / "made")
    (entry,) = tomllib.loads((tmp_path / "made" / "scenario.toml").read_text())["traffic"]
    assert (entry["from"], entry["to"]) == (["h2"], "h0")
    assert "1 flow from a host to itself." in found.summary["left_out"]
