"""Parts of the documentation that `make docs` generates from the code, as Markdown."""

import ast
import inspect
import itertools
import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

import shortflow
from shortflow import _core
from shortflow.declared import all_declared, is_kind
from shortflow.front.shell import app
from shortflow.metrics.catalogue import STATISTICS
from shortflow.metrics.columns import ABOUT, OPTIONAL, TABLES
from shortflow.metrics.data import USUAL_BINS
from shortflow.metrics.statistic import Statistic
from shortflow.records import Declared, ParamInfo, RegistryEntry

_KEY_HEADS = ("key", "default", "expected", "meaning")
_MANY = 3
"""Keys that at least this many kinds share are described once."""


def part_page(name: str) -> str:
    """Text for the mark `<!-- generated: NAME -->` in a page."""
    kind, _, which = name.partition(" ")
    return PARTS[kind](which) if which else PARTS[kind]()


def commands() -> str:
    """All commands with arguments and options."""
    return "\n".join(_commands(get_command(app), "shortflow", 2))


def _commands(command: Any, path: str, level: int) -> Iterator[str]:
    context = typer.Context(command, info_name=path)
    usage = command.get_usage(context).removeprefix("Usage: ")
    paragraphs = "\n\n".join(map(_literal, inspect.cleandoc(command.help or "").split("\n\n")))
    yield f"{'#' * level} `{path}`\n\n{paragraphs}\n\n```text\n{usage}\n```\n"
    records = [record for each in command.params if (record := each.get_help_record(context))]
    if records:
        yield _table(("argument or option", "meaning"), [(f"`{name}`", about) for name, about in records])
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            yield from _commands(command.get_command(context, name), f"{path} {name}", level + 1)


def names_page(kind: str) -> str:
    """All schemes, transports, queue disciplines or ideal schedulers, with their parameters."""
    return "\n".join(_entry(entry) for entry in _core.registry()[kind])


def _entry(entry: RegistryEntry) -> str:
    lines = [f"### `{entry['name']}`\n", f"{_sentence(entry['summary'])}\n"]
    if entry["source"]:
        lines.append(f"Source: {entry['source']}.\n")
    if "transport" in entry and "queue" in entry:
        of_hosts = "" if entry["host_queue"] == "droptail" else f", in hosts `{entry['host_queue']}`"
        lines.append(f"Transport `{entry['transport']}`, queue `{entry['queue']}`{of_hosts}.\n")
    return "\n".join([*lines, _keys(entry["parameters"])])


def tables(name: str) -> str:
    """Keys of a scenario table. For a table with kinds, the shared keys come first, then the keys of each kind."""
    found = [each for each in all_declared() if each["table"] == ("" if name == "scenario" else name)]
    if not is_kind(found[0]):
        return _keys(found[0]["keys"])
    rows = Counter(row for each in found for row in _rows(each["keys"]))
    shared = [row for row, count in rows.items() if count >= _MANY]
    head = f"### Keys that kinds of `{name}` share\n\n{_table(_KEY_HEADS, shared)}\n" if shared else ""
    return head + "\n".join(_kind(each, shared) for each in found)


def _kind(declared: Declared, shared: list[tuple[str, ...]]) -> str:
    rows = _rows(declared["keys"])
    own = [row for row in rows if row not in shared]
    others = ", ".join(row[0] for row in rows if row in shared)
    text = f"### `{declared['name']}`\n\n{_sentence(declared['summary'])}\n\n"
    return text + (_table(_KEY_HEADS, own) if own else "") + (f"\nShared keys: {others}.\n" if others else "")


def _keys(keys: Sequence[ParamInfo]) -> str:
    return _table(_KEY_HEADS, _rows(keys)) if keys else ""


def _rows(keys: Sequence[ParamInfo]) -> list[tuple[str, ...]]:
    return [(f"`{key['name']}`", _default(key), _expected(key), key["summary"]) for key in keys]


def _expected(key: ParamInfo) -> str:
    is_table = key["expected"] == key.get("type")
    return ("tables" if "Sequence" in key["expected"] else "a table") if is_table else key["expected"]


def _default(key: ParamInfo) -> str:
    if key["default"] == "required" or key.get("required"):
        return "required"
    return f"`{key['default']}`" if key["default"] else "none"


def columns(name: str) -> str:
    """Columns of a result table."""
    rows = [
        (f"`{column}`", f"{dtype}".lower(), "yes" if column in OPTIONAL[name] else "no", ABOUT[name][column])
        for column, dtype in TABLES[name].items()
    ]
    return _table(("column", "type", "may be empty", "meaning"), rows)


def metrics_page() -> str:
    """All metrics with units."""
    bins = "\n".join(f"- `{each.name}`: {each.label}" for each in USUAL_BINS.ranges)
    head = (
        "`<class>` is a class of flows, and `<task>` is query, job, shuffle or request. "
        f"`<bin>` is a range of flow sizes. Classes have the first four alone. `--bins` sets others.\n\n{bins}\n\n"
    )
    rows = [(f"`{name}`", each.unit or "none", each.about) for name, each in STATISTICS.items()]
    return head + _table(("name", "unit", "meaning"), rows)


def python() -> str:
    """Directives of autodoc for all exports of `shortflow`."""
    functions = [name for name in shortflow.__all__ if inspect.isfunction(getattr(shortflow, name))]
    kinds = [name for name in shortflow.__all__ if inspect.isclass(getattr(shortflow, name))]
    errors = [name for name in kinds if issubclass(getattr(shortflow, name), Exception)]
    groups = {"Functions": functions, "Classes": [name for name in kinds if name not in errors], "Errors": errors}
    lines = []
    for title, members in groups.items():
        lines += [f"## {title}\n", "```{eval-rst}"]
        directive = "autofunction" if title == "Functions" else "autoclass"
        for name in members:
            lines += [f".. {directive}:: shortflow.{name}"]
            lines += ["   :members:", ""] if directive == "autoclass" else [""]
        lines += ["```\n"]
    return "\n".join(lines)


def api() -> str:
    """Names of `shortflow.api` by module, each with the first paragraph of its description."""
    lines = []
    for path in api_modules():
        rows = [(f"`{name}`", about) for name, about in sorted(api_names(path).items())]
        lines.append(f"## `{path}`\n\n{import_module(path).__doc__}\n\n{_table(('name', 'meaning'), rows)}")
    return "\n".join(lines)


def api_modules() -> list[str]:
    """Modules of `shortflow.api`."""
    folder = Path(__file__).parents[1] / "api"
    return [f"shortflow.api.{module.name}" for module in pkgutil.iter_modules([str(folder)])]


def api_names(module: str) -> dict[str, str]:
    """Names that a module of `shortflow.api` exports, each with the first paragraph of the description at its
    definition.
    """
    imports = [node for node in ast.parse(_source(module)).body if isinstance(node, ast.ImportFrom)]
    homes = [(each.name, str(node.module)) for node in imports for each in node.names]
    return {name: " ".join(_about(name, home).partition("\n\n")[0].split()) for name, home in homes}


def _about(name: str, home: str) -> str:
    """Docstring of a class, function or module, or the string below a constant."""
    value = getattr(import_module(home), name)
    if isinstance(value, Statistic):
        return value.about
    if inspect.ismodule(value) or inspect.isclass(value) or inspect.isroutine(value):
        return inspect.getdoc(value) or ""
    body = ast.parse(_source(home)).body
    for node, below in itertools.pairwise(body):
        names = [each for at in getattr(node, "targets", [getattr(node, "target", node)]) for each in ast.walk(at)]
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if is_text and name in [getattr(each, "id", "") for each in names]:
            return str(below.value.value)  # type: ignore[attr-defined]
    return ""


def _source(module: str) -> str:
    return inspect.getsource(import_module(module))


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *(map(_literal, row) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _sentence(text: str) -> str:
    return _literal(f"{text[0].upper()}{text[1:]}.")


def _literal(text: str) -> str:
    """Text in Markdown in which only text between backticks has a meaning, as code."""
    parts = " ".join(text.split()).replace("|", "\\|").split("`")
    parts[::2] = (re.sub(r"([*_<\[\]])", r"\\\1", part) for part in parts[::2])
    return "`".join(parts)


PARTS: dict[str, Callable[..., str]] = {
    "commands": commands,
    "names": names_page,
    "table": tables,
    "columns": columns,
    "metrics": metrics_page,
    "python": python,
    "api": api,
}
