"""Scenarios: the shipped ones by name, a user's TOML file by path, or the same tables as a Python mapping."""

import copy
import functools
import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypedDict

from shortflow import _core
from shortflow.errors import ConfigError, did_you_mean, front_door, unknown_name

SHIPPED = Path(__file__).parent / "scenarios"

HOST_QUEUE = "host.queue"
SCHEME_PREFIXES = ("transport.", "queue.", HOST_QUEUE, "host_queue.", "priority.")
"""How the keys begin that belong to schemes."""

WARNING = "warning: "
"""How the notes begin that warn of something."""

Settings = Mapping[str, str | int | float]
"""Changes to a scenario or scheme by key path, as `--set` makes them: `{"load": 0.4, "tcp.handshake": True}`."""


class Setting(TypedDict):
    """One resolved value and where it came from: a default, the scenario, a parameter or `--set`."""

    key: str
    value: str
    source: str


class ExpectedFlows(TypedDict):
    """The flows of a traffic entry that count: finite ones, with what is known of their number, and backlogged ones."""

    entry: str
    flows: float
    known: Literal["exactly", "about", "at least"]
    backlogged: int
    text: str


@dataclass(frozen=True)
class Source:
    """What a scenario is read from, as plain data, so that another process can read the same one."""

    tables: str | Mapping[str, object]
    """The TOML text, or the mapping with its tables."""
    name: str
    settings: tuple[tuple[str, str], ...] = ()
    """Changes by key path, in the order in which they are applied."""

    def read(self, directory: Path) -> _core.Scenario:
        """The scenario, its relative file names looked up in `directory`; a `ConfigError` says what is wrong."""
        if isinstance(self.tables, str):
            return _core.Scenario.parse(self.tables, self.name, str(directory), self.settings)
        return _core.Scenario.from_values(self.tables, self.name, str(directory), self.settings)

    @property
    def parameters(self) -> list[str]:
        """The parameters that it declares."""
        try:
            tables = tomllib.loads(self.tables) if isinstance(self.tables, str) else self.tables
        except tomllib.TOMLDecodeError:
            return []  # `read` says what is wrong
        declared = tables.get("parameters")
        return list(declared) if isinstance(declared, Mapping) else []

    def changed(self, settings: Iterable[tuple[str, str]]) -> "Source":
        """The same with more settings; a `ConfigError` for what is a parameter of schemes without its prefix."""
        settings = tuple(settings)
        bare = [key for key, _ in settings if "." not in key]
        for key in bare:
            meant = [path for path in _scheme_parameters() if path.endswith(f".{key}")]
            if meant and key not in self.parameters:
                raise ConfigError(f"{key}: unknown parameter{did_you_mean(key, meant)}")
        return replace(self, settings=(*self.settings, *settings))


@dataclass(frozen=True, repr=False)
class Scenario:
    """A validated scenario: topology, traffic, duration and what to measure. It names no scheme."""

    core: _core.Scenario
    directory: Path
    """Where the relative file names of the scenario are looked up."""
    source: Source

    @property
    def name(self) -> str:
        """The shipped name, or the stem of the user's file."""
        return self.core.name

    @property
    def title(self) -> str:
        """One line that says what the scenario is."""
        return self.core.title

    @property
    def classes(self) -> list[str]:
        """The classes of its flows."""
        return self.core.classes()

    def resolved(self) -> list[Setting]:
        """Every value of the scenario, defaults included."""
        return as_settings(self.core.resolved())

    def traffic_notes(self) -> list[str]:
        """What the traffic amounts to, such as the arrival rate behind an offered load; then the warnings."""
        return [*self.core.traffic_notes(), *(f"{WARNING}{warning}" for warning in self.warnings())]

    def warnings(self, schemes: Iterable[_core.Scheme] = ()) -> list[str]:
        """What is accepted, but hardly meant, by itself or under some schemes; each names its key."""
        under = (warning for scheme in schemes for warning in scheme.warnings(self.core))
        return list(dict.fromkeys([*self.core.warnings(), *under]))

    def expected_flows(self) -> list[ExpectedFlows]:
        """How many flows of each traffic entry start in the measured time, from the warm-up to the duration."""
        return [
            {"entry": f"traffic.{number}", "flows": flows, "known": known, "backlogged": backlogged, "text": text}
            for number, (flows, known, backlogged, text) in enumerate(self.core.expected_flows(), start=1)
        ]

    @front_door
    def with_(self, settings: Settings | None = None, /, **more: str | int | float) -> "Scenario":
        """The same scenario with some values changed: `with_(load=0.2)`, `with_({"switch.mark_above": "30pkt"})`.

        Keys are the scenario's parameters and the paths of `shortflow show`; quantities are texts with their unit. A
        `ConfigError` names the key, the value, what was expected and the nearest name.
        """
        pairs = as_pairs({**(settings or {}), **more})
        if of_scheme := next((key for key, _ in pairs if key.startswith(SCHEME_PREFIXES)), None):
            raise ConfigError(
                f"{of_scheme}: is a key of schemes, not of the scenario; set it with the scheme, as in dctcp+g=0.1"
            )
        return Scenario(self.core.with_settings(pairs), self.directory, self.source.changed(pairs))

    def changes(self, settings: Settings | None = None) -> dict[str, str]:
        """What `with_` or `--set` changed of the scenario as it was read, and what `settings` change further."""
        return dict([*self.source.settings, *as_pairs(settings)])

    def __repr__(self) -> str:
        """Its name and what was changed."""
        changed = "".join(f", {key}={value}" for key, value in dict(self.source.settings).items())
        return f"<Scenario {self.name}{changed}: {self.title}>"

    def files(self) -> dict[str, str]:
        """The hash (SHA-256) of each file that the scenario names, by the key that names it."""
        return dict(self._files)

    @functools.cached_property
    def _files(self) -> dict[str, str]:
        return {
            setting["key"]: hashlib.sha256(_core.read_file(str(self.directory / setting["value"]))).hexdigest()
            for setting in self.resolved()
            if setting["key"].rpartition(".")[2] in ("file", "node_file")
        }

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of everything in the scenario that decides a run: the resolved values and the files they name."""
        settings = [[setting["key"], setting["value"]] for setting in self.resolved() if setting["key"] != "title"]
        return hashlib.sha256(json.dumps([self.name, settings, self.files()]).encode()).hexdigest()


@functools.cache
def _scheme_parameters() -> list[str]:
    """The paths of all parameters that a registered scheme has."""
    found = (parameter["name"] for scheme in _core.registry()["schemes"] for parameter in scheme["parameters"])
    return list(dict.fromkeys(found))


def shipped_scenarios() -> list[str]:
    """The names of the scenarios that come with Shortflow."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


@front_door
def load(
    scenario: "Scenario | str | Path | Mapping[str, object]",
    settings: Settings | None = None,
    *,
    directory: Path | None = None,
) -> Scenario:
    """Load and validate a scenario: a shipped one by name, a TOML file by path, or a `Spec` or mapping of its tables.

    `settings` changes values by key, as `with_` does. Files that a mapping names are looked up in `directory` (the
    working directory unless given). A `ConfigError` names the key, the value, what was expected and the nearest name.

    >>> load("l2dct-benchmark").with_(load=0.2)
    """
    return scenario if isinstance(scenario, Scenario) else load_scenario(scenario, settings, directory=directory)


def load_scenario(
    source: str | Path | Mapping[str, object], settings: Settings | None = None, *, directory: Path | None = None
) -> Scenario:
    """The same of what is no scenario yet; the values of a mapping reach the simulator as they are."""
    if isinstance(source, Mapping):
        folder = (directory or Path()).resolve()
        found = Source(copy.deepcopy(dict(source)), "scenario")
    else:
        path = path_of(str(source))
        folder = path.parent.resolve()
        found = Source(_read(path), path.stem)
    found = found.changed(as_pairs(settings))
    return Scenario(found.read(folder), folder, found)


def as_pairs(settings: Settings | None) -> list[tuple[str, str]]:
    """Settings in the form that the core takes."""
    return [
        (key, str(value).lower() if isinstance(value, bool) else str(value)) for key, value in (settings or {}).items()
    ]


def as_settings(rows: Iterable[tuple[str, str, str]]) -> list[Setting]:
    """Resolved values as the core gives them, with names."""
    return [{"key": key, "value": value, "source": source} for key, value, source in rows]


def path_of(source: str) -> Path:
    """The file of a scenario given by shipped name or by path."""
    if source in shipped_scenarios():
        return SHIPPED / f"{source}.toml"
    path = Path(source)
    if path.suffix == ".toml" or len(path.parts) > 1 or path.exists():
        return path
    raise unknown_name("scenario", source, [*shipped_scenarios(), "or the path of a .toml file"])


def _read(path: Path) -> str:
    try:
        return _core.read_file(str(path)).decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a text file in UTF-8 (byte {error.start})") from error
