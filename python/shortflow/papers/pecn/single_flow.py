"""Sec. 1, 3.4 and 5: one short flow on an idle path."""

from collections.abc import Mapping, Sequence

from shortflow.lab import (
    Data,
    Drawing,
    Figure,
    Finding,
    Study,
    all_hold,
    at_least,
    at_most,
    close_to,
    curves,
    retransmits_in_run,
    timeouts_in_run,
    within,
)
from shortflow.lab.study import Value
from shortflow.papers.pecn.setup import AFCT, NEWRENO, TCP

SEGMENT = 1460
RTO_S = 0.2
DELAY_S = 0.04

ALONE: Mapping[str, object] = {
    "title": "One flow on an idle path of 1 Gbps",
    "duration": "200ms",
    "drain": "10s",
    "parameters": {"size": "2KB"},
    "topology": {"kind": "star", "hosts": 2, "rate": "1Gbps", "rtt": "120us"},
    "switch": {"buffer": "256KB", "mark_above": "30KB"},
    "tcp": TCP,
    "traffic": [
        {
            "kind": "incast",
            "flows": 1,
            "from": 0,
            "to": 1,
            "sizes": {"kind": "fixed", "value": "$size"},
            "deadline": {"kind": "fixed", "value": "10ms"},
            "at": "100ms",
            "jitter": "10us",
        }
    ],
}


def _segments(counts: Sequence[int]) -> dict[str, Sequence[Value]]:
    return {"size": [f"{n * SEGMENT}B" for n in counts]}


UP_TO_3 = _segments((1, 2, 3))
UP_TO_20 = _segments(range(1, 21))
INTACT = Study(ALONE, ("tcp", "dctcp"), over=UP_TO_3, settings=NEWRENO, seeds=1, quick_seeds=1)
LOST = Study(
    ALONE,
    ("tcp", "dctcp"),
    over={**UP_TO_3, "faults.drop_data": ("[1]", "[2]", "[3]")},
    settings=NEWRENO,
    seeds=1,
    quick_seeds=1,
)
QUERY = Study(
    ALONE, ("tcp", "dctcp", "d2tcp"), over={"tcp.initial_window": (1, 2)}, settings=NEWRENO, seeds=1, quick_seeds=1
)
PROMPT = Study(ALONE, ("tcp", "dctcp"), over=UP_TO_20, settings=NEWRENO, seeds=1, quick_seeds=1)
DELAYED = Study(
    ALONE,
    ("tcp", "dctcp"),
    over=UP_TO_20,
    settings={**NEWRENO, "tcp.ack_every": 2, "tcp.ack_delay": "40ms"},
    seeds=1,
    quick_seeds=1,
)

loss = Figure("pecn/loss", "Sec. 1", "A lost packet of a flow of up to three", {"intact": INTACT, "lost": LOST})
query = Figure("pecn/query", "Sec. 3.4", "One query of 2 KB", {"runs": QUERY})
delayed_ack = Figure("pecn/delayed-ack", "Sec. 5", "Delayed ACKs", {"prompt": PROMPT, "delayed": DELAYED})


@loss.claim(
    "sec1-short-flow-loss-needs-rto",
    "a flow of up to three segments that loses one waits for the retransmission timer",
    "in each case one timeout, one retransmission and at least 200 ms until done; not 200 ms on top, since it does "
    "not wait behind the others, which saves up to 24 us",
)
def needs_rto(intact: Data, lost: Data) -> Finding:
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
        repairs += [lost.measured(count, scheme, **where).value for count in (timeouts_in_run, retransmits_in_run)]
    return all_hold(
        {
            "shortest (s)": at_least(min(times), RTO_S, least_extra_s=min(extra)),
            "fewest timeouts or retransmissions": at_least(min(repairs), 1),
            "most": at_most(max(repairs), 1),
        }
    )


def _one_rtt_s() -> float:
    """The round trip, two packets after one another on the first link, the second once more, and its ACK twice."""
    gigabit = 1e9 / 8
    first, second, ack = SEGMENT + 40, 2000 - SEGMENT + 40, 40
    return 120e-6 + (first + max(first, second) + second + 2 * ack) / gigabit


@query.claim(
    "sec34-query-one-rtt",
    "a query of 2 KB is two segments and takes one round trip, whatever the window law",
    "identical for TCP, DCTCP and D2TCP; within 5 % of a round trip and transmission; with a window of 1 half longer",
)
def one_round_trip(runs: Data) -> Finding:
    times = [runs.mean(scheme, AFCT, tcp__initial_window=2).value for scheme in ("tcp", "dctcp", "d2tcp")]
    slow = runs.mean("dctcp", AFCT, tcp__initial_window=1).value
    return all_hold(
        {
            "FCT (s)": close_to(times[1], _one_rtt_s(), 0.05),
            "spread (s)": within(max(times) - min(times), 0.0, 1e-9),
            "window of 1 over window of 2": at_least(slow / times[1], 1.5),
        }
    )


@delayed_ack.drawing
def over_segments(prompt: Data, delayed: Data) -> Sequence[Drawing]:
    return [
        curves(data, "size", AFCT, x_label="size (B)", title=f"Completion time, {name} ACKs")
        for name, data in (("prompt", prompt), ("delayed", delayed))
    ]


@delayed_ack.claim(
    "sec5-delayed-ack-odd",
    "delayed ACKs of 40 ms make flows with an odd number of packets very slow",
    "flows of 1, 3, ..., 19 segments take 36 to 44 ms longer",
)
def odd_flows(prompt: Data, delayed: Data) -> Finding:
    def extra(scheme: str, n: int) -> float:
        size = f"{n * SEGMENT}B"
        return delayed.mean(scheme, AFCT, size=size).value - prompt.mean(scheme, AFCT, size=size).value

    odd = [extra(scheme, n) for scheme in ("tcp", "dctcp") for n in range(1, 21, 2)]
    even = [extra(scheme, n) for scheme in ("tcp", "dctcp") for n in range(2, 21, 2)]
    low, high = 0.9 * DELAY_S, 1.1 * DELAY_S
    return all_hold(
        {
            "least of odd (s)": within(min(odd), low, high),
            "most of odd (s)": within(max(odd), low, high, most_of_even=max(even)),
        }
    )
