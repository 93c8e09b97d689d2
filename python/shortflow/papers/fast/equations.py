"""Secs. 3 and 4: the equations and Algorithm 1, asked of the very code that simulates."""

from shortflow._core import Law, fast_bottleneck, jain_index
from shortflow.lab import Figure, Finding, fact

EXACT = "relative error below 1e-9"
MSS = 1460
BDP, K, BUFFER, PACKET = 12_500.0, 30_000.0, 100_000.0, 1_500.0
W_MIN = 2.0

marking = Figure("fast/eq1-3", "Sec. 3.1, Eqs. 1-3", "The congestion estimate and DCTCP's cut")
capacity = Figure("fast/eq4-7", "Sec. 3.2, Eqs. 4-7", "How many flows of two segments fit")
window_law = Figure("fast/alg1", "Sec. 4, Eqs. 8-9 and Algorithm 1", "FaST's window and segment size")
fairness = Figure("fast/eq10", "Sec. 5.4, Eq. 10", "Jain's index")


def _same(found: float, expected: float) -> bool:
    return abs(found - expected) <= 1e-9 * abs(expected)


def _law(transport: str, cwnd: float, **settings: str) -> Law:
    return Law(transport, list({"initial_alpha": "1", **settings}.items()), cwnd)


def _past_probing(vwnd: float, **settings: str) -> Law:
    return _law("fast", vwnd, probes="0", **settings)


def _window(law: Law, marked: int, total: int) -> None:
    """Acknowledges one window of `total` segments of which the first `marked` carry a mark."""
    for index in range(total):
        law.ack(MSS, index < marked, index == total - 1)


def _alpha(law: Law) -> float:
    """The estimate of a law that has one."""
    assert law.alpha is not None
    return law.alpha


@marking.claim("eq1-marked-fraction", "F is the marked ACKs of a window over all of them", EXACT)
def marked_fraction() -> Finding:
    # With g = 1 alpha is F itself. FaST counts ACKs, so that ACKs of unequal segments weigh the same.
    fast, dctcp = _past_probing(10.0, g="1"), _law("dctcp", 10.0, g="1")
    for law in (fast, dctcp):
        _window(law, 1, 4)
    uneven = _past_probing(10.0, g="1")
    for acked, marked, last in ((100, True, False), (MSS, False, False), (MSS, False, False), (MSS, False, True)):
        uneven.ack(acked, marked, last)
    found = [_alpha(law) for law in (fast, dctcp, uneven)]
    return fact(all(_same(value, 0.25) for value in found), fast=found[0], dctcp=found[1], uneven_segments=found[2])


@marking.claim("eq2-alpha", "alpha keeps 1-g of itself and takes g of F, once per window", EXACT)
def smoothing() -> Finding:
    holds, values = True, {}
    for name, law in {"fast": _past_probing(10.0), "dctcp": _law("dctcp", 10.0)}.items():
        expected = 1.0
        for marked in (10, 0, 3):
            _window(law, marked, 10)
            expected = expected * 15 / 16 + marked / 10 / 16
            holds &= _same(_alpha(law), expected)
        values[name] = _alpha(law)
    return fact(holds, **values)


@marking.claim("eq3-dctcp-cut", "DCTCP removes alpha/2 of its window, but keeps two segments", EXACT)
def dctcp_cut() -> Finding:
    kept = []
    for cwnd in (10.0, 3.0, 2.0):
        law = _law("dctcp", cwnd, cwnd_floor="2", initial_alpha="0.8")
        law.congestion("ecn-echo")
        kept.append(law.cwnd)
    expected = (6.0, 2.0, 2.0)
    return fact(all(_same(*pair) for pair in zip(kept, expected, strict=True)), windows=kept)


def _bottleneck(flows: float = 10.0, packet: float = PACKET) -> dict[str, float]:
    return fast_bottleneck(BDP, K, BUFFER, packet, flows, W_MIN)


@capacity.claim("eq4-critical-window", "N flows reach K with windows of (C RTT + K)/(N MSS)", EXACT)
def critical_window() -> Finding:
    found = _bottleneck(flows=10)["critical_window"]
    return fact(_same(found, 42.5 / 15), window_of_10_flows=found)


@capacity.claim("eq5-n-star", "about 14 flows take every window to its minimum", "14.1667, which rounds to 14")
def flows_at_minimum() -> Finding:
    found = _bottleneck()["flows_at_minimum"]
    return fact(_same(found, 42.5 / 3) and round(found) == 14, flows=found)


@capacity.claim("eq6-outstanding", "the buffer overflows when all windows hold more than C RTT + B", EXACT)
def outstanding() -> Finding:
    found = _bottleneck()["outstanding"]
    return fact(_same(found * PACKET, BDP + BUFFER), segments=found)


@capacity.claim("eq7-n-max", "the buffer holds 37.5 flows of two segments", "37.5 exactly")
def most_flows() -> Finding:
    found = _bottleneck()["most_flows"]
    smaller = {f"of_{size}_bytes": _bottleneck(packet=size)["most_flows"] for size in (1000, 500, 100)}
    return fact(_same(found, 37.5), flows=found, **smaller)


@window_law.claim("eq8-vwnd", "a mark removes alpha/2 of the virtual window, also below two segments", EXACT)
def virtual_window() -> Finding:
    holds, left = True, []
    for vwnd, alpha in ((10.0, 1.0), (2.0, 0.5), (1.5, 0.8), (0.8, 1.0)):
        law = _past_probing(vwnd, initial_alpha=str(alpha))
        law.congestion("ecn-echo")
        holds &= _same(law.cwnd, vwnd * (1 - alpha / 2))
        left.append(law.cwnd)
    return fact(holds, windows=left)


@window_law.claim(
    "eq9-segment-size",
    "below one segment of window the segment shrinks to MSS times the window, but not below 100 bytes",
    "equal to the byte, rounded down",
)
def segment_size() -> Finding:
    windows = (3.0, 2.0, 1.0, 0.75, 0.5, 0.1, 0.07, 0.01)
    sizes = [_past_probing(vwnd).segment_size(10 * MSS) for vwnd in windows]
    expected = [MSS if vwnd >= 1 else max(100, int(MSS * vwnd)) for vwnd in windows]
    return fact(sizes == expected, sizes=sizes)


@window_law.claim("alg1-probing", "a flow begins with up to three halved segments and then has two whole ones", "exact")
def probing() -> Finding:
    law = _law("fast", 0.5)
    halves = [law.segment_size(10 * MSS)]
    for _ in range(3):
        law.ack(MSS // 2, False, True)
        halves.append(law.segment_size(10 * MSS))
    after = law.cwnd
    return fact(halves == [MSS // 2] * 3 + [MSS] and after == 2.0, sizes=halves, window_after=after)


@window_law.claim(
    "alg1-send-limit", "below two segments of window a round carries max(vwnd, 1) segments", "equal to the byte"
)
def send_limit() -> Finding:
    windows = (1.9, 1.5, 1.0, 0.75, 0.5, 0.07)
    limits = [_past_probing(vwnd).window_bytes() for vwnd in windows]
    expected = [int(max(v, 1.0) * (MSS if v >= 1 else max(100, int(MSS * v)))) for v in windows]
    return fact(limits == expected, bytes_per_round=limits)


@window_law.claim(
    "alg1-dctcp-otherwise", "with two segments of window or more FaST moves as DCTCP does", "identical windows"
)
def as_dctcp() -> Finding:
    fast, dctcp = _past_probing(10.0), _law("dctcp", 10.0, cwnd_floor="2")
    traces: list[list[float]] = [[], []]
    for marked in (0, 0, 4, 0, 10, 0, 0, 1, 7, 0):
        for law, trace in zip((fast, dctcp), traces, strict=True):
            if marked:
                law.congestion("ecn-echo")
            _window(law, marked, 10)
            trace.append(law.cwnd)
    return fact(traces[0] == traces[1] and min(traces[0]) >= W_MIN, fast=traces[0], dctcp=traces[1])


@fairness.claim("eq10-jain-index", "fairness is the squared sum over n times the sum of squares", EXACT)
def jain() -> Finding:
    found = jain_index([1.0, 2.0, 3.0])
    holds = _same(found, 36 / 42) and _same(jain_index([5.0] * 7), 1.0) and _same(jain_index([1.0, 0, 0, 0]), 0.25)
    return fact(holds, of_1_2_3=found)
