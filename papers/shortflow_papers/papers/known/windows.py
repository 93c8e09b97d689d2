"""Windows in the steady state: a full link, sawtooths, random losses and marks, round trips, and DCTCP's open swing."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from shortflow.api.runs import Result
from shortflow_papers import lab
from shortflow_papers.papers.common import recorded, series
from shortflow_papers.papers.known import holds, lies_in

PAYLOAD = 1460 / 1500
MSS_BITS = 1460 * 8
RENO_MOST = 333.3 + 333
"""Number of packets that fit on the link and in the buffer of the Reno scenario."""
RENO_RATE = 100e6 / 12_000
"""Rate of the Reno scenario's link, in packets per second."""
NEAR, FAR = 16e-3, 48e-3
"""Round-trip times of near and far flows without queues, in seconds."""
IN_PIPE = 10e9 * 100e-6 / 12_000
"""Bandwidth-delay product C × RTT of the DCTCP scenario, in packets."""
THRESHOLD = 40


def swing(flows: int) -> float:
    """Amplitude of the queue's oscillation under DCTCP, in packets (SIGCOMM 2010, Eq. 8)."""
    return math.sqrt(2 * flows * (IN_PIPE + THRESHOLD)) / 2


@lab.per_run("time between two decreases of the window", "s")
def period(result: Result) -> float:
    """Mean time between decreases of the window by a third or more; ∞ with fewer than two decreases."""
    samples = series(result, "cwnd_seg", since_s=result.meta["warmup_s"])
    times, windows = samples["time_s"].to_list(), samples["value"].to_list()
    cuts = [at for at, (before, after) in zip(times[1:], pairwise(windows), strict=True) if after < before * 2 / 3]
    return float(np.diff(lab.some(cuts[1:], "decreases")).mean()) if len(cuts) > 1 else math.inf


@lab.per_run("swing of the queue", "packets")
def queue_swing(result: Result) -> float:
    """Mean distance between consecutive peaks and troughs of the backlog, in the measured time."""
    backlog = series(result, "queue_pkt", since_s=result.meta["warmup_s"])["value"].to_numpy()
    ends = turns(backlog, float(backlog.std()))
    return float(np.abs(np.diff(lab.some(ends, "swings"))).mean()) if len(ends) > 1 else 0.0


def turns(values: Sequence[float] | np.ndarray, least: float) -> list[float]:
    """Alternating peaks and troughs of a series. Each differs from the previous one by more than `least`.

    A sawtooth of height A has a standard deviation of A/√12. With this deviation as `least`, cuts of the window count,
    and fluctuations within a round trip do not. The first and the last value are neither peak nor trough.
    """
    found: list[float] = []
    low = high = values[0]
    rises = falls = False
    for value in values:
        low, high = min(low, value), max(high, value)
        if not falls and value < high - least:
            found += [high] if rises else []
            rises, falls, low = False, True, value
        elif not rises and value > low + least:
            found += [low] if falls else []
            rises, falls, high = True, False, value
    return found


@lab.per_run("mean window", "segments")
def window(result: Result) -> float:
    """Mean of the window's samples in the measured time."""
    return float(series(result, "cwnd_seg", since_s=result.meta["warmup_s"])["value"].to_numpy().mean())


SCHEMES = ("newreno", "tcp", "cubic", "dctcp")
link = lab.Figure(
    "known/link",
    "one flow",
    "One flow fills a link",
    {"products": lab.Study("known-link", SCHEMES, over={"products": (1, 2, 4, 8)}, seeds=1)},
)
holds(
    link,
    "link-full",
    "one flow fills the link with a buffer of one to eight bandwidth-delay products",
    lab.level(SCHEMES, "goodput_long_bps").over("products"),
    1e9 * PAYLOAD,
    0.01,
)
iperf = lab.Figure(
    "known/iperf",
    "iperf",
    "One flow over Ethernet",
    {"flow": lab.Study("known-iperf", ("tcp", "cubic", "dctcp"), over={"rate": ("1Gbps", "10Gbps")}, seeds=1)},
)
for rate, bps in (("1Gbps", 1e9), ("10Gbps", 1e10)):
    holds(
        iperf,
        f"iperf-{rate.lower()}",
        f"one flow with timestamps gets 1448 of 1538 bytes of {rate.replace('G', ' G')}",
        lab.level(("tcp", "cubic", "dctcp"), "goodput_long_bps").at(rate=rate),
        bps * 1448 / 1538,
        0.002,
    )
reno = lab.Figure(
    "known/reno", "Reno", "Reno's sawtooth", {"flow": lab.Study("known-reno-sawtooth", ("newreno", "tcp"), seeds=1)}
)
holds(
    reno,
    "reno-period",
    "a cycle carries 3/8 W^2 packets, which take 20 s at the rate of the link",
    lab.level(("newreno", "tcp"), period),
    3 / 8 * RENO_MOST**2 / RENO_RATE,
    0.05,
)
dctcp = lab.Figure(
    "known/dctcp",
    "DCTCP",
    "DCTCP's sawtooth",
    {"flows": lab.Study("known-dctcp-sawtooth", ("dctcp",), over={"flows": (2, 10, 40)}, seeds=3, quick_seeds=1)},
)
for count in (2, 10, 40):
    holds(
        dctcp,
        f"dctcp-swing-{count}",
        f"the queue of {count} flows swings by sqrt(2 N (C RTT + K)) / 2 = {swing(count):.1f} packets",
        lab.level("dctcp", queue_swing).at(flows=count),
        swing(count),
        0.2,
    )
losses = lab.Figure(
    "known/losses", "random loss", "Random losses", {"flow": lab.Study("known-random-loss", ("tcp",), quick_seeds=3)}
)
holds(
    losses,
    "random-loss",
    "with random losses of a thousandth a flow gets 1.31 MSS / (RTT sqrt(p))",
    lab.level("tcp", "goodput_long_bps"),
    1.31 * MSS_BITS / (0.1 * math.sqrt(1e-3)),
    0.05,
)
marks = lab.Figure(
    "known/marks", "random marks", "Random marks", {"flow": lab.Study("known-random-marks", ("dctcp",), quick_seeds=3)}
)
holds(
    marks,
    "random-marks",
    "with random marks of a hundredth DCTCP's window is 2.73 (1 - p) / p",
    lab.level("dctcp", window),
    (1 + math.sqrt(3)) * 0.99 / 0.01,
    0.03,
)


@lab.per_run("exponent of the round trip")
def exponent(result: Result) -> float:
    """Exponent x for which goodput is proportional to RTT to the power -x, from the goodputs of near and far flows.

    An RTT is that of the path plus the mean wait at the shared port.
    """
    near, far = (recorded(result, f"goodput_{of}_bps", f"goodput of {of} flows") for of in ("near", "far"))
    wait = recorded(result, "queue_mean_pkt", "queue") / RENO_RATE
    return math.log(near / far) / math.log((FAR + wait) / (NEAR + wait))


trips = lab.Figure(
    "known/rtt",
    "round trips",
    "Unequal round trips",
    {"flows": lab.Study("known-rtt", ("newreno",), seeds=10, quick_seeds=2)},
)
lies_in(
    trips,
    "rtt-unfairness",
    "goodput falls with a power of the round trip between one and two",
    lab.level("newreno", exponent),
    1.0,
    2.0,
)
