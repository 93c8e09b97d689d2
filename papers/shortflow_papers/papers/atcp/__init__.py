"""ATCP: W. Wu et al., "Adaptive Data Transmission in the Cloud", University of Wisconsin–Madison."""

from dataclasses import replace

from shortflow_papers import lab
from shortflow_papers.papers.atcp.setup import OTHERS
from shortflow_papers.papers.unspecified import HANDSHAKE, HOST_QUEUE, INITIAL_WINDOW, RECOVERY, RTO_CLOCK, taking

CHOICES = {
    "initial-window": INITIAL_WINDOW,
    "handshake": taking("on", HANDSHAKE),
    "rto-clock": taking("10ms", RTO_CLOCK),
    "host-queue": HOST_QUEUE,
    "recovery": replace(RECOVERY, undecided=True),
    "large-flows": lab.Choice(
        "large flows at once on a link of the trace: the number nearest to TCP's medians, half of it, and its double",
        {flows: {"large": flows} for flows in ("16", "8", "32")},
        undecided=True,
    ),
    "web-flows": lab.Choice(
        "large background flows of the web tree: the number nearest to TCP's median, half of it, and its double",
        {flows: {"background": flows} for flows in ("11", "5", "22")},
        undecided=True,
    ),
    "others": lab.Choice(
        "small and medium flows a second of the trace: as many as take that share of the link's rate",
        {load: {"others": rate} for load, rate in (("0.165", OTHERS), ("0.08", OTHERS / 2), ("0.33", 2 * OTHERS))},
    ),
    "window": lab.Choice(
        "ns-2's `window_`: the receiver's window and, at first, the slow-start threshold; it is 20 unless it is set",
        {size: {"tcp.receive_window": size, "tcp.initial_ssthresh": size} for size in ("unlimited", "20pkt")},
    ),
    "background": lab.Choice(
        "reducers that get a background flow from the core",
        {"every": {"traffic.2.flows": 8}, "one": {"traffic.2.flows": 1}},
    ),
    "rto-min": lab.Choice(
        "smallest retransmission timeout", {"200ms": {"tcp.rto_min": "200ms"}, "10ms": {"tcp.rto_min": "10ms"}}
    ),
    "buffer": lab.Choice(
        "buffer of a port of the chain, in packets: ns-2's `limit_` is 50",
        {size: {"buffer": size} for size in ("50pkt", "30pkt", "100pkt", "250pkt")},
    ),
    "tree-buffer": lab.Choice(
        "buffer of a port of Figs. 10 and 11, which must exceed DCTCP's K of 65 packets at 10 Gbps",
        {size: {"buffer": size} for size in ("100pkt", "250pkt")},
    ),
}

STAND_INS = {"atcp": "tcp"}

HEADLINES = {
    "atcp/fig8-medium-best": "TCP's recovery, which the paper does not name",
    "atcp/fig10-small-comparable": "most small flows wait for a timeout, with DCTCP none",
    "atcp/fig11-mean-reduction": "TCP fills the links; under ATCP the mean falls by 1.3 %",
}
"""The results that a referee asks for first, with the cause of a difference."""
