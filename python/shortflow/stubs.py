"""Prints `spec.pyi`: types of `shortflow.spec` for editors and type checkers, from the core's declarations."""

import textwrap
from collections import Counter
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
_MANY = 3
"""Keys of this many kinds are described once, in the base class."""
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
        parts += _kinds(table, class_name(table), f"A table `{table}` of some kind.", entries)
    parts += _kinds(
        "schemes", "AnyScheme", "The text that names a scheme, with settings of its own.", declared_schemes()
    )
    return "\n".join(parts)


def _kinds(namespace: str, base: str, about: str, entries: Sequence[Declared]) -> list[str]:
    """Base class and namespace of some kinds."""
    counts = Counter(line for declared in entries for line in _described(declared)[1:])
    shared = [line for line, count in counts.items() if count >= _MANY]
    above = "NamedScheme" if namespace == "schemes" else "SpecTable"
    heading = f"{about} Some share keys:" if shared else about
    kinds = "\n".join(_class(declared, base, shared) for declared in entries)
    inner = textwrap.indent(kinds, "    ", lambda line: bool(line.strip()))
    return [
        f"class {base}({above}):\n{_doc([heading, *shared])}\n",
        f'class {namespace}:\n    """The kinds of `{base}`."""\n\n{inner}',
    ]


def _class(declared: Declared, base: str, shared: Sequence[str] = ()) -> str:
    """A class. Keys shared by many kinds are described in its base class."""
    keys = sorted(declared["keys"], key=lambda key: not key["required"])
    parameters = [f"{python_name(key['name'])}: {key['type']}{'' if key['required'] else ' = ...'}" for key in keys]
    more = [TIERS] if declared["name"] == "switch" else []
    signature = ", ".join(["self", *(["*"] if parameters else []), *parameters, *more])
    doc = _doc([line for line in _described(declared) if line not in shared])
    name = class_name(declared["name"])
    return f"class {name}({base}):\n{doc}\n    def __init__({signature}) -> None: ...\n"


def _described(declared: Declared) -> list[str]:
    """A line for a table and a line for each key."""
    return [line for line in describe(declared).splitlines() if line]


def _doc(lines: Sequence[str]) -> str:
    """A docstring: the first line, and paragraphs below."""
    first, *rest = (textwrap.wrap(line.replace("\\", "\\\\"), WIDTH - 12, subsequent_indent="    ") for line in lines)
    below = ["", *(part for each in rest for part in each)] if rest else []
    text = "\n".join(['"""' + "\n".join(first), *below])
    return textwrap.indent(text + ("\n" if "\n" in text else "") + '"""\n', "    ", lambda line: bool(line.strip()))


if __name__ == "__main__":
    print(stubs(), end="")
