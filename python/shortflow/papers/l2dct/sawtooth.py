"""Sawtooth of a long flow's window and of the queue, from the samples of a run."""

import itertools
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from shortflow import lab
from shortflow.errors import TooLittle
from shortflow.papers.l2dct.setup import LINK_BPS, LONG_FLOWS
from shortflow.result import Result

PACKET_S = 1500 * 8 / LINK_BPS
BDP = 25.0
"""Packets of 1500 bytes in 300 us at 1 Gbps."""
SENDING_US = 14
"""Transmission time per RTT: part of the analysis's 300 us; at 1 Gbps, and twice at 10 Gbps."""
K = 20.0

SAMPLED: Mapping[str, object] = {
    **LONG_FLOWS,
    "topology": {**LONG_FLOWS["topology"], "rtt": f"{300 - SENDING_US}us"},
    "measure": {"ports": ["s0->s1"], "sample_every": "50us"},
}


@dataclass(frozen=True)
class Sawtooth:
    """Medians over the teeth of one flow, in packets, and in round trips at the mean window."""

    swing: float
    """Swing of the window."""
    period: float
    mean_window: float
    alpha: float
    queue_max: float
    queue_min: float
    teeth: int

    @property
    def queue_swing(self) -> float:
        """Queue from trough to peak."""
        return self.queue_max - self.queue_min


def sawtooth(result: Result) -> Sawtooth:
    """Teeth between window cuts of the first flow after the warm-up, on a busy link."""
    window, alpha, queue = (_series(result, kind) for kind in ("cwnd_seg", "alpha", "queue_pkt"))
    cuts = np.flatnonzero(np.diff(window) < 0)
    teeth = list(itertools.pairwise(cuts))
    if not teeth:
        raise TooLittle("no tooth after the warm-up")
    step = 50e-6
    mean_window = float(window.mean())
    # By Little's law a round trip takes the transmission time of all windows.
    round_trip = mean_window * len(result.flows) * PACKET_S
    return Sawtooth(
        swing=statistics.median(float(window[end] - window[start + 1]) for start, end in teeth),
        period=statistics.median(float(end - start) * step / round_trip for start, end in teeth),
        mean_window=mean_window,
        alpha=float(alpha.mean()),
        queue_max=statistics.median(float(queue[start:end].max()) for start, end in teeth),
        queue_min=statistics.median(float(queue[start:end].min()) for start, end in teeth),
        teeth=len(teeth),
    )


def of_teeth(name: str, unit: str = "") -> lab.Measure:
    """A number of the sawtooth."""
    return lab.Measure(name.replace("_", " "), unit, lambda result: float(getattr(sawtooth(result), name)))


def _series(result: Result, kind: str) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    """Samples of a kind after the warm-up, of its first subject."""
    rows = result.samples.filter((pl.col("kind") == kind) & (pl.col("time_s") >= result.meta["warmup_s"]))
    if rows.is_empty():
        raise TooLittle(f"no samples of {kind} after the warm-up")
    return rows.filter(pl.col("subject") == rows["subject"].min())["value"].to_numpy().astype(np.float64)
