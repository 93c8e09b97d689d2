"""The catalogue of metrics, and statistics of samples."""

from shortflow.metrics.catalogue import (
    CLASS_DEADLINE_MISS,
    DISTANCE,
    FCT,
    FLOW_GOODPUT,
    MEAN_FCT,
    STATISTICS,
    TASKS,
    UNFINISHED_SHARE,
    Metric,
)
from shortflow.metrics.stats import jain_index, kendall_tau, nearest_rank, rank_correlation
