"""Shared by several figures: the benchmark's tables, a dumbbell of long flows, and trends over a grid."""

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

from shortflow import lab

PAYLOAD_SHARE = 1460 / 1500
"""Payload share of a link."""

LINK_BPS = 1e9
AFCT, GOODPUT = "afct_short_s", "goodput_long_bps"
NEAR_BOTH = "a larger w_min comes near both the gain and its cost"
"""Reason for the differences of Figs. 4 and 5."""
LOAD = "load of short flows (share of the link)"


def shipped(name: str) -> dict[str, Any]:
    """Tables of a shipped scenario, for variants."""
    text = resources.files("shortflow").joinpath("scenarios", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


# Hosts' links are ten times as fast as the bottleneck, so a single flow queues in the switch too.
LONG_FLOWS: Mapping[str, Any] = {
    "title": "Long flows over a 1 Gbps bottleneck, 300 us",
    "duration": "10s",
    "warmup": "1s",
    "parameters": {"flows": 2},
    "topology": {"kind": "dumbbell", "pairs": 80, "rate": "10Gbps", "bottleneck": "1Gbps", "rtt": "300us"},
    "switch": {"buffer": "250pkt", "mark_above": "20pkt"},
    "tcp": {"rto_min": "10ms"},
    "traffic": [{"kind": "long-lived", "flows": "$flows", "from": "0-79", "to": 80}],
    "measure": {"ports": ["s0->s1"], "sample_every": "1ms"},
}


def means(data: lab.Data, scheme: str, metric: str, key: str) -> list[float]:
    """A metric at every value of a grid's only key."""
    return [data.mean(scheme, metric, **{key: value}).value for value in data.values(key)]


def over_trend(x: Sequence[float], y: Sequence[float], fitted: int) -> list[float]:
    """Ratio of each value to the straight line through the first `fitted` points."""
    slope, start = np.polyfit(np.asarray(x[:fitted]), np.asarray(y[:fitted]), 1)
    return [value / float(start + slope * at) for at, value in zip(x, y, strict=True)]
