"""User-defined size bins, from the command to the page."""

from pathlib import Path

import polars as pl
import pytest

import shortflow as sf
from conftest import Command

SIZES = ["≤ 5 KB", "5–20 KB", "> 20 KB"]


def test_own_size_bins_reach_metrics_answer_charts_and_page(shortflow: Command, scenario: str, tmp_path: Path) -> None:
    runs = ("compare", scenario, "--schemes", "tcp,dctcp", "--seeds", "2", "--no-ideal", "--out", "kept")
    found = shortflow(*runs, "--bins", "5KB,20KB", "--json").document
    assert found["bins"] == [5_000, 20_000]
    flows = pl.concat(pl.read_parquet(file) for file in tmp_path.glob("kept/runs/small-tcp-*/flows.parquet"))
    between = flows.filter(pl.col("start_s") >= 0.01, pl.col("size_bytes") > 5_000, pl.col("size_bytes") <= 20_000)
    assert found["schemes"]["tcp"]["metrics"]["flows_20kb"]["mean"] == between["fct_s"].count() / 2
    headlines = ["slowdown_p99_upto_5kb", "afct_upto_5kb_s", "flow_goodput_over_20kb_bps"]
    assert [line["metric"] for line in found["answer"]["lines"]] == headlines

    shown = shortflow("report", "kept", "--bins", "5KB,20KB", "--json").document["studies"][0]
    assert shown["answer"] == found["answer"]
    charts = {chart["name"]: chart["spec"]["data"]["values"] for chart in shown["plots"]}
    assert list(dict.fromkeys(row["sizes"] for row in charts["slowdown-by-size"])) == SIZES
    assert {row["metric"] for row in charts["ranking"]} == {*headlines}
    assert shortflow("report", "kept", "--bins", "5KB,20KB").code == 0
    page = (tmp_path / "kept" / "report.html").read_text(encoding="utf-8")
    assert (
        "Size bins are ≤ 5 KB, 5–20 KB, &gt; 20 KB. "
        "Short flows have sizes up to 5 KB, and long flows have sizes above 20 KB." in page
    )

    usual = sf.read_store("kept").comparisons()[0]
    assert usual.document()["bins"] == [10_000, 100_000, 1_000_000], "a store keeps what was measured by the usual bins"
    own = usual.with_bins([5_000, "20KB"])
    assert own.document()["answer"] == found["answer"]
    own.save("again")
    assert sf.read_store("again").comparisons()[0].document() == usual.document()


@pytest.mark.parametrize(("given", "wrong"), [("5KB,x", "x"), ("20KB,5KB", "5KB"), ("5ms", "5ms"), ("", "no size")])
def test_what_are_no_bins_is_refused_with_key_value_and_expectation(shortflow: Command, given: str, wrong: str) -> None:
    refused = shortflow("compare", "incast", "--schemes", "tcp", "--bins", given, code=2)
    assert refused.stderr == f"shortflow: --bins {given}: {wrong}: expected ascending sizes, such as 10KB,100KB,1MB\n"


def test_own_bins_need_the_tables_of_flows(shortflow: Command, scenario: str) -> None:
    shortflow("sweep", scenario, "--schemes", "tcp", "--grid", "load=0.2,0.4", "--seeds", "1", "--out", "kept")
    refused = shortflow("report", "kept", "--bins", "5KB")
    assert "--bins: the tables of tcp were not stored; `sweep --tables` stores them" in refused.stderr
