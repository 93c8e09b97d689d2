"""Shortflow: a workbench for data-centre transports that finish short flows first.

>>> import shortflow
>>> scenario = shortflow.load_scenario("l2dct-benchmark", {"load": 0.4})
>>> comparison = shortflow.compare(scenario, ["dctcp", "l2dct"], seeds=range(1, 11))
>>> comparison.difference("l2dct", "dctcp", "afct_short_s")
Estimate(value=..., ci95=(..., ...), n=10)

A name is imported when it is first used, so that the command is in charge of Ctrl-C before anything slow is loaded.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shortflow._core import Ack, Flow, Scheme, Window
    from shortflow.bisection import Condition, Search, search
    from shortflow.comparison import Comparison
    from shortflow.errors import Cancelled, ConfigError, DamagedResult, Interrupted, SimulationError
    from shortflow.grid import Grid, Steps
    from shortflow.metrics.stats import Estimate
    from shortflow.report.write import write_report
    from shortflow.result import RunResult, RunSummary
    from shortflow.runner import compare, run
    from shortflow.scenario import Scenario, Setting, load_scenario, shipped_scenarios
    from shortflow.scheme import load_schemes
    from shortflow.spec import (
        Faults,
        Host,
        Measure,
        Spec,
        Switch,
        Tcp,
        deadline,
        interarrival,
        parameter,
        part,
        sizes,
        topology,
        traffic,
    )
    from shortflow.store.reading import read_flows, read_store
    from shortflow.store.runs import read_run, write_run
    from shortflow.transport import CongestionControl
    from shortflow.tuning.engine import tune
    from shortflow.tuning.goal import Constraint, Goal, Objective
    from shortflow.tuning.proposals import optuna_study
    from shortflow.tuning.record import Tuning, read_tuning
    from shortflow.tuning.space import Parameter

    __version__: str

__all__ = [
    "Ack",
    "Cancelled",
    "Comparison",
    "Condition",
    "ConfigError",
    "CongestionControl",
    "Constraint",
    "DamagedResult",
    "Estimate",
    "Faults",
    "Flow",
    "Goal",
    "Grid",
    "Host",
    "Interrupted",
    "Measure",
    "Objective",
    "Parameter",
    "RunResult",
    "RunSummary",
    "Scenario",
    "Scheme",
    "Search",
    "Setting",
    "SimulationError",
    "Spec",
    "Steps",
    "Switch",
    "Tcp",
    "Tuning",
    "Window",
    "__version__",
    "compare",
    "deadline",
    "interarrival",
    "load_scenario",
    "load_schemes",
    "optuna_study",
    "parameter",
    "part",
    "read_flows",
    "read_run",
    "read_store",
    "read_tuning",
    "run",
    "search",
    "shipped_scenarios",
    "sizes",
    "topology",
    "traffic",
    "tune",
    "write_report",
    "write_run",
]

_HOMES = {
    "_core": ("Ack", "Flow", "Scheme", "Window"),
    "bisection": ("Condition", "Search", "search"),
    "comparison": ("Comparison",),
    "errors": ("Cancelled", "ConfigError", "DamagedResult", "Interrupted", "SimulationError"),
    "grid": ("Grid", "Steps"),
    "metrics.stats": ("Estimate",),
    "report.write": ("write_report",),
    "result": ("RunResult", "RunSummary"),
    "runner": ("compare", "run"),
    "scenario": ("Scenario", "Setting", "load_scenario", "shipped_scenarios"),
    "scheme": ("load_schemes",),
    "spec": (
        *("Faults", "Host", "Measure", "Spec", "Switch", "Tcp", "parameter"),
        *("deadline", "interarrival", "part", "sizes", "topology", "traffic"),
    ),
    "store.reading": ("read_flows", "read_store"),
    "store.runs": ("read_run", "write_run"),
    "transport": ("CongestionControl",),
    "tuning.engine": ("tune",),
    "tuning.goal": ("Constraint", "Goal", "Objective"),
    "tuning.proposals": ("optuna_study",),
    "tuning.record": ("Tuning", "read_tuning"),
    "tuning.space": ("Parameter",),
}
"""Where the names come from, by module."""


def __getattr__(name: str) -> object:
    """The public name, from the module that defines it."""
    if name == "__version__":
        return import_module("shortflow._core").version()
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'shortflow' has no attribute {name!r}")
    value: object = getattr(import_module(f"shortflow.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
