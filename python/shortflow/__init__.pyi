"""The public names, each from the module that defines it: the table that `__init__.py` reads."""

from shortflow._core import Ack as Ack
from shortflow._core import Flow as Flow
from shortflow._core import Opening as Opening
from shortflow._core import Window as Window
from shortflow.asks import Condition as Condition
from shortflow.commands.compare import compare as compare
from shortflow.commands.export import export as export
from shortflow.commands.import_files import Imported as Imported
from shortflow.commands.import_files import import_files as import_files
from shortflow.commands.report import write_report as write_report
from shortflow.commands.run import run as run
from shortflow.commands.search import search as search
from shortflow.commands.sweep import sweep as sweep
from shortflow.commands.tune import tune as tune
from shortflow.errors import Cancelled as Cancelled
from shortflow.errors import ConfigError as ConfigError
from shortflow.errors import DamagedResult as DamagedResult
from shortflow.errors import Interrupted as Interrupted
from shortflow.errors import MissingRequirement as MissingRequirement
from shortflow.errors import SimulationError as SimulationError
from shortflow.executors.cluster import Dask as Dask
from shortflow.grid import Grid as Grid
from shortflow.grid import Steps as Steps
from shortflow.judge.estimates import Estimate as Estimate
from shortflow.report.plots import Plots as Plots
from shortflow.scenario import Scenario as Scenario
from shortflow.scenario import Setting as Setting
from shortflow.scenario import load as load
from shortflow.scenario import shipped_scenarios as shipped_scenarios
from shortflow.shown import Result as Result
from shortflow.shown import Results as Results
from shortflow.shown import Search as Search
from shortflow.shown import read_run as read_run
from shortflow.shown import read_store as read_store
from shortflow.spec import Faults as Faults
from shortflow.spec import Host as Host
from shortflow.spec import Measure as Measure
from shortflow.spec import Spec as Spec
from shortflow.spec import Switch as Switch
from shortflow.spec import Tcp as Tcp
from shortflow.spec import deadline as deadline
from shortflow.spec import interarrival as interarrival
from shortflow.spec import parameter as parameter
from shortflow.spec import part as part
from shortflow.spec import schemes as schemes
from shortflow.spec import sizes as sizes
from shortflow.spec import topology as topology
from shortflow.spec import traffic as traffic
from shortflow.transport import CongestionControl as CongestionControl
from shortflow.tuning.plots import TuningPlots as TuningPlots
from shortflow.tuning.proposals import optuna_study as optuna_study
from shortflow.tuning.shown import Tuning as Tuning
from shortflow.tuning.shown import read_tuning as read_tuning

__version__: str
__all__: list[str]
