"""Fig. 11: two bottlenecks in a row, of which S1 crosses both, S2 the first and S3 the second."""

from shortflow.reproduction import Data, Figure, Finding, Study, all_hold, fact, lower
from shortflow.stats import Estimate

SCHEMES = ("tcp", "dctcp", "l2dct")
PARKING = Study(
    "parking-lot",
    schemes=SCHEMES,
    settings={"duration": "10s", "warmup": "1s", **{f"traffic.{group}.stagger": "1ms" for group in (1, 2, 3)}},
    seeds=3,
    quick_settings={"duration": "1s", "warmup": "300ms"},
    quick_seeds=1,
)

fig11 = Figure("l2dct/fig11b", "Fig. 11(b)", "Goodput of flows over one and two bottlenecks", {"parking": PARKING})


def _goodput(parking: Data, scheme: str) -> dict[str, Estimate]:
    """Of each group's ten flows together."""
    return {group: parking.mean(scheme, f"goodput_{group}_bps") for group in ("s1", "s2", "s3")}


@fig11.claim("fig11b-s1-higher", "S1 gets more with L2DCT than with TCP or DCTCP", "the paired change is above zero")
def higher(parking: Data) -> Finding:
    return all_hold(
        {f"{name} below l2dct": lower(parking.change(name, "l2dct", "goodput_s1_bps")) for name in ("tcp", "dctcp")}
    )


@fig11.claim(
    "fig11b-s1-below-others",
    "S1 gets less than S2 and S3",
    "for TCP and DCTCP; for L2DCT up to 2 % more counts as equal",
)
def below(parking: Data) -> Finding:
    found = {}
    for name in SCHEMES:
        groups = {group: goodput.value for group, goodput in _goodput(parking, name).items()}
        slack = 1.02 if name == "l2dct" else 1.0
        holds = groups["s1"] <= slack * groups["s2"] and groups["s1"] <= slack * groups["s3"]
        found[name] = fact(holds, **{f"{group} Mbps per flow": value / 1e7 for group, value in groups.items()})
    return all_hold(found)


@fig11.claim("fig11b-fairness", "S1 and S3 share more evenly with L2DCT", "the ratio of S1 to S3 is closest to 1")
def fairness(parking: Data) -> Finding:
    evenness = {}
    for name in SCHEMES:
        s1, s3 = (_goodput(parking, name)[group].value for group in ("s1", "s3"))
        evenness[name] = min(s1, s3) / max(s1, s3)
    return fact(evenness["l2dct"] >= max(evenness.values()), **evenness)
