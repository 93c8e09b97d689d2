"""Fig. 13 and Sec. VI: weights by bytes sent, by bytes left, and no weights."""

from shortflow import lab
from shortflow.papers.l2dct.setup import AFCT, LOAD, LONG_FLOWS
from shortflow.papers.traffic import fairness

RULES = ("l2dct-ps", "l2dct-srpt", "l2dct")
WEIGHTS = lab.Study(
    "l2dct-benchmark",
    schemes=("dctcp", *RULES),
    over={"load": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)},
    quick={"load": (0.2, 0.4, 0.6)},
    quick_settings={"duration": "1s"},
)
UNIT = lab.Study(
    LONG_FLOWS,
    schemes=("dctcp", "l2dct-ps"),
    over={"flows": (2, 10)},
    settings={"duration": "5s", "warmup": "1s", "traffic.1.stagger": "1ms"},
    quick_settings={"duration": "2s", "warmup": "500ms"},
    seeds=1,
)


def _identical(unit: lab.Data) -> lab.Finding:
    found = {}
    for number in unit.values("flows"):
        (dctcp,), (ps,) = (unit.results(name, flows=number) for name in ("dctcp", "l2dct-ps"))
        lab.some(dctcp.samples, "samples")
        equal = ps.samples.drop("scheme", "run").equals(dctcp.samples.drop("scheme", "run"))
        found[f"{number} flows"] = lab.fact(equal, equal=str(equal))
    return lab.all_hold(found)


fig13 = lab.Figure("l2dct/fig13", "Fig. 13", "Mean FCT with three rules for the weight", {"weights": WEIGHTS}).decides(
    lab.Claim("l2dct/fig13-las-near-srpt").says(
        "weights by bytes sent do almost as well as by bytes left",
        lab.change("l2dct", "l2dct-srpt", AFCT).over("load").alike(0.10),
        no_harm=True,
    ),
    lab.Claim("l2dct/fig13-ps-larger").says(
        "equal weights give a much larger mean FCT", lab.change("l2dct-ps", "l2dct", AFCT).over("load").at_least(0.20)
    ),
    draws=[lab.Curves("load", AFCT, LOAD, "Mean completion time of short flows", schemes=RULES)],
)
unit = lab.Figure("l2dct/sec6-unit", "Sec. VI", "A weight of one", {"unit": UNIT}).decides(
    lab.Claim("l2dct/sec6-unit-weight-is-fair", equation=True).says(
        "with a weight of one, flows share evenly and behave as with DCTCP",
        lab.decided("every sampled window, alpha and queue equal to DCTCP's", _identical),
        lab.level("l2dct-ps", fairness).over("flows").called("Jain's index").at_least(0.98),
    )
)
