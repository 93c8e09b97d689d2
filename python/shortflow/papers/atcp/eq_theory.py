"""Theorems 1 and 2 and Secs. V-C, VI, VII-A: the fluid model, and the weight asked of the law that simulates."""

import itertools

from shortflow import _core
from shortflow._core import Law
from shortflow.lab import Figure, Finding, fact, not_tested

EXACT = "relative error below 1e-9"
SEGMENT = 1460
START = 10.0
CAPACITY = 102.0
"""Segments in a pipe of 2 and a buffer of 100."""
WEIGHTS = ((1.0, 1.0), (1.0, 2.0), (3.0, 1.0), (0.5, 4.0))

theorem1 = Figure("atcp/thm1", "Theorem 1, Sec. V-A", "Weights decide rates")
theorem2 = Figure("atcp/thm2", "Theorem 2", "Help for a nested flow is free")
weights = Figure("atcp/weights", "Sec. V-C", "The weight over the bytes sent")
two_flows = Figure("atcp/two-flows", "Sec. VII-A", "A medium flow beside a large one")
change = Figure("atcp/code", "Sec. VI", "Size of the change")


def _same(found: float, expected: float) -> bool:
    return abs(found - expected) <= 1e-9 * abs(expected)


def weight_at(sent: int, **settings: str) -> float:
    """What one ACK adds to the law's window in congestion avoidance, in units of 1/cwnd."""
    law = Law("atcp", list(settings.items()), START)
    law.ssthresh = START
    law.sent = sent
    law.ack(SEGMENT, False, True)
    return (law.cwnd - START) * START


@theorem1.claim("thm1-ratio", "steps a and b with joint halving end in rates a : b", EXACT + ", from any start")
def ratio() -> Finding:
    found = {}
    for (a, b), share in itertools.product(WEIGHTS, (0.0, 0.3, 1.0)):
        first = _core.atcp_windows(a, b, share * CAPACITY, CAPACITY, 60)[-1]
        second = _core.atcp_windows(b, a, (1 - share) * CAPACITY, CAPACITY, 60)[-1]
        found[f"{a:g}:{b:g} from {share:g}"] = first / second
        if not _same(first / second, a / b):
            return fact(False, **found)
    return fact(True, **found)


@theorem1.claim("thm1-recursion", "the distance to the limit halves at each congestion event", EXACT)
def recursion() -> Finding:
    holds, limit = True, CAPACITY * 2 / 3
    windows = _core.atcp_windows(2.0, 1.0, 5.0, CAPACITY, 7)
    for before, after in itertools.pairwise(windows):
        holds &= _same(after - limit, 0.5 * (before - limit))
    return fact(holds, windows=windows, limit=limit, error_after_7=abs(windows[-1] / limit - 1))


@theorem1.claim("thm1-rates", "rates in the limit are (C T + B)/T' times the share of the weights", EXACT)
def rates() -> Finding:
    first, second = (_core.atcp_limit(a, b, 2.0, 100.0, 0.012) for a, b in ((1.0, 2.0), (2.0, 1.0)))
    holds = _same(first["rate"], 102.0 / 0.012 / 3) and _same(second["rate"], 102.0 / 0.012 * 2 / 3)
    return fact(holds, first_pkt_per_s=first["rate"], second_pkt_per_s=second["rate"])


@theorem2.claim(
    "thm2-afct-lower", "more rate for a nested small flow lowers the mean, and not the large flow's time", EXACT
)
def nested() -> Finding:
    link, large, small = 12.5, 100.0, 10.0
    half, favoured = (_core.atcp_nested(link, large, small, rate) for rate in (link / 2, link * 2 / 3))
    holds = (
        _same(half["small"], 1.6)
        and _same(favoured["small"], 1.2)
        and _same(half["large"], (large + small) / link)
        and half["large"] == favoured["large"]
        and favoured["mean"] < half["mean"]
    )
    return fact(holds, mean_at_half_s=half["mean"], mean_at_two_thirds_s=favoured["mean"], large_s=half["large"])


@weights.claim("sec5c-weight-function", "the weight is 3 up to 10 MB sent and 1 beyond", EXACT)
def step() -> Finding:
    found = {sent: weight_at(sent) for sent in (0, 10_000_000, 10_000_001, 1_000_000_000)}
    holds = all(_same(found[sent], 3.0 if sent <= 10_000_000 else 1.0) for sent in found)
    return fact(holds, **{f"at {sent} B": weight for sent, weight in found.items()})


@weights.claim("sec5c-weight-function-general", "high up to T1, falling to T2, low beyond", EXACT + ", never rising")
def slope() -> Finding:
    settings = {"w_high": "4", "w_low": "1", "t1": "1MB", "t2": "9MB"}
    expected = {0: 4.0, 1_000_000: 4.0, 3_000_000: 3.25, 5_000_000: 2.5, 9_000_000: 1.0, 20_000_000: 1.0}
    linear = {sent: weight_at(sent, **settings) for sent in expected}
    curved = [weight_at(sent, **settings, middle="exponential") for sent in expected]
    holds = all(_same(linear[sent], weight) for sent, weight in expected.items())
    holds &= all(after <= before * (1 + 1e-9) for before, after in itertools.pairwise(curved)) and min(curved) > 0
    holds &= _same(curved[3], 2.0)
    return fact(holds, linear=list(linear.values()), exponential=curved)


@two_flows.claim("sec7a-share-formula", "with weight ratio R a medium flow of size S takes (S/C)(1 + 1/R)", EXACT)
def share() -> Finding:
    size, link = 10.0, 12.5
    factors = []
    holds = True
    for ratio_, factor in ((1, 2.0), (2, 1.5), (3, 4 / 3), (4, 1.25), (5, 1.2)):
        found = _core.atcp_medium(size, link, ratio_)
        factors.append(found["time"] * link / size)
        holds &= _same(factors[-1], factor) and _same(found["rate"], link * ratio_ / (ratio_ + 1))
    return fact(holds, fct_factors=factors)


@two_flows.claim("sec7a-sum-increment", "two flows add W_H + W_L segments per round trip", EXACT)
def increment() -> Finding:
    medium, large = weight_at(1_000_000), weight_at(20_000_000)
    both = _core.atcp_limit(3.0, 1.0, 2.0, 100.0, 0.012)["step"]
    return fact(_same(medium + large, 4.0) and _same(both, 4.0), medium=medium, large=large, sum=medium + large)


@change.claim("sec6-small-change", "the change to a TCP sender takes fewer than 100 lines", "informative")
def lines() -> Finding:
    return not_tested(
        "it counts lines of a modified ns-2, which is not published; lines of another simulator say nothing"
    )
