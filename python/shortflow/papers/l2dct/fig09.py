"""Fig. 9: effect of the weight's bounds on short and long flows, at a load of 20 %.

The law is the printed one. By Eq. 1, k = w_c / w_max, so a larger w_max shrinks the steps of long flows too. The paper
instead explains the figure by more aggressive short flows and a higher alpha.
"""

import polars as pl

from shortflow import lab
from shortflow.papers.l2dct.setup import AFCT, GOODPUT
from shortflow.result import Result

W_MAX = lab.Study(
    "l2dct-benchmark",
    schemes=("l2dct",),
    over={"transport.w_max": (1, 1.5, 2, 2.5, 3, 4)},
    quick_settings={"duration": "1s"},
)
W_MIN = lab.Study(
    "l2dct-benchmark",
    schemes=("l2dct",),
    over={"transport.w_min": (0.05, 0.125, 0.25, 0.5, 1)},
    quick_settings={"duration": "1s"},
)
LABELS = {"transport.w_max": "upper bound of the weight", "transport.w_min": "lower bound of the weight"}


@lab.measure("mean alpha of the long flows")
def alpha(result: Result) -> float:
    """Mean over time after the warm-up."""
    counted = (pl.col("kind") == "alpha") & (pl.col("time_s") >= result.meta["warmup_s"])
    return float(result.samples.filter(counted)["value"].to_numpy().mean())


def _draws(key: str) -> list[lab.Curves]:
    return [
        lab.Curves(key, AFCT, LABELS[key], "Mean completion time of short flows"),
        lab.Curves(key, GOODPUT, LABELS[key], "Goodput of the two long flows"),
    ]


def _trend(metric: lab.Metric, key: str) -> lab.Quantity:
    return lab.level("l2dct", metric).over(key).trend()


fig9ab = lab.Figure("l2dct/fig9ab", "Fig. 9(a, b)", "The upper bound of the weight", {"w_max": W_MAX}).decides(
    lab.Claim("l2dct/fig9a-wmax-afct", "Fig. 9(a)").says(
        "a higher w_max shortens the mean FCT", _trend(AFCT, "transport.w_max").at_most(-0.7)
    ),
    lab.Claim("l2dct/fig9b-wmax-throughput", "Fig. 9(b)").says(
        "a higher w_max costs the long flows throughput", _trend(GOODPUT, "transport.w_max").at_most(-0.7)
    ),
    lab.Claim("l2dct/fig9-wmax-raises-alpha", "Sec. III-B.3").says(
        "a higher w_max raises the long flows' alpha",
        _trend(alpha, "transport.w_max").at_least(0.7),
        because="with k = w_c / w_max as printed, a higher w_max makes long flows' steps smaller, and alpha lower",
    ),
    draws=_draws("transport.w_max"),
)
fig9cd = lab.Figure("l2dct/fig9cd", "Fig. 9(c, d)", "The lower bound of the weight", {"w_min": W_MIN}).decides(
    lab.Claim("l2dct/fig9c-wmin-afct", "Fig. 9(c)").says(
        "a lower w_min shortens the mean FCT", _trend(AFCT, "transport.w_min").at_least(0.7)
    ),
    lab.Claim("l2dct/fig9d-wmin-throughput", "Fig. 9(d)").says(
        "a lower w_min costs the long flows throughput", _trend(GOODPUT, "transport.w_min").at_least(0.7)
    ),
    draws=_draws("transport.w_min"),
)
