"""Scenarios: shipped ones by name, TOML files by path, or their tables as a Python mapping."""

import copy
import functools
import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypedDict

from shortflow import _core, imports
from shortflow.errors import ConfigError, did_you_mean, front_door, unknown_name
from shortflow.imports.names import size_files
from shortflow.terms import unquoted

SHIPPED = Path(__file__).parent / "scenarios"
"""Folder of the shipped scenarios."""

HOST_QUEUE = "host.queue"
SCHEME_PREFIXES = ("transport.", "queue.", HOST_QUEUE, "host_queue.", "priority.")
"""Prefixes of keys that belong to schemes."""

WARNING = "warning: "
"""Prefix of notes that are warnings."""

Settings = Mapping[str, str | int | float]
"""Changes to a scenario or scheme by key path, as with `--set`: `{"load": 0.4, "tcp.handshake": True}`."""


class Setting(TypedDict):
    """A resolved value and its source: default, scenario, scheme, parameter, `--set` or `scheme+key=`."""

    key: str
    value: str
    source: str


def is_default(setting: Setting) -> bool:
    """True if the value was not set. The source `default: KEY (SOURCE)` is a default that follows another key."""
    return setting["source"].startswith("default")


class ExpectedFlows(TypedDict):
    """Measured flows of a traffic entry: number of finite flows with its certainty, and number of backlogged flows."""

    entry: str
    flows: float
    known: Literal["exactly", "about", "at least"]
    backlogged: int
    text: str


@dataclass(frozen=True)
class Source:
    """Source of a scenario as plain data, for rebuilding the scenario in another process."""

    tables: str | Mapping[str, object]
    """TOML text, or mapping of tables."""
    name: str
    settings: tuple[tuple[str, str], ...] = ()
    """Changes by key path, in order of application."""

    def read(self, directory: Path) -> "Scenario":
        """The validated scenario.

        Relative file names refer to `directory`. Raises `ConfigError` for an invalid scenario.
        """
        names = self.size_files()
        files = imports.own.converted(directory, names) if names else {}
        texts = ({name: text for name, (text, _) in files.items()},) if files else ()
        if isinstance(self.tables, str):
            core = _core.Scenario.parse(self.tables, self.name, str(directory), self.settings, *texts)
        else:
            core = _core.Scenario.from_values(self.tables, self.name, str(directory), self.settings, *texts)
        return Scenario(core, directory, self, tuple(note for _, note in files.values()))

    def size_files(self) -> list[str]:
        """Names of size files, which may have any form."""
        if isinstance(self.tables, str) and "cdf" not in self.tables:
            return []
        return size_files(self._mapping, dict(self.settings))

    @property
    def _mapping(self) -> Mapping[str, object]:
        """The tables. Empty for an invalid TOML text, for which `read` raises the error."""
        try:
            return tomllib.loads(self.tables) if isinstance(self.tables, str) else self.tables
        except tomllib.TOMLDecodeError:
            return {}

    @property
    def parameters(self) -> list[str]:
        """Names of the declared parameters."""
        declared = self._mapping.get("parameters")
        return list(declared) if isinstance(declared, Mapping) else []

    def changed(self, settings: Iterable[tuple[str, str]]) -> "Source":
        """The source with more settings. Raises `ConfigError` for a scheme's parameter without its prefix."""
        settings = tuple(settings)
        bare = [key for key, _ in settings if "." not in key]
        for key in bare:
            meant = [path for path in _scheme_parameters() if path.endswith(f".{key}")]
            if meant and key not in self.parameters:
                raise ConfigError(f"{key}: unknown parameter{did_you_mean(key, meant)}")
        return replace(self, settings=(*self.settings, *settings))


@dataclass(frozen=True, repr=False)
class Scenario:
    """A validated scenario: topology, traffic, duration and measurements. A scenario names no scheme."""

    core: _core.Scenario
    directory: Path
    """Directory to which relative file names refer."""
    source: Source
    read_so: tuple[str, ...] = ()
    """Notes on size files in another form than the simulator's: format, unit, steps or lines."""

    @property
    def name(self) -> str:
        """Name of a shipped scenario, or stem of the user's file."""
        return self.core.name

    @property
    def title(self) -> str:
        """One-line title."""
        return self.core.title

    @property
    def is_shipped(self) -> bool:
        """True if the scenario's file comes with Shortflow."""
        return isinstance(self.source.tables, str) and self.directory == SHIPPED.resolve()

    @property
    def classes(self) -> list[str]:
        """Classes of the scenario's flows."""
        return self.core.classes()

    def resolved(self) -> list[Setting]:
        """All values, including defaults."""
        return as_settings(self.core.resolved())

    def traffic_notes(self, schemes: Iterable[_core.Scheme] = ()) -> list[str]:
        """Notes on the traffic, such as the arrival rate of a load, then warnings, also about these schemes."""
        return [
            *self.read_so,
            *self.core.traffic_notes(),
            *(f"{WARNING}{warning}" for warning in self.warnings(schemes)),
        ]

    def warnings(self, schemes: Iterable[_core.Scheme] = ()) -> list[str]:
        """Warnings about valid but probably unintended values, and about values without effect under these schemes.

        Each warning names its key.
        """
        compared = list(schemes)
        under = [
            (scheme.name, [key for key, _, _ in scheme.resolved()], scheme.idle(self.core, self.is_shipped))
            for scheme in compared
        ]
        replaced = [
            f"{key}: {scheme.name} sets {own} in place of {value}, the scenario's value; --set {key}={value} keeps it"
            for scheme in compared
            for key, value, own in scheme.replaced(self.core)
        ]
        return [*self.core.warnings(), *replaced, *idle_notes(under)]

    def expected_flows(self) -> list[ExpectedFlows]:
        """Expected flows of each traffic entry in measured time (warm-up to duration)."""
        return [
            {"entry": f"traffic.{number}", "flows": flows, "known": known, "backlogged": backlogged, "text": text}
            for number, (flows, known, backlogged, text) in enumerate(self.core.expected_flows(), start=1)
        ]

    @front_door
    def with_(self, settings: Settings | None = None, /, **more: str | int | float) -> "Scenario":
        """The scenario with changed values: `with_(load=0.2)`, `with_({"switch.mark_above": "30pkt"})`.

        Keys are the scenario's parameters and the paths of `shortflow show`. Quantities are texts with their unit. A
        `ConfigError` names the key, the value, the expected values and the nearest name.
        """
        pairs = as_pairs({**(settings or {}), **more})
        if of_scheme := next((key for key, _ in pairs if key.startswith(SCHEME_PREFIXES)), None):
            raise ConfigError(
                f"{of_scheme}: is a key of schemes, not of the scenario; set it with the scheme, as in dctcp+g=0.1"
            )
        changed = self.source.changed(pairs)
        if self.read_so or changed.size_files() != self.source.size_files():
            return changed.read(self.directory)
        return Scenario(self.core.with_settings(pairs), self.directory, changed)

    def changes(self, settings: Settings | None = None) -> dict[str, str]:
        """Changes by `with_` or `--set`, updated with `settings`."""
        return dict([*self.source.settings, *as_pairs(settings)])

    def __repr__(self) -> str:
        """Name and changes."""
        changed = "".join(f", {key}={value}" for key, value in dict(self.source.settings).items())
        return f"<Scenario {self.name}{changed}: {self.title}>"

    def files(self) -> dict[str, str]:
        """SHA-256 of each file that the scenario names, by key."""
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
        """Hash of all inputs of the scenario: resolved values and contents of files."""
        settings = [[setting["key"], setting["value"]] for setting in self.resolved() if setting["key"] != "title"]
        return hashlib.sha256(json.dumps([self.name, settings, self.files()]).encode()).hexdigest()


def idle_notes(schemes: Iterable[tuple[str, Iterable[str], Iterable[tuple[str, str]]]]) -> list[str]:
    """Sentences on keys that were set but have no effect, with the schemes that ignore them.

    Each item of `schemes` has a scheme's name, its own keys, and its idle keys with the condition for an effect. A
    scheme's own key is reported only if no compared scheme uses the key.
    """
    names_of: dict[tuple[str, str], list[str]] = {}  # schemes that ignore a key, by key and condition
    having, ignoring = Counter[str](), Counter[str]()  # number of schemes by key
    for name, keys, idle in schemes:
        having.update(keys)
        for key, condition in idle:
            ignoring[key] += 1
            names_of.setdefault((key, condition), []).append(name)
    keys_of: dict[tuple[str, str], list[str]] = {}  # keys with one sentence, by the schemes' names and condition
    for (key, condition), names in names_of.items():
        if not key.startswith(SCHEME_PREFIXES) or ignoring[key] >= having[key]:
            keys_of.setdefault((", ".join(dict.fromkeys(names)), condition), []).append(key)
    notes: list[str] = []
    for (ignorers, condition), keys in keys_of.items():
        # A part of a scheme is reported as a sentence, such as "the red queue never marks".
        notes += [f"{part} under {ignorers}: it does only if {condition}" for part in keys if " " in part]
        settings = [key for key in keys if " " not in key]
        has, acts = ("have", "they act") if settings[1:] else ("has", "it acts")
        notes += (
            [f"{', '.join(settings)} {has} no effect under {ignorers}: {acts} only if {condition}"] if settings else []
        )
    return notes


def warnings_at(found: Sequence[tuple[str, Iterable[str]]]) -> list[str]:
    """Warnings of several places. Each warning is listed once, with its first place unless it applies to all places."""
    places: dict[str, list[str]] = {}
    for place, texts in found:
        for text in texts:
            places.setdefault(text, []).append(place)
    where = {text: f"at {here[0]}{' and others' * (len(here) > 1)}: " for text, here in places.items()}
    return [f"{WARNING}{where[text] * (len(here) < len(found))}{text}" for text, here in places.items()]


@functools.cache
def _scheme_parameters() -> list[str]:
    """Paths of all parameters of registered schemes."""
    found = (parameter["name"] for scheme in _core.registry()["schemes"] for parameter in scheme["parameters"])
    return list(dict.fromkeys(found))


def shipped_scenarios() -> list[str]:
    """Names of the shipped scenarios."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


@front_door
def load(
    scenario: "Scenario | str | Path | Mapping[str, object]",
    settings: Settings | None = None,
    *,
    directory: Path | None = None,
) -> Scenario:
    """Loads and validates a scenario: a shipped one by name, a TOML file by path, or a `Spec` or mapping of tables.

    `settings` changes values by key, as `with_` does. Relative file names of a mapping refer to `directory` (default:
    the working directory). A `ConfigError` names the key, the value, the expected values and the nearest name.

    >>> load("incast").with_(servers=10)
    <Scenario incast, servers=10: Incast: servers answer one aggregator at once, U[2, 48] KB each>
    """
    return scenario if isinstance(scenario, Scenario) else load_scenario(scenario, settings, directory=directory)


def load_scenario(
    source: str | Path | Mapping[str, object], settings: Settings | None = None, *, directory: Path | None = None
) -> Scenario:
    """Like `load`, for a source that is not a `Scenario`. Values of a mapping reach the simulator unchanged."""
    if isinstance(source, Mapping):
        folder = (directory or Path()).resolve()
        found = Source(copy.deepcopy(dict(source)), "scenario")
    else:
        path = path_of(str(source))
        folder = path.parent.resolve()
        found = Source(read_text(path), path.stem)
    found = found.changed(as_pairs(settings))
    return found.read(folder)


def as_pairs(settings: Settings | None) -> list[tuple[str, str]]:
    """Settings in the core's form. Parts of a key may have quotes, as in a file: `switch."s0->h3".buffer`."""
    return [
        (unquoted(key), str(value).lower() if isinstance(value, bool) else str(value))
        for key, value in (settings or {}).items()
    ]


def as_settings(rows: Iterable[tuple[str, str, str]]) -> list[Setting]:
    """Resolved values from the core, as named fields."""
    return [{"key": key, "value": value, "source": source} for key, value, source in rows]


def path_of(source: str) -> Path:
    """Path of a scenario with this shipped name or path. Raises `ConfigError` for an unknown name."""
    if source in shipped_scenarios():
        return SHIPPED / f"{source}.toml"
    path = Path(source)
    if path.suffix == ".toml" or len(path.parts) > 1 or path.exists():
        return path
    raise unknown_name("scenario", source, [*shipped_scenarios(), "or the path of a .toml file"])


def read_text(path: str | Path) -> str:
    """Contents of a text file in UTF-8. A `ConfigError` names the file."""
    try:
        return _core.read_file(str(path)).decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a text file in UTF-8 (byte {error.start})") from error
