"""Figs. 5 and 6: timeouts per query, and how they spread over workers."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl

from shortflow.lab import (
    Data,
    Drawing,
    Figure,
    Finding,
    Line,
    all_hold,
    at_least,
    at_most,
    lower,
    within,
)
from shortflow.papers.fast.setup import ALONE, BRISK_START, SCHEMES, WORKERS
from shortflow.result import RunResult

fig5 = Figure("fast/fig5", "Fig. 5", "Timeouts per query", {"alone": ALONE})
fig6 = Figure("fast/fig6", "Fig. 6", "Timeouts of single workers, 100 workers", {"alone": ALONE})


def per_query(result: RunResult) -> float:
    """Timeouts of all workers together, mean over the queries."""
    answers = result.flows.filter(pl.col("class") == "query")
    return float(answers["timeouts"].sum()) / result.metrics["query_count"]


def share_with(timeouts: int, result: RunResult) -> float:
    """The share of answers that waited for at least this many timeouts."""
    answers = result.flows.filter(pl.col("class") == "query")
    return answers.filter(pl.col("timeouts") >= timeouts).height / answers.height


def counts(data: Data, title: str) -> Drawing:
    """Timeouts per query over the number of workers."""
    lines = []
    for scheme in SCHEMES:
        found = [data.measured(per_query, scheme, workers=n).value for n in WORKERS]
        lines.append(Line(scheme, WORKERS, found))
    return Drawing(title, "workers", "timeouts per query", lines)


@fig5.drawing
def totals(alone: Data) -> Sequence[Drawing]:
    return [counts(alone, "Timeouts per query")]


@fig6.drawing
def spread(alone: Data) -> Sequence[Drawing]:
    many = range(1, 6)
    lines = []
    for scheme in SCHEMES:
        shares = [alone.measured(partial(share_with, k), scheme, workers=100).value for k in many]
        lines.append(Line(scheme, many, shares))
    return [Drawing("Timeouts of one worker in a query", "at least so many timeouts", "share of workers", lines)]


@fig5.claim(
    "fig5-zero-timeouts-low-n",
    "there are no timeouts with 10 to 30 workers",
    "fewer than 0.1 per query",
    because=BRISK_START,
)
def none_at_first(alone: Data) -> Finding:
    return all_hold(
        {
            f"{scheme} {n}": at_most(alone.measured(per_query, scheme, workers=n), 0.1)
            for scheme in SCHEMES
            for n in (10, 20, 30)
        }
    )


@fig5.claim(
    "fig5-linear-growth",
    "timeouts grow linearly with the workers once they have begun",
    "a line explains more than 90 % of the variance from 50 workers on",
)
def linear(alone: Data) -> Finding:
    many = [n for n in WORKERS if n >= 50]
    findings = {}
    for scheme in SCHEMES:
        found = [alone.measured(per_query, scheme, workers=n).value for n in many]
        findings[scheme] = at_least(float(np.corrcoef(many, found)[0, 1]) ** 2, 0.9)
    return all_hold(findings)


@fig5.claim(
    "fig5-fast-fewest",
    "FaST has fewer timeouts than NewReno and DCTCP",
    "lower with the whole paired interval from 40 workers on",
)
def fewest(alone: Data) -> Finding:
    return all_hold(
        {
            f"over {other}, {n}": lower(alone.measured_change(per_query, "fast", other, workers=n))
            for other in ("tcp", "dctcp")
            for n in WORKERS
            if n >= 40
        }
    )


@fig6.claim(
    "fig6-multiple-timeouts",
    "with 100 workers more than half of the flows of NewReno and DCTCP have several timeouts",
    "more than 30 % with two or more",
)
def several(alone: Data) -> Finding:
    return all_hold(
        {
            scheme: at_least(alone.measured(partial(share_with, 2), scheme, workers=100), 0.3)
            for scheme in ("tcp", "dctcp")
        }
    )


@fig6.claim(
    "fig6-newreno-three",
    "a few of NewReno's workers have three timeouts or more in one query",
    "one or more such workers in over half of the queries, fewer than 30 % of all workers",
    because="a worker has three timeouts in 23 % of the queries (30 % at full scale); with --choice "
    "initial-window=10 in all, but then 36 % of the workers have",
)
def three(alone: Data) -> Finding:
    return all_hold(
        {
            "queries": at_least(alone.measured(queries_with_three, "tcp", workers=100), 0.5),
            "workers": within(alone.measured(partial(share_with, 3), "tcp", workers=100), 0.0, 0.3),
        }
    )


def queries_with_three(result: RunResult) -> float:
    """The share of queries with a worker that had three timeouts or more."""
    hit = result.flows.filter(pl.col("class") == "query", pl.col("timeouts") >= 3)["task"].n_unique()
    return hit / result.metrics["query_count"]


@fig6.claim(
    "fig6-fast-at-most-one", "nearly all flows of FaST have one timeout at most", "at least 90 % with 100 workers"
)
def at_most_one(alone: Data) -> Finding:
    return at_least(alone.measured(lambda result: 1.0 - share_with(2, result), "fast", workers=100), 0.9)
