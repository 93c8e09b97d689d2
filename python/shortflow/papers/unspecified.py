"""What several of the papers leave unspecified."""

from shortflow import lab

INITIAL_ALPHA = lab.Choice(
    "congestion estimate of a new connection",
    {"0": {"transport.initial_alpha": 0}, "1": {"transport.initial_alpha": 1}},
)
INITIAL_WINDOW = lab.Choice(
    "segments that a new connection may send at once",
    {"2": {"tcp.initial_window": 2}, "10": {"tcp.initial_window": 10}},
)
HANDSHAKE = lab.Choice(
    "whether a connection begins with SYN and SYN-ACK",
    {"off": {"tcp.handshake": "false"}, "on": {"tcp.handshake": "true"}},
)
MARKED_ACKS = lab.Choice(
    "whether an ACK that echoes a mark may open the window",
    {"no": {"tcp.grow_on_marked_acks": "false"}, "yes": {"tcp.grow_on_marked_acks": "true"}},
)
RTO_CLOCK = lab.Choice(
    "tick of the retransmission clock",
    {"continuous": {"tcp.clock_granularity": "0ps"}, "10ms": {"tcp.clock_granularity": "10ms"}},
)
