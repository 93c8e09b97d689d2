"""Closed forms for flows on one link: shares of long flows, slowdowns in a queue, and bursts."""

import bisect
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shortflow.expect.network import Pair


class Group(NamedTuple):
    """Backlogged flows that get equal rates."""

    flow_class: str
    flows: float
    use: Mapping[Pair, float]
    """Total rate on each link when each flow of the group has rate 1."""
    most_bps: float = math.inf
    """Maximum rate of one flow that its window allows."""


def max_min(groups: Sequence[Group], capacity: Mapping[Pair, float]) -> list[tuple[float, Pair | None]]:
    """Rate of one flow of each group in bit/s on the wire, with the link that limits the rate, or None for the window.

    Progressive filling: all rates grow equally until a link is full; flows of this link keep their rate (Bertsekas and
    Gallager, Data Networks, Sec. 6.5.2).
    """
    found: dict[int, tuple[float, Pair | None]] = {}
    left, level = dict(capacity), 0.0
    while len(found) < len(groups):
        growing = [place for place in range(len(groups)) if place not in found]
        use: dict[Pair, float] = {}
        for place in growing:
            for port, share in groups[place].use.items():
                use[port] = use.get(port, 0.0) + share
        full = min(use, key=lambda port: left[port] / use[port])
        step = max(left[full] / use[full], 0.0)
        most = min(groups[place].most_bps for place in growing) - level
        stopped: Pair | None = full if step <= most else None
        step = min(step, most)
        level += step
        for port, share in use.items():
            left[port] -= share * step
        for place in growing:
            held = full in groups[place].use if stopped else groups[place].most_bps <= level
            if held:
                found[place] = (level, stopped)
    return [found[place] for place in range(len(groups))]


class Work(NamedTuple):
    """Flows of one size on a link."""

    service_s: float
    latency_s: float
    """Part of the completion time that queueing does not lengthen."""
    weight: float


@dataclass(frozen=True)
class Server:
    """A link as a single server with Poisson arrivals of flows, and with backlogged flows."""

    work: Sequence[Work]
    """Flows by size, in increasing order. The weights sum to 1."""
    load: float
    endless: int = 0

    def ps_mean(self) -> float:
        """Mean slowdown under processor sharing. K backlogged flows lengthen each service time by (K + 1)/(1 - load).

        Kleinrock, Queueing Systems II, Sec. 4.4; with permanent customers, van den Berg and Boxma, 1991.
        """
        stretch = (self.endless + 1) / (1 - self.load)
        return sum(
            work.weight * (work.latency_s + work.service_s * stretch) / (work.latency_s + work.service_s)
            for work in self.work
        )

    def ps_short(self, share: float) -> float:
        """Quantile of the slowdown under processor sharing, for flows too short to see the number of flows change.

        The number of other finite flows is negative binomial with parameter K + 1 (geometric without backlogged flows).
        A longer flow sees this number change, so its slowdown is closer to the mean.
        """
        states = list(self._states())
        slowdowns = sorted(
            ((work.latency_s + work.service_s * others) / (work.latency_s + work.service_s), work.weight * chance)
            for work in self.work
            for others, chance in states
        )
        return _quantile(slowdowns, share)

    def srpt(self) -> list[tuple[float, float]]:
        """Mean slowdown of each size under SRPT, with the weight of the size (Schrage and Miller, 1966)."""
        mean_s = sum(work.service_s * work.weight for work in self.work)
        per_s = self.load / mean_s
        found, below, second, weight, residence, last = [], 0.0, 0.0, 0.0, 0.0, 0.0
        for work in self.work:
            size = work.service_s
            residence += (size - last) / max(1 - below, 1e-9)
            last = size
            below += per_s * size * work.weight
            second += per_s * size * size * work.weight
            weight += work.weight
            rest = per_s * size * size * max(1 - weight, 0.0)
            waiting = (second + rest) / (2 * max(1 - below, 1e-9) ** 2)
            found.append(((work.latency_s + waiting + residence) / (work.latency_s + size), work.weight))
        return found

    def _states(self) -> "itertools.chain[tuple[int, float]]":
        chance, reached, states = (1 - self.load) ** (self.endless + 1), 0.0, []
        for others in range(10_000):
            states.append((others + self.endless + 1, chance))
            reached += chance
            if reached > 1 - 1e-6:
                break
            chance *= self.load * (others + self.endless + 1) / (others + 1)
        return itertools.chain(states)


def _quantile(values: Sequence[tuple[float, float]], share: float) -> float:
    """Quantile of (value, weight) pairs, which must be sorted by value."""
    sums = list(itertools.accumulate(weight for _, weight in values))
    return values[min(bisect.bisect_left(sums, share * sums[-1]), len(values) - 1)][0]


class Burst(NamedTuple):
    """Completion times in seconds of flows that start together on one link."""

    shortest_first: float
    """Mean if shorter flows go first."""
    shared: float
    """Mean if all flows share the link equally."""
    last: float
    """Completion of the last flow."""


def burst(services: Sequence[float], latency_s: float, endless: int = 0) -> Burst:
    """Flows that start together and share a link equally with `endless` flows (pECN, ComSIS 2016, Sec. 3).

    Of n flows in order of size, shortest first completes flow i after the sum of the first i sizes. Under equal shares,
    flow i completes when every flow has sent as much as flow i.
    """
    ordered, count = sorted(services), len(services)
    done = list(itertools.accumulate(ordered))
    shared = [
        before + size * (count - place) + endless * size
        for place, (before, size) in enumerate(zip([0.0, *done[:-1]], ordered, strict=True))
    ]
    return Burst(latency_s + sum(done) / count, latency_s + sum(shared) / count, latency_s + max(shared[-1], done[-1]))
