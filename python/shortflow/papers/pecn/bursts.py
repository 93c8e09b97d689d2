"""Figs. 6 to 9 and 11: bursts of 10 to 100 connections, in a rack and across racks, with and without long flows."""

import math
from collections.abc import Mapping, Sequence

import polars as pl

from shortflow import lab
from shortflow.errors import TooLittle
from shortflow.papers.pecn.setup import (
    ACROSS,
    AFCT,
    BASELINES,
    BURST,
    BURST_AND_BACKGROUND,
    COUNTS,
    MANY,
    NEWRENO,
    QUICK_COUNTS,
    SCHEMES,
    TCP_WORST,
    TINY,
    afct,
    best,
    fct_over,
)
from shortflow.result import Result
from shortflow.scenario import Settings
from shortflow.store.frames import completion


def _bursts(settings: Settings) -> lab.Study:
    return lab.Study(BURST, SCHEMES, {"flows": COUNTS}, settings, seeds=20, quick={"flows": QUICK_COUNTS})


def _beside(settings: Settings) -> lab.Study:
    """Beside two backlogged flows."""
    quick: Mapping[str, Sequence[int]] = {"flows": QUICK_COUNTS}
    soon = {"background_start": "1.4s"}
    return lab.Study(BURST_AND_BACKGROUND, SCHEMES, {"flows": COUNTS}, settings, quick=quick, quick_settings=soon)


BURSTS, BURSTS_ACROSS = _bursts(NEWRENO), _bursts({**NEWRENO, "receiver": ACROSS})
QUERIES, QUERIES_ACROSS = _bursts(TINY), _bursts({**TINY, "receiver": ACROSS})
BESIDE, BESIDE_ACROSS = _beside(NEWRENO), _beside({**NEWRENO, "receiver": ACROSS})
SPARED = "pMark spares small flows the marks that end their slow start under pECN"


def _curves(title: str, metric: str = AFCT, *, log_y: bool = True) -> lab.Curves:
    return lab.Curves("flows", metric, "connections", title, log_y=log_y)


@lab.measure("flows that finish before a smaller one")
def overtakers(result: Result) -> float:
    """Number of flows that finish before some strictly smaller flow, finished or not."""
    flows = completion(result.flows, result.meta)
    if flows["censored"].all():
        raise TooLittle("no flow finished")
    order = flows.with_columns(pl.col("finish_s").fill_null(math.inf)).sort("size_bytes", "finish_s")
    last_smaller = pl.col("finish_s").cum_max().shift(1)
    return float(order.select((pl.col("finish_s") < last_smaller).sum()).item())


def _out_of_order(scheme: str) -> lab.Quantity:
    return lab.level(scheme, overtakers).at(flows=80)


def _over_size(bursts: lab.Data) -> Sequence[lab.Drawing]:
    lines = [fct_over(bursts.results(scheme, flows=80)[0], "size_bytes", 1e-3, scheme) for scheme in ("dctcp", "pecn")]
    return [lab.Drawing("Completion time over size, one run", "size (KB)", "FCT (ms)", lines)]


fig6 = lab.Figure("pecn/fig6", "Fig. 6", "Mean FCT of a burst in a rack, U[2, 50] KB", {"bursts": BURSTS}).decides(
    lab.Claim("pecn/fig6-tcp-worst").says(
        "TCP has the longest mean FCT, because of timeouts",
        TCP_WORST,
        because="with most connections DCTCP and D2TCP lose packets of the burst too and wait for the timer",
    ),
    lab.Claim("pecn/fig6-d2tcp-equals-dctcp").says(
        "D2TCP equals DCTCP except at very many connections",
        afct("d2tcp", "dctcp").at(flows=lab.Every(high=70)).alike(0.05),
    ),
    lab.Claim("pecn/fig6-pecn-gain-80", "Fig. 6, Sec. 5.1").says(
        "at 80 connections pECN's mean FCT is 24.5 % below DCTCP's", afct("pecn", "dctcp").at(flows=80).near(-0.245)
    ),
    lab.Claim("pecn/fig6-pecn-best").says(
        "pECN has the shortest mean FCT at every number of connections", best("pecn")
    ),
    lab.Claim("pecn/fig6-pmark-no-effect").says(
        "pMark changes next to nothing", afct("pecn-pmark", "pecn").alike(0.05), because=SPARED, no_harm=True
    ),
    draws=[_curves("Mean completion time")],
)
fig7 = lab.Figure("pecn/fig7", "Fig. 7", "FCT over size, 80 connections", {"bursts": BURSTS}).decides(
    lab.Claim("pecn/fig7-pecn-monotone").says(
        "under pECN one flow of 80 is out of the order of sizes",
        _out_of_order("pecn").under(1),
        because="small flows slow down when their arriving packets are marked",
    ),
    lab.Claim("pecn/fig7-dctcp-inversions").says(
        "under DCTCP about 11 flows of 80 finish before a smaller one",
        _out_of_order("dctcp").near(11),
        lab.difference(_out_of_order("dctcp"), _out_of_order("pecn")).called("more than with pecn").at_least(1),
    ),
    draws=[_over_size],
)
tail = lab.Figure("pecn/tail", "Sec. 5", "99th percentile of the FCT", {"bursts": BURSTS}).decides(
    lab.Claim("pecn/sec5-tail-metric").says(
        "the 99th percentile of the FCT is named as a measure, but not reported",
        lab.unmeasured("the paper gives no value to compare with"),
        shows=[lab.level(SCHEMES, "p99_short_s").at(flows=80)],
    ),
    draws=[_curves("99th percentile of the completion time", "p99_short_s")],
)
_ALIKE = afct(("tcp", "d2tcp"), "dctcp").alike(0.05)
_BETTER = tuple(best(scheme, least=MANY) for scheme in ("pecn", "pecn-pmark"))
_QUERIES = _curves("Mean completion time of queries", log_y=False)
fig8 = lab.Figure("pecn/fig8", "Fig. 8", "Mean FCT of a burst in a rack, U[1.6, 2] KB", {"queries": QUERIES}).decides(
    lab.Claim("pecn/fig8-tiny-flows-baselines-equal").says("with queries TCP, DCTCP and D2TCP are alike", _ALIKE),
    lab.Claim("pecn/fig8-tiny-flows-pecn-better").says(
        "with queries pECN and pMark have shorter mean FCTs than the others", *_BETTER
    ),
    draws=[_QUERIES],
)
fig8_across = lab.Figure(
    "pecn/fig8-across", "Sec. 5.1", "Mean FCT of a burst across racks, U[1.6, 2] KB", {"queries": QUERIES_ACROSS}
).decides(
    lab.Claim("pecn/fig9-interrack-tiny").says("across racks queries give the same picture", _ALIKE, *_BETTER),
    draws=[_QUERIES],
)
fig9 = lab.Figure(
    "pecn/fig9", "Fig. 9", "Mean FCT of a burst across racks, U[2, 50] KB", {"bursts": BURSTS_ACROSS, "in_rack": BURSTS}
).decides(
    lab.Claim("pecn/fig9-interrack-order").says(
        "across racks the order is the same: pECN best, TCP worst", best("pecn"), TCP_WORST
    ),
    lab.Claim("pecn/fig9-interrack-slightly-slower").says(
        "across racks all mean FCTs are a little longer",
        lab.effect((*BASELINES, "pecn"), AFCT, "bursts", "in_rack").at(flows=lab.Every(MANY)).within(0.0, 0.30),
        because="the longer round trip spreads the burst and saves timeouts, which decide the mean where there are any",
    ),
    draws=[_curves("Mean completion time across racks")],
)
_BESIDE = _curves("Mean completion time beside two long flows")
_ORDER = (best("pecn", ("dctcp", "d2tcp", "tcp")), best("dctcp", "tcp"), best("d2tcp", "tcp"))


def _less_than_tcp(beside: lab.Data, alone: lab.Data) -> dict[str, float]:
    """Increase of TCP's mean by long flows minus that of each other scheme."""
    data = {"beside": beside, "alone": alone}
    found = lab.effect(SCHEMES, AFCT, "beside", "alone").at(flows=lab.Every(MANY)).points(data)
    counts = [n for n in beside.values("flows") if n in lab.Every(MANY)]
    return {
        f"{name} at {n}": found[f"tcp, flows {n}"].value - found[f"{name}, flows {n}"].value
        for n in counts
        for name in SCHEMES[1:]
    }


fig11 = lab.Figure(
    "pecn/fig11", "Fig. 11", "Mean FCT of a burst beside two long flows", {"beside": BESIDE, "alone": BURSTS}
).decides(
    lab.Claim("pecn/fig11-background-tcp").says(
        "two long flows make the mean FCT of TCP much longer",
        lab.effect("tcp", AFCT, "beside", "alone").over("flows").mean().above(by=0.3),
    ),
    lab.Claim("pecn/fig11-background-ecn").says(
        "two long flows change little for the schemes with ECN",
        lab.effect(SCHEMES[1:], AFCT, "beside", "alone").at(flows=lab.Every(MANY)).at_most(0.30),
        lab.computed("how much more they lengthen TCP's", _less_than_tcp).called("less than tcp's").at_least(0.0),
        because="beside the long flows the burst has less room, and some of its flows time out",
    ),
    lab.Claim("pecn/fig11-pecn-best", "Fig. 11, Sec. 6").says(
        "beside long flows, too, pECN has the shortest mean FCT", *_ORDER
    ),
    draws=[_BESIDE],
)
fig11_across = lab.Figure("pecn/fig11-across", "Sec. 5.2", "The same across racks", {"beside": BESIDE_ACROSS}).decides(
    lab.Claim("pecn/sec52-interrack-background").says("across racks the outcome is similar", *_ORDER), draws=[_BESIDE]
)
