"""Measured flows have a row and a curve next to those of runs, and an error names the place of a fault in a file."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shortflow as sf
from conftest import Command
from shortflow.errors import ExitCode
from shortflow.measured import MEASURED, read_measured
from shortflow.scenario import Settings

SHORT: Settings = {"duration": "300ms", "load": 0.2}


@pytest.fixture(scope="module")
def run() -> sf.Result:
    return sf.run("l2dct-benchmark", "tcp", seed=9, settings=SHORT)


@pytest.fixture
def own(run: sf.Result, tmp_path: Path) -> Path:
    """File with the short flows of another seed, in place of measured flows."""
    columns = ("start_s", "size_bytes", "fct_s")
    counted = run.flows.filter(pl.col("class") == "short", pl.col("start_s") >= run.meta["warmup_s"])
    inside = counted.filter(pl.col("size_bytes").is_between(5_000, 90_000))
    inside.select(columns).write_csv(tmp_path / "own.csv")
    inside.select(columns).write_parquet(tmp_path / "own.parquet")
    return tmp_path / "own.csv"


def test_its_numbers_are_those_of_a_run_with_these_flows(run: sf.Result, own: Path) -> None:
    found = sf.compare("l2dct-benchmark", "dctcp", 2, settings=SHORT, ideal=False, measured=own)
    stored = sf.compare(
        "l2dct-benchmark", "dctcp", 2, settings=SHORT, ideal=False, measured=own, out=own.parent / "kept"
    )
    assert stored.document() == found.document()
    flows = run.flows.join(pl.read_csv(own), on=["size_bytes", "fct_s"], how="semi")
    mean = found.estimate(MEASURED, "afct_short_s")
    slowdown = found.estimate(MEASURED, "slowdown_short")
    assert mean
    assert slowdown
    assert mean.value == pytest.approx(flows["fct_s"].mean())
    assert slowdown.value == pytest.approx(flows["slowdown"].mean(), rel=0.01)
    assert mean.ci95 is None
    assert found.difference("dctcp", "dctcp", "afct_short_s")
    assert found.difference(MEASURED, "dctcp", "afct_short_s") is None


def test_csv_parquet_and_frames_are_the_same(own: Path) -> None:
    frame = pl.read_csv(own)
    of_all = [read_measured(each, ["short"]) for each in (own, own.with_suffix(".parquet"), frame, frame.to_pandas())]
    assert all(each.flows.equals(of_all[0].flows) for each in of_all)


def test_its_numbers_stand_apart_in_the_document(own: Path, shortflow: Command) -> None:
    command = ("compare", "l2dct-benchmark", "--schemes", "tcp,dctcp", "--seeds", "2", "--no-ideal")
    settings = ("--measured", str(own), "--set", "duration=300ms", "--set", "load=0.2")
    document = shortflow(*command, *settings, "--json").document
    assert document["measured"]["flows"] == pl.read_csv(own).height
    assert document["measured"]["metrics"]["afct_short_s"]["ci95"] is None
    assert MEASURED not in document["paired"]["tcp"]


def test_it_is_a_curve_of_the_report(own: Path, shortflow: Command, tmp_path: Path) -> None:
    settings = ("--set", "duration=300ms")
    for load in ("0.2", "0.4"):
        given = ("compare", "l2dct-benchmark", "--schemes", "dctcp", "--seeds", "1", "--no-ideal", *settings)
        assert shortflow(*given, "--set", f"load={load}", "--out", "kept").code == ExitCode.FINE
    numbers = shortflow("report", "kept", "--measured", str(own), "--json").document
    (distribution,) = (plot for plot in numbers["studies"][0]["plots"] if plot["name"] == "distribution")
    rows = [row for row in distribution["spec"]["data"]["values"] if row["scheme"] == MEASURED]
    assert {row["at"] for row in rows} == {"0.2", "0.4"}
    assert len(rows) > 10
    by_size = next(plot for plot in numbers["studies"][0]["plots"] if plot["name"] == "slowdown-by-size")
    assert MEASURED in {row["scheme"] for row in by_size["spec"]["data"]["values"]}
    assert shortflow("report", "kept", "--measured", str(own)).code == ExitCode.FINE
    page = (tmp_path / "kept" / "report.html").read_text(encoding="utf-8")
    assert "warm-up included. Measured flows have no seeds" in page
    missing = shortflow("report", "kept", "--measured", "none.csv")
    assert (missing.code, missing.stderr) == (
        ExitCode.WRONG_INPUT,
        "shortflow: none.csv: cannot be read: there is no such file\n",
    )


def test_where_sizes_are_beyond_those_of_runs_there_is_no_slowdown_of_all(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("start_s,size_bytes,fct_s\n0,50000,0.002\n1,90000000,2\n")
    found = sf.compare("l2dct-benchmark", "dctcp", 1, settings=SHORT, ideal=False, measured=tmp_path / "own.csv")
    assert found.estimate(MEASURED, "afct_short_s")
    assert found.estimate(MEASURED, "slowdown_short") is None
    assert found.measured
    assert "known for only 1 of these flows" in found.measured.note
    assert MEASURED not in {row["scheme"] for row in found.plot.by_size().rows}


def test_where_ways_differ_in_length_there_is_no_slowdown(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("start_s,size_bytes,fct_s\n0,5000,0.002\n")
    flows = pl.DataFrame({"size_bytes": [1000, 5000, 5000, 9000], "ideal_fct_s": [1e-4, 2e-4, 3e-4, 4e-4]})
    found = read_measured(tmp_path / "own.csv", ["short"])
    assert found.in_network([flows]).flows["slowdown"].null_count() == 1
    assert found.in_network([flows.unique("size_bytes", keep="first")]).flows["slowdown"].null_count() == 0


HEAD = "start_s,size_bytes,fct_s"
WRONG = [
    (f"{HEAD}\n0,100,0.1\n1,200,-0.3\n", 'line 3, column fct_s: "-0.3"; expected a time above zero in seconds'),
    (f"{HEAD}\n-1,100,0.1\n", 'line 2, column start_s: "-1"; expected a time of zero or more in seconds'),
    (f"{HEAD}\n0,1.5,0.1\n", 'line 2, column size_bytes: "1.5"; expected a whole number of bytes above zero'),
    (f"{HEAD}\n0,0,0.1\n", 'line 2, column size_bytes: "0"; expected a whole number of bytes above zero'),
    (f"{HEAD}\n0,big,0.1\n", 'line 2, column size_bytes: "big"; expected a whole number of bytes above zero'),
    (f"{HEAD}\n0,100,0.1\n0,100,\n", "line 3, column fct_s: is empty; expected a time above zero in seconds"),
    (f"{HEAD}\n0,100,nan\n", 'line 2, column fct_s: "nan"; expected a time above zero in seconds'),
    (f"{HEAD}\n", "has no rows"),
    ("start_s,size,fct_s\n0,1,1\n", "has no column size_bytes; expected start_s, size_bytes, fct_s and optionally"),
    (f"{HEAD},clas\n0,1,1,short\n", 'column 4: unknown; did you mean "class"?'),
    (f"{HEAD},class\n0,1,1,shrt\n", 'line 2, column class: "shrt"; expected a class of the scenario: long, short'),
    (f"{HEAD}\n0,1,1,1\n", "is no csv table; expected start_s"),
    ("", "is no csv table; expected start_s"),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_what_is_wrong_with_a_file_is_said_with_its_place(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(text)
    with pytest.raises(sf.ConfigError) as error:
        sf.compare("l2dct-benchmark", "dctcp", measured=path)
    assert str(error.value).startswith(f"{path}: {said}")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "measured: expected a file or a data frame, not int"),
        ("own.txt", "own.txt: cannot be read: there is no such file"),
        (pl.DataFrame({"start_s": [0.0], "size_bytes": [1], "fct_s": [True]}), "column fct_s: is of type Boolean"),
        (pl.DataFrame({"start_s": [0.0], "size_bytes": [1], "fct_s": [-1.0]}), "row 1, column fct_s: -1.0; expected"),
    ],
)
def test_what_is_wrong_with_a_frame_is_said(given: Any, said: str) -> None:
    with pytest.raises(sf.ConfigError) as error:
        read_measured(given, ["short"])
    assert said in str(error.value)


def test_without_a_column_the_class_must_be_plain(own: Path) -> None:
    assert read_measured(own, ["web"]).flows["class"].unique().to_list() == ["web"]
    with pytest.raises(sf.ConfigError, match="has no column class; expected one of web, query for each"):
        read_measured(own, ["web", "query"])


def test_flows_faster_than_the_empty_network_are_named(run: sf.Result, own: Path) -> None:
    flows = pl.read_csv(own).with_columns(fct_s=pl.col("fct_s").clip(lower_bound=10.0))
    fast = flows.with_columns(fct_s=pl.when(pl.int_range(pl.len()) == 3).then(9e-6).otherwise("fct_s"))
    notes = [read_measured(each, ["short"]).in_network([run.flows]).note for each in (flows, fast)]
    assert "took less time" not in notes[0]
    assert "1 flow took less time than the scenario's empty network needs" in notes[1]
    assert f"{fast['size_bytes'][3]:,} B in 9 µs instead of" in notes[1]
