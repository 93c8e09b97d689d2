"""Sec. 1, 3.4 and 5: one short flow on an idle path."""

from collections.abc import Sequence

from shortflow_papers import lab
from shortflow_papers.lab.study import Value
from shortflow_papers.papers.common import burst_of, means, ns_study, number_of
from shortflow_papers.papers.pecn.setup import AFCT, DCTCP_CODE, star

SEGMENT = 1460
RTO_S = 0.2
DELAY_S = 0.04

ALONE = star(
    "One flow on an idle path of 1 Gbps",
    2,
    [burst_of(0, 1, "$size", deadline={"kind": "fixed", "value": "10ms"}, at="100ms", jitter="10us")],
    duration="200ms",
    drain="10s",
    parameters={"size": "2KB"},
)


def _segments(counts: Sequence[int]) -> dict[str, Sequence[Value]]:
    return {"size": [f"{n * SEGMENT}B" for n in counts]}


UP_TO_3 = _segments((1, 2, 3))
UP_TO_20 = _segments(range(1, 21))
INTACT = ns_study(ALONE, ("tcp", "dctcp"), over=UP_TO_3, settings=DCTCP_CODE, seeds=1)
LOST = ns_study(
    ALONE, ("tcp", "dctcp"), over={**UP_TO_3, "faults.drop_data": ("[1]", "[2]", "[3]")}, settings=DCTCP_CODE, seeds=1
)
QUERY = ns_study(ALONE, ("tcp", "dctcp", "d2tcp"), over={"tcp.initial_window": (1, 2)}, settings=DCTCP_CODE, seeds=1)
PROMPT = ns_study(ALONE, ("tcp", "dctcp"), over=UP_TO_20, settings=DCTCP_CODE, seeds=1)
DELAYED = ns_study(
    ALONE,
    ("tcp", "dctcp"),
    over=UP_TO_20,
    settings={**DCTCP_CODE, "tcp.ack_every": 2, "tcp.ack_delay": "40ms"},
    seeds=1,
)


def _needs_rto(intact: lab.Data, lost: lab.Data) -> lab.Finding:
    cases = [
        (scheme, size, drop)
        for scheme in ("tcp", "dctcp")
        for segments, size in enumerate(UP_TO_3["size"], 1)
        for drop in range(1, segments + 1)
    ]
    times, extra, repairs = [], [], []
    for scheme, size, drop in cases:
        where = {"size": size, "faults__drop_data": f"[{drop}]"}
        times.append(lost.mean(scheme, AFCT, **where).value)
        extra.append(times[-1] - intact.mean(scheme, AFCT, size=size).value)
        repairs += [lost.mean(scheme, count, **where).value for count in (lab.timeouts_in_run, lab.retransmits_in_run)]
    return lab.all_hold(
        {
            "shortest (s)": lab.within(min(times), low=RTO_S, least_extra_s=min(extra)),
            "fewest timeouts or retransmissions": lab.within(min(repairs), low=1),
            "most": lab.within(max(repairs), high=1),
        }
    )


def _one_rtt_s() -> float:
    """RTT in seconds of a flow of two packets.

    It has the propagation delay, the transmission of both packets on the first link, of the second packet on the second
    link, and of its ACK on both links.
    """
    gigabit = 1e9 / 8
    first, second, ack = SEGMENT + 40, 2000 - SEGMENT + 40, 40
    return 120e-6 + (first + max(first, second) + second + 2 * ack) / gigabit


QUERY_TIME = lab.level("dctcp", AFCT)


@number_of("spread over tcp, dctcp and d2tcp", "s")
def spread(runs: lab.Data) -> float:
    times = [runs.mean(scheme, AFCT, tcp__initial_window=2).value for scheme in ("tcp", "dctcp", "d2tcp")]
    return max(times) - min(times)


def _delays(odd: int) -> lab.Quantity:
    """Time in seconds that delayed ACKs add to flows with an odd or an even number of segments."""

    @number_of(f"how much longer flows of {'an odd' if odd else 'an even'} number of segments take", "s")
    def extra(prompt: lab.Data, delayed: lab.Data) -> dict[str, float]:
        schemes = ("tcp", "dctcp")
        early, late = ({name: means(data, name, AFCT, "size") for name in schemes} for data in (prompt, delayed))
        sizes = {n: size for n, size in enumerate(UP_TO_20["size"], 1) if n % 2 == odd}
        return {f"{at}, {n} segments": late[at][size] - early[at][size] for at in schemes for n, size in sizes.items()}

    return extra


loss = lab.Figure("pecn/loss", "Sec. 1", "A lost packet of a flow of up to three", {"intact": INTACT, "lost": LOST})
loss.claim("pecn/sec1-short-flow-loss-needs-rto").says(
    "a flow of up to three segments that loses one waits for the retransmission timer",
    lab.decided(
        "in each case one timeout, one retransmission and at least 200 ms until done; not 200 ms on top, since "
        "it does not wait behind the others, which saves up to 24 us",
        _needs_rto,
    ),
)
query = lab.Figure("pecn/query", "Sec. 3.4", "One query of 2 KB", {"runs": QUERY})
query.claim("pecn/sec34-query-one-rtt").says(
    "a query of 2 KB is two segments and takes one round trip, whatever the window law",
    QUERY_TIME.at(tcp__initial_window=2).near(_one_rtt_s(), error=0.05),
    spread.within(high=1e-9),
    lab.ratio(QUERY_TIME.at(tcp__initial_window=1), QUERY_TIME.at(tcp__initial_window=2)).within(low=1.5),
)
delayed_ack = lab.Figure("pecn/delayed-ack", "Sec. 5", "Delayed ACKs", {"prompt": PROMPT, "delayed": DELAYED})
delayed_ack.claim("pecn/sec5-delayed-ack-odd").says(
    "delayed ACKs of 40 ms make flows with an odd number of packets very slow",
    _delays(odd=1).near(DELAY_S, error=0.1),
    shows=[_delays(odd=0).highest()],
)
for name in ("prompt", "delayed"):
    delayed_ack.draw(lab.Curves("size", AFCT, "size (B)", f"Completion time, {name} ACKs", name))
