"""Executors do runs: in threads and processes of this machine, or on the workers of a Dask cluster.

An `Executor` takes runs. The result of a run depends only on its scenario, settings, scheme and seed. The executor
yields each result when its run ends, so the order of results is arbitrary.

>>> from shortflow.runs import Plan
>>> plan = Plan(sf.load("incast"), ["dctcp"], {"servers": "10"})
>>> for run, result in Local(jobs=2).outcomes(plan.runs([1])):
...     print(run.scheme.name, run.seed, result.error_text or result.metrics["flows_short"])
dctcp 1 200.0
"""

from shortflow.executors.executor import Executor, Watch
from shortflow.executors.local import Local

__all__ = ["Executor", "Local", "Watch"]
