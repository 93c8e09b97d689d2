"""Secs. III and V-A: equations, evaluated with the simulator's own law."""

import itertools
import math

from shortflow import lab
from shortflow.lab.study import Value
from shortflow.papers.common import cut, new_law, same_tables, smoothing
from shortflow.papers.theory import gain_bound
from shortflow.papers.xdctcp.setup import GAINS, GRID, LONG_FACTORS, SHORT_FACTORS, star

BDP_BYTES = 10e9 * 100e-6 / 8
K = 65.0

SAME = star(("dctcp", "xdctcp"), settings={"transport.ns": 0.5, "transport.nl": 0.5, "transport.g": 0.0625})


def _left(transport: str, flow_class: str, alpha: float, **settings: Value) -> float:
    """Segments left of 20 after one marked window."""
    sender = new_law(transport, 20.0, {"initial_alpha": alpha, **settings})
    sender.flow_class = flow_class
    return cut(sender)


def _smoothing() -> lab.Pairs:
    found: dict[str, tuple[float, float]] = {}
    for name, g in itertools.product(("xdctcp", "dctcp"), (0.0625, 0.09)):
        found |= smoothing({f"{name} at g {g}": new_law(name, 10.0, {"g": g})}, g, 0.0)
    return found


def _order() -> lab.Finding:
    pairs = [{"ns": ns, "nl": nl} for ns in SHORT_FACTORS for nl in LONG_FACTORS]
    holds = all(_left("xdctcp", "short", 0.8, **pair) >= _left("xdctcp", "long", 0.8, **pair) for pair in pairs)
    return lab.fact(holds, largest_ns=max(SHORT_FACTORS), smallest_nl=min(LONG_FACTORS))


def _special_case(same: lab.Data) -> lab.Finding:
    lab.some(same.results("dctcp")[0].flows, "flows")
    pairs = list(zip(same.results("xdctcp"), same.results("dctcp"), strict=True))
    alike = all(same_tables(*pair, ("samples", "flows")) for pair in pairs)
    return lab.fact(alike, runs=len(pairs), flows=sum(dctcp.flows.height for _, dctcp in pairs))


def _bound(packet: float = 1460.0) -> float:
    return gain_bound(BDP_BYTES / packet, K)


window_law = lab.Figure("xdctcp/eq1-4", "Sec. III, Eqs. 1-4", "The window law", {"same": SAME})
window_law.claim("xdctcp/eq1-alpha", "Eq. 1").says(
    "alpha keeps 1-g of itself and takes g of the marked share, as in DCTCP: alpha = (1-g)*alpha + g*F",
    lab.equal(_smoothing),
)
window_law.claim("xdctcp/eq2-dctcp-cut", "Eq. 2").says(
    "DCTCP removes alpha/2 of the window: cwnd = cwnd*(1 - alpha/2)",
    lab.equal(lambda: {f"alpha {a}": (_left("dctcp", "long", a), 20 * (1 - a / 2)) for a in (0.2, 0.8, 1.0)}),
)
window_law.claim("xdctcp/eq3-short-cut", "Eq. 3").says(
    "short and query flows remove ns alpha of the window: cwnd = cwnd*(1 - ns*alpha)",
    lab.equal(
        lambda: {
            f"{of}, ns {ns}": (_left("xdctcp", of, 0.8, ns=ns), 20.0 * (1 - ns * 0.8))
            for of in ("short", "query")
            for ns in SHORT_FACTORS
        }
    ),
)
window_law.claim("xdctcp/eq4-long-cut", "Eq. 4").says(
    "long flows remove nl alpha of the window: cwnd = cwnd*(1 - nl*alpha)",
    lab.equal(lambda: {f"nl {nl}": (_left("xdctcp", "long", 0.8, nl=nl), 20 * (1 - nl * 0.8)) for nl in LONG_FACTORS}),
)
window_law.claim("xdctcp/eq34-factor-order", "Sec. III-B").says(
    "the factor of short flows is never above that of long ones", lab.decided("for the whole grid", _order)
)
window_law.claim("xdctcp/eq34-dctcp-special-case", "Sec. III", equation=True).says(
    "with both factors at one half xDCTCP is DCTCP", lab.decided("identical traces and flows", _special_case)
)
gain = lab.Figure("xdctcp/eq5", "Sec. V-A, Eq. 5", "The bound on g")
gain.claim("xdctcp/eq5-g-bound", "Eq. 5").says(
    "g lies below 1.386 / sqrt(2 (C RTT + K)): g < 1.386/sqrt(2*(C*RTT + K))",
    lab.equal(lambda: {"1460 bytes": (_bound(), 0.0799), "1500 bytes": (_bound(1500.0), 0.0805)}, digits=4),
    lab.equal(lambda: {"formula": (_bound(), 1.386 / (2 * (BDP_BYTES / 1460 + K)) ** 0.5)}),
)
gain.claim("xdctcp/eq5-g-bound-value", "Sec. V-A").says(
    "for Table I the bound is 0.112",
    lab.equal(lambda: {"value": (_bound(), 0.112)}, digits=3),
    shows=[lab.computed("without the factor 2", lambda: _bound() * 2**0.5)],
    because="it is the bound without its factor of two, so that the paper's g lies above the bound as printed",
)
grid = lab.Figure("xdctcp/eq6-8", "Sec. V-B, Eqs. 6-8", "The grid of parameters")
grid.claim("xdctcp/sec5-grid-size", "Eqs. 6-8, Sec. V-B").says(
    "the search covers 420 triplets",
    lab.equal(lambda: {"triplets": ((len(GAINS) - 1) * len(SHORT_FACTORS) * len(LONG_FACTORS), 420)}),
    shows=[lab.computed("with g = 1/16, as in the scripts", lambda: math.prod(map(len, GRID.values())))],
)
