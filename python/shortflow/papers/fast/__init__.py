"""FaST: J. Hwang, J. Yoo, "FaST: Fine-grained and Scalable TCP for Cloud Data Center Networks", TIIS 2014."""

from shortflow import lab
from shortflow.papers.unspecified import HANDSHAKE, MARKED_ACKS, RTO_CLOCK

CHOICES = {
    "initial-alpha": lab.Choice(
        "congestion estimate of a new connection",
        {"1": {"transport.initial_alpha": 1}, "0": {"transport.initial_alpha": 0}},
    ),
    "initial-window": lab.Choice(
        "segments that a new connection may send at once",
        {size: {"tcp.initial_window": size} for size in ("2", "1", "10")},
    ),
    "handshake": HANDSHAKE,
    "marked-acks": MARKED_ACKS,
    "delayed-acks": lab.Choice(
        "whether one ACK covers two segments", {"no": {"tcp.ack_every": 1}, "yes": {"tcp.ack_every": 2}}
    ),
    "receive-window": lab.Choice(
        "what a connection may have in flight whatever its window, in packets of 1500 bytes",
        {"unlimited": {"tcp.receive_window": "unlimited"}, "128KiB": {"tcp.receive_window": "90pkt"}},
    ),
    "rto-clock": RTO_CLOCK,
}
"""What the paper leaves unspecified, by name."""

STAND_INS = {"fast": "dctcp"}
"""What the paper's schemes are changes of."""
