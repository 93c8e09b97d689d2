"""L2DCT: A. Munir et al., "Minimizing Flow Completion Times in Data Centers", INFOCOM 2013."""

from shortflow import lab
from shortflow.papers.unspecified import HANDSHAKE, INITIAL_ALPHA, INITIAL_WINDOW, MARKED_ACKS, RTO_CLOCK

CHOICES = {
    "initial-alpha": INITIAL_ALPHA,
    "initial-window": INITIAL_WINDOW,
    "handshake": HANDSHAKE,
    "marked-acks": MARKED_ACKS,
    "rto-clock": RTO_CLOCK,
    "bytes": lab.Choice(
        "whether buffer and K count packets or bytes",
        {
            "packets": {"switch.buffer": "250pkt", "switch.mark_above": "20pkt"},
            "bytes": {"switch.buffer": "375KB", "switch.mark_above": "30KB"},
        },
    ),
}
"""What the paper leaves unspecified, by name."""

STAND_INS = {"l2dct": "dctcp", "BesideTcp": "dctcp"}
"""What the paper's schemes are changes of."""
