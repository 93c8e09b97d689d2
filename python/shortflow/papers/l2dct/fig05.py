"""Fig. 5 and Sec. VI: what the favour to short flows costs the two long ones."""

from collections.abc import Sequence

from shortflow.lab import Data, Drawing, Figure, Finding, all_hold, at_least, curves, within
from shortflow.metrics.stats import rank_correlation
from shortflow.papers.l2dct.fig04 import LOADS
from shortflow.papers.l2dct.setup import LINK_BPS, PAYLOAD_SHARE

SLOW = (
    "long flows climb back by 0.05 segments per round trip, and short ones hardly yield; at a load of 20 % w_min = 0.5 "
    "instead of 0.125 gives the long ones 735 instead of 462 Mbps (Fig. 9); of the choices an initial window of 10 "
    "changes most, for the worse (at a load of 10 % they lose 33 % instead of 26 %), the others less than 2 points"
)

fig5 = Figure("l2dct/fig5", "Fig. 5", "Goodput of the two long flows", {"loads": LOADS})
starving = Figure("l2dct/sec6-long", "Sec. VI", "Whether long flows starve", {"loads": LOADS})


@fig5.drawing
def goodput(loads: Data) -> Sequence[Drawing]:
    title = "Goodput of the two long flows"
    label = "load of short flows (share of the link)"
    return [curves(loads, "load", "goodput_long_bps", x_label=label, title=title)]


@fig5.claim(
    "fig5-throughput-cost-10pct",
    "at a load of 10 % the long flows lose 6.7 % of their throughput under DCTCP",
    "a loss of 2 to 12 %",
    because=SLOW,
)
def cost(loads: Data) -> Finding:
    return within(loads.change("l2dct", "dctcp", "goodput_long_bps", load=0.1), -0.12, -0.02)


@fig5.claim(
    "fig5-throughput-gap-grows",
    "the long flows' gap to DCTCP widens with the load",
    "rank correlation of gap and load above 0.7",
)
def gap(loads: Data) -> Finding:
    gaps = [
        loads.mean("dctcp", "goodput_long_bps", load=load).value
        - loads.mean("l2dct", "goodput_long_bps", load=load).value
        for load in loads.values("load")
    ]
    return at_least(rank_correlation(gaps), 0.7, gaps_mbps=[gap / 1e6 for gap in gaps])


@starving.claim(
    "sec6-long-not-starved",
    "below a load of 50 % long flows keep most of what short ones leave",
    "at least 80 % of the residual capacity up to a load of 40 %",
    because=SLOW,
)
def residual(loads: Data) -> Finding:
    found = {}
    for load in (each for each in loads.values("load") if float(each) <= 0.4):
        left = (1 - float(load)) * LINK_BPS * PAYLOAD_SHARE
        share = loads.mean("l2dct", "goodput_long_bps", load=load).value / left
        found[f"load {load}"] = at_least(share, 0.8)
    return all_hold(found)
