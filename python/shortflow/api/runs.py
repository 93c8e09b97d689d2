"""Planned runs, their results, the runner of questions, executors, and stores."""

from shortflow.executors.executor import Executor, Outcomes, Watch
from shortflow.records import Account, Meta
from shortflow.result import SHORTEST, Result, with_distances
from shortflow.results import Results
from shortflow.runner import Ask, Progress, Runner, Wanted, concluding, once, run_one
from shortflow.runs import KEY_LENGTH, Plan, Provenance, Run, check_metric, plan
from shortflow.store.frames import completion
from shortflow.store.runs import Store
