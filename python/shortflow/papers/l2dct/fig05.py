"""Fig. 5 and Sec. VI: cost of favouring short flows for the two long ones."""

from shortflow import lab
from shortflow.papers.l2dct.fig04 import BOTH, LOADS, with_larger_w_min
from shortflow.papers.l2dct.setup import GOODPUT, LINK_BPS, LOAD, NEAR_BOTH, PAYLOAD_SHARE


def _residual(loads: lab.Data) -> dict[str, float]:
    """Goodput of the long flows over the capacity left by short ones, by load."""
    return {
        f"load {load}": loads.mean("l2dct", GOODPUT, load=load).value / ((1 - float(load)) * LINK_BPS * PAYLOAD_SHARE)
        for load in loads.values("load")
        if float(load) <= 0.4
    }


fig5 = lab.Figure("l2dct/fig5", "Fig. 5", "Goodput of the two long flows", BOTH).decides(
    lab.Claim("l2dct/fig5-throughput-cost-10pct").says(
        "at a load of 10 % the long flows lose 6.7 % of their throughput under DCTCP",
        lab.change("l2dct", "dctcp", GOODPUT).at(load=0.1).near(-0.067),
        shows=[with_larger_w_min(GOODPUT)],
        because=NEAR_BOTH,
    ),
    lab.Claim("l2dct/fig5-throughput-gap-grows").says(
        "the long flows' loss in per cent grows with the load",
        lab.change("l2dct", "dctcp", GOODPUT).over("load").trend().at_most(-0.7),
    ),
    draws=[lab.Curves("load", GOODPUT, LOAD, "Goodput of the two long flows")],
)
starving = lab.Figure(
    "l2dct/sec6-long", "Sec. VI", "Goodput of long flows beside short ones", {"loads": LOADS}
).decides(
    lab.Claim("l2dct/sec6-long-not-starved").says(
        "below a load of 50 % long flows keep most of what short ones leave",
        lab.computed("goodput of l2dct's long flows over what short ones leave", _residual).at_least(0.8),
        because=NEAR_BOTH,
    )
)
