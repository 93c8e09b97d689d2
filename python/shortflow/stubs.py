"""`make stubs`: the types of `shortflow.spec`, for editors and type checkers, from what the core declares.

Prints them, or writes them to the file that is named.
"""

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from shortflow.declared import all_declared, class_name, describe, is_kind, python_name
from shortflow.records import Declared

HEAD = '''\
"""Scenarios as typed values: a class for each table and kind. Written by `make stubs`; `spec.py` says more."""

from collections.abc import Mapping, Sequence
from typing import Literal

from shortflow.declared import Table
from shortflow.declared import parameter as parameter
'''
WIDTH = 120
TIERS = "**tiers: Mapping[str, object]"
"""Tables of tiers and ports, whose names depend on the topology."""


def stubs() -> str:
    """The whole file, as Ruff formats it."""
    parts = [HEAD]
    for table, group in groupby(all_declared(), key=lambda declared: declared["table"]):
        entries = list(group)
        if not is_kind(entries[0]):
            parts += [_class(declared, "Table") for declared in entries]
            continue
        base = class_name(table)
        parts.append(f'class {base}(Table):\n    """A table `{table}` of some kind."""\n')
        kinds = "\n".join(_class(declared, base) for declared in entries)
        inner = textwrap.indent(kinds, "    ", lambda line: bool(line.strip()))
        parts.append(f'class {table}:\n    """The kinds of `{base}`."""\n\n{inner}')
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", "spec.pyi", "-"],
        input="\n".join(parts),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def _class(declared: Declared, base: str) -> str:
    keys = sorted(declared["keys"], key=lambda key: not key["required"])
    parameters = [f"{python_name(key['name'])}: {key['type']}{'' if key['required'] else ' = ...'}" for key in keys]
    more = [TIERS] if declared["name"] == "switch" else []
    signature = ", ".join(["self", *(["*"] if parameters else []), *parameters, *more])
    doc = textwrap.indent("\n".join(_wrapped(describe(declared))), " " * 4, lambda line: bool(line.strip()))
    closing = "\n    " if "\n" in doc else ""
    name = class_name(declared["name"])
    return f'class {name}({base}):\n    """{doc.strip()}{closing}"""\n\n    def __init__({signature}) -> None: ...\n'


def _wrapped(text: str) -> Iterator[str]:
    for line in text.replace("\\", "\\\\").strip().splitlines():
        yield from textwrap.wrap(line, WIDTH - 12, subsequent_indent="    ") or [""]


if __name__ == "__main__":
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(stubs(), encoding="utf-8")
    else:
        print(stubs(), end="")
