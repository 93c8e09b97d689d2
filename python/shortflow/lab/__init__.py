"""Shared by figures, surveys and sweeps: studies, their data, claims as expressions over them, and findings."""

from shortflow.lab.data import Data, Reading, some
from shortflow.lab.drawing import Curves, Drawing, Line
from shortflow.lab.expressions import (
    Measure,
    Metric,
    Names,
    change,
    computed,
    difference,
    drops_in_run,
    effect,
    label,
    level,
    per_run,
    pooled,
    ratio,
    retransmits_in_run,
    timeouts_in_run,
)
from shortflow.lab.figure import Claim, Draw, Figure
from shortflow.lab.finding import Finding, all_hold, fact, not_tested, within
from shortflow.lab.quantity import (
    EXACT,
    ClaimCondition,
    Every,
    Pairs,
    Quantity,
    Selection,
    decided,
    equal,
    same,
)
from shortflow.lab.study import Choice, Scale, Study
from shortflow.quantities import RELATIVE
