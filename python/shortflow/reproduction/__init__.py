"""Reproducing the papers: recipes of figures, the runs they need, and a verdict for every claim."""

from shortflow.reproduction.choices import Choice
from shortflow.reproduction.drawing import Drawing, Line, curves
from shortflow.reproduction.evidence import Data
from shortflow.reproduction.figure import Claim, Figure
from shortflow.reproduction.finding import (
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
from shortflow.reproduction.study import Scale, Study

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
    "fact",
    "for_information",
    "higher",
    "lower",
    "no_difference",
    "not_tested",
    "within",
]
