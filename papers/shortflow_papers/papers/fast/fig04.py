"""Figs. 3 to 9: queries alone, and with a 10 MB flow that fills the root's link; Secs. 4 and 6 on queries alone."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from shortflow.api.runs import Result
from shortflow_papers import lab
from shortflow_papers.papers.common import burst_of, flows, means, ns_study, number_of, of_flows
from shortflow_papers.papers.fast.setup import (
    ALONE,
    DCTCP,
    OF_SCHEME,
    PORT,
    ROOT,
    SCHEMES,
    WORKERS,
    asked,
    queries,
    query,
    tree,
)

TIMEOUT_S = 0.010
"""Query time in seconds above which a query had a retransmission timeout."""

NAGLE = queries(("fast",), {"transport.nagle": ("false", "true")}, {"workers": 60})
KNEE = queries(("dctcp", "fast"), {"workers": (45, 50)})
ONE_BYTE = burst_of(99, 0, "1B", "ping")
PING = ns_study(
    tree("One byte from one rack to another", "1s", [ONE_BYTE]),
    ("tcp",),
    {"tcp.ack_every": (1,), "tcp.handshake": ("false",)},
    seeds=1,
)
"""Study of a property of the network, to which no choice about TCP applies."""


def _round_trip(ping: lab.Data) -> lab.Pairs:
    found = ping.mean("tcp", "afct_ping_s", tcp__ack_every=1, tcp__handshake="false").value
    # A data packet of 41 bytes and an ACK of 40 bytes each cross two links at 1 Gbps and two links at 10 Gbps.
    sending = (41 + 40) * 8 * (2 / 1e9 + 2 / 10e9)
    return {"rtt_us": ((found - sending) * 1e6, 200.0)}


def queries_with(name: str, flow: pl.Expr) -> lab.Measure:
    """Measure: share of queries with at least one flow that fulfils an expression."""
    return lab.Measure(name, "", lambda result: result.flows.filter(flow)["task"].n_unique() / asked(result))


def queries_without(name: str, flow: pl.Expr) -> lab.Measure:
    """Measure: share of queries without any flow that fulfils an expression."""
    return lab.Measure(name, "", lambda result: 1.0 - queries_with(name, flow)(result))


queries_without_timeout = queries_without("share of queries without a timeout", pl.col("timeouts") > 0)
queries_without_loss = queries_without("share of queries without a loss", pl.col("retransmits") > 0)
"""Without loss, no segment is retransmitted."""


@lab.per_run("share of segments below the MSS, after probing and but for the last")
def small_segments(result: Result) -> float:
    """Lower bound on the share of segments smaller than the MSS, after probing, from the number of packets.

    An answer of 10 KB has three probes of 730 bytes and 7810 bytes more, so at most five later segments are full-size.
    The last segment is a remainder and does not count. The packets are those at the port to the root, without the ACKs
    of the root's requests.
    """
    answers = flows(result, "query").height
    (packets,) = lab.some(result.ports.filter(pl.col("port") == PORT), "port")["tx_packets"]
    later = packets / answers - 1 - 3
    return float((later - 5 - 1) / later)


def first(scheme: str, metric: lab.MetricOrMeasure, above: float, study: str = "alone") -> lab.Quantity:
    """Smallest number of workers at which the mean of a metric exceeds a limit; 0 if there is none."""

    def smallest(data: lab.Data) -> float:
        return float(min((n for n, each in means(data, scheme, metric, "workers").items() if each > above), default=0))

    text = f"first number of workers with {lab.level(scheme, metric, study).text} above {above:g}"
    return lab.computed(text, smallest, studies=(study,)).called(f"first of {scheme}")


QUERY = "query_time_s"
NAGLING = lab.level("fast", QUERY, "nagle")
AT_100 = {name: lab.level(name, QUERY).at(workers=100) for name in SCHEMES}
FEW, MANY = (10, 20, 30), tuple(range(60, 101, 10))

fig4 = lab.Figure("fast/fig4", "Fig. 4", "Mean query time", {"alone": ALONE, "knee": KNEE})
fig4.claim("fast/fig4-low-n").says(
    "with 10 to 30 workers no transport loses anything and all answer quickly",
    lab.level(SCHEMES, QUERY).at(workers=FEW).called("time").within(high=TIMEOUT_S),
    lab.level(SCHEMES, queries_without_timeout).at(workers=FEW).called("without timeout").within(low=0.95),
)
fig4.claim("fast/fig4-newreno-72ms").says("NewReno needs 72 ms for 100 workers", AT_100["tcp"].near(0.072), fitted=True)
fig4.claim("fast/fig4-dctcp-43ms").says("DCTCP needs 43 ms for 100 workers", AT_100["dctcp"].near(0.043), fitted=True)
fig4.claim("fast/fig4-fast-16ms").says("FaST needs 16 ms for 100 workers", AT_100["fast"].near(0.016))
fig4.claim("fast/fig4-order-100").says(
    "for many workers FaST is faster than DCTCP, and DCTCP than NewReno",
    lab.change("fast", "dctcp", QUERY).at(workers=MANY).called("fast over dctcp").below(),
    lab.change("dctcp", "tcp", QUERY).at(workers=MANY).called("dctcp over tcp").below(),
)
fig4.claim("fast/fig4-fast-flat-to-50").says(
    "FaST's query time stays low up to 50 workers",
    lab.level("fast", QUERY, "knee").at(workers=50).within(high=TIMEOUT_S),
    lab.level("fast", lab.timeouts_in_run).at(workers=(10, 20, 30, 40)).within(high=0.0),
    lab.level("fast", lab.timeouts_in_run, "knee").at(workers=45).called("timeouts at 45").within(high=0.0),
)
fig4.claim("fast/fig4-onset").says(
    "NewReno and DCTCP slow down by a timeout from more than 30 workers on",
    *(first(scheme, QUERY, TIMEOUT_S).within(30, 50) for scheme in ("tcp", "dctcp")),
)
fig4.draw(lab.Curves("workers", QUERY, "workers", "Mean query time"))
network = lab.Figure("fast/fig3", "Fig. 3", "The longest round trip of the tree", {"ping": PING})
network.claim("fast/sec51-longest-rtt", "Sec. 5.1").says(
    "propagation across racks and back takes 200 us", lab.equal(_round_trip)
)
grain = lab.Figure("fast/sec4", "Sec. 4", "Small segments", {"alone": ALONE, "nagle": NAGLE})
grain.claim("fast/sec4-alpha-needed-for-fine-grain").says(
    "with many flows the window falls below one segment, which is what makes segments small",
    lab.level("fast", small_segments).at(workers=60).within(low=0.30),
)
grain.claim("fast/sec4-nagle-off").says(
    "waiting for whole segments makes queries much slower",
    lab.ratio(*(NAGLING.at(transport__nagle=each) for each in ("true", "false"))).within(low=1.3),
    shows=[NAGLING.over("transport.nagle")],
    because="flows that wait for a segment of the current size have shrunk their segments",
)
losses = lab.Figure("fast/sec6", "Sec. 6", "Flows without loss", {"alone": ALONE})
losses.claim("fast/sec6-50-flows-no-loss", "Sec. 1, 6").says(
    "FaST carries 50 flows at once without a loss",
    lab.level("fast", queries_without_loss).at(workers=50).within(low=0.90),
    shows=[lab.level("fast", lab.drops_in_run).at(workers=50)],
)


@lab.per_run("timeouts per query")
def per_query(result: Result) -> float:
    """Number of timeouts of all workers in a query; mean over the queries."""
    return float(flows(result, "query")["timeouts"].sum()) / asked(result)


def share_with(timeouts: int) -> lab.Measure:
    """Measure: share of answers with at least this many timeouts."""
    return of_flows(f"share of workers with {timeouts} timeouts or more", pl.col("timeouts") >= timeouts, "query")


queries_with_three = queries_with(
    "share of queries with a worker of three timeouts", (pl.col("class") == "query") & (pl.col("timeouts") >= 3)
)


@number_of("share of the variance that a line explains from 50 workers on")
def explained(alone: lab.Data) -> dict[str, float]:
    """R² of a linear fit of timeouts per query over workers, from 50 workers on, by scheme."""
    many = [n for n in WORKERS if n >= 50]
    found = {name: means(alone, name, per_query, "workers") for name in SCHEMES}
    return {name: float(np.corrcoef(many, [at[n] for n in many])[0, 1]) ** 2 for name, at in found.items()}


def _spread(alone: lab.Data) -> Sequence[lab.Drawing]:
    many = range(1, 6)
    lines = [
        lab.Line(name, many, [alone.mean(name, share_with(k), workers=100).value for k in many]) for name in SCHEMES
    ]
    return [lab.Drawing("Timeouts of one worker in a query", "timeouts, at least", "share of workers", lines)]


fig5 = lab.Figure("fast/fig5", "Fig. 5", "Timeouts per query", {"alone": ALONE})
fig5.claim("fast/fig5-zero-timeouts-low-n").says(
    "there are no timeouts with 10 to 30 workers",
    lab.level(SCHEMES, per_query).at(workers=(10, 20, 30)).within(high=0.1),
)
fig5.claim("fast/fig5-linear-growth").says(
    "timeouts grow linearly with the workers once they have begun", explained.within(low=0.9)
)
fig5.claim("fast/fig5-fast-fewest").says(
    "FaST has fewer timeouts than NewReno and DCTCP",
    lab.change("fast", ("tcp", "dctcp"), per_query).at(workers=lab.Every(40)).below(),
)
fig5.draw(lab.Curves("workers", per_query, "workers", "Timeouts per query"))
fig6 = lab.Figure("fast/fig6", "Fig. 6", "Timeouts of single workers, 100 workers", {"alone": ALONE})
fig6.claim("fast/fig6-multiple-timeouts").says(
    "with 100 workers more than half of the flows of NewReno and DCTCP have several timeouts",
    lab.level(("tcp", "dctcp"), share_with(2)).at(workers=100).near(0.5, limit="at least"),
)
fig6.claim("fast/fig6-newreno-three").says(
    "a few of NewReno's workers have three timeouts or more in one query",
    lab.level("tcp", queries_with_three).at(workers=100).within(low=0.5),
    lab.level("tcp", share_with(3)).at(workers=100).within(high=0.3),
)
fig6.claim("fast/fig6-fast-at-most-one", "Fig. 6, Sec. 6").says(
    "nearly all flows of FaST have one timeout at most",
    lab.level("fast", share_with(2)).at(workers=100).within(high=0.1),
)
fig6.draw(_spread)

ROUNDS = 10
PERIOD_MS = 2000
HEAD_START_MS = 10
"""Time from the start of the 10 MB flow to the query, in ms. The paper says only that the flow fills the link."""

BULK = burst_of(99, ROOT, "10MB", "bulk", repeat=ROUNDS, every=f"{PERIOD_MS}ms")
STARTS_MS = [i * PERIOD_MS + HEAD_START_MS for i in range(ROUNDS)]

BACKGROUND = ns_study(
    {
        **tree(
            "Queries beside a flow of 10 MB to the same root, one every 2 s",
            f"{ROUNDS * PERIOD_MS}ms",
            [BULK, *(query(at=f"{start}ms") for start in STARTS_MS)],
        ),
        "parameters": {"workers": 40},
        "measure": {"ports": [PORT], "sample_every": "1ms"},
    },
    SCHEMES,
    over={"workers": WORKERS},
    settings=DCTCP,
    of_scheme=OF_SCHEME,
)
"""Study with ten rounds per run, each with a new 10 MB flow and one query."""

BOTH = {"background": BACKGROUND, "alone": ALONE}


bulk = of_flows("throughput of the 10 MB", pl.col("size_bytes") * 8 / pl.col("fct_s"), "bulk", "bps")
"""Size over completion time of the 10 MB flow; mean over the rounds."""


def _more(metric: lab.MetricOrMeasure, *schemes: str, workers: lab.SelectedValues) -> lab.Quantity:
    """Increase of a metric by the 10 MB flow."""
    return lab.difference(*(lab.level(schemes, metric, study) for study in BOTH)).at(workers=workers)


@number_of("timeouts over all numbers of workers, over those alone")
def times_as_many(background: lab.Data, alone: lab.Data) -> dict[str, float]:
    """Ratio of the timeouts with the 10 MB flow to those without it, both summed over all numbers of workers."""
    of = {
        name: [sum(means(data, name, per_query, "workers").values()) for data in (background, alone)]
        for name in ("tcp", "dctcp")
    }
    return {f"{name}: times as many": beside / without for name, (beside, without) in of.items()}


@number_of("how far FaST's timeouts with 60 to 100 workers lie from those alone, over the larger of 5 and 25 %")
def out_of_place(background: lab.Data, alone: lab.Data) -> dict[str, float]:
    """Change of FaST's timeouts by the 10 MB flow, relative to the tolerance: 25 % of the timeouts, but at least 5."""
    beside, without = (means(data, "fast", per_query, "workers") for data in (background, alone))
    return {f"{n} workers": abs(beside[n] - without[n]) / max(5.0, 0.25 * without[n]) for n in WORKERS if n >= 60}


fig7 = lab.Figure("fast/fig7", "Fig. 7", "Mean query time beside a flow of 10 MB", BOTH)
fig7.claim("fast/fig7-newreno-281ms").says(
    "beside 10 MB NewReno needs 281 ms for 100 workers",
    lab.level("tcp", QUERY).at(workers=100).near(0.281),
    _more(QUERY, "tcp", workers=100).above(),
    fitted=True,
)
fig7.claim("fast/fig7-fast-below-35ms").says(
    "beside 10 MB FaST stays under 35 ms",
    lab.level("fast", QUERY).over("workers").highest().near(0.035, limit="at most"),
)
fig7.claim("fast/fig7-order").says(
    "beside 10 MB FaST is faster than DCTCP, and NewReno by far the slowest",
    lab.change("fast", "dctcp", QUERY).at(workers=lab.Every(50)).called("fast over dctcp").below(),
    lab.change("dctcp", "tcp", QUERY).at(workers=lab.Every(50)).called("dctcp over tcp").below(by=0.3),
)
fig7.claim("fast/fig7-all-slower", "Fig. 7 vs 4").says(
    "beside 10 MB all queries take longer than alone", _more(QUERY, *SCHEMES, workers=lab.Every()).above()
)
fig7.claim("fast/fig7-newreno-backoffs", "Sec. 5.3").says(
    "many of NewReno's flows back off again and again, as their retransmissions are lost too",
    _more(share_with(3), "tcp", workers=100).above(),
    shows=[lab.level("tcp", share_with(3), study).at(workers=100) for study in BOTH],
)
fig7.draw(lab.Curves("workers", QUERY, "workers", "Mean query time beside 10 MB"))
fig8 = lab.Figure("fast/fig8", "Fig. 8", "Timeouts per query beside a flow of 10 MB", BOTH)
fig8.claim("fast/fig8-slight-increase", "Fig. 8 vs 5").says(
    "the 10 MB add slightly to the timeouts of NewReno and DCTCP",
    times_as_many.within(high=2.0),
    _more(per_query, "tcp", "dctcp", workers=lab.Every(40)).above(),
)
fig8.claim("fast/fig8-fast-onset-30").says(
    "beside 10 MB FaST has its first timeouts at 30 workers", first("fast", per_query, 0.1, "background").near(30)
)
fig8.claim("fast/fig8-fast-same-overall", "Fig. 8 vs 5").says(
    "from there on FaST has as many timeouts as alone", out_of_place.within(high=1.0)
)
fig8.draw(lab.Curves("workers", per_query, "workers", "Timeouts per query beside 10 MB"))
BELOW_50 = lab.Every(high=49)
fig9 = lab.Figure("fast/fig9", "Fig. 9", "Throughput of the flow of 10 MB", {"background": BACKGROUND})
fig9.claim("fast/fig9-newreno-high-below-50").says(
    "below 50 workers NewReno's 10 MB are the fastest, FaST's and DCTCP's alike",
    lab.change("tcp", ("dctcp", "fast"), bulk).at(workers=BELOW_50).called("tcp").within(low=0.05),
    lab.change("fast", "dctcp", bulk).at(workers=BELOW_50).called("fast over dctcp").within(-0.1, 0.1),
)
fig9.claim("fast/fig9-fast-matches-above-50").says(
    "above 50 workers FaST's 10 MB are as fast as NewReno's",
    lab.change("fast", "tcp", bulk).at(workers=lab.Every(60)).within(-0.15, 0.15),
    no_harm=True,
)
fig9.draw(lab.Curves("workers", bulk, "workers", "Throughput of the flow of 10 MB"))
