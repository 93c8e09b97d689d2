"""Figs. 10 and 11, Sec. VII-C: ATCP beside DCTCP in a tree with full bisection, and MapReduce."""

from collections.abc import Sequence

import numpy as np

from shortflow.lab import (
    Data,
    Drawing,
    Figure,
    Finding,
    Line,
    Study,
    all_hold,
    at_least,
    fact,
    lower,
    no_difference,
    within,
)
from shortflow.metrics.stats import nearest_rank
from shortflow.papers.atcp.setup import (
    ALL,
    BASE,
    MEDIUM,
    SMALL,
    SWITCH,
    TCP,
    Band,
    Floats,
    in_time,
    median,
    negative,
    times,
)
from shortflow.result import RunResult

SCHEMES = ("tcp", "dctcp", "atcp")
TREE: dict[str, object] = {
    "title": "39 servers answer host 0 over a tree with full bisection, beside a background flow",
    "duration": "200s",
    "drain": "60s",
    "topology": {
        "kind": "two-tier-tree",
        "racks": 4,
        "hosts_per_rack": 10,
        "rate": "1Gbps",
        "uplink_rate": "10Gbps",
        "rtt": "200us",
    },
    "switch": {**SWITCH, "core": {"mark_above": "65pkt"}, "tor": {"up": {"mark_above": "65pkt"}}},
    "tcp": TCP,
    "traffic": [
        {
            "kind": "queries",
            "class": "answer",
            "from": "1-39",
            "to": 0,
            "workers": 39,
            "repeat": 50,
            "sizes": {"kind": "log-uniform", "min": "1KB", "max": "10MB"},
        },
        {"kind": "long-lived", "class": "background", "flows": 1, "from": 39, "to": 0},
    ],
    "measure": {"ports": ["tor0->h0"]},
}
"""Marking as DCTCP asks: above 20 packets at 1 Gbps and above 65 at 10 Gbps."""

ANSWERS = Study(TREE, SCHEMES, settings=BASE, quick_settings={"traffic.1.repeat": 8, "duration": "20s"})
# Eight mappers and eight reducers instead of twenty, whose shuffle is 3.2 GB a job.
SHUFFLES = Study(
    "mapreduce",
    SCHEMES,
    settings={**BASE, "traffic.1.repeat": 10, "duration": "40s", "measure.sample_every": "off"},
    quick_settings={"traffic.1.repeat": 2, "duration": "8s"},
)

AS_TCP = (
    "ATCP differs from TCP in congestion avoidance alone and has its timeouts of 200 ms, DCTCP hardly any: 57 % of "
    "ATCP's small flows end in 30 ms and 89 % of DCTCP's; no better with recovery=sack, and with rto-min=10ms (81 "
    "and almost 100 %) TCP is as good as ATCP"
)
ALL_ALIKE = (
    "flows of 8 MB all keep the high weight, so that none makes room: ATCP's mean is within 2 % of TCP's, and so it "
    "is with recovery=sack and with rto-min=10ms"
)

fig10 = Figure("atcp/fig10", "Fig. 10", "Completion times of answers in a tree", {"answers": ANSWERS})
fig11 = Figure("atcp/fig11", "Fig. 11", "Completion times of shuffle flows", {"shuffles": SHUFFLES})


SMALL_MEDIAN, MEDIUM_MEDIAN = median(SMALL, "answer"), median(MEDIUM, "answer")


def _cdf(results: Sequence[RunResult], band: Band, flow_class: str) -> Floats:
    return np.sort(np.concatenate([times(result, band, flow_class) for result in results]))


def _curves(data: Data, band: Band, flow_class: str) -> list[Line]:
    lines = []
    for scheme in SCHEMES:
        found = _cdf(data.results(scheme), band, flow_class)
        share = (np.arange(len(found)) + 1) / len(found)
        lines.append(Line(scheme, found.tolist(), share.tolist(), markers=False))
    return lines


@fig10.drawing
def draw_answers(answers: Data) -> Sequence[Drawing]:
    return [
        Drawing(f"Completion times of {name} answers", "completion time (s)", "share of flows", lines, log_x=True)
        for name, lines in (
            ("small", _curves(answers, SMALL, "answer")),
            ("medium", _curves(answers, MEDIUM, "answer")),
        )
    ]


@fig10.claim(
    "fig10-small-medians",
    "medians of small flows: TCP 210 ms, DCTCP 20 ms, ATCP 21 ms",
    "TCP's at least 3 times DCTCP's, ATCP's at most half of TCP's",
)
def small_medians(answers: Data) -> Finding:
    tcp, dctcp, atcp = (answers.measured(SMALL_MEDIAN, scheme).value for scheme in SCHEMES)
    return fact(tcp >= 3 * dctcp and atcp <= 0.5 * tcp, tcp_ms=tcp * 1e3, dctcp_ms=dctcp * 1e3, atcp_ms=atcp * 1e3)


@fig10.claim(
    "fig10-medium-medians",
    "medians of medium flows: TCP 1.1 s, DCTCP 0.93 s, ATCP 0.81 s",
    "in this order; below TCP's by 26 and 15 %, within 20 points",
    because=AS_TCP,
)
def medium_medians(answers: Data) -> Finding:
    tcp, dctcp, atcp = (answers.measured(MEDIUM_MEDIAN, scheme).value for scheme in SCHEMES)
    return all_hold(
        {
            "atcp below tcp": within(1 - atcp / tcp, 0.06, 0.46, tcp_s=tcp, dctcp_s=dctcp, atcp_s=atcp),
            "dctcp below tcp": within(1 - dctcp / tcp, 1e-9, 0.35),
            "atcp below dctcp": at_least(1 - atcp / dctcp, 1e-9),
        }
    )


@fig10.claim(
    "fig10-small-comparable",
    "for small flows ATCP is on a par with DCTCP",
    "median within 25 %",
    because=AS_TCP,
)
def small_comparable(answers: Data) -> Finding:
    return no_difference(answers.measured_change(SMALL_MEDIAN, "atcp", "dctcp"), 0.25)


@fig10.claim(
    "fig10-medium-atcp-wins",
    "for medium flows ATCP beats DCTCP",
    "median lower, with the interval of the change",
    because=AS_TCP,
)
def medium_atcp_wins(answers: Data) -> Finding:
    return lower(answers.measured_change(MEDIUM_MEDIAN, "atcp", "dctcp"))


@fig10.claim(
    "sec7c-deadlines",
    "30 ms are met by 23 % (TCP), 62 % (DCTCP) and 61 % (ATCP) of small flows",
    "TCP lowest; ATCP within 10 points of DCTCP, and 15 to 60 points above TCP",
    because=AS_TCP,
)
def deadlines(answers: Data) -> Finding:
    tcp, dctcp, atcp = (answers.measured(in_time(SMALL, 0.03, "answer"), scheme).value for scheme in SCHEMES)
    return all_hold(
        {
            "atcp over tcp": within(atcp - tcp, 0.15, 0.60, tcp=tcp, dctcp=dctcp, atcp=atcp),
            "dctcp over tcp": at_least(dctcp - tcp, 1e-9),
            "atcp over dctcp": within(atcp - dctcp, -0.10, 0.10),
        }
    )


@fig11.drawing
def draw_shuffles(shuffles: Data) -> Sequence[Drawing]:
    lines = _curves(shuffles, ALL, "shuffle")
    return [Drawing("Completion times of shuffle flows", "completion time (s)", "share of flows", lines)]


@fig11.claim(
    "fig11-cdf-leftmost",
    "the CDF of shuffle flows is leftmost under ATCP, then DCTCP, then TCP",
    "this order at the 25th, 50th, 75th and 90th percentile, with one exception at most",
    because=ALL_ALIKE,
)
def leftmost(shuffles: Data) -> Finding:
    found = {scheme: _cdf(shuffles.results(scheme), ALL, "shuffle") for scheme in SCHEMES}
    at = {scheme: [nearest_rank(values, percent) for percent in (25, 50, 75, 90)] for scheme, values in found.items()}
    ranks = zip(at["atcp"], at["dctcp"], at["tcp"], strict=True)
    return fact(sum(not atcp < dctcp < tcp for atcp, dctcp, tcp in ranks) <= 1, **at)


def _gains(shuffles: Data, metric: str) -> dict[str, float]:
    return {scheme: negative(shuffles.change(scheme, "tcp", metric)).value for scheme in ("atcp", "dctcp")}


@fig11.claim(
    "fig11-mean-reduction",
    "the mean of shuffle flows falls by 61 % under ATCP and 59 % under DCTCP",
    "both positive and within 30 points; ATCP's at least DCTCP's less 5 points",
    because=ALL_ALIKE,
)
def mean_reduction(shuffles: Data) -> Finding:
    gains = _gains(shuffles, "afct_shuffle_s")
    return all_hold(
        {
            "atcp": within(gains["atcp"], 0.31, 0.91),
            "dctcp": within(gains["dctcp"], 0.29, 0.89),
            "atcp over dctcp": at_least(gains["atcp"] - gains["dctcp"], -0.05),
        }
    )


@fig11.claim(
    "sec7c-shuffle-time",
    "the shuffle phase shortens by 33 % under ATCP and 25 % under DCTCP",
    "both positive and within 20 points",
    because=ALL_ALIKE,
)
def shuffle_time(shuffles: Data) -> Finding:
    gains = _gains(shuffles, "shuffle_time_s")
    return all_hold({"atcp": within(gains["atcp"], 0.13, 0.53), "dctcp": within(gains["dctcp"], 0.05, 0.45)})


@fig11.claim(
    "sec7c-job-time",
    "the job shortens by 10.5 % under ATCP and 7 % under DCTCP",
    "equals the gain of the shuffle times its share of TCP's job, within 2 points",
    because="the shuffle is 45 % of a job here, and two jobs a run scatter; with --choice rto-min=10ms it agrees",
)
def job_time(shuffles: Data) -> Finding:
    job, shuffle = _gains(shuffles, "job_time_s"), _gains(shuffles, "shuffle_time_s")
    share = shuffles.mean("tcp", "shuffle_time_s").value / shuffles.mean("tcp", "job_time_s").value
    return all_hold(
        {
            f"{scheme} less expected": within(
                job[scheme] - shuffle[scheme] * share,
                -0.02,
                0.02,
                job=job[scheme],
                shuffle=shuffle[scheme],
                share=share,
            )
            for scheme in ("atcp", "dctcp")
        }
    )
