"""Choices shared by several papers, and the defaults of ns-2, which four of them name.

The values are those of ns-2.35, `tcl/lib/ns-default.tcl`, and of the DCTCP authors' code for it: `tcp/tcp-full.cc`, and
its sample script, which runs `FullTcp/Sack` with packets of 1460 bytes and a `window_` of 1256. All four papers run
this DCTCP as a baseline.
"""

from dataclasses import replace

from shortflow import lab
from shortflow.scenario import Settings

NS2: Settings = {"tcp.handshake": "true", "tcp.clock_granularity": "10ms"}
"""`syn_` is true, and `tcpTick_` 0.01 s."""

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
RECOVERY = lab.Choice(
    "loss recovery of all schemes", {each: {"transport.recovery": each} for each in ("newreno", "sack")}
)
RTO_CLOCK = lab.Choice(
    "tick of the retransmission clock",
    {"continuous": {"tcp.clock_granularity": "0ps"}, "10ms": {"tcp.clock_granularity": "10ms"}},
)


def taking(value: str, choice: lab.Choice) -> lab.Choice:
    """The choice with this value first, as the recipes take it."""
    return replace(choice, values={value: choice.values[value], **choice.values})
