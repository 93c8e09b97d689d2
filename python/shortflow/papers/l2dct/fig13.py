"""Fig. 13 and Sec. VI: weights by bytes sent, by bytes left, and none."""

from collections.abc import Sequence

from shortflow._core import jain_index
from shortflow.lab import Data, Drawing, Figure, Finding, Study, all_hold, at_least, curves, fact, within
from shortflow.papers.l2dct.setup import LONG_FLOWS

WEIGHTS = Study(
    "l2dct-benchmark",
    schemes=("l2dct-ps", "l2dct-srpt", "l2dct"),
    over={"load": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)},
    quick={"load": (0.2, 0.4, 0.6)},
    quick_settings={"duration": "1s"},
)
UNIT = Study(
    LONG_FLOWS,
    schemes=("dctcp", "l2dct-ps"),
    over={"flows": (2, 10)},
    settings={"duration": "5s", "warmup": "1s", "traffic.1.stagger": "1ms"},
    quick_settings={"duration": "2s", "warmup": "500ms"},
    seeds=1,
    quick_seeds=1,
)

fig13 = Figure("l2dct/fig13", "Fig. 13", "Mean FCT with three rules for the weight", {"weights": WEIGHTS})
unit = Figure("l2dct/sec6-unit", "Sec. VI", "A weight of one", {"unit": UNIT})


@fig13.drawing
def rules(weights: Data) -> Sequence[Drawing]:
    label, title = "load of short flows (share of the link)", "Mean completion time of short flows"
    return [curves(weights, "load", "afct_short_s", x_label=label, title=title)]


@fig13.claim(
    "fig13-las-near-srpt", "weights by bytes sent do almost as well as by bytes left", "within 10 % of each other"
)
def las_near_srpt(weights: Data) -> Finding:
    changes = [weights.change("l2dct", "l2dct-srpt", "afct_short_s", load=load) for load in weights.values("load")]
    return within(max(changes, key=lambda change: abs(change.value)), -0.10, 0.10)


@fig13.claim("fig13-ps-larger", "equal weights give a much larger mean FCT", "at least 20 % larger at every load")
def ps_larger(weights: Data) -> Finding:
    changes = [weights.change("l2dct-ps", "l2dct", "afct_short_s", load=load) for load in weights.values("load")]
    return at_least(min(changes, key=lambda change: change.value), 0.20)


@unit.claim(
    "sec6-unit-weight-is-fair",
    "with a weight of one, flows share evenly and behave as with DCTCP",
    "every sampled window, alpha and queue equal to DCTCP's; Jain's index above 0.98",
)
def unit_weight(unit: Data) -> Finding:
    found = {}
    for number in unit.values("flows"):
        (dctcp,), (ps,) = (unit.results(name, flows=number) for name in ("dctcp", "l2dct-ps"))
        equal = ps.samples.drop("scheme", "run").equals(dctcp.samples.drop("scheme", "run"))
        found[f"{number} flows"] = fact(equal, equal=str(equal))
        index = jain_index([float(done) for done in ps.flows["delivered_bytes"]])
        found[f"Jain's index of {number}"] = at_least(index, 0.98)
    return all_hold(found)
