"""Choices that several papers share, and the defaults of ns-2, which four of the papers name as their simulator.

The values are from `tcl/lib/ns-default.tcl` of ns-2.35, and from the DCTCP authors' code for ns-2: `tcp/tcp-full.cc`
and its sample script, which runs `FullTcp/Sack` with packets of 1460 bytes and a `window_` of 1256. All four papers run
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
"""In ns-2, `syn_` is true, `tcpTick_` is 0.01 s, and `limit_` of every queue, also of hosts, is 50 packets."""

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
"""Maximum factor between our and a printed number of the baselines, in a set-up that counts as near."""
NEAREST = 5
"""Number of set-ups that are taken if no set-up is near."""


def near(file: Path) -> list[Mapping[str, str]]:
    """Set-ups in the file of a fit that are near every printed number of the baselines.

    If no set-up is near, the `NEAREST` first ones are taken. Each set-up has the value of each choice.
    """
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [*csv.DictReader(lines)]
    found = [row for row in rows if float(row["largest factor"]) <= WITHIN] or rows[:NEAREST]
    return [dict(pair.split("=", 1) for pair in row["choices"].split("+")) for row in found]


def drawn(of: Sequence[Mapping[str, str]], most: int = 12, seed: int = 1) -> list[Mapping[str, str]]:
    """At most `most` set-ups: the first one, which is the nearest, and others drawn by the seed, in order."""
    places = random.Random(seed).sample(range(1, len(of)), min(most, len(of)) - 1)
    return [of[place] for place in sorted([0, *places])]


def taking(value: str, choice: lab.Choice) -> lab.Choice:
    """The choice with this value first, so that recipes take it."""
    return replace(choice, values={value: choice.values[value], **choice.values})
