"""Schemes on real Linux: hints from applications to congestion controls, and comparison of testbed and simulator."""

from shortflow_linux.sockets import get_class, get_deadline, get_size, set_class, set_deadline, set_size

__version__ = "0.3.0"
__all__ = ["get_class", "get_deadline", "get_size", "set_class", "set_deadline", "set_size"]
