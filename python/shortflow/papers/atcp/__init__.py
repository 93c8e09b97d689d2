"""ATCP: Wu et al., "Adaptive Data Transmission in the Cloud"."""

from shortflow.reproduction.choices import Choice

CHOICES = {
    "initial-window": Choice(
        "segments that a new connection may send at once", "2", {"10": {"tcp.initial_window": 10}}
    ),
    "handshake": Choice("whether a connection begins with SYN and SYN-ACK", "off", {"on": {"tcp.handshake": "true"}}),
    "recovery": Choice(
        "how TCP, DCTCP and ATCP recover from losses", "newreno", {"sack": {"transport.recovery": "sack"}}
    ),
    "rto-min": Choice("smallest retransmission timeout", "200ms", {"10ms": {"tcp.rto_min": "10ms"}}),
    "buffer": Choice(
        "what a switch port holds",
        "100pkt",
        {"50pkt": {"switch.buffer": "50pkt"}, "250pkt": {"switch.buffer": "250pkt"}},
    ),
}
"""What the paper leaves unsaid, what every recipe takes, and what else may be tried."""
