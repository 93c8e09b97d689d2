"""Figs. 2 to 4: one flow with a deadline and four long flows, under DCTCP and D2TCP.

The paper shows one run. Here, seeds delay the starts of long flows by up to 1 ms, and that of the flow with a deadline
by up to 10 ms. The delays cover many phases of the windows.
"""

from collections.abc import Sequence

import polars as pl

from shortflow import Estimate
from shortflow.api.judge import estimate
from shortflow.api.runs import Result
from shortflow_papers import lab
from shortflow_papers.papers.common import burst_of, flows, ns_study, number_of, of_flows, series, traces
from shortflow_papers.papers.pecn.setup import DCTCP_CODE, star

RTT_S, DEADLINE_S = 120e-6, 0.2
SIZE_BYTES = 10_000_000
FCT = "afct_urgent_s"
SCHEMES = ("dctcp", "d2tcp")
PRINTED_S = {"dctcp": 0.42, "d2tcp": 0.11}
"""Printed FCT of the 10 MB flow in seconds. The flow starts at 1.5 s and ends at 1.92 s or 1.61 s."""

FIVE = star(
    "A flow with a deadline beside four of 100 MB",
    6,
    [
        burst_of(4, 5, "$size", "urgent", deadline={"kind": "fixed", "value": "$deadline"}, at="1.5s"),
        burst_of("0-3", 5, "100MB", "long", flows=4, at="1s", jitter="1ms"),
    ],
    duration="1.6s",
    drain="5s",
    parameters={"size": "10MB", "deadline": "200ms"},
    switch={"buffer": "128KB", "mark_above": "30KB"},
)

UNTIL_DONE = {"drain": "600ms"}
OFFSET = {**DCTCP_CODE, "traffic.1.jitter": "10ms"}
QUERY = ns_study(FIVE, SCHEMES, settings={**OFFSET, "size": "2KB", "deadline": "200us"}, seeds=20, quick=UNTIL_DONE)
LARGE = ns_study(
    FIVE,
    SCHEMES,
    settings={**OFFSET, "duration": "2s", "measure.sample_every": "1ms"},
    seeds=20,
    quick=UNTIL_DONE,
)


def _progress(result: Result) -> pl.DataFrame:
    """Rate and unclipped D2TCP exponent at each sample, until the flow is done or late.

    The exponent is the time needed, B / (0.75 W) round trips, over the time left. A window of W segments per round trip
    is the flow's rate, so the exponent does not depend on the RTT. The rate is a mean over five samples, which cover
    several oscillations of the window.
    """
    start = flows(result, "urgent")["start_s"].item()
    samples = series(result, "throughput_bps", "urgent", start)
    sent = (pl.col("value") * pl.col("time_s").diff().fill_null(0.0)).cum_sum() / 8
    samples = samples.with_columns(
        remaining=SIZE_BYTES - sent, left_s=start + DEADLINE_S - pl.col("time_s"), rate=pl.col("value").rolling_mean(5)
    )
    running = samples.filter((pl.col("left_s") > 0) & (pl.col("remaining") > 0) & (pl.col("rate") > 0))
    need_s = pl.col("remaining") * 8 / (0.75 * pl.col("rate"))
    return running.select("time_s", "rate", d=need_s / pl.col("left_s"))


mean_window = of_flows(
    "mean window of the urgent flow",
    pl.col("size_bytes") / 1460 / pl.col("fct_s") * (pl.col("queueing_s") + RTT_S),
    "urgent",
)
"""Mean number of the flow's packets in flight: rate times mean RTT (Little's law)."""


@number_of("mean window of the flow, d2tcp over dctcp")
def window_ratio(runs: lab.Data) -> Estimate:
    pairs = zip(runs.results("d2tcp"), runs.results("dctcp"), strict=True)
    return estimate([mean_window(ours) / mean_window(theirs) for ours, theirs in pairs])


@number_of("share of runs whose exponent falls from above to below 1")
def crossing(runs: lab.Data) -> float:
    exponents = [[float(d) for d in _progress(result)["d"]] for result in runs.results("d2tcp")]
    return sum(found[0] > 1 > min(found) for found in exponents) / len(exponents)


def _completion_times(runs: lab.Data) -> Sequence[lab.Drawing]:
    lines = []
    for scheme in SCHEMES:
        every = runs.results(scheme)[0].flows.sort("class", "id")
        times = every["fct_s"].fill_null(float("nan")).to_list()
        lines.append(lab.Line(scheme, [place + 1.0 for place in range(len(times))], times))
    if runs.study is LARGE:
        lines += [lab.Line(scheme, [5.0], [PRINTED_S[scheme]], printed=True) for scheme in SCHEMES]
    return [lab.Drawing("Completion times, one run; the last is the urgent flow", "flow", "FCT (s)", lines)]


def _rates(runs: lab.Data) -> Sequence[lab.Drawing]:
    rates = {scheme: _progress(runs.results(scheme)[0]).with_columns(value="rate") for scheme in SCHEMES}
    return [traces("Rate of the flow of 10 MB, one run: its window over its round trip", "rate (Mbps)", rates, 1e6)]


fig2 = lab.Figure("pecn/fig2", "Fig. 2", "A query of 2 KB, due in 0.2 ms, beside four long flows", {"runs": QUERY})
fig2.claim("pecn/fig2-d2tcp-short-no-effect").says(
    "for a query of 2 KB D2TCP is no better than DCTCP", lab.change("d2tcp", "dctcp", FCT).alike(0.10)
)
fig2.draw(_completion_times)
fig3 = lab.Figure("pecn/fig3", "Fig. 3", "A flow of 10 MB, due in 200 ms, beside four long flows", {"runs": LARGE})
fig3.claim("pecn/fig3-d2tcp-meets-deadline").says(
    "a flow of 10 MB due in 200 ms meets its deadline under D2TCP and not under DCTCP",
    lab.level("d2tcp", FCT).within(high=DEADLINE_S),
    lab.level("dctcp", FCT).within(low=DEADLINE_S),
    shows=[lab.change("d2tcp", "dctcp", FCT)],
)
fig3.draw(_completion_times)
fig4 = lab.Figure("pecn/fig4", "Fig. 4", "The window of the flow of 10 MB", {"runs": LARGE})
fig4.claim("pecn/fig4-finish-times", "Fig. 4, Sec. 3.4").says(
    "started at 1.5 s, the flow ends at 1.61 s under D2TCP and at 1.92 s under DCTCP",
    *(lab.level(scheme, FCT).near(printed) for scheme, printed in PRINTED_S.items()),
)
fig4.claim("pecn/fig4-cwnd-evolution").says(
    "under D2TCP the flow's window rises, shrinks once it is ahead of its deadline, and exceeds DCTCP's",
    window_ratio.within(low=1.5),
    crossing.within(low=0.5),
    because="the window is larger, but the flow never gets ahead of its deadline",
)
fig4.draw(_rates)
