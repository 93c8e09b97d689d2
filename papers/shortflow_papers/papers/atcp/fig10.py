"""Figs. 10 and 11, Sec. VII-C: ATCP beside DCTCP in a tree with full bisection, and MapReduce."""

from collections.abc import Sequence

import numpy as np

from shortflow.api.metrics import nearest_rank
from shortflow.api.runs import Result
from shortflow_papers import lab
from shortflow_papers.papers.atcp.setup import ALL, BASE, MEDIUM, SMALL, Band, Floats, in_time, median, times
from shortflow_papers.papers.common import ns_study, number_of

SCHEMES = ("tcp", "dctcp", "atcp")
ANSWERS = ns_study("atcp-answers", SCHEMES, settings=BASE, quick={"traffic.1.repeat": 16, "duration": "60s"})
# Eight mappers and eight reducers; the paper's twenty shuffle 3.2 GB a job.
SHUFFLES = ns_study(
    "mapreduce",
    SCHEMES,
    settings={**BASE, "traffic.1.repeat": 10, "duration": "40s", "measure.sample_every": "off"},
    quick={"traffic.1.repeat": 2, "duration": "8s"},
)

SMALL_MEDIAN, MEDIUM_MEDIAN = median(SMALL, "answer"), median(MEDIUM, "answer")
PRINTED_S = {SMALL: {"tcp": 0.21, "dctcp": 0.02, "atcp": 0.021}, MEDIUM: {"tcp": 1.1, "dctcp": 0.93, "atcp": 0.81}}
"""Printed medians."""
IN_30_MS = in_time(SMALL, 0.03, "answer")


def _more_in_time(scheme: str, other: str) -> lab.Quantity:
    return lab.difference(lab.level(scheme, IN_30_MS), lab.level(other, IN_30_MS)).called(f"{scheme} less {other}")


def _cdf(results: Sequence[Result], band: Band, flow_class: str) -> Floats:
    return np.sort(np.concatenate([times(result, band, flow_class) for result in results]))


def _curves(data: lab.Data, band: Band, flow_class: str) -> list[lab.Line]:
    found = {scheme: _cdf(data.results(scheme), band, flow_class).tolist() for scheme in SCHEMES}
    return [lab.Line(n, x, [(i + 1) / len(x) for i in range(len(x))], markers=False) for n, x in found.items()]


def _cdfs(of: str, lines: Sequence[lab.Line], *, log_x: bool = False) -> lab.Drawing:
    return lab.Drawing(f"Completion times of {of}", "completion time (s)", "share of flows", lines, log_x=log_x)


def _draw_answers(answers: lab.Data) -> Sequence[lab.Drawing]:
    drawings = []
    for name, band in (("small", SMALL), ("medium", MEDIUM)):
        printed = [lab.Line(scheme, [at_s], [0.5], printed=True) for scheme, at_s in PRINTED_S[band].items()]
        drawings.append(_cdfs(f"{name} answers", [*_curves(answers, band, "answer"), *printed], log_x=True))
    return drawings


def _leftmost(shuffles: lab.Data) -> lab.Finding:
    found = {scheme: _cdf(shuffles.results(scheme), ALL, "shuffle") for scheme in SCHEMES}
    at = {scheme: [nearest_rank(values, percent) for percent in (25, 50, 75, 90)] for scheme, values in found.items()}
    ranks = zip(at["atcp"], at["dctcp"], at["tcp"], strict=True)
    return lab.fact(sum(not atcp < dctcp < tcp for atcp, dctcp, tcp in ranks) <= 1, **at)


@number_of("change of the job less that of the shuffle times its share")
def less_expected(shuffles: lab.Data) -> dict[str, float]:
    """Change of the job minus that of the shuffle, weighted by its share of TCP's job."""
    share = shuffles.mean("tcp", "shuffle_time_s").value / shuffles.mean("tcp", "job_time_s").value
    return {
        scheme: shuffles.change(scheme, "tcp", "job_time_s").value
        - shuffles.change(scheme, "tcp", "shuffle_time_s").value * share
        for scheme in ("atcp", "dctcp")
    }


fig10 = lab.Figure("atcp/fig10", "Fig. 10", "Completion times of answers in a tree", {"answers": ANSWERS})
fig10.claim("atcp/fig10-small-medians").says(
    "medians of small flows: TCP 210 ms, DCTCP 20 ms, ATCP 21 ms",
    lab.ratio(lab.level("tcp", SMALL_MEDIAN), lab.level("dctcp", SMALL_MEDIAN)).near(210 / 20),
    lab.change("atcp", "tcp", SMALL_MEDIAN).near(21 / 210 - 1),
    shows=[lab.level(SCHEMES, SMALL_MEDIAN)],
)
fig10.claim("atcp/fig10-medium-medians").says(
    "medians of medium flows: TCP 1.1 s, DCTCP 0.93 s, ATCP 0.81 s",
    lab.change("atcp", "tcp", MEDIUM_MEDIAN).near(-0.26),
    lab.change("dctcp", "tcp", MEDIUM_MEDIAN).near(-0.15),
    lab.change("atcp", "dctcp", MEDIUM_MEDIAN).below(),
    shows=[lab.level(SCHEMES, MEDIUM_MEDIAN)],
)
fig10.claim("atcp/fig10-small-comparable", "Fig. 10, Sec. I").says(
    "for small flows ATCP is on a par with DCTCP", lab.change("atcp", "dctcp", SMALL_MEDIAN).alike(0.25), no_harm=True
)
fig10.claim("atcp/fig10-medium-atcp-wins").says(
    "for medium flows ATCP beats DCTCP", lab.change("atcp", "dctcp", MEDIUM_MEDIAN).below()
)
fig10.claim("atcp/sec7c-deadlines", "Sec. VII-C").says(
    "30 ms are met by 23 % (TCP), 62 % (DCTCP) and 61 % (ATCP) of small flows",
    _more_in_time("atcp", "tcp").near(0.38),
    _more_in_time("dctcp", "tcp").near(0.39),
    _more_in_time("atcp", "dctcp").within(-0.10, 0.10),
    shows=[lab.level(SCHEMES, IN_30_MS)],
)
fig10.draw(_draw_answers)
fig11 = lab.Figure("atcp/fig11", "Fig. 11", "Completion times of shuffle flows", {"shuffles": SHUFFLES})
fig11.claim("atcp/fig11-cdf-leftmost").says(
    "the CDF of shuffle flows is leftmost under ATCP, then DCTCP, then TCP",
    lab.decided("this order at the 25th, 50th, 75th and 90th percentile, with one exception at most", _leftmost),
)
fig11.claim("atcp/fig11-mean-reduction", "Fig. 11, Sec. VII-C").says(
    "the mean of shuffle flows falls by 61 % under ATCP and 59 % under DCTCP",
    lab.change("atcp", "tcp", "afct_shuffle_s").near(-0.61),
    lab.change("dctcp", "tcp", "afct_shuffle_s").near(-0.59),
    lab.difference(*(lab.change(name, "tcp", "afct_shuffle_s") for name in ("atcp", "dctcp"))).within(high=0.05),
)
fig11.claim("atcp/sec7c-shuffle-time", "Sec. VII-C").says(
    "the shuffle phase shortens by 33 % under ATCP and 25 % under DCTCP",
    lab.change("atcp", "tcp", "shuffle_time_s").near(-0.33),
    lab.change("dctcp", "tcp", "shuffle_time_s").near(-0.25),
)
fig11.claim("atcp/sec7c-job-time", "Sec. VII-C").says(
    "the job shortens by 10.5 % under ATCP and 7 % under DCTCP",
    *(lab.change(scheme, "tcp", "job_time_s").near(paper) for scheme, paper in (("atcp", -0.105), ("dctcp", -0.07))),
    shows=[less_expected],
)
fig11.draw(lambda shuffles: [_cdfs("shuffle flows", _curves(shuffles, ALL, "shuffle"))])
