"""Sec. II-A and Fig. 2: the window law, evaluated with the simulator's own law."""

import itertools
from collections.abc import Sequence

from shortflow import lab
from shortflow._core import Law

SEGMENT = 1460
ALPHAS = tuple(i / 20 for i in range(21))
WEIGHTS = (0.125, 0.5, 1.0, 1.5, 2.0, 2.5)

# Six packets of one window are marked; the link marks and drops nothing else.
MARKED_BURST = lab.Study(
    {
        "title": "One flow, of which six packets of one window are marked",
        "duration": "40ms",
        "topology": {"kind": "dumbbell", "pairs": 1, "rate": "10Gbps", "bottleneck": "1Gbps", "rtt": "300us"},
        "switch": {"buffer": "unlimited", "mark_above": "unlimited"},
        "tcp": {"rto_min": "10ms", "receive_window": "40pkt"},
        "traffic": [{"kind": "long-lived", "flows": 1, "from": 0, "to": 1}],
        "faults": {"mark_data": list(range(1000, 1006))},
        "measure": {"ports": ["s0->s1"], "sample_every": "10us"},
    },
    schemes=("l2dct",),
    settings={"transport.initial_alpha": 1},
    seeds=1,
)


def growth(law: Law) -> float:
    """Segments added by one window of unmarked ACKs, in units of 1/cwnd per ACK."""
    before = law.cwnd
    law.ack(SEGMENT, False, True)
    return (law.cwnd - before) * before


def after(sent: float, cwnd: float = 10.0, alpha: float = 0.0) -> Law:
    """Law of a flow that has sent this many bytes."""
    law = Law("l2dct", [("initial_alpha", str(alpha))], cwnd)
    law.sent = int(sent)
    return law


def cut(alpha: float, weight: float) -> float:
    """Share of the window that one mark removes from a flow of constant weight."""
    settings = [("initial_alpha", str(alpha)), ("w_max", str(weight)), ("w_min", str(weight))]
    law = Law("l2dct", settings, 1000.0)
    law.congestion("ecn-echo")
    return 1 - law.cwnd / 1000.0


def _moving_average() -> lab.Pairs:
    full, quarter = after(0), after(0, alpha=0.4)
    for _ in range(10):
        full.ack(SEGMENT, True, True)
    for last in (False, False, False, True):
        quarter.ack(SEGMENT, last, last)
    return {
        "after 10 marked windows": (full.alpha or 0.0, 1 - (15 / 16) ** 10),
        "after a quarter": (quarter.alpha or 0.0, 0.25 / 16 + 0.4 * 15 / 16),
    }


def _decrease() -> lab.Pairs:
    law = after(0, cwnd=100.0, alpha=0.25)
    law.congestion("ecn-echo")
    return {"window after a cut of 100": (law.cwnd, 100 * (1 - 0.25**2.5 / 2))}


def _cuts_of_six(burst: lab.Data) -> lab.Pairs:
    (result,) = burst.results("l2dct")
    windows = lab.some(result.samples.filter(kind="cwnd_seg"), "samples")["value"].to_list()
    return {"cuts for six marks of a window": (sum(a < b for b, a in itertools.pairwise(windows)), 1)}


def _increase() -> lab.Pairs:
    added = {}
    for name, sent, k in (("fresh", 0.0, 1.0), ("long", 2e6, 0.05)):
        law = after(sent, cwnd=45.0)
        for number in range(45):
            law.ack(SEGMENT, False, number == 44)
        added[name] = (law.cwnd - 45.0, k)
    return added


def _profile() -> lab.Pairs:
    paper = {0: 2.5, 200: 2.5, 600: 1.3125, 1000: 0.125, 10_000: 0.125}
    return {f"at {kb} KB": (2.5 * growth(after(kb * 1e3)), weight) for kb, weight in paper.items()}


def _bends() -> lab.Finding:
    b = {weight: [2 * cut(alpha, weight) for alpha in ALPHAS] for weight in WEIGHTS}
    signs = all(
        abs(bend) < lab.EXACT if weight == 1 else bend * (weight - 1) > 0
        for weight, of in b.items()
        for bend in (low - 2 * middle + high for low, middle, high in zip(of, of[1:], of[2:], strict=False))
    )
    falls = all(
        b[low][at] > b[high][at] for at in range(1, len(ALPHAS) - 1) for low, high in itertools.pairwise(WEIGHTS)
    )
    ends = all(lab.same(of[0], 0.0) and lab.same(of[-1], 1.0) for of in b.values())
    return lab.fact(signs and falls and ends, b_at_one_tenth=[2 * cut(0.1, weight) for weight in WEIGHTS])


def _draw() -> Sequence[lab.Drawing]:
    lines = [lab.Line(f"w = {w:g}", ALPHAS, [2 * cut(a, w) for a in ALPHAS], markers=False) for w in WEIGHTS]
    return [lab.Drawing("Backoff penalty", "congestion estimate alpha", "penalty b", lines)]


equations = lab.Figure("l2dct/eq1-4", "Sec. II-A, Eqs. 1-4", "The window law", {"burst": MARKED_BURST}).decides(
    lab.Claim("l2dct/eq-alpha-ewma", "Sec. II-A").says(
        "alpha is a moving average of the share of marked bytes, one step a window: alpha = g*F + (1-g)*alpha",
        lab.equal(_moving_average),
    ),
    lab.Claim("l2dct/eq1-increase-factor", "Eq. 1").says(
        "the window grows by k = w_c/w_max segments per round trip, from 1 down to 0.05",
        lab.equal(lambda: {"k_at_wmax": (growth(after(0)), 1.0), "k_at_wmin": (growth(after(2e6)), 0.05)}),
    ),
    lab.Claim("l2dct/eq2-backoff-penalty", "Eq. 2").says(
        "the penalty b is alpha to the power of the weight: b = alpha^w_c",
        lab.equal(lambda: {f"alpha {a:g}, w {w:g}": (2 * cut(a, w), a**w) for a in ALPHAS for w in WEIGHTS}),
    ),
    lab.Claim("l2dct/eq3-window-decrease", "Eq. 3", equation=True).says(
        "a mark takes b/2 of the window, once in a window of data: cwnd = cwnd * (1 - b/2)",
        lab.equal(_decrease),
        lab.equal(_cuts_of_six),
    ),
    lab.Claim("l2dct/eq4-window-increase", "Eq. 4").says(
        "without marks a window of ACKs adds k segments: cwnd = cwnd + k per RTT", lab.equal(_increase, error=0.02)
    ),
    lab.Claim("l2dct/sec2-extremes", "Sec. II-A").says(
        "alpha 1 halves the window and alpha 0 leaves it, whatever the weight",
        lab.equal(lambda: {f"alpha {a:g}, w {w:g}": (cut(a, w), a / 2) for a in (1.0, 0.0) for w in WEIGHTS}),
    ),
    lab.Claim("l2dct/sec3-weight-profile", "Sec. III").says(
        "the weight is 2.5 up to 200 KB, and falls to 0.125 at 1 MB", lab.equal(_profile)
    ),
    lab.Claim("l2dct/sec3b-k-long-flows", "Sec. III-B, III-D").says(
        "flows of more than 1 MB grow by 0.05 segments per round trip",
        lab.equal(lambda: {"k": (growth(after(10e6)), 0.05)}),
    ),
)
fig2 = lab.Figure("l2dct/fig2", "Fig. 2", "The backoff penalty over the congestion estimate").decides(
    lab.Claim("l2dct/fig2-penalty-shape").says(
        "b is concave in alpha for weights below 1, linear at 1 and convex above",
        lab.decided("signs of all second differences; b falls with the weight", _bends),
    ),
    draws=[_draw],
)
code = lab.Figure("l2dct/sec1", "Sec. I", "The size of the change").decides(
    lab.Claim("l2dct/sec1-small-change").says(
        "the Linux version changes fewer than 75 lines of TCP",
        lab.unmeasured("the paper's kernel module is not public, and lines of a simulator say nothing about it"),
    )
)
