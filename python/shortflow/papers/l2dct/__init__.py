"""L2DCT: A. Munir et al., "Minimizing Flow Completion Times in Data Centers", INFOCOM 2013."""

from shortflow.reproduction.choices import Choice

CHOICES = {
    "initial-alpha": Choice(
        "congestion estimate of a new connection",
        "0",
        {"1": {"transport.initial_alpha": 1}},
    ),
    "initial-window": Choice(
        "segments that a new connection may send at once", "2", {"10": {"tcp.initial_window": 10}}
    ),
    "handshake": Choice("whether a connection begins with SYN and SYN-ACK", "off", {"on": {"tcp.handshake": "true"}}),
    "marked-acks": Choice(
        "whether an ACK that echoes a mark may open the window", "no", {"yes": {"tcp.grow_on_marked_acks": "true"}}
    ),
    "rto-clock": Choice("tick of the retransmission clock", "continuous", {"10ms": {"tcp.clock_granularity": "10ms"}}),
    "bytes": Choice(
        "whether buffer and K count packets or bytes",
        "packets",
        {"bytes": {"switch.buffer": "375KB", "switch.mark_above": "30KB"}},
    ),
}
"""What the paper leaves unsaid, what every recipe takes, and what else may be tried."""
