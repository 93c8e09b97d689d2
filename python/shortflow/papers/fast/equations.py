"""Secs. 3 and 4: equations and Algorithm 1, evaluated with the simulator's own law."""

from shortflow import lab
from shortflow._core import Law
from shortflow.lab.study import Value
from shortflow.metrics.stats import jain_index
from shortflow.papers.common import MSS, acked, cut, new_law, smoothing
from shortflow.papers.theory import Bottleneck

BDP, BUFFER, PACKET = 12_500.0, 100_000.0, 1_500.0
BOTTLENECK = Bottleneck(BDP, 30_000.0, BUFFER, PACKET)
W_MIN = 2.0


def _dctcp(cwnd: float, **settings: Value) -> Law:
    return new_law("dctcp", cwnd, {"initial_alpha": 1, **settings})


def _fast(vwnd: float, **settings: Value) -> Law:
    """FaST past its first packets."""
    return new_law("fast", vwnd, {"initial_alpha": 1, "probes": 0, **settings})


def _marked_fraction() -> lab.Pairs:
    # With g = 1 alpha equals F. FaST counts ACKs, so ACKs of unequal segments have equal weight.
    uneven = _fast(10.0, g=1)
    for size, marked, last in ((100, True, False), (MSS, False, False), (MSS, False, False), (MSS, False, True)):
        uneven.ack(size, marked, last)
    laws = {"fast": acked(_fast(10.0, g=1), 4, 1), "dctcp": acked(_dctcp(10.0, g=1), 4, 1), "uneven segments": uneven}
    return {name: (each.alpha or 0.0, 0.25) for name, each in laws.items()}


def _dctcp_cut() -> lab.Pairs:
    kept = {10.0: 6.0, 3.0: 2.0, 2.0: 2.0}
    return {f"left of {w:g}": (cut(_dctcp(w, cwnd_floor=2, initial_alpha=0.8)), left) for w, left in kept.items()}


def _virtual_window() -> lab.Pairs:
    cases = ((10.0, 1.0), (2.0, 0.5), (1.5, 0.8), (0.8, 1.0))
    return {f"left of {v:g} at alpha {a:g}": (cut(_fast(v, initial_alpha=a)), v * (1 - a / 2)) for v, a in cases}


def _segment(vwnd: float) -> int:
    """Eq. 9 in bytes, rounded down."""
    return MSS if vwnd >= 1 else max(100, int(MSS * vwnd))


def _segment_sizes() -> lab.Pairs:
    windows = (3.0, 2.0, 1.0, 0.75, 0.5, 0.1, 0.07, 0.01)
    return {f"at {v:g}": (_fast(v).segment_size(10 * MSS), _segment(v)) for v in windows}


def _probing() -> lab.Finding:
    new = new_law("fast", 0.5, {"initial_alpha": 1})
    halves = [new.segment_size(10 * MSS)]
    for _ in range(3):
        new.ack(MSS // 2, False, True)
        halves.append(new.segment_size(10 * MSS))
    return lab.fact(halves == [MSS // 2] * 3 + [MSS] and new.cwnd == 2.0, sizes=halves, window_after=new.cwnd)


def _send_limits() -> lab.Pairs:
    windows = (1.9, 1.5, 1.0, 0.75, 0.5, 0.07)
    return {f"at {v:g}": (_fast(v).window_bytes(), int(max(v, 1.0) * _segment(v))) for v in windows}


def _as_dctcp() -> lab.Finding:
    fast, dctcp = _fast(10.0), _dctcp(10.0, cwnd_floor=2)
    traces: list[list[float]] = [[], []]
    for marked in (0, 0, 4, 0, 10, 0, 0, 1, 7, 0):
        for each, trace in zip((fast, dctcp), traces, strict=True):
            if marked:
                cut(each)
            trace.append(acked(each, 10, marked).cwnd)
    return lab.fact(traces[0] == traces[1] and min(traces[0]) >= W_MIN, fast=traces[0], dctcp=traces[1])


def _jain() -> lab.Pairs:
    cases = {
        "of 1, 2, 3": ([1.0, 2.0, 3.0], 36 / 42),
        "of equal ones": ([5.0] * 7, 1.0),
        "of one": ([1.0, 0, 0, 0], 0.25),
    }
    return {name: (jain_index(values), expected) for name, (values, expected) in cases.items()}


marking = lab.Figure("fast/eq1-3", "Sec. 3.1, Eqs. 1-3", "The congestion estimate and DCTCP's cut")
marking.claim("fast/eq1-marked-fraction", "Eq. 1").says(
    "F is the marked ACKs of a window over all of them: F = marked/total", lab.equal(_marked_fraction)
)
marking.claim("fast/eq2-alpha", "Eq. 2").says(
    "alpha keeps 1-g of itself and takes g of F, once per window: alpha = (1-g)*alpha + g*F",
    lab.equal(lambda: smoothing({"fast": _fast(10.0), "dctcp": _dctcp(10.0)}, 1 / 16, 1.0)),
)
marking.claim("fast/eq3-dctcp-cut", "Eq. 3").says(
    "DCTCP removes alpha/2 of its window, but keeps two segments: cwnd = max(cwnd*(1 - alpha/2), 2)",
    lab.equal(_dctcp_cut),
)
capacity = lab.Figure("fast/eq4-7", "Sec. 3.2, Eqs. 4-7", "Number of flows of two segments")
capacity.claim("fast/eq4-critical-window", "Eq. 4").says(
    "N flows reach K with windows of (C RTT + K)/(N MSS): W* = (C*RTT + K)/(N*MSS)",
    lab.equal(lambda: {"window of 10 flows": (BOTTLENECK.critical_window(10.0), 42.5 / 15)}),
)
capacity.claim("fast/eq5-n-star", "Eq. 5").says(
    "about 14 flows take every window to its minimum: N* = (C*RTT + K)/(W_min*MSS)",
    lab.equal(lambda: {"flows": (BOTTLENECK.flows_at_minimum(W_MIN), 42.5 / 3)}),
)
capacity.claim("fast/eq6-outstanding", "Eq. 6").says(
    "the buffer overflows when all windows hold more than C RTT + B: sum(W_i)*MSS = C*RTT + B",
    lab.equal(lambda: {"bytes": (BOTTLENECK.outstanding() * PACKET, BDP + BUFFER)}),
)
capacity.claim("fast/eq7-n-max", "Eq. 7").says(
    "the buffer holds 37.5 flows of two segments: N*_max = (C*RTT + B)/(W_min*MSS)",
    lab.equal(lambda: {"flows": (BOTTLENECK.most_flows(W_MIN), 37.5)}),
)
window_law = lab.Figure("fast/alg1", "Sec. 4, Eqs. 8-9 and Algorithm 1", "FaST's window and segment size")
window_law.claim("fast/eq8-vwnd", "Eq. 8").says(
    "a mark removes alpha/2 of the virtual window, also below two segments: vwnd = vwnd*(1 - alpha/2)",
    lab.equal(_virtual_window),
)
window_law.claim("fast/eq9-segment-size", "Eq. 9").says(
    "below one segment of window the segment shrinks to MSS times the window, but not below 100 bytes",
    lab.equal(_segment_sizes),
)
window_law.claim("fast/alg1-probing", "Algorithm 1, l. 1-7").says(
    "a flow begins with up to three halved segments and then has two whole ones", lab.decided("exact", _probing)
)
window_law.claim("fast/alg1-send-limit", "Algorithm 1, l. 13-17").says(
    "below two segments of window a round carries max(vwnd, 1) segments", lab.equal(_send_limits)
)
window_law.claim("fast/alg1-dctcp-otherwise", "Sec. 4").says(
    "with two segments of window or more FaST moves as DCTCP does", lab.decided("identical windows", _as_dctcp)
)
fairness = lab.Figure("fast/eq10", "Sec. 5.4, Eq. 10", "Jain's index")
fairness.claim("fast/eq10-jain-index", "Eq. 10").says(
    "fairness is the squared sum over n times the sum of squares: (sum T)^2/(n*sum T^2)", lab.equal(_jain)
)
