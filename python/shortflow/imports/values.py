"""Values in the text of a scenario."""

import json
import math
import re
from collections.abc import Mapping, Sequence

from shortflow.imports.parts import Plain
from shortflow.quantities import parse, plain_number

_WHOLE = 2.0**53
"""Bound below which whole numbers are exact floats and fit into TOML."""


def toml_value(value: object) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {toml_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, int | float):
        return plain(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    assert isinstance(value, Sequence)
    return "[" + ", ".join(map(toml_value, value)) + "]"


def typed_value(text: str) -> Plain:
    """A value of `--set` for TOML: a number or a boolean if the text looks like one."""
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d*\.?\d+(?:e-?\d+)?", text) else text


def plain(value: float) -> str:
    """A number as TOML."""
    return plain_number(float(value)) if abs(value) < _WHOLE else repr(float(value))


def bps(rate: str) -> float:
    """A rate in bit/s. A plain number is in bit/s. 10 Gbps for a text that is not a rate."""
    found = parse(rate)
    return found.number * found.factor if found and found.base in ("bps", "") else 1e10


def time_text(seconds: float) -> str:
    """A time in the form of a scenario, rounded up to three digits."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            digits = 10 ** (2 - math.floor(math.log10(seconds * factor)))
            return f"{math.ceil(seconds * factor * digits) / digits:.12g}{unit}"
    return f"{math.ceil(seconds * 1e9)}ns"


def seconds_text(seconds: float) -> str:
    """A time in a sentence, such as `10 us`, `2.5 ms` or `1700000000.25 s`."""
    scale, unit = next(
        ((scale, unit) for scale, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")) if seconds * scale >= 1),
        (1e12, "ps"),
    )
    digits = 16 if scale == 1 else 12  # a calendar time keeps all its digits
    return f"{plain(float(f'{seconds * scale:.{digits}g}'))} {unit}" if seconds else "0 s"
