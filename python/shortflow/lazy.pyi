"""Slow libraries, as type checkers see them; the table that `lazy.py` reads."""

import json as json
from collections.abc import Callable
from typing import Any

import msgspec as msgspec
import numpy as np
import numpy.typing as npt
import optuna as optuna
import pandas as pd
import polars as pl
from rich import console as console
from scipy import special as special
from scipy import stats as ranks

__all__ = ["HOMES", "homes", "modules", "np", "npt", "pd", "pl", "ranks"]

HOMES: dict[str, str]

def homes(file: str) -> dict[str, tuple[str, str]]: ...
def modules(package: str) -> Callable[[str], Any]: ...
