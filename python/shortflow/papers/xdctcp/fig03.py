"""Figs. 3 and 4: the window of a long flow and the queue, under DCTCP and xDCTCP."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from shortflow.lab import Data, Drawing, Figure, Finding, Line, all_hold, at_least, at_most, drops_in_run, fact, lower
from shortflow.metrics.stats import nearest_rank, paired_difference
from shortflow.papers.xdctcp.setup import BASE, long_windows, queue
from shortflow.result import RunResult

SCHEMES = ("dctcp", "xdctcp")
K = 65
SPIKE = 1.5 * K
FOLLOWS_S = 300e-6
PERIOD_S = 0.01
"""Every short sender sends once in it."""
SETTLED_S = 0.15
"""All long flows have left slow start."""
SHOWN_S = 0.2
"""Drawings end here, or nothing could be made out."""

Floats = npt.NDArray[np.float64]

fig3 = Figure("xdctcp/fig3", "Fig. 3", "The window of a long flow", {"base": BASE})
fig4 = Figure("xdctcp/fig4", "Fig. 4", "The queue at the receiver's port", {"base": BASE})


@fig3.drawing
def windows(base: Data) -> Sequence[Drawing]:
    lines = []
    for scheme in SCHEMES:
        first = long_windows(base.results(scheme)[0])[0].filter(pl.col("time_s") <= SHOWN_S)
        lines.append(Line(scheme, first["time_s"].to_list(), first["value"].to_list(), markers=False))
    return [Drawing("Window of the first long flow", "time (s)", "window (segments)", lines)]


@fig4.drawing
def queues(base: Data) -> Sequence[Drawing]:
    lines = []
    for scheme in SCHEMES:
        found = queue(base.results(scheme)[0]).filter(pl.col("time_s") <= SHOWN_S)
        lines.append(Line(scheme, found["time_s"].to_list(), found["value"].to_list(), markers=False))
    return [Drawing("Queue at the receiver's port", "time (s)", "queue (packets)", lines)]


def mean_cut(result: RunResult) -> float:
    """By which share a long flow's window falls, mean over all falls between two samples."""
    falls: list[float] = []
    for flow in long_windows(result):
        window = flow["value"].to_numpy()
        change = np.diff(window) / window[:-1]
        falls.extend(-change[change < 0])
    return float(np.mean(falls))


def lowest(result: RunResult) -> float:
    """The smallest window of a long flow: the fifth percentile of its samples, mean over the flows."""
    return float(np.mean([nearest_rank(flow["value"].to_numpy(), 5) for flow in long_windows(result)]))


@fig3.claim(
    "fig3-long-cwnd",
    "xDCTCP cuts the window of a long flow deeper than DCTCP",
    "the mean relative cut at least 1.3 times DCTCP's, and the lowest windows lower",
)
def deeper(base: Data) -> Finding:
    dctcp, xdctcp = (base.measured(mean_cut, scheme).value for scheme in SCHEMES)
    low_dctcp, low_xdctcp = (base.measured(lowest, scheme).value for scheme in SCHEMES)
    return all_hold(
        {
            "ratio of cuts": at_least(xdctcp / dctcp, 1.3, xdctcp=xdctcp, dctcp=dctcp),
            "lower": fact(low_xdctcp < low_dctcp, xdctcp=low_xdctcp, dctcp=low_dctcp),
        }
    )


@fig4.claim(
    "fig4-queue-below-buffer",
    "the queue stays well below its 250 packets, and nothing is lost",
    "no drop in the whole run, and at most 200 packets in the samples",
    because="all drops fall into the slow start of the first long flow, and later the queue stays below 130 packets; "
    "with --choice initial-alpha=1 nothing is lost, and only DCTCP exceeds 200 packets",
)
def below_buffer(base: Data) -> Finding:
    findings = {}
    for scheme in SCHEMES:
        found = queue(base.results(scheme)[0])
        later = float(found.filter(_settled())["value"].to_numpy().max())
        most = float(found["value"].to_numpy().max())
        findings[f"{scheme} drops"] = at_most(base.measured(drops_in_run, scheme).value, 0.0)
        findings[f"{scheme} most packets"] = at_most(most, 200.0, once_settled=later)
    return all_hold(findings)


def _settled() -> pl.Expr:
    return pl.col("time_s") > SETTLED_S


def burst_peaks(result: RunResult) -> list[float]:
    """Packets at the peak of the queue in each period of the short senders."""
    periods = queue(result).group_by((pl.col("time_s") / PERIOD_S).floor().alias("period"))
    return periods.agg(pl.col("value").max()).sort("period")["value"].cast(pl.Float64).to_list()


@fig4.claim(
    "fig4-spikes-higher",
    "short flows make the queue spike higher under xDCTCP than under DCTCP",
    "the peak in a period of the short senders is higher, with the interval of the difference paired over the periods",
)
def spikes(base: Data) -> Finding:
    dctcp, xdctcp = (burst_peaks(base.results(scheme)[0]) for scheme in SCHEMES)
    below = paired_difference(dctcp, xdctcp)
    if below is None:
        raise ValueError("the queue was always empty")
    means = {name: float(np.mean(peaks)) for name, peaks in (("dctcp", dctcp), ("xdctcp", xdctcp))}
    return all_hold({"DCTCP's over xDCTCP's": lower(below, **means)})


@fig4.claim(
    "fig4-spikes-cut-long",
    "each spike of the queue comes with a cut of the long flows' windows",
    "after at least 90 % of the times that the queue rises above 1.5 K a long flow's window falls within 300 us",
)
def cut_after_spike(base: Data) -> Finding:
    (result,) = base.results("xdctcp")
    found = queue(result)
    time, packets = found["time_s"].to_numpy(), found["value"].to_numpy()
    spikes = time[1:][(packets[1:] > SPIKE) & (packets[:-1] <= SPIKE)]
    falls = np.concatenate(
        [_falls(flow["time_s"].to_numpy(), flow["value"].to_numpy()) for flow in long_windows(result)]
    )
    followed = [bool(((falls >= at) & (falls <= at + FOLLOWS_S)).any()) for at in spikes]
    return at_least(float(np.mean(followed)), 0.9, spikes=len(spikes))


def _falls(time: Floats, window: Floats) -> Floats:
    """When a window has fallen since the sample before."""
    return time[1:][np.diff(window) < 0]
