"""Prints `spec.pyi`: types of `shortflow.spec` for editors and type checkers, from the core's declarations."""

import textwrap
from collections.abc import Sequence
from itertools import groupby

from shortflow.declared import all_declared, class_name, declared_schemes, describe, is_kind, python_name
from shortflow.records import Declared

HEAD = '''\
"""Scenarios as typed values: a class for each table and kind. Written by `make setup`; `spec.py` says more."""

from collections.abc import Mapping, Sequence
from typing import Literal

from shortflow.declared import NamedScheme, SpecTable
from shortflow.declared import parameter as parameter
'''
WIDTH = 120
TIERS = "**tiers: Mapping[str, object]"
"""Tables of tiers and ports, whose names depend on the topology."""


def stubs() -> str:
    """The whole stub file."""
    parts = [HEAD]
    for table, group in groupby(all_declared(), key=lambda declared: declared["table"]):
        entries = list(group)
        if not is_kind(entries[0]):
            parts += [_class(declared, "SpecTable") for declared in entries]
            continue
        base = class_name(table)
        parts += [
            f'class {base}(SpecTable):\n    """A table `{table}` of some kind."""\n',
            _kinds(table, base, entries),
        ]
    parts.append(_kinds("schemes", "NamedScheme", declared_schemes()))
    return "\n".join(parts)


def _kinds(namespace: str, base: str, entries: Sequence[Declared]) -> str:
    kinds = "\n".join(_class(declared, base) for declared in entries)
    inner = textwrap.indent(kinds, "    ", lambda line: bool(line.strip()))
    return f'class {namespace}:\n    """The kinds of `{base}`."""\n\n{inner}'


def _class(declared: Declared, base: str) -> str:
    keys = sorted(declared["keys"], key=lambda key: not key["required"])
    parameters = [f"{python_name(key['name'])}: {key['type']}{'' if key['required'] else ' = ...'}" for key in keys]
    more = [TIERS] if declared["name"] == "switch" else []
    signature = ", ".join(["self", *(["*"] if parameters else []), *parameters, *more])
    doc = _doc([line for line in describe(declared).splitlines() if line])
    name = class_name(declared["name"])
    return f"class {name}({base}):\n{doc}\n    def __init__({signature}) -> None: ...\n"


def _doc(lines: Sequence[str]) -> str:
    """A docstring with the first line, and the other lines as a paragraph below."""
    first, *rest = (textwrap.wrap(line.replace("\\", "\\\\"), WIDTH - 12, subsequent_indent="    ") for line in lines)
    below = ["", *(part for each in rest for part in each)] if rest else []
    text = "\n".join(['"""' + "\n".join(first), *below])
    return textwrap.indent(text + ("\n" if "\n" in text else "") + '"""\n', "    ", lambda line: bool(line.strip()))


if __name__ == "__main__":
    print(stubs(), end="")
