"""Secs. III and V-A: the equations, asked of the very code that simulates."""

from shortflow._core import Law, dctcp_gain_bound
from shortflow.lab import Data, Figure, Finding, all_hold, fact, within
from shortflow.papers.xdctcp.setup import GAINS, GRID, LONG_FACTORS, SHORT_FACTORS, star

EXACT = "relative error below 1e-9"
MSS = 1460
BDP_BYTES = 10e9 * 100e-6 / 8
K = 65.0

SAME = star(("dctcp", "xdctcp"), settings={"transport.ns": 0.5, "transport.nl": 0.5, "transport.g": 0.0625})

law = Figure("xdctcp/eq1-4", "Sec. III, Eqs. 1-4", "The window law", {"same": SAME})
gain = Figure("xdctcp/eq5", "Sec. V-A, Eq. 5", "The bound on g")
grid = Figure("xdctcp/eq6-8", "Sec. V-B, Eqs. 6-8", "The grid of parameters")


def _same(found: float, expected: float) -> bool:
    return abs(found - expected) <= 1e-9 * abs(expected)


def _cut(transport: str, flow_class: str, alpha: float, **settings: str) -> float:
    """What one marked window leaves of 20 segments."""
    sender = Law(transport, list({"initial_alpha": str(alpha), **settings}.items()), 20.0)
    sender.flow_class = flow_class
    sender.congestion("ecn-echo")
    return sender.cwnd


@law.claim("eq1-alpha", "alpha keeps 1-g of itself and takes g of the marked share, as in DCTCP", EXACT)
def smoothing() -> Finding:
    holds, values = True, {}
    for transport in ("xdctcp", "dctcp"):
        for g in (0.0625, 0.09):
            sender, expected = Law(transport, [("g", str(g))], 10.0), 0.0
            for marked in (10, 0, 3):
                for index in range(10):
                    sender.ack(MSS, index < marked, index == 9)
                expected = (1 - g) * expected + g * marked / 10
                holds &= sender.alpha is not None and _same(sender.alpha, expected)
            values[f"{transport} at g {g}"] = sender.alpha or 0.0
    return fact(holds, **values)


@law.claim("eq2-dctcp-cut", "DCTCP removes alpha/2 of the window", EXACT)
def dctcp_cut() -> Finding:
    left = [_cut("dctcp", "long", alpha) for alpha in (0.2, 0.8, 1.0)]
    return fact(all(_same(*pair) for pair in zip(left, (18.0, 12.0, 10.0), strict=True)), windows=left)


@law.claim("eq3-short-cut", "short and query flows remove ns alpha of the window", EXACT)
def short_cut() -> Finding:
    holds = all(
        _same(_cut("xdctcp", flow_class, 0.8, ns=str(ns)), 20.0 * (1 - ns * 0.8))
        for flow_class in ("short", "query")
        for ns in SHORT_FACTORS
    )
    return fact(holds, at_ns_03=_cut("xdctcp", "short", 0.8, ns="0.3"))


@law.claim("eq4-long-cut", "long flows remove nl alpha of the window", EXACT)
def long_cut() -> Finding:
    holds = all(_same(_cut("xdctcp", "long", 0.8, nl=str(nl)), 20.0 * (1 - nl * 0.8)) for nl in LONG_FACTORS)
    return fact(holds, at_nl_1=_cut("xdctcp", "long", 0.8, nl="1"), at_alpha_1=_cut("xdctcp", "long", 1.0, nl="1"))


@law.claim("eq34-factor-order", "the factor of short flows is never above that of long ones", "for the whole grid")
def factor_order() -> Finding:
    cuts = [
        (_cut("xdctcp", "short", 0.8, ns=str(ns), nl=str(nl)), _cut("xdctcp", "long", 0.8, ns=str(ns), nl=str(nl)))
        for ns in SHORT_FACTORS
        for nl in LONG_FACTORS
    ]
    return fact(
        all(short >= long for short, long in cuts), largest_ns=max(SHORT_FACTORS), smallest_nl=min(LONG_FACTORS)
    )


@law.claim("eq34-dctcp-special-case", "with both factors at one half xDCTCP is DCTCP", "identical traces and flows")
def special_case(same: Data) -> Finding:
    (dctcp,), (xdctcp,) = same.results("dctcp"), same.results("xdctcp")
    alike = all(
        ours.drop("scheme", "run", strict=False).equals(theirs.drop("scheme", "run", strict=False))
        for ours, theirs in ((xdctcp.samples, dctcp.samples), (xdctcp.flows, dctcp.flows))
    )
    return fact(alike, samples=dctcp.samples.height, flows=dctcp.flows.height)


@gain.claim("eq5-g-bound", "g lies below 1.386 / sqrt(2 (C RTT + K))", "0.0799 at 1460 bytes, 0.0805 at 1500")
def bound() -> Finding:
    findings = {}
    for packet, printed in ((1460.0, 0.0799), (1500.0, 0.0805)):
        found = dctcp_gain_bound(BDP_BYTES / packet, K)
        findings[f"{packet:g} bytes"] = within(found, printed - 5e-5, printed + 5e-5)
    exact = 1.386 / (2 * (BDP_BYTES / 1460 + K)) ** 0.5
    return all_hold({**findings, "formula": fact(_same(dctcp_gain_bound(BDP_BYTES / 1460, K), exact), exact=exact)})


@gain.claim(
    "eq5-g-bound-value",
    "for Table I the bound is 0.112",
    "0.112 to three digits from Eq. 5 as printed",
    because="Eq. 5 gives 0.080; 0.1129 is that without the factor 2, so g = 0.09 lies above the bound as printed",
)
def quoted_bound() -> Finding:
    found = dctcp_gain_bound(BDP_BYTES / 1460, K)
    return within(found, 0.1115, 0.1125, without_factor_2=found * 2**0.5)


@grid.claim("sec5-grid-size", "the search covers 420 triplets", "exactly, with g = 1/16 among the values of g")
def grid_size() -> Finding:
    count = 1
    for values in GRID.values():
        count *= len(values)
    as_written = (len(GAINS) - 1) * len(SHORT_FACTORS) * len(LONG_FACTORS)
    return fact(count == 420, triplets=count, as_written=as_written)
