"""Code that several figures share: tables of the benchmark and of a bottleneck, their studies, and trends."""

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

from shortflow.api.scenarios import Settings
from shortflow_papers import lab
from shortflow_papers.lab.study import Value
from shortflow_papers.papers.common import ns_study
from shortflow_papers.papers.unspecified import NS2

PAYLOAD_SHARE = 1460 / 1500
"""Share of payload in a full-size packet."""

LINK_BPS = 1e9
AFCT, GOODPUT = "afct_short_s", "goodput_long_bps"
NEAR_BOTH = "a larger w_min comes near both the gain and its cost"
"""Reason for the differences of Figs. 4 and 5."""
LOAD = "load of short flows (share of the link)"
SCHEMES = ("tcp", "dctcp", "l2dct")
TCP = {"rto_min": "10ms", "initial_window": 2, "handshake": True, "clock_granularity": "10ms"}
"""`rto_min` is the paper's value. The other values are defaults of ns-2."""
PORTS: dict[str, Any] = {
    "switch": {"buffer": "250pkt", "mark_above": "20pkt"},
    "host": {"buffer": "50pkt"},
    "tcp": TCP,
}


def shipped(name: str) -> dict[str, Any]:
    """Tables of a shipped scenario, for recipes that change some of them."""
    text = resources.files("shortflow").joinpath("scenarios", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def bottleneck(title: str, pairs: int, traffic: Sequence[Mapping[str, object]], **more: object) -> dict[str, Any]:
    """Tables of a scenario with pairs of hosts over a bottleneck of 1 Gbps, with an RTT of 300 us.

    Host links have 10 Gbps, so that even a single flow queues in the switch and not at its host.
    """
    link = {"kind": "dumbbell", "pairs": pairs, "rate": "10Gbps", "bottleneck": "1Gbps", "rtt": "300us"}
    return {"title": title, "topology": link, **PORTS, "traffic": traffic, **more}


LONG_FLOWS = bottleneck(
    "Long flows over a 1 Gbps bottleneck, 300 us",
    80,
    [{"kind": "long-lived", "flows": "$flows", "from": "0-79", "to": 80}],
    duration="10s",
    warmup="1s",
    parameters={"flows": 2},
    measure={"ports": ["s0->s1"], "sample_every": "1ms"},
)


def benchmark(
    schemes: Sequence[str],
    over: Mapping[str, Sequence[Value]],
    settings: Settings | None = None,
    coarse: Sequence[Value] | None = None,
    scenario: str = "l2dct-benchmark",
) -> lab.Study:
    """Study of the benchmark. At the quick scale, it takes one simulated second and has the loads `coarse`."""
    quick: dict[str, object] = {"duration": "1s", **({"load": coarse} if coarse else {})}
    return ns_study(scenario, schemes, over, {**NS2, **(settings or {})}, quick=quick)


def over_trend(x: Sequence[float], y: Sequence[float], fitted: int) -> list[float]:
    """Ratio of each value to a straight line that is fitted to the first `fitted` points."""
    slope, start = np.polyfit(np.asarray(x[:fitted]), np.asarray(y[:fitted]), 1)
    return [value / float(start + slope * at) for at, value in zip(x, y, strict=True)]
