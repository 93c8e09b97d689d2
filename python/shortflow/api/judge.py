"""The judge: estimates with intervals, verdicts by bands, and comparisons with the best of several."""

from shortflow.judge.best import LEVEL, Contest, Order, confirm, contest
from shortflow.judge.estimates import Interval, Support, estimate, mean_table, over_seeds, paired_difference
from shortflow.judge.verdicts import (
    Band,
    Possible,
    Verdict,
    joint,
    possible_verdicts,
    spanning,
    true_interval,
    verdict_of,
)
