"""Messages described by applications: senseless values, and hosts without a listener."""

import socket
from collections.abc import Callable
from typing import Any

import pytest

from shortflow import linux

WRONG: list[tuple[Callable[..., None], str, list[Any]]] = [
    (linux.set_size, "size", [-1, 32e3, "a", 2**64]),
    (linux.set_deadline, "seconds", [0, -1, 1e10]),
    (linux.set_class, "class", ["urgent"]),
]


@pytest.mark.parametrize(("say", "key", "value"), [(say, key, value) for say, key, values in WRONG for value in values])
def test_a_wrong_value_is_named_with_what_is_expected(say: Callable[..., None], key: str, value: object) -> None:
    with socket.socket() as sock, pytest.raises(ValueError, match=rf"^{key} = .*: expected ") as error:
        say(sock, value)
    assert str(value) in str(error.value)


def test_where_nobody_listens_the_way_out_is_named() -> None:
    way_out = r"no TCP socket, or .*load --cgroup"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        with pytest.raises(OSError, match=way_out):
            linux.set_size(sock, 1)
        with pytest.raises(OSError, match=way_out):
            linux.get_size(sock)
