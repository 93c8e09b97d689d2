"""The schemes on real Linux: message sizes from applications, and the testbed beside the simulator."""

from shortflow.linux.sockets import get_class, get_deadline, get_size, set_class, set_deadline, set_size

__all__ = ["get_class", "get_deadline", "get_size", "set_class", "set_deadline", "set_size"]
