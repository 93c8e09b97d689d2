"""Sec. V-C: weights keep the link as busy as TCP does."""

from shortflow.lab import Data, Figure, Finding, Study, all_hold, within
from shortflow.papers.atcp.fig05 import PATH
from shortflow.papers.atcp.setup import BASE

SHARED: dict[str, object] = {
    "title": "Long flows over the same two hops of 100 Mbps",
    "duration": "20s",
    "warmup": "5s",
    "parameters": {"flows": 2},
    **PATH,
    "traffic": [
        {"kind": "long-lived", "class": "long", "flows": "$flows", "from": 0, "to": 1, "stagger": "100ms"},
    ],
    "measure": {"ports": ["s0->h1"]},
}
# T is such that weights change from high to low within the run, at other times for every flow.
LINK = Study(
    SHARED,
    ("tcp", "atcp"),
    over={"flows": (2, 4, 10), "transport.w_high": (2, 3)},
    settings={**BASE, "transport.t1": "25MB", "transport.t2": "25MB"},
    seeds=1,
    quick_seeds=1,
)

utilisation = Figure("atcp/sec5a", "Sec. V-C", "Use of the link", {"link": LINK})


@utilisation.claim(
    "sec5a-high-utilisation", "weighted growth keeps the link as busy as TCP", "within 2 percentage points"
)
def as_busy(link: Data) -> Finding:
    findings = {}
    for flows in link.values("flows"):
        for weight in link.values("transport.w_high"):
            tcp, atcp = (
                link.mean(scheme, "utilisation", flows=flows, transport__w_high=weight).value
                for scheme in ("tcp", "atcp")
            )
            findings[f"{flows} flows, weights {weight} and 1"] = within(atcp - tcp, -0.02, 0.02, tcp=tcp, atcp=atcp)
    return all_hold(findings)
