"""What figures, surveys and sweeps share: studies, their data, and findings about claims."""

from shortflow.lab.choices import Choice
from shortflow.lab.counts import drops_in_run, retransmits_in_run, timeouts_in_run
from shortflow.lab.data import Data
from shortflow.lab.drawing import Drawing, Line, curves
from shortflow.lab.figure import Claim, Figure
from shortflow.lab.finding import (
    Finding,
    all_hold,
    all_lower,
    at_least,
    at_most,
    close_to,
    fact,
    for_information,
    higher,
    lower,
    no_difference,
    not_tested,
    within,
)
from shortflow.lab.study import Scale, Study

__all__ = [
    "Choice",
    "Claim",
    "Data",
    "Drawing",
    "Figure",
    "Finding",
    "Line",
    "Scale",
    "Study",
    "all_hold",
    "all_lower",
    "at_least",
    "at_most",
    "close_to",
    "curves",
    "drops_in_run",
    "fact",
    "for_information",
    "higher",
    "lower",
    "no_difference",
    "not_tested",
    "retransmits_in_run",
    "timeouts_in_run",
    "within",
]
