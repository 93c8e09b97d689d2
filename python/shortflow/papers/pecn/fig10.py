"""Fig. 10 and Sec. 6: how many senders can answer at once before one misses its deadline; pMark over all figures."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from statistics import median

from shortflow import lab
from shortflow.errors import ConfigError
from shortflow.metrics.stats import Estimate, estimate, paired_difference
from shortflow.papers.pecn.bursts import BESIDE, BURSTS, BURSTS_ACROSS, QUERIES, SPARED
from shortflow.papers.pecn.setup import AFCT, BURST, NEWRENO, SCHEMES

GRID, QUICK = {"flows": range(20, 101, 2)}, {"flows": range(20, 101, 4)}
TIGHT = lab.Study(BURST, SCHEMES, GRID, NEWRENO, quick=QUICK, seeds=10)
LOOSE = lab.Study(BURST, SCHEMES, GRID, {**NEWRENO, "soonest": "20ms", "latest": "30ms"}, quick=QUICK, seeds=10)


def limits(data: lab.Data, scheme: str) -> list[float]:
    """For each seed the largest number of senders up to which none misses its deadline."""
    missed = {int(n): data.by_seed(scheme, "deadline_miss", flows=n) for n in data.values("flows")}
    seeds = next(iter(missed.values()))
    return [_last_without({n: of_seed[seed] for n, of_seed in missed.items()}) for seed in seeds]


def _last_without(missed: Mapping[int, float]) -> float:
    """The last number of senders before the first miss; 0 if the first number misses already."""
    return float(max(takewhile(lambda n: missed[n] == 0, missed), default=0))


def _medians(data: lab.Data, schemes: Sequence[str] = SCHEMES) -> dict[str, float]:
    return {scheme: float(median(limits(data, scheme))) for scheme in schemes}


def _more(data: lab.Data, scheme: str, baseline: str) -> Estimate:
    """How far a scheme's limit lies above a baseline's, paired over the seeds."""
    found = paired_difference(limits(data, scheme), limits(data, baseline))
    if found is None:
        raise ConfigError(f"{baseline}: supports no sender, so nothing can be relative to it")
    return found


def _spread(tight: lab.Data) -> float:
    three = _medians(tight, ("d2tcp", "pecn", "pecn-pmark")).values()
    return max(three) - min(three)


def _over_tcp(tight: lab.Data) -> dict[str, float]:
    found = _medians(tight)
    return {name: found[name] - found["tcp"] for name in SCHEMES[1:]}


def _fewer(loose: lab.Data) -> dict[str, Estimate]:
    tcp = {f"tcp over {name}": _more(loose, "tcp", name) for name in ("dctcp", "d2tcp")}
    return tcp | {f"{name} over pecn": _more(loose, name, "pecn") for name in ("dctcp", "d2tcp")}


def _of(scheme: str) -> lab.Quantity:
    return lab.computed(f"senders of {scheme}, median over the seeds", lambda loose: _medians(loose, [scheme])[scheme])


def _supported(tight: lab.Data, loose: lab.Data) -> Sequence[lab.Drawing]:
    earliest = {10.0: tight, 20.0: loose}
    lines = []
    for scheme in SCHEMES:
        found = [estimate(limits(data, scheme)) for data in earliest.values()]
        lines.append(lab.Line(scheme, list(earliest), [each.value for each in found], [each.ci95 for each in found]))
    title = "Senders without a missed deadline, of deadlines over 10 ms"
    return [lab.Drawing(title, "earliest deadline (ms)", "senders", lines)]


fig10 = lab.Figure(
    "pecn/fig10", "Fig. 10", "Senders without a missed deadline", {"tight": TIGHT, "loose": LOOSE}
).decides(
    lab.paper("pecn/fig10-tight-deadlines", "ordering", "pECN = pECN+pMark = D2TCP >= DCTCP >= TCP").says(
        "with deadlines U[10, 20] ms D2TCP, pECN and pMark support equally many senders, TCP the fewest",
        lab.computed("spread of the three medians", _spread).at_most(2),
        lab.computed("senders more than with tcp, in the median", _over_tcp).at_least(0.0),
        shows=[lab.computed("senders", _medians, studies=["tight"])],
    ),
    lab.paper("pecn/fig10-loose-deadlines-pecn", "count", {"pecn": 54, "pecn_pmark": 57}).says(
        "with deadlines U[20, 30] ms pECN supports 54 senders, pMark 57",
        _of("pecn").near(54),
        _of("pecn-pmark").near(57),
        lab.difference(_of("pecn-pmark"), _of("pecn")).at_least(-2),
        because="the limit hangs on the window that a flow starts with",
    ),
    lab.paper("pecn/fig10-loose-deadlines-order", "ordering", "TCP < DCTCP, D2TCP < pECN <= pECN+pMark").says(
        "with deadlines U[20, 30] ms DCTCP and D2TCP support fewer senders than pECN, and TCP the fewest",
        lab.computed("senders", _fewer, lab.RELATIVE, 0.0).below(),
        lab.computed(
            "mean senders of pMark over pECN's", lambda loose: _more(loose, "pecn-pmark", "pecn").value
        ).at_least(0.0),
    ),
    draws=[_supported],
)
_FIGURES = {"fig6": BURSTS, "fig8": QUERIES, "fig9": BURSTS_ACROSS, "fig11": BESIDE}


def _gap(tight: lab.Data, loose: lab.Data) -> dict[str, float]:
    found = {"tight": _medians(tight), "loose": _medians(loose)}
    return {name: of["pecn-pmark"] - of["pecn"] for name, of in found.items()}


pmark = lab.Figure("pecn/pmark", "Sec. 6", "pMark against pECN", {**_FIGURES, "tight": TIGHT, "loose": LOOSE}).decides(
    lab.paper("pecn/sec6-pmark-slight", "ordering", "pMark >= pECN by a small margin at most").says(
        "on the whole pECN equals pMark, or is slightly worse",
        *(
            lab.change("pecn-pmark", "pecn", AFCT, name).over("flows").called(f"AFCT, {name}").alike(0.05)
            for name in _FIGURES
        ),
        lab.computed("senders of pMark more than pECN's, medians of Fig. 10", _gap).within(-4, 4),
        because=SPARED,
    )
)
