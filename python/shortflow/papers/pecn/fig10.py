"""Fig. 10: how many senders can answer at once before one misses its deadline."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from statistics import median

from shortflow.errors import ConfigError
from shortflow.lab import Data, Drawing, Figure, Finding, Line, Study, all_hold, at_least, lower, within
from shortflow.metrics.stats import Estimate, estimate, paired_difference
from shortflow.papers.pecn.setup import BURST, NEWRENO, SCHEMES

GRID = tuple(range(20, 101, 2))
QUICK_GRID = tuple(range(20, 101, 4))

TIGHT = Study(BURST, SCHEMES, over={"flows": GRID}, settings=NEWRENO, quick={"flows": QUICK_GRID}, seeds=10)
LOOSE = Study(
    BURST,
    SCHEMES,
    over={"flows": GRID},
    settings={**NEWRENO, "soonest": "20ms", "latest": "30ms"},
    quick={"flows": QUICK_GRID},
    seeds=10,
)

fig10 = Figure("pecn/fig10", "Fig. 10", "Senders without a missed deadline", {"tight": TIGHT, "loose": LOOSE})


def limits(data: Data, scheme: str) -> list[float]:
    """For each seed the largest number of senders up to which none misses its deadline."""
    missed = {int(n): data.at(flows=n).values(scheme, "deadline_miss") for n in data.values("flows")}
    seeds = next(iter(missed.values()))
    return [_last_without({n: of_seed[seed] for n, of_seed in missed.items()}) for seed in seeds]


def _last_without(missed: Mapping[int, float]) -> float:
    """The last number of senders before the first miss; 0 if the first number misses already."""
    return float(max(takewhile(lambda n: missed[n] == 0, missed), default=0))


def limit(data: Data, scheme: str) -> Estimate:
    """The same, over the seeds."""
    return estimate(limits(data, scheme))


def more(data: Data, scheme: str, baseline: str) -> Estimate:
    """How far a scheme's limit lies above a baseline's, paired over the seeds."""
    found = paired_difference(limits(data, scheme), limits(data, baseline))
    if found is None:
        raise ConfigError(f"{baseline}: supports no sender, so nothing can be relative to it")
    return found


@fig10.drawing
def supported(tight: Data, loose: Data) -> Sequence[Drawing]:
    earliest = {10.0: tight, 20.0: loose}
    lines = []
    for scheme in SCHEMES:
        found = [limit(data, scheme) for data in earliest.values()]
        lines.append(Line(scheme, list(earliest), [each.value for each in found], [each.ci95 for each in found]))
    title = "Senders without a missed deadline, of deadlines over 10 ms"
    return [Drawing(title, "earliest deadline (ms)", "senders", lines)]


@fig10.claim(
    "fig10-tight-deadlines",
    "with deadlines U[10, 20] ms D2TCP, pECN and pMark support equally many senders, TCP the fewest",
    "medians of the three within 2 senders; none below TCP's",
    because="pECN supports one step of the quick grid more, 52 senders beside 48; with --choice jitter=0 or "
    "jitter=1ms all are equal",
)
def tight_deadlines(tight: Data) -> Finding:
    found = {scheme: float(median(limits(tight, scheme))) for scheme in SCHEMES}
    three = [found[scheme] for scheme in ("d2tcp", "pecn", "pecn-pmark")]
    others = {f"{name} over tcp": at_least(found[name] - found["tcp"], 0.0) for name in SCHEMES[1:]}
    return all_hold({"spread of the three": within(max(three) - min(three), 0, 2, **found), **others})


@fig10.claim(
    "fig10-loose-deadlines-pecn",
    "with deadlines U[20, 30] ms pECN supports 54 senders, pMark 57",
    "medians within 15 senders of these; pMark's at most 2 below pECN's",
    because=(
        "the limit hangs on the window that a flow starts with: pECN supports 88 senders with 2 segments and 20 with "
        "10; the paper's 54 lie between"
    ),
)
def loose_deadlines(loose: Data) -> Finding:
    pecn, pmark = (float(median(limits(loose, scheme))) for scheme in ("pecn", "pecn-pmark"))
    return all_hold(
        {
            "pecn": within(pecn, 54 - 15, 54 + 15),
            "pecn-pmark": within(pmark, 57 - 15, 57 + 15),
            "pecn-pmark over pecn": at_least(pmark - pecn, -2),
        }
    )


@fig10.claim(
    "fig10-loose-deadlines-order",
    "with deadlines U[20, 30] ms DCTCP and D2TCP support fewer senders than pECN, and TCP the fewest",
    "paired differences, with their 95 % intervals: TCP < DCTCP, D2TCP < pECN; mean of pMark not below pECN's",
    because="the means have this order, the intervals over three seeds do not; with --choice initial-alpha=1, "
    "handshake=on or jitter=0 they do",
)
def loose_order(loose: Data) -> Finding:
    middle = ("dctcp", "d2tcp")
    below = {f"tcp over {name}": lower(more(loose, "tcp", name)) for name in middle}
    above = {f"{name} over pecn": lower(more(loose, name, "pecn")) for name in middle}
    means = {name: limit(loose, name).value for name in SCHEMES}
    return all_hold(
        {**below, **above, "pmark over pecn": at_least(more(loose, "pecn-pmark", "pecn").value, 0, **means)}
    )
