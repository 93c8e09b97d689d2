"""Sec. II-A and Fig. 2: the window law, asked of the very code that simulates."""

import itertools
import math
from collections.abc import Sequence

from shortflow._core import Law
from shortflow.lab import Data, Drawing, Figure, Finding, Line, Study, fact, not_tested

EXACT = "relative error below 1e-9"
SEGMENT = 1460
ALPHAS = tuple(i / 20 for i in range(21))
WEIGHTS = (0.125, 0.5, 1.0, 1.5, 2.0, 2.5)

# Six packets of one window are marked, in a link that marks and drops nothing else.
MARKED_BURST = Study(
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
    quick_seeds=1,
)

equations = Figure("l2dct/eq1-4", "Sec. II-A, Eqs. 1-4", "The window law", {"burst": MARKED_BURST})
fig2 = Figure("l2dct/fig2", "Fig. 2", "The backoff penalty over the congestion estimate")
code = Figure("l2dct/sec1", "Sec. I", "The size of the change")


def near(value: float, expected: float) -> bool:
    """Whether two numbers are the same but for rounding."""
    return math.isclose(value, expected, rel_tol=1e-9, abs_tol=1e-12)


def _growth(law: Law) -> float:
    """Segments that one window of unmarked ACKs adds, in units of 1/cwnd per ACK."""
    before = law.cwnd
    law.ack(SEGMENT, False, True)
    return (law.cwnd - before) * before


def _after(sent: float, cwnd: float = 10.0, alpha: float = 0.0) -> Law:
    """The law of a flow that has sent so many bytes."""
    law = Law("l2dct", [("initial_alpha", str(alpha))], cwnd)
    law.sent = int(sent)
    return law


def _cut(alpha: float, weight: float) -> float:
    """The share of the window that one mark takes from a flow of constant weight."""
    settings = [("initial_alpha", str(alpha)), ("w_max", str(weight)), ("w_min", str(weight))]
    law = Law("l2dct", settings, 1000.0)
    law.congestion("ecn-echo")
    return 1 - law.cwnd / 1000.0


@equations.claim("eq-alpha-ewma", "alpha is a moving average of the share of marked bytes, one step a window", EXACT)
def moving_average() -> Finding:
    full, quarter = _after(0), _after(0, alpha=0.4)
    for _ in range(10):
        full.ack(SEGMENT, True, True)
    for last in (False, False, False, True):
        quarter.ack(SEGMENT, last, last)
    grown, mixed = full.alpha or 0.0, quarter.alpha or 0.0
    holds = near(grown, 1 - (15 / 16) ** 10) and near(mixed, 0.25 / 16 + 0.4 * 15 / 16)
    return fact(holds, after_10_marked_windows=grown, after_a_quarter=mixed)


@equations.claim("eq1-increase-factor", "the window grows by w_c/w_max segments per round trip", EXACT)
def increase_factor() -> Finding:
    k_fresh, k_old = _growth(_after(0)), _growth(_after(2e6))
    return fact(near(k_fresh, 1.0) and near(k_old, 0.05), k_at_wmax=k_fresh, k_at_wmin=k_old)


@equations.claim("eq2-backoff-penalty", "the penalty b is alpha to the power of the weight", EXACT)
def penalty() -> Finding:
    found = {(alpha, weight): 2 * _cut(alpha, weight) for alpha in ALPHAS for weight in WEIGHTS}
    holds = all(near(b, alpha**weight) for (alpha, weight), b in found.items())
    return fact(holds, at_wmax=found[0.25, 2.5], at_w1=found[0.25, 1.0], at_wmin=found[0.25, 0.125])


@equations.claim("eq3-window-decrease", "a mark takes b/2 of the window, once in a window of data", f"{EXACT}; one cut")
def decrease(burst: Data) -> Finding:
    law = _after(0, cwnd=100.0, alpha=0.25)
    law.congestion("ecn-echo")
    cuts = [_count_cuts(result.samples.filter(kind="cwnd_seg")["value"].to_list()) for result in burst.results("l2dct")]
    holds = near(law.cwnd, 100 * (1 - 0.25**2.5 / 2)) and all(number == 1 for number in cuts)
    return fact(holds, window_after_cut_of_100=law.cwnd, cuts_for_six_marks_of_a_window=cuts)


def _count_cuts(windows: Sequence[float]) -> int:
    return sum(after < before for before, after in itertools.pairwise(windows))


@equations.claim("eq4-window-increase", "without marks a window of ACKs adds k segments", "within 2 % of k")
def increase() -> Finding:
    added = {}
    for name, sent in (("fresh", 0.0), ("long", 2e6)):
        law = _after(sent, cwnd=45.0)
        for number in range(45):
            law.ack(SEGMENT, False, number == 44)
        added[name] = law.cwnd - 45.0
    holds = abs(added["fresh"] - 1) < 0.02 and abs(added["long"] - 0.05) < 0.001
    return fact(holds, **added)


@equations.claim("sec2-extremes", "alpha 1 halves the window and alpha 0 leaves it, whatever the weight", EXACT)
def extremes() -> Finding:
    halves, nothing = ([_cut(alpha, weight) for weight in WEIGHTS] for alpha in (1.0, 0.0))
    return fact(
        all(near(cut, 0.5) for cut in halves) and all(near(cut, 0.0) for cut in nothing),
        alpha1_cut=halves,
        alpha0_cut=nothing,
    )


@equations.claim("sec3-weight-profile", "the weight is 2.5 up to 200 KB, and falls to 0.125 at 1 MB", EXACT)
def profile() -> Finding:
    weights = [2.5 * _growth(_after(kb * 1e3)) for kb in (0, 200, 600, 1000, 10_000)]
    holds = all(near(found, paper) for found, paper in zip(weights, (2.5, 2.5, 1.3125, 0.125, 0.125), strict=True))
    return fact(holds, w_c=weights)


@equations.claim("sec3b-k-long-flows", "flows of more than 1 MB grow by 0.05 segments per round trip", EXACT)
def long_step() -> Finding:
    k = _growth(_after(10e6))
    return fact(near(k, 0.05), k=k)


@fig2.drawing
def penalties() -> Sequence[Drawing]:
    lines = [Line(f"w = {w:g}", ALPHAS, [2 * _cut(a, w) for a in ALPHAS], markers=False) for w in WEIGHTS]
    return [Drawing("Backoff penalty", "congestion estimate alpha", "penalty b", lines)]


@fig2.claim(
    "fig2-penalty-shape",
    "b is concave in alpha for weights below 1, linear at 1 and convex above",
    "signs of all second differences; b falls with the weight",
)
def shape() -> Finding:
    bends = {}
    for weight in WEIGHTS:
        b = [2 * _cut(alpha, weight) for alpha in ALPHAS]
        bends[weight] = [low - 2 * middle + high for low, middle, high in zip(b, b[1:], b[2:], strict=False)]
    signs = all(
        abs(bend) < 1e-9 if weight == 1 else bend * (weight - 1) > 0
        for weight, found in bends.items()
        for bend in found
    )
    falls = all(
        2 * _cut(alpha, low) > 2 * _cut(alpha, high)
        for alpha in ALPHAS[1:-1]
        for low, high in itertools.pairwise(WEIGHTS)
    )
    ends = all(near(_cut(0.0, weight), 0.0) and near(_cut(1.0, weight), 0.5) for weight in WEIGHTS)
    return fact(signs and falls and ends, b_at_one_tenth=[2 * _cut(0.1, weight) for weight in WEIGHTS])


@code.claim("sec1-small-change", "the Linux version changes fewer than 75 lines of TCP", "not measured")
def lines_of_code() -> Finding:
    return not_tested("the paper's kernel module is not public, and lines of a simulator say nothing about it")
