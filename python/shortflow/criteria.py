"""Criteria of an answer: metrics, baseline, and limits of a tie."""

from collections.abc import Sequence
from dataclasses import dataclass

from shortflow.metrics.data import USUAL_BINS, Bins


@dataclass(frozen=True)
class Criteria:
    """Criteria of an answer."""

    metrics: Sequence[str] = ()
    """Names of metrics (default: the main metrics)."""
    baseline: str | None = None
    """Scheme to which ratios refer (default: the first in the registry)."""
    ties: tuple[float, float] = (0.05, 0.1)
    """Two schemes tie if their ratio is within the first share of 1, and the ratio's interval within the second."""
    bins: Bins = USUAL_BINS
    """Size bins of the metrics."""

    @property
    def text(self) -> str:
        """Sentences on the decision of winners and ties."""
        factor, interval = (f"{100 * share:g} %" for share in self.ties)
        return (
            "Winners are decided by multiple comparisons with the best at 95 % confidence. There is no correction for "
            f"testing several points or metrics. Schemes tie if their ratio is within {factor} of 1, and the interval "
            f"of the ratio within {interval}."
        )


USUAL = Criteria()
"""The criteria that hold unless the caller gives others."""
