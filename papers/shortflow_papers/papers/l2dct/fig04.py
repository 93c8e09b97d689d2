"""Figs. 4 to 7, Sec. VI: short flows of several loads with two long flows; incast; long flows alone."""

from collections.abc import Sequence
from dataclasses import replace

from shortflow_papers import lab
from shortflow_papers.papers.common import decreases, means, ns_study, number_of
from shortflow_papers.papers.l2dct.setup import (
    AFCT,
    GOODPUT,
    LOAD,
    LONG_FLOWS,
    NEAR_BOTH,
    SCHEMES,
    benchmark,
    over_trend,
)
from shortflow_papers.papers.unspecified import NS2

LOADS, PARETO = (
    replace(
        benchmark(SCHEMES, {"load": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)}, coarse=(0.1, 0.2, 0.4), scenario=scenario),
        seeds=seeds,
    )
    for scenario, seeds in (("l2dct-benchmark", 10), ("l2dct-pareto", 30))
)
"""Pareto sizes. Their percentiles need more seeds."""
LARGER_W_MIN = benchmark(("dctcp", "l2dct"), {"load": (0.1, 0.2)}, {"transport.w_min": 0.3})
"""Runs with w_min = 0.3, at which gain and cost are near the published values."""
BOTH = {"loads": LOADS, "larger_w_min": LARGER_W_MIN}


def with_larger_w_min(metric: str) -> lab.Quantity:
    """Relative difference of L2DCT with w_min = 0.3 from DCTCP, paired by seed, at every load."""
    return lab.change("l2dct", "dctcp", metric, "larger_w_min").over("load").called(f"{lab.label(metric)}, w_min 0.3")


OVER_DCTCP = lab.change("l2dct", "dctcp", AFCT)
OVER_TCP = lab.change("l2dct", "tcp", AFCT).over("load")
PERCENTILES = {n: lab.change("l2dct", "dctcp", f"p{n}_short_s").over("load") for n in (1, 5, 50, 95, 99)}


@number_of("share of loads at which it is lower")
def share_lower(pareto: lab.Data) -> float:
    found = [pareto.change("l2dct", "dctcp", "p99_short_s", load=load).value for load in pareto.values("load")]
    return sum(value < 0 for value in found) / len(found)


def _improvement(loads: lab.Data) -> Sequence[lab.Drawing]:
    """Drawing of the decrease of the mean at every load. The paper prints the largest decrease.

    For DCTCP, the paper also prints a decrease at loads of 10 and 20 %.
    """
    at, lines = [float(load) for load in loads.values("load")], []
    for name, most in (("dctcp", 45.0), ("tcp", 95.0)):
        lines.append(decreases(f"below {name}", {x: loads.change("l2dct", name, AFCT, load=x) for x in at}))
        lines.append(lab.Line(f"below {name}", [at[0], at[-1]], [most, most], markers=False, printed=True))
    lines.append(lab.Line("below dctcp", [0.1, 0.2], [40.0, 40.0], printed=True, apart=True))
    return [lab.Drawing("L2DCT's mean completion time below the others'", LOAD, "mean FCT lower by (%)", lines)]


fig4a = lab.Figure("l2dct/fig4a", "Fig. 4(a)", "Mean FCT of short flows, U[2, 98] KB", BOTH)
fig4a.claim("l2dct/fig4a-afct-vs-dctcp").says(
    "L2DCT's mean FCT is below DCTCP's at every load, by up to 45 %",
    OVER_DCTCP.over("load").lowest().near(-0.45),
    OVER_DCTCP.over("load").below(),
    shows=[with_larger_w_min(AFCT)],
    because=NEAR_BOTH,
)
fig4a.claim("l2dct/fig4a-afct-vs-tcp").says(
    "L2DCT's mean FCT is below TCP's at every load, by up to 95 %", OVER_TCP.lowest().near(-0.95), OVER_TCP.below()
)
fig4a.claim("l2dct/fig4a-afct-low-load", "Fig. 4(a), Sec. III-A").says(
    "at loads of 10 and 20 % the mean FCT is at least 40 % below DCTCP's",
    OVER_DCTCP.at(load=(0.1, 0.2)).near(-0.40, limit="at most"),
)
fig4a.draw(_improvement)
fig4a.draw(lab.Curves("load", AFCT, LOAD, "Mean completion time of short flows"))
fig4b = lab.Figure("l2dct/fig4b", "Fig. 4(b)", "Percentiles of the FCT, U[2, 98] KB", BOTH)
fig4b.claim("l2dct/fig4b-tail-uniform").says(
    "the 95th and 99th percentiles are below DCTCP's, by up to 37 %",
    *(PERCENTILES[n].lowest().near(-0.37) for n in (95, 99)),
    *(PERCENTILES[n].below() for n in (95, 99)),
    shows=[with_larger_w_min(f"p{n}_short_s") for n in (95, 99)],
    because=NEAR_BOTH,
)
fig4b.claim("l2dct/fig4b-all-percentiles", "Fig. 4(b), Sec. V").says(
    "every percentile of the FCT is below DCTCP's at every load",
    *(PERCENTILES[n].highest().within(high=0.02 if n < 50 else 0.0) for n in PERCENTILES),
    no_harm=True,
)
for percent in (95, 99):
    fig4b.draw(lab.Curves("load", f"p{percent}_short_s", LOAD, f"Percentile {percent} of the completion time"))
fig4c = lab.Figure(
    "l2dct/fig4c", "Fig. 4(c)", "99th percentile of the FCT, Pareto sizes of mean 50 KB", {"pareto": PARETO}
)
fig4c.claim("l2dct/fig4c-pareto-all-loads").says(
    "with Pareto sizes the 99th percentile is below DCTCP's at every load", PERCENTILES[99].below()
)
fig4c.claim("l2dct/fig4c-pareto-p99").says(
    "with Pareto sizes the 99th percentile is up to 53 % below DCTCP's",
    PERCENTILES[99].lowest().near(-0.53),
    share_lower.within(low=0.5),
)
fig4c.draw(lab.Curves("load", "p99_short_s", LOAD, "99th percentile of the completion time"))
fig5 = lab.Figure("l2dct/fig5", "Fig. 5", "Goodput of the two long flows", BOTH)
fig5.claim("l2dct/fig5-throughput-cost-10pct").says(
    "at a load of 10 % the long flows lose 6.7 % of their throughput under DCTCP",
    lab.change("l2dct", "dctcp", GOODPUT).at(load=0.1).near(-0.067),
    shows=[with_larger_w_min(GOODPUT)],
    because=NEAR_BOTH,
)
fig5.claim("l2dct/fig5-throughput-gap-grows").says(
    "the long flows' loss in per cent grows with the load",
    lab.change("l2dct", "dctcp", GOODPUT).over("load").trend().within(high=-0.7),
)
fig5.draw(lab.Curves("load", GOODPUT, LOAD, "Goodput of the two long flows"))
SERVERS = ns_study(
    "incast",
    SCHEMES,
    over={"servers": (1, 5, 10, 15, 20, 25, 30, 35, 40)},
    settings={**NS2, "traffic.1.repeat": 100, "duration": "10s"},
    quick={"traffic.1.repeat": 10, "duration": "1s"},
)

MEANS_KB = (50, 100, 150, 200, 300, 400, 500, 600)
"""Mean sizes of the five servers' answers, in KB. Sizes are uniform from 0.5 to 1.5 times the mean."""

_SIZES = {mean: f'{{ kind = "uniform", min = "{mean // 2}KB", max = "{mean * 3 // 2}KB" }}' for mean in MEANS_KB}
ANSWERS = ns_study(
    "incast",
    SCHEMES,
    over={"traffic.1.sizes": tuple(_SIZES.values())},
    settings={**NS2, "servers": 5, "traffic.1.repeat": 100, "duration": "10s"},
    quick={"traffic.1.repeat": 10, "duration": "1s"},
)
FITTED = 4
"""Number of first points to which the reference line is fitted."""
JUMP = 1.5
"""Maximum factor between a time and the reference line if times grow smoothly."""
LINE = f"a mean above the line through the first {FITTED}"


def _knee(data: lab.Data, scheme: str, key: str, x: Sequence[float]) -> float:
    """First x with timeouts and a mean time above the reference line; ∞ if there is none."""
    over = over_trend(x, list(means(data, scheme, AFCT, key).values()), FITTED)
    points = zip(x, over, means(data, scheme, lab.timeouts_in_run, key).values(), strict=True)
    return next((at for at, jump, late in points if jump > 1 and late > 0), float("inf"))


def _knee_of_servers(scheme: str) -> lab.Quantity:
    def knee(servers: lab.Data) -> float:
        return _knee(servers, scheme, "servers", [float(value) for value in servers.values("servers")])

    return lab.computed(f"the first number of servers with timeouts of {scheme} and {LINE}", knee).called("knee")


def _by_size(answers: lab.Data, scheme: str) -> list[float]:
    return list(means(answers, scheme, AFCT, "traffic.1.sizes").values())


@number_of("the farthest point over the line through the first 4")
def farthest(answers: lab.Data) -> dict[str, float]:
    return {name: max(over_trend(MEANS_KB, _by_size(answers, name), FITTED)) for name in ("l2dct", "dctcp")}


def _over_sizes(answers: lab.Data) -> Sequence[lab.Drawing]:
    lines = [lab.Line(name, MEANS_KB, [1e3 * afct for afct in _by_size(answers, name)]) for name in SCHEMES]
    return [lab.Drawing("Mean completion time of an answer", "mean size (KB)", "mean FCT (ms)", lines)]


fig6a = lab.Figure("l2dct/fig6a", "Fig. 6(a)", "Incast over the number of servers", {"servers": SERVERS})
fig6a.claim("l2dct/fig6a-tcp-collapse").says(
    "TCP's mean FCT deteriorates once more than 25 servers answer",
    _knee_of_servers("tcp").near(25),
    shows=[lab.level("tcp", lab.timeouts_in_run).over("servers")],
)
fig6a.claim("l2dct/fig6a-l2dct-no-incast").says(
    "L2DCT does not collapse with up to 40 servers, and stays below TCP",
    _knee_of_servers("l2dct").within(low=41),
    lab.change("l2dct", "tcp", AFCT).at(servers=(30, 35, 40)).within(high=0.0),
    shows=[lab.level("l2dct", lab.timeouts_in_run).at(servers=lab.Every(30))],
)
fig6a.draw(lab.Curves("servers", AFCT, "servers", "Mean completion time of an answer"))
fig6b = lab.Figure("l2dct/fig6b", "Fig. 6(b)", "Incast over the size of answers", {"answers": ANSWERS})
fig6b.claim("l2dct/fig6b-tcp-degrades").says(
    "with five servers TCP's mean FCT deteriorates when answers pass 400 KB",
    lab.computed(
        f"the first mean size in KB with timeouts of tcp and {LINE}",
        lambda answers: _knee(answers, "tcp", "traffic.1.sizes", MEANS_KB),
    ).near(400),
)
fig6b.claim("l2dct/fig6b-graceful").says(
    "L2DCT and DCTCP slow down smoothly as answers grow", farthest.within(high=JUMP)
)
fig6b.draw(_over_sizes)

K = 20
LONG = ns_study(
    LONG_FLOWS,
    SCHEMES,
    over={"flows": (1, 2, 5, 10, 20, 40)},
    quick={"flows": (1, 2, 10, 40), "duration": "2s", "warmup": "500ms"},
)
QUEUE = {name: lab.level(name, "queue_mean_pkt").at(flows=2) for name in SCHEMES}


@number_of("goodput of l2dct over the best, up to 10 flows")
def share_of_best(long: lab.Data) -> dict[str, float]:
    *others, ours = (means(long, name, GOODPUT, "flows") for name in SCHEMES)
    return {f"{n} flows": own / max(own, *(each[n] for each in others)) for n, own in ours.items() if n <= 10}


fig7a = lab.Figure("l2dct/fig7a", "Fig. 7(a)", "Throughput of long flows over their number", {"long": LONG})
fig7a.claim("l2dct/fig7a-full-throughput").says(
    "long flows of each protocol fill the link, however many there are",
    *(lab.level(name, "utilisation").over("flows").lowest().within(low=0.97) for name in SCHEMES),
    no_harm=True,
)
fig7a.draw(lab.Curves("flows", GOODPUT, "long flows", "Goodput of all long flows"))
fig7b = lab.Figure("l2dct/fig7b", "Fig. 7(b)", "The queue of two long flows", {"long": LONG})
fig7b.claim("l2dct/fig7b-queue").says(
    "two long flows keep a far shorter queue with L2DCT and DCTCP than with TCP",
    QUEUE["l2dct"].within(high=1.3 * K),
    QUEUE["dctcp"].within(high=1.3 * K),
    lab.ratio(QUEUE["tcp"], QUEUE["l2dct"]).within(low=3.0),
)
fig7b.draw(lab.Curves("flows", "queue_mean_pkt", "long flows", "Mean queue at the bottleneck"))
goal2 = lab.Figure("l2dct/sec2b-goal2", "Sec. II-B", "Long flows alone lose nothing", {"long": LONG})
goal2.claim("l2dct/sec2b-goal2-long-only").says(
    "long flows alone get as much with L2DCT as with DCTCP and TCP", share_of_best.within(low=0.97), no_harm=True
)
