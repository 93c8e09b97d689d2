"""Metrics of runs."""

from typing import TYPE_CHECKING

from shortflow.lazy import modules

if TYPE_CHECKING:
    from shortflow.metrics import columns as columns

__getattr__ = modules(__name__)
