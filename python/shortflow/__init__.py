"""Shortflow: a workbench for data-centre transports that finish short flows first.

>>> import shortflow
>>> scenario = shortflow.load_scenario("l2dct-benchmark", {"load": 0.4})
>>> comparison = shortflow.compare(scenario, ["dctcp", "l2dct"], seeds=range(1, 11))
>>> comparison.difference("l2dct", "dctcp", "afct_short_s")
Estimate(value=..., ci95=(..., ...), n=10)
"""

from shortflow._core import Ack, Flow, Scheme, Window, version
from shortflow.bisection import Condition, Search, Steps, search
from shortflow.comparison import Comparison, RunSummary
from shortflow.errors import Cancelled, ConfigError, Interrupted, SimulationError
from shortflow.report import write_report
from shortflow.result import RunResult
from shortflow.runner import compare, run
from shortflow.scenario import Scenario, Setting, load_scenario, shipped_scenarios
from shortflow.scheme import load_schemes
from shortflow.stats import Estimate
from shortflow.store import read_run, write_run
from shortflow.transport import CongestionControl

__version__ = version()

__all__ = [
    "Ack",
    "Cancelled",
    "Comparison",
    "Condition",
    "ConfigError",
    "CongestionControl",
    "Estimate",
    "Flow",
    "Interrupted",
    "RunResult",
    "RunSummary",
    "Scenario",
    "Scheme",
    "Search",
    "Setting",
    "SimulationError",
    "Steps",
    "Window",
    "__version__",
    "compare",
    "load_scenario",
    "load_schemes",
    "read_run",
    "run",
    "search",
    "shipped_scenarios",
    "write_report",
    "write_run",
]
