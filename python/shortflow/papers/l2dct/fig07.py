"""Fig. 7 and Sec. II-B: long flows alone, over their number."""

from shortflow import lab
from shortflow.papers.l2dct.setup import GOODPUT, LONG_FLOWS

K = 20
SCHEMES = ("tcp", "dctcp", "l2dct")
LONG = lab.Study(
    LONG_FLOWS,
    schemes=SCHEMES,
    over={"flows": (1, 2, 5, 10, 20, 40)},
    quick={"flows": (1, 2, 10, 40)},
    quick_settings={"duration": "2s", "warmup": "500ms"},
)
QUEUE = {name: lab.level(name, "queue_mean_pkt").at(flows=2) for name in SCHEMES}


def _share_of_best(long: lab.Data) -> dict[str, float]:
    few = [each for each in long.values("flows") if float(each) <= 10]
    goodput = {n: {name: long.mean(name, GOODPUT, flows=n).value for name in SCHEMES} for n in few}
    return {f"{n} flows": of["l2dct"] / max(of.values()) for n, of in goodput.items()}


fig7a = lab.Figure("l2dct/fig7a", "Fig. 7(a)", "Throughput of long flows over their number", {"long": LONG}).decides(
    lab.Claim("l2dct/fig7a-full-throughput").says(
        "long flows of each protocol fill the link, however many there are",
        *(lab.level(name, "utilisation").over("flows").lowest().at_least(0.97) for name in SCHEMES),
        no_harm=True,
    ),
    draws=[lab.Curves("flows", GOODPUT, "long flows", "Goodput of all long flows")],
)
fig7b = lab.Figure("l2dct/fig7b", "Fig. 7(b)", "The queue of two long flows", {"long": LONG}).decides(
    lab.Claim("l2dct/fig7b-queue").says(
        "two long flows keep a far shorter queue with L2DCT and DCTCP than with TCP",
        QUEUE["l2dct"].at_most(1.3 * K),
        QUEUE["dctcp"].at_most(1.3 * K),
        lab.ratio(QUEUE["tcp"], QUEUE["l2dct"]).at_least(3.0),
    ),
    draws=[lab.Curves("flows", "queue_mean_pkt", "long flows", "Mean queue at the bottleneck")],
)
goal2 = lab.Figure("l2dct/sec2b-goal2", "Sec. II-B", "Long flows alone lose nothing", {"long": LONG}).decides(
    lab.Claim("l2dct/sec2b-goal2-long-only").says(
        "long flows alone get as much with L2DCT as with DCTCP and TCP",
        lab.computed("goodput of l2dct over the best, up to 10 flows", _share_of_best).at_least(0.97),
        no_harm=True,
    )
)
