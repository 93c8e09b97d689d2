"""Runs the papers' recipes: a verdict for every claim, and the report."""

from typing import TYPE_CHECKING

from shortflow.lazy import modules

if TYPE_CHECKING:
    from shortflow.reproduction import entries as entries
    from shortflow.reproduction import sensitivity as sensitivity

__getattr__ = modules(__name__)
