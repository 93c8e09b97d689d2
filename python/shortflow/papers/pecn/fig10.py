"""Fig. 10 and Sec. 6: most simultaneous senders without a missed deadline; pMark over all figures."""

from collections.abc import Mapping, Sequence
from itertools import takewhile

from shortflow import lab
from shortflow.errors import TooLittle
from shortflow.metrics.stats import Estimate, estimate, paired_difference
from shortflow.papers.pecn.bursts import BESIDE, BURSTS, BURSTS_ACROSS, QUERIES, SPARED
from shortflow.papers.pecn.setup import AFCT, BURST, NEWRENO, SCHEMES

PRINTED = {"pecn": 54.0, "pecn-pmark": 57.0}
"""Senders with deadlines of U[20, 30] ms."""
GRID = {"flows": range(20, 101, 2)}
TIGHT = lab.Study(BURST, SCHEMES, GRID, NEWRENO, seeds=10)
LOOSE = lab.Study(BURST, SCHEMES, GRID, {**NEWRENO, "soonest": "20ms", "latest": "30ms"}, seeds=10)


def limits(data: lab.Data, scheme: str) -> list[float]:
    """Largest number of senders without a missed deadline, for each seed."""
    missed = {int(n): data.by_seed(scheme, "deadline_miss", flows=n) for n in data.values("flows")}
    seeds = lab.some(next(iter(missed.values())), "deadlines")
    return [_last_without({n: of_seed[seed] for n, of_seed in missed.items()}) for seed in seeds]


def _last_without(missed: Mapping[int, float]) -> float:
    """Last number of senders before the first miss; 0 if the first misses."""
    return float(max(takewhile(lambda n: missed[n] == 0, missed), default=0))


def _more(data: lab.Data, scheme: str, baseline: str) -> Estimate:
    """Paired relative difference of a scheme's limit from a baseline's."""
    found = paired_difference(limits(data, scheme), limits(data, baseline))
    if found is None:
        raise TooLittle(f"{baseline}: supports no sender, so nothing can be relative to it")
    return found


def _pairs(study: str, *pairs: tuple[str, str]) -> lab.Quantity:
    """Relative difference in senders between pairs of schemes."""

    def find(data: lab.Data) -> dict[str, Estimate]:
        return {f"{one} over {other}": _more(data, one, other) for one, other in pairs}

    return lab.computed("senders", find, lab.RELATIVE, 0.0, studies=[study])


def _of(scheme: str, study: str = "loose") -> lab.Quantity:
    return lab.computed(f"senders of {scheme}", lambda data: estimate(limits(data, scheme)), studies=[study])


def _supported(tight: lab.Data, loose: lab.Data) -> Sequence[lab.Drawing]:
    earliest = {10.0: tight, 20.0: loose}
    lines = []
    for scheme in SCHEMES:
        found = [estimate(limits(data, scheme)) for data in earliest.values()]
        lines.append(lab.Line(scheme, list(earliest), [each.value for each in found], [each.ci95 for each in found]))
    lines += [lab.Line(name, [20.0], [senders], printed=True) for name, senders in PRINTED.items()]
    title = "Senders without a missed deadline, of deadlines over 10 ms"
    return [lab.Drawing(title, "earliest deadline (ms)", "senders", lines)]


fig10 = lab.Figure(
    "pecn/fig10", "Fig. 10", "Senders without a missed deadline", {"tight": TIGHT, "loose": LOOSE}
).decides(
    lab.Claim("pecn/fig10-tight-deadlines").says(
        "with deadlines U[10, 20] ms D2TCP, pECN and pMark support equally many senders, TCP the fewest",
        _pairs("tight", ("pecn", "d2tcp"), ("pecn-pmark", "d2tcp"), ("pecn-pmark", "pecn")).alike(0.2),
        _pairs("tight", *((name, "tcp") for name in SCHEMES[1:])).at_least(0.0),
        shows=[_of(name, "tight") for name in SCHEMES],
        no_harm=True,
    ),
    lab.Claim("pecn/fig10-loose-deadlines-pecn").says(
        "with deadlines U[20, 30] ms pECN supports 54 senders, pMark 57",
        *(_of(name).near(senders) for name, senders in PRINTED.items()),
        _pairs("loose", ("pecn-pmark", "pecn")).at_least(-0.04),
        because="the limit hangs on the window that a flow starts with",
    ),
    lab.Claim("pecn/fig10-loose-deadlines-order").says(
        "with deadlines U[20, 30] ms DCTCP and D2TCP support fewer senders than pECN, and TCP the fewest",
        _pairs("loose", *(("tcp", name) for name in ("dctcp", "d2tcp"))).below(),
        _pairs("loose", *((name, "pecn") for name in ("dctcp", "d2tcp"))).below(),
        _pairs("loose", ("pecn-pmark", "pecn")).at_least(-0.04),
    ),
    draws=[_supported],
)
_FIGURES = {"fig6": BURSTS, "fig8": QUERIES, "fig9": BURSTS_ACROSS, "fig11": BESIDE}


pmark = lab.Figure("pecn/pmark", "Sec. 6", "pMark against pECN", {**_FIGURES, "tight": TIGHT, "loose": LOOSE}).decides(
    lab.Claim("pecn/sec6-pmark-slight").says(
        "on the whole pECN equals pMark, or is slightly worse",
        *(
            lab.change("pecn-pmark", "pecn", AFCT, name).over("flows").called(f"AFCT, {name}").alike(0.05)
            for name in _FIGURES
        ),
        *(_pairs(study, ("pecn-pmark", "pecn")).called(f"senders, {study}").alike(0.2) for study in ("tight", "loose")),
        because=SPARED,
        no_harm=True,
    )
)
