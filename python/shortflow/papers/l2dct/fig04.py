"""Fig. 4: completion times of short flows beside two long ones, over the load of the short flows."""

from collections.abc import Sequence

from shortflow.lab import (
    Data,
    Drawing,
    Figure,
    Finding,
    Study,
    all_hold,
    all_lower,
    at_least,
    at_most,
    curves,
    lower,
    within,
)

LOADS = Study(
    "l2dct-benchmark",
    schemes=("tcp", "dctcp", "l2dct"),
    over={"load": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)},
    quick={"load": (0.1, 0.2, 0.4)},
    quick_settings={"duration": "1s"},
)
PARETO = Study(
    "l2dct-pareto",
    schemes=("tcp", "dctcp", "l2dct"),
    over={"load": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)},
    quick={"load": (0.1, 0.2, 0.4)},
    quick_settings={"duration": "1s"},
)

STRONGER = (
    "the law as published helps short flows more than the paper shows: an initial window of 10 segments gives -45 %, "
    "but the long flows then lose more still; growth on marked ACKs gives -56 %, an initial alpha of 1 -69 %"
)
TAIL = "an initial window of 10 segments gives -53 and -48 %; no other choice comes nearer"

fig4a = Figure("l2dct/fig4a", "Fig. 4(a)", "Mean FCT of short flows, U[2, 98] KB", {"loads": LOADS})
fig4b = Figure("l2dct/fig4b", "Fig. 4(b)", "Percentiles of the FCT, U[2, 98] KB", {"loads": LOADS})
fig4c = Figure("l2dct/fig4c", "Fig. 4(c)", "99th percentile of the FCT, Pareto sizes of mean 50 KB", {"pareto": PARETO})


@fig4a.drawing
def means(loads: Data) -> Sequence[Drawing]:
    title = "Mean completion time of short flows"
    return [curves(loads, "load", "afct_short_s", x_label="load of short flows (share of the link)", title=title)]


@fig4b.drawing
def tails(loads: Data) -> Sequence[Drawing]:
    label = "load of short flows (share of the link)"
    return [
        curves(
            loads, "load", f"p{percent}_short_s", x_label=label, title=f"Percentile {percent} of the completion time"
        )
        for percent in (95, 99)
    ]


@fig4c.drawing
def pareto_tail(pareto: Data) -> Sequence[Drawing]:
    title = "99th percentile of the completion time"
    return [curves(pareto, "load", "p99_short_s", x_label="load of short flows (share of the link)", title=title)]


@fig4a.claim(
    "fig4a-afct-vs-dctcp",
    "L2DCT's mean FCT is below DCTCP's at every load, by up to 45 %",
    "lower at every load, and the largest reduction within 35 to 55 %",
    because=STRONGER,
)
def reduction_over_dctcp(loads: Data) -> Finding:
    changes = [loads.change("l2dct", "dctcp", "afct_short_s", load=load) for load in loads.values("load")]
    best = min(changes, key=lambda change: change.value)
    return all_hold({"largest change": within(best, -0.55, -0.35), "weakest change": all_lower(changes)})


@fig4a.claim(
    "fig4a-afct-vs-tcp",
    "L2DCT's mean FCT is below TCP's at every load, by up to 95 %",
    "lower at every load, and the largest reduction at least 80 %",
)
def reduction_over_tcp(loads: Data) -> Finding:
    changes = [loads.change("l2dct", "tcp", "afct_short_s", load=load) for load in loads.values("load")]
    best = min(changes, key=lambda change: change.value)
    return all_hold({"largest change": at_most(best, -0.80), "weakest change": all_lower(changes)})


@fig4a.claim(
    "fig4a-afct-low-load",
    "at loads of 10 and 20 % the mean FCT is at least 40 % below DCTCP's",
    "at least 30 % at both loads",
)
def reduction_at_low_load(loads: Data) -> Finding:
    changes = {load: loads.change("l2dct", "dctcp", "afct_short_s", load=load) for load in (0.1, 0.2)}
    return all_hold({f"load {load}": at_most(change, -0.30) for load, change in changes.items()})


@fig4b.claim(
    "fig4b-tail-uniform",
    "the 95th and 99th percentiles are below DCTCP's, by up to 37 %",
    "lower at every load, and the largest reductions within 27 to 47 %",
    because=TAIL,
)
def tail_reduction(loads: Data) -> Finding:
    found = {}
    for percent in (95, 99):
        changes = [loads.change("l2dct", "dctcp", f"p{percent}_short_s", load=load) for load in loads.values("load")]
        found[f"largest change of p{percent}"] = within(min(changes, key=lambda each: each.value), -0.47, -0.27)
        found[f"weakest change of p{percent}"] = all_lower(changes)
    return all_hold(found)


@fig4b.claim(
    "fig4b-all-percentiles",
    "every percentile of the FCT is below DCTCP's at every load",
    "lower at the 50th, 95th and 99th; not more than 2 % higher at the 1st and 5th",
)
def all_percentiles(loads: Data) -> Finding:
    found = {}
    for percent, slack in ((1, 0.02), (5, 0.02), (50, 0.0), (95, 0.0), (99, 0.0)):
        changes = [loads.change("l2dct", "dctcp", f"p{percent}_short_s", load=load) for load in loads.values("load")]
        largest = max(changes, key=lambda each: (each.lower_bound, each.value))
        found[f"largest change of p{percent}"] = at_most(largest, slack)
    return all_hold(found)


@fig4c.claim(
    "fig4c-pareto-all-loads",
    "with Pareto sizes the 99th percentile is below DCTCP's at every load",
    "lower at every load, with the whole interval",
)
def pareto_everywhere(pareto: Data) -> Finding:
    changes = {load: pareto.change("l2dct", "dctcp", "p99_short_s", load=load) for load in pareto.values("load")}
    return all_hold({f"load {load}": lower(change) for load, change in changes.items()})


@fig4c.claim(
    "fig4c-pareto-p99",
    "with Pareto sizes the 99th percentile is up to 53 % below DCTCP's",
    "lower at most loads, and the largest reduction within 35 to 70 %",
)
def pareto_reduction(pareto: Data) -> Finding:
    changes = [pareto.change("l2dct", "dctcp", "p99_short_s", load=load) for load in pareto.values("load")]
    best = min(changes, key=lambda change: change.value)
    share = sum(change.value < 0 for change in changes) / len(changes)
    return all_hold({"largest change": within(best, -0.70, -0.35), "share of loads": at_least(share, 0.5)})
