"""JSON and YAML documents in which the line of every value is known."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from shortflow.errors import ConfigError, MissingRequirement
from shortflow.imports.files import MOST, File

Path = tuple[str | int, ...]

_TOKEN = re.compile(r'[{}\[\],:\n]|"(?:[^"\\\n]|\\.)*"|[^\s{}\[\],:"]+')


@dataclass(frozen=True)
class Place:
    """A value of a document, its path, and the lines of all paths."""

    file: File
    value: Any
    path: Path
    lines: Mapping[Path, int]

    @property
    def name(self) -> str:
        """The last key of the path."""
        return str(self.path[-1]) if self.path else ""

    @property
    def line(self) -> int:
        """Line of the value's key. Line of the value itself if the value is an element of a list."""
        return self.lines.get(self.path, 0)

    @property
    def origin(self) -> str:
        """File, line and path, as text for a comment."""
        return f"{self.file.origin(self.line)}: {self.field}"

    @property
    def field(self) -> str:
        """The path as text, such as `PORT.Ethernet0.speed`."""
        return ".".join(map(str, self.path)) or "document"

    def wrong(self, expected: str) -> ConfigError:
        """The error about this value."""
        shown = self.value if isinstance(self.value, str) else json.dumps(self.value, default=str)
        return self.file.wrong(self.line, self.field, shown, expected)

    def at(self, *keys: str | int) -> "Place | None":
        """The value at these keys. None if the value is absent or null."""
        value = self.value
        for key in keys:
            if isinstance(value, Mapping) or (isinstance(value, list) and isinstance(key, int) and key < len(value)):
                value = value.get(key) if isinstance(value, Mapping) else value[int(key)]
            else:
                return None
        return None if value is None else Place(self.file, value, (*self.path, *keys), self.lines)

    def need(self, *keys: str | int) -> "Place":
        """The value at these keys. Raises a `ConfigError` that names the keys if there is no value."""
        found = self.at(*keys)
        if found is None:
            raise self.file.wrong(self.line, ".".join(map(str, (*self.path, *keys))), "nothing", "a value")
        return found

    def each(self, *keys: str | int) -> "Iterator[Place]":
        """The values in the table or list at these keys.

        Empty if absent. Raises `ConfigError` for another kind of value.
        """
        outer = self.at(*keys)
        if outer is None:
            return
        if not isinstance(outer.value, Mapping | list):
            raise outer.wrong("a table or a list")
        names = outer.value if isinstance(outer.value, Mapping) else range(len(outer.value))
        for name in names:
            found = outer.at(name)
            if found is not None:
                yield found

    def text(self, *keys: str | int) -> str:
        """The text or number at these keys as text. Empty if absent. Raises `ConfigError` for a table or list."""
        found = self.at(*keys)
        if found is None:
            return ""
        if isinstance(found.value, Mapping | list):
            raise found.wrong("a text or a number")
        return str(found.value).strip()

    def number(self, expected: str, least: float = 0, most: float = MOST) -> float:
        """This value as a number from `least` to `most`.

        The value may be a text. Raises `ConfigError` for another value.
        """
        try:
            number = float(self.value)
        except (TypeError, ValueError):
            number = float("nan")
        if not least <= number <= most:
            raise self.wrong(expected)
        return number


def read_json(file: File, decimals: Callable[[str], object] = float) -> Place:
    """Reads a JSON document, its numbers with a decimal point by `decimals`.

    A `ConfigError` names the line of a syntax error.
    """
    try:
        value = json.loads(file.text, parse_float=decimals)
    except json.JSONDecodeError as error:
        expected = error.msg[:1].lower() + error.msg[1:]
        raise file.wrong(error.lineno, "JSON", file.text[error.pos : error.pos + 20], expected) from error
    except RecursionError as error:
        raise file.wrong(0, "JSON", "too many levels", "a document of fewer levels") from error
    return Place(file, value, (), json_lines(file.text))


def json_lines(text: str) -> dict[Path, int]:
    """The lines of all keys and elements in a valid JSON document, by path."""
    found: dict[Path, int] = {}
    path: list[str | int | None] = []
    line = 1
    for token in _TOKEN.findall(text):
        if token == "\n":
            line += 1
        elif token in "}]":
            path.pop()
        elif token == ",":
            last = path[-1]
            path[-1] = last + 1 if isinstance(last, int) else None
        elif token != ":":
            if path and path[-1] is None:
                path[-1] = json.loads(token)
                found[tuple(path)] = line  # type: ignore[arg-type]
                continue
            if path and isinstance(path[-1], int):
                found.setdefault(tuple(path), line)  # type: ignore[arg-type]
            if token in "{[":
                path.append(None if token == "{" else 0)
    return found


def read_yaml(file: File) -> Place:
    """Reads a YAML document. A `ConfigError` names the line of a syntax error.

    Raises `MissingRequirement` without PyYAML.
    """
    try:
        yaml: Any = import_module("yaml")
    except ImportError as error:
        raise MissingRequirement(
            f"{file.path}: YAML needs PyYAML, which is not installed: pip install 'shortflow[yaml]'"
        ) from error
    try:
        tree = yaml.compose(file.text, yaml.SafeLoader)
        value = yaml.safe_load(file.text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "no YAML"
        raise file.wrong(mark.line + 1 if mark else 0, "YAML", problem, "a YAML document") from error
    except RecursionError as error:
        raise file.wrong(0, "YAML", "too many levels", "a document of fewer levels") from error
    lines: dict[Path, int] = {}
    _add_lines(tree, (), lines, set())
    return Place(file, value, (), lines)


def _add_lines(node: Any, path: Path, lines: dict[Path, int], seen: set[int]) -> None:
    """Adds the lines of all nodes of a YAML document. A node with several aliases is visited once."""
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if node.id == "mapping":
        inner = [((*path, str(key.value)), key, value) for key, value in node.value]
    elif node.id == "sequence":
        inner = [((*path, index), value, value) for index, value in enumerate(node.value)]
    else:
        return
    for place, marked, value in inner:
        lines[place] = marked.start_mark.line + 1
        _add_lines(value, place, lines, seen)
