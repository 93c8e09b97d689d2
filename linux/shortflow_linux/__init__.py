"""The schemes on real Linux: message sizes from applications, and the testbed beside the simulator."""

from shortflow_linux.sockets import get_class, get_deadline, get_size, set_class, set_deadline, set_size

__version__ = "0.3.0"
__all__ = ["get_class", "get_deadline", "get_size", "set_class", "set_deadline", "set_size"]
