"""Code that FaST's figures share: the tree of Fig. 3, its switches, queries, and three transports.

Each answer has its own connection. If there are more than 99 workers, servers have several. All transports use NewReno
recovery, because the paper compares with NewReno.
"""

from collections.abc import Mapping, Sequence

from shortflow.api.runs import Result
from shortflow_papers import lab
from shortflow_papers.lab.study import Value
from shortflow_papers.papers.common import ns_study, recorded

SCHEMES = ("tcp", "dctcp", "fast")
"""NewReno over drop-tail queues, DCTCP and FaST."""

NEWRENO: dict[str, Value] = {"transport.recovery": "newreno"}
MARKING: dict[str, Value] = {**NEWRENO, "transport.initial_alpha": 1}
DCTCP: dict[str, Value] = {**MARKING, "transport.cwnd_floor": 2}
"""Settings of the paper's DCTCP, whose window is at least two segments (Eq. 3)."""

ROOT = 0
PORT = "tor0->h0"
"""Port from the root's switch to the root."""

SWITCH = {
    "buffer": "1MB",
    "mark_above": "97.5KB",
    "tor": {"buffer": "100KB", "mark_above": "30KB", "up": {"mark_above": "97.5KB"}},
}
"""K is 20 packets at 1 Gbps and 65 at 10 Gbps, in bytes because segments may be small. The core's buffer is large."""

TCP = {
    "rto_min": "10ms",
    "initial_window": 1,
    "ack_every": 2,
    "ack_delay": "200ms",
    "quick_acks": 1,
    "receive_window": "44pkt",
}
HOST = {"buffer": "100pkt"}
"""Defaults of ns-3 in 2013 (docs/reproduction/set-ups.md). The paper names ns-3, and of these values only RTOmin.

Without window scaling, a receive window is at most 64 KiB.
"""

OF_SCHEME: dict[str, dict[str, Value]] = {"fast": {"tcp.ack_every": 1}}
"""FaST probes with one small segment per RTT. With delayed ACKs, the ACK of the second probe would wait for the ACK
timer of 200 ms, so that each worker would time out."""


def tree(title: str, duration: str, traffic: Sequence[Mapping[str, object]], hosts: int = 20) -> dict[str, object]:
    """Tables of a scenario with this traffic on five racks of servers.

    Servers have 1 Gbps, and racks are connected by one switch at 10 Gbps. Each link has a delay of 25 us.
    """
    return {
        "title": title,
        "duration": duration,
        "drain": "20s",
        "topology": {
            "kind": "two-tier-tree",
            "racks": 5,
            "hosts_per_rack": hosts,
            "rate": "1Gbps",
            "uplink_rate": "10Gbps",
            "rtt": "200us",
        },
        "switch": SWITCH,
        "tcp": TCP,
        "host": HOST,
        "traffic": traffic,
        "measure": {"ports": [PORT]},
    }


def query(**more: object) -> dict[str, object]:
    """Traffic entry: the root asks `$workers` workers, each of which starts an answer of 10 KB within 10 us."""
    return {
        "kind": "queries",
        "class": "query",
        "workers": "$workers",
        "to": ROOT,
        "sizes": {"kind": "fixed", "value": "10KB"},
        "jitter": "10us",
        **more,
    }


QUERIES = {
    **tree("Queries to workers in five racks, 10 KB each", "100s", [query(repeat="$repetitions", think="10ms")]),
    "parameters": {"workers": 40, "repetitions": 100},
}
"""Tables of a scenario with consecutive queries and no other traffic."""


def asked(result: Result) -> float:
    """Number of queries of a run."""
    return recorded(result, "query_count", "query")


WORKERS = tuple(range(10, 101, 10))


def queries(
    schemes: Sequence[str] = SCHEMES,
    over: Mapping[str, Sequence[Value]] | None = None,
    settings: Mapping[str, Value] | None = None,
) -> lab.Study:
    """Study of queries without other traffic, by default over the number of workers."""
    floor = DCTCP if "dctcp" in schemes else MARKING
    return ns_study(
        QUERIES,
        schemes,
        of_scheme=OF_SCHEME,
        over=over or {"workers": WORKERS},
        settings={**floor, **(settings or {})},
        quick={"repetitions": 10},
    )


ALONE = queries()
"""Study of Figs. 4 to 6."""
