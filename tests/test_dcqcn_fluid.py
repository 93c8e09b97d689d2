"""DCQCN's fluid model and packets agree if packets behave as the model assumes. The limit cycle has two causes.

The model is that of Y. Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016,
Sec. 3, for equal flows. In the model, marks arrive after a fixed time, and the marking probability rises without limit.
`waits` adds the wait in the queue of a packet that is marked on arrival. `cliff` adds the jump to 1 at K_max.
"""

import math
from dataclasses import dataclass
from functools import cache

import polars as pl
import pytest

import shortflow as sf

PACKET = 1500
LINK = 40e9 / 8 / PACKET
"""Rate of the link in packets per second."""
K_MIN, K_MAX, P_MAX = 5e3, 200e3, 0.01
UNENDING: dict[str, str | float] = {"queue.min": "10KB", "queue.max": 100, "queue.max_p": P_MAX * 990 / 195}
"""Settings with the same slope of the marking probability up to a queue of 1 MB."""
BY_DEPARTURE = {"queue.mark": "departure"}


@dataclass(frozen=True)
class Found:
    """Utilisation of the link, mean and largest queue in bytes, and share of marked packets."""

    utilisation: float
    mean: float
    largest: float
    marks: float


def _probability(queue: float, *, cliff: bool) -> float:
    if cliff and queue >= K_MAX:
        return 1 - 1e-9
    return max(0.0, P_MAX * (queue - K_MIN) / (K_MAX - K_MIN))


def _rises(log: float, p: float, packets: float, recovery: float) -> tuple[float, float]:
    """Share of packets at which a counter expires, and share of expirations after fast recovery."""
    if p == 0:
        return 1 / packets, 1.0
    expires = p / math.expm1(-log * packets) if -log * packets < 700 else 0.0
    return expires, math.exp(log * recovery * packets)


@cache
def fluid(flows: int, *, waits: bool, cliff: bool) -> Found:
    """Solves the fluid model by Euler's method over 60 ms, without the first 20 ms. The base RTT is 8 us."""
    step, base, notified, timer = 1e-6, 8e-6, 50e-6, 55e-6
    gain, recovery, counter, increase = 1 / 256, 5, 10e6 / PACKET, 40e6 / 8 / PACKET
    rate = target = 1.05 * LINK / flows
    alpha, queue = 0.2, 0.0
    past = [(0.0, rate)]
    used, queues, marked, sent = 0.0, list[float](), 0.0, 0.0
    for number in range(60_000):
        delay = base + (queue / LINK if waits else 0)
        p, then = past[max(0, number - int(delay / step))]
        log = math.log1p(-p)
        by_bytes, beyond_bytes = _rises(log, p, counter, recovery)
        by_timer, beyond_timer = _rises(log, p, timer * then, recovery)
        is_cut = -math.expm1(log * notified * then) / notified
        rise = (target - rate) / 2 * then * (by_bytes + by_timer) - rate * alpha / 2 * is_cut
        drift = increase * then * (beyond_bytes * by_bytes + beyond_timer * by_timer) - (target - rate) * is_cut
        queue = max(0.0, queue + (flows * rate - LINK) * step)
        alpha += gain / timer * (-math.expm1(log * timer * then) - alpha) * step
        rate, target = min(LINK, max(850.0, rate + rise * step)), min(LINK, max(850.0, target + drift * step))
        past.append((_probability(queue * PACKET, cliff=cliff), rate))
        if number >= 20_000:
            used += 1 if queue else min(1.0, flows * rate / LINK)
            queues.append(queue * PACKET)
            marked, sent = marked + past[-1][0] * rate, sent + rate
    return Found(used / len(queues), sum(queues) / len(queues), max(queues), marked / sent)


def packets(flows: int, **settings: str | float) -> Found:
    run = sf.run("known-dcqcn", "dcqcn", settings={"flows": flows, **settings})
    port = run.ports.filter(pl.col("port") == "s0->h40").row(0, named=True)
    share = port["marks"] / port["tx_packets"]
    return Found(port["utilisation"], port["queue_mean_bytes"], port["queue_max_bytes"], share)


@pytest.mark.parametrize(("flows", "queue", "marks"), [(8, 137.2e3, 0.0068), (20, 421.7e3, 0.0214)])
def test_packets_have_the_models_fixed_point_where_they_fulfil_its_assumptions(
    flows: int, queue: float, marks: float
) -> None:
    """The formula for small probabilities, a cube root, gives 181 KB and 0.90 % for 8 flows, and 3.06 % for 20."""
    model, found = fluid(flows, waits=False, cliff=False), packets(flows, **UNENDING, **BY_DEPARTURE)
    for each, most in [(model, 0.01), (found, 0.1)]:
        assert each.mean == pytest.approx(queue, rel=most)
        assert each.marks == pytest.approx(marks, rel=most)
    assert min(model.utilisation, found.utilisation) > 0.99


def test_the_limit_cycle_needs_marks_that_wait_and_the_cliff() -> None:
    """With both causes, the queue exceeds K_max, all flows are notified, and the queue empties, in model and packets.

    Without one of the causes, the model reaches its fixed point.
    """
    model, found = fluid(8, waits=True, cliff=True), packets(8)
    assert found.mean == pytest.approx(model.mean, rel=0.2)
    assert max(model.utilisation, found.utilisation) < 0.99
    assert min(model.largest, found.largest) > K_MAX
    for waits, cliff in [(False, True), (True, False)]:
        rests = fluid(8, waits=waits, cliff=cliff)
        assert rests.mean == pytest.approx(137.2e3, rel=0.01)
        assert rests.utilisation > 0.9999
