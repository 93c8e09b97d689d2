"""Fig. 3 and Sec. III: properties of the measured trace."""

import math

import numpy as np

from shortflow import lab
from shortflow.papers.atcp.fig02 import CHAIN
from shortflow.papers.atcp.setup import ALL, times
from shortflow.result import Result


@lab.measure("share of flows that last under 10 s")
def under_10_s(result: Result) -> float:
    """Share over all sizes."""
    return float((times(result, ALL) < 10).mean())


@lab.measure("share of one-second bins with 1000 to 2000 active flows")
def busy_bins(result: Result) -> float:
    """Counts after the warm-up; unfinished flows stay active."""
    starts, ends = (result.flows[each].fill_null(math.inf).to_numpy() for each in ("start_s", "finish_s"))
    bins = np.arange(result.meta["warmup_s"], result.meta["duration_s"])
    counts = np.asarray([((starts < begin + 1) & (ends >= begin)).sum() for begin in bins])
    return float(((counts >= 1000) & (counts <= 2000)).mean())


DRAWN = lab.unmeasured("the trace is drawn from these numbers, so that agreement would say nothing")
trace = lab.Figure("atcp/fig3", "Fig. 3(a, d)", "Sizes of the trace, and times between flows").decides(
    lab.Claim("atcp/fig3a-size-distribution", "Fig. 3(a), Sec. III").says(
        "80 % of flows are below 100 KB and 99 % below 10 MB; over 80 % of bytes are in larger ones", DRAWN
    ),
    lab.Claim("atcp/fig3d-interarrival", "Fig. 3(d), Sec. III").says(
        "80 % of the inter-arrival times are 0.4 to 40 ms", DRAWN
    ),
)
durations = lab.Figure("atcp/fig3b", "Fig. 3(b)", "Durations of flows", {"chain": CHAIN}).decides(
    lab.Claim("atcp/fig3b-duration", "Fig. 3(b), Sec. III").says(
        "80 % of flows last under 10 s, a few over 100 s",
        lab.unmeasured("the measured flows crossed links of 1 Gbps at a load not given, not 100 Mbps"),
        shows=[lab.level("tcp", under_10_s)],
    )
)
active = lab.Figure("atcp/fig3c", "Fig. 3(c)", "Active flows", {"chain": CHAIN}).decides(
    lab.Claim("atcp/fig3c-active-flows", "Fig. 3(c), Sec. III").says(
        "in over 90 % of one-second bins an edge switch sees 1000 to 2000 active flows",
        lab.unmeasured("about four flows a second fill a chain of 100 Mbps; the measured switch serves a row of racks"),
        shows=[lab.level("tcp", busy_bins)],
    )
)
overlap = lab.Figure("atcp/sec3", "Sec. III", "Overlap with large flows").decides(
    lab.Claim("atcp/sec3-overlap").says(
        "large flows are there over 95 % of the time, and over 90 % of the others overlap with one",
        lab.unmeasured("the trace is not public; here large flows are always there, because of this observation"),
    )
)
