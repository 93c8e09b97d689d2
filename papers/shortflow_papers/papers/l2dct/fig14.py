"""Fig. 14: the testbed, simulated at its rate: 100 Mbps, K = 8, a long flow and simultaneous flows of 100 MB.

One machine sends, and one machine receives. Every card has 100 Mbps, so the marking queue is at the sender's link.
Connections begin with a handshake, and the smallest window is two segments, as in Linux. The knees of the weight are at
110 and 120 MB. Short flows therefore keep the largest weight until they end, and the long flow has the smallest weight
when they start. The paper does not give the testbed's RTT, buffer and RTOmin, so those of its simulations are used.
"""

from shortflow_papers import lab
from shortflow_papers.papers.common import burst_of, ns_study, number_of
from shortflow_papers.papers.l2dct.setup import AFCT

SIZE, PAYLOAD_BPS = "100MB", 100e6 * 1460 / 1500
FLOWS: dict[str, object] = {
    "title": "The testbed: 100 Mbps, K = 8, one long flow and some of 100 MB that start together",
    "duration": "21s",
    "drain": "200s",
    "parameters": {"flows": 1},
    "topology": {"kind": "star", "hosts": 2, "rate": "100Mbps", "rtt": "300us"},
    "switch": {"buffer": "250pkt", "mark_above": "8pkt"},
    "host": {"buffer": "250pkt", "mark_above": "8pkt"},
    "tcp": {"rto_min": "10ms", "initial_window": 2, "handshake": True},
    "traffic": [
        {"kind": "long-lived", "flows": 1, "from": 0, "to": 1},
        burst_of(0, 1, SIZE, flows="$flows", at="20s", jitter="10ms"),
    ],
    "measure": {"ports": ["s0->h1"]},
}
AT_LEAST = (1, 2, 4, 8)
"""Numbers of flows that must have runs before a claim about every number is tested."""
TESTBED = ns_study(
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
    """Size of the simultaneous flows in MB, which measurements on the kernel may change."""
    return float(testbed.at(flows=1).settings.get("size", SIZE).removesuffix("MB"))


def _share(*schemes: str) -> lab.Quantity:
    @number_of(f"share of the link that one flow gets over its life, {' and '.join(schemes)}")
    def shares(testbed: lab.Data) -> dict[str, float]:
        times = {name: testbed.mean(name, AFCT, flows=1).value for name in schemes}
        return {name: _size_mb(testbed) * 8e6 / time / PAYLOAD_BPS for name, time in times.items()}

    return shares


def _later(slow: str, fast: str) -> lab.Quantity:
    """Difference in end time, in seconds, of one short flow that meets the long flow, between two schemes.

    For smaller flows, the difference is scaled to the full size.
    """

    @number_of(f"a flow of {SIZE} with {slow} later than with {fast}", "s", 0.0)
    def seconds(testbed: lab.Data) -> float:
        scale = float(SIZE.removesuffix("MB")) / _size_mb(testbed)
        return scale * (testbed.mean(slow, AFCT, flows=1).value - testbed.mean(fast, AFCT, flows=1).value)

    return seconds


def _fall(baseline: str, paper: float) -> list[lab.ClaimCondition]:
    falls = lab.change("l2dct", baseline, AFCT).at(flows=lab.Every(needs=AT_LEAST))
    return [falls.lowest().near(paper), falls.below()]


fig14a = lab.Figure(
    "l2dct/fig14a", "Fig. 14(a)", "Mean FCT of flows of 100 MB (simulated testbed)", {"testbed": TESTBED}
)
fig14a.claim("l2dct/fig14a-testbed-vs-dctcp").says(
    TWIN + "the mean FCT is up to 20 % below DCTCP's", *_fall("dctcp", -0.20), because=CONTRADICTS
)
fig14a.claim("l2dct/fig14a-testbed-vs-tcp").says(
    TWIN + "the mean FCT is up to 29 % below that of TCP with ECN", *_fall("tcp-ecn", -0.29), because=CONTRADICTS
)
fig14a.draw(lab.Curves("flows", AFCT, "simultaneous flows", "Mean completion time of simultaneous flows of 100 MB"))
fig14b = lab.Figure(
    "l2dct/fig14b", "Fig. 14(b)", "One flow of 100 MB joins a long one (simulated testbed)", {"testbed": TESTBED}
)
fig14b.claim("l2dct/fig14b-testbed-split").says(TWIN + "the short flow takes about 80 Mbps", _share("l2dct").near(0.80))
fig14b.claim("l2dct/fig14b-testbed-fair-baselines").says(
    TWIN + "the baselines split the link evenly", _share("dctcp", "tcp-ecn").near(0.5)
)
fig14b.claim("l2dct/fig14b-testbed-finish-gap").says(
    TWIN + "the short flow ends 4 s later with DCTCP and 5.5 s later with TCP",
    _later("dctcp", "l2dct").near(4.0),
    _later("tcp-ecn", "l2dct").near(5.5),
    _later("tcp-ecn", "dctcp").within(low=0.0),
)
