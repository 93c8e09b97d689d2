"""FaST: J. Hwang, J. Yoo, "FaST: Fine-grained and Scalable TCP for Cloud Data Center Networks", TIIS 2014."""

from shortflow.reproduction.choices import Choice

CHOICES = {
    "initial-alpha": Choice(
        "congestion estimate of a new connection",
        "1",
        {"0": {"transport.initial_alpha": 0}},
    ),
    "initial-window": Choice(
        "segments that a new connection may send at once",
        "2",
        {"1": {"tcp.initial_window": 1}, "10": {"tcp.initial_window": 10}},
    ),
    "handshake": Choice("whether a connection begins with SYN and SYN-ACK", "off", {"on": {"tcp.handshake": "true"}}),
    "marked-acks": Choice(
        "whether an ACK that echoes a mark may open the window", "no", {"yes": {"tcp.grow_on_marked_acks": "true"}}
    ),
    "delayed-acks": Choice("whether one ACK covers two segments", "no", {"yes": {"tcp.ack_every": 2}}),
    "receive-window": Choice(
        "what a connection may have in flight whatever its window, in packets of 1500 bytes",
        "unlimited",
        {"128KiB": {"tcp.receive_window": "90pkt"}},
    ),
    "rto-clock": Choice("tick of the retransmission clock", "continuous", {"10ms": {"tcp.clock_granularity": "10ms"}}),
}
"""What the paper leaves unsaid, what every recipe takes, and what else may be tried."""
