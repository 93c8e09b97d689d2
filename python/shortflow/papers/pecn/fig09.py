"""Fig. 9: the bursts of Fig. 6 with the receiver in another rack."""

from collections.abc import Sequence

from shortflow.lab import Data, Drawing, Figure, Finding, Study, all_hold, curves, within
from shortflow.papers.pecn.fig06 import BURSTS, INTERVAL
from shortflow.papers.pecn.setup import (
    ACROSS,
    AFCT,
    BASELINES,
    BURST,
    COUNTS,
    MANY,
    NEWRENO,
    QUICK_COUNTS,
    SCHEMES,
    across,
    best_everywhere,
    counts,
    everywhere,
    tcp_worst,
)

BURSTS_ACROSS = Study(
    BURST,
    SCHEMES,
    over={"flows": COUNTS},
    settings={**NEWRENO, "receiver": ACROSS},
    quick={"flows": QUICK_COUNTS},
    seeds=20,
)

fig9 = Figure(
    "pecn/fig9",
    "Fig. 9",
    "Mean FCT of a burst across racks, U[2, 50] KB",
    {"bursts": BURSTS_ACROSS, "in_rack": BURSTS},
)


@fig9.drawing
def means(bursts: Data) -> Sequence[Drawing]:
    title = "Mean completion time across racks"
    return [curves(bursts, "flows", AFCT, x_label="connections", title=title, log_y=True)]


@fig9.claim(
    "fig9-interrack-order",
    "across racks the order is the same: pECN best, TCP worst",
    f"pECN below TCP, DCTCP and D2TCP at every number; all below TCP wherever it has timeouts, {INTERVAL}",
)
def order(bursts: Data) -> Finding:
    return all_hold({"pecn best": best_everywhere(bursts, "pecn", BASELINES), "tcp worst": tcp_worst(bursts)})


@fig9.claim(
    "fig9-interrack-slightly-slower",
    "across racks all mean FCTs are a little longer",
    "0 to 30 % longer on average for TCP, DCTCP, D2TCP and pECN from 40 connections on",
    because=(
        "the longer round trip spreads the burst and saves timeouts, which decide the mean where there are any: at 100 "
        "connections TCP has 30 instead of 39, DCTCP 23 instead of 31 and pECN 6 instead of 16; without any it is "
        "slightly slower, as the paper says"
    ),
)
def slightly_slower(bursts: Data, in_rack: Data) -> Finding:
    changes = {
        f"{scheme} at {n}": across(bursts, in_rack, scheme, flows=n)
        for n in counts(bursts, MANY)
        for scheme in (*BASELINES, "pecn")
    }
    return everywhere(changes, lambda change: within(change, 0.0, 0.30))
