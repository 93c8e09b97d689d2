"""Fig. 1: three overlapping flows under ideal schedulers."""

from shortflow.lab import Data, Figure, Finding, Study, all_hold, at_most, fact

# Only the drawing gives the instance; of those in half units this is the one with the nine printed times. A unit of
# size is 1 GB and one of time 1 s; headers and propagation are made negligible, since the figure has neither. Under LAS
# flow A ends at the very instant at which it would have to share with C, so it starts 0.5 ms late, and B 1 ms.
TOLERANCE = 1e-3
FLOWS = {"A": (1000.5, 1), "B": (2001, 2), "C": (0, 4)}


def _flow(host: int, start_ms: float, size: int) -> dict[str, object]:
    return {
        "kind": "incast",
        "flows": 1,
        "from": host,
        "to": 3,
        "at": f"{start_ms}ms",
        "sizes": {"kind": "fixed", "value": f"{size}GB"},
    }


SCHEDULERS = ("ideal-ps", "ideal-srpt", "ideal-las")
THREE = Study(
    {
        "title": "Three overlapping flows of 1, 2 and 4 GB at 1 GB/s",
        "duration": "3s",
        "drain": "10s",
        "topology": {"kind": "star", "hosts": 4, "rate": "8Gbps", "rtt": "10ns"},
        "switch": {"buffer": "250pkt", "mark_above": "20pkt"},
        "tcp": {"mss": "10000B", "header": "1B"},
        "traffic": [_flow(host, start, size) for host, (start, size) in enumerate(FLOWS.values())],
    },
    schemes=SCHEDULERS,
    seeds=1,
    quick_seeds=1,
)
MANY = Study(
    "l2dct-pareto",
    schemes=SCHEDULERS,
    over={"load": (0.5,)},
    settings={"traffic.1.flows": 1},
    quick_settings={"duration": "2s"},
)

fig1 = Figure("l2dct/fig1", "Fig. 1", "Processor sharing, SRPT and LAS on three flows", {"three": THREE, "many": MANY})

WITHIN = "every time within 0.1 % of the fluid scheduler's"


def _times(three: Data, scheme: str) -> list[float]:
    """Completion times in the order of the hosts."""
    (result,) = three.results(scheme)
    return [float(fct) for fct in result.flows.sort("source")["fct_s"]]


def _judge(three: Data, scheme: str, paper: tuple[float, ...]) -> Finding:
    found = _times(three, scheme)
    holds = all(abs(ours - theirs) <= TOLERANCE * theirs for ours, theirs in zip(found, paper, strict=True))
    return fact(holds, afct=sum(found) / 3, fct=found)


@fig1.claim("fig1-ps-afct", "processor sharing takes 4.67 units of time on average", WITHIN)
def processor_sharing(three: Data) -> Finding:
    return _judge(three, "ideal-ps", (2.5, 4.5, 7.0))


@fig1.claim("fig1-srpt-afct", "SRPT takes 3.33 units of time on average", WITHIN)
def shortest_remaining(three: Data) -> Finding:
    return _judge(three, "ideal-srpt", (1.0, 2.0, 7.0))


@fig1.claim("fig1-las-afct", "LAS takes 3.67 units of time on average", WITHIN)
def least_attained(three: Data) -> Finding:
    return _judge(three, "ideal-las", (1.0, 3.0, 7.0))


@fig1.claim(
    "fig1-las-between",
    "LAS lies between SRPT and processor sharing",
    "SRPT <= LAS <= PS on the three flows, and on Pareto flows at load 0.5",
)
def between(three: Data, many: Data) -> Finding:
    srpt, las, ps = (sum(_times(three, name)) / 3 for name in ("ideal-srpt", "ideal-las", "ideal-ps"))
    return all_hold(
        {
            "three flows": fact(srpt <= las <= ps, srpt=srpt, las=las, ps=ps),
            "Pareto, SRPT over LAS": at_most(many.change("ideal-srpt", "ideal-las", "afct_short_s", load=0.5), 0.0),
            "Pareto, LAS over PS": at_most(many.change("ideal-las", "ideal-ps", "afct_short_s", load=0.5), 0.0),
        }
    )
