"""Runs as traces for Perfetto: flows as slices, queues, windows and rates as counters, marks and losses as instants."""

from typing import TYPE_CHECKING

from shortflow.lazy import modules

if TYPE_CHECKING:
    from shortflow.perfetto import packets as packets
    from shortflow.perfetto import tracks as tracks

__getattr__ = modules(__name__)
