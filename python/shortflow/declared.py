"""Scenario tables as Python classes, generated from the core's declarations."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

from shortflow import _core
from shortflow.errors import did_you_mean
from shortflow.records import Declared, KeyInfo

_HOME = "shortflow.spec"
_OWN = "transport."
"""Prefix of the keys of a scheme's own transport."""
_ABOUT = {
    "topology": "the network",
    "traffic": "which flows there are",
    "parameters": "values that `parameter` and settings refer to",
}


class SpecTable(Mapping[str, object]):
    """A table of a scenario. Keys are keyword arguments, which are checked one by one.

    Keys that are Python keywords have a trailing underscore: `from_`, `class_`. A `ConfigError` names the key, the
    value, the expected values and the nearest name.
    """

    _declared: ClassVar[Declared]
    _path: ClassVar[str]

    def __init__(self, **values: object) -> None:
        """Checks and stores the values."""
        keys = {name.removesuffix("_"): value for name, value in values.items()}
        table, name = self._declared["table"], self._declared["name"]
        _core.check_table(table, name, self._path, keys)
        self._values = keys if name == table else {"kind": name, **keys}

    def __getitem__(self, key: str) -> object:
        """The value of a key."""
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        """Keys with values."""
        return iter(self._values)

    def __len__(self) -> int:
        """Number of keys with values."""
        return len(self._values)

    def __repr__(self) -> str:
        """The constructor call."""
        given = (f"{python_name(key)}={value!r}" for key, value in self.items() if key != "kind")
        return f"{self._path}({', '.join(given)})"


class Kinds:
    """Namespace of the kinds of a table."""

    def __init__(self, table: str) -> None:
        """Creates an empty namespace."""
        self.__name__ = table
        self.__doc__ = f"The kinds of `{table}`, each a class whose keys are given by name:\n"

    def _add(self, kind: type) -> None:
        setattr(self, kind.__name__, kind)
        self.__doc__ = f"{self.__doc__}\n- {kind.__name__}: {(kind.__doc__ or '').splitlines()[0]}"

    def __getattr__(self, name: str) -> type[SpecTable]:
        """Raises `AttributeError` for an unknown kind. Python finds known kinds without this method."""
        known = [each for each in vars(self) if not each.startswith("_")]
        raise AttributeError(f"{self.__name__}.{name}: unknown kind{did_you_mean(name, known)}")


class NamedScheme(str):
    """A scheme with its own settings, as a name: `schemes.L2dct(w_max=2)` is `"l2dct+w_max=2"`.

    The transport's keys have bare names. Other keys have their table as prefix (`queue_mark`). A `ConfigError` names
    the key, the value, the expected values and the nearest name.
    """

    _declared: ClassVar[Declared]
    _path: ClassVar[str]

    def __new__(cls, **values: object) -> Self:
        """Builds the name from these values."""
        known = {python_name(key["name"]): key["name"] for key in cls._declared["keys"]}
        for name in values:
            if name not in known:
                hint = did_you_mean(name, known) or f" (known: {', '.join(known)})"
                raise _core.ConfigError(f"{cls._path}.{name}: unknown key{hint}")
        pairs = [
            (known[name], str(value).lower() if isinstance(value, bool) else str(value))
            for name, value in values.items()
        ]
        scheme = cls._declared["name"]
        _core.Scheme.parse(scheme, [(*pair, "--set") for pair in pairs])
        return super().__new__(cls, "+".join([scheme, *(f"{key.removeprefix(_OWN)}={text}" for key, text in pairs)]))


def parameter(name: str) -> Any:
    """A reference to one of the scenario's `parameters`, valid for any key: `parameter("load")` is `"$load"`."""
    return f"${name}"


def python_name(key: str) -> str:
    """Python name of a key."""
    return f"{key}_" if key in ("from", "class") else key.removeprefix(_OWN).replace(".", "_")


def class_name(name: str) -> str:
    """Class name of a table: `LeafSpine` for `leaf-spine`, `Spec` for the whole scenario."""
    return "".join(f"{word[0].upper()}{word[1:]}" for word in name.split("-")) if name else "Spec"


def all_declared() -> Sequence[Declared]:
    """Declarations of all tables. The first is the whole scenario, with the other tables among its keys."""
    whole, *others = _core.declared()
    types = {"topology": "Topology", "traffic": "Sequence[Traffic]"}
    types |= {each["name"]: class_name(each["name"]) for each in others if not is_kind(each)}
    types |= {"faults": "Faults | Sequence[Faults]", "parameters": "Mapping[str, object]"}
    tables: list[KeyInfo] = [
        {
            "name": name,
            "type": kind,
            "required": name in ("topology", "traffic", "switch"),
            "default": "",
            "expected": "values by name" if name == "parameters" else kind,
            "summary": next((each["summary"] for each in others if each["name"] == name), _ABOUT.get(name, name)),
        }
        for name, kind in types.items()
    ]
    return [{**whole, "summary": "a whole scenario", "keys": [*whole["keys"], *tables]}, *others]


def declared_schemes() -> Sequence[Declared]:
    """Declarations of all schemes, with their parameters."""
    return [
        {
            "table": "schemes",
            "name": entry["name"],
            "summary": entry["summary"] + (f" ({entry['source']})" if entry["source"] else ""),
            "keys": [{**each, "type": _type_of(each["expected"]), "required": False} for each in entry["parameters"]],
        }
        for entry in _core.registry()["schemes"]
    ]


def _type_of(expected: str) -> str:
    """Python type of a parameter with these expected values."""
    if expected.startswith("one of "):
        return f"Literal[{', '.join(map(repr, expected.removeprefix('one of ').split(', ')))}]".replace("'", '"')
    starts = {
        "a number": "float",
        "a whole number": "int",
        "true or false": "bool",
        '"auto" or a number': "float | str",
    }
    return next((kind for start, kind in starts.items() if expected.startswith(start)), "str")


def is_kind(declared: Declared) -> bool:
    """True if the table has several kinds, and this is one of them."""
    return declared["name"] != declared["table"]


def classes() -> dict[str, object]:
    """All classes by name. The kinds of a table share a base class, and are in a namespace named after the table."""
    found: dict[str, Any] = {"parameter": parameter}
    for declared in all_declared():
        table, name = declared["table"], class_name(declared["name"])
        if not is_kind(declared):
            found[name] = _class(declared, name, SpecTable)
            continue
        base = class_name(table)
        if base not in found:
            about = f"A table `{table}` of some kind."
            found |= {table: Kinds(table), base: type(base, (SpecTable,), {"__doc__": about, "__module__": _HOME})}
        found[table]._add(_class(declared, f"{table}.{name}", found[base]))
    found["schemes"] = Kinds("schemes")
    for declared in declared_schemes():
        name = class_name(declared["name"])
        found["schemes"]._add(_class(declared, f"schemes.{name}", NamedScheme))
    return found


def _class(declared: Declared, path: str, base: type) -> type:
    parameters = [
        inspect.Parameter(
            python_name(key["name"]),
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if key["required"] else ...,
            annotation=key["type"],
        )
        for key in declared["keys"]
    ]
    body = {"_declared": declared, "_path": path, "__doc__": describe(declared), "__module__": _HOME}
    made = type(path.rpartition(".")[2], (base,), {**body, "__qualname__": path})
    made.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return made


def describe(declared: Declared) -> str:
    """Docstring of a table: a line for the table, and a line for each key."""
    about = declared["summary"]
    lines = [f"{about[0].upper()}{about[1:]}.", ""]
    for key in declared["keys"]:
        default = "" if key["required"] or not key["default"] else f"; {key['default']} unless given"
        lines.append(f"{python_name(key['name'])}: {key['summary']} ({key['expected']}{default}).")
    return "\n".join(lines)
