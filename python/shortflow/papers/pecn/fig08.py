"""Fig. 8: bursts of queries, U[1.6, 2] KB, within a rack and (Sec. 5.1, no figure) across racks."""

from collections.abc import Sequence

from shortflow.lab import Data, Drawing, Figure, Finding, Study, all_hold, curves
from shortflow.papers.pecn.setup import (
    ACROSS,
    AFCT,
    BASELINES,
    BURST,
    COUNTS,
    MANY,
    QUICK_COUNTS,
    SCHEMES,
    TINY,
    alike,
    best_everywhere,
)

QUERIES = Study(BURST, SCHEMES, over={"flows": COUNTS}, settings=TINY, quick={"flows": QUICK_COUNTS}, seeds=20)
QUERIES_ACROSS = Study(
    BURST,
    SCHEMES,
    over={"flows": COUNTS},
    settings={**TINY, "receiver": ACROSS},
    quick={"flows": QUICK_COUNTS},
    seeds=20,
)
INTERVAL = "with the whole 95 % interval of the paired difference"

fig8 = Figure("pecn/fig8", "Fig. 8", "Mean FCT of a burst in a rack, U[1.6, 2] KB", {"queries": QUERIES})
fig8_across = Figure(
    "pecn/fig8-across", "Sec. 5.1", "Mean FCT of a burst across racks, U[1.6, 2] KB", {"queries": QUERIES_ACROSS}
)


@fig8.drawing
@fig8_across.drawing
def means(queries: Data) -> Sequence[Drawing]:
    return [curves(queries, "flows", AFCT, x_label="connections", title="Mean completion time of queries")]


@fig8.claim(
    "fig8-tiny-flows-baselines-equal",
    "with queries TCP, DCTCP and D2TCP are alike",
    f"TCP and D2TCP within 5 % of DCTCP at every number of connections, {INTERVAL}",
)
def baselines_equal(queries: Data) -> Finding:
    return alike(queries, ["tcp", "d2tcp"], "dctcp")


@fig8.claim(
    "fig8-tiny-flows-pecn-better",
    "with queries pECN and pMark have shorter mean FCTs than the others",
    f"below TCP, DCTCP and D2TCP from 40 connections on, {INTERVAL}",
)
def pecn_better(queries: Data) -> Finding:
    schemes = ("pecn", "pecn-pmark")
    return all_hold({scheme: best_everywhere(queries, scheme, BASELINES, least=MANY) for scheme in schemes})


@fig8_across.claim(
    "fig9-interrack-tiny",
    "across racks queries give the same picture",
    "both statements on Fig. 8 hold across racks, with its tolerances",
)
def same_across(queries: Data) -> Finding:
    return all_hold({"baselines": baselines_equal(queries), "pecn": pecn_better(queries)})
