"""Sec. II-A and Fig. 2: the window law, evaluated with the simulator's own law."""

import itertools
from collections.abc import Sequence

from shortflow import lab
from shortflow._core import Law
from shortflow.papers.common import MSS, acked, cut, new_law, series
from shortflow.papers.l2dct.setup import bottleneck

ALPHAS = tuple(i / 20 for i in range(21))
WEIGHTS = (0.125, 0.5, 1.0, 1.5, 2.0, 2.5)

# Six packets of one window are marked; the link marks and drops nothing else.
MARKED_BURST = lab.Study(
    bottleneck(
        "One flow, of which six packets of one window are marked",
        1,
        [{"kind": "long-lived", "flows": 1, "from": 0, "to": 1}],
        duration="40ms",
        switch={"buffer": "unlimited", "mark_above": "unlimited"},
        tcp={"rto_min": "10ms", "initial_window": 2, "receive_window": "40pkt"},
        faults={"mark_data": list(range(1000, 1006))},
        measure={"ports": ["s0->s1"], "sample_every": "10us"},
    ),
    ("l2dct",),
    settings={"transport.initial_alpha": 1},
    seeds=1,
)


def growth(law: Law) -> float:
    """Segments added by one window of unmarked ACKs, in units of 1/cwnd per ACK."""
    before = law.cwnd
    return (acked(law, 1).cwnd - before) * before


def after(sent: float, cwnd: float = 10.0, alpha: float = 0.0) -> Law:
    """Law of a flow that has sent this many bytes."""
    return new_law("l2dct", cwnd, {"initial_alpha": alpha}, sent)


def share_cut(alpha: float, weight: float) -> float:
    """Share of the window that one mark removes from a flow of constant weight."""
    return 1 - cut(new_law("l2dct", 1000.0, {"initial_alpha": alpha, "w_max": weight, "w_min": weight})) / 1000.0


def _moving_average() -> lab.Pairs:
    full, quarter = after(0), after(0, alpha=0.4)
    for _ in range(10):
        full.ack(MSS, True, True)
    for last in (False, False, False, True):
        quarter.ack(MSS, last, last)
    return {
        "after 10 marked windows": (full.alpha or 0.0, 1 - (15 / 16) ** 10),
        "after a quarter": (quarter.alpha or 0.0, 0.25 / 16 + 0.4 * 15 / 16),
    }


def _cuts_of_six(burst: lab.Data) -> lab.Pairs:
    windows = series(burst.results("l2dct")[0], "cwnd_seg")["value"].to_list()
    return {"cuts for six marks of a window": (sum(a < b for b, a in itertools.pairwise(windows)), 1)}


def _increase() -> lab.Pairs:
    fresh, long = (acked(after(sent, cwnd=45.0), 45).cwnd - 45.0 for sent in (0, 2e6))
    return {"fresh": (fresh, 1.0), "long": (long, 0.05)}


def _profile() -> lab.Pairs:
    paper = {0: 2.5, 200: 2.5, 600: 1.3125, 1000: 0.125, 10_000: 0.125}
    return {f"at {kb} KB": (2.5 * growth(after(kb * 1e3)), weight) for kb, weight in paper.items()}


def _bends() -> lab.Finding:
    b = {weight: [2 * share_cut(alpha, weight) for alpha in ALPHAS] for weight in WEIGHTS}
    signs = all(
        abs(bend) < lab.EXACT if weight == 1 else bend * (weight - 1) > 0
        for weight, of in b.items()
        for bend in (low - 2 * middle + high for low, middle, high in zip(of, of[1:], of[2:], strict=False))
    )
    falls = all(
        b[low][at] > b[high][at] for at in range(1, len(ALPHAS) - 1) for low, high in itertools.pairwise(WEIGHTS)
    )
    ends = all(lab.same(of[0], 0.0) and lab.same(of[-1], 1.0) for of in b.values())
    return lab.fact(signs and falls and ends, b_at_one_tenth=[2 * share_cut(0.1, weight) for weight in WEIGHTS])


def _draw() -> Sequence[lab.Drawing]:
    lines = [lab.Line(f"w = {w:g}", ALPHAS, [2 * share_cut(a, w) for a in ALPHAS], markers=False) for w in WEIGHTS]
    return [lab.Drawing("Backoff penalty", "congestion estimate alpha", "penalty b", lines)]


equations = lab.Figure("l2dct/eq1-4", "Sec. II-A, Eqs. 1-4", "The window law", {"burst": MARKED_BURST})
equations.claim("l2dct/eq-alpha-ewma", "Sec. II-A").says(
    "alpha is a moving average of the share of marked bytes, one step a window: alpha = g*F + (1-g)*alpha",
    lab.equal(_moving_average),
)
equations.claim("l2dct/eq1-increase-factor", "Eq. 1").says(
    "the window grows by k = w_c/w_max segments per round trip, from 1 down to 0.05",
    lab.equal(lambda: {"k_at_wmax": (growth(after(0)), 1.0), "k_at_wmin": (growth(after(2e6)), 0.05)}),
)
equations.claim("l2dct/eq2-backoff-penalty", "Eq. 2").says(
    "the penalty b is alpha to the power of the weight: b = alpha^w_c",
    lab.equal(lambda: {f"alpha {a:g}, w {w:g}": (2 * share_cut(a, w), a**w) for a in ALPHAS for w in WEIGHTS}),
)
equations.claim("l2dct/eq3-window-decrease", "Eq. 3", equation=True).says(
    "a mark takes b/2 of the window, once in a window of data: cwnd = cwnd * (1 - b/2)",
    lab.equal(
        lambda: {"window after a cut of 100": (cut(after(0, cwnd=100.0, alpha=0.25)), 100 * (1 - 0.25**2.5 / 2))}
    ),
    lab.equal(_cuts_of_six),
)
equations.claim("l2dct/eq4-window-increase", "Eq. 4").says(
    "without marks a window of ACKs adds k segments: cwnd = cwnd + k per RTT", lab.equal(_increase, error=0.02)
)
equations.claim("l2dct/sec2-extremes", "Sec. II-A").says(
    "alpha 1 halves the window and alpha 0 leaves it, whatever the weight",
    lab.equal(lambda: {f"alpha {a:g}, w {w:g}": (share_cut(a, w), a / 2) for a in (1.0, 0.0) for w in WEIGHTS}),
)
equations.claim("l2dct/sec3-weight-profile", "Sec. III").says(
    "the weight is 2.5 up to 200 KB, and falls to 0.125 at 1 MB", lab.equal(_profile)
)
equations.claim("l2dct/sec3b-k-long-flows", "Sec. III-B, III-D").says(
    "flows of more than 1 MB grow by 0.05 segments per round trip",
    lab.equal(lambda: {"k": (growth(after(10e6)), 0.05)}),
)
fig2 = lab.Figure("l2dct/fig2", "Fig. 2", "The backoff penalty over the congestion estimate")
fig2.claim("l2dct/fig2-penalty-shape").says(
    "b is concave in alpha for weights below 1, linear at 1 and convex above",
    lab.decided("signs of all second differences; b falls with the weight", _bends),
)
fig2.draw(_draw)
code = lab.Figure("l2dct/sec1", "Sec. I", "The size of the change")
code.claim("l2dct/sec1-small-change").says(
    "the Linux version changes fewer than 75 lines of TCP",
    lab.unmeasured("the paper's kernel module is not public, and lines of a simulator say nothing about it"),
)
