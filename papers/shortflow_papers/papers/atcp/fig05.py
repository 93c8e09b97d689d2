"""Figs. 5 and 6, Sec. V-C: flows over one path of two 100 Mbps hops, with equal weights and with weights 1 and 2."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl

from shortflow import Estimate
from shortflow.api.runs import Result
from shortflow_papers import lab
from shortflow_papers.lab.study import Value
from shortflow_papers.papers.atcp.setup import BASE, BUFFER, SWITCH, TCP, Floats, Table, relative
from shortflow_papers.papers.common import burst_of, flows, ns_study, number_of, of_flows, series, traces


def path(
    title: str, traffic: Sequence[Mapping[str, object]], parameters: Mapping[str, object], **more: object
) -> Table:
    """Sender, switch, receiver at 100 Mbps: the queue is at the sender's own link, whose buffer the settings have."""
    return {
        "title": title,
        "parameters": {**BUFFER, **parameters},
        "topology": {"kind": "star", "hosts": 2, "rate": "100Mbps", "rtt": "200us"},
        "switch": SWITCH,
        "tcp": TCP,
        "traffic": traffic,
        **more,
    }


_LONG = {"kind": "long-lived", "flows": 1, "from": 0, "to": 1}
LONG = path(
    "Two long flows over the same two hops of 100 Mbps",
    [{**_LONG, "class": "first"}, {**_LONG, "class": "second", "start": "$later"}],
    {"later": "13s"},
    duration="30s",
    warmup="18s",
    measure={"ports": ["s0->h1"], "sample_every": "1ms"},
)
FINITE = path(
    "100 MB and, later, 10 MB over the same two hops of 100 Mbps",
    [burst_of(0, 1, "100MB", "large"), burst_of(0, 1, "10MB", "small", at="$later")],
    {"later": "2s"},
    duration="9s",
    drain="20s",
    measure={"ports": ["s0->h1"], "sample_every": "20ms"},
)
ONE_AND_TWO: dict[str, Value] = {**BASE, "transport.w_high": 2, "transport.w_low": 1}

# Nothing here is random. The second flow's start replaces the seed: it shifts the losses.
SHIFTS_MS = range(0, 380, 19)
LATER, STARTS = (tuple(f"{at + shift}ms" for shift in SHIFTS_MS) for at in (13000, 2000))
# The first flow alone is past T when the second starts, and the second is below it to the end.
BELOW = {**ONE_AND_TWO, "transport.t1": "150MB", "transport.t2": "150MB"}
TWO_WINDOWS = ns_study(LONG, ("tcp", "atcp"), over={"later": LATER}, settings=BELOW, seeds=1)
# The large flow is past T = 10 MB when the small one starts; the small one never reaches T.
TWO_SIZES = ns_study(FINITE, ("tcp", "atcp"), over={"later": STARTS}, settings=ONE_AND_TWO, seeds=1)

SHARED = path(
    "Long flows over the same two hops of 100 Mbps",
    [{**_LONG, "class": "long", "flows": "$flows", "stagger": "100ms"}],
    {"flows": 2},
    duration="20s",
    warmup="5s",
    measure={"ports": ["s0->h1"]},
)
# With this T, each flow's weight changes from high to low within the run, at different times.
LINK = ns_study(
    SHARED,
    ("tcp", "atcp"),
    over={"flows": (2, 4, 10), "transport.w_high": (2, 3)},
    settings={**BASE, "transport.t1": "25MB", "transport.t2": "25MB"},
    seeds=1,
)

FIRST, SECOND = "0", "1"
ROUND_TRIP_S = 0.0062
"""RTT with 50 packets in the sender's own queue."""


def _all(data: lab.Data, scheme: str) -> list[Result]:
    return [result for later in data.values("later") for result in data.results(scheme, later=later)]


@lab.per_run("window of the second flow over the first's")
def window_ratio(result: Result) -> float:
    """Ratio of means after both flows have settled."""
    settled = result.meta["warmup_s"]
    first, second = (series(result, "cwnd_seg", flow, settled)["value"].to_numpy() for flow in (FIRST, SECOND))
    return float(second.mean() / first.mean())


def _cuts(result: Result, flow: str) -> Floats:
    """Times of window cuts: decreases by a quarter or more between samples."""
    samples = series(result, "cwnd_seg", flow, result.meta["warmup_s"])
    window, time = samples["value"].to_numpy(), samples["time_s"].to_numpy()
    return np.asarray(time[1:][window[1:] <= 0.75 * window[:-1]], dtype=np.float64)


def _episodes(result: Result) -> list[dict[str, float]]:
    """Congestion events, each with the time of every flow's window cut.

    A flow detects a loss up to one RTT later, so that the cuts of one event are at most two RTTs apart.
    """
    cuts = [(float(time), flow) for flow in (FIRST, SECOND) for time in _cuts(result, flow)]
    episodes: list[dict[str, float]] = []
    for time, flow in sorted(cuts):
        if episodes and flow not in episodes[-1] and time - min(episodes[-1].values()) <= 2 * ROUND_TRIP_S:
            episodes[-1][flow] = time
        else:
            episodes.append({flow: time})
    return episodes


@lab.per_run("share of congestion events that cut both windows within a round trip")
def joint_cuts(result: Result) -> float:
    """Share of all events after both flows have settled."""
    episodes = [list(cuts.values()) for cuts in _episodes(result)]
    return sum(len(times) == 2 and max(times) - min(times) <= ROUND_TRIP_S for times in episodes) / len(episodes)


@lab.per_run("share of congestion events that cut both windows within two round trips")
def shared_cuts(result: Result) -> float:
    """Share of all events after both flows have settled."""
    episodes = _episodes(result)
    return sum(len(cuts) == 2 for cuts in episodes) / len(episodes)


def _completion(flow_class: str, size: str) -> lab.Measure:
    return of_flows(f"completion time of the {size} flow", pl.col("fct_s"), flow_class, "s")


SMALL_TIME, LARGE_TIME = _completion("small", "10 MB"), _completion("large", "100 MB")


@lab.per_run("small flow's share of the link")
def small_share(result: Result) -> float:
    """Mean rate over the link's rate."""
    return 80e6 / SMALL_TIME(result) / 100e6


@lab.per_run("rate of the small flow over the large one's")
def rate_ratio(result: Result) -> float:
    """Ratio while both flows are active."""
    small = flows(result, "small")
    begin, end = (float(small[column].to_numpy()[0]) for column in ("start_s", "finish_s"))
    if math.isnan(end):
        return math.nan
    until = pl.col("time_s") <= end
    both = [series(result, "throughput_bps", name, begin).filter(until) for name in ("small", "large")]
    rates = [float(each["value"].to_numpy().mean()) for each in both]
    return rates[0] / rates[1]


@number_of(f"{LARGE_TIME.name}, atcp over tcp", lab.RELATIVE, 0.0)
def large_change(sizes: lab.Data) -> Estimate:
    return relative(_all(sizes, "atcp"), _all(sizes, "tcp"), LARGE_TIME)


def _panels(
    data: lab.Data, read: Callable[[Result], Mapping[str, pl.DataFrame]], title: str, label: str, divisor: float = 1.0
) -> list[lab.Drawing]:
    first = {scheme: data.results(scheme, later=data.values("later")[0])[0] for scheme in ("tcp", "atcp")}
    names = {"tcp": "TCP", "atcp": "weights 1 and 2"}
    return [traces(f"{title}: {names[scheme]}", label, read(run), divisor) for scheme, run in first.items()]


def _draw_windows(windows: lab.Data) -> Sequence[lab.Drawing]:
    def read(result: Result) -> dict[str, pl.DataFrame]:
        of = {"flow 1": FIRST, "flow 2": SECOND}
        return {name: series(result, "cwnd_seg", flow, 12.0).gather_every(10) for name, flow in of.items()}

    return _panels(windows, read, "Congestion windows", "window (segments)")


def _draw_rates(sizes: lab.Data) -> Sequence[lab.Drawing]:
    def read(result: Result) -> dict[str, pl.DataFrame]:
        return {name: series(result, "throughput_bps", name).gather_every(2) for name in ("large", "small")}

    return _panels(sizes, read, "Rates", "throughput (Mbps)", 1e6)


fig5 = lab.Figure("atcp/fig5", "Fig. 5", "Windows of two flows", {"windows": TWO_WINDOWS})
fig5.claim("atcp/fig5-tcp-equal").says(
    "under TCP both windows settle at equal sizes", lab.pooled("tcp", window_ratio, "later").near(1.0)
)
fig5.claim("atcp/fig5-weighted-ratio").says(
    "with weights 1 and 2 the second window is twice the first",
    lab.pooled("atcp", window_ratio, "later", 1.0).near(2.0),
)
fig5.claim("atcp/fig5-joint-halving", "Fig. 5, Sec. V-A").says(
    "most congestion events halve both windows",
    lab.pooled("atcp", joint_cuts, "later").within(low=0.5),
    shows=[lab.pooled("atcp", shared_cuts, "later")],
)
fig5.draw(_draw_windows)
fig6 = lab.Figure("atcp/fig6", "Fig. 6", "Rates of a large and a small flow", {"sizes": TWO_SIZES})
fig6.claim("atcp/fig6-tcp-half", "Fig. 6(a)").says(
    "under TCP both flows get half the link", lab.pooled("tcp", small_share, "later").near(0.5)
)
fig6.claim("atcp/fig6-weighted-two-thirds", "Fig. 6(b)").says(
    "with weights the small flow gets twice the large one's rate",
    lab.pooled("atcp", rate_ratio, "later", 1.0).near(2.0),
)
fig6.claim("atcp/fig6-small-fct", "Fig. 6, Sec. V-B").says(
    "the 10 MB flow takes 1.2 s instead of 1.8 s",
    lab.pooled("tcp", SMALL_TIME, "later").near(1.8),
    lab.pooled("atcp", SMALL_TIME, "later").near(1.2),
    lab.ratio(lab.pooled("tcp", SMALL_TIME, "later"), lab.pooled("atcp", SMALL_TIME, "later")).near(1.5),
)
fig6.claim("atcp/fig6-large-unchanged", "Theorem 2, Fig. 6").says(
    "the 100 MB flow takes as long as before", large_change.within(-0.03, 0.03), no_harm=True
)
fig6.draw(_draw_rates)
USE = {name: lab.level(name, "utilisation").over("flows", "transport.w_high") for name in ("tcp", "atcp")}

utilisation = lab.Figure("atcp/sec5a", "Sec. V-C", "Use of the link", {"link": LINK})
utilisation.claim("atcp/sec5a-high-utilisation").says(
    "weighted growth keeps the link as busy as TCP",
    lab.difference(USE["atcp"], USE["tcp"]).within(-0.02, 0.02),
    no_harm=True,
)
