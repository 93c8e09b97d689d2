"""Figs. 2 and 3, Secs. I, III, V-D and VII-B: the trace over a chain of four hops, by size class."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shortflow import lab
from shortflow.metrics.stats import Estimate, estimate
from shortflow.papers.atcp.setup import (
    ALL,
    LARGE_TIME,
    MEDIUM,
    QUICK_TRACE,
    SIZES,
    SMALL,
    TRACE,
    TRACE_SETTINGS,
    Band,
    in_time,
    mean,
    median,
    over_tcp,
    relative,
    times,
    traced,
)
from shortflow.papers.common import number
from shortflow.result import Result
from shortflow.store.frames import completion

CHAIN = traced()
SLOPED = lab.Study(
    TRACE,
    ("atcp",),
    over={"transport.middle": ("linear", "exponential")},
    settings={**TRACE_SETTINGS, "transport.t1": "1MB"},
    quick={"transport.middle": ("linear",), **QUICK_TRACE},
)
SLACK = 1.02


def _not_slower(ours: Result, theirs: Result) -> tuple[float, bool]:
    """Share of finite flows that are certainly not slower; True if unfinished flows could add more.

    An unfinished flow takes at least its age.
    """
    flows, of_tcp = (completion(each.flows, each.meta) for each in (ours, theirs))
    both = flows.join(of_tcp, on="id", suffix="_tcp")
    is_low = both["elapsed_s"] <= SLACK * both["elapsed_s_tcp"]
    is_open = both["censored_tcp"] | (both["censored"] & is_low)
    sure = is_low & ~both["censored"]
    return float(sure.to_numpy().mean()), bool((is_open & ~sure).any())


@number("share of flows that are not slower with atcp, with 2 % slack")
def benefit(chain: lab.Data) -> Estimate:
    pairs = zip(chain.results("atcp"), chain.results("tcp"), strict=True)
    shares, are_open = zip(*(_not_slower(ours, theirs) for ours, theirs in pairs), strict=True)
    return replace(estimate(shares), lower_bound=any(are_open))


@number("how much more the mean of medium flows falls than that of others")
def lead(chain: lab.Data) -> dict[str, float]:
    measures = {"medium": mean(MEDIUM), "small": mean(SMALL), "large": LARGE_TIME}
    falls = {name: -chain.change("atcp", "tcp", measure).value for name, measure in measures.items()}
    return {f"over {name}": falls["medium"] - falls[name] for name in ("small", "large")}


def _shift(band: Band) -> lab.Quantity:
    @number(f"larger shift of the median of {SIZES[band]} flows", lab.RELATIVE, 0.0)
    def largest(chain: lab.Data, sloped: lab.Data) -> Estimate:
        base = chain.results("atcp")
        found = [
            relative(sloped.results("atcp", transport__middle=middle), base, median(band))
            for middle in sloped.values("transport.middle")
        ]
        return max(found, key=lambda shift: abs(shift.value))

    return largest


def _distribution(chain: lab.Data) -> Sequence[lab.Drawing]:
    lines = []
    for scheme in ("tcp", "atcp"):
        found = np.sort(np.concatenate([times(result, ALL) for result in chain.results(scheme)]))[::-1]
        kept = found[:: max(1, len(found) // 400)][::-1]
        lines.append(lab.Line(scheme, kept.tolist(), np.linspace(0, 1, len(kept)).tolist(), markers=False))
    return [lab.Drawing("Completion times of all flows", "completion time (s)", "share of flows", lines, log_x=True)]


fig2 = lab.Figure("atcp/fig2", "Fig. 2, Sec. I", "Completion times of the trace", {"chain": CHAIN})
fig2.claim("atcp/sec2-web-median", "Fig. 2, Sec. II").says(
    "the median completion time falls from 200 to 80 ms",
    over_tcp(median(ALL)).near(-0.6),
    shows=[lab.level(("tcp", "atcp"), median(ALL))],
)
fig2.claim("atcp/sec2-web-90pct-benefit", "Fig. 2, Sec. I-II").says(
    "over 90 % of flows finish sooner", benefit.beyond(0.9)
)
fig2.claim("atcp/sec2-web-large-unharmed", "Fig. 2, Sec. I-II").says(
    "large flows slow down by less than 1 %", over_tcp(LARGE_TIME).under(0.01), no_harm=True
)
fig2.claim("atcp/sec1-small-mean-10pct", "Sec. I").says(
    "the mean of small flows drops by 10 %", over_tcp(mean(SMALL)).near(-0.1)
)
fig2.claim("atcp/sec1-medium-mean-30-40pct", "Sec. I").says(
    "the mean of medium flows drops by 30 to 40 %", over_tcp(mean(MEDIUM)).between(-0.4, -0.3)
)
fig2.draw(_distribution)
classes = lab.Figure("atcp/sec5d", "Secs. V-C, V-D", "Gains and costs by size", {"chain": CHAIN, "sloped": SLOPED})
classes.claim("atcp/sec5d-no-starvation", "Sec. V-D").says(
    "on the same trace large flows take as long as under TCP", over_tcp(LARGE_TIME).within(-0.05, 0.05), no_harm=True
)
classes.claim("atcp/sec5d-size-window", "Sec. V-D").says("the gain is largest from 100 KB to 10 MB", lead.above())
for name, band in (("small", SMALL), ("medium", MEDIUM)):
    classes.claim(f"atcp/sec5c-middle-part-{name}", "Sec. V-C").says(
        f"a sloped middle from 1 to 10 MB changes the median of {name} flows little",
        _shift(band).within(-0.1, 0.1),
        no_harm=True,
    )
IN_30_MS = in_time(SMALL, 0.03)
deadline = lab.Figure("atcp/sec7b", "Sec. VII-B", "Deadlines of small flows", {"chain": CHAIN})
deadline.claim("atcp/sec7b-deadline-30ms").says(
    "84.6 % of small flows take at most 30 ms, against 77 % under TCP (whose median in Table I is 625 ms)",
    lab.difference(lab.level("atcp", IN_30_MS), lab.level("tcp", IN_30_MS)).near(0.076),
    shows=[lab.level(("tcp", "atcp"), IN_30_MS)],
)


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
trace = lab.Figure("atcp/fig3", "Fig. 3(a, d)", "Sizes of the trace, and times between flows")
trace.claim("atcp/fig3a-size-distribution", "Fig. 3(a), Sec. III").says(
    "80 % of flows are below 100 KB and 99 % below 10 MB; over 80 % of bytes are in larger ones", DRAWN
)
trace.claim("atcp/fig3d-interarrival", "Fig. 3(d), Sec. III").says(
    "80 % of the inter-arrival times are 0.4 to 40 ms", DRAWN
)
durations = lab.Figure("atcp/fig3b", "Fig. 3(b)", "Durations of flows", {"chain": CHAIN})
durations.claim("atcp/fig3b-duration", "Fig. 3(b), Sec. III").says(
    "80 % of flows last under 10 s, a few over 100 s",
    lab.unmeasured("the measured flows crossed links of 1 Gbps at a load not given, not 100 Mbps"),
    shows=[lab.level("tcp", under_10_s)],
)
active = lab.Figure("atcp/fig3c", "Fig. 3(c)", "Active flows", {"chain": CHAIN})
active.claim("atcp/fig3c-active-flows", "Fig. 3(c), Sec. III").says(
    "in over 90 % of one-second bins an edge switch sees 1000 to 2000 active flows",
    lab.unmeasured("about four flows a second fill a chain of 100 Mbps; the measured switch serves a row of racks"),
    shows=[lab.level("tcp", busy_bins)],
)
overlap = lab.Figure("atcp/sec3", "Sec. III", "Overlap with large flows")
overlap.claim("atcp/sec3-overlap").says(
    "large flows are there over 95 % of the time, and over 90 % of the others overlap with one",
    lab.unmeasured("the trace is not public; here large flows are always there, because of this observation"),
)
