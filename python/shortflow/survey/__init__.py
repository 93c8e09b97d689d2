"""The survey: every scheme on every paper's workload and on published flow sizes, and who wins where."""

from shortflow.survey.engine import Place, Survey, choose, survey
from shortflow.survey.winners import Criterion, Winners, winners
from shortflow.survey.workloads import WORKLOADS, Workload

__all__ = ["WORKLOADS", "Criterion", "Place", "Survey", "Winners", "Workload", "choose", "survey", "winners"]
