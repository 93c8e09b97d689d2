"""Planned runs, their results, the runner of questions, and stores."""

from shortflow.result import SHORTEST, Result, with_distances
from shortflow.results import Results
from shortflow.runner import Ask, Runner, Wanted, concluding, run_one
from shortflow.runs import Plan, Provenance, Run, plan
from shortflow.store.frames import completion
from shortflow.store.runs import Store
