"""ATCP: Wu et al., "Adaptive Data Transmission in the Cloud"."""

from shortflow import lab
from shortflow.papers.unspecified import HANDSHAKE, INITIAL_WINDOW

CHOICES = {
    "initial-window": INITIAL_WINDOW,
    "handshake": HANDSHAKE,
    "recovery": lab.Choice(
        "how TCP, DCTCP and ATCP recover from losses",
        {"newreno": {"transport.recovery": "newreno"}, "sack": {"transport.recovery": "sack"}},
    ),
    "rto-min": lab.Choice(
        "smallest retransmission timeout", {"200ms": {"tcp.rto_min": "200ms"}, "10ms": {"tcp.rto_min": "10ms"}}
    ),
    "buffer": lab.Choice(
        "what a switch port holds", {size: {"switch.buffer": size} for size in ("100pkt", "50pkt", "250pkt")}
    ),
}
"""What the paper leaves unspecified, by name."""

STAND_INS = {"atcp": "tcp"}
"""What the paper's schemes are changes of."""
