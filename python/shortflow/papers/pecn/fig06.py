"""Figs. 6 and 7: bursts within a rack, U[2, 50] KB, and how completion times go with sizes."""

import math
from collections.abc import Sequence
from statistics import median

import polars as pl

from shortflow.lab import (
    Data,
    Drawing,
    Figure,
    Finding,
    Study,
    all_hold,
    at_least,
    at_most,
    curves,
    within,
)
from shortflow.lab.finding import Verdict
from shortflow.papers.pecn.setup import (
    AFCT,
    BASELINES,
    BURST,
    COUNTS,
    NEWRENO,
    QUICK_COUNTS,
    SCHEMES,
    alike,
    best_everywhere,
    fct_over,
    tcp_worst,
)
from shortflow.result import RunResult
from shortflow.store.frames import completion

BURSTS = Study(BURST, SCHEMES, over={"flows": COUNTS}, settings=NEWRENO, quick={"flows": QUICK_COUNTS}, seeds=20)
SPARED = (
    "pMark spares small flows the marks that end their slow start under pECN: at 80 connections its mean FCT is 10 % "
    "lower, but 3 % where marked ACKs, too, open the window, and equal where nothing is marked"
)
INTERVAL = "with the whole 95 % interval of the paired difference"

fig6 = Figure("pecn/fig6", "Fig. 6", "Mean FCT of a burst in a rack, U[2, 50] KB", {"bursts": BURSTS})
fig7 = Figure("pecn/fig7", "Fig. 7", "FCT over size, 80 connections", {"bursts": BURSTS})
tail = Figure("pecn/tail", "Sec. 5", "99th percentile of the FCT", {"bursts": BURSTS})


@fig6.drawing
def means(bursts: Data) -> Sequence[Drawing]:
    return [curves(bursts, "flows", AFCT, x_label="connections", title="Mean completion time", log_y=True)]


@fig6.claim(
    "fig6-tcp-worst",
    "TCP has the longest mean FCT, because of timeouts",
    f"every other scheme below TCP wherever TCP has timeouts, {INTERVAL}",
    because="at 100 connections DCTCP and D2TCP lose packets of the burst too and wait 200 ms: their means are 22 % "
    "below TCP's and scatter; with --choice jitter=1ms they are 56 % below, and the claim holds",
)
def tcp_is_worst(bursts: Data) -> Finding:
    return tcp_worst(bursts)


@fig6.claim(
    "fig6-d2tcp-equals-dctcp",
    "D2TCP equals DCTCP except at very many connections",
    f"within 5 % up to 70 connections, {INTERVAL}",
)
def d2tcp_equals_dctcp(bursts: Data) -> Finding:
    return alike(bursts, ["d2tcp"], "dctcp", most=70)


@fig6.claim(
    "fig6-pecn-gain-80", "at 80 connections pECN's mean FCT is 24.5 % below DCTCP's", "a reduction of 15 to 45 %"
)
def gain(bursts: Data) -> Finding:
    return within(bursts.change("pecn", "dctcp", AFCT, flows=80), -0.45, -0.15)


@fig6.claim(
    "fig6-pecn-best",
    "pECN has the shortest mean FCT at every number of connections",
    f"below TCP, DCTCP and D2TCP at every number, {INTERVAL}",
)
def pecn_best(bursts: Data) -> Finding:
    return best_everywhere(bursts, "pecn", BASELINES)


@fig6.claim(
    "fig6-pmark-no-effect",
    "pMark changes next to nothing",
    f"within 5 % of pECN at every number, {INTERVAL}",
    because=SPARED,
)
def pmark_no_effect(bursts: Data) -> Finding:
    return alike(bursts, ["pecn-pmark"], "pecn")


def overtakers(result: RunResult) -> int:
    """Flows that finish before some strictly smaller one, which may never have finished."""
    flows = completion(result.flows, result.meta)
    if flows["censored"].all():
        raise ValueError("no flow finished")
    order = flows.with_columns(pl.col("finish_s").fill_null(math.inf)).sort("size_bytes", "finish_s")
    last_smaller = pl.col("finish_s").cum_max().shift(1)
    return int(order.select((pl.col("finish_s") < last_smaller).sum()).item())


@fig7.drawing
def over_size(bursts: Data) -> Sequence[Drawing]:
    lines = [fct_over(bursts.results(scheme, flows=80)[0], "size_bytes", 1e-3, scheme) for scheme in ("dctcp", "pecn")]
    return [Drawing("Completion time over size, one run", "size (KB)", "FCT (ms)", lines)]


@fig7.claim(
    "fig7-pecn-monotone",
    "under pECN one flow of 80 is out of the order of sizes",
    "at most 4 of 80 flows finish before a smaller one in the median run",
    because=(
        "small flows slow down when their arriving packets are marked: 17 of 80 are out of order on average, 5 where "
        "marked ACKs, too, open the window, 4 where the estimate starts at 1 as well, and 1 where nothing is marked"
    ),
)
def monotone(bursts: Data) -> Finding:
    found = [overtakers(result) for result in bursts.results("pecn", flows=80)]
    return at_most(float(median(found)), 4, runs=found)


@fig7.claim(
    "fig7-dctcp-inversions",
    "under DCTCP about 11 flows of 80 finish before a smaller one",
    "5 to 60 of them in the median run, and more than under pECN",
)
def inversions(bursts: Data) -> Finding:
    dctcp, pecn = (
        float(median([overtakers(result) for result in bursts.results(scheme, flows=80)]))
        for scheme in ("dctcp", "pecn")
    )
    return all_hold({"dctcp": within(dctcp, 5, 60), "more than pecn": at_least(dctcp - pecn, 1)})


@tail.drawing
def tails(bursts: Data) -> Sequence[Drawing]:
    title = "99th percentile of the completion time"
    return [curves(bursts, "flows", "p99_short_s", x_label="connections", title=title, log_y=True)]


@tail.claim(
    "sec5-tail-metric", "the 99th percentile of the FCT is named as a measure, but not reported", "for information"
)
def tail_of_80(bursts: Data) -> Finding:
    found = {f"{name} at 80 (ms)": bursts.mean(name, "p99_short_s", flows=80).value * 1e3 for name in SCHEMES}
    return Finding(Verdict.UNTESTED, found, note="the paper gives no value to compare with")
