"""The judge: estimates with intervals, verdicts by bands, and comparisons with the best of several."""

from shortflow.criteria import USUAL
from shortflow.judge.best import Order, confirmed
from shortflow.judge.estimates import (
    CONFIDENCE,
    DECISIVE,
    Interval,
    Support,
    difference_table,
    estimate,
    mean_table,
    over_seeds,
    paired_difference,
)
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
from shortflow.order import AnswerLine, line_of, on_common_seeds
