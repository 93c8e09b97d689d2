"""Fig. 1: three overlapping flows under ideal schedulers."""

from collections.abc import Mapping, Sequence

from shortflow_papers import lab
from shortflow_papers.papers.common import burst_of, ns_study

# Starts and sizes are read from the drawing. Among starts and sizes in half units, they are the only ones that give the
# nine printed times. A unit of size is 1 GB, and a unit of time is 1 s. Headers and propagation delay, which the figure
# does not have, are negligible. Under LAS, flow A would end exactly when it must share with C, so A starts 0.5 ms late,
# and B 1 ms.
FLOWS = {"A": (1000.5, 1), "B": (2001, 2), "C": (0, 4)}
"""Start in ms and size in GB of each flow."""


PRINTED = {"ideal-ps": (2.5, 4.5, 7.0), "ideal-srpt": (1.0, 2.0, 7.0), "ideal-las": (1.0, 3.0, 7.0)}
SCHEDULERS = tuple(PRINTED)
THREE = ns_study(
    {
        "title": "Three overlapping flows of 1, 2 and 4 GB at 1 GB/s",
        "duration": "3s",
        "drain": "10s",
        "topology": {"kind": "star", "hosts": 4, "rate": "8Gbps", "rtt": "10ns"},
        "switch": {"buffer": "250pkt", "mark_above": "20pkt"},
        "tcp": {"mss": "10000B", "header": "1B", "initial_window": 2},
        "traffic": [burst_of(i, 3, f"{size}GB", at=f"{start}ms") for i, (start, size) in enumerate(FLOWS.values())],
    },
    schemes=SCHEDULERS,
    seeds=1,
)
MANY = ns_study(
    "l2dct-pareto",
    schemes=SCHEDULERS,
    over={"load": (0.5,)},
    settings={"traffic.1.flows": 1},
    quick={"duration": "2s"},
)


def _times(three: lab.Data, scheme: str) -> list[float]:
    """Completion times in seconds, in the order of the senders."""
    return [float(fct) for fct in lab.some(three.results(scheme)[0].flows, "flows").sort("source")["fct_s"]]


def _fluid(scheme: str) -> lab.ClaimCondition:
    def times(three: lab.Data) -> Mapping[str, tuple[float, float]]:
        pairs = zip(_times(three, scheme), PRINTED[scheme], strict=True)
        return dict(zip(FLOWS, pairs, strict=True))

    return lab.equal(times, error=1e-3)


def _draw(three: lab.Data) -> Sequence[lab.Drawing]:
    places = [1.0, 2.0, 3.0]
    lines = [lab.Line(name, places, _times(three, name)) for name in PRINTED]
    lines += [lab.Line(name, places, printed, printed=True) for name, printed in PRINTED.items()]
    return [lab.Drawing("Completion times of flows A, B and C", "flow", "completion time", lines)]


def _in_order(three: lab.Data) -> lab.Finding:
    srpt, las, ps = (sum(_times(three, name)) / 3 for name in ("ideal-srpt", "ideal-las", "ideal-ps"))
    return lab.fact(srpt <= las <= ps, srpt=srpt, las=las, ps=ps)


fig1 = lab.Figure(
    "l2dct/fig1", "Fig. 1", "Processor sharing, SRPT and LAS on three flows", {"three": THREE, "many": MANY}
)
fig1.claim("l2dct/fig1-ps-afct").says("processor sharing takes 4.67 units of time on average", _fluid("ideal-ps"))
fig1.claim("l2dct/fig1-srpt-afct").says("SRPT takes 3.33 units of time on average", _fluid("ideal-srpt"))
fig1.claim("l2dct/fig1-las-afct").says("LAS takes 3.67 units of time on average", _fluid("ideal-las"))
fig1.claim("l2dct/fig1-las-between").says(
    "LAS lies between SRPT and processor sharing",
    lab.decided("SRPT <= LAS <= PS on the three flows", _in_order),
    lab.change("ideal-srpt", "ideal-las", "afct_short_s", "many").within(high=0.0),
    lab.change("ideal-las", "ideal-ps", "afct_short_s", "many").within(high=0.0),
)
fig1.draw(_draw)
