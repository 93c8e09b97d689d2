"""Fig. 9: what the bounds of the weight do to short and to long flows, at a load of 20 %."""

from collections.abc import Sequence

import polars as pl

from shortflow.lab import Data, Drawing, Figure, Finding, Study, at_least, at_most, curves
from shortflow.metrics.stats import rank_correlation
from shortflow.papers.l2dct.setup import means
from shortflow.result import RunResult

W_MAX = Study(
    "l2dct-benchmark",
    schemes=("l2dct",),
    over={"transport.w_max": (1, 1.5, 2, 2.5, 3, 4)},
    quick_settings={"duration": "1s"},
)
W_MIN = Study(
    "l2dct-benchmark",
    schemes=("l2dct",),
    over={"transport.w_min": (0.05, 0.125, 0.25, 0.5, 1)},
    quick_settings={"duration": "1s"},
)
LABELS = {"transport.w_max": "upper bound of the weight", "transport.w_min": "lower bound of the weight"}

fig9ab = Figure("l2dct/fig9ab", "Fig. 9(a, b)", "The upper bound of the weight", {"w_max": W_MAX})
fig9cd = Figure("l2dct/fig9cd", "Fig. 9(c, d)", "The lower bound of the weight", {"w_min": W_MIN})


def _drawings(data: Data, key: str) -> Sequence[Drawing]:
    return [
        curves(data, key, "afct_short_s", x_label=LABELS[key], title="Mean completion time of short flows"),
        curves(data, key, "goodput_long_bps", x_label=LABELS[key], title="Goodput of the two long flows"),
    ]


@fig9ab.drawing
def upper(w_max: Data) -> Sequence[Drawing]:
    return _drawings(w_max, "transport.w_max")


@fig9cd.drawing
def lower_bound(w_min: Data) -> Sequence[Drawing]:
    return _drawings(w_min, "transport.w_min")


def _falls(values: Sequence[float]) -> Finding:
    return at_most(rank_correlation(values), -0.7, values=values)


def _rises(values: Sequence[float]) -> Finding:
    return at_least(rank_correlation(values), 0.7, values=values)


@fig9ab.claim("fig9a-wmax-afct", "a higher w_max shortens the mean FCT", "rank correlation below -0.7")
def faster_short(w_max: Data) -> Finding:
    return _falls(means(w_max, "l2dct", "afct_short_s", "transport.w_max"))


@fig9ab.claim("fig9b-wmax-throughput", "a higher w_max costs the long flows throughput", "rank correlation below -0.7")
def slower_long(w_max: Data) -> Finding:
    return _falls(means(w_max, "l2dct", "goodput_long_bps", "transport.w_max"))


@fig9cd.claim("fig9c-wmin-afct", "a lower w_min shortens the mean FCT", "rank correlation above 0.7")
def faster_short_of_wmin(w_min: Data) -> Finding:
    return _rises(means(w_min, "l2dct", "afct_short_s", "transport.w_min"))


@fig9cd.claim("fig9d-wmin-throughput", "a lower w_min costs the long flows throughput", "rank correlation above 0.7")
def slower_long_of_wmin(w_min: Data) -> Finding:
    return _rises(means(w_min, "l2dct", "goodput_long_bps", "transport.w_min"))


def _alpha(result: RunResult) -> float:
    """The long flows' alpha: mean over time after the warm-up."""
    counted = (pl.col("kind") == "alpha") & (pl.col("time_s") >= result.meta["warmup_s"])
    return float(result.samples.filter(counted)["value"].to_numpy().mean())


@fig9ab.claim(
    "fig9-wmax-raises-alpha",
    "a higher w_max raises the long flows' alpha",
    "rank correlation above 0.7; the long flows' k falls at the same time",
    because="it falls from 0.029 to 0.012, and no choice turns that",
)
def raises_alpha(w_max: Data) -> Finding:
    return _rises([w_max.measured(_alpha, "l2dct", transport__w_max=w).value for w in w_max.values("transport.w_max")])
