"""Samples take few bytes in memory, and are passed to Python in blocks."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w

import shortflow as sf
from shortflow.metrics.data import BLOCK_ROWS

LONG = {"kind": "long-lived", "flows": 40, "from": "0-39", "to": 40}
SAMPLED: dict[str, Any] = {
    "title": "samples of 41 hosts",
    "duration": "10ms",
    "topology": {
        "kind": "leaf-spine",
        "racks": 2,
        "hosts_per_rack": 21,
        "spines": 1,
        "rate": "10Gbps",
        "uplink_rate": "400Gbps",
        "rtt": "100us",
    },
    "switch": {"buffer": "250pkt", "mark_above": "65pkt"},
    "traffic": [LONG],
}
# Prints the peak memory that samples add to a run on several cores and to writing its tables.
PEAK = """
import json, os, resource, sys
import shortflow as sf
os.sched_getaffinity = lambda _: {0, 1}
def peak(every):
    scenario = sf.load(sys.argv[1]).with_({"measure.sample_every": every})
    run = sf.run(scenario, cores=int(sys.argv[2])).encoded()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, run
without, _ = peak("off")
most, run = peak("2us")
of = run.provenance
print(json.dumps({"bytes": most - without, "rows": len(run.samples), "digest": of["digest"], "cores": of["cores"]}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="resource counts kilobytes on Linux")
def test_samples_take_less_than_100_mb_on_one_core_and_on_two(tmp_path: Path) -> None:
    path = tmp_path / "sampled.toml"
    path.write_text(tomli_w.dumps(SAMPLED))

    def run(cores: int) -> dict[str, Any]:
        command = [sys.executable, "-c", PEAK, str(path), str(cores)]
        found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        return found

    one, two = run(1), run(2)
    assert (one["cores"], two["cores"]) == (1, 2)
    assert one["digest"] == two["digest"]
    assert one["rows"] == two["rows"] > 600_000
    assert one["bytes"] < 100e6
    assert two["bytes"] < 100e6


def test_blocks_are_the_table() -> None:
    run = sf.run({**SAMPLED, "duration": "1ms"}, settings={"measure.sample_every": "2us"})
    blocks = list(run.in_blocks("samples"))
    assert [len(block) for block in blocks[:-1]] == [BLOCK_ROWS] * (len(blocks) - 1)
    assert len(blocks) > 2
    assert pl.concat(blocks).equals(run.samples)
    assert run.encoded().samples.equals(run.samples)
    assert run.samples["time_s"].is_sorted()
    empty = list(sf.run({**SAMPLED, "duration": "1ms"}).in_blocks("samples"))
    assert [block.shape for block in empty] == [(0, run.samples.width)]
