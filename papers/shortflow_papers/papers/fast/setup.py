"""Shared by FaST's simulations: the tree of Fig. 3, its switches, queries, and three transports.

Each answer has its own connection; more than 99 workers share servers. All three use NewReno recovery, because the
paper compares with NewReno.
"""

from collections.abc import Mapping, Sequence

from shortflow.api.runs import Result
from shortflow_papers import lab
from shortflow_papers.lab.study import Value
from shortflow_papers.papers.common import recorded

SCHEMES = ("tcp", "dctcp", "fast")
"""NewReno over drop-tail queues, DCTCP and FaST."""

NEWRENO: dict[str, Value] = {"transport.recovery": "newreno"}
MARKING: dict[str, Value] = {**NEWRENO, "transport.initial_alpha": 1}
DCTCP: dict[str, Value] = {**MARKING, "transport.cwnd_floor": 2}
"""Eq. 3: the paper's DCTCP keeps at least two segments."""

ROOT = 0
PORT = "tor0->h0"
"""Port to the root."""

SWITCH = {
    "buffer": "1MB",
    "mark_above": "97.5KB",
    "tor": {"buffer": "100KB", "mark_above": "30KB", "up": {"mark_above": "97.5KB"}},
}
"""K is 20 packets at 1 Gbps and 65 at 10 Gbps, in bytes because of small segments; the core's buffer is large."""

TCP = {
    "rto_min": "10ms",
    "initial_window": 1,
    "ack_every": 2,
    "ack_delay": "200ms",
    "quick_acks": 1,
    "receive_window": "44pkt",
}
HOST = {"buffer": "100pkt"}
"""ns-3's defaults of 2013 (docs/reproduction/set-ups.md): the paper names ns-3 and prints RTOmin alone. Without window
scaling a receive window is at most 64 KiB."""

OF_SCHEME: dict[str, dict[str, Value]] = {"fast": {"tcp.ack_every": 1}}
"""FaST sends one small segment per RTT; with delayed ACKs each would wait for the timer."""


def tree(title: str, duration: str, traffic: Sequence[Mapping[str, object]], hosts: int = 20) -> dict[str, object]:
    """Five racks of servers at 1 Gbps under one switch at 10 Gbps, 25 us per link, with this traffic."""
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
    """Traffic: the root asks `$workers` workers; each answers with 10 KB within 10 us."""
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
"""Consecutive queries without other traffic."""


def asked(result: Result) -> float:
    """Number of queries."""
    return recorded(result, "query_count", "query")


WORKERS = tuple(range(10, 101, 10))


def queries(
    schemes: Sequence[str] = SCHEMES,
    over: Mapping[str, Sequence[Value]] | None = None,
    settings: Mapping[str, Value] | None = None,
) -> lab.Study:
    """A study of queries alone (default: over the number of workers)."""
    floor = DCTCP if "dctcp" in schemes else MARKING
    return lab.Study(
        QUERIES,
        schemes,
        of_scheme=OF_SCHEME,
        over=over or {"workers": WORKERS},
        settings={**floor, **(settings or {})},
        quick={"repetitions": 10},
    )


ALONE = queries()
"""Figs. 4 to 6."""
