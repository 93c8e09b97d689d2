"""Queueing theory: packets at random times, preemption by remaining size, and simultaneous packets."""

import math

from scipy.integrate import quad

from shortflow_papers import lab
from shortflow_papers.papers.known import holds

LOAD = 0.8
FIXED = 10_001 * 8 / 1e9
"""Service time of a packet of the M/D/1 queue, in seconds: 10,000 bytes and a header of one byte at 1 Gbps."""
EXPONENTIAL = 6_501 * 8 / 1e9
"""Mean service time of a packet of the M/M/1 queue, in seconds."""
EMPTY = 1e-6
"""Round-trip propagation delay, in seconds. Host links and ACKs add less than 0.1 % of a service time."""


def srpt(load: float) -> float:
    """Mean response time of an M/M/1 queue under SRPT, in mean service times (Schrage and Miller, 1966).

    The response time of a job of size x has two parts. The job waits until the work with remaining sizes below x is
    done. Then it is served, and smaller jobs that arrive preempt it.
    """

    def below(x: float) -> float:
        return load * (1 - math.exp(-x) * (1 + x))

    def time(x: float) -> float:
        # Both sums are load times a second moment: of the jobs smaller than x, and of the others, which count as x.
        smaller = load * (2 - math.exp(-x) * (x * x + 2 * x + 2))
        waits = (smaller + load * x * x * math.exp(-x)) / (2 * (1 - below(x)) ** 2)
        served, _ = quad(lambda t: 1 / (1 - below(t)), 0, x)
        return waits + float(served)

    return float(quad(lambda x: math.exp(-x) * time(x), 0, 60, limit=200)[0])


md1 = lab.Figure("known/md1", "M/D/1", "Packets of one size", {"packets": lab.Study("known-md1", ("tcp",))})
holds(
    md1,
    "md1-wait",
    "a packet waits rho / (2 (1 - rho)) services, 2 at a load of 0.8",
    lab.level("tcp", "queueing_packet_s"),
    LOAD / (2 * (1 - LOAD)) * FIXED,
    0.03,
)
mm1 = lab.Figure(
    "known/mm1", "M/M/1", "Packets of exponential sizes", {"packets": lab.Study("known-mm1", ("tcp", "ideal-srpt"))}
)
holds(
    mm1,
    "mm1-wait",
    "a packet waits rho / (1 - rho) services, 4 at a load of 0.8",
    lab.level("tcp", "queueing_packet_s"),
    LOAD / (1 - LOAD) * EXPONENTIAL,
    0.03,
)
holds(
    mm1,
    "mm1-srpt",
    "with preemption by remaining size a packet takes 2.35 services at a load of 0.8",
    lab.level("ideal-srpt", "afct_packet_s"),
    srpt(LOAD) * EXPONENTIAL + EMPTY,
    0.03,
)
fan_in = lab.Figure(
    "known/fan-in", "fan-in", "Packets that meet", {"packets": lab.Study("known-fan-in", ("tcp",), seeds=1)}
)
holds(
    fan_in,
    "fan-in-last",
    "the last of 40 packets of 12 us that meet takes 39 transmissions longer than one alone",
    lab.level("tcp", "p100_packet_s"),
    100e-6 + (2 * 12 + 2 * 0.32 + 39 * 12) * 1e-6,
    1e-6,
)
holds(fan_in, "fan-in-queue", "40 packets queue", lab.level("tcp", "queue_max_pkt"), 40.0, 1e-9)
