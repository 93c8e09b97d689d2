"""Closed forms of the papers, for comparison with runs. Windows and queues are in packets.

Deviations from the printed equations:
- L2DCT, Eq. 10 prints T_C = D. The paper's own (W2 - W1)/k round trips give D/k.
- xDCTCP, Sec. V-A quotes 0.112 for Table I. Eq. 5 gives 0.080, and 0.113 without its factor of 2.
- ATCP's text says that the network holds C T + B, but prints S = C T. The recursion needs C T + B.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass


def threshold_bound(bdp: float, weight: float = 1.0) -> float:
    """L2DCT, Eq. 13: minimum K for a queue that never empties, in the unit of `bdp`.

    With weight 1, the bound is DCTCP's (pECN, Eq. 1).
    """
    w = weight**weight
    return float(w * bdp / (2 * (weight + 1) ** (weight + 1) - w))


def gain_bound(bdp: float, threshold: float) -> float:
    """xDCTCP, Eq. 5: largest g for which alpha covers at least one congestion event."""
    return 1.386 / math.sqrt(2 * (bdp + threshold))


@dataclass(frozen=True)
class LongFlows:
    """L2DCT, Sec. II-C: `count` synchronised flows of fixed weight on one bottleneck.

    With w = k = 1, the equations are DCTCP's.
    """

    bdp: float
    threshold: float
    count: float = 1.0
    weight: float = 1.0
    step: float = 1.0
    exact: bool = False
    """True to take alpha from the root of Eq. 5. Eq. 6 assumes a small b."""

    @property
    def critical_window(self) -> float:
        """W0 = (C T + K)/N, the window at which the queue reaches K."""
        return (self.bdp + self.threshold) / self.count

    @property
    def last_round_share(self) -> float:
        """Right-hand side of Eq. 5: share of a sawtooth's packets that are sent in its last round trip."""
        w0, k = self.critical_window, self.step
        return (2 * w0 * k + k * k) / (w0 + k) ** 2

    @property
    def alpha(self) -> float:
        """Marked fraction alpha (Eq. 6, or Eq. 5 if `exact`). 1 if Eq. 5 has no root."""
        if not self.exact:
            return float(self.last_round_share ** (1 / (self.weight + 1)))
        low, high = 0.0, 1.0  # alpha (b - b^2/4) increases on [0, 1]
        for _ in range(200):
            middle = (low + high) / 2
            b = middle**self.weight
            low, high = (middle, high) if middle * (b - b * b / 4) < self.last_round_share else (low, middle)
        return high

    @property
    def penalty(self) -> float:
        """Back-off penalty b (Eq. 7)."""
        return float(self.alpha**self.weight)

    @property
    def window_swing(self) -> float:
        """Peak to trough of one window, D (Eq. 8)."""
        return self.penalty * (self.critical_window + self.step) / 2

    @property
    def queue_swing(self) -> float:
        """Peak to trough of the queue, A (Eq. 9)."""
        return self.count * self.window_swing

    @property
    def queue_swing_of_large_windows(self) -> float:
        """Last form of Eq. 9, for W0 much larger than k."""
        w0, w = self.critical_window, self.weight
        return float(self.count * w0 / 2 * (2 * self.step / w0) ** (w / (w + 1)))

    @property
    def period(self) -> float:
        """Length of a sawtooth in round trips (Eq. 10, corrected)."""
        return self.window_swing / self.step

    @property
    def queue_max(self) -> float:
        """Longest queue (Eq. 11)."""
        return self.threshold + self.count * self.step

    @property
    def queue_min(self) -> float:
        """Shortest queue (Eq. 12). Below zero, the link idles."""
        return self.queue_max - self.queue_swing


@dataclass(frozen=True)
class Bottleneck:
    """FaST, Eqs. 4 to 7: capacity of a bottleneck in bytes, for segments of `mss` bytes."""

    bdp: float
    threshold: float
    buffer: float
    mss: float

    def critical_window(self, flows: float) -> float:
        """Eq. 4: window in segments at which the queue of `flows` synchronised flows reaches K."""
        return (self.bdp + self.threshold) / (flows * self.mss)

    def flows_at_minimum(self, w_min: float) -> float:
        """Eq. 5: number of flows with a critical window of `w_min` segments."""
        return (self.bdp + self.threshold) / (w_min * self.mss)

    def outstanding(self) -> float:
        """Eq. 6: sum of windows in segments that fills the buffer."""
        return (self.bdp + self.buffer) / self.mss

    def most_flows(self, w_min: float) -> float:
        """Eq. 7: number of flows of `w_min` segments that fill the buffer."""
        return self.outstanding() / w_min


@dataclass(frozen=True)
class Weights:
    """ATCP, Sec. V-A: two flows in congestion avoidance that gain `a` and `b` segments per round trip."""

    a: float
    b: float

    @property
    def share(self) -> float:
        """Share of the first flow in the limit (Theorem 1)."""
        return self.a / (self.a + self.b)

    @property
    def step(self) -> float:
        """Segments that both windows together gain per round trip (Sec. VII-A)."""
        return self.a + self.b

    def windows(self, window: float, capacity: float, events: int) -> Sequence[float]:
        """The first flow's window at successive losses, which halve both windows.

        Pipe and buffer hold `capacity` segments.
        """
        after = itertools.repeat(None, events)
        return list(itertools.accumulate(after, lambda w, _: 0.5 * w + 0.5 * capacity * self.share, initial=window))


def nested_times(link: float, large: float, small: float, rate: float) -> tuple[float, float]:
    """ATCP, Theorem 2: FCT of a small flow at `rate`, and FCT of a large flow that lasts longer on the same link."""
    return small / rate, (large + small) / link


def medium_rate(link: float, ratio: float) -> float:
    """ATCP, Sec. VII-A: rate of a flow beside a large flow whose weight is lower by the factor `ratio`."""
    return link * ratio / (ratio + 1)
