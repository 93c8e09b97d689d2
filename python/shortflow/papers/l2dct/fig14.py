"""Fig. 14: the testbed, here a simulation at its rate: 100 Mbps, K = 8, a long flow and simultaneous ones of 100 MB.

One machine sends, one receives, and every card has 100 Mbps: the queue, which marks, stands where the sender's link
begins. Connections begin with a handshake, and windows keep two segments, as Linux's. The short flows keep the largest
weight to their end and the long one has the smallest when they start: the profile's knees are at 110 and 120 MB. The
testbed's RTT, buffer and RTOmin are not given; these are those of the simulations.
"""

from shortflow import lab
from shortflow.papers.l2dct.setup import AFCT

SIZE, PAYLOAD_BPS = "100MB", 100e6 * 1460 / 1500
FLOWS: dict[str, object] = {
    "title": "The testbed: 100 Mbps, K = 8, one long flow and some of 100 MB that start together",
    "duration": "21s",
    "drain": "200s",
    "parameters": {"flows": 1},
    "topology": {"kind": "star", "hosts": 2, "rate": "100Mbps", "rtt": "300us"},
    "switch": {"buffer": "250pkt", "mark_above": "8pkt"},
    "host": {"buffer": "250pkt", "mark_above": "8pkt"},
    "tcp": {"rto_min": "10ms", "handshake": True},
    "traffic": [
        {"kind": "long-lived", "flows": 1, "from": 0, "to": 1},
        {
            "kind": "incast",
            "flows": "$flows",
            "from": 0,
            "to": 1,
            "at": "20s",
            "jitter": "10ms",
            "sizes": {"kind": "fixed", "value": SIZE},
        },
    ],
    "measure": {"ports": ["s0->h1"]},
}
AT_LEAST = (1, 2, 4, 8)
"""The numbers of flows without which nothing is said of every number."""
TESTBED = lab.Study(
    FLOWS,
    schemes=("tcp-ecn", "dctcp", "l2dct"),
    over={"flows": (1, 2, 3, 4, 5, 6, 7, 8)},
    settings={
        "host.queue": "step-ecn",
        "transport.cwnd_floor": 2,
        "transport.knee_low": "110MB",
        "transport.knee_high": "120MB",
    },
    quick={"flows": AT_LEAST},
)

CONTRADICTS = "the throughputs that the text gives for one flow would be a larger fall than its largest"
TWIN = "in a simulation of the testbed: "


def _size_mb(testbed: lab.Data) -> float:
    """The size of the simultaneous flows, which runs on the kernel may have changed."""
    return float(testbed.at(flows=1).settings.get("size", SIZE).removesuffix("MB"))


def _share(*schemes: str) -> lab.Quantity:
    def shares(testbed: lab.Data) -> dict[str, float]:
        times = {name: testbed.mean(name, AFCT, flows=1).value for name in schemes}
        return {name: _size_mb(testbed) * 8e6 / time / PAYLOAD_BPS for name, time in times.items()}

    return lab.computed(f"share of the link that one flow gets over its life, {' and '.join(schemes)}", shares)


def _later(slow: str, fast: str) -> lab.Quantity:
    """How much later one flow beside the long one ends; of smaller flows, as much for each byte."""

    def seconds(testbed: lab.Data) -> float:
        scale = float(SIZE.removesuffix("MB")) / _size_mb(testbed)
        return scale * (testbed.mean(slow, AFCT, flows=1).value - testbed.mean(fast, AFCT, flows=1).value)

    return lab.computed(f"a flow of {SIZE} with {slow} later than with {fast}", seconds, "s", 0.0)


def _fall(baseline: str, paper: float) -> list[lab.Condition]:
    falls = lab.change("l2dct", baseline, AFCT).over("flows").needs("flows", AT_LEAST)
    return [falls.lowest().near(paper), falls.below()]


fig14a = lab.Figure(
    "l2dct/fig14a", "Fig. 14(a)", "Mean FCT of flows of 100 MB (simulated testbed)", {"testbed": TESTBED}
).decides(
    lab.paper("l2dct/fig14a-testbed-vs-dctcp", "testbed", {"max": 0.2, "unit": "relative AFCT reduction"}).says(
        TWIN + "the mean FCT is up to 20 % below DCTCP's", *_fall("dctcp", -0.20), because=CONTRADICTS
    ),
    lab.paper("l2dct/fig14a-testbed-vs-tcp", "testbed", {"max": 0.29, "unit": "relative AFCT reduction"}).says(
        TWIN + "the mean FCT is up to 29 % below that of TCP with ECN", *_fall("tcp-ecn", -0.29), because=CONTRADICTS
    ),
    draws=[lab.Curves("flows", AFCT, "simultaneous flows", "Mean completion time of simultaneous flows of 100 MB")],
)
fig14b = lab.Figure(
    "l2dct/fig14b", "Fig. 14(b)", "One flow of 100 MB joins a long one (simulated testbed)", {"testbed": TESTBED}
).decides(
    lab.paper("l2dct/fig14b-testbed-split", "testbed", {"long_mbps": 20, "short_mbps": 80}).says(
        TWIN + "the short flow takes about 80 Mbps", _share("l2dct").near(0.80)
    ),
    lab.paper("l2dct/fig14b-testbed-fair-baselines", "testbed", {"short_mbps": 50}).says(
        TWIN + "the baselines split the link evenly", _share("dctcp", "tcp-ecn").near(0.5)
    ),
    lab.paper("l2dct/fig14b-testbed-finish-gap", "testbed", {"dctcp_later_s": 4.0, "tcp_later_s": 5.5}).says(
        TWIN + "the short flow ends 4 s later with DCTCP and 5.5 s later with TCP",
        _later("dctcp", "l2dct").near(4.0),
        _later("tcp-ecn", "l2dct").near(5.5),
        _later("tcp-ecn", "dctcp").at_least(0.0),
    ),
)
