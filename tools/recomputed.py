"""Numbers of a sixth of the claims with runs, recomputed from raw tables by Polars, without code of lab or metrics.

`tools/verdicts.py` compares these numbers with the committed results at full scale. `papers/tests/test_recomputed.py`
compares them with those of the lab at the quick scale.
"""

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from shortflow.result import Result
from shortflow.runner import Runner, Wanted, once
from shortflow.runs import Run
from shortflow.store.runs import Store
from shortflow_papers.lab.study import Scale
from shortflow_papers.reproduction.engine import runs_of, select


@dataclass
class _Place:
    """The scale of the runs, and their store."""

    scale: Scale = Scale.QUICK
    runner: Runner | None = None


_PLACE = _Place()


def use(scale: Scale, directory: Path) -> Runner:
    """Sets the scale, and the store of the runs."""
    _PLACE.scale, _PLACE.runner = scale, Runner(None, Store(directory))
    for cached in (results, flows):
        cached.cache_clear()
    return _PLACE.runner


Numbers = dict[str, float]
ALONE, BESIDE, SIZES, BURSTS = "fast/fig4", "fast/fig7", "fast/fig12", "pecn/fig6"
LOADS, PARETO = "l2dct/fig4a", "l2dct/fig4c"
WORKERS = tuple(range(10, 101, 10))
FEW, MANY = (10, 20, 30), (60, 70, 80, 90, 100)
TRANSPORTS = ("tcp", "dctcp", "fast")


def seeds(flows: pl.DataFrame, value: pl.Expr) -> list[float]:
    """An aggregate over the flows of each seed, in the order of the seeds."""
    return flows.group_by("seed").agg(value.alias("v")).sort("seed")["v"].to_list()


def mean(values: list[float]) -> float:
    """Mean of a list."""
    return sum(values) / len(values)


def planned(figure: str) -> dict[tuple[float | str, ...], list[Run]]:
    """Runs of a figure's first study, by point."""
    points = next(iter(runs_of(select([figure])[0], _PLACE.scale, {}).runs.values()))
    return {at: [*runs] for at, runs in points.items()}


@functools.cache
def results(figure: str, scheme: str, *at: float | str) -> list[Result]:
    """Results of a scheme at a point of a figure's first study, for all seeds."""
    assert _PLACE.runner, "use() comes first"
    runs = [run for run in planned(figure)[at] if run.scheme.name == scheme]
    return _PLACE.runner.answer(once(Wanted(runs)), conclude=False)


@functools.cache
def flows(figure: str, scheme: str, *at: float | str) -> pl.DataFrame:
    """Flows of these results that start after the warm-up."""
    found = [(each.flows, each.meta["warmup_s"]) for each in results(figure, scheme, *at)]
    return pl.concat([each.filter(pl.col("start_s") >= warmup) for each, warmup in found])


def query(scheme: str, *at: float | str, figure: str = ALONE) -> list[float]:
    """Mean time in seconds until the root has the last answer of a query, by seed."""
    tasks = pl.concat([each.tasks.filter(pl.col("kind") == "query") for each in results(figure, scheme, *at)])
    return seeds(tasks, (pl.col("finish_s") - pl.col("start_s")).mean())


def answers(scheme: str, workers: int, value: pl.Expr, figure: str = ALONE) -> float:
    """An aggregate over FaST's answers; mean over the seeds."""
    return mean(seeds(flows(figure, scheme, workers).filter(pl.col("class") == "query"), value))


def change(ours: list[float], theirs: list[float]) -> float:
    """Relative difference of the mean of `ours` from the mean of `theirs`."""
    return mean(ours) / mean(theirs) - 1


def fct(figure: str, scheme: str, *at: float, percent: float | None = None) -> list[float]:
    """Mean or nearest-rank percentile of short flows' completion times in seconds, by seed."""
    short = flows(figure, scheme, *at).filter(pl.col("class") == "short")
    by_rank = pl.col("fct_s").sort().gather((pl.len() * (percent or 0) / 100).ceil().cast(pl.Int64) - 1).first()
    return seeds(short, pl.col("fct_s").mean() if percent is None else by_rank)


def over(figure: str, ours: str, theirs: str, *at: float, percent: float | None = None) -> float:
    """Relative difference of two schemes' completion times."""
    return change(fct(figure, ours, *at, percent=percent), fct(figure, theirs, *at, percent=percent))


def loads(theirs: str, figure: str = LOADS, percent: float | None = None) -> Numbers:
    """Relative difference of L2DCT's completion times from another scheme's at every load, and the lowest of them."""
    at_loads = [float(at) for (at,) in planned(figure)]
    found = {f"load {at:g}": over(figure, "l2dct", theirs, at, percent=percent) for at in at_loads}
    return {**found, "lowest": min(found.values())}


def timeouts(scheme: str, workers: int, figure: str = ALONE) -> float:
    """Mean number of timeouts per query."""
    return answers(scheme, workers, pl.col("timeouts").sum() / pl.col("task").n_unique(), figure)


def bulk(scheme: str, workers: int) -> list[float]:
    """Mean throughput of the 10 MB flows in bit/s over the rounds, by seed."""
    sent = flows(BESIDE, scheme, workers).filter(pl.col("class") == "bulk")
    return seeds(sent, (pl.col("size_bytes") * 8 / pl.col("fct_s")).mean())


def many_timeouts(scheme: str, least: int) -> float:
    """Share of the answers of 100 workers with at least this many timeouts."""
    return answers(scheme, 100, (pl.col("timeouts") >= least).mean())


def first_slow(scheme: str) -> float:
    """Smallest number of workers with a mean query time above 10 ms."""
    return min(n for n in WORKERS if mean(query(scheme, n)) > 0.01)


PACKETS = (100, 250, 500, 750, 1000, 1250, 1500)


def by_size(workers: int) -> list[tuple[float, ...]]:
    """For each seed, DCTCP's mean query times in seconds by packet size."""
    return list(zip(*(query("dctcp", workers, f"{packet - 40}B", figure=SIZES) for packet in PACKETS), strict=True))


def best_size(workers: int) -> float:
    """Fastest packet size in bytes, mean over the seeds."""
    return mean([float(PACKETS[times.index(min(times))]) for times in by_size(workers)])


def bursts(ours: str, theirs: str) -> Numbers:
    """Relative difference of two schemes' completion times at every number of flows."""
    return {f"flows {at}": over(BURSTS, ours, theirs, int(at)) for (at,) in planned(BURSTS)}


def long_goodput(scheme: str, group: str) -> list[float]:
    """Mean goodput of a class's flows in the measured time, in bit/s, by seed."""
    found = []
    for run in results("dctcp/fig17", scheme):
        sent = run.flows.filter(pl.col("class") == group)["delivered_bytes"].to_list()
        found.append(8 * mean(sent) / (run.meta["duration_s"] - run.meta["warmup_s"]))
    return found


def by_size_class(low: float, high: float) -> float:
    """Relative difference of ATCP from TCP in the mean completion time of the trace's flows in a range of sizes."""
    of = (pl.col("size_bytes") > low) & (pl.col("size_bytes") <= high)
    ours, theirs = (seeds(flows("atcp/fig2", scheme).filter(of), pl.col("fct_s").mean()) for scheme in ("atcp", "tcp"))
    return change(ours, theirs)


CLAIMS: dict[str, Callable[[], Numbers]] = {
    "atcp/sec1-small-mean-10pct": lambda: {"value": by_size_class(0, 100e3)},
    "atcp/sec1-medium-mean-30-40pct": lambda: {"value": by_size_class(100e3, 10e6)},
    "fast/fig4-newreno-72ms": lambda: {"value": mean(query("tcp", 100))},
    "fast/fig4-dctcp-43ms": lambda: {"value": mean(query("dctcp", 100))},
    "fast/fig4-fast-16ms": lambda: {"value": mean(query("fast", 100))},
    "fast/fig4-low-n": lambda: {f"time: {each}, workers {n}": mean(query(each, n)) for each in TRANSPORTS for n in FEW},
    "fast/fig4-order-100": lambda: {
        f"{one} over {other}: workers {n}": change(query(one, n), query(other, n))
        for one, other in (("fast", "dctcp"), ("dctcp", "tcp"))
        for n in MANY
    },
    "fast/fig4-onset": lambda: {f"first of {each}": first_slow(each) for each in ("tcp", "dctcp")},
    "fast/fig4-fast-flat-to-50": lambda: {
        f"workers {n}": mean(seeds(flows(ALONE, "fast", n), pl.col("timeouts").sum())) for n in FEW
    },
    "fast/sec6-50-flows-no-loss": lambda: {
        "value": 1
        - answers("fast", 50, pl.col("task").filter(pl.col("retransmits") > 0).n_unique() / pl.col("task").n_unique())
    },
    "fast/fig5-zero-timeouts-low-n": lambda: {
        f"{each}, workers {n}": timeouts(each, n) for each in TRANSPORTS for n in FEW
    },
    "fast/fig5-fast-fewest": lambda: {
        f"fast over {each}, workers {n}": timeouts("fast", n) / timeouts(each, n) - 1
        for each in ("tcp", "dctcp")
        for n in (40, 50, *MANY)
    },
    "fast/fig6-multiple-timeouts": lambda: {each: many_timeouts(each, 2) for each in ("tcp", "dctcp")},
    "fast/fig6-newreno-three": lambda: {"share of workers with 3 timeouts or more with tcp": many_timeouts("tcp", 3)},
    "fast/fig6-fast-at-most-one": lambda: {"value": many_timeouts("fast", 2)},
    "fast/fig7-newreno-281ms": lambda: {"query time with tcp": mean(query("tcp", 100, figure=BESIDE))},
    "fast/fig7-fast-below-35ms": lambda: {"value": max(mean(query("fast", n, figure=BESIDE)) for n in WORKERS)},
    "fast/fig7-order": lambda: {
        f"{one} over {other}: workers {n}": change(query(one, n, figure=BESIDE), query(other, n, figure=BESIDE))
        for one, other in (("fast", "dctcp"), ("dctcp", "tcp"))
        for n in (50, *MANY)
    },
    "fast/fig7-all-slower": lambda: {
        f"{each}, workers {n}": mean(query(each, n, figure=BESIDE)) - mean(query(each, n))
        for each in TRANSPORTS
        for n in WORKERS
    },
    "fast/fig8-fast-onset-30": lambda: {"value": min(n for n in WORKERS if timeouts("fast", n, BESIDE) > 0.1)},
    "fast/fig9-newreno-high-below-50": lambda: {
        **{f"tcp over {each}, workers {n}": change(bulk("tcp", n), bulk(each, n)) for each in TRANSPORTS for n in FEW},
        **{f"workers {n}": change(bulk("fast", n), bulk("dctcp", n)) for n in FEW},
    },
    "fast/fig9-fast-matches-above-50": lambda: {f"workers {n}": change(bulk("fast", n), bulk("tcp", n)) for n in MANY},
    "fast/fig12-n40-1500": lambda: {"value": mean([times[-1] for times in by_size(40)])},
    "fast/fig12-n40-optimum": lambda: {
        "fastest packet size with 40 workers": best_size(40),
        "time of the fastest size with 40 workers over the time of 1500 bytes": mean(
            [min(times) / times[-1] - 1 for times in by_size(40)]
        ),
    },
    "fast/fig12-large-n-smaller-better": lambda: {
        f"fastest packet size with {n} workers": best_size(n) for n in (50, 60, 80)
    },
    "dctcp/fig17-shares": lambda: {
        f"a sender of {each.upper()}": mean(long_goodput("dctcp", each)) for each in ("s1", "s3", "s2")
    },
    "dctcp/fig17-tcp-timeouts": lambda: {
        "timeouts with tcp": mean(
            [float(run.flows["measured_timeouts"].sum()) for run in results("dctcp/fig17", "tcp")]
        ),
        "goodput per flow of s1 flows, tcp over dctcp": change(long_goodput("tcp", "s1"), long_goodput("dctcp", "s1")),
    },
    "l2dct/fig4a-afct-vs-dctcp": lambda: loads("dctcp"),
    "l2dct/fig4a-afct-vs-tcp": lambda: loads("tcp"),
    "l2dct/fig4a-afct-low-load": lambda: loads("dctcp"),
    "l2dct/fig4b-tail-uniform": lambda: {
        f"lowest p{n} FCT of short flows, l2dct over dctcp at every load": loads("dctcp", percent=n)["lowest"]
        for n in (95, 99)
    },
    "l2dct/fig4c-pareto-all-loads": lambda: loads("dctcp", PARETO, 99),
    "l2dct/fig4c-pareto-p99": lambda: {
        "share of loads at which it is lower": mean(
            [float(change < 0) for name, change in loads("dctcp", PARETO, 99).items() if name != "lowest"]
        )
    },
    "pecn/fig6-d2tcp-equals-dctcp": lambda: bursts("d2tcp", "dctcp"),
    "pecn/fig6-pecn-gain-80": lambda: {"value": over(BURSTS, "pecn", "dctcp", 80)},
    "pecn/fig6-pecn-best": lambda: {
        f"pecn over {each}, {place}": value
        for each in ("tcp", "dctcp", "d2tcp")
        for place, value in bursts("pecn", each).items()
    },
    "pecn/fig6-pmark-no-effect": lambda: bursts("pecn-pmark", "pecn"),
}


def differing(claim: str, measured: Mapping[str, object], digits: int = 6) -> dict[str, tuple[float, float]]:
    """Measured and recomputed number by name, for numbers whose relative difference exceeds 10^-digits.

    Numbers that are not recomputed are left out.
    """
    ours = {name: value for name, value in CLAIMS[claim]().items() if name in measured}
    assert ours, f"none of {list(measured)}"
    pairs = {name: (float(str(measured[name])), value) for name, value in ours.items()}
    return {
        name: (theirs, value)
        for name, (theirs, value) in pairs.items()
        if not math.isclose(theirs, value, rel_tol=10**-digits, abs_tol=1e-9)
    }
