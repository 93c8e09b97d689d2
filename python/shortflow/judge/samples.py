"""Values of a metric by seed, with all that decides their intervals: the same for answers, surveys and tunings."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from shortflow.judge.estimates import Estimate, Support, estimate, paired_difference


@dataclass(frozen=True)
class Sample:
    """Values of a metric under one scheme, by seed."""

    values: Mapping[int, float]
    """Values of the runs that have the metric."""
    digests: Mapping[int, str]
    """Digest of every run; empty for a failed one."""
    support: Support = Support.REAL
    stake: float = 0.0
    """Effect of one late flow or timeout on a value (`shortflow.metrics.stakes`)."""
    is_bound: bool = False
    """True if unfinished flows make the values lower bounds."""

    @property
    def is_complete(self) -> bool:
        """True if every run has the metric."""
        return 0 < len(self.values) == len(self.digests)

    @property
    def mean(self) -> Estimate | None:
        """Mean over the seeds with its interval; None without values."""
        if not self.values:
            return None
        found = estimate([*self.values.values()], self.support, self._stake)
        return replace(found, lower_bound=self.is_bound, lacking=len(self.digests) - len(self.values))

    def relation(self, baseline: "Sample", among: float = 1.0) -> Estimate | None:
        """Relative difference from a baseline, paired by seed (`paired_difference`).

        A lower bound above an exact baseline gives a lower bound. A baseline that is a lower bound gives an upper
        bound. None without common seeds, and if the baseline's mean is zero.
        """
        common = [seed for seed in self.values if seed in baseline.values]
        if not common:
            return None
        if are_same(self.digests, baseline.digests):
            return Estimate(0.0, (0.0, 0.0) if len(common) > 1 else None, len(common))
        ours, theirs = ([each.values[seed] for seed in common] for each in (self, baseline))
        found = paired_difference(ours, theirs, stakes=(self._stake, baseline._stake), among=among)
        if found is None:
            return None
        lacking = len({*self.digests, *baseline.digests}) - len(common)
        return replace(found, lower_bound=self.is_bound, upper_bound=baseline.is_bound, lacking=lacking)

    def difference(self, baseline: "Sample") -> Estimate | None:
        """Difference from a baseline in the unit of the metric, paired by seed; None without common seeds."""
        common = [seed for seed in self.values if seed in baseline.values]
        if not common:
            return None
        stake = max(self._stake, baseline._stake)
        found = estimate([self.values[seed] - baseline.values[seed] for seed in common], stake=stake)
        return replace(found, lower_bound=self.is_bound, upper_bound=baseline.is_bound)

    @property
    def _stake(self) -> float:
        """The stake; 0 if other seeds would give the same run."""
        return 0.0 if gave_one_run(self.digests.values()) else self.stake


def are_same(digests: Mapping[int, str], others: Mapping[int, str]) -> bool:
    """True for equal runs: the same digest at every seed."""
    return dict(digests) == dict(others) and all(digests.values())


def gave_one_run(digests: Collection[str]) -> bool:
    """True if several seeds gave one run, so that others would too."""
    return len(digests) > 1 and len({*digests}) == 1 and all(digests)
