"""Figs. 5 and 6: timeouts per query, and their distribution over workers."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from shortflow import lab
from shortflow.papers.fast.setup import ALONE, SCHEMES, WORKERS, asked
from shortflow.result import Result


@lab.measure("timeouts per query")
def per_query(result: Result) -> float:
    """Timeouts of all workers, mean over the queries."""
    answers = result.flows.filter(pl.col("class") == "query")
    return float(answers["timeouts"].sum()) / asked(result)


def share_with(timeouts: int) -> lab.Measure:
    """Share of answers with at least this many timeouts."""

    def read(result: Result) -> float:
        answers = result.flows.filter(pl.col("class") == "query")
        return answers.filter(pl.col("timeouts") >= timeouts).height / answers.height

    return lab.Measure(f"share of workers with {timeouts} timeouts or more", "", read)


@lab.measure("share of queries with a worker of three timeouts")
def queries_with_three(result: Result) -> float:
    """Share with three or more timeouts."""
    hit = result.flows.filter(pl.col("class") == "query", pl.col("timeouts") >= 3)["task"].n_unique()
    return hit / asked(result)


def _explained(alone: lab.Data) -> dict[str, float]:
    """R² of a linear fit of timeouts over workers, from 50 workers on."""
    many = [n for n in WORKERS if n >= 50]
    found = {name: [alone.mean(name, per_query, workers=n).value for n in many] for name in SCHEMES}
    return {name: float(np.corrcoef(many, values)[0, 1]) ** 2 for name, values in found.items()}


def _spread(alone: lab.Data) -> Sequence[lab.Drawing]:
    many = range(1, 6)
    lines = [
        lab.Line(name, many, [alone.mean(name, share_with(k), workers=100).value for k in many]) for name in SCHEMES
    ]
    return [lab.Drawing("Timeouts of one worker in a query", "timeouts, at least", "share of workers", lines)]


fig5 = lab.Figure("fast/fig5", "Fig. 5", "Timeouts per query", {"alone": ALONE}).decides(
    lab.Claim("fast/fig5-zero-timeouts-low-n").says(
        "there are no timeouts with 10 to 30 workers",
        lab.level(SCHEMES, per_query).at(workers=(10, 20, 30)).at_most(0.1),
    ),
    lab.Claim("fast/fig5-linear-growth").says(
        "timeouts grow linearly with the workers once they have begun",
        lab.computed("share of the variance that a line explains from 50 workers on", _explained).at_least(0.9),
    ),
    lab.Claim("fast/fig5-fast-fewest").says(
        "FaST has fewer timeouts than NewReno and DCTCP",
        lab.change("fast", ("tcp", "dctcp"), per_query).at(workers=lab.Every(40)).below(),
    ),
    draws=[lab.Curves("workers", per_query, "workers", "Timeouts per query")],
)
fig6 = lab.Figure("fast/fig6", "Fig. 6", "Timeouts of single workers, 100 workers", {"alone": ALONE}).decides(
    lab.Claim("fast/fig6-multiple-timeouts").says(
        "with 100 workers more than half of the flows of NewReno and DCTCP have several timeouts",
        lab.level(("tcp", "dctcp"), share_with(2)).at(workers=100).beyond(0.5),
    ),
    lab.Claim("fast/fig6-newreno-three").says(
        "a few of NewReno's workers have three timeouts or more in one query",
        lab.level("tcp", queries_with_three).at(workers=100).at_least(0.5),
        lab.level("tcp", share_with(3)).at(workers=100).at_most(0.3),
    ),
    lab.Claim("fast/fig6-fast-at-most-one", "Fig. 6, Sec. 6").says(
        "nearly all flows of FaST have one timeout at most",
        lab.level("fast", share_with(2)).at(workers=100).at_most(0.1),
    ),
    draws=[_spread],
)
