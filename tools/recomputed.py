"""Numbers of a quarter of the claims with runs, recomputed from raw tables by Polars, without code of lab or metrics.

`tools/verdicts.py` compares these numbers with the committed results at full scale. `papers/tests/test_recomputed.py`
compares them with those of the lab at the quick scale.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
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
    for cached in (planned, results, flows):
        cached.cache_clear()
    return _PLACE.runner


Numbers = dict[str, float]
ALONE, BESIDE, SIZES, BURSTS = "fast/fig4", "fast/fig7", "fast/fig12", "pecn/fig6"
LOADS, PARETO = "l2dct/fig4a", "l2dct/fig4c"
WORKERS = tuple(range(10, 101, 10))
FEW, MANY = (10, 20, 30), (60, 70, 80, 90, 100)
TRANSPORTS = ("tcp", "dctcp", "fast")
SAMPLED, FIXED, BASE, MIXES = "xdctcp/fig3", "xdctcp/sec5#fixed", "xdctcp/sec5#base", "xdctcp/sec5c#"
TRIPLET = (0.09, 0.3, 1.0)
SENDERS = {"": ("query", "short"), **{f" of {each} senders": (each,) for each in ("query", "short", "long")}}
MIXED = {
    "search": "3-3-2, best",
    "mix 2-5-1": "2-5-1, best",
    "mix 1-6-1": "1-6-1, best",
    "mix 3-4-1": "3-4-1, best",
}
"""For each search of the best triplet, the study of DCTCP and of xDCTCP with the paper's triplet."""
OPTIMUM = (
    "triplet with the least delay search: g",
    "triplet with the least delay search: ns",
    "nl of the least delay",
    "delay at the paper's triplet over the least",
    "its average throughput over DCTCP's",
)
IN_MIX = (
    "triplet with the least delay {}: g",
    "triplet with the least delay {}: ns",
    "{}: nl",
    "{}: delay above the least",
    "{}: throughput above DCTCP's",
)


def seeds(flows: pl.DataFrame, value: pl.Expr) -> list[float]:
    """An aggregate over the flows of each seed, in the order of the seeds."""
    return flows.group_by("seed").agg(value.alias("v")).sort("seed")["v"].to_list()


def mean(values: list[float]) -> float:
    """Mean of a list."""
    return sum(values) / len(values)


@functools.cache
def planned(figure: str) -> dict[tuple[float | str, ...], list[Run]]:
    """Runs of a figure's first study, or of the study that is named after a `#`, by point."""
    name, _, study = figure.partition("#")
    studies = runs_of(select([name])[0], _PLACE.scale, {}).runs
    points = studies[study or next(iter(studies))]
    return {at: [*runs] for at, runs in points.items()}


@functools.cache
def results(figure: str, scheme: str, *at: float | str) -> list[Result]:
    """Results of a scheme at a point of a study, for all seeds."""
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


def ranked(column: str, percent: float) -> pl.Expr:
    """Nearest-rank percentile of a column."""
    return pl.col(column).sort().gather((pl.len() * percent / 100).ceil().cast(pl.Int64) - 1).first()


def fct(figure: str, scheme: str, *at: float, percent: float | None = None, group: str = "short") -> list[float]:
    """Mean or nearest-rank percentile of the completion times of a class's flows in seconds, by seed."""
    of_class = flows(figure, scheme, *at).filter(pl.col("class") == group)
    return seeds(of_class, pl.col("fct_s").mean() if percent is None else ranked("fct_s", percent))


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


def delivered(run: Result, *classes: str) -> pl.DataFrame:
    """Flows of some classes, with the bits per second that arrived in the measured time as `bps`."""
    measured_s = run.meta["duration_s"] - run.meta["warmup_s"]
    return run.flows.filter(pl.col("class").is_in(classes)).with_columns(bps=8 * pl.col("delivered_bytes") / measured_s)


def goodput(figure: str, scheme: str, *at: float | str, group: str = "long") -> list[float]:
    """Mean goodput of a class's flows in the measured time, in bit/s, by seed."""
    return [mean(delivered(run, group)["bps"].to_list()) for run in results(figure, scheme, *at)]


def long_flows_lose(figure: str, *at: float) -> float:
    """Relative difference of L2DCT from DCTCP in the goodput of long flows."""
    return change(goodput(figure, "l2dct", *at), goodput(figure, "dctcp", *at))


def trend_of_loss() -> float:
    """Rank correlation of L2DCT's goodput of long flows over DCTCP's with the load; mean over the seeds."""
    at_loads = [
        [
            ours / theirs
            for ours, theirs in zip(*(goodput(LOADS, each, *at) for each in ("l2dct", "dctcp")), strict=True)
        ]
        for at in sorted(planned(LOADS))
    ]
    ranks = [pl.Series(of_seed).rank() for of_seed in zip(*at_loads, strict=True)]
    return mean([float(np.corrcoef(each, range(len(each)))[0, 1]) for each in ranks])


def wait(figure: str, scheme: str, *at: float | str, classes: Sequence[str] = ("query", "short")) -> list[float]:
    """Mean wait of a sender's flows in switches in seconds; mean over the senders of some classes, by seed."""
    sent = pl.concat([delivered(run, *classes) for run in results(figure, scheme, *at)])
    senders = sent.group_by("seed", "source").agg(pl.col("switch_queueing_s").mean())
    return seeds(senders, pl.col("switch_queueing_s").mean())


def throughput(figure: str, scheme: str, *at: float | str) -> list[float]:
    """Throughput in bit/s; mean over the short and long senders, by seed."""
    sent = pl.concat([delivered(run, "short", "long") for run in results(figure, scheme, *at)])
    return seeds(sent, pl.col("bps").sum() / pl.col("source").n_unique())


def beside_dctcp(measure: Callable[..., list[float]], figure: str, **options: object) -> float:
    """Relative difference of xDCTCP from DCTCP in a measure."""
    return change(measure(figure, "xdctcp", **options), measure(figure, "dctcp", **options))


def waits(figure: str) -> Numbers:
    """Relative differences of xDCTCP from DCTCP in the mean wait of queries and short flows, and of each class."""
    study = figure.partition("#")[2]
    return {
        f"delay{of}, xdctcp over dctcp in {study}": beside_dctcp(wait, figure, classes=classes)
        for of, classes in SENDERS.items()
    }


def least_delay(name: str) -> list[float]:
    """Triplet of the least delay among those with 99.5 % of DCTCP's throughput, and the paper's triplet beside it."""
    search, of_dctcp = MIXES + name, throughput(MIXES + MIXED[name], "dctcp")
    kept = [at for at in planned(search) if mean(throughput(search, "xdctcp", *at)) >= 0.995 * mean(of_dctcp)]
    best = min(kept, key=lambda at: mean(wait(search, "xdctcp", *at)))
    excess = change(wait(search, "xdctcp", *TRIPLET), wait(search, "xdctcp", *best))
    return [*map(float, best), excess, change(throughput(search, "xdctcp", *TRIPLET), of_dctcp)]


def good_triplets() -> float:
    """Share of triplets with less delay than DCTCP, and 99.5 % of its long flows' goodput; mean over the seeds."""
    search, beside = "xdctcp/fig1#search", "xdctcp/fig1#beside"
    dctcp = [*zip(wait(beside, "dctcp"), goodput(beside, "dctcp"), strict=True)]
    good = [
        waited < delay and kept > 0.995 * long
        for at in planned(search)
        for waited, kept, (delay, long) in zip(
            wait(search, "xdctcp", *at), goodput(search, "xdctcp", *at), dctcp, strict=True
        )
    ]
    return mean([float(each) for each in good])


def faster(group: str) -> Numbers:
    """Relative difference of xDCTCP from DCTCP in the median time of a class's flows in each mix, and in one mean."""
    figure, first = "xdctcp/sec7-faster#", MIXED["search"]
    return {
        **{each: beside_dctcp(fct, figure + each, percent=50, group=group) for each in MIXED.values()},
        f"mean FCT of {group} flows, xdctcp over dctcp in {first}": beside_dctcp(fct, figure + first, group=group),
    }


def samples(scheme: str, kind: str, since_s: float = 0.05) -> pl.DataFrame:
    """Samples of a kind in order of time, with the time in whole microseconds as `us` and the value `before`."""
    every = pl.concat(
        [
            run.samples.filter((pl.col("kind") == kind) & (pl.col("time_s") >= since_s))
            for run in results(SAMPLED, scheme)
        ]
    )
    before = pl.col("value").shift().over("seed", "subject")
    return every.with_columns(us=(pl.col("time_s") * 1e6).round().cast(pl.Int64)).sort("us").with_columns(before=before)


def cuts(scheme: str) -> list[float]:
    """Mean relative cut of long flows' windows, by seed."""
    fallen = samples(scheme, "cwnd_seg").filter(pl.col("value") < pl.col("before"))
    return seeds(fallen, (1 - pl.col("value") / pl.col("before")).mean())


def lowest_window(scheme: str) -> list[float]:
    """Fifth percentile of a long flow's window in segments; mean over the flows, by seed."""
    of_flows = samples(scheme, "cwnd_seg").group_by("seed", "subject").agg(ranked("value", 5))
    return seeds(of_flows, pl.col("value").mean())


def peaks(scheme: str) -> list[float]:
    """Largest queue in packets of each 10 ms; mean over the run, by seed."""
    periods = samples(scheme, "queue_pkt").group_by("seed", pl.col("us") // 10_000).agg(pl.col("value").max())
    return seeds(periods, pl.col("value").mean())


def largest(scheme: str, since_s: float = 0.05) -> float:
    """Largest queue in packets; mean over the seeds."""
    return mean(seeds(samples(scheme, "queue_pkt", since_s), pl.col("value").max()))


def spikes_with_cut() -> float:
    """Share of the queue's rises above 1.5 K = 97.5 packets with a cut of a long flow's window within 300 us."""
    rises = samples("xdctcp", "queue_pkt").filter((pl.col("value") > 97.5) & (pl.col("before") <= 97.5))
    fallen = samples("xdctcp", "cwnd_seg").filter(pl.col("value") < pl.col("before")).select("seed", "us", cut="us")
    next_cut = rises.join_asof(fallen, on="us", by="seed", strategy="forward", check_sortedness=False)
    return mean(seeds(next_cut, (pl.col("cut") - pl.col("us") <= 300).fill_null(value=False).mean()))


def special_case() -> Numbers:
    """Runs whose flows and samples are equal under DCTCP and xDCTCP, and the number of flows."""
    pairs = [results("xdctcp/eq34", each) for each in ("dctcp", "xdctcp")]
    equal = [
        one.flows.drop("scheme", "run").equals(other.flows.drop("scheme", "run"))
        and one.samples.drop("scheme", "run").equals(other.samples.drop("scheme", "run"))
        for one, other in zip(*pairs, strict=True)
    ]
    return {"runs": sum(equal), "flows": sum(run.flows.height for run in pairs[0])}


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
        f"a sender of {each.upper()}": mean(goodput("dctcp/fig17", "dctcp", group=each)) for each in ("s1", "s3", "s2")
    },
    "dctcp/fig17-tcp-timeouts": lambda: {
        "timeouts with tcp": mean(
            [float(run.flows["measured_timeouts"].sum()) for run in results("dctcp/fig17", "tcp")]
        ),
        "goodput per flow of s1 flows, tcp over dctcp": change(
            *(goodput("dctcp/fig17", each, group="s1") for each in ("tcp", "dctcp"))
        ),
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
    "l2dct/fig5-throughput-cost-10pct": lambda: {
        "value": long_flows_lose("l2dct/fig5#loads", 0.1),
        **{
            f"goodput of long flows, w_min 0.3 load {at}": long_flows_lose("l2dct/fig5#larger_w_min", at)
            for at in (0.1, 0.2)
        },
    },
    "l2dct/fig5-throughput-gap-grows": lambda: {"value": trend_of_loss()},
    "xdctcp/fig3-long-cwnd": lambda: {
        "mean relative cut of long flows' windows, xdctcp over dctcp": change(cuts("xdctcp"), cuts("dctcp")),
        "lowest window of long flows, xdctcp over dctcp": change(lowest_window("xdctcp"), lowest_window("dctcp")),
    },
    "xdctcp/fig4-queue-below-buffer": lambda: {
        name: value
        for each in ("dctcp", "xdctcp")
        for name, value in {
            f"drops: {each}": mean([float(run.meta["counters"]["packets_dropped"]) for run in results(SAMPLED, each)]),
            f"largest queue: {each}": largest(each),
            "largest queue once long flows have left slow start with dctcp and xdctcp " + each: largest(each, 0.15001),
        }.items()
    },
    "xdctcp/fig4-spikes-higher": lambda: {"value": change(peaks("xdctcp"), peaks("dctcp"))},
    "xdctcp/fig4-spikes-cut-long": lambda: {"value": spikes_with_cut()},
    "xdctcp/fig1-tradeoff-cloud": lambda: {"value": good_triplets()},
    "xdctcp/sec5-optimum": lambda: dict(zip(OPTIMUM, least_delay("search"), strict=True)),
    "xdctcp/sec5-delay": lambda: {
        "delay, xdctcp over dctcp in fixed": beside_dctcp(wait, FIXED),
        **{
            name.format(of, each): mean(wait(figure, each, classes=classes))
            for each in ("dctcp", "xdctcp")
            for of, classes in SENDERS.items()
            for name, figure in (
                ("delay{} with {} in fixed", FIXED),
                ("delay{} with dctcp and xdctcp in fixed {}", FIXED),
                ("delay{} with dctcp and xdctcp in base {}", BASE),
            )
        },
    },
    "xdctcp/sec5-delay-gain": lambda: {"value": beside_dctcp(wait, FIXED), **waits(FIXED), **waits(BASE)},
    "xdctcp/sec5-throughput": lambda: {
        "throughput of short and long senders, xdctcp over dctcp in base": beside_dctcp(throughput, BASE),
        "goodput of long flows, xdctcp over dctcp in base": beside_dctcp(goodput, BASE),
        **{
            f"throughput of short and long senders with dctcp and xdctcp in base {each}": mean(throughput(BASE, each))
            for each in ("dctcp", "xdctcp")
        },
    },
    "xdctcp/sec5c-stability-across-mixes": lambda: {
        name: value
        for search, beside in MIXED.items()
        for name, value in {
            **dict(zip([each.format(search) for each in IN_MIX], least_delay(search), strict=True)),
            **waits(MIXES + beside),
        }.items()
    },
    **{f"xdctcp/sec7-{group}-faster": functools.partial(faster, group) for group in ("short", "query")},
    "xdctcp/sec7-short-not-long": lambda: {
        f"{what} with xdctcp at ns 0.3, nl 1.0 over {what} with xdctcp at ns 0.5, nl 0.5": 1
        + change(measure("xdctcp/sec7", "xdctcp", 0.3, 1.0), measure("xdctcp/sec7", "xdctcp", 0.5, 0.5))
        for what, measure in (("delay", wait), ("goodput of long flows", goodput))
    },
    "xdctcp/eq34-dctcp-special-case": special_case,
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
