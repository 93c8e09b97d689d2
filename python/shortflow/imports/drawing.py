"""A flow-size distribution as a line of text."""

import math
from collections.abc import Sequence

from shortflow.imports.parts import SizeTable

PERCENTILES = (1, 10, 25, 50, 75, 90, 99, 99.9)
_BARS = " ▁▂▃▄▅▆▇█"
_BINS = 48


def shares_by_size(sizes: SizeTable) -> tuple[list[float], list[float]]:
    """Shares of flows and of bytes in bins of equal ratio, from the first percentile to the largest size."""
    low, high = max(sizes.percentile(1), 1.0), sizes.percentile(100)
    ratio = math.log(max(high / low, 1 + 1e-9)) / _BINS
    flows, weights = [0.0] * _BINS, [0.0] * _BINS
    for place in range(10 * _BINS * _BINS):  # sizes at equal shares of flows, finer than the bins
        size = sizes.percentile(100 * (place + 0.5) / (10 * _BINS * _BINS))
        at = min(max(int(math.log(max(size, low) / low) / ratio), 0), _BINS - 1)
        flows[at] += 1 / (10 * _BINS * _BINS)
        weights[at] += size / (10 * _BINS * _BINS) / sizes.mean
    return flows, weights


def sparkline(shares: Sequence[float]) -> str:
    """Bars in proportion to the largest share. Every share above zero has a visible bar."""
    most = max(shares)
    return "".join(_BARS[math.ceil(share / most * (len(_BARS) - 1))] for share in shares)
