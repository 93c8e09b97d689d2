"""Who wins where: the best scheme of a comparison, and those that cannot be told from it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shortflow.comparison import Comparison
from shortflow.metrics import describe
from shortflow.stats import estimate


@dataclass(frozen=True)
class Criterion:
    """A metric and which end of it is good."""

    metric: str
    name: str
    """What a table's header says."""
    most: bool = False
    """Whether more is better."""


AFCT = Criterion("afct_short_s", "mean FCT, short")
P99 = Criterion("p99_short_s", "p99 FCT, short")
MISSES = Criterion("deadline_miss_short", "deadlines missed")
GOODPUT = Criterion("flow_goodput_long_bps", "goodput, long", most=True)
DISTANCE = Criterion("distance_short", "mean FCT over ideal")
"""Ideal SRPT on the same flows."""

CRITERIA = (AFCT, P99, MISSES, GOODPUT)
"""What is won. The distance from ideal is the mean FCT on another scale, so that its winners are the same."""


@dataclass(frozen=True)
class Winners:
    """The scheme with the best mean first, then those that tie with it, in the order of their means."""

    names: Sequence[str]
    of: int
    """How many schemes there were."""

    @property
    def all_alike(self) -> bool:
        """Whether no scheme is worse than another."""
        return len(self.names) == self.of


def winners(comparison: Comparison, criterion: Criterion) -> Winners | None:
    """The scheme with the best mean, and all that are not worse with the whole 95 % interval of the paired comparison.

    Nothing is won where no scheme has the metric. A scheme that left some of the flows unfinished cannot win: its
    slowest flows are not counted.
    """
    finished = [scheme for scheme in comparison.schemes if complete(comparison, scheme, criterion)]
    means = {scheme: found.value for scheme in finished if (found := comparison.estimate(scheme, criterion.metric))}
    if not means:
        return None
    order = sorted(means, key=lambda scheme: -means[scheme] if criterion.most else means[scheme])
    best = comparison.values(order[0], criterion.metric)
    tied = [name for name in order if not _worse(comparison.values(name, criterion.metric), best, criterion)]
    return Winners(tied, len(comparison.schemes))


def complete(comparison: Comparison, scheme: str, criterion: Criterion) -> bool:
    """Whether a scheme finished all flows that the criterion is about: as many as any other, ideal ones included."""
    metric = f"flows_{describe(criterion.metric).flow_class}"
    mine = comparison.values(scheme, metric)
    others = [comparison.values(other, metric) for other in (*comparison.schemes, *comparison.ideal_names)]
    return all(mine.get(seed, 0) >= count for each in others for seed, count in each.items())


def _worse(values: Mapping[int, float], best: Mapping[int, float], criterion: Criterion) -> bool:
    """Whether a scheme is worse than the best one, over the seeds that both have.

    Times and rates are compared by the logarithm of their ratio: timeouts make them so skewed that a scheme which is
    slower a hundredfold, more or less, would not differ significantly. What may be zero is compared by difference.
    """
    pairs = [(values[seed], best[seed]) for seed in values if seed in best]
    by_ratio = all(ours > 0 and theirs > 0 for ours, theirs in pairs)
    change = estimate([math.log(ours / theirs) if by_ratio else ours - theirs for ours, theirs in pairs])
    low, high = change.ci95 or (change.value, change.value)
    return high < 0 if criterion.most else low > 0
