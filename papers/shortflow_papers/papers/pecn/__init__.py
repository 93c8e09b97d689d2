"""pECN: T. Huang, J. Zhang, Y. Liu, "A Mechanism Achieving Low Latency for Wireless Datacenter Applications",
ComSIS 2016.
"""

from shortflow_papers import lab
from shortflow_papers.papers.unspecified import (
    HANDSHAKE,
    HOST_QUEUE,
    INITIAL_ALPHA,
    INITIAL_WINDOW,
    MARKED_ACKS,
    RECOVERY,
    RTO_CLOCK,
    taking,
)

CHOICES = {
    "initial-alpha": INITIAL_ALPHA,
    "initial-window": INITIAL_WINDOW,
    "handshake": HANDSHAKE,
    "marked-acks": taking("ns-2", MARKED_ACKS),
    "rto-clock": taking("10ms", RTO_CLOCK),
    "host-queue": HOST_QUEUE,
    "recovery": taking("sack", RECOVERY),
    "priority": lab.Choice(
        "source of pECN's priority: Sec. 4.2 allows both, Sec. 5.1 takes the size",
        {"size": {"priority.by": "size"}, "deadline": {"priority.by": "deadline"}},
    ),
    "pmark": lab.Choice(
        "packets among which pMark marks the one of lowest priority: all (none is marked if that one is), or unmarked",
        {among: {"queue.among": among} for among in ("all", "unmarked")},
    ),
    "jitter": lab.Choice(
        "time within which the flows of a burst start",
        {"10us": {"traffic.1.jitter": "10us"}, "0": {"traffic.1.jitter": "0us"}, "1ms": {"traffic.1.jitter": "1ms"}},
    ),
    "d2tcp-clip": lab.Choice(
        "range of D2TCP's exponent",
        {
            "0.5 to 2": {"transport.clip_low": 0.5, "transport.clip_high": 2},
            "none": {"transport.clip_low": 0, "transport.clip_high": 1000000000},
        },
    ),
}

STAND_INS = {"pecn": "dctcp", "pecn-pmark": "dctcp", "pecn-edf": "dctcp"}

HEADLINES = {
    "pecn/fig6-pecn-gain-80": "mostly DCTCP's timeouts; means of flows without one differ by 31 %",
    "pecn/fig6-pecn-best": "",
    "pecn/fig7-pecn-monotone": "open",
    "pecn/fig10-loose-deadlines-pecn": "open; first window, below",
}
"""Claims at the top of the paper's page, with the cause of a difference."""
