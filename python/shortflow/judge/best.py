"""Comparison of each contender with the best of the others, and its correction over many comparisons.

The method is that of J. C. Hsu (Ann. Stat. 12, 1984, and "Multiple Comparisons", 1996). A contender may be the best
unless another contender is significantly better. Hsu's critical values need equal variances, but schemes with timeouts
scatter up to 100 times more than others. Therefore, each pair has its own test at the level divided by the number of
other contenders (Bonferroni), which is valid for any variances.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from shortflow.judge.estimates import Estimate
from shortflow.judge.verdicts import Verdict, true_interval, verdict_of

K = TypeVar("K")


class Order(StrEnum):
    """Order of contenders, as far as it is decided."""

    WINNER = "winner"
    """One is the best."""
    TIE = "tie"
    """Several are the best and count as equal."""
    OPEN = "open"
    """Several may be the best."""
    ALONE = "alone"
    """There is nothing to compare with."""


@dataclass(frozen=True)
class Best:
    """Result of a comparison with the best. The likeliest contender is first.

    `verdicts` has each contender's verdict on the statement "as good as the best".
    """

    verdicts: Mapping[str, Verdict]

    @property
    def leaders(self) -> list[str]:
        """Contenders of which each may be the best."""
        return [name for name, verdict in self.verdicts.items() if verdict is not Verdict.DIFFERS]

    @property
    def order(self) -> Order:
        """Order of the contenders."""
        if len(self.verdicts) < 2:
            return Order.ALONE
        if Verdict.UNDECIDED in self.verdicts.values():
            return Order.OPEN
        return Order.TIE if len(self.leaders) > 1 else Order.WINNER


def beside(lead: Estimate, more_is_better: bool, ties: tuple[float, float]) -> Verdict:
    """Verdict on "as good as the best" for a contender. `lead` is the best's relative difference from the contender.

    The verdict agrees for a tie. In a tie, the factor between both differs from 1 by at most the first of `ties`, and
    its whole interval by at most the second.
    """
    ends = true_interval(lead)
    worse = verdict_of(ends, (-math.inf, 0.0) if more_is_better else (0.0, math.inf)) is Verdict.DIFFERS
    if ends[0] > -1:
        near, within = map(math.log1p, ties)
        inside = verdict_of((math.log1p(ends[0]), math.log1p(ends[1])), (-within, within))
        if inside is Verdict.AGREES and abs(math.log1p(lead.value)) <= near:
            return Verdict.AGREES
    return Verdict.DIFFERS if worse else Verdict.UNDECIDED


def confirmed(comparisons: Mapping[K, Callable[[float], Order]]) -> list[K]:
    """Comparisons with a winner at a false discovery rate of 5 % over all of them.

    A comparison gives its order by the number of comparisons that together have 95 % confidence. Of n comparisons, k
    winners are confirmed if each of them holds among n / k (Y. Benjamini and Y. Hochberg, J. R. Stat. Soc. B 57, 1995).
    """
    found, before = [*comparisons], 0
    while len(found) != before:
        before = len(found)
        found = [each for each in found if comparisons[each](len(comparisons) / before) is Order.WINNER]
    return found
