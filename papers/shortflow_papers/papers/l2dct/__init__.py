"""L2DCT: A. Munir et al., "Minimizing Flow Completion Times in Data Centers", INFOCOM 2013."""

from shortflow.api.scenarios import Settings
from shortflow_papers import lab
from shortflow_papers.papers.unspecified import (
    HANDSHAKE,
    HOST_QUEUE,
    INITIAL_ALPHA,
    INITIAL_WINDOW,
    MARKED_ACKS,
    RTO_CLOCK,
    taking,
)


def _to(hosts: str, of: int, pattern: str) -> Settings:
    return {"topology.hosts": of, "traffic.1.to": hosts, "traffic.2.to": hosts, "traffic.2.pattern": pattern}


CHOICES = {
    "initial-alpha": INITIAL_ALPHA,
    "initial-window": INITIAL_WINDOW,
    "handshake": taking("on", HANDSHAKE),
    "marked-acks": MARKED_ACKS,
    "rto-clock": taking("10ms", RTO_CLOCK),
    "host-queue": HOST_QUEUE,
    "packet": lab.Choice(
        "bytes of a whole packet: as in the sample script of ns-2's DCTCP, or ns-2's `packetSize_`",
        {size: {"tcp.mss": mss} for size, mss in (("1500B", "1460B"), ("1000B", "960B"))},
    ),
    "round-trip": lab.Choice(
        "propagation to and fro between hosts; transmission adds some 14 us",
        {rtt: {"topology.rtt": rtt} for rtt in ("300us", "286us")},
    ),
    "receivers": lab.Choice(
        "whom the benchmark's flows go to: one host, or two with a long flow each and as many short ones",
        {"one": _to("22", 23, "many-to-one"), "two": _to("22-23", 24, "all-to-all")},
    ),
    "bytes": lab.Choice(
        "unit of buffer and K",
        {
            "packets": {"switch.buffer": "250pkt", "switch.mark_above": "20pkt"},
            "bytes": {"switch.buffer": "375KB", "switch.mark_above": "30KB"},
        },
    ),
}

STAND_INS = {"l2dct": "dctcp"}

HEADLINES = {
    "l2dct/fig4a-afct-vs-dctcp": "open; with w_min of 0.3, chosen to fit, gain and cost agree",
    "l2dct/fig4a-afct-vs-tcp": "open",
    "l2dct/fig5-throughput-cost-10pct": "open, as above",
    "l2dct/fig4b-tail-uniform": "open; p99 falls by 55 %",
}
"""Claims at the top of the paper's page, with the cause of a difference."""
