"""NDP as users meet it: its paths, its buffers, and the notes on values of the scenario that it replaces."""

from pathlib import Path

import pytest

import shortflow as sf
from conftest import Command

SPINES = """
title = "four flows over two spines"
duration = "2ms"
drain = "20ms"
switch = { buffer = "100pkt", mark_above = "20pkt" }
traffic = [{ kind = "incast", flows = 4, from = "0-3", to = 4, sizes = { kind = "fixed", value = "200KB" } }]

[topology]
kind = "leaf-spine"
racks = 2
hosts_per_rack = 4
spines = 2
rate = "10Gbps"
uplink_rate = "10Gbps"
rtt = "16us"
"""
REPLACED = (
    "switch.buffer: ndp sets unlimited in place of 100pkt, the scenario's value; --set switch.buffer=100pkt keeps it"
)


@pytest.fixture
def spines(tmp_path: Path) -> Path:
    path = tmp_path / "spines.toml"
    path.write_text(SPINES)
    return path


def routing(path: Path, scheme: str, **settings: str) -> str:
    """Routing of a run, under the scheme's own values."""
    result = sf.run(sf.load(path).with_(settings), scheme)
    rows = [*result.provenance["scenario_settings"], *result.provenance["scheme_settings"]]
    return [row["value"] for row in rows if row["key"] == "routing.kind"][-1]


def test_packets_are_sprayed_unless_the_user_states_a_routing(spines: Path) -> None:
    assert routing(spines, "ndp") == "spray"
    assert routing(spines, "ndp over trim") == "flow-hash"
    assert routing(spines, "ndp+routing.kind=destination") == "destination"
    assert routing(spines, "ndp", **{"routing.kind": "flow-hash"}) == "flow-hash"
    spines.write_text(SPINES + '\n[routing]\nkind = "flowlet"\ngap = "50us"\n')
    assert routing(spines, "ndp") == "flowlet"


def test_a_note_names_the_buffer_that_the_scheme_replaces(spines: Path, shortflow: Command) -> None:
    assert REPLACED in shortflow("run", str(spines), "--scheme", "ndp").stderr
    for scheme, setting in [("ndp", "switch.buffer=100pkt"), ("ndp over trim", ""), ("dctcp", "")]:
        given = ("--set", setting) if setting else ()
        assert "in place of" not in shortflow("run", str(spines), "--scheme", scheme, *given).stderr


def test_only_queues_that_trim_have_trims(spines: Path) -> None:
    scenario = sf.load(spines)
    trimming, marking = (sf.run(scenario, scheme).metrics for scheme in ("ndp", "dctcp"))
    assert trimming["trims"] > 0
    assert {"trims", "trims_in_run"} <= trimming.keys()
    assert not {"trims", "trims_in_run"} & marking.keys()


def test_a_host_does_not_trim_its_own_packets(spines: Path, shortflow: Command) -> None:
    refused = shortflow("run", str(spines), "--scheme", "ndp", "--set", "host.queue=trim", code=2).stderr
    assert 'host.queue: "trim" is not one of droptail' in refused
