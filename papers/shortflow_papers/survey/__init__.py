"""Survey: all schemes on the papers' workloads and on published flow sizes, with the winners."""

from shortflow_papers.survey.engine import Survey, SurveyPlace, View, ask_survey, choose
from shortflow_papers.survey.winners import Cell, Criterion, judge_cells
from shortflow_papers.survey.workloads import WORKLOADS, Workload
