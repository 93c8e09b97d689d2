"""Defaults against published numbers: RFC 6928, RFC 8257 and Linux, and DCTCP's Figs. 17 and 21 without a setting."""

from typing import Any

import pytest

import shortflow
from shortflow._core import Scheme, registry

QUEUE_BUILDUP: dict[str, Any] = {
    "title": "DCTCP, Fig. 21: 20 KB, again and again, beside two long flows to one receiver",
    "duration": "1s",
    "warmup": "200ms",
    "topology": {"kind": "star", "hosts": 4, "rate": "1Gbps", "rtt": "100us"},
    "switch": {"buffer": "250pkt", "mark_above": "20pkt"},
    "tcp": {"rto_min": "10ms"},
    "traffic": [
        {"kind": "long-lived", "flows": 2, "from": "0-1", "to": 3},
        {
            "kind": "incast",
            "class": "short",
            "flows": 1,
            "from": 2,
            "to": 3,
            "at": "200ms",
            "every": "20ms",
            "repeat": 40,
            "jitter": "1ms",
            "sizes": {"kind": "fixed", "value": "20KB"},
        },
    ],
}


def test_every_tcp_begins_with_ten_segments() -> None:
    """All schemes have the initial window of RFC 6928, including baselines."""
    resolved = {key: value for key, value, _ in shortflow.load(QUEUE_BUILDUP).core.resolved(None)}
    assert resolved["tcp.initial_window"] == "10"


def test_every_law_begins_with_alpha_1_and_keeps_two_segments() -> None:
    """The values are those of RFC 8257 and Linux. FaST is an exception: its window may fall below one segment."""
    alphas, floors = {}, {}
    for name in (entry["name"] for entry in registry()["schemes"]):
        values = {key: value for key, value, _ in Scheme.parse(name, []).resolved()}
        alphas[name], floors[name] = (values.get(f"transport.{key}") for key in ("initial_alpha", "cwnd_floor"))
    assert {*alphas.values()} == {None, "1"}
    assert {*floors.values()} == {None, "2"}
    assert {"dctcp", "d2tcp", "l2dct", "xdctcp", "atcp", "pecn", "fast"} <= {name for name in alphas if alphas[name]}
    assert floors["fast"] is None


def test_short_transfers_beside_long_flows_take_less_than_a_millisecond() -> None:
    """DCTCP, Fig. 21: transfers take less than 1 ms. An initial window of 2 needs about four more round trips."""
    now = shortflow.run(QUEUE_BUILDUP, "dctcp").metrics["afct_short_s"]
    assert now < 1e-3
    before = shortflow.run(QUEUE_BUILDUP, "dctcp", settings={"tcp.initial_window": 2}).metrics["afct_short_s"]
    assert before > 1.8e-3


def test_flows_over_two_bottlenecks_get_their_published_shares() -> None:
    """DCTCP, Fig. 17: 46, 54 and 475 Mbps. With a smallest window of one segment, S1 has 31 and S3 67 Mbps."""
    found = shortflow.run("dctcp-multi-hop", "dctcp", settings={"duration": "1s"}).metrics
    for group, bps in (("s1", 46e6), ("s3", 54e6), ("s2", 475e6)):
        assert found[f"flow_goodput_{group}_bps"] == pytest.approx(bps, rel=0.1), group
