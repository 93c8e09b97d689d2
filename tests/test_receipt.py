"""Times until receipt, compared with completion times, which last until the last ACK."""

from pathlib import Path

import polars as pl
import pytest
import tomli_w

import shortflow as sf
from conftest import Command
from made import star

RTT_S, ACK_S = 100e-6, 2 * 40 * 8 / 1e9
"""Round-trip propagation delay, and transmission of an ACK on two links, in seconds."""


def test_on_an_empty_star_receipt_is_the_last_ack_s_way_earlier(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("start,source,destination,bytes\n1ms,0,2,30000\n", encoding="utf-8")
    (tmp_path / "one.toml").write_text(tomli_w.dumps(star([{"kind": "trace", "file": "flows.csv"}], 3)))
    found = shortflow("run", "one.toml", "--scheme", "dctcp", "--out", "kept", "--json").document
    (flow,) = pl.read_parquet(tmp_path / "kept" / "flows.parquet").to_dicts()
    assert flow["received_s"] == pytest.approx(flow["finish_s"] - RTT_S / 2 - ACK_S)
    (scheme,) = found["schemes"].values()
    (name,) = (name for name in scheme["metrics"] if name.startswith("receipt_p50_") and "kb" not in name)
    assert scheme["metrics"][name]["mean"] == pytest.approx(flow["received_s"] - flow["start_s"])


def test_receipts_are_those_of_the_flows_on_any_number_of_cores() -> None:
    settings = {"duration": "30ms", "warmup": "5ms", "drain": "5ms"}
    one, two = (sf.run("leaf-spine-websearch", "dctcp", settings=settings, cores=cores) for cores in (1, 2))
    assert one.flows["received_s"].equals(two.flows["received_s"])
    assert one.digest == two.digest
    flows = one.flows.filter(pl.col("start_s") >= 5e-3)
    assert 0 < flows["received_s"].null_count() <= flows["finish_s"].null_count()
    assert (flows["received_s"] < flows["finish_s"]).all()
    ages = flows["received_s"].fill_null(one.meta["end_s"]) - flows["start_s"]
    (name,) = (name for name in one.metrics if name.startswith("receipt_p100_") and "b_s" not in name)
    assert one.metrics[name] == pytest.approx(ages.to_numpy().max())
    assert name in one.lower_bounds


def test_an_ideal_scheduler_has_no_receipts() -> None:
    found = sf.run("incast", "ideal-srpt", settings={"servers": "5"})
    assert found.metrics["afct_short_s"] > 0
    assert not [name for name in found.metrics if "receipt" in name]
