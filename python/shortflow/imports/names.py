"""Names of the size files in a scenario."""

from collections.abc import Iterator, Mapping
from typing import Any

_PARAMETER = "$"


def size_files(tables: Mapping[str, Any], settings: Mapping[str, str]) -> list[str]:
    """Names of the files of `cdf` sizes in a scenario's tables, after settings by key path."""
    parameters = tables.get("parameters")
    values = dict(parameters) if isinstance(parameters, Mapping) else {}
    named = [str(name) for name in _cdf_files(tables)]
    named += [text for key, text in settings.items() if key.endswith(".file") and "sizes" in key.split(".")]
    values |= {key: text for key, text in settings.items() if key in values}
    found = [
        str(values.get(name.removeprefix(_PARAMETER), "")) if name.startswith(_PARAMETER) else name for name in named
    ]
    return list(dict.fromkeys(filter(None, found)))


def _cdf_files(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        if value.get("kind") == "cdf" and "file" in value:
            yield value["file"]
        for each in value.values():
            yield from _cdf_files(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _cdf_files(each)
