"""Figs. 3 and 4: window of a long flow and queue, under DCTCP and xDCTCP."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from shortflow.api.metrics import nearest_rank
from shortflow.api.runs import Result
from shortflow_papers import lab
from shortflow_papers.papers.common import traces
from shortflow_papers.papers.xdctcp.setup import BASE, long_windows, queue

SCHEMES = ("dctcp", "xdctcp")
K, BUFFER = 65, 250
SPIKE = 1.5 * K
FOLLOWS_S = 300e-6
PERIOD_S = 0.01
"""Time in seconds between two flows of the same short sender."""
SETTLED_S = 0.15
"""Time in seconds at which all long flows have left slow start."""
SHOWN_S = 0.2
"""End of the drawings in seconds, for legibility."""
SHOWN = pl.col("time_s") <= SHOWN_S


@lab.per_run("mean relative cut of long flows' windows")
def mean_cut(result: Result) -> float:
    """Relative decrease of a long flow's window between samples; mean over all decreases."""
    falls: list[float] = []
    for flow in long_windows(result):
        window = flow["value"].to_numpy()
        change = np.diff(window) / window[:-1]
        falls.extend(-change[change < 0])
    return float(np.mean(falls))


@lab.per_run("lowest window of long flows")
def lowest(result: Result) -> float:
    """Fifth percentile of a long flow's window in segments; mean over the flows."""
    return float(np.mean([nearest_rank(flow["value"].to_numpy(), 5) for flow in long_windows(result)]))


def most_packets(name: str, since_s: float = 0.0) -> lab.Measure:
    """Measure: maximum of the queue in packets, after `since_s` and from the first queries on."""
    later = pl.col("time_s") > since_s
    return lab.Measure(name, "packets", lambda result: float(queue(result).filter(later)["value"].to_numpy().max()))


@lab.per_run("mean peak of the queue in a period of the short senders", "packets")
def peak(result: Result) -> float:
    """Largest queue in packets in a period of the short senders; mean over the periods."""
    periods = queue(result).group_by((pl.col("time_s") / PERIOD_S).floor()).agg(pl.col("value").max())
    return float(periods["value"].to_numpy().mean())


@lab.per_run("share of spikes with a cut")
def followed(result: Result) -> float:
    """Share of the queue's rises above 1.5 K after which a long flow reduces its window."""
    found = queue(result)
    time, packets = found["time_s"].to_numpy(), found["value"].to_numpy()
    spikes = time[1:][(packets[1:] > SPIKE) & (packets[:-1] <= SPIKE)]
    windows = [(flow["time_s"].to_numpy(), flow["value"].to_numpy()) for flow in long_windows(result)]
    falls = np.concatenate([time[1:][np.diff(window) < 0] for time, window in windows])
    return float(np.mean([bool(((falls >= at) & (falls <= at + FOLLOWS_S)).any()) for at in spikes]))


def _windows(base: lab.Data) -> Sequence[lab.Drawing]:
    first = {scheme: long_windows(base.results(scheme)[0])[0].filter(SHOWN) for scheme in SCHEMES}
    return [traces("Window of the first long flow", "window (segments)", first)]


def _queues(base: lab.Data) -> Sequence[lab.Drawing]:
    samples = {scheme: queue(base.results(scheme)[0]).filter(SHOWN) for scheme in SCHEMES}
    buffer = lab.Line("buffer", [0.0, SHOWN_S], [BUFFER, BUFFER], markers=False, printed=True)
    return [traces("Queue at the receiver's port", "queue (packets)", samples, more=[buffer])]


fig3 = lab.Figure("xdctcp/fig3", "Fig. 3", "The window of a long flow", {"base": BASE})
fig3.claim("xdctcp/fig3-long-cwnd").says(
    "xDCTCP cuts the window of a long flow deeper than DCTCP",
    lab.change("xdctcp", "dctcp", mean_cut).within(low=0.3),
    lab.change("xdctcp", "dctcp", lowest).below(),
)
fig3.draw(_windows)
fig4 = lab.Figure("xdctcp/fig4", "Fig. 4", "The queue at the receiver's port", {"base": BASE})
fig4.claim("xdctcp/fig4-queue-below-buffer").says(
    "the queue stays well below its 250 packets, and nothing is lost",
    lab.level(SCHEMES, lab.drops_in_run).called("drops").within(high=0.0),
    lab.level(SCHEMES, most_packets("largest queue")).called("largest queue").within(high=200.0),
    shows=[lab.level(SCHEMES, most_packets("largest queue once long flows have left slow start", SETTLED_S))],
    because="the drops probably fall into the slow start of the first long flow",
)
fig4.claim("xdctcp/fig4-spikes-higher").says(
    "short flows make the queue spike higher under xDCTCP than under DCTCP", lab.change("xdctcp", "dctcp", peak).above()
)
fig4.claim("xdctcp/fig4-spikes-cut-long", "Fig. 4, Sec. V-B").says(
    "each spike of the queue comes with a cut of the long flows' windows", lab.level("xdctcp", followed).within(low=0.9)
)
fig4.draw(_queues)
