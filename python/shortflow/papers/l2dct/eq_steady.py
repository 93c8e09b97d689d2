"""Sec. II-C and Fig. 3: steady state of N synchronised long flows, computed and simulated."""

from collections.abc import Callable, Sequence

from shortflow import lab
from shortflow._core import Law
from shortflow.papers.l2dct.sawtooth import BDP, SAMPLED, K, of_teeth
from shortflow.papers.theory import LongFlows

FORGETS = "the analysis takes alpha as constant, but it decays within long teeth"

UNIT = lab.Study(
    SAMPLED,
    schemes=("dctcp", "l2dct"),
    over={"flows": (1, 2)},
    settings={"transport.w_max": 1, "transport.w_min": 1, "duration": "5s"},
    quick_settings={"duration": "1500ms", "warmup": "500ms"},
    seeds=1,
)
HALF = lab.Study(
    SAMPLED,
    schemes=("l2dct",),
    over={"flows": (1, 2), "transport.w_max": (1, 2.5)},
    settings={"transport.w_min": 0.5, "duration": "10s"},
    quick_settings={"duration": "3s"},
    seeds=1,
)
SMALLEST = lab.Study(
    SAMPLED, schemes=("l2dct",), settings={"flows": 1, "duration": "20s"}, quick_settings={"duration": "4s"}, seeds=1
)


def theory(flows: float, weight: float, step: float, *, exact: bool = False) -> LongFlows:
    """Steady state at the reference point: bandwidth-delay product of 25 packets, K = 20."""
    return LongFlows(BDP, K, flows, weight, step, exact)


def _x(step: float, flows: int = 1) -> float:
    w0 = (BDP + K) / flows
    return (2 * w0 * step + step**2) / (w0 + step) ** 2


CASES = {"w1_k1": (1.0, 1.0), "w0p5_k0p2": (0.5, 0.2), "wmin_k0p05": (0.125, 0.05)}


def _of(case: str, name: str) -> float:
    return float(getattr(theory(1, *CASES[case]), name))


def _formula(name: str, value: Callable[[float, float], float], *cases: str) -> lab.ClaimCondition:
    """Computed values against a formula of weight and step."""
    return lab.equal(lambda: {each: (_of(each, name), value(*CASES[each])) for each in cases or CASES})


def _printed(name: str, **values: float) -> lab.ClaimCondition:
    """Computed values against printed digits."""
    return lab.equal(lambda: {f"{each}, printed": (_of(each, name), v) for each, v in values.items()}, digits=4)


def _balance() -> lab.Pairs:
    root = theory(1, 1, 1, exact=True)
    return {"alpha (b - b^2/4)": (root.alpha * (root.penalty - root.penalty**2 / 4), _x(1))}


def _swings() -> lab.Pairs:
    return {
        "one flow": (theory(1, 1, 1).queue_swing, 4.7697),
        "for large windows": (theory(1, 1, 1).queue_swing_of_large_windows, 4.7434),
        "two flows": (theory(2, 1, 1).queue_swing, 6.7823),
    }


def _unit(name: str, unit: str = "") -> dict[int, lab.Quantity]:
    """A number of the sawtooth of w = k = 1 by number of flows."""
    measure = of_teeth(name, unit)
    return {n: lab.level("l2dct", measure).at(flows=n).called(f"simulated {measure.name}, {n} flows") for n in (1, 2)}


ALPHA, SWING, PERIOD, MEAN = (_unit(name) for name in ("alpha", "swing", "period", "mean_window"))
QUEUE_SWING, QUEUE_MAX, QUEUE_MIN = (_unit(f"queue_{name}", "packets") for name in ("swing", "max", "min"))


def _draw(unit: lab.Data) -> Sequence[lab.Drawing]:
    (result,) = unit.results("l2dct", flows=1)
    rows = result.samples.filter(kind="cwnd_seg").tail(400)
    times = [1e3 * time for time in rows["time_s"].to_list()]
    peak, swing = 46.0, theory(1, 1, 1).window_swing
    tooth_ms = theory(1, 1, 1).period * 1e3 * (BDP + K) * 12e-6
    found = [peak - swing * (1 - (time - times[0]) % tooth_ms / tooth_ms) for time in times]
    lines = [
        lab.Line("simulated", times, rows["value"].to_list(), markers=False),
        lab.Line("computed", times, found, markers=False),
    ]
    return [lab.Drawing("Window of one flow, w = k = 1", "time (ms)", "cwnd (segments)", lines)]


def _accuracy(flows: int) -> list[lab.ClaimCondition]:
    paper = theory(flows, 1, 1)
    mean = paper.critical_window + 1 - paper.window_swing / 2
    return [
        SWING[flows].close_to(paper.window_swing, 0.2),
        PERIOD[flows].close_to(paper.window_swing, 0.2),
        MEAN[flows].close_to(mean, 0.05),
    ]


def _overestimated(half: lab.Data) -> dict[str, float]:
    """Simulated swing over the computed one."""
    return {
        f"{flows} flows, k = {0.5 / w_max:g}": half.mean(
            "l2dct", of_teeth("swing"), flows=flows, transport__w_max=w_max
        ).value
        / theory(flows, 0.5, 0.5 / w_max).window_swing
        for flows in (1, 2)
        for w_max in (1, 2.5)
    }


def _ramp_s(unit: lab.Data) -> float:
    """Ramp with the packet sizes of the runs."""
    set_to = {row["key"]: row["value"] for row in unit.runs_of("l2dct", flows=1)[0].scenario.resolved()}
    law = Law("l2dct", [], 1.0)
    law.sent = 2_000_000
    elapsed = 0.0
    while law.cwnd < BDP * 1500 / (int(set_to["tcp.mss"].removesuffix("B")) + 40):
        elapsed += 300e-6 / law.cwnd
        law.ack(1460, False, False)
    return elapsed


equations = lab.Figure(
    "l2dct/eq5-12", "Sec. II-C, Eqs. 5-12", "The steady state", {"unit": UNIT, "smallest": SMALLEST}
).decides(
    lab.Claim("l2dct/eq5-alpha-balance", "Eq. 5", equation=True).says(
        "alpha follows from one round trip of marks in each tooth: alpha*(b - b^2/4) = (2*W0*k + k^2)/(W0 + k)^2",
        lab.equal(_balance),
        *(ALPHA[n].close_to(theory(n, 1, 1, exact=True).alpha, 0.15) for n in (1, 2)),
    ),
    lab.Claim("l2dct/eq6-alpha-steady", "Eq. 6").says(
        "alpha in closed form for small b: alpha = ((2*W0*k + k^2)/(W0 + k)^2)^(1/(w+1))",
        _formula("alpha", lambda w, k: _x(k) ** (1 / (w + 1))),
        _printed("alpha", w1_k1=0.2074, w0p5_k0p2=0.0427, wmin_k0p05=0.0044),
    ),
    lab.Claim("l2dct/eq7-penalty-steady", "Eq. 7").says(
        "b in closed form for small b: b = ((2*W0*k + k^2)/(W0 + k)^2)^(w/(w+1))",
        _formula("penalty", lambda w, k: _x(k) ** (w / (w + 1))),
        _printed("penalty", w1_k1=0.2074, w0p5_k0p2=0.2067, wmin_k0p05=0.5071),
    ),
    lab.Claim("l2dct/eq6-dctcp-special-case", "Sec. II-C").says(
        "for w = k = 1 alpha is DCTCP's",
        _formula("alpha", lambda w, k: ((2 * (BDP + K) + 1) / (BDP + K + 1) ** 2) ** 0.5, "w1_k1"),
    ),
    lab.Claim("l2dct/eq8-window-amplitude", "Eq. 8").says(
        "the window swings by b(W0 + k)/2: D = b*(W0 + k)/2",
        _formula("window_swing", lambda w, k: theory(1, w, k).penalty * (45 + k) / 2, "w1_k1", "wmin_k0p05"),
        _printed("window_swing", w1_k1=4.7697, wmin_k0p05=11.4231),
    ),
    lab.Claim("l2dct/eq9-queue-amplitude", "Eq. 9", equation=True).says(
        "the queue swings N times as far as a window: A = N*b*(W0 + k)/2 ~ (N*W0/2)*(2*k/W0)^(w/(w+1))",
        lab.equal(_swings, digits=4),
        *(QUEUE_SWING[n].close_to(theory(n, 1, 1).queue_swing, 0.2) for n in (1, 2)),
    ),
    lab.Claim("l2dct/eq10-oscillation-period", "Eq. 10", equation=True).says(
        "a tooth lasts D round trips; the derivation gives D/k: T_C = D = b*(W0 + k)/2",
        PERIOD[1].close_to(theory(1, 1, 1).window_swing, 0.2),
        lab.level("l2dct", of_teeth("period"), "smallest")
        .called("simulated period, w = 0.125")
        .close_to(theory(1, *CASES["wmin_k0p05"]).window_swing / 0.05, 0.2),
        because=FORGETS,
    ),
    lab.Claim("l2dct/eq11-max-queue", "Eq. 11", equation=True).says(
        "the queue peaks at K + Nk: Q_max = K + N*k",
        lab.equal(lambda: {"two flows": (theory(2, 1, 1).queue_max, 22.0)}),
        *(QUEUE_MAX[n].within(K - 2, K + 2 + 2 * n) for n in (1, 2)),
    ),
    lab.Claim("l2dct/eq12-min-queue", "Eq. 12", equation=True).says(
        "the queue's trough is its peak less its swing: Q_min = Q_max - A",
        lab.equal(
            lambda: {f"{n} flows": (theory(n, 1, 1).queue_min, paper) for n, paper in ((1, 16.2303), (2, 15.2177))},
            digits=4,
        ),
        *(QUEUE_MIN[n].close_to(theory(n, 1, 1).queue_min, 0.25) for n in (1, 2)),
    ),
)
fig3 = lab.Figure("l2dct/fig3", "Fig. 3", "The window, computed and simulated", {"unit": UNIT, "half": HALF}).decides(
    lab.Claim("l2dct/fig3-w1-accuracy").says(
        "for w = 1 the computed window follows the simulated one closely", *_accuracy(1), *_accuracy(2)
    ),
    lab.Claim("l2dct/fig3-w05-overestimate").says(
        "for w = 0.5 the computed swing is larger than the simulated one",
        lab.computed("simulated swing of w = 0.5 over the computed one", _overestimated).at_most(1.0),
    ),
    lab.Claim("l2dct/sec3b-ramp-200ms", "Sec. III-B.2").says(
        "a long flow needs about 200 ms from nothing to 1 Gbps",
        lab.computed("time of a long flow from one segment to the bandwidth-delay product", _ramp_s, "s").near(0.2),
    ),
    draws=[_draw],
)
