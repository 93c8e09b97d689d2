"""Whether what was read from JSON has the shape that a type promises."""

import functools
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict


def misfit(value: object, expected: Any, name: str = "") -> str:
    """What is wrong with a value that should be a `TypedDict`, a list, a mapping or of a plain type; empty if nothing.

    A whole number passes for a float. `name` is what the value is called in the answer.
    """
    kind = dict if is_typeddict(expected) else get_origin(expected)
    if kind not in (dict, list):
        plain = (int, float) if expected is float else expected
        return "" if isinstance(value, plain) else _instead(value, name, "another value")
    if not isinstance(value, kind):
        return _instead(value, name, "a table" if kind is dict else "a list")
    if is_typeddict(expected):
        if missing := sorted(expected.__required_keys__ - value.keys()):
            return f"without {', '.join(missing)}, or written by another version"
        parts = [(value[key], hint, key) for key, hint in _hints(expected).items() if key in value]
    elif kind is dict:
        parts = [(each, get_args(expected)[1], str(key)) for key, each in value.items()]
    else:
        parts = [(each, get_args(expected)[0], name) for each in value]
    return next((wrong for part in parts if (wrong := misfit(*part))), "")


def _instead(value: object, name: str, wanted: str) -> str:
    found = f"found {type(value).__name__} in place of {wanted}"
    return f"{name}: {found}" if name else found


@functools.cache
def _hints(shape: type) -> dict[str, Any]:
    return get_type_hints(shape)
