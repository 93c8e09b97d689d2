"""Sec. II-A: the decrease on marks, once in a window of data. Eqs. 1 to 4 are checked by tests of the law."""

import itertools

from shortflow_papers import lab
from shortflow_papers.papers.common import ns_study, series
from shortflow_papers.papers.l2dct.setup import TCP, bottleneck

# Six packets of one window are marked. The link marks and drops no other packets.
MARKED_BURST = ns_study(
    bottleneck(
        "One flow, of which six packets of one window are marked",
        1,
        [{"kind": "long-lived", "flows": 1, "from": 0, "to": 1}],
        duration="40ms",
        switch={"buffer": "unlimited", "mark_above": "unlimited"},
        tcp={**TCP, "receive_window": "40pkt"},
        faults={"mark_data": list(range(1000, 1006))},
        measure={"ports": ["s0->s1"], "sample_every": "10us"},
    ),
    ("l2dct",),
    settings={"transport.initial_alpha": 1},
    seeds=1,
)


def _cuts_of_six(burst: lab.Data) -> lab.Pairs:
    windows = series(burst.results("l2dct")[0], "cwnd_seg")["value"].to_list()
    return {"cuts for six marks of a window": (sum(a < b for b, a in itertools.pairwise(windows)), 1)}


decrease = lab.Figure("l2dct/eq3", "Sec. II-A, Eq. 3", "The decrease by marks", {"burst": MARKED_BURST})
decrease.claim("l2dct/eq3-window-decrease", "Eq. 3", equation=True).says(
    "a mark takes b/2 of the window, once in a window of data: cwnd = cwnd * (1 - b/2)", lab.equal(_cuts_of_six)
)
