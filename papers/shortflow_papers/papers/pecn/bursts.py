"""Figs. 6 to 11: bursts of 10 to 100 connections, in a rack and across racks, with and without long flows; Sec. 6."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

import polars as pl

from shortflow import Estimate
from shortflow.api.errors import TooLittle
from shortflow.api.judge import estimate
from shortflow.api.runs import Result, completion
from shortflow.api.scenarios import Settings
from shortflow_papers import lab
from shortflow_papers.papers.common import ns_study, number_of, paired
from shortflow_papers.papers.pecn.setup import (
    ACROSS,
    AFCT,
    BASELINES,
    BURST,
    BURST_AND_BACKGROUND,
    COUNTS,
    DCTCP_CODE,
    MANY,
    QUICK_COUNTS,
    SCHEMES,
    TCP_WORST,
    TINY,
    afct,
    best,
    fct_over,
)


def _bursts(settings: Settings) -> lab.Study:
    return ns_study(BURST, SCHEMES, {"flows": COUNTS}, settings, seeds=20, quick={"flows": QUICK_COUNTS})


def _beside(settings: Settings) -> lab.Study:
    """Study of bursts that meet two backlogged flows."""
    quick = {"flows": QUICK_COUNTS, "background_start": "1.4s"}
    return ns_study(BURST_AND_BACKGROUND, SCHEMES, {"flows": COUNTS}, settings, quick=quick)


BURSTS, BURSTS_ACROSS = _bursts(DCTCP_CODE), _bursts({**DCTCP_CODE, "receiver": ACROSS})
QUERIES, QUERIES_ACROSS = _bursts(TINY), _bursts({**TINY, "receiver": ACROSS})
BESIDE, BESIDE_ACROSS = _beside(DCTCP_CODE), _beside({**DCTCP_CODE, "receiver": ACROSS})
DRAINED = replace(BESIDE, schemes=("tcp",), settings={**DCTCP_CODE, "drain": "60s"})
"""TCP with the long flows, for long enough that even flows with several backed-off timeouts finish."""
SPARED = "pMark spares small flows the marks that end their slow start under pECN"


def _curves(title: str, metric: str = AFCT, *, log_y: bool = True) -> lab.Curves:
    return lab.Curves("flows", metric, "connections", title, log_y=log_y)


@lab.per_run("flows that finish before a smaller one")
def overtakers(result: Result) -> float:
    """Number of flows that finish before at least one smaller flow. Unfinished smaller flows count, too."""
    flows = completion(result.flows, result.meta)
    if flows["censored"].all():
        raise TooLittle("no flow finished")
    order = flows.with_columns(pl.col("finish_s").fill_null(math.inf)).sort("size_bytes", "finish_s")
    last_smaller = pl.col("finish_s").cum_max().shift(1)
    return float(order.select((pl.col("finish_s") < last_smaller).sum()).item())


@lab.per_run("mean FCT of flows without a timeout", "s")
def untimed(result: Result) -> float:
    """Mean FCT in seconds of finished flows without a retransmission timeout."""
    kept = result.flows.filter((pl.col("timeouts") == 0) & pl.col("fct_s").is_not_null())
    return float(lab.some(kept, "flows without a timeout")["fct_s"].to_numpy().mean())


def _out_of_order(scheme: str) -> lab.Quantity:
    return lab.level(scheme, overtakers).at(flows=80)


def _over_size(bursts: lab.Data) -> Sequence[lab.Drawing]:
    lines = [fct_over(bursts.results(scheme, flows=80)[0], "size_bytes", 1e-3, scheme) for scheme in ("dctcp", "pecn")]
    return [lab.Drawing("Completion time over size, one run", "size (KB)", "FCT (ms)", lines)]


fig6 = lab.Figure("pecn/fig6", "Fig. 6", "Mean FCT of a burst in a rack, U[2, 50] KB", {"bursts": BURSTS})
fig6.claim("pecn/fig6-tcp-worst").says(
    "TCP has the longest mean FCT, because of timeouts",
    TCP_WORST,
    because="with most connections DCTCP and D2TCP lose packets of the burst too and wait for the timer",
)
fig6.claim("pecn/fig6-d2tcp-equals-dctcp").says(
    "D2TCP equals DCTCP except at very many connections",
    afct("d2tcp", "dctcp").at(flows=lab.Every(high=70)).alike(0.05),
)
fig6.claim("pecn/fig6-pecn-gain-80", "Fig. 6, Sec. 5.1").says(
    "at 80 connections pECN's mean FCT is 24.5 % below DCTCP's",
    afct("pecn", "dctcp").at(flows=80).near(-0.245),
    shows=[lab.change("pecn", "dctcp", untimed).at(flows=80)],
)
fig6.claim("pecn/fig6-pecn-best").says("pECN has the shortest mean FCT at every number of connections", best("pecn"))
fig6.claim("pecn/fig6-pmark-no-effect").says(
    "pMark changes next to nothing", afct("pecn-pmark", "pecn").alike(0.05), because=SPARED, no_harm=True
)
fig6.draw(_curves("Mean completion time"))
fig7 = lab.Figure("pecn/fig7", "Fig. 7", "FCT over size, 80 connections", {"bursts": BURSTS})
fig7.claim("pecn/fig7-pecn-monotone").says(
    "under pECN one flow of 80 is out of the order of sizes",
    _out_of_order("pecn").near(1, limit="at most"),
    because="small flows may slow down when their arriving packets are marked",
)
fig7.claim("pecn/fig7-dctcp-inversions").says(
    "under DCTCP about 11 flows of 80 finish before a smaller one",
    _out_of_order("dctcp").near(11),
    lab.difference(_out_of_order("dctcp"), _out_of_order("pecn")).called("more than with pecn").within(low=1),
)
fig7.draw(_over_size)
_ALIKE = afct(("tcp", "d2tcp"), "dctcp").alike(0.05)
_BETTER = (best("pecn"), best("pecn-pmark"))
_QUERIES = _curves("Mean completion time of queries", log_y=False)
fig8 = lab.Figure("pecn/fig8", "Fig. 8", "Mean FCT of a burst in a rack, U[1.6, 2] KB", {"queries": QUERIES})
fig8.claim("pecn/fig8-tiny-flows-baselines-equal").says("with queries TCP, DCTCP and D2TCP are alike", _ALIKE)
fig8.claim("pecn/fig8-tiny-flows-pecn-better").says(
    "with queries pECN and pMark have shorter mean FCTs than the others", *_BETTER
)
fig8.draw(_QUERIES)
fig8_across = lab.Figure(
    "pecn/fig8-across", "Sec. 5.1", "Mean FCT of a burst across racks, U[1.6, 2] KB", {"queries": QUERIES_ACROSS}
)
fig8_across.claim("pecn/fig9-interrack-tiny").says("across racks queries give the same picture", _ALIKE, *_BETTER)
fig8_across.draw(_QUERIES)
fig9 = lab.Figure(
    "pecn/fig9", "Fig. 9", "Mean FCT of a burst across racks, U[2, 50] KB", {"bursts": BURSTS_ACROSS, "in_rack": BURSTS}
)
fig9.claim("pecn/fig9-interrack-order").says(
    "across racks the order is the same: pECN best, TCP worst", best("pecn"), TCP_WORST
)
fig9.claim("pecn/fig9-interrack-slightly-slower").says(
    "across racks all mean FCTs are a little longer",
    lab.effect((*BASELINES, "pecn"), AFCT, "bursts", "in_rack").at(flows=lab.Every(MANY)).within(0.0, 0.30),
    because="the longer round trip may spread the burst and save timeouts, which decide the mean where there are any",
)
fig9.draw(_curves("Mean completion time across racks"))
_BESIDE = _curves("Mean completion time beside two long flows")
_ORDER = (best("pecn", ("dctcp", "d2tcp", "tcp")), best("dctcp", "tcp"), best("d2tcp", "tcp"))


@number_of("how much more they lengthen TCP's")
def less_than_tcp(beside: lab.Data, alone: lab.Data) -> dict[str, float]:
    """Relative increase of TCP's mean FCT by long flows, minus that of each other scheme."""
    data = {"beside": beside, "alone": alone}
    found = lab.effect(SCHEMES, AFCT, "beside", "alone").at(flows=lab.Every(MANY)).points(data)
    counts = [n for n in beside.values("flows") if n in lab.Every(MANY)]
    return {
        f"{name} at {n}": found[f"tcp, flows {n}"].value - found[f"{name}, flows {n}"].value
        for n in counts
        for name in SCHEMES[1:]
    }


fig11 = lab.Figure(
    "pecn/fig11",
    "Fig. 11",
    "Mean FCT of a burst beside two long flows",
    {"beside": BESIDE, "alone": BURSTS, "drained": DRAINED},
)
fig11.claim("pecn/fig11-background-tcp").says(
    "two long flows make the mean FCT of TCP much longer",
    lab.effect("tcp", AFCT, "drained", "alone").over("flows").mean().above(by=0.3),
)
fig11.claim("pecn/fig11-background-ecn").says(
    "two long flows change little for the schemes with ECN",
    lab.effect(SCHEMES[1:], AFCT, "beside", "alone").at(flows=lab.Every(MANY)).within(high=0.30),
    less_than_tcp.called("less than tcp's").within(low=0.0),
    because="beside the long flows the burst has less room, and some of its flows time out",
)
fig11.claim("pecn/fig11-pecn-best", "Fig. 11, Sec. 6").says(
    "beside long flows, too, pECN has the shortest mean FCT", *_ORDER
)
fig11.draw(_BESIDE)
fig11_across = lab.Figure("pecn/fig11-across", "Sec. 5.2", "The same across racks", {"beside": BESIDE_ACROSS})
fig11_across.claim("pecn/sec52-interrack-background").says("across racks the outcome is similar", *_ORDER)
fig11_across.draw(_BESIDE)

PRINTED = {"pecn": 54.0, "pecn-pmark": 57.0}
"""Printed number of senders for deadlines uniform from 20 to 30 ms."""
GRID = {"flows": range(20, 101, 2)}
TIGHT = ns_study(BURST, SCHEMES, GRID, DCTCP_CODE, seeds=10)
LOOSE = ns_study(BURST, SCHEMES, GRID, {**DCTCP_CODE, "soonest": "20ms", "latest": "30ms"}, seeds=10)


def limits(data: lab.Data, scheme: str) -> list[float]:
    """Largest number of senders up to which no deadline is missed, for each seed."""
    missed = {int(n): data.by_seed(scheme, "deadline_miss", flows=n) for n in data.values("flows")}
    seeds = lab.some(next(iter(missed.values())), "deadlines")
    return [_last_without({n: of_seed[seed] for n, of_seed in missed.items()}) for seed in seeds]


def _last_without(missed: Mapping[int, float]) -> float:
    """Last number of senders before the first missed deadline; 0 if the smallest number misses one."""
    return float(max(takewhile(lambda n: missed[n] == 0, missed), default=0))


def _pairs(study: str, *pairs: tuple[str, str]) -> lab.Quantity:
    """Relative difference in the largest number of senders between pairs of schemes, paired by seed."""

    def find(data: lab.Data) -> dict[str, Estimate]:
        return {
            f"{one} over {other}": paired(limits(data, one), limits(data, other), f"{other} supports no sender")
            for one, other in pairs
        }

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


fig10 = lab.Figure("pecn/fig10", "Fig. 10", "Senders without a missed deadline", {"tight": TIGHT, "loose": LOOSE})
fig10.claim("pecn/fig10-tight-deadlines").says(
    "with deadlines U[10, 20] ms D2TCP, pECN and pMark support equally many senders, TCP the fewest",
    _pairs("tight", ("pecn", "d2tcp"), ("pecn-pmark", "d2tcp"), ("pecn-pmark", "pecn")).alike(0.2),
    _pairs("tight", *((name, "tcp") for name in SCHEMES[1:])).within(low=0.0),
    shows=[_of(name, "tight") for name in SCHEMES],
    no_harm=True,
)
fig10.claim("pecn/fig10-loose-deadlines-pecn").says(
    "with deadlines U[20, 30] ms pECN supports 54 senders, pMark 57",
    *(_of(name).near(senders) for name, senders in PRINTED.items()),
    _pairs("loose", ("pecn-pmark", "pecn")).within(low=-0.04),
    because="the limit hangs on the window that a flow starts with",
)
fig10.claim("pecn/fig10-loose-deadlines-order").says(
    "with deadlines U[20, 30] ms DCTCP and D2TCP support fewer senders than pECN, and TCP the fewest",
    _pairs("loose", *(("tcp", name) for name in ("dctcp", "d2tcp"))).below(),
    _pairs("loose", *((name, "pecn") for name in ("dctcp", "d2tcp"))).below(),
    _pairs("loose", ("pecn-pmark", "pecn")).within(low=-0.04),
)
fig10.draw(_supported)
_FIGURES = {"fig6": BURSTS, "fig8": QUERIES, "fig9": BURSTS_ACROSS, "fig11": BESIDE}


pmark = lab.Figure("pecn/pmark", "Sec. 6", "pMark against pECN", {**_FIGURES, "tight": TIGHT, "loose": LOOSE})
pmark.claim("pecn/sec6-pmark-slight").says(
    "on the whole pECN equals pMark, or is slightly worse",
    *(
        lab.change("pecn-pmark", "pecn", AFCT, name).over("flows").called(f"AFCT, {name}").alike(0.05)
        for name in _FIGURES
    ),
    *(_pairs(study, ("pecn-pmark", "pecn")).called(f"senders, {study}").alike(0.2) for study in ("tight", "loose")),
    because=SPARED,
    no_harm=True,
)
