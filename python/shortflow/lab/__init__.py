"""Shared by figures, surveys and sweeps: studies, their data, claims as expressions over them, and findings."""

from shortflow.lab.choices import Choice
from shortflow.lab.condition import EXACT, ClaimCondition, Pairs, decided, equal, same, unmeasured
from shortflow.lab.data import Data, Reading, recorded, some
from shortflow.lab.drawing import Beside, Curves, Drawing, Line, over_time
from shortflow.lab.figure import Claim, Draw, Figure
from shortflow.lab.finding import Finding, all_hold, at_least, at_most, fact, not_tested, within
from shortflow.lab.quantity import (
    Every,
    Measure,
    Metric,
    Names,
    Quantity,
    Selection,
    change,
    computed,
    difference,
    drops_in_run,
    effect,
    label,
    level,
    measure,
    pooled,
    ratio,
    retransmits_in_run,
    timeouts_in_run,
)
from shortflow.lab.study import Scale, Study
from shortflow.quantities import RELATIVE
