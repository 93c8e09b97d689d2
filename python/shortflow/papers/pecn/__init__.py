"""pECN: Huang, Zhang, Liu, "A Mechanism Achieving Low Latency for Wireless Datacenter Applications"."""

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
    "recovery": Choice(
        "how TCP and the others recover from losses", "newreno", {"sack": {"transport.recovery": "sack"}}
    ),
    "priority": Choice(
        "what pECN's priority is made from: Sec. 4.2 allows both, Sec. 5.1 takes the size",
        "size",
        {"deadline": {"priority.by": "deadline"}},
    ),
    "jitter": Choice(
        "time within which the flows of a burst start",
        "10us",
        {"0": {"traffic.1.jitter": "0us"}, "1ms": {"traffic.1.jitter": "1ms"}},
    ),
    "d2tcp-clip": Choice(
        "range of D2TCP's exponent", "0.5 to 2", {"none": {"transport.clip_low": 0, "transport.clip_high": 1000000000}}
    ),
}
"""What the paper leaves unsaid, what every recipe takes, and what else may be tried."""
