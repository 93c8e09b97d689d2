"""Sec. V-C: weights keep the link as busy as TCP does."""

from shortflow import lab
from shortflow.papers.atcp.fig05 import PATH
from shortflow.papers.atcp.setup import BASE, BUFFER

SHARED: dict[str, object] = {
    "title": "Long flows over the same two hops of 100 Mbps",
    "duration": "20s",
    "warmup": "5s",
    "parameters": {**BUFFER, "flows": 2},
    **PATH,
    "traffic": [{"kind": "long-lived", "class": "long", "flows": "$flows", "from": 0, "to": 1, "stagger": "100ms"}],
    "measure": {"ports": ["s0->h1"]},
}
# With this T, each flow's weight changes from high to low within the run, at different times.
LINK = lab.Study(
    SHARED,
    ("tcp", "atcp"),
    over={"flows": (2, 4, 10), "transport.w_high": (2, 3)},
    settings={**BASE, "transport.t1": "25MB", "transport.t2": "25MB"},
    seeds=1,
)

USE = {name: lab.level(name, "utilisation").over("flows", "transport.w_high") for name in ("tcp", "atcp")}

utilisation = lab.Figure("atcp/sec5a", "Sec. V-C", "Use of the link", {"link": LINK}).decides(
    lab.Claim("atcp/sec5a-high-utilisation").says(
        "weighted growth keeps the link as busy as TCP",
        lab.difference(USE["atcp"], USE["tcp"]).within(-0.02, 0.02),
        no_harm=True,
    )
)
