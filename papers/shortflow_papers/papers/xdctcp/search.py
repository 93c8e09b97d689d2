"""Fig. 1 and Sec. V: delay and throughput over the grid of parameters, and the best triplet of parameters."""

from collections.abc import Callable, Mapping, Sequence

from shortflow import Estimate
from shortflow_papers import lab
from shortflow_papers.lab.data import relative
from shortflow_papers.lab.study import Position
from shortflow_papers.papers.common import number_of
from shortflow_papers.papers.xdctcp.setup import (
    BASE,
    BESIDE,
    BEST,
    BY_CLASS,
    COARSE,
    FIXED,
    GRID,
    SEARCH,
    delay,
    star,
    throughput,
)

MIXES = {
    "2-5-1": {"query": "0-1", "short": "2-6", "long": "7"},
    "1-6-1": {"query": "0", "short": "1-6", "long": "7"},
    "3-4-1": {"query": "0-2", "short": "3-6", "long": "7"},
}
"""Numbers of query, short and long senders, other than the 3-3-2 of Table I."""

SEARCHES = {f"mix {name}": star(("xdctcp",), GRID, mix, COARSE) for name, mix in MIXES.items()}
BESIDES = {f"{name}, best": star(("dctcp", "xdctcp"), settings=mix) for name, mix in {"3-3-2": {}, **MIXES}.items()}
"""Studies of DCTCP, and of xDCTCP with the paper's triplet, for each mix of senders."""
FACTORS = star(
    ("xdctcp",), {"transport.ns": (0.3, 0.5), "transport.nl": (0.5, 1.0)}, {"transport.g": 0.09}, quick_duration="1s"
)

LONG = "goodput_long_bps"
DELAY_S = {"xdctcp": 65.955e-6, "dctcp": 70.65e-6}
THROUGHPUT_BPS = {"xdctcp": 1850.26e6, "dctcp": 1849.88e6}
"""Throughputs printed in Sec. V-B."""


def _where(data: lab.Data, position: Position) -> dict[str, str | int | float]:
    return dict(zip(data.keys, position, strict=True))


def _delays(data: lab.Data) -> dict[Position, float]:
    """Mean delay in seconds by triplet."""
    return {position: data.mean("xdctcp", delay, **_where(data, position)).value for position in data.points}


@number_of("share of triplets with less delay than DCTCP whose long flows keep 99.5 % of its throughput")
def good(search: lab.Data, beside: lab.Data) -> float:
    least, long = beside.mean("dctcp", delay).value, beside.mean("dctcp", LONG).value
    kept = {at: search.mean("xdctcp", LONG, **_where(search, at)).value > 0.995 * long for at in search.points}
    return sum(found < least and kept[at] for at, found in _delays(search).items()) / len(kept)


def _near_the_best(data: lab.Data, beside: lab.Data) -> dict[str, Estimate]:
    """Triplet with the smallest delay, and the distances of the paper's triplet from this delay and DCTCP's throughput.

    The paper's goal is the smallest delay that maintains the average throughput. Therefore, only triplets with at least
    99.5 % of DCTCP's throughput count.
    """
    delays, of_dctcp = _delays(data), beside.mean("dctcp", throughput).value
    rates = {at: data.mean("xdctcp", throughput, **_where(data, at)).value for at in data.points}
    kept = {at: found for at, found in delays.items() if rates[at] >= 0.995 * of_dctcp}
    least = min(lab.some(kept, "triplets with DCTCP's throughput"), key=kept.__getitem__)
    g, ns, nl = (Estimate(float(value), None, 1) for value in least)
    ours, theirs = (data.by_seed("xdctcp", delay, **where) for where in (BEST, _where(data, least)))
    rate = data.by_seed("xdctcp", throughput, **BEST)
    return {
        "nl": nl,
        "g": g,
        "ns": ns,
        EXCESS: relative(ours, theirs, "delay", BEST),
        LOSS: relative(rate, beside.by_seed("dctcp", throughput), "throughput", BEST),
    }


EXCESS, LOSS = "delay above the least", "throughput above DCTCP's"
OF_MIXES = {"search": "beside", **dict(zip(SEARCHES, [f"{name}, best" for name in MIXES], strict=True))}
"""Name of the study with DCTCP for each search."""


def _found(studies: Mapping[str, str], *names: str) -> Callable[..., dict[str, Estimate]]:
    """Function that returns the named numbers of `_near_the_best` for each search."""

    def find(*data: lab.Data) -> dict[str, Estimate]:
        searches, besides = data[: len(studies)], data[len(studies) :]
        found = {study: _near_the_best(*both) for study, *both in zip(studies, searches, besides, strict=True)}
        return {f"{study}: {name}": of[name] for study, of in found.items() for name in names}

    return find


def _of_best(text: str, studies: Mapping[str, str], *names: str, unit: str = "") -> lab.Quantity:
    return lab.computed(text, _found(studies, *names), unit, studies=[*studies, *studies.values()])


def _optimum(slack: float, studies: Mapping[str, str]) -> list[lab.ClaimCondition]:
    """Conditions that the triplet with the smallest delay has the paper's nl and is near the paper's triplet."""
    excess = _of_best("delay at the paper's triplet over the least", studies, EXCESS, unit=lab.RELATIVE)
    loss = _of_best("its average throughput over DCTCP's", studies, LOSS, unit=lab.RELATIVE)
    nl = _of_best("nl of the least delay", studies, "nl")
    return [nl.near(1.0, error=0.01), excess.within(high=slack), loss.within(low=-0.005)]


def _triplet(studies: Mapping[str, str]) -> lab.Quantity:
    return _of_best("triplet with the least delay", studies, "g", "ns")


def _corner(metric: lab.MetricOrMeasure) -> lab.Quantity:
    """Ratio of a metric with the paper's factors to that with DCTCP's factors."""
    at = lab.level("xdctcp", metric)
    corners = (at.at(transport__ns=0.3, transport__nl=1.0), at.at(transport__ns=0.5, transport__nl=0.5))
    return lab.ratio(*corners)


def _cloud(search: lab.Data, beside: lab.Data) -> Sequence[lab.Drawing]:
    def point(data: lab.Data, scheme: str, **where: float | str) -> tuple[float, float]:
        found = (data.mean(scheme, each, **where).value for each in (delay, throughput))
        return next(found) * 1e6, next(found) / 1e6

    lines = []
    for nl in search.values("transport.nl"):
        points = [point(search, "xdctcp", **_where(search, at)) for at in search.points if at[2] == nl]
        name = "xdctcp" if nl == BEST["transport__nl"] else f"xdctcp, nl = {nl}"
        lines.append(lab.Line(name, [x for x, _ in points], [y for _, y in points], apart=True))
    x, y = point(beside, "dctcp")
    lines.append(lab.Line("dctcp", [x], [y]))
    lines += [
        lab.Line(name, [DELAY_S[name] * 1e6], [THROUGHPUT_BPS[name] / 1e6], printed=True)
        for name in ("xdctcp", "dctcp")
    ]
    return [lab.Drawing("Every triplet; xdctcp with nl = 1", "delay (us)", "throughput (Mbps)", lines)]


fig1 = lab.Figure("xdctcp/fig1", "Fig. 1", "Throughput and delay of all triplets", {"search": SEARCH, "beside": BESIDE})
fig1.claim("xdctcp/fig1-tradeoff-cloud").says(
    "many triplets lower the delay and cost no throughput", good.within(low=0.25)
)
fig1.draw(_cloud)
ALONE = {"search": OF_MIXES["search"]}
best = lab.Figure(
    "xdctcp/sec5",
    "Sec. V-B",
    "The best triplet",
    {"fixed": FIXED, "base": BASE, "search": SEARCH, "beside": BESIDE},
)
best.claim("xdctcp/sec5-optimum").says(
    "the least delay without loss of throughput is at g = 0.09, ns = 0.3, nl = 1",
    *_optimum(0.02, ALONE),
    shows=[_triplet(ALONE)],
)
best.claim("xdctcp/sec5-delay").says(
    "queries and short flows wait 65.955 us, with DCTCP 70.65 us",
    *(lab.level(name, delay, "fixed").near(printed) for name, printed in DELAY_S.items()),
    lab.change("xdctcp", "dctcp", delay, "fixed").below(),
    shows=[
        *(lab.level(("dctcp", "xdctcp"), each, "fixed") for each in BY_CLASS.values()),
        lab.level(("dctcp", "xdctcp"), delay, "base"),
    ],
)
best.claim("xdctcp/sec5-delay-gain").says(
    "the delay falls by 6.646 %",
    lab.change("xdctcp", "dctcp", delay, "fixed").near(-0.06646),
    shows=[
        *(lab.change("xdctcp", "dctcp", each, "fixed") for each in BY_CLASS.values()),
        *(lab.change("xdctcp", "dctcp", each, "base") for each in (delay, *BY_CLASS.values())),
    ],
)
best.claim("xdctcp/sec5-throughput").says(
    "throughput stays the same, 1850.26 Mbps against 1849.88",
    lab.change("xdctcp", "dctcp", throughput, "base").within(-0.01, 0.01),
    lab.change("xdctcp", "dctcp", LONG, "base").within(-0.01, 0.01),
    shows=[lab.level(("dctcp", "xdctcp"), throughput, "base")],
    no_harm=True,
)
mixes = lab.Figure(
    "xdctcp/sec5c",
    "Sec. V-C",
    "The best triplet for other mixes of senders",
    {"search": SEARCH, "beside": BESIDE, **SEARCHES, **BESIDES},
)
mixes.claim("xdctcp/sec5c-stability-across-mixes", "Sec. V-C, VII").says(
    "other mixes of senders have about the same best triplet",
    *_optimum(0.03, OF_MIXES),
    shows=[
        _triplet(OF_MIXES),
        *(lab.change("xdctcp", "dctcp", each, study) for study in BESIDES for each in (delay, *BY_CLASS.values())),
    ],
    because="the largest nl costs a single long flow beside many short senders some of its throughput",
)
faster = lab.Figure("xdctcp/sec7-faster", "Sec. VII", "Completion of short flows and queries", BESIDES)
for name in ("short", "query"):
    faster.claim(f"xdctcp/sec7-{name}-faster").says(
        f"{'short flows' if name == 'short' else 'queries'} complete faster",
        *(lab.change("xdctcp", "dctcp", f"p50_{name}_s", study).called(study).below() for study in BESIDES),
        shows=[lab.change("xdctcp", "dctcp", f"afct_{name}_s", next(iter(BESIDES)))],
    )
factors = lab.Figure("xdctcp/sec7", "Sec. VII", "Which flows to cut harder", {"factors": FACTORS})
factors.claim("xdctcp/sec7-short-not-long").says(
    "cutting long flows harder than short ones lowers the delay at the same throughput",
    _corner(delay).within(high=1.0),
    _corner(LONG).within(0.99, 1.01),
)
