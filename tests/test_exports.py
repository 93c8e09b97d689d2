"""Exports: HPCC's file of completion times against the flows of a run, and tables as CSV."""

from pathlib import Path

import polars as pl
import pytest

import shortflow as sf
from conftest import Command
from made import star
from shortflow.errors import ExitCode

TRACE = "start,source,destination,bytes\n0,0,2,14600\n0,0,2,1460\n10us,1,2,29200\n"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A store with runs of two schemes on a trace of three flows."""
    (tmp_path / "flows.csv").write_text(TRACE)
    trace = star([{"kind": "trace", "file": "flows.csv"}], 3, title="Three flows", duration="20us")
    sf.compare(sf.load(trace, directory=tmp_path), ["dctcp", "tcp"], 1, ideal=False, out=tmp_path / "kept")
    return tmp_path / "kept"


def flows_of(kept: Path, scheme: str) -> pl.DataFrame:
    return next(run.flows for run in sf.read_store(kept).with_tables.runs if run.scheme == scheme)


def test_fct_txt_has_the_times_of_each_flow(kept: Path, tmp_path: Path) -> None:
    assert not sf.export(kept, "fct.txt", tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        f"fct_scenario_{scheme}_1.txt" for scheme in ("dctcp", "tcp")
    }
    text = (tmp_path / "out" / "fct_scenario_dctcp_1.txt").read_text()
    rows = [line.split() for line in text.splitlines()]
    flows = flows_of(kept, "dctcp").sort("finish_s", "id")
    assert [int(row[4]) for row in rows] == flows["size_bytes"].to_list()
    for place, name in ((5, "start_s"), (6, "fct_s"), (7, "ideal_fct_s")):
        assert [int(row[place]) for row in rows] == [round(1e9 * value) for value in flows[name]]
    ends = {("0b000001", "0b000201"), ("0b000101", "0b000201")}
    assert {(row[0], row[1]) for row in rows} == ends, "11.0.0.1, 11.0.1.1 and 11.0.2.1"
    assert {row[3] for row in rows} == {"100"}
    assert sorted((row[0], row[2]) for row in rows) == [
        ("0b000001", "10000"),
        ("0b000001", "10001"),
        ("0b000101", "10000"),
    ]


def test_tables_are_what_the_store_has(shortflow: Command, kept: Path, tmp_path: Path) -> None:
    said = shortflow("export", str(kept), "--as", "csv", "--out", "out")
    assert "runs.csv" in said.stdout
    runs = pl.read_csv(tmp_path / "out" / "runs.csv")
    assert runs["scheme"].sort().to_list() == ["dctcp", "tcp"]
    flows = pl.read_csv(tmp_path / "out" / "flows_scenario_tcp_1.csv")
    assert flows.sort("id")["fct_s"].to_list() == flows_of(kept, "tcp").sort("id")["fct_s"].to_list()


def test_what_cannot_be_exported_is_said(shortflow: Command, kept: Path) -> None:
    for command, message in (
        (("incast", "--as", "fct.txt"), "--as fct.txt: needs stored results"),
        ((str(kept), "--as", "fct"), '"fct": unknown kind of files; did you mean "fct.txt"?'),
        ((str(kept), "--as", "csv", "--out", str(kept)), "exists; name a new directory"),
    ):
        out = () if "--out" in command else ("--out", "new")
        assert message in shortflow("export", *command, *out, code=ExitCode.WRONG_INPUT).stderr


def test_what_was_imported_goes_out_again(tmp_path: Path) -> None:
    (tmp_path / "flow.txt").write_text("2\n0 2 3 100 14600 2.0\n1 2 3 100 1460 2.00001\n")
    found = sf.import_files(tmp_path / "flow.txt", out=tmp_path / "made")
    sf.run(found.scenario, "dctcp").save(tmp_path / "run")
    sf.export(tmp_path / "run", "fct.txt", tmp_path / "out")
    (path,) = (tmp_path / "out").iterdir()
    rows = sorted(line.split()[:6] for line in path.read_text().splitlines())
    assert [(row[0], row[1], row[4], row[5]) for row in rows] == [
        ("0b000001", "0b000201", "14600", "0"),
        ("0b000101", "0b000201", "1460", "10000"),
    ]
