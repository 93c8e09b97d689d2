"""xDCTCP: P. A. Nahar, A. Kumar, H. Aduri, "xDCTCP: Extended Data Center TCP", UC San Diego 2015."""

from shortflow_papers import lab
from shortflow_papers.papers.unspecified import HANDSHAKE, INITIAL_ALPHA, INITIAL_WINDOW, MARKED_ACKS, taking

CHOICES = {
    "initial-alpha": INITIAL_ALPHA,
    "initial-window": INITIAL_WINDOW,
    "handshake": HANDSHAKE,
    "marked-acks": taking("ns-2", MARKED_ACKS),
    "start-offsets": lab.Choice(
        "largest delay of the clock of each query and short sender, drawn by the seed: a round trip, none, or a whole "
        "period",
        {
            name: {"traffic.1.jitter": query, "traffic.2.jitter": short}
            for name, query, short in (("100us", "100us", "100us"), ("0", "0us", "0us"), ("a period", "1ms", "10ms"))
        },
    ),
}

STAND_INS = {"xdctcp": "dctcp"}

HEADLINES = {
    "xdctcp/sec5-delay-gain": "",
    "xdctcp/sec5-throughput": "",
    "xdctcp/sec7-short-faster": "",
}
"""Claims at the top of the paper's page, with the cause of a difference."""
