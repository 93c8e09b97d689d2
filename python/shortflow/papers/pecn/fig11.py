"""Fig. 11 and Sec. 5.2: the bursts beside two flows that always have something to send, within and across racks."""

from collections.abc import Sequence

from shortflow.lab import Data, Drawing, Figure, Finding, Study, all_hold, at_least, curves, within
from shortflow.papers.pecn.fig06 import BURSTS, INTERVAL
from shortflow.papers.pecn.setup import (
    ACROSS,
    AFCT,
    BURST_AND_BACKGROUND,
    COUNTS,
    MANY,
    NEWRENO,
    QUICK_COUNTS,
    SCHEMES,
    across,
    best_everywhere,
    counts,
)

SOON = {"background_start": "1.4s"}
BESIDE = Study(
    BURST_AND_BACKGROUND,
    SCHEMES,
    over={"flows": COUNTS},
    settings=NEWRENO,
    quick={"flows": QUICK_COUNTS},
    quick_settings=SOON,
)
BESIDE_ACROSS = Study(
    BURST_AND_BACKGROUND,
    SCHEMES,
    over={"flows": COUNTS},
    settings={**NEWRENO, "receiver": ACROSS},
    quick={"flows": QUICK_COUNTS},
    quick_settings=SOON,
)

fig11 = Figure(
    "pecn/fig11", "Fig. 11", "Mean FCT of a burst beside two long flows", {"beside": BESIDE, "alone": BURSTS}
)
fig11_across = Figure("pecn/fig11-across", "Sec. 5.2", "The same across racks", {"beside": BESIDE_ACROSS})


@fig11.drawing
@fig11_across.drawing
def means(beside: Data) -> Sequence[Drawing]:
    title = "Mean completion time beside two long flows"
    return [curves(beside, "flows", AFCT, x_label="connections", title=title, log_y=True)]


@fig11.claim(
    "fig11-background-tcp",
    "two long flows make the mean FCT of TCP much longer",
    "at least 1.3 times as long, on average over the numbers of connections",
)
def background_tcp(beside: Data, alone: Data) -> Finding:
    ratios = [1 + across(beside, alone, "tcp", flows=n).value for n in counts(beside)]
    return at_least(sum(ratios) / len(ratios), 1.3, ratios=ratios)


@fig11.claim(
    "fig11-background-ecn",
    "two long flows change little for the schemes with ECN",
    "from 40 connections on less than 30 % longer, and by less than TCP's",
    because="beside the long flows the burst has less room: at 80 connections three or four flows time out, alone "
    "none, and wait 200 ms; at 40 its mean grows by 38 % with DCTCP and 18 % with pECN; no choice makes all of "
    "these small",
)
def background_ecn(beside: Data, alone: Data) -> Finding:
    return all_hold(
        {
            f"{scheme} at {n}": within(
                across(beside, alone, scheme, flows=n),
                float("-inf"),
                min(0.30, across(beside, alone, "tcp", flows=n).value),
            )
            for n in counts(beside, MANY)
            for scheme in SCHEMES[1:]
        }
    )


@fig11.claim(
    "fig11-pecn-best",
    "beside long flows, too, pECN has the shortest mean FCT",
    f"pECN below DCTCP and D2TCP, and these below TCP, at every number of connections, {INTERVAL}",
)
@fig11_across.claim(
    "sec52-interrack-background",
    "across racks the outcome is similar",
    f"the order of Fig. 11: pECN below DCTCP and D2TCP, and these below TCP, {INTERVAL}",
    because="the means have this order at every count, but those of three seeds scatter at 100 connections; with "
    "--choice recovery=sack, handshake=on or another jitter the intervals have it too",
)
def order(beside: Data) -> Finding:
    ecn = ("dctcp", "d2tcp")
    return all_hold(
        {
            "pecn best": best_everywhere(beside, "pecn", (*ecn, "tcp")),
            **{f"{scheme} below tcp": best_everywhere(beside, scheme, ("tcp",)) for scheme in ecn},
        }
    )
