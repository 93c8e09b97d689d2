"""What several of the papers leave unspecified."""

from shortflow.lab.choices import Choice

INITIAL_ALPHA = Choice(
    "congestion estimate of a new connection",
    {"0": {"transport.initial_alpha": 0}, "1": {"transport.initial_alpha": 1}},
)
INITIAL_WINDOW = Choice(
    "segments that a new connection may send at once",
    {"2": {"tcp.initial_window": 2}, "10": {"tcp.initial_window": 10}},
)
HANDSHAKE = Choice(
    "whether a connection begins with SYN and SYN-ACK",
    {"off": {"tcp.handshake": "false"}, "on": {"tcp.handshake": "true"}},
)
MARKED_ACKS = Choice(
    "whether an ACK that echoes a mark may open the window",
    {"no": {"tcp.grow_on_marked_acks": "false"}, "yes": {"tcp.grow_on_marked_acks": "true"}},
)
RTO_CLOCK = Choice(
    "tick of the retransmission clock",
    {"continuous": {"tcp.clock_granularity": "0ps"}, "10ms": {"tcp.clock_granularity": "10ms"}},
)
