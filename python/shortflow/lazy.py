"""Slow modules, each loaded at its first use.

Annotations that name one stay quoted, as Python evaluates others at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

HOMES = {
    "msgspec": "msgspec",
    "np": "numpy",
    "npt": "numpy.typing",
    "optuna": "optuna",
    "pd": "pandas",
    "pl": "polars",
    "special": "scipy.special",
    "ranks": "scipy.stats",
    "console": "rich.console",
    "markup": "shortflow.report.markup",
    "plots": "shortflow.api.plots",
    "views": "shortflow.report.views",
    "tuned": "shortflow.tuning.tables",
    "judged": "shortflow.tuning.verdict",
    "bursts": "shortflow.bursts",
    "results": "shortflow.results",
    "runner": "shortflow.runner",
    "measured": "shortflow.measured",
    "papers": "shortflow.papers",
    "terminal": "shortflow.front.terminal",
    "watch": "shortflow.front.watch",
    "spreads": "shortflow.report.spreads",
    "tables": "shortflow.report.tables",
    "verdict": "shortflow.report.verdict",
    "sensitivity": "shortflow.reproduction.sensitivity",
    "columns": "shortflow.store.columns",
    "frames": "shortflow.store.frames",
    "reading": "shortflow.store.reading",
    "stored": "shortflow.store.runs",
}

if TYPE_CHECKING:
    import msgspec
    import numpy as np
    import numpy.typing as npt
    import optuna
    import pandas as pd
    import polars as pl
    from rich import console
    from scipy import special
    from scipy import stats as ranks

    from shortflow import bursts, measured, papers, results, runner
    from shortflow.api import plots
    from shortflow.front import terminal, watch
    from shortflow.report import markup, spreads, tables, verdict, views
    from shortflow.reproduction import sensitivity
    from shortflow.store import columns, frames, reading
    from shortflow.store import runs as stored
    from shortflow.tuning import tables as tuned
    from shortflow.tuning import verdict as judged
else:

    class _Later:
        def __init__(self, home: str) -> None:
            self._home = home

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._home), name)

    globals().update({name: _Later(home) for name, home in HOMES.items()})
