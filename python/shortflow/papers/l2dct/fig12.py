"""Fig. 12: long flows of L2DCT with a fixed k beside long flows of TCP with ECN, in one marking queue."""

from collections.abc import Sequence

from shortflow.lab import Data, Drawing, Figure, Finding, Line, Study, all_hold, at_least, fact
from shortflow.metrics.stats import rank_correlation
from shortflow.papers.l2dct import mixed

STEPS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0)

_TABLES: dict[str, object] = {
    "title": "Long flows of two kinds over a 1 Gbps bottleneck",
    "duration": "20s",
    "warmup": "5s",
    "parameters": {"flows": 1},
    "topology": {"kind": "dumbbell", "pairs": 4, "rate": "10Gbps", "bottleneck": "1Gbps", "rtt": "300us"},
    "switch": {"buffer": "250pkt", "mark_above": "20pkt"},
    "tcp": {"rto_min": "10ms"},
    "traffic": [
        {"kind": "long-lived", "class": "short", "flows": "$flows", "from": "0-1", "to": 4},
        {"kind": "long-lived", "class": "long", "flows": "$flows", "from": "2-3", "to": 4, "start": "1ms"},
    ],
    "measure": {"ports": ["s0->s1"]},
}
# The class `short` is L2DCT and `long` is TCP: a law written in Python tells them apart by their class.
COEXISTENCE = Study(
    _TABLES,
    schemes=(f"{mixed.__file__}:BesideTcp",),
    over={"flows": (1, 2), "transport.k": STEPS},
    quick={"transport.k": (0.05, 0.1, 0.25, 0.5, 1.0)},
    quick_settings={"duration": "1500ms", "warmup": "500ms"},
    seeds=1,
    quick_seeds=1,
)

fig12 = Figure("l2dct/fig12", "Fig. 12", "L2DCT beside TCP, over k", {"coexistence": COEXISTENCE})


def _ratios(coexistence: Data, flows: int) -> list[float]:
    """L2DCT's goodput over TCP's at every k."""
    ratios = []
    for k in coexistence.values("transport.k"):
        l2dct, tcp = (
            coexistence.mean("BesideTcp", f"goodput_{name}_bps", flows=flows, transport__k=k).value
            for name in ("short", "long")
        )
        ratios.append(l2dct / tcp)
    return ratios


def _steps(coexistence: Data) -> list[float]:
    return [float(k) for k in coexistence.values("transport.k")]


@fig12.drawing
def ratios(coexistence: Data) -> Sequence[Drawing]:
    lines = [Line(f"{n} flows each", _steps(coexistence), _ratios(coexistence, n)) for n in (1, 2)]
    return [Drawing("Goodput of L2DCT over that of TCP", "k", "ratio", lines)]


@fig12.claim(
    "fig12a-coexistence-1v1",
    "with one flow each L2DCT's share grows with k and far exceeds TCP's",
    "rank correlation above 0.8; a ratio above 1.5 at k = 1",
)
def one_each(coexistence: Data) -> Finding:
    found = _ratios(coexistence, 1)
    trend = at_least(rank_correlation(found), 0.8, ratios=found)
    return all_hold({"rank correlation": trend, "ratio at k = 1": at_least(found[-1], 1.5)})


@fig12.claim(
    "fig12b-coexistence-2v2", "with two flows each L2DCT's share grows with k too", "rank correlation above 0.8"
)
def two_each(coexistence: Data) -> Finding:
    found = _ratios(coexistence, 2)
    return at_least(rank_correlation(found), 0.8, ratios=found)


@fig12.claim(
    "fig12-fair-below-quarter",
    "a k below 0.25 is fair to TCP",
    "a ratio within 0.5 to 2 somewhere from k = 0.05 to 0.25, with one flow each",
)
def fair(coexistence: Data) -> Finding:
    found = dict(zip(_steps(coexistence), _ratios(coexistence, 1), strict=True))
    low = {k: ratio for k, ratio in found.items() if k <= 0.25}
    crossing = next((k for k, ratio in found.items() if ratio >= 1), float("inf"))
    return fact(any(0.5 <= ratio <= 2 for ratio in low.values()), first_k_above_tcp=crossing, ratios=list(low.values()))
