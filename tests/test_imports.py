"""Files of other tools as scenarios: numbers worked out by hand, and errors that name a place."""

import re
import tomllib
from pathlib import Path

import pytest

import shortflow as sf
from conftest import Command
from shortflow.errors import ConfigError, ExitCode
from shortflow.imports.formats import FORMATS

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
    # A packet of 1,500 bytes takes 120 ns at 100 Gbps and 480 ns at 25 Gbps, an ACK of 40 bytes 3.2 and 12.8 ns. A flow
    # ends with the arrival of its last ACK: four links of 1 us each way, three of them at 100 Gbps.
    far = 2 * 4e-6 + 3 * (120e-9 + 3.2e-9) + 480e-9 + 12.8e-9
    near = 2 * 2e-6 + 2 * (120e-9 + 3.2e-9)
    assert flows["fct_s"].to_list() == pytest.approx([far, far + 9 * 480e-9, far, near], rel=1e-6)


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
        ("flow.txt", "4\n", "9\n", "number of rows"),
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


def test_a_file_of_no_format_hears_of_all(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "novel.txt").write_text("It was a dark and stormy night.\n")
    said = shortflow("import", "novel.txt", "--out", "made", code=ExitCode.WRONG_INPUT).stderr
    assert all(f"{each.name}: {each.begins}" in said for each in FORMATS)
    assert [each["name"] for each in shortflow("list", "formats", "--json").document] == [each.name for each in FORMATS]
