"""Variants of files: compressed, with other line ends, columns and units; and refused files, with the place."""

import gzip
import re
from pathlib import Path

import polars as pl
import pytest

import shortflow as sf
from shortflow.errors import ConfigError
from shortflow.imports.own import described
from test_imports import FLOWS, TOPOLOGY, ZEEK, hpcc

TABLE = "start,src,dst,bytes\n"
LOG = ZEEK + "{ts}\tC\t{a}\t5\t{b}\t80\ttcp\t1.0\t{sent}\t0\n"


def flows_of(made: Path) -> list[tuple[object, ...]]:
    return pl.read_csv(made / "flows.csv", comment_prefix="#").rows()


@pytest.mark.parametrize(
    "text",
    [
        FLOWS.replace("\n", "\r\n").encode(),
        FLOWS.replace("\n", "\n\n").replace(" ", "\t").encode(),
        b"# flows\n" + FLOWS.encode(),
        gzip.compress(FLOWS.encode()),
        FLOWS.encode("utf-16"),
    ],
    ids=["crlf", "tabs", "comment", "gzip", "utf-16"],  # gzip contains the time, so default ids would change
)
def test_a_file_is_the_same_however_it_is_written(tmp_path: Path, text: bytes) -> None:
    plain = sf.import_files(hpcc(tmp_path), out=tmp_path / "plain")
    (tmp_path / "flow.txt").write_bytes(text)
    found = sf.import_files([tmp_path / "topology.txt", tmp_path / "flow.txt"], out=tmp_path / "made")
    assert flows_of(tmp_path / "made") == flows_of(tmp_path / "plain")
    assert found.scenario.resolved() == plain.scenario.resolved()


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (TABLE + '1,"a, b",c,"3000"\n', [3000]),
        ("start src dst bytes\n1 a b 3000\n", [3000]),
        ("start;src;dst;bytes\n0,5;a;b;3000\n", [3000]),
        ("start,src,dst,size_KB\n1,a,b,3\n", [3000]),
        (TABLE + "1,a,b,3KB\n2,b,a,5\n", [3000, 5]),
        ("ts,src,dst,bytes\n2026-01-31T12:00:00Z,a,b,7\n", [7]),
        ('{"ts":"2026-01-31T12:00:00.5Z","id.orig_h":"a","id.resp_h":"b","orig_bytes":9,"resp_bytes":null}\n', [9]),
        ('[{"ts":1.5,"id.orig_h":"a","id.resp_h":"b","orig_bytes":9,"resp_bytes":3}]\n', [9, 3]),
        ("StartTime,Src Addr,Dst Addr,TotBytes\n2026/01/31 12:00:00.5,a,b,7\n", [7]),
    ],
)
def test_rows_of_flows_in_other_forms(tmp_path: Path, text: str, sizes: list[int]) -> None:
    (tmp_path / "flows.txt").write_text(text)
    sf.import_files(tmp_path / "flows.txt", out=tmp_path / "made")
    assert [row[3] for row in flows_of(tmp_path / "made")] == sizes


@pytest.mark.parametrize(
    ("text", "mean"),
    [
        ("size count\n1000 25\n2000 75\n", 1750),
        ('"bytes","cdf"\n"1000","0.5"\n"2000","1"\n', 1250),
        ("Flow Size (KB), CDF\n1, 0.5\n2, 1\n", 1250),
    ],
)
def test_sizes_in_other_forms(tmp_path: Path, text: str, mean: float) -> None:
    (tmp_path / "sizes.txt").write_text(text)
    assert described(tmp_path / "sizes.txt", None)[1].mean == mean


CM = "Nodes 16\nConnections 1\n"
WRONG = {
    "Date first seen Duration Proto Src IP Addr:Port Dst IP Addr:Port Bytes\n2026-01-31 12:00:00 1 TCP a:1 b:2 7\n": (
        "expected nfdump's CSV: write it with nfdump -o csv"
    ),
    TABLE + '1,a,b,"3,000"\n': 'x:2: bytes: "3,000"; expected 3000 or 3.0000',
    TABLE + "1,a,b,3,000\n": 'x:2: row: "1,a,b,3,000"; expected 4 fields, as in the header',
    TABLE + "1,,b,3\n": 'x:2: src: ""; expected a host or an address',
    TABLE + "1,a,b,1e300\n": 'x:2: bytes: "1e300"; expected',
    TABLE + "01/31/2026,a,b,3\n": 'x:2: start: "01/31/2026"; expected a time',
    TABLE + "1700000000250,a,b,3\n": "expected seconds, or the unit of starts: give --time ms, us or ns",
    TABLE + "1,a,a,3\n": "every flow is from a host to itself",
    TABLE + "1,h3,h4,3\n90000,h4,h3,3\n": "a run has at most 30,000 s",
    "start,src,dst,bytes,bytes\n1,a,b,3,4\n": 'x:1: header: "bytes"; expected each column once',
    "start,src,dst,bytes,class\n1,a,b,3,Big Flow!\n": 'x:2: class: "big flow!" is not a name',
    LOG.format(ts=1, a="a", b="b", sent=10**25): "x:8: orig_bytes: ",
    LOG.format(ts=1, a="-", b="b", sent=1): 'x:8: id.orig_h: "-"; expected an address',
    ZEEK + "1.5\tC\ta\n": 'x:8: id.resp_h: ""; expected a value, as #fields says',
    '{"id.orig_h":1}\n[1]\n': "x:2: line: ",
    CM + "3->4 id 1 start 0 sise 1000\n": 'x:3: word: "sise"; expected each of id, start, size',
    CM + "3->4 id 1 start 0.5 size 1000\n": "Older versions have microseconds: give --time us",
    CM + "3->4 id 1 start 0 trigger 1 size 9\n": "either a start in picoseconds or a trigger",
    CM + "3->4 id 1 start 0 size 99999999999999999999\n": 'x:3: size: "99999999999999999999"; expected a whole number',
    CM.replace("s 1", "s 2") + "3->4 id 1 start 0 size 9\n4->5 id 1 start 0 size 9\n": "x:4: id: ",
    "2\n2 1 3 10000000 2 9.5\n3 1 3 10000000 2 9.5\n": "DCQCN's form counts packets",
    "1000 0.5\n1e40 1\n": 'x:2: size: "1e40"; expected at most 1e+15 bytes',
    "2 0 1\n0 1 10Gbps 1us 0\n": "no link joins a host with a switch",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(WRONG[text])):
        sf.import_files(tmp_path / "x", out=tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_errors_about_the_scenario_name_the_line_of_the_file(tmp_path: Path) -> None:
    paths = hpcc(tmp_path)
    paths[1].write_text(FLOWS.replace("1 3 3 100", "1 9 3 100"))
    with pytest.raises(ConfigError, match=r'flow\.txt:3: destination: "9" is not a host'):
        sf.import_files(paths, out=tmp_path / "made")
    paths[0].write_text(TOPOLOGY.replace("1us 0\n1 4", "1us 0\n1 4").replace("1000ns", "1e30s"))
    with pytest.raises(ConfigError, match=r'topology\.txt:5: delay: "1e30s"'):
        sf.import_files(paths[0], out=tmp_path / "made")
    with pytest.raises(ConfigError, match=r"--queue: no file of hpcc-topology takes it; leave it out"):
        sf.import_files(paths[0], out=tmp_path / "made", queue=3)


def test_rows_beyond_the_first_line_are_counted(tmp_path: Path) -> None:
    paths = hpcc(tmp_path)
    paths[0].write_text(TOPOLOGY.replace("First line", "5 3 100Gbps 1us 0\nFirst line"))
    paths[1].write_text(FLOWS.replace("4\n", "3\n", 1))
    found = sf.import_files(paths, out=tmp_path / "made").summary
    assert "topology.txt: 1 further link. The first line says 6 links, and HPCC reads only these." in found["left_out"]
    assert "flow.txt: 1 further flow. The first line says 3 flows, and HPCC reads only these." in found["left_out"]
    assert found["flows"] == 3


def test_priority_groups_are_classes_of_the_flows_that_are_written(tmp_path: Path) -> None:
    paths = hpcc(tmp_path)
    first, second, *rest = FLOWS.splitlines()
    source, receiver, _, *fields = second.split()
    paths[1].write_text("\n".join([first, " ".join([source, receiver, "2", *fields]), *rest]) + "\n")
    found = sf.import_files(paths, out=tmp_path / "made")
    assert "flow.txt (hpcc-flows): Priority groups are classes: pg2, pg3." in found.summary["notes"]
    written = pl.read_csv(tmp_path / "made" / "flows.csv", comment_prefix="#")
    assert written["class"].to_list() == ["pg2", "pg3", "pg3", "pg3"]
    assert "afct_pg2_s" in sf.run(found.scenario, "dctcp").metrics


def test_flows_come_back_from_an_export(tmp_path: Path) -> None:
    """After import, run, export and second import, sizes, starts and ends are those of the first file."""
    first = sf.import_files(hpcc(tmp_path), out=tmp_path / "first")
    run = sf.run(first.scenario, "dctcp")
    listed = [(0.0, 0, 2, 1460), (2e-5, 1, 3, 14600), (1e-4, 3, 0, 1460), (2e-4, 0, 1, 1460)]
    assert flows_of(tmp_path / "first") == listed
    assert run.flows.sort("start_s").select("start_s", "size_bytes").rows() == [(row[0], row[3]) for row in listed]
    run.save(tmp_path / "run")
    sf.export(tmp_path / "run", "csv", tmp_path / "out")
    (table,) = (path for path in (tmp_path / "out").iterdir() if path.name.startswith("flows"))
    sf.import_files([tmp_path / "topology.txt", table], out=tmp_path / "second")
    assert [row[:4] for row in flows_of(tmp_path / "second")] == listed


def test_schemes_of_a_file_run_as_they_are_written(tmp_path: Path) -> None:
    paths = hpcc(tmp_path)
    config = tmp_path / "config.txt"
    config.write_text("ENABLE_QCN 1\nCC_MODE 1\nEWMA_GAIN 0.0625\nRATE_AI 50Mb/s\nPACKET_PAYLOAD_SIZE 1000\n")
    found = sf.import_files([*paths, config], out=tmp_path / "made")
    (reference,) = found.schemes
    assert reference == f"{tmp_path}/made/schemes.toml:dcqcn-imported"
    (text,) = found.summary["schemes"]
    assert sf.run(found.scenario, reference).digest == sf.run(found.scenario, text).digest
    config.write_text(config.read_text().replace("50Mb/s", "fast"))
    with pytest.raises(ConfigError, match=r"config\.txt:4: RATE_AI: .fast.; expected a rate"):
        sf.import_files([*paths, config], out=tmp_path / "again")


def test_what_a_topology_of_htsim_leaves_out_is_said(tmp_path: Path) -> None:
    tier = "Downlink_Latency_ns 1000\nRadix_Down 4\n"
    (tmp_path / "a.topo").write_text(
        f"Nodes 16\nTiers 2\nTier 0\n{tier}Radix_Up 2\nTier 1\nDownlink_speed_Gbps 50\n{tier}"
    )
    notes = "\n".join(sf.import_files(tmp_path / "a.topo", out=tmp_path / "made").summary["notes"])
    assert "Tier 0 has no Downlink_speed_Gbps; the import assumes 100." in notes
    assert "Tier 1" not in notes


def test_maps_of_hpcc_have_the_same_rates(tmp_path: Path) -> None:
    """Otherwise, a rate without an entry would get a maximum threshold that is a multiple of the minimum."""
    text = "CC_MODE 1\nKMIN_MAP 2 25000000000 100 100000000000 400\nKMAX_MAP 1 100000000000 1600\n"
    (tmp_path / "config.txt").write_text(text)
    with pytest.raises(
        sf.ConfigError, match=r"config.txt:3: KMAX_MAP: .*expected a pair for 25000000000 bit/s, as in another map"
    ):
        sf.import_files(tmp_path / "config.txt", out=tmp_path / "made")
