"""Secs. 3 and 4: equations and Algorithm 1, evaluated with the simulator's own law."""

from shortflow import lab
from shortflow._core import Law
from shortflow.metrics.stats import jain_index
from shortflow.papers.theory import Bottleneck

MSS = 1460
BDP, BUFFER, PACKET = 12_500.0, 100_000.0, 1_500.0
BOTTLENECK = Bottleneck(BDP, 30_000.0, BUFFER, PACKET)
W_MIN = 2.0


def _law(transport: str, cwnd: float, **settings: str) -> Law:
    return Law(transport, list({"initial_alpha": "1", **settings}.items()), cwnd)


def _past_probing(vwnd: float, **settings: str) -> Law:
    return _law("fast", vwnd, probes="0", **settings)


def _window(law: Law, marked: int, total: int) -> None:
    """Acknowledges a window of `total` segments, the first `marked` with ECE."""
    for index in range(total):
        law.ack(MSS, index < marked, index == total - 1)


def _alpha(law: Law) -> float:
    """Alpha of a law that has one."""
    assert law.alpha is not None
    return law.alpha


def _marked_fraction() -> lab.Pairs:
    # With g = 1 alpha equals F. FaST counts ACKs, so ACKs of unequal segments have equal weight.
    fast, dctcp = _past_probing(10.0, g="1"), _law("dctcp", 10.0, g="1")
    for law in (fast, dctcp):
        _window(law, 1, 4)
    uneven = _past_probing(10.0, g="1")
    for acked, marked, last in ((100, True, False), (MSS, False, False), (MSS, False, False), (MSS, False, True)):
        uneven.ack(acked, marked, last)
    return {"fast": (_alpha(fast), 0.25), "dctcp": (_alpha(dctcp), 0.25), "uneven segments": (_alpha(uneven), 0.25)}


def _smoothing() -> lab.Pairs:
    found = {}
    for name, law in {"fast": _past_probing(10.0), "dctcp": _law("dctcp", 10.0)}.items():
        expected = 1.0
        for marked in (10, 0, 3):
            _window(law, marked, 10)
            expected = expected * 15 / 16 + marked / 10 / 16
            found[f"{name}, {marked} of 10 marked"] = (_alpha(law), expected)
    return found


def _dctcp_cut() -> lab.Pairs:
    kept = {}
    for cwnd, expected in ((10.0, 6.0), (3.0, 2.0), (2.0, 2.0)):
        law = _law("dctcp", cwnd, cwnd_floor="2", initial_alpha="0.8")
        law.congestion("ecn-echo")
        kept[f"left of {cwnd:g}"] = (law.cwnd, expected)
    return kept


def _virtual_window() -> lab.Pairs:
    left = {}
    for vwnd, alpha in ((10.0, 1.0), (2.0, 0.5), (1.5, 0.8), (0.8, 1.0)):
        law = _past_probing(vwnd, initial_alpha=str(alpha))
        law.congestion("ecn-echo")
        left[f"left of {vwnd:g} at alpha {alpha:g}"] = (law.cwnd, vwnd * (1 - alpha / 2))
    return left


def _segment(vwnd: float) -> int:
    """Eq. 9 in bytes, rounded down."""
    return MSS if vwnd >= 1 else max(100, int(MSS * vwnd))


def _segment_sizes() -> lab.Pairs:
    windows = (3.0, 2.0, 1.0, 0.75, 0.5, 0.1, 0.07, 0.01)
    return {f"at {v:g}": (_past_probing(v).segment_size(10 * MSS), _segment(v)) for v in windows}


def _probing() -> lab.Finding:
    law = _law("fast", 0.5)
    halves = [law.segment_size(10 * MSS)]
    for _ in range(3):
        law.ack(MSS // 2, False, True)
        halves.append(law.segment_size(10 * MSS))
    return lab.fact(halves == [MSS // 2] * 3 + [MSS] and law.cwnd == 2.0, sizes=halves, window_after=law.cwnd)


def _send_limits() -> lab.Pairs:
    windows = (1.9, 1.5, 1.0, 0.75, 0.5, 0.07)
    return {f"at {v:g}": (_past_probing(v).window_bytes(), int(max(v, 1.0) * _segment(v))) for v in windows}


def _as_dctcp() -> lab.Finding:
    fast, dctcp = _past_probing(10.0), _law("dctcp", 10.0, cwnd_floor="2")
    traces: list[list[float]] = [[], []]
    for marked in (0, 0, 4, 0, 10, 0, 0, 1, 7, 0):
        for law, trace in zip((fast, dctcp), traces, strict=True):
            if marked:
                law.congestion("ecn-echo")
            _window(law, marked, 10)
            trace.append(law.cwnd)
    return lab.fact(traces[0] == traces[1] and min(traces[0]) >= W_MIN, fast=traces[0], dctcp=traces[1])


def _jain() -> lab.Pairs:
    cases = {
        "of 1, 2, 3": ([1.0, 2.0, 3.0], 36 / 42),
        "of equal ones": ([5.0] * 7, 1.0),
        "of one": ([1.0, 0, 0, 0], 0.25),
    }
    return {name: (jain_index(values), expected) for name, (values, expected) in cases.items()}


marking = lab.Figure("fast/eq1-3", "Sec. 3.1, Eqs. 1-3", "The congestion estimate and DCTCP's cut").decides(
    lab.Claim("fast/eq1-marked-fraction", "Eq. 1").says(
        "F is the marked ACKs of a window over all of them: F = marked/total", lab.equal(_marked_fraction)
    ),
    lab.Claim("fast/eq2-alpha", "Eq. 2").says(
        "alpha keeps 1-g of itself and takes g of F, once per window: alpha = (1-g)*alpha + g*F", lab.equal(_smoothing)
    ),
    lab.Claim("fast/eq3-dctcp-cut", "Eq. 3").says(
        "DCTCP removes alpha/2 of its window, but keeps two segments: cwnd = max(cwnd*(1 - alpha/2), 2)",
        lab.equal(_dctcp_cut),
    ),
)
capacity = lab.Figure("fast/eq4-7", "Sec. 3.2, Eqs. 4-7", "Number of flows of two segments").decides(
    lab.Claim("fast/eq4-critical-window", "Eq. 4").says(
        "N flows reach K with windows of (C RTT + K)/(N MSS): W* = (C*RTT + K)/(N*MSS)",
        lab.equal(lambda: {"window of 10 flows": (BOTTLENECK.critical_window(10.0), 42.5 / 15)}),
    ),
    lab.Claim("fast/eq5-n-star", "Eq. 5").says(
        "about 14 flows take every window to its minimum: N* = (C*RTT + K)/(W_min*MSS)",
        lab.equal(lambda: {"flows": (BOTTLENECK.flows_at_minimum(W_MIN), 42.5 / 3)}),
    ),
    lab.Claim("fast/eq6-outstanding", "Eq. 6").says(
        "the buffer overflows when all windows hold more than C RTT + B: sum(W_i)*MSS = C*RTT + B",
        lab.equal(lambda: {"bytes": (BOTTLENECK.outstanding() * PACKET, BDP + BUFFER)}),
    ),
    lab.Claim("fast/eq7-n-max", "Eq. 7").says(
        "the buffer holds 37.5 flows of two segments: N*_max = (C*RTT + B)/(W_min*MSS)",
        lab.equal(lambda: {"flows": (BOTTLENECK.most_flows(W_MIN), 37.5)}),
    ),
)
window_law = lab.Figure("fast/alg1", "Sec. 4, Eqs. 8-9 and Algorithm 1", "FaST's window and segment size").decides(
    lab.Claim("fast/eq8-vwnd", "Eq. 8").says(
        "a mark removes alpha/2 of the virtual window, also below two segments: vwnd = vwnd*(1 - alpha/2)",
        lab.equal(_virtual_window),
    ),
    lab.Claim("fast/eq9-segment-size", "Eq. 9").says(
        "below one segment of window the segment shrinks to MSS times the window, but not below 100 bytes",
        lab.equal(_segment_sizes),
    ),
    lab.Claim("fast/alg1-probing", "Algorithm 1, l. 1-7").says(
        "a flow begins with up to three halved segments and then has two whole ones", lab.decided("exact", _probing)
    ),
    lab.Claim("fast/alg1-send-limit", "Algorithm 1, l. 13-17").says(
        "below two segments of window a round carries max(vwnd, 1) segments", lab.equal(_send_limits)
    ),
    lab.Claim("fast/alg1-dctcp-otherwise", "Sec. 4").says(
        "with two segments of window or more FaST moves as DCTCP does", lab.decided("identical windows", _as_dctcp)
    ),
)
fairness = lab.Figure("fast/eq10", "Sec. 5.4, Eq. 10", "Jain's index").decides(
    lab.Claim("fast/eq10-jain-index", "Eq. 10").says(
        "fairness is the squared sum over n times the sum of squares: (sum T)^2/(n*sum T^2)", lab.equal(_jain)
    )
)
