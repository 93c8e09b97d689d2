"""Fig. 7 and Sec. II-B: long flows alone, over their number."""

from collections.abc import Sequence

from shortflow.lab import Data, Drawing, Figure, Finding, Study, all_hold, at_least, at_most, curves
from shortflow.papers.l2dct.setup import LONG_FLOWS

K = 20
SCHEMES = ("tcp", "dctcp", "l2dct")
LONG = Study(
    LONG_FLOWS,
    schemes=SCHEMES,
    over={"flows": (1, 2, 5, 10, 20, 40)},
    quick={"flows": (1, 2, 10, 40)},
    quick_settings={"duration": "2s", "warmup": "500ms"},
    quick_seeds=1,
)

fig7a = Figure("l2dct/fig7a", "Fig. 7(a)", "Throughput of long flows over their number", {"long": LONG})
fig7b = Figure("l2dct/fig7b", "Fig. 7(b)", "The queue of two long flows", {"long": LONG})
goal2 = Figure("l2dct/sec2b-goal2", "Sec. II-B", "Long flows alone lose nothing", {"long": LONG})


@fig7a.drawing
def throughput(long: Data) -> Sequence[Drawing]:
    return [curves(long, "flows", "goodput_long_bps", x_label="long flows", title="Goodput of all long flows")]


@fig7b.drawing
def queues(long: Data) -> Sequence[Drawing]:
    return [curves(long, "flows", "queue_mean_pkt", x_label="long flows", title="Mean queue at the bottleneck")]


@fig7a.claim(
    "fig7a-full-throughput",
    "long flows of each protocol fill the link, however many there are",
    "utilisation of at least 97 % at every point",
)
def full(long: Data) -> Finding:
    lowest = {
        name: min(long.mean(name, "utilisation", flows=n).value for n in long.values("flows")) for name in SCHEMES
    }
    return all_hold({f"lowest of {name}": at_least(value, 0.97) for name, value in lowest.items()})


@fig7b.claim(
    "fig7b-queue",
    "two long flows keep a far shorter queue with L2DCT and DCTCP than with TCP",
    "mean below 1.3 K with marks; TCP's at least three times L2DCT's",
)
def short_queue(long: Data) -> Finding:
    queue = {name: long.mean(name, "queue_mean_pkt", flows=2).value for name in SCHEMES}
    return all_hold(
        {
            "l2dct": at_most(queue["l2dct"], 1.3 * K),
            "dctcp": at_most(queue["dctcp"], 1.3 * K),
            "tcp over l2dct": at_least(queue["tcp"] / queue["l2dct"], 3.0),
        }
    )


@goal2.claim(
    "sec2b-goal2-long-only",
    "long flows alone get as much with L2DCT as with DCTCP and TCP",
    "goodput within 3 % of the best protocol's, with 1 to 10 flows",
)
def nothing_lost(long: Data) -> Finding:
    found = {}
    for number in [each for each in long.values("flows") if float(each) <= 10]:
        goodput = {name: long.mean(name, "goodput_long_bps", flows=number).value for name in SCHEMES}
        found[f"share of the best, {number} flows"] = at_least(goodput["l2dct"] / max(goodput.values()), 0.97)
    return all_hold(found)
