"""Shortflow: a workbench for data-centre transports that finish short flows first.

>>> import shortflow as sf
>>> comparison = sf.compare(sf.load("l2dct-benchmark").with_(load=0.4), ["dctcp", "l2dct"], seeds=10)
>>> comparison.difference("l2dct", "dctcp", "afct_short_s")
Estimate(-0.557681, ci95=(-0.561091, -0.554245), n=10)
>>> comparison.plot.fct_cdf()

A name is imported when it is first used, so that the command is in charge of Ctrl-C before anything slow is loaded.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shortflow._core import Ack, Flow, Window
    from shortflow.api.plots import Plots, TuningPlots
    from shortflow.api.reading import load, read_run, read_store, read_tuning
    from shortflow.asks import Search
    from shortflow.commands.compare import compare
    from shortflow.commands.run import run
    from shortflow.commands.search import search
    from shortflow.commands.sweep import sweep
    from shortflow.commands.tune import tune
    from shortflow.condition import Condition
    from shortflow.errors import (
        Cancelled,
        ConfigError,
        DamagedResult,
        Interrupted,
        MissingRequirement,
        SimulationError,
    )
    from shortflow.executors.cluster import Dask
    from shortflow.grid import Grid, Steps
    from shortflow.metrics.stats import Estimate
    from shortflow.report.write import write_report
    from shortflow.result import Result
    from shortflow.results import Results
    from shortflow.scenario import Scenario, Setting, shipped_scenarios
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
        schemes,
        sizes,
        topology,
        traffic,
    )
    from shortflow.transport import CongestionControl
    from shortflow.tuning.proposals import optuna_study
    from shortflow.tuning.record import Tuning

    __version__: str

__all__ = [
    "Ack",
    "Cancelled",
    "Condition",
    "ConfigError",
    "CongestionControl",
    "DamagedResult",
    "Dask",
    "Estimate",
    "Faults",
    "Flow",
    "Grid",
    "Host",
    "Interrupted",
    "Measure",
    "MissingRequirement",
    "Plots",
    "Result",
    "Results",
    "Scenario",
    "Search",
    "Setting",
    "SimulationError",
    "Spec",
    "Steps",
    "Switch",
    "Tcp",
    "Tuning",
    "TuningPlots",
    "Window",
    "__version__",
    "compare",
    "deadline",
    "interarrival",
    "load",
    "optuna_study",
    "parameter",
    "part",
    "read_run",
    "read_store",
    "read_tuning",
    "run",
    "schemes",
    "search",
    "shipped_scenarios",
    "sizes",
    "sweep",
    "topology",
    "traffic",
    "tune",
    "write_report",
]

_HOMES = {
    "_core": ("Ack", "Flow", "Window"),
    "api.plots": ("Plots", "TuningPlots"),
    "api.reading": ("load", "read_run", "read_store", "read_tuning"),
    **{f"commands.{name}": (name,) for name in ("compare", "run", "search", "sweep", "tune")},
    "asks": ("Search",),
    "condition": ("Condition",),
    "errors": ("Cancelled", "ConfigError", "DamagedResult", "Interrupted", "MissingRequirement", "SimulationError"),
    "executors.cluster": ("Dask",),
    "grid": ("Grid", "Steps"),
    "metrics.stats": ("Estimate",),
    "report.write": ("write_report",),
    "result": ("Result",),
    "results": ("Results",),
    "scenario": ("Scenario", "Setting", "shipped_scenarios"),
    "spec": (
        *("Faults", "Host", "Measure", "Spec", "Switch", "Tcp", "parameter"),
        *("deadline", "interarrival", "part", "schemes", "sizes", "topology", "traffic"),
    ),
    "transport": ("CongestionControl",),
    "tuning.proposals": ("optuna_study",),
    "tuning.record": ("Tuning",),
}
"""Where the names come from, by module."""


def __getattr__(name: str) -> object:
    """The public name, from the module that defines it."""
    if name == "__version__":
        return import_module("shortflow._core").version()
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        hint = "" if name.startswith("__") else import_module("shortflow.errors").did_you_mean(name, __all__)
        raise AttributeError(f"module 'shortflow' has no attribute {name!r}{hint}")
    value: object = getattr(import_module(f"shortflow.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
