"""Theorems 1 and 2 and Secs. V-C, VI, VII-A: fluid model, and the weight of the simulated law."""

import itertools

from shortflow import lab
from shortflow.lab.study import Value
from shortflow.papers.common import acked, new_law
from shortflow.papers.theory import Weights, medium_rate, nested_times

START = 10.0
CAPACITY = 102.0
"""Segments in a pipe of 2 and a buffer of 100."""
WEIGHTS = ((1.0, 1.0), (1.0, 2.0), (3.0, 1.0), (0.5, 4.0))


def weight_at(sent: float, **settings: Value) -> float:
    """Growth by one ACK in congestion avoidance, in units of 1/cwnd."""
    flow = new_law("atcp", START, settings)
    flow.sent, flow.ssthresh = int(sent), START
    return (acked(flow, 1).cwnd - START) * START


def _ratios() -> lab.Pairs:
    found = {}
    for (a, b), share in itertools.product(WEIGHTS, (0.0, 0.3, 1.0)):
        first = Weights(a, b).windows(share * CAPACITY, CAPACITY, 60)[-1]
        second = Weights(b, a).windows((1 - share) * CAPACITY, CAPACITY, 60)[-1]
        found[f"{a:g}:{b:g} from {share:g}"] = (first / second, a / b)
    return found


def _recursion() -> lab.Pairs:
    limit = CAPACITY * 2 / 3
    steps = enumerate(itertools.pairwise(Weights(2.0, 1.0).windows(5.0, CAPACITY, 7)), 1)
    return {f"distance after {n}": (after - limit, 0.5 * (before - limit)) for n, (before, after) in steps}


def _rates() -> lab.Pairs:
    first, second = (CAPACITY / 0.012 * Weights(a, b).share for a, b in ((1.0, 2.0), (2.0, 1.0)))
    return {"first (packets/s)": (first, 102 / 0.012 / 3), "second (packets/s)": (second, 102 / 0.012 * 2 / 3)}


def _nested() -> lab.Pairs:
    link, large, small = 12.5, 100.0, 10.0
    half, favoured = (nested_times(link, large, small, rate) for rate in (link / 2, link * 2 / 3))
    together = (large + small) / link
    return {
        "small at half (s)": (half[0], 1.6),
        "small at two thirds (s)": (favoured[0], 1.2),
        "large at half (s)": (half[1], together),
        "large at two thirds (s)": (favoured[1], together),
        "mean saved (s)": ((sum(half) - sum(favoured)) / 2, 0.2),
    }


def _slope() -> lab.Finding:
    settings = {"w_high": "4", "w_low": "1", "t1": "1MB", "t2": "9MB"}
    expected = {0: 4.0, 1_000_000: 4.0, 3_000_000: 3.25, 5_000_000: 2.5, 9_000_000: 1.0, 20_000_000: 1.0}
    linear = {sent: weight_at(sent, **settings) for sent in expected}
    curved = [weight_at(sent, **settings, middle="exponential") for sent in expected]
    holds = all(lab.same(linear[sent], weight) for sent, weight in expected.items())
    holds &= all(after <= before * (1 + lab.EXACT) for before, after in itertools.pairwise(curved)) and min(curved) > 0
    return lab.fact(holds and lab.same(curved[3], 2.0), linear=list(linear.values()), exponential=curved)


def _shares() -> lab.Pairs:
    size, link = 10.0, 12.5
    found = {}
    for ratio, factor in ((1, 2.0), (2, 1.5), (3, 4 / 3), (4, 1.25), (5, 1.2)):
        rate = medium_rate(link, ratio)
        found[f"FCT factor at R = {ratio}"] = (size / rate * link / size, factor)
        found[f"rate at R = {ratio}"] = (rate, link * ratio / (ratio + 1))
    return found


theorem1 = lab.Figure("atcp/thm1", "Theorem 1, Sec. V-A", "Weights decide rates")
theorem1.claim("atcp/thm1-ratio", "Theorem 1").says(
    "steps a and b with joint halving end in rates a : b: R1/R2 = a/b", lab.equal(_ratios)
)
theorem1.claim("atcp/thm1-recursion", "Sec. V-A").says(
    "the distance to the limit halves at each congestion event: w[j+1] - S*a/(a+b) = 0.5*(w[j] - S*a/(a+b))",
    lab.equal(_recursion),
)
theorem1.claim("atcp/thm1-rates", "Sec. V-A").says(
    "rates in the limit are (C T + B)/T' times the share of the weights: R1 = (S/T')*a/(a+b), R2 = (S/T')*b/(a+b)",
    lab.equal(_rates),
)
theorem2 = lab.Figure("atcp/thm2", "Theorem 2", "Help for a nested flow is free")
theorem2.claim("atcp/thm2-afct-lower").says(
    "more rate for a nested small flow lowers the mean, and not the large flow's time", lab.equal(_nested)
)
weights = lab.Figure("atcp/weights", "Sec. V-C", "The weight over the bytes sent")
weights.claim("atcp/sec5c-weight-function").says(
    "the weight is 3 up to 10 MB sent and 1 beyond: W = W_H if s <= T else W_L",
    lab.equal(
        lambda: {
            f"at {sent} B": (weight_at(sent), 3.0 if sent <= 10_000_000 else 1.0)
            for sent in (0, 10_000_000, 10_000_001, 1_000_000_000)
        }
    ),
)
weights.claim("atcp/sec5c-weight-function-general").says(
    "high up to T1, falling to T2, low beyond: W = W_H for s <= T1; W'(s) for T1 < s <= T2; W_L for s > T2",
    lab.decided("relative error below 1e-9, never rising", _slope),
)
two_flows = lab.Figure("atcp/two-flows", "Sec. VII-A", "A medium flow beside a large one")
two_flows.claim("atcp/sec7a-share-formula").says(
    "with weight ratio R a medium flow of size S takes (S/C)(1 + 1/R): C*R/(R+1); (S/C)*(1 + 1/R)", lab.equal(_shares)
)
two_flows.claim("atcp/sec7a-sum-increment").says(
    "two flows add W_H + W_L segments per round trip: sum increment per RTT = (W_H + W_L)*SegmentSize",
    lab.equal(
        lambda: {
            "medium and large": (weight_at(1_000_000) + weight_at(20_000_000), 4.0),
            "in the fluid model": (Weights(3.0, 1.0).step, 4.0),
        }
    ),
)
change = lab.Figure("atcp/code", "Sec. VI", "Size of the change")
change.claim("atcp/sec6-small-change").says(
    "the change to a TCP sender takes fewer than 100 lines",
    lab.unmeasured(
        "it counts lines of a modified ns-2, which is not published; lines of another simulator say nothing"
    ),
)
