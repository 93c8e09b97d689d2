"""Figs. 5 and 6: two flows over one path of two 100 Mbps hops, with equal weights and with weights 1 and 2."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from shortflow.lab import Data, Drawing, Figure, Finding, Line, Study, all_hold, at_least, close_to, within
from shortflow.lab.study import Value
from shortflow.metrics.stats import Estimate, estimate
from shortflow.papers.atcp.setup import BASE, SWITCH, TCP, Floats, Measure, between
from shortflow.result import RunResult

PATH = {
    "topology": {"kind": "star", "hosts": 2, "rate": "100Mbps", "rtt": "200us"},
    "switch": SWITCH,
    "host": {"buffer": "100pkt"},
    "tcp": TCP,
}
"""Sender, switch, receiver: the queue is where the sender's own link begins."""

LONG: dict[str, object] = {
    "title": "Two long flows over the same two hops of 100 Mbps",
    "duration": "30s",
    "warmup": "18s",
    "parameters": {"later": "13s"},
    **PATH,
    "traffic": [
        {"kind": "long-lived", "class": "first", "flows": 1, "from": 0, "to": 1},
        {"kind": "long-lived", "class": "second", "flows": 1, "from": 0, "to": 1, "start": "$later"},
    ],
    "measure": {"ports": ["s0->h1"], "sample_every": "1ms"},
}
FINITE: dict[str, object] = {
    "title": "100 MB and, later, 10 MB over the same two hops of 100 Mbps",
    "duration": "9s",
    "drain": "20s",
    "parameters": {"later": "2s"},
    **PATH,
    "traffic": [
        {
            "kind": "incast",
            "class": "large",
            "flows": 1,
            "from": 0,
            "to": 1,
            "sizes": {"kind": "fixed", "value": "100MB"},
        },
        {
            "kind": "incast",
            "class": "small",
            "flows": 1,
            "from": 0,
            "to": 1,
            "at": "$later",
            "sizes": {"kind": "fixed", "value": "10MB"},
        },
    ],
    "measure": {"ports": ["s0->h1"], "sample_every": "20ms"},
}
ONE_AND_TWO: dict[str, Value] = {**BASE, "transport.w_high": 2, "transport.w_low": 1}

# Nothing here is random, so the second flow's start takes the place of the seed: it shifts the losses.
LATER = ("13s", "13.037s", "13.074s", "13.111s", "13.148s")
STARTS = ("2s", "2.037s", "2.074s", "2.111s", "2.148s")
# The first flow alone is past T when the second starts, and the second is below it to the end.
TWO_WINDOWS = Study(
    LONG,
    ("tcp", "atcp"),
    over={"later": LATER},
    settings={**ONE_AND_TWO, "transport.t1": "150MB", "transport.t2": "150MB"},
    seeds=1,
    quick_seeds=1,
)
# The large flow is past T = 10 MB when the small one starts, and the small one never is.
TWO_SIZES = Study(FINITE, ("tcp", "atcp"), over={"later": STARTS}, settings=ONE_AND_TWO, seeds=1, quick_seeds=1)

FIRST, SECOND = "0", "1"
ROUND_TRIP_S = 0.0125
"""With a full buffer."""

fig5 = Figure("atcp/fig5", "Fig. 5", "Windows of two flows", {"windows": TWO_WINDOWS})
fig6 = Figure("atcp/fig6", "Fig. 6", "Rates of a large and a small flow", {"sizes": TWO_SIZES})


def _series(result: RunResult, kind: str, subject: str, after_s: float = 0.0) -> pl.DataFrame:
    wanted = (pl.col("kind") == kind) & (pl.col("subject") == subject) & (pl.col("time_s") >= after_s)
    return result.samples.filter(wanted)


def _all(data: Data, scheme: str) -> list[RunResult]:
    return [result for later in data.values("later") for result in data.results(scheme, later=later)]


def window_ratio(result: RunResult) -> float:
    """Mean window of the second flow over that of the first, once both have settled."""
    settled = result.meta["warmup_s"]
    first, second = (_series(result, "cwnd_seg", flow, settled)["value"].to_numpy() for flow in (FIRST, SECOND))
    return float(second.mean() / first.mean())


def _cuts(result: RunResult, flow: str) -> Floats:
    """When a flow's window was cut: it fell by a quarter or more from one sample to the next."""
    series = _series(result, "cwnd_seg", flow, result.meta["warmup_s"])
    window, time = series["value"].to_numpy(), series["time_s"].to_numpy()
    return np.asarray(time[1:][window[1:] <= 0.75 * window[:-1]], dtype=np.float64)


def _episodes(result: RunResult) -> list[dict[str, float]]:
    """The congestion events, and when each flow's window was cut.

    A flow learns of a loss up to a round trip later: cuts of one event lie up to 15 ms apart, events 180 ms.
    """
    cuts = [(float(time), flow) for flow in (FIRST, SECOND) for time in _cuts(result, flow)]
    episodes: list[dict[str, float]] = []
    for time, flow in sorted(cuts):
        if episodes and flow not in episodes[-1] and time - min(episodes[-1].values()) <= 2 * ROUND_TRIP_S:
            episodes[-1][flow] = time
        else:
            episodes.append({flow: time})
    return episodes


def joint_cuts(result: RunResult) -> float:
    """The share of congestion events at which both windows are cut within a round trip."""
    episodes = [list(cuts.values()) for cuts in _episodes(result)]
    return sum(len(times) == 2 and max(times) - min(times) <= ROUND_TRIP_S for times in episodes) / len(episodes)


def shared_cuts(result: RunResult) -> float:
    """The share of congestion events at which both windows are cut, within two round trips."""
    episodes = _episodes(result)
    return sum(len(cuts) == 2 for cuts in episodes) / len(episodes)


def over_starts(data: Data, scheme: str, measure: Measure) -> Estimate:
    """A measure over the starts of the second flow."""
    return estimate([measure(result) for result in _all(data, scheme)])


@fig5.drawing
def draw_windows(windows: Data) -> Sequence[Drawing]:
    drawings = []
    for scheme, title in (("tcp", "TCP"), ("atcp", "weights 1 and 2")):
        result = windows.results(scheme, later=windows.values("later")[0])[0]
        lines = []
        for flow, name in ((FIRST, "flow 1"), (SECOND, "flow 2")):
            series = _series(result, "cwnd_seg", flow, 12.0).gather_every(10)
            lines.append(Line(name, series["time_s"].to_list(), series["value"].to_list(), markers=False))
        drawings.append(Drawing(f"Congestion windows: {title}", "time (s)", "window (segments)", lines))
    return drawings


@fig5.claim("fig5-tcp-equal", "under TCP both windows settle at equal sizes", "mean window ratio within 0.8 to 1.25")
def tcp_equal(windows: Data) -> Finding:
    return within(over_starts(windows, "tcp", window_ratio), 0.8, 1.25)


@fig5.claim(
    "fig5-weighted-ratio",
    "with weights 1 and 2 the second window is twice the first",
    "mean window ratio within 1.6 to 2.5",
)
def weighted_ratio(windows: Data) -> Finding:
    return within(over_starts(windows, "atcp", window_ratio), 1.6, 2.5)


@fig5.claim(
    "fig5-joint-halving",
    "most congestion events halve both windows",
    "both cut within one round trip in over half of them",
)
def joint_halving(windows: Data) -> Finding:
    both = over_starts(windows, "atcp", shared_cuts).value
    return at_least(over_starts(windows, "atcp", joint_cuts), 0.5, within_two_round_trips=both)


def _fct(result: RunResult, flow_class: str) -> float:
    return float(result.flows.filter(pl.col("class") == flow_class)["fct_s"][0])


def small_time(result: RunResult) -> float:
    """Completion time of the 10 MB flow."""
    return _fct(result, "small")


def large_time(result: RunResult) -> float:
    """Completion time of the 100 MB flow."""
    return _fct(result, "large")


def small_share(result: RunResult) -> float:
    """Mean rate of the 10 MB flow over the rate of the link."""
    return 80e6 / small_time(result) / 100e6


def rate_ratio(result: RunResult) -> float:
    """Rate of the small flow over that of the large one while both are active."""
    small = result.flows.filter(pl.col("class") == "small")
    begin, end = float(small["start_s"][0]), float(small["finish_s"][0])
    both = [
        _series(result, "throughput_bps", name, begin).filter(pl.col("time_s") <= end) for name in ("small", "large")
    ]
    rates = [float(series["value"].to_numpy().mean()) for series in both]
    return rates[0] / rates[1]


@fig6.drawing
def draw_rates(sizes: Data) -> Sequence[Drawing]:
    drawings = []
    for scheme, title in (("tcp", "TCP"), ("atcp", "weights 1 and 2")):
        result = sizes.results(scheme, later=sizes.values("later")[0])[0]
        lines = []
        for name in ("large", "small"):
            series = _series(result, "throughput_bps", name).gather_every(2)
            rates = [rate / 1e6 for rate in series["value"]]
            lines.append(Line(name, series["time_s"].to_list(), rates, markers=False))
        drawings.append(Drawing(f"Rates: {title}", "time (s)", "throughput (Mbps)", lines))
    return drawings


@fig6.claim(
    "fig6-tcp-half", "under TCP both flows get half the link", "mean rate of the small flow 0.35 to 0.6 of the link"
)
def tcp_half(sizes: Data) -> Finding:
    return within(over_starts(sizes, "tcp", small_share), 0.35, 0.6)


@fig6.claim(
    "fig6-weighted-two-thirds",
    "with weights the small flow gets twice the large one's rate",
    "mean rate ratio 1.5 to 2.6",
)
def two_thirds(sizes: Data) -> Finding:
    return within(over_starts(sizes, "atcp", rate_ratio), 1.5, 2.6)


@fig6.claim(
    "fig6-small-fct",
    "the 10 MB flow takes 1.2 s instead of 1.8 s",
    "each within 20 %, their ratio 1.2 to 1.8",
    because="with NewReno one to three timeouts of the 10 MB flow, whose slow start loses hundreds of packets, "
    "decide its time; with --choice recovery=sack it takes 2.0 and 1.4 s, which agrees",
)
def small_fct(sizes: Data) -> Finding:
    tcp, atcp = (over_starts(sizes, scheme, small_time) for scheme in ("tcp", "atcp"))
    return all_hold(
        {
            "tcp_s": close_to(tcp, 1.8, 0.2),
            "atcp_s": close_to(atcp, 1.2, 0.2),
            "ratio": within(tcp.value / atcp.value, 1.2, 1.8),
        }
    )


@fig6.claim("fig6-large-unchanged", "the 100 MB flow takes as long as before", "mean completion time within 3 %")
def large_unchanged(sizes: Data) -> Finding:
    return within(between(_all(sizes, "atcp"), _all(sizes, "tcp"), large_time), -0.03, 0.03)
