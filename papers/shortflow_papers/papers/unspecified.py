"""Choices shared by several papers, and the defaults of ns-2, which four of them name.

The values are those of ns-2.35, `tcl/lib/ns-default.tcl`, and of the DCTCP authors' code for it: `tcp/tcp-full.cc`, and
its sample script, which runs `FullTcp/Sack` with packets of 1460 bytes and a `window_` of 1256. All four papers run
this DCTCP as a baseline.
"""

import csv
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from shortflow.api.scenarios import Settings
from shortflow_papers import lab

NS2: Settings = {"tcp.handshake": "true", "tcp.clock_granularity": "10ms", "host.buffer": "50pkt"}
"""`syn_` is true, `tcpTick_` 0.01 s, and `limit_` of every queue 50, those of hosts included."""

INITIAL_ALPHA = lab.Choice(
    "congestion estimate of a new connection",
    {"0": {"transport.initial_alpha": 0}, "1": {"transport.initial_alpha": 1}},
)
INITIAL_WINDOW = lab.Choice(
    "segments that a new connection may send at once",
    {str(segments): {"tcp.initial_window": segments} for segments in (2, 3, 4, 10)},
)
HANDSHAKE = lab.Choice(
    "SYN and SYN-ACK at the start of a connection", {"off": {"tcp.handshake": "false"}, "on": {"tcp.handshake": "true"}}
)
MARKED_ACKS = lab.Choice(
    "ACKs with a mark that may open the window: none, all but those that shrink it, all but the first of a run",
    {rule: {"tcp.grow_on_marked_acks": rule} for rule in ("no", "yes", "ns-2")},
)
HOST_QUEUE = lab.Choice(
    "buffer of a host's own port: ns-2's `limit_`, that of the sample script, or none",
    {size: {"host.buffer": size} for size in ("50pkt", "1000pkt", "unlimited")},
)
RECOVERY = lab.Choice(
    "loss recovery of all schemes", {each: {"transport.recovery": each} for each in ("newreno", "sack")}
)
RTO_CLOCK = lab.Choice(
    "tick of the retransmission clock",
    {"continuous": {"tcp.clock_granularity": "0ps"}, "10ms": {"tcp.clock_granularity": "10ms"}},
)


WITHIN = 1.2
"""Largest factor between ours and a printed number of the baselines of a set-up near them."""
NEAREST = 5
"""Set-ups that are taken if none is near."""


def near(file: Path) -> list[Mapping[str, str]]:
    """Set-ups of a fit's list that are within 20 % of every printed number of the baselines, or else the nearest."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [*csv.DictReader(lines)]
    found = [row for row in rows if float(row["largest factor"]) <= WITHIN] or rows[:NEAREST]
    return [dict(pair.split("=", 1) for pair in row["choices"].split("+")) for row in found]


def drawn(of: Sequence[Mapping[str, str]], most: int = 12, seed: int = 1) -> list[Mapping[str, str]]:
    """The first set-up, which is the nearest, and others drawn by the seed, in the order of the list."""
    places = random.Random(seed).sample(range(1, len(of)), min(most, len(of)) - 1)
    return [of[place] for place in sorted([0, *places])]


def taking(value: str, choice: lab.Choice) -> lab.Choice:
    """The choice with this value first, as the recipes take it."""
    return replace(choice, values={value: choice.values[value], **choice.values})
