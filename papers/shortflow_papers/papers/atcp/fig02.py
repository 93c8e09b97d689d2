"""Figs. 2 and 3, Secs. I, III, V-D and VII-B: the trace over a chain of four hops, by size class."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shortflow import Estimate
from shortflow.api.judge import estimate
from shortflow.api.runs import Result, completion
from shortflow_papers import lab
from shortflow_papers.papers.atcp.setup import (
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
from shortflow_papers.papers.common import ns_study, number_of

CHAIN = traced()
SLOPED = ns_study(
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


@number_of("share of flows that are not slower with atcp, with 2 % slack")
def benefit(chain: lab.Data) -> Estimate:
    pairs = zip(chain.results("atcp"), chain.results("tcp"), strict=True)
    shares, are_open = zip(*(_not_slower(ours, theirs) for ours, theirs in pairs), strict=True)
    return replace(estimate(shares), lower_bound=any(are_open))


@number_of("how much more the mean of medium flows falls than that of others")
def lead(chain: lab.Data) -> dict[str, float]:
    measures = {"medium": mean(MEDIUM), "small": mean(SMALL), "large": LARGE_TIME}
    falls = {name: -chain.change("atcp", "tcp", measure).value for name, measure in measures.items()}
    return {f"over {name}": falls["medium"] - falls[name] for name in ("small", "large")}


def _shift(band: Band) -> lab.Quantity:
    @number_of(f"larger shift of the median of {SIZES[band]} flows", lab.RELATIVE, 0.0)
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
    "over 90 % of flows finish sooner", benefit.near(0.9, limit="at least")
)
fig2.claim("atcp/sec2-web-large-unharmed", "Fig. 2, Sec. I-II").says(
    "large flows slow down by less than 1 %", over_tcp(LARGE_TIME).near(0.01, limit="at most"), no_harm=True
)
fig2.claim("atcp/sec1-small-mean-10pct", "Sec. I").says(
    "the mean of small flows drops by 10 %", over_tcp(mean(SMALL)).near(-0.1)
)
fig2.claim("atcp/sec1-medium-mean-30-40pct", "Sec. I").says(
    "the mean of medium flows drops by 30 to 40 %", over_tcp(mean(MEDIUM)).near(-0.4, -0.3)
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
