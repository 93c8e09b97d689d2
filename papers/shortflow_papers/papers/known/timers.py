"""RFCs: retransmission timer, initial window, tail loss probe, and CUBIC's curve."""

import math
from itertools import pairwise

from shortflow.api.errors import TooLittle
from shortflow.api.runs import Result
from shortflow_papers import lab
from shortflow_papers.papers.common import series
from shortflow_papers.papers.known import holds


@lab.per_run("time from 0.7 W to 1.3 W over K", "")
def rise(result: Result) -> float:
    """Time from CUBIC's decrease at the window W until the window is 1.3 W, divided by K = cbrt(0.3 W / 0.4).

    The time until the window is W again is K. However, the curve is flat near W, so a fraction of a segment would
    change this time much.
    """
    samples = series(result, "cwnd_seg")
    rows = list(zip(samples["time_s"].to_list(), samples["value"].to_list(), strict=True))
    cut = next(((at, old) for (_, old), (at, new) in pairwise(rows) if new < 0.9 * old), None)
    back = cut and next((at for at, now in rows if at > cut[0] and now >= 1.3 * cut[1]), None)
    if cut is None or back is None:
        raise TooLittle("the window does not rise")
    return float((back - cut[0]) / math.cbrt(0.3 * cut[1] / 0.4))


def _study(name: str, *schemes: str) -> dict[str, lab.Study]:
    return {"flow": lab.Study(f"known-{name}", schemes, seeds=1)}


rto = lab.Figure("known/rfc6298", "RFC 6298", "Timer before a sample", _study("rfc6298", "newreno", "tcp"))
holds(
    rto,
    "rfc6298-backoff",
    "a packet lost three times takes 1 + 2 + 4 s and a round trip",
    lab.level(("newreno", "tcp"), "afct_lost_s"),
    7.1,
    1e-4,
)
sampled = lab.Figure(
    "known/rfc6298-sample", "RFC 6298", "Timer after a sample", _study("rfc6298-sample", "newreno", "tcp")
)
holds(
    sampled,
    "rfc6298-sample",
    "after one sample R the timer is R + 4 R/2, so two packets, the second lost once, take five round trips",
    lab.level(("newreno", "tcp"), "afct_lost_s"),
    0.5,
    1e-3,
)
first = lab.Figure("known/rfc6928", "RFC 6928", "Initial window", _study("rfc6928", "newreno", "tcp", "cubic"))
for name, rounds in (("ten", 1), ("thirty", 2), ("seventy", 3)):
    holds(
        first,
        f"rfc6928-{name}",
        f"{name} segments take {rounds} round trip{'s' * (rounds > 1)} with an initial window of ten",
        lab.level(("newreno", "tcp", "cubic"), f"afct_{name}_s"),
        0.1 * rounds,
        1e-3,
    )
probe = lab.Figure(
    "known/rfc8985",
    "RFC 8985",
    "Tail loss probe",
    {"flow": lab.Study("known-rfc8985", ("tcp",), settings={"transport.recovery": "rack"}, seeds=1)},
)
holds(
    probe,
    "rfc8985-probe",
    "a lost last packet costs three round trips, not a timeout of 200 ms",
    lab.level("tcp", "afct_tail_s"),
    0.08,
    1e-3,
)
cubic = lab.Figure("known/rfc9438", "RFC 9438", "CUBIC's curve", _study("rfc9438", "cubic"))
holds(
    cubic,
    "rfc9438-k",
    "after a loss at W the window is 1.3 W after 2 K = 2 cbrt(0.3 W / 0.4) seconds",
    lab.level("cubic", rise),
    2.0,
    0.05,
)
