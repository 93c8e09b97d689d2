"""Fig. 4: mean query time over the number of workers; Secs. 4 and 6 on these queries."""

import polars as pl

from shortflow import lab
from shortflow.papers.fast.setup import ALONE, PORT, SCHEMES, WORKERS, asked, queries, tree
from shortflow.papers.traffic import burst
from shortflow.result import Result

TIMEOUT_S = 0.010
"""Longer queries had a retransmission timeout."""

NAGLE = queries(("fast",), {"transport.nagle": ("false", "true")}, {"workers": 60})
KNEE = queries(("dctcp", "fast"), {"workers": (45, 50)})
ONE_BYTE = burst(99, 0, "1B", "ping")
PING = lab.Study(
    tree("One byte from one rack to another", "1s", [ONE_BYTE]), ("tcp",), {"tcp.ack_every": (1,)}, seeds=1
)


def _round_trip(ping: lab.Data) -> lab.Pairs:
    found = ping.mean("tcp", "afct_ping_s", tcp__ack_every=1).value
    # A data packet of 41 bytes and an ACK of 40 cross two links at 1 Gbps and two at 10 Gbps.
    sending = (41 + 40) * 8 * (2 / 1e9 + 2 / 10e9)
    return {"rtt_us": ((found - sending) * 1e6, 200.0)}


@lab.measure("share of queries without a timeout")
def queries_without_timeout(result: Result) -> float:
    """Share of queries whose flows had no timeout."""
    late = result.flows.filter(pl.col("timeouts") > 0)["task"].n_unique()
    return 1.0 - late / asked(result)


@lab.measure("share of segments below the MSS, after probing and but for the last")
def small_segments(result: Result) -> float:
    """Lower bound on the share of segments after probing smaller than the MSS, from arriving packets.

    10 KB are three probes of 730 bytes and 7810 bytes more, so at most five later segments are whole. The last segment
    is a remainder and does not count. Packets are those of the port to the root, without the ACKs of its requests.
    """
    answers = result.flows.filter(pl.col("class") == "query").height
    (packets,) = lab.some(result.ports.filter(pl.col("port") == PORT), "port")["tx_packets"]
    later = packets / answers - 1 - 3
    return float((later - 5 - 1) / later)


@lab.measure("share of queries without a loss")
def queries_without_loss(result: Result) -> float:
    """Share of queries whose flows had no retransmission. Without loss, nothing is retransmitted."""
    lossy = result.flows.filter(pl.col("retransmits") > 0)["task"].n_unique()
    return 1.0 - lossy / asked(result)


def first(scheme: str, metric: lab.Metric, above: float, study: str = "alone") -> lab.Quantity:
    """Smallest number of workers with the mean of a metric above a limit; 0 if none."""
    quantity = lab.level(scheme, metric, study)

    def smallest(data: lab.Data) -> float:
        slow = [n for n in WORKERS if quantity.at(workers=n).points({study: data})[""].value > above]
        return float(min(slow, default=0))

    text = f"first number of workers with {quantity.text} above {above:g}"
    return lab.computed(text, smallest, studies=(study,)).called(f"first of {scheme}")


QUERY = "query_time_s"
AT_100 = {name: lab.level(name, QUERY).at(workers=100) for name in SCHEMES}
FEW, MANY = (10, 20, 30), tuple(range(60, 101, 10))

fig4 = lab.Figure("fast/fig4", "Fig. 4", "Mean query time", {"alone": ALONE, "knee": KNEE}).decides(
    lab.Claim("fast/fig4-low-n").says(
        "with 10 to 30 workers no transport loses anything and all answer quickly",
        lab.level(SCHEMES, QUERY).at(workers=FEW).called("time").at_most(TIMEOUT_S),
        lab.level(SCHEMES, queries_without_timeout).at(workers=FEW).called("without timeout").at_least(0.95),
    ),
    lab.Claim("fast/fig4-newreno-72ms").says("NewReno needs 72 ms for 100 workers", AT_100["tcp"].near(0.072)),
    lab.Claim("fast/fig4-dctcp-43ms").says("DCTCP needs 43 ms for 100 workers", AT_100["dctcp"].near(0.043)),
    lab.Claim("fast/fig4-fast-16ms").says("FaST needs 16 ms for 100 workers", AT_100["fast"].near(0.016)),
    lab.Claim("fast/fig4-order-100").says(
        "for many workers FaST is faster than DCTCP, and DCTCP than NewReno",
        lab.change("fast", "dctcp", QUERY).at(workers=MANY).called("fast over dctcp").below(),
        lab.change("dctcp", "tcp", QUERY).at(workers=MANY).called("dctcp over tcp").below(),
    ),
    lab.Claim("fast/fig4-fast-flat-to-50").says(
        "FaST's query time stays low up to 50 workers",
        lab.level("fast", QUERY, "knee").at(workers=50).at_most(TIMEOUT_S),
        lab.level("fast", lab.timeouts_in_run).at(workers=(10, 20, 30, 40)).at_most(0.0),
        lab.level("fast", lab.timeouts_in_run, "knee").at(workers=45).called("timeouts at 45").at_most(0.0),
    ),
    lab.Claim("fast/fig4-onset").says(
        "NewReno and DCTCP slow down by a timeout from more than 30 workers on",
        *(first(scheme, QUERY, TIMEOUT_S).within(30, 50) for scheme in ("tcp", "dctcp")),
    ),
    draws=[lab.Curves("workers", QUERY, "workers", "Mean query time")],
)
network = lab.Figure("fast/fig3", "Fig. 3", "The longest round trip of the tree", {"ping": PING}).decides(
    lab.Claim("fast/sec51-longest-rtt", "Sec. 5.1").says(
        "propagation across racks and back takes 200 us", lab.equal(_round_trip)
    )
)
grain = lab.Figure("fast/sec4", "Sec. 4", "Small segments", {"alone": ALONE, "nagle": NAGLE}).decides(
    lab.Claim("fast/sec4-alpha-needed-for-fine-grain").says(
        "with many flows the window falls below one segment, which is what makes segments small",
        lab.level("fast", small_segments).at(workers=60).at_least(0.30),
    ),
    lab.Claim("fast/sec4-nagle-off").says(
        "waiting for whole segments makes queries much slower",
        lab.unmeasured(
            "the paper has no number; waiting for a segment of the current size costs little, as the flows that wait "
            "have shrunk their segments"
        ),
        shows=[lab.level("fast", QUERY, "nagle").over("transport.nagle")],
    ),
)
losses = lab.Figure("fast/sec6", "Sec. 6", "Flows without loss", {"alone": ALONE}).decides(
    lab.Claim("fast/sec6-50-flows-no-loss", "Sec. 1, 6").says(
        "FaST carries 50 flows at once without a loss",
        lab.level("fast", queries_without_loss).at(workers=50).at_least(0.90),
        shows=[lab.level("fast", lab.drops_in_run).at(workers=50)],
    )
)
