"""Code that the recipes share: the rack and its bursts (Sec. 5), and comparisons of studies."""

from collections.abc import Mapping, Sequence

from shortflow import Estimate
from shortflow.api.runs import Result, completion
from shortflow.api.scenarios import Settings
from shortflow_papers import lab
from shortflow_papers.papers.common import means, number_of

SCHEMES = ("tcp", "dctcp", "d2tcp", "pecn", "pecn-pmark")
BASELINES = ("tcp", "dctcp", "d2tcp")
AFCT = "afct_short_s"

COUNTS = tuple(range(10, 101, 10))
"""Numbers of connections of a burst. The paper names only 80."""
QUICK_COUNTS = (20, 40, 60, 80, 100)
MANY = 40
"""Number of connections from which on a burst exceeds the buffer under TCP."""

DCTCP_CODE: Settings = {
    "transport.recovery": "sack",
    "tcp.grow_on_marked_acks": "ns-2",
    "tcp.clock_granularity": "10ms",
    "host.buffer": "50pkt",
}
"""Settings of the DCTCP code for ns-2 that the paper builds on, and ns-2's clock and `limit_` at hosts.

They hold for all schemes, so that only window laws and queues differ. There is no handshake, because a query "can
finish using only one RTT" (Sec. 3.4).
"""

TINY: Settings = {**DCTCP_CODE, "smallest": "1.6KB", "largest": "2KB"}
"""Sizes of Fig. 8."""
IN_RACK, ACROSS = 19, 20
"""Receivers: last host of the senders' rack, first host of the other rack."""

SWITCH = {"buffer": "256KB", "mark_above": "30KB"}
TCP = {"rto_min": "200ms", "initial_window": 2, "receive_window": "1000pkt"}

TREE = {
    "kind": "two-tier-tree",
    "racks": 2,  # no flow would use the paper's other 16 racks
    "hosts_per_rack": 20,
    "rate": "1Gbps",
    "uplink_rate": "10Gbps",
    "rtt": "240us",
}


def _burst(at: str) -> dict[str, object]:
    sizes = {"kind": "uniform", "min": "$smallest", "max": "$largest"}
    deadline = {"kind": "uniform", "min": "$soonest", "max": "$latest"}
    named = {"flows": "$flows", "sizes": sizes, "deadline": deadline}
    return {"kind": "incast", "from": "0-18", "to": "$receiver", **named, "at": at, "jitter": "10us"}


PARAMETERS = {
    "flows": 80,
    "receiver": IN_RACK,
    "smallest": "2KB",
    "largest": "50KB",
    "soonest": "10ms",
    "latest": "20ms",
}

BURST: Mapping[str, object] = {
    "title": "19 hosts of a rack answer one at once, U[2, 50] KB each",
    "duration": "200ms",
    "drain": "10s",
    "parameters": PARAMETERS,
    "topology": TREE,
    "switch": SWITCH,
    "tcp": TCP,
    "traffic": [_burst("100ms")],
}

BURST_AND_BACKGROUND: Mapping[str, object] = {
    **BURST,
    "title": "The same beside two flows that always have something to send",
    "duration": "1.6s",
    "parameters": {**PARAMETERS, "background_start": "100ms"},
    "traffic": [
        _burst("1.5s"),
        {"kind": "long-lived", "flows": 2, "from": "17-18", "to": "$receiver", "start": "$background_start"},
    ],
}


def star(title: str, hosts: int, traffic: Sequence[Mapping[str, object]], **more: object) -> dict[str, object]:
    """Tables of a scenario with hosts at 1 Gbps on one switch, with an RTT of 120 us."""
    links = {"kind": "star", "hosts": hosts, "rate": "1Gbps", "rtt": "120us"}
    return {"title": title, "topology": links, "switch": SWITCH, "tcp": TCP, "traffic": traffic, **more}


def fct_over(result: Result, column: str, factor: float, name: str) -> lab.Line:
    """Curve of a run's FCTs in ms over a column times `factor`. Unfinished flows have their age, a lower bound."""
    flows = completion(result.flows, result.meta).sort(column)
    x, y = (flows[column] * factor).to_list(), (flows["elapsed_s"] * 1e3).to_list()
    return lab.Line(name, x, y, lower_bound=flows["censored"].to_list())


def afct(schemes: lab.OneOrMore, others: lab.OneOrMore) -> lab.Quantity:
    """Relative difference in mean FCT at every number of connections, paired by seed."""
    return lab.change(schemes, others, AFCT).over("flows")


def best(scheme: str, others: lab.OneOrMore = BASELINES) -> lab.ClaimCondition:
    """Condition that a scheme's mean FCT is the lowest, at every number of connections."""
    return afct(scheme, others).at(flows=lab.Every()).below()


@number_of("mean FCT of short flows, every other scheme over tcp wherever tcp has timeouts", lab.RELATIVE, 0.0)
def over_tcp(bursts: lab.Data) -> dict[str, Estimate]:
    timeouts = means(bursts, "tcp", lab.timeouts_in_run, "flows")
    places = [(n, scheme) for n, late in timeouts.items() if late > 0 for scheme in SCHEMES[1:]]
    return {f"{scheme} at {n}": bursts.change(scheme, "tcp", AFCT, flows=n) for n, scheme in places}


TCP_WORST = over_tcp.below()
