"""Hints from applications to the eBPF congestion controls about TCP connections.

The process must be in the cgroup of `shortflow-linux load NAME --cgroup PATH`, and needs no privileges. Without an
attached congestion control, every function raises `OSError`; see `shortflow-linux status`. Option numbers are those of
`linux/deploy/include/shortflow.h`. This module uses the standard library only.
"""

import contextlib
import errno
import socket
import struct
from collections.abc import Iterator
from typing import Literal

__all__ = ["get_class", "get_deadline", "get_size", "set_class", "set_deadline", "set_size"]

_SOL_SHORTFLOW = 0x5346
_SIZE, _DEADLINE_NS, _CLASS = 1, 2, 3
_CLASSES = {None: 0, "short": 1, "long": 2}


def set_size(sock: socket.socket, size: int | None) -> None:
    """Declares that the next byte begins a message of `size` bytes, or of unknown size if `None`.

    Raises `ValueError` unless `size` is an integer from 0 to 2^64 - 1.
    """
    if size is not None and not (isinstance(size, int) and 0 <= size < 1 << 64):
        raise ValueError(f"size = {size!r}: expected a whole number of bytes from 0 to 2^64 - 1, or None")
    _set(sock, _SIZE, size or 0)


def set_deadline(sock: socket.socket, seconds: float | None) -> None:
    """Sets the time from now, in seconds, in which the message should complete. `None` removes the deadline.

    D2TCP also needs the size of the message. Raises `ValueError` unless `seconds` is above 0 and below 10^9, and
    `OSError` for a listening socket.
    """
    if seconds is not None and not 0 < seconds < 1e9:
        raise ValueError(f"seconds = {seconds}: expected more than 0 and less than 10^9")
    _set(sock, _DEADLINE_NS, 0 if seconds is None else max(round(seconds * 1e9), 1))


def set_class(sock: socket.socket, name: Literal["short", "long"] | None) -> None:
    """Sets the class of the connection: `short` for latency-sensitive data, `long`, or `None` for unknown.

    Raises `ValueError` for any other name.
    """
    if name not in _CLASSES:
        raise ValueError(f"class = {name!r}: expected 'short', 'long' or None")
    _set(sock, _CLASS, _CLASSES[name])


def get_size(sock: socket.socket) -> int | None:
    """Last declared size in bytes, or `None` if it is unknown or 0."""
    return _get(sock, _SIZE) or None


def get_deadline(sock: socket.socket) -> float | None:
    """Seconds until the deadline, 1e-9 after the deadline has passed, or `None` without a deadline."""
    return _get(sock, _DEADLINE_NS) / 1e9 or None


def get_class(sock: socket.socket) -> Literal["short", "long"] | None:
    """Class of the connection, set by the application or by the operator's ports."""
    names: tuple[None, Literal["short"], Literal["long"]] = (None, "short", "long")
    return names[_get(sock, _CLASS)]


def _set(sock: socket.socket, option: int, value: int) -> None:
    with _errors_with_reason():
        sock.setsockopt(_SOL_SHORTFLOW, option, struct.pack("=Q", value))


def _get(sock: socket.socket, option: int) -> int:
    with _errors_with_reason():
        return int(struct.unpack("=Q", sock.getsockopt(_SOL_SHORTFLOW, option, 8))[0])


@contextlib.contextmanager
def _errors_with_reason() -> Iterator[None]:
    """Replaces the kernel's text in errors about an unknown option by the likely reason."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOPROTOOPT, errno.EOPNOTSUPP):  # from setsockopt and getsockopt
            why = "not a TCP socket, or this process is outside the cgroups given to `shortflow-linux load --cgroup`"
            raise OSError(error.errno, why) from error
        raise
