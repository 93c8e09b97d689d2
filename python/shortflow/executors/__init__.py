"""Executors do runs: in threads and processes of this machine, or on the workers of a Dask cluster.

An `Executor` takes runs, whose results depend on scenario, settings, scheme and seed alone. It yields each result as
soon as known, in no particular order.

>>> from shortflow.executors import Local
>>> for run, result in Local(jobs=2).outcomes(runs):
...     print(run.scheme.name, run.seed, result.error_text or result.metrics["afct_short_s"])
"""

from shortflow.executors.executor import Executor, Watch
from shortflow.executors.local import Local, available_cores

__all__ = ["Executor", "Local", "Watch", "available_cores"]
