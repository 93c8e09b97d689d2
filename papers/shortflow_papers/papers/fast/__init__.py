"""FaST: J. Hwang, J. Yoo, "FaST: Fine-grained and Scalable TCP for Cloud Data Center Networks", KSII TIIS 2014."""

from pathlib import Path

from shortflow_papers import lab
from shortflow_papers.papers.unspecified import HANDSHAKE, MARKED_ACKS, RTO_CLOCK, drawn, near

CHOICES = {
    "initial-alpha": lab.Choice(
        "congestion estimate of a new connection",
        {"1": {"transport.initial_alpha": 1}, "0": {"transport.initial_alpha": 0}},
    ),
    "initial-window": lab.Choice(
        "segments that a new connection may send at once",
        {size: {"tcp.initial_window": size} for size in ("1", "2", "10")},
    ),
    "handshake": HANDSHAKE,
    "marked-acks": MARKED_ACKS,
    "delayed-acks": lab.Choice(
        "segments that share an ACK: two of NewReno's and DCTCP's, within 200 ms, as in ns-3, where the first of a "
        "connection has its own; the same, but a segment that changes the echo of marks has its own; or none",
        {
            "ns-3": {"tcp.ack_every": 2, "tcp.ack_ecn_changes": "false"},
            "ns-3-ce": {"tcp.ack_every": 2, "tcp.ack_ecn_changes": "true"},
            "nobody": {"tcp.ack_every": 1, "tcp.ack_ecn_changes": "false"},
        },
    ),
    "receive-window": lab.Choice(
        "most data in flight of a connection, in whole segments",
        {
            "64KiB": {"tcp.receive_window": "44pkt"},
            "128KiB": {"tcp.receive_window": "89pkt"},
            "unlimited": {"tcp.receive_window": "unlimited"},
        },
    ),
    "host-queue": lab.Choice(
        "buffer of a server's own port",
        {size: {"host.buffer": size} for size in ("100pkt", "100KB", "unlimited")},
    ),
    "rto-clock": RTO_CLOCK,
    "cut": lab.Choice(
        "FaST's decrease by marks (Algorithm 1, l. 9): once a window, or for each marked ACK",
        {period: {"transport.cut": period} for period in ("window", "ack")},
    ),
    "probing": lab.Choice(
        'FaST\'s first packets (l. 16, "in each round"): one a round trip, or all at once',
        {way: {"transport.probing": way} for way in ("apart", "together")},
    ),
    "regrowth": lab.Choice(
        "growth of FaST's window below two segments: a segment a round trip, or what is acknowledged",
        {way: {"transport.regrowth": way} for way in ("segment", "tcp")},
    ),
    "loss-floor": lab.Choice(
        "FaST's window after fast retransmit, if it was below two segments: the same, or two segments",
        {way: {"transport.loss_floor": way} for way in ("vwnd", "tcp")},
    ),
}

NEAR = near(Path(__file__).with_name("set-ups.csv"))
"""Set-ups near the printed times of NewReno and DCTCP, from `reproduce fast --fit`. No run of the fit uses FaST."""
SET_UPS = drawn(NEAR)

STAND_INS = {"fast": "dctcp"}

HEADLINES = {
    "fast/fig4-fast-16ms": "",
    "fast/sec6-50-flows-no-loss": "",
    "fast/fig7-fast-below-35ms": "probably the receive window, 128 KiB or unlimited",
}
"""Claims at the top of the paper's page, with the cause of a difference."""
