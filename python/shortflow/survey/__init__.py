"""Survey: all schemes on the papers' workloads and on published flow sizes, with the winners."""

from shortflow.survey.engine import Place, Survey, View, choose, survey
from shortflow.survey.winners import Cell, Criterion, judge
from shortflow.survey.workloads import WORKLOADS, Workload
