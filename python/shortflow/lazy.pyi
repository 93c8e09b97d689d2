"""Slow modules, as type checkers see them; the table that `lazy.py` reads."""

import json as json

import msgspec as msgspec
import numpy as np
import numpy.typing as npt
import optuna as optuna
import pandas as pd
import polars as pl
from rich import console as console
from scipy import special as special
from scipy import stats as ranks

from shortflow import bursts as bursts
from shortflow import measured as measured
from shortflow import papers as papers
from shortflow import plots as plots
from shortflow import records as records
from shortflow import scenario as scenarios
from shortflow.front import terminal as terminal
from shortflow.imports import formats as formats
from shortflow.report import answer as answers
from shortflow.report import blocks as blocks
from shortflow.report import caveats as caveats
from shortflow.report import chart as chart
from shortflow.report import markup as markup
from shortflow.report import tables as tables
from shortflow.report import views as views
from shortflow.reproduction import sensitivity as sensitivity
from shortflow.store import columns as columns
from shortflow.store import directories as directories
from shortflow.store import frames as frames
from shortflow.store import runs as stored
from shortflow.tuning import tables as tuned
from shortflow.tuning import verdict as judged

__all__ = ["HOMES", "answers", "homes", "judged", "np", "npt", "pd", "pl", "ranks", "scenarios", "stored", "tuned"]

HOMES: dict[str, str]

def homes(file: str) -> dict[str, tuple[str, str]]: ...
