"""Figs. 7 to 9: queries while a 10 MB flow fills the root's link, and the goodput of that flow."""

import polars as pl

from shortflow import lab
from shortflow.papers.fast.fig04 import QUERY, first
from shortflow.papers.fast.fig05 import per_query, queries_with_three
from shortflow.papers.fast.setup import ALONE, DCTCP, OF_SCHEME, PORT, ROOT, SCHEMES, WORKERS, query, tree
from shortflow.papers.traffic import burst
from shortflow.result import Result

ROUNDS = 10
PERIOD_MS = 2000
HEAD_START_MS = 10
"""Start of the 10 MB flow before the query: the paper says only that the flow fills the link."""

BULK = burst(99, ROOT, "10MB", "bulk", repeat=ROUNDS, every=f"{PERIOD_MS}ms")
STARTS_MS = [i * PERIOD_MS + HEAD_START_MS for i in range(ROUNDS)]

BACKGROUND = lab.Study(
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
"""Ten rounds per run, each with a new 10 MB flow and one query."""

BOTH = {"background": BACKGROUND, "alone": ALONE}

MANY = lab.Every(60)


@lab.measure("throughput of the 10 MB", "bps")
def bulk(result: Result) -> float:
    """10 MB over the FCT, mean over the rounds."""
    flows = result.flows.filter(pl.col("class") == "bulk")
    return float((flows["size_bytes"] * 8 / flows["fct_s"]).to_numpy().mean())


@lab.measure("queue when the root asks", "B")
def queue_before_queries(result: Result) -> float:
    """Bytes in the port to the root, mean over the rounds."""
    queue = result.samples.filter((pl.col("kind") == "queue_bytes") & (pl.col("subject") == PORT))
    at_start = queue.filter((pl.col("time_s") * 1e3).round().cast(pl.Int64).is_in(STARTS_MS))
    return float(at_start["value"].to_numpy().mean())


def _more(metric: lab.Metric, *schemes: str, workers: lab.Selection) -> lab.Quantity:
    """Difference of a metric with and without the 10 MB flow."""
    return lab.difference(*(lab.level(schemes, metric, study) for study in BOTH)).at(workers=workers)


def _times_as_many(background: lab.Data, alone: lab.Data) -> dict[str, float]:
    """Timeouts over those without the flow, summed over all numbers of workers."""

    def total(data: lab.Data, scheme: str) -> float:
        return sum(data.mean(scheme, per_query, workers=n).value for n in WORKERS)

    return {f"{name}: times as many": total(background, name) / total(alone, name) for name in ("tcp", "dctcp")}


def _out_of_place(background: lab.Data, alone: lab.Data) -> dict[str, float]:
    """Deviation of FaST's timeouts from those without the flow, over the larger of 5 and 25 %."""
    many = [n for n in WORKERS if n >= 60]
    pairs = {n: [data.mean("fast", per_query, workers=n).value for data in (background, alone)] for n in many}
    return {f"{n} workers": abs(here - there) / max(5.0, 0.25 * there) for n, (here, there) in pairs.items()}


fig7 = lab.Figure("fast/fig7", "Fig. 7", "Mean query time beside a flow of 10 MB", BOTH).decides(
    lab.Claim("fast/fig7-newreno-281ms").says(
        "beside 10 MB NewReno needs 281 ms for 100 workers",
        lab.level("tcp", QUERY).at(workers=100).near(0.281),
        _more(QUERY, "tcp", workers=100).above(),
    ),
    lab.Claim("fast/fig7-fast-below-35ms").says(
        "beside 10 MB FaST stays under 35 ms", lab.level("fast", QUERY).over("workers").highest().under(0.035)
    ),
    lab.Claim("fast/fig7-order").says(
        "beside 10 MB FaST is faster than DCTCP, and NewReno by far the slowest",
        lab.change("fast", "dctcp", QUERY).at(workers=lab.Every(50)).called("fast over dctcp").below(),
        lab.change("dctcp", "tcp", QUERY).at(workers=lab.Every(50)).called("dctcp over tcp").below(by=0.3),
    ),
    lab.Claim("fast/fig7-all-slower", "Fig. 7 vs 4").says(
        "beside 10 MB all queries take longer than alone", _more(QUERY, *SCHEMES, workers=lab.Every()).above()
    ),
    lab.Claim("fast/fig7-newreno-backoffs", "Sec. 5.3").says(
        "many of NewReno's flows back off again and again, as their retransmissions are lost too",
        _more(queries_with_three, "tcp", workers=100).above(),
    ),
    draws=[lab.Curves("workers", QUERY, "workers", "Mean query time beside 10 MB")],
)
fig8 = lab.Figure("fast/fig8", "Fig. 8", "Timeouts per query beside a flow of 10 MB", BOTH).decides(
    lab.Claim("fast/fig8-slight-increase", "Fig. 8 vs 5").says(
        "the 10 MB add slightly to the timeouts of NewReno and DCTCP",
        lab.computed("timeouts over all numbers of workers, over those alone", _times_as_many).at_most(2.0),
        _more(per_query, "tcp", "dctcp", workers=lab.Every(40)).above(),
    ),
    lab.Claim("fast/fig8-fast-onset-30").says(
        "beside 10 MB FaST has its first timeouts at 30 workers", first("fast", per_query, 0.1, "background").near(30)
    ),
    lab.Claim("fast/fig8-fast-same-overall", "Fig. 8 vs 5").says(
        "from there on FaST has as many timeouts as alone",
        lab.computed(
            "how far FaST's timeouts with 60 to 100 workers lie from those alone, over the larger of 5 and 25 %",
            _out_of_place,
        ).at_most(1.0),
    ),
    draws=[lab.Curves("workers", per_query, "workers", "Timeouts per query beside 10 MB")],
)
FEW = lab.Every(high=49)
fig9 = lab.Figure("fast/fig9", "Fig. 9", "Throughput of the flow of 10 MB", {"background": BACKGROUND}).decides(
    lab.Claim("fast/fig9-newreno-high-below-50").says(
        "below 50 workers NewReno's 10 MB are the fastest, FaST's and DCTCP's alike",
        lab.change("tcp", ("dctcp", "fast"), bulk).at(workers=FEW).called("tcp").at_least(0.05),
        lab.change("fast", "dctcp", bulk).at(workers=FEW).called("fast over dctcp").within(-0.1, 0.1),
    ),
    lab.Claim("fast/fig9-fast-matches-above-50").says(
        "above 50 workers FaST's 10 MB are as fast as NewReno's",
        lab.change("fast", "tcp", bulk).at(workers=MANY).within(-0.15, 0.15),
        no_harm=True,
    ),
    lab.Claim("fast/sec53-ecn-keeps-room", "Sec. 5.3").says(
        "DCTCP's and FaST's long flows leave room in the buffer, NewReno's fills it",
        lab.unmeasured(
            "a flow whose own link is no faster than the root's waits in its sender's port, and keeps no queue in the "
            "switch whatever its window"
        ),
        shows=[lab.level(SCHEMES, queue_before_queries).at(workers=50)],
    ),
    draws=[lab.Curves("workers", bulk, "workers", "Throughput of the flow of 10 MB")],
)
