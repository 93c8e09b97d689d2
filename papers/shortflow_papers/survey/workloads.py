"""Workloads of the survey: the main workload of each paper, and four published flow-size distributions.

All workloads have two classes, so that the same metrics apply. Flows of class `short` are latency-sensitive and have
deadlines; all other flows are `long`. xDCTCP knows only the class of a flow, and D2TCP only its deadline. A workload's
scenario depends on its level (a load, or the number of simultaneous answers) and on the scale.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shortflow import Scenario
from shortflow.api.scenarios import SHIPPED, load_scenario
from shortflow_papers.lab.study import Scale
from shortflow_papers.papers.atcp.setup import INTERARRIVAL, MEDIUM_SIZES, SMALL_SIZES
from shortflow_papers.papers.l2dct.setup import shipped
from shortflow_papers.papers.pecn.setup import SWITCH as PECN_SWITCH
from shortflow_papers.papers.pecn.setup import TCP as PECN_TCP
from shortflow_papers.papers.pecn.setup import TREE as PECN_TREE

_Tables = dict[str, Any]
Level = float | int

LOADS = (0.3, 0.6, 0.8)
SHORT_UP_TO = "100KB"
"""Default maximum size of short flows."""


@dataclass(frozen=True)
class Workload:
    """Traffic and network of a comparison, at several levels."""

    name: str
    title: str
    about: str
    """Source of the workload, and what the survey adds to it."""
    levels: tuple[Level, ...]
    """Loads as a share of the receivers' links, or numbers of simultaneous senders."""
    tables: Callable[[Level, Scale], _Tables]
    """Returns the tables of the scenario at a level and scale."""

    @property
    def group(self) -> str:
        """Kind of workload, as text."""
        if self.name in {each.name for each in PUBLISHED}:
            return "the published flow sizes"
        bursts = all(isinstance(level, int) for level in self.levels)
        return "bursts to one host" if bursts else "the papers' mixes of short and long flows"

    def scenario(self, level: Level, scale: Scale) -> Scenario:
        """Scenario at a level and scale."""
        return load_scenario({"title": self.title, **self.tables(level, scale)}, directory=SHIPPED)

    @staticmethod
    def label(level: Level) -> str:
        """Text of a level."""
        return f"{level:.0%}".replace("%", " %") if isinstance(level, float) else f"{level} at once"


def _l2dct(load: Level, scale: Scale) -> _Tables:
    tables = shipped("l2dct-benchmark")
    long, short = tables["traffic"]
    return {
        **tables,
        "duration": _at(scale, quick="300ms", full="4s"),
        "warmup": _at(scale, quick="50ms", full="200ms"),
        "drain": "10s",
        "parameters": {},
        "traffic": [long, {**short, "load": load, "deadline": {"kind": "exponential", "mean": "40ms"}}],
        "measure": {},
    }


def _xdctcp(load: Level, scale: Scale) -> _Tables:
    tables = shipped("xdctcp-star")
    query, short, long = tables["traffic"]
    ends = {"kind": "poisson", "class": "short", "to": 8, "connections": "persistent"}
    return {
        **tables,
        "duration": _at(scale, quick="80ms", full="2s"),
        "warmup": _at(scale, quick="20ms", full="50ms"),
        "drain": "10s",
        "parameters": {},
        "traffic": [
            {**ends, "from": "0-2", "sizes": query["sizes"], "rate_per_s": 3000, "deadline": _fixed("5ms")},
            {**ends, "from": "3-5", "sizes": short["sizes"], "load": load, "deadline": _fixed("5ms")},
            {**long, "from": "6-7"},
        ],
        "measure": {},
    }


def _pecn(answers: Level, scale: Scale) -> _Tables:
    rounds = _at(scale, quick=4, full=20)
    incast: _Tables = {"kind": "incast", "flows": answers, "from": "0-18", "to": 19, "at": "300ms", "jitter": "10us"}
    incast |= {"repeat": rounds, "every": "300ms", "sizes": _uniform("2KB", "50KB")}
    return {
        **{"duration": f"{300 * (rounds + 1)}ms", "warmup": "100ms", "drain": "10s"},
        **{"topology": PECN_TREE, "switch": PECN_SWITCH, "tcp": PECN_TCP},
        "traffic": [
            {**incast, "deadline": _uniform("20ms", "30ms")},
            {"kind": "long-lived", "flows": 2, "from": "17-18", "to": 19},
        ],
    }


def _atcp(load: Level, scale: Scale) -> _Tables:
    answers = {"kind": "arrivals", "pattern": "many-to-one", "from": "1-39", "to": 0, "interarrival": INTERARRIVAL}
    # Mean sizes 21.5 KB and 2.15 MB, with equal numbers of flows.
    short, long = load * 0.0099, load * 0.9901
    return {
        **shipped("atcp-answers"),
        "duration": _at(scale, quick="1s", full="60s"),
        "warmup": _at(scale, quick="100ms", full="2s"),
        "drain": _at(scale, quick="5s", full="60s"),
        "traffic": [
            {**answers, "class": "short", "sizes": SMALL_SIZES, "load": short, "deadline": _fixed("30ms")},
            {**answers, "class": "long", "sizes": MEDIUM_SIZES, "load": long},
            {"kind": "long-lived", "class": "background", "flows": 1, "from": 40, "to": 0},
        ],
    }


def _fast(answers: Level, scale: Scale) -> _Tables:
    tables = shipped("two-tier-incast")
    (incast,) = tables["traffic"]
    rounds = _at(scale, quick=5, full=100)
    return {
        **tables,
        "duration": f"{100 * rounds}ms",
        "drain": "10s",
        "parameters": {},
        "traffic": [{**incast, "flows": answers, "repeat": rounds, "deadline": _fixed("20ms")}],
        "measure": {},
    }


@dataclass(frozen=True)
class Published:
    """A published distribution of flow sizes, divided into short and long flows."""

    name: str
    short_bytes: float
    """Share of all bytes that are in short flows."""
    quick_short_bytes: float
    """Share of all bytes that are in short flows, if there are no flows above `QUICK_MAX`."""
    quick: str
    """Duration of a run at the quick scale."""
    full: str
    """Duration of a run at the full scale."""

    QUICK_MAX = "3MB"
    """Largest size of a flow at the quick scale."""

    def tables(self, load: Level, scale: Scale) -> _Tables:
        """Tables of a scenario with all-to-all traffic among eight hosts on a 10 Gbps switch."""
        quick = scale is Scale.QUICK
        share = self.quick_short_bytes if quick else self.short_bytes
        sizes = {"kind": "published", "name": self.name}
        ends, deadline = {"kind": "poisson", "pattern": "all-to-all"}, _uniform("500us", "1500us")
        short, long = {**sizes, "max": SHORT_UP_TO}, {**sizes, "min": SHORT_UP_TO}
        if quick:
            long["max"] = self.QUICK_MAX
        return {
            "duration": self.quick if quick else self.full,
            "warmup": "1ms",
            "drain": _at(scale, quick="1s", full="10s"),
            "topology": {"kind": "star", "hosts": 8, "rate": "10Gbps", "rtt": "80us"},
            "switch": {"buffer": "250pkt", "mark_above": "65pkt"},
            "tcp": {"rto_min": "10ms", "initial_window": 10},
            "traffic": [
                {**ends, "class": "short", "sizes": short, "load": load * share, "deadline": deadline},
                {**ends, "class": "long", "sizes": long, "load": load * (1 - share)},
            ],
        }


def _at(scale: Scale, *, quick: Any, full: Any) -> Any:
    return quick if scale is Scale.QUICK else full


def _fixed(value: str) -> Mapping[str, str]:
    return {"kind": "fixed", "value": value}


def _uniform(low: str, high: str) -> Mapping[str, str]:
    return {"kind": "uniform", "min": low, "max": high}


PUBLISHED = (
    Published("websearch", 0.010226, 0.054756, quick="10ms", full="1s"),
    Published("datamining", 0.00044811, 0.032067, quick="6ms", full="1s"),
    Published("facebook-hadoop", 0.079062, 0.14983, quick="6ms", full="200ms"),
    Published("alibaba-storage", 0.24304, 0.24304, quick="4ms", full="100ms"),
)

_ENDS = "all to all on a 10 Gbps star of 8 hosts"
_STAR = (
    "ours: 8 hosts on a switch of 10 Gbps, all to all, 80 us, 250-packet buffers, K = 65, initial window 10; short is "
    "up to 100 KB, with deadlines U[0.5, 1.5] ms; at the quick scale no flow is above 3 MB"
)

WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(
            "l2dct",
            "L2DCT's benchmark: short flows U[2, 98] KB beside two long ones to one receiver",
            "Sec. III-A of the paper: 1 Gbps, 300 us, K = 20; deadlines exponential with mean 40 ms, as in its Fig. 10",
            LOADS,
            _l2dct,
        ),
        Workload(
            "xdctcp",
            "xDCTCP's star: queries of 2 KB and short flows of 512 KB beside two long ones to one receiver",
            "Table I of the paper: 10 Gbps, 100 us, K = 65, persistent connections; ours: Poisson arrivals instead of "
            "fixed clocks, 3000 queries a second, the load of the flows of 512 KB, deadlines of 5 ms",
            LOADS,
            _xdctcp,
        ),
        Workload(
            "pecn",
            "pECN's bursts: answers U[2, 50] KB at once, beside two long flows to the same receiver",
            "Sec. 5 and Fig. 11 of the paper: 1 Gbps in the rack, K = 30 KB, RTOmin 200 ms, deadlines U[20, 30] ms; "
            "ours: a burst every 300 ms",
            (20, 50, 80),
            _pecn,
        ),
        Workload(
            "atcp",
            "ATCP's tree: answers of 1 KB to 10 MB to one host, beside a background flow",
            "Sec. VII-C of the paper: tree with full bisection, 1 and 10 Gbps, deadlines of 30 ms; ours: 100-packet "
            "buffers, RTOmin 200 ms, answers that arrive with the inter-arrival times of its trace instead of queries; "
            "short is up to 100 KB",
            LOADS,
            _atcp,
        ),
        Workload(
            "fast",
            "FaST's queries: answers of 10 KB from five racks at once to one host",
            "Sec. V of the paper: 1 and 10 Gbps, 100 KB per port, K = 30 KB, RTOmin 10 ms; ours: a query every 100 ms, "
            "a connection for each answer, deadlines of 20 ms; there are no long flows",
            (20, 50, 100),
            _fast,
        ),
        *(Workload(each.name, f"Flow sizes of {each.name}, {_ENDS}", _STAR, LOADS, each.tables) for each in PUBLISHED),
    )
}
