"""Sec. II-A: the window law, asked of the very code that simulates."""

from shortflow._core import Law
from shortflow.reproduction import Figure, Finding, fact

EXACT = "relative error below 1e-9"
SEGMENT = 1460

equations = Figure("l2dct/eq1-4", "Sec. II-A, Eqs. 1-4", "The window law")


def _growth(law: Law) -> float:
    """Segments that one window of unmarked ACKs adds, in units of 1/cwnd per ACK."""
    before = law.cwnd
    law.ack(SEGMENT, False, True)
    return (law.cwnd - before) * before


@equations.claim("eq1-increase-factor", "the window grows by w_c/w_max segments per round trip", EXACT)
def increase_factor() -> Finding:
    fresh, old = Law("l2dct", [], 10.0), Law("l2dct", [], 10.0)
    old.sent = 2_000_000
    k_fresh, k_old = _growth(fresh), _growth(old)
    return fact(abs(k_fresh - 1.0) < 1e-9 and abs(k_old - 0.05) < 0.05e-9, k_at_wmax=k_fresh, k_at_wmin=k_old)
