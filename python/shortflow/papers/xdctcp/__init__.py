"""xDCTCP: A. Nahar, A. Kumar, B. Aduri, "xDCTCP"."""

from shortflow.papers.unspecified import HANDSHAKE, INITIAL_ALPHA, INITIAL_WINDOW, MARKED_ACKS

CHOICES = {
    "initial-alpha": INITIAL_ALPHA,
    "initial-window": INITIAL_WINDOW,
    "handshake": HANDSHAKE,
    "marked-acks": MARKED_ACKS,
}
"""What the paper leaves unspecified, by name."""

STAND_INS = {"xdctcp": "dctcp"}
"""What the paper's schemes are changes of."""
