"""Sec. II-C and Fig. 3: the steady state of N synchronised long flows, computed and simulated."""

from collections.abc import Mapping, Sequence

from shortflow._core import Law, l2dct_steady_state
from shortflow.lab import (
    Data,
    Drawing,
    Figure,
    Finding,
    Line,
    Study,
    all_hold,
    at_most,
    close_to,
    fact,
    within,
)
from shortflow.papers.l2dct.eq_window import EXACT, near
from shortflow.papers.l2dct.sawtooth import BDP, SAMPLED, K, of_teeth

FOUR_DIGITS = f"{EXACT}; the values to 4 digits"

FORGETS = (
    "the analysis takes alpha as constant, but with g = 1/16 it decays within teeth of more than 16 round trips; "
    "with g = 1/256 the simulated teeth of w = 0.125 last 228 round trips and swing by 11.4 segments, as computed"
)

ROUND_TRIP = (
    "the simulated round trip is 300 us of propagation and 14 us of transmission, where the analysis has 300 us in "
    "all; 286 us of propagation make them alike"
)

UNIT = Study(
    SAMPLED,
    schemes=("l2dct",),
    over={"flows": (1, 2)},
    settings={"transport.w_max": 1, "transport.w_min": 1, "duration": "5s"},
    quick_settings={"duration": "1500ms", "warmup": "500ms"},
    seeds=1,
    quick_seeds=1,
)
HALF = Study(
    SAMPLED,
    schemes=("l2dct",),
    over={"flows": (1, 2), "transport.w_max": (1, 2.5)},
    settings={"transport.w_min": 0.5, "duration": "10s"},
    quick_settings={"duration": "3s"},
    seeds=1,
    quick_seeds=1,
)
SMALLEST = Study(
    SAMPLED,
    schemes=("l2dct",),
    settings={"flows": 1, "duration": "20s"},
    quick_settings={"duration": "4s"},
    seeds=1,
    quick_seeds=1,
)

equations = Figure("l2dct/eq5-12", "Sec. II-C, Eqs. 5-12", "The steady state", {"unit": UNIT, "smallest": SMALLEST})
fig3 = Figure("l2dct/fig3", "Fig. 3", "The window, computed and simulated", {"unit": UNIT, "half": HALF})


def theory(flows: float, weight: float, step: float, *, exact: bool = False) -> dict[str, float]:
    """The steady state at the reference point: 25 packets of bandwidth-delay product, K = 20."""
    return l2dct_steady_state(BDP, K, flows, weight, step, exact)


def _x(step: float, flows: int = 1) -> float:
    w0 = (BDP + K) / flows
    return (2 * w0 * step + step**2) / (w0 + step) ** 2


def _digits(found: Mapping[str, float], paper: Sequence[float]) -> bool:
    return all(abs(ours - theirs) <= 0.5001e-4 for ours, theirs in zip(found.values(), paper, strict=True))


@equations.claim(
    "eq5-alpha-balance",
    "alpha follows from one round trip of marks in each tooth",
    f"{EXACT}; simulated alpha within 15 % of the solution, for w = 1 and one or two flows",
    because=f"{ROUND_TRIP}; alpha of two flows is then 0.256, just within",
)
def balance(unit: Data) -> Finding:
    root = theory(1, 1, 1, exact=True)
    alpha, b = root["alpha"], root["penalty"]
    found = {"equation": fact(near(alpha * (b - b * b / 4), _x(1)), alpha=alpha)}
    for flows in (1, 2):
        simulated = unit.measured(of_teeth("alpha"), "l2dct", flows=flows)
        paper = theory(flows, 1, 1, exact=True)["alpha"]
        found[f"simulated alpha, {flows} flows"] = close_to(simulated, paper, 0.15, theory=paper)
    return all_hold(found)


CASES = {"w1_k1": (1.0, 1.0), "w0p5_k0p2": (0.5, 0.2), "wmin_k0p05": (0.125, 0.05)}


@equations.claim("eq6-alpha-steady", "alpha in closed form for small b", FOUR_DIGITS)
def alpha_steady() -> Finding:
    found = {name: theory(1, w, k)["alpha"] for name, (w, k) in CASES.items()}
    same = all(near(found[name], _x(k) ** (1 / (w + 1))) for name, (w, k) in CASES.items())
    return fact(same and _digits(found, (0.2074, 0.0427, 0.0044)), **found)


@equations.claim("eq7-penalty-steady", "b in closed form for small b", FOUR_DIGITS)
def penalty_steady() -> Finding:
    found = {name: theory(1, w, k)["penalty"] for name, (w, k) in CASES.items()}
    same = all(near(found[name], _x(k) ** (w / (w + 1))) for name, (w, k) in CASES.items())
    return fact(same and _digits(found, (0.2074, 0.2067, 0.5071)), **found)


@equations.claim("eq6-dctcp-special-case", "for w = k = 1 alpha is DCTCP's", EXACT)
def dctcp_alpha() -> Finding:
    alpha, w0 = theory(1, 1, 1)["alpha"], BDP + K
    return fact(near(alpha, ((2 * w0 + 1) / (w0 + 1) ** 2) ** 0.5), alpha=alpha, large_windows=(2 / w0) ** 0.5)


@equations.claim("eq8-window-amplitude", "the window swings by b(W0 + k)/2", FOUR_DIGITS)
def window_amplitude() -> Finding:
    found = {name: theory(1, *CASES[name])["window_swing"] for name in ("w1_k1", "wmin_k0p05")}
    same = all(near(found[name], theory(1, *CASES[name])["penalty"] * (45 + CASES[name][1]) / 2) for name in found)
    return fact(same and _digits(found, (4.7697, 11.4231)), **found)


@equations.claim(
    "eq9-queue-amplitude",
    "the queue swings N times as far as a window",
    f"{FOUR_DIGITS}; the simulated swing within 20 % for w = 1 and one or two flows",
)
def queue_amplitude(unit: Data) -> Finding:
    values = {
        "one flow": theory(1, 1, 1)["queue_swing"],
        "for large windows": theory(1, 1, 1)["queue_swing_of_large_windows"],
        "two flows": theory(2, 1, 1)["queue_swing"],
    }
    found = {"equation": fact(_digits(values, (4.7697, 4.7434, 6.7823)), **values)}
    for flows in (1, 2):
        simulated = unit.measured(of_teeth("queue_swing"), "l2dct", flows=flows)
        found[f"simulated swing, {flows} flows"] = close_to(simulated, theory(flows, 1, 1)["queue_swing"], 0.2)
    return all_hold(found)


@equations.claim(
    "eq10-oscillation-period",
    "a tooth lasts D round trips; the derivation gives D/k",
    "the simulated period within 20 % of D/k, for w = k = 1 and for w = 0.125, k = 0.05",
    because=FORGETS,
)
def period(unit: Data, smallest: Data) -> Finding:
    found = {}
    for name, simulated in (
        ("w1_k1", unit.measured(of_teeth("period"), "l2dct", flows=1)),
        ("wmin_k0p05", smallest.measured(of_teeth("period"), "l2dct")),
    ):
        swing = theory(1, *CASES[name])["window_swing"]
        paper = swing / CASES[name][1]
        found[f"period, {name}"] = close_to(simulated, paper, 0.2, d=swing, d_over_k=paper)
    return all_hold(found)


@equations.claim("eq11-max-queue", "the queue peaks at K + Nk", "the simulated peak within 2 + N packets")
def max_queue(unit: Data) -> Finding:
    found = {"equation": fact(near(theory(2, 1, 1)["queue_max"], 22.0), two_flows=theory(2, 1, 1)["queue_max"])}
    for flows in (1, 2):
        peak = unit.measured(of_teeth("queue_max"), "l2dct", flows=flows)
        found[f"simulated peak, {flows} flows"] = within(peak, K + flows - 2 - flows, K + flows + 2 + flows)
    return all_hold(found)


@equations.claim(
    "eq12-min-queue",
    "the queue's trough is its peak less its swing",
    f"{FOUR_DIGITS}; the simulated trough within 25 % for one and two flows",
)
def min_queue(unit: Data) -> Finding:
    values = {f"{flows} flows": theory(flows, 1, 1)["queue_min"] for flows in (1, 2)}
    found = {"equation": fact(_digits(values, (16.2303, 15.2177)), **values)}
    for flows in (1, 2):
        trough = unit.measured(of_teeth("queue_min"), "l2dct", flows=flows)
        found[f"simulated trough, {flows} flows"] = close_to(trough, theory(flows, 1, 1)["queue_min"], 0.25)
    return all_hold(found)


@fig3.drawing
def windows(unit: Data) -> Sequence[Drawing]:
    (result,) = unit.results("l2dct", flows=1)
    rows = result.samples.filter(kind="cwnd_seg").tail(400)
    times = [1e3 * time for time in rows["time_s"].to_list()]
    peak, swing = 46.0, theory(1, 1, 1)["window_swing"]
    tooth_ms = theory(1, 1, 1)["period"] * 1e3 * (BDP + K) * 12e-6
    computed = [peak - swing * (1 - (time - times[0]) % tooth_ms / tooth_ms) for time in times]
    lines = [
        Line("simulated", times, rows["value"].to_list(), markers=False),
        Line("computed", times, computed, markers=False),
    ]
    return [Drawing("Window of one flow, w = k = 1", "time (ms)", "cwnd (segments)", lines)]


@fig3.claim(
    "fig3-w1-accuracy",
    "for w = 1 the computed window follows the simulated one closely",
    "swing and period within 20 %, mean window within 5 %, for one and two flows",
    because=f"{ROUND_TRIP}; the mean window of two flows is then 22.4 segments, within 5 %",
)
def accuracy(unit: Data) -> Finding:
    found = {}
    for flows in (1, 2):
        paper = theory(flows, 1, 1)
        mean = paper["critical_window"] + 1 - paper["window_swing"] / 2
        for name, expected, slack in (
            ("swing", paper["window_swing"], 0.2),
            ("period", paper["window_swing"], 0.2),
            ("mean_window", mean, 0.05),
        ):
            simulated = unit.measured(of_teeth(name), "l2dct", flows=flows)
            found[f"{name}, {flows} flows"] = close_to(simulated, expected, slack, theory=expected)
    return all_hold(found)


@fig3.claim(
    "fig3-w05-overestimate",
    "for w = 0.5 the computed swing is larger than the simulated one",
    "smaller in the simulation for one and two flows, with k = 0.5 and with k = 0.2",
)
def overestimate(half: Data) -> Finding:
    found = {}
    for flows in (1, 2):
        for w_max in (1, 2.5):
            computed = theory(flows, 0.5, 0.5 / w_max)["window_swing"]
            simulated = half.measured(of_teeth("swing"), "l2dct", flows=flows, transport__w_max=w_max)
            found[f"{flows} flows, k = {0.5 / w_max:g}"] = at_most(simulated, computed, computed=computed)
    return all_hold(found)


@fig3.claim(
    "sec3b-ramp-200ms",
    "a long flow needs about 200 ms from nothing to 1 Gbps",
    "between 0.12 and 0.30 s, from one segment to the bandwidth-delay product",
)
def ramp() -> Finding:
    law = Law("l2dct", [], 1.0)
    law.sent = 2_000_000
    elapsed = 0.0
    while law.cwnd < BDP:
        elapsed += 300e-6 / law.cwnd
        law.ack(1460, False, False)
    return within(elapsed, 0.12, 0.30)
