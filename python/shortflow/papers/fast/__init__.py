"""FaST: J. Hwang, J. Yoo, "FaST: Fine-grained and Scalable TCP for Cloud Data Center Networks", KSII TIIS 2014."""

from shortflow import lab
from shortflow.papers.unspecified import HANDSHAKE, MARKED_ACKS, RTO_CLOCK

CHOICES = {
    "initial-alpha": lab.Choice(
        "congestion estimate of a new connection",
        {"1": {"transport.initial_alpha": 1}, "0": {"transport.initial_alpha": 0}},
    ),
    "initial-window": lab.Choice(
        "segments that a new connection may send at once",
        {size: {"tcp.initial_window": size} for size in ("10", "1", "2")},
    ),
    "handshake": HANDSHAKE,
    "marked-acks": MARKED_ACKS,
    "delayed-acks": lab.Choice(
        "whose segments share an ACK with another: nobody's, or NewReno's and DCTCP's; FaST's have one each",
        {"nobody": {"tcp.ack_every": 1}, "baselines": {"tcp.ack_every": 2}},
    ),
    "receive-window": lab.Choice(
        "most data in flight of a connection, in whole segments",
        {
            "unlimited": {"tcp.receive_window": "unlimited"},
            "64KiB": {"tcp.receive_window": "44pkt"},
            "128KiB": {"tcp.receive_window": "89pkt"},
        },
    ),
    "host-queue": lab.Choice(
        "buffer of a server's own port: unlimited, or a switch port's",
        {"unlimited": {"host.buffer": "unlimited"}, "100KB": {"host.buffer": "100KB"}},
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

STAND_INS = {"fast": "dctcp"}

HEADLINES = {
    "fast/fig4-fast-16ms": "the set-up is fitted to the baselines' 72 and 43 ms",
    "fast/sec6-50-flows-no-loss": "",
    "fast/fig7-fast-below-35ms": "the first host's queue, unlimited here; 19.6 ms with 100 KB (quick scale)",
}
"""The results that a referee asks for first, with the cause of a difference."""
