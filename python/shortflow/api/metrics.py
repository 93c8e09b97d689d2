"""The catalogue of metrics, and statistics of samples."""

from shortflow.metrics.catalogue import (
    CLASS_DEADLINE_MISS,
    DISTANCE,
    DROPS,
    FCT,
    FLOW_GOODPUT,
    GOODPUT,
    MARKS,
    MEAN_FCT,
    QUEUE_MEAN,
    RETRANSMITS,
    STATISTICS,
    TASK_TIMES,
    THROUGHPUT,
    TIMEOUTS,
    UNFINISHED_SHARE,
    UTILISATION,
    possible,
)
from shortflow.metrics.columns import KINDS, TABLES, check_columns
from shortflow.metrics.statistic import TASKS, Metric
from shortflow.metrics.stats import jain_index, kendall_tau, nearest_rank, rank_correlation
