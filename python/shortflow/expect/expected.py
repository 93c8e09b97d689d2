"""Expected numbers, with the formula and source of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

ITSELF, IDEAL_PS, IDEAL_SRPT = "", "ideal-ps", "ideal-srpt"
UTILISATION, ALONE = "utilisation", "ideal"
"""Readings that are not metrics: mean utilisation of ports, and mean completion time of a class in an empty network."""


class Formula(NamedTuple):
    """Formula and source of an expected number."""

    topic: str
    unit: str
    formula: str
    source: str


_STORE = "store and forward; crates/sim/src/theory/fct.rs"
_BURST = "service times summed in order of size + latency"
_PECN, _FAST = "pECN, ComSIS 2016, Sec. 3", "FaST, KSII TIIS 2014"
_DCTCP = "DCTCP, SIGCOMM 2010"

FORMULAS: Mapping[str, Formula] = {
    "payload rate": Formula("links", "bps", "rate · mss / (mss + headers)", "RFC 9293; IEEE 802.3 (tcp.wire)"),
    "round trip": Formula(
        "alone", "s", "propagation both ways + transmission of one full packet and its ACK on each link", _STORE
    ),
    "bandwidth-delay product": Formula("alone", "pkt", "C · RTT at the slowest link", "by definition"),
    "completion time alone": Formula(
        "alone", "s", "mean over the sizes of: transmission at the slowest link + latency", _STORE
    ),
    "use": Formula(
        "load",
        "share",
        "(flows per second · mean size with headers + ACKs + shares of long flows) / rate",
        "by definition",
    ),
    "goodput together": Formula(
        "load",
        "bps",
        "max-min shares of the rate that finite flows leave · payload / packet",
        "Bertsekas and Gallager, Data Networks, Sec. 6.5.2",
    ),
    "load of finite flows": Formula(
        "slowdown", "x", "finite flows alone; at 1 or more there is no steady state", "by definition"
    ),
    "mean by PS": Formula(
        "slowdown",
        "x",
        "(latency + service (K + 1) / (1 - load)) / alone, K long flows",
        "M/G/1-PS: Kleinrock II, Sec. 4.4; van den Berg and Boxma 1991",
    ),
    "p99 by PS": Formula(
        "slowdown",
        "x",
        "for flows that end before any other: the number of other flows is negative binomial",
        "M/G/1-PS in steady state",
    ),
    "mean by SRPT": Formula("slowdown", "x", "(latency + waiting + residence) / alone", "Schrage and Miller 1966"),
    "mean, shortest first": Formula("bursts", "s", _BURST, _PECN),
    "mean, equal shares": Formula("bursts", "s", _BURST, _PECN),
    "last of all": Formula("bursts", "s", _BURST, _PECN),
    "time of a query": Formula("bursts", "s", "half a round trip + compute time + last of all", _PECN),
    "time of a shuffle": Formula("bursts", "s", "last of all", _PECN),
    "time of a collective": Formula(
        "bursts", "s", "number of steps · one-way time of a chunk", "nccl-tests, PERFORMANCE.md"
    ),
    "packets of first windows": Formula("bursts", "pkt", "flows · initial window", f"{_FAST}, Sec. 3"),
    "flows that fit": Formula("bursts", "", "(C · RTT + buffer) / 2 packets", f"{_FAST}, Eq. 7"),
    "buffer over C·RTT": Formula(
        "queue", "x", "buffer / (C · RTT)", "rule of one bandwidth-delay product: Villamizar and Song 1994"
    ),
    "K over its bound": Formula("queue", "x", "K / (C · RTT / 7)", f"{_DCTCP}, Eq. 13"),
    "least K, weight 2.5": Formula(
        "queue", "pkt", "w^w C · RTT / (2 (w + 1)^(w + 1) - w^w)", "L2DCT, INFOCOM 2013, Eq. 13"
    ),
    "largest gain g": Formula("queue", "", "1.386 / sqrt(2 (C · RTT + K))", f"{_DCTCP}, Eq. 15"),
    "largest queue": Formula("queue", "pkt", "K + N", f"{_DCTCP}, Eq. 10"),
    "mean queue": Formula("queue", "pkt", "mean of K + N and K + N - A", f"{_DCTCP}, Eqs. 8 to 12"),
    "marks": Formula("queue", "", "packets · alpha, summed over all full links", f"{_DCTCP}, Eq. 6"),
    "RTO_min over round trip": Formula("timers", "x", "tcp.rto_min / RTT", "RFC 6298"),
    "slowdown with a timeout": Formula("timers", "x", "1 + tcp.rto_min / alone", "RFC 6298"),
}


class Reading(NamedTuple):
    """The simulated number to compare with an expected number."""

    metric: str
    """A metric, `UTILISATION` or `ALONE`."""
    scheme: str = ITSELF
    """Name of an ideal scheduler. Empty for the scheme itself."""
    flow_class: str = ""
    ports: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Expected:
    """One expected number. Its name is a key of `FORMULAS`."""

    name: str
    subject: str
    value: float
    reading: Reading | None = None
    scatter: float = 0.0
    """Relative standard deviation of the number in one seed, due to random arrivals and sizes only."""
    simulated: float | None = None
    is_least: bool = False
    """True if the simulated number is a lower bound, because flows or tasks did not finish."""

    @property
    def formula(self) -> Formula:
        """Formula, source, unit and topic."""
        return FORMULAS[self.name]

    @property
    def off(self) -> float | None:
        """Relative difference of the simulated number from the expected one.

        None without a simulated number, or if the simulated number is only a lower bound.
        """
        known = self.simulated is not None and self.value and not self.is_least
        return self.simulated / self.value - 1 if known else None  # type: ignore[operator]
