"""The survey: every scheme on every paper's workload and on published flow sizes, and who wins where."""

from shortflow.survey.engine import Place, Survey, View, choose, survey
from shortflow.survey.winners import Cell, Criterion, Verdict, judge
from shortflow.survey.workloads import WORKLOADS, Workload
