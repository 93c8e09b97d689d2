"""Shared by figures, surveys and sweeps: studies, their data, claims as expressions over them, and findings."""

from shortflow.api.numbers import RELATIVE
from shortflow_papers.lab.data import Data, MetricOrFunction, some
from shortflow_papers.lab.drawing import Curves, Drawing, Line
from shortflow_papers.lab.expressions import (
    Measure,
    MetricOrMeasure,
    OneOrMore,
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
from shortflow_papers.lab.figure import Claim, Draw, Figure
from shortflow_papers.lab.finding import Finding, all_hold, fact, not_tested, within
from shortflow_papers.lab.quantity import (
    EXACT,
    ClaimCondition,
    Every,
    Pairs,
    Quantity,
    SelectedValues,
    decided,
    equal,
    same,
)
from shortflow_papers.lab.study import Choice, Scale, Study
