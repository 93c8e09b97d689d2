"""Survey: all schemes on the papers' workloads and on published flow sizes, with the winners."""

from shortflow.survey.engine import Survey, SurveyPlace, View, ask_survey, choose
from shortflow.survey.winners import Cell, Criterion, judge_cells
from shortflow.survey.workloads import WORKLOADS, Workload
