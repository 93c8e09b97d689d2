"""Fig. 12: long L2DCT flows beside long flows of TCP with ECN, in one marking queue.

After a megabyte a flow has k = w_min / w_max (Eq. 1; Sec. III-D: "k = 0.05 (as w_min = 0.125)"): w_min varies.
"""

import itertools
import math
from collections.abc import Sequence

from shortflow import lab

W_MAX = 2.5
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
        {
            "kind": "long-lived",
            "class": "long",
            "flows": "$flows",
            "from": "2-3",
            "to": 4,
            "start": "1ms",
            "transport": "newreno+ecn=classic",
            "transport_share": 1.0,
        },
    ],
    "measure": {"ports": ["s0->s1"]},
}
COEXISTENCE = lab.Study(
    _TABLES,
    schemes=("l2dct",),
    over={"flows": (1, 2), "transport.w_min": (0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 1.0, 1.25, 1.875, 2.5)},
    quick={"transport.w_min": (0.125, 0.25, 0.625, 1.25, 2.5)},
    quick_settings={"duration": "1500ms", "warmup": "500ms"},
    seeds=1,
)

SIDES = [lab.level("l2dct", f"goodput_{name}_bps") for name in ("short", "long-newreno")]
RATIO = lab.ratio(*SIDES).called("goodput of L2DCT over TCP's").over("transport.w_min")


def _steps(coexistence: lab.Data) -> list[float]:
    """k of a long flow at each w_min."""
    return [float(w_min) / W_MAX for w_min in coexistence.values("transport.w_min")]


def _fair_step(coexistence: lab.Data) -> float:
    """k at which both flows get equal goodput, interpolated between the steps; ∞ if none."""
    ratios = RATIO.at(flows=1).points({"coexistence": coexistence}).values()
    points = [(k, each.value) for k, each in zip(_steps(coexistence), ratios, strict=True)]
    for (k, ratio), (k_after, after) in itertools.pairwise([(0.0, 0.0), *points]):
        if ratio < 1 <= after:
            return k + (k_after - k) * (1 - ratio) / (after - ratio)
    return math.inf


def _over_k(coexistence: lab.Data) -> Sequence[lab.Drawing]:
    steps = _steps(coexistence)
    found = {n: RATIO.at(flows=n).points({"coexistence": coexistence}).values() for n in (1, 2)}
    lines = [lab.Line(f"{n} flows each", steps, [each.value for each in ratios]) for n, ratios in found.items()]
    return [lab.Drawing("Goodput of L2DCT beside TCP", "k of L2DCT", "goodput of L2DCT over TCP's", lines)]


fig12 = lab.Figure("l2dct/fig12", "Fig. 12", "L2DCT beside TCP, over k", {"coexistence": COEXISTENCE}).decides(
    lab.Claim("l2dct/fig12a-coexistence-1v1", "Fig. 12(a)").says(
        "with one flow each L2DCT's share grows with k and far exceeds TCP's",
        RATIO.at(flows=1).trend().at_least(0.8),
        RATIO.at(flows=1, transport__w_min=W_MAX).at_least(1.5),
        shows=[RATIO.at(flows=1)],
    ),
    lab.Claim("l2dct/fig12b-coexistence-2v2", "Fig. 12(b)").says(
        "with two flows each L2DCT's share grows with k too",
        RATIO.at(flows=2).trend().at_least(0.8),
        shows=[RATIO.at(flows=2)],
    ),
    lab.Claim("l2dct/fig12-fair-below-quarter", "Fig. 12, Sec. III-D").says(
        "a k below 0.25 is fair to TCP, down to the 0.05 in use",
        RATIO.at(flows=1, transport__w_min=lab.Every(0.125, 0.625)).within(0.5, 2.0),
        shows=[lab.computed("the k at which one flow of L2DCT gets as much as one of TCP", _fair_step)],
    ),
    draws=[_over_k],
)
