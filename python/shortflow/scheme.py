"""Schemes: a transport with its queue discipline. Assigns settings to schemes."""

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from shortflow._core import Scheme, read_schemes, registry, schema
from shortflow.errors import ConfigError, did_you_mean
from shortflow.scenario import HOST_QUEUE, SCHEME_PREFIXES, Setting, Settings, as_pairs, read_text
from shortflow.transport import OWN, SOURCE, Given, Transport, accepts, as_scheme, is_transport, load_transport

ALPHA = "transport.initial_alpha"
"""Key of the first estimate of the marked fraction."""
_SHARED = (HOST_QUEUE, "transport.g", ALPHA, "transport.cwnd_floor")
"""Constants that should be equal in a comparison of laws."""
_OF_ROCE = "transport.cnp_every"
"""Key that only transports on RoCE hosts have.

Their constants are about rates and notifications, not windows and marks.
"""
FIFO = "droptail"
LAWS: Settings = {ALPHA: 0, "transport.cwnd_floor": 1}
"""Constants of laws in the papers' ns-2 code. RFC 8257, Linux and Shortflow's defaults have other values."""
ONE_ALPHA = ("fast",)
"""Transports whose papers need an initial alpha of 1, because their windows fall below one segment."""

_OF_NETWORK = "switch, host, tcp (except mss, header and wire) and routing"


@dataclass(frozen=True)
class SchemeSource:
    """Source of a scheme as plain data, for rebuilding the scheme in another process."""

    label: str
    base: str
    """A registered name, `TRANSPORT over QUEUE`, or `FILE.py:CLASS` with an absolute path."""
    in_python: bool
    settings: tuple[Given, ...]

    def build(self) -> Scheme:
        """Builds the scheme. A Python law is loaded from its file."""
        if self.in_python:
            return as_scheme(load_transport(self.base), self.settings, self.label)
        return Scheme.parse(self.base, self.settings, self.label)


@dataclass(frozen=True)
class _Choice:
    """A scheme as requested."""

    label: str
    scheme: str | Transport
    own: Settings
    """Settings of this scheme only."""
    file: str = ""
    """`FILE.py:CLASS` of a Python law that was given by name, with an absolute path."""
    table: Settings = field(default_factory=dict)
    """Parameters from a user's file of schemes."""

    def accepts(self, key: str, settings: Settings) -> bool:
        """True if the scheme has the parameter `key`, given the host queue in the settings."""
        given = {**self.table, **settings, **self.own}.get(HOST_QUEUE)
        host_queue = None if given is None else str(given)
        if isinstance(self.scheme, str):
            return Scheme.accepts(self.scheme, key, host_queue)
        return accepts(self.scheme, key, host_queue)

    def build(self, settings: Settings) -> Scheme:
        """The scheme with its own settings, and with the entries of `settings` that it has parameters for."""
        if isinstance(self.scheme, str):
            return Scheme.parse(self.scheme, self._given(settings), self.label)
        return as_scheme(self.scheme, self._given(settings), self.label)

    def source(self, settings: Settings) -> SchemeSource | None:
        """Source of the scheme. None for a class of this process."""
        base = self.scheme if isinstance(self.scheme, str) else self.file
        return SchemeSource(self.label, base, base == self.file, tuple(self._given(settings))) if base else None

    def _given(self, settings: Settings) -> list[Given]:
        """Settings that the scheme has parameters for, with their sources. Later settings override earlier ones."""
        of_all = {key: value for key, value in settings.items() if self.accepts(key, settings)}
        by_source = {"scheme": self.table, "--set": of_all, OWN: self.own}
        return [(*pair, source) for source, found in by_source.items() for pair in as_pairs(found)]


def split_settings(settings: Settings) -> tuple[Settings, Settings]:
    """Settings of the scenario, and settings of schemes (`transport.…`, `queue.…`, `host.queue` and so on)."""
    of_schemes = {key: value for key, value in settings.items() if key.startswith(SCHEME_PREFIXES)}
    of_scenario = {key: value for key, value in settings.items() if key not in of_schemes}
    return of_scenario, of_schemes


def settings_of(scheme: str | Transport, settings: Settings) -> Settings:
    """Scheme settings that this scheme has parameters for."""
    choice = _choose(scheme)
    return {key: value for key, value in settings.items() if choice.accepts(key, settings)}


@functools.cache
def is_ideal(scheme: str) -> bool:
    """True for the name of an ideal scheduler."""
    return any(each["name"] == scheme for each in registry()["ideal"])


def laws_of_papers(scheme: str) -> Settings:
    """The constants of `LAWS` that this scheme has, whether or not its name has settings.

    Transports in `ONE_ALPHA` keep their initial alpha.
    """
    laws = settings_of(scheme, LAWS)
    has_one_alpha = str(_choose(scheme).scheme).partition(" over ")[0] in ONE_ALPHA
    return {key: value for key, value in laws.items() if not (has_one_alpha and key == ALPHA)}


def load_schemes(schemes: Sequence[str | Transport], settings: Settings | None = None) -> list[Scheme]:
    """The schemes, each with the settings that it has parameters for.

    A scheme is a registered name, `TRANSPORT over QUEUE`, `FILE.toml:NAME`, `FILE.py:CLASS`, or a subclass of
    `CongestionControl`. A name may have its own settings: `xdctcp+g=0.09`, `sack over pias+priority.by=size`. Keys
    without a prefix are the transport's. Keys of `switch`, `host`, `tcp` and `routing` change the scenario under this
    scheme only: `pfabric+switch.buffer=36KB`. A parameter set follows the name: `dctcp@linux`.

    Raises `ConfigError` for an unknown or repeated scheme, or a setting that no scheme accepts.
    """
    return [scheme for scheme, _ in load_with_sources(schemes, settings)]


def load_with_sources(
    schemes: Sequence[str | Transport], settings: Settings | None = None
) -> list[tuple[Scheme, SchemeSource | None]]:
    """Like `load_schemes`, with the source of each scheme. The source is None for a class."""
    settings = settings or {}
    choices = [_choose(scheme) for scheme in schemes]
    labels = [choice.label for choice in choices]
    repeated = next((label for i, label in enumerate(labels) if label in labels[:i]), None)
    if not labels or repeated:
        raise ConfigError(f"schemes: {repeated!r} is named twice" if repeated else "schemes: name at least one scheme")
    plain = [choice.build({}) for choice in choices]
    for key in settings:
        if not any(choice.accepts(key, settings) for choice in choices):
            raise _unaccepted(key, plain)
    return [(choice.build(settings), choice.source(settings)) for choice in choices]


def _choose(scheme: str | Transport) -> _Choice:
    if not isinstance(scheme, str) and not is_transport(scheme):
        raise ConfigError(f"schemes: {scheme!r} is no name, nor a subclass of CongestionControl")
    if not isinstance(scheme, str):
        return _Choice(scheme.__name__, scheme, {})
    name, *texts = (part.strip() for part in scheme.split("+"))
    plain = _plain(name)
    pairs = [_own_setting(scheme, text) for text in texts]
    own = dict(pairs)
    for key, value in own.items():
        if (values := [found for each, found in pairs if each == key])[1:]:
            raise ConfigError(f"{scheme}: {key} is given twice, as {' and '.join(values)}; give it once")
        if not plain.accepts(key, own):
            path = key.removeprefix("transport.")
            if _is_of_scenario(path):
                raise ConfigError(
                    f"{scheme}: {path} belongs to the scenario and has one value for all schemes, which meet the same "
                    f"flows; set it with --set {path}={value}"
                )
            of_network = f"keys of {_OF_NETWORK}" if plain.accepts("switch.buffer", own) else ""
            raise _unaccepted(key, [plain.build({})], of_network)
    return replace(plain, label="+".join([plain.label, *texts]), own=own)


def _is_of_scenario(key: str) -> bool:
    """True if a key belongs to the scenario, and no scheme accepts the key."""
    known, schemes = json.loads(schema())["properties"], (each["name"] for each in registry()["schemes"])
    return key.partition(".")[0] in known and not any(Scheme.accepts(name, key, None) for name in schemes)


def _plain(name: str) -> _Choice:
    """The scheme of a name without settings."""
    file, _, of_file = name.rpartition(":")
    if file.endswith(".toml") or name.endswith(".toml"):
        return _of_file(name, file, of_file)
    if file or name.endswith(".py"):
        found = load_transport(name)
        return _Choice(found.__name__, found, {}, str(Path(name).absolute()))
    if "=" in name:
        raise ConfigError(f"{name!r} is no scheme; write settings as in dctcp+g=0.5+recovery=rack")
    name = " ".join(name.split())
    known = registry()
    schemes, transports = ({entry["name"] for entry in known[kind]} for kind in ("schemes", "transports"))
    if name in transports - schemes:
        raise ConfigError(f"{name!r} is a transport, not a scheme; add its queues, as in '{name} over droptail'")
    return _Choice(name, name, {})


def _of_file(reference: str, file: str, name: str) -> _Choice:
    """The scheme named by `FILE.toml:NAME`."""
    if not file:
        raise ConfigError(f"{reference}: names no scheme; expected FILE.toml:NAME")
    found: dict[str, _Choice] = {}
    registered = {entry["name"] for entry in registry()["schemes"]}
    for known, composed, own in read_schemes(read_text(file), file):
        if known in found or known in registered:
            why = "named twice" if known in found else "a scheme of Shortflow's; yours needs another name"
            raise ConfigError(f"{file}: {known!r} is {why}")
        found[known] = _Choice(known, composed, {}, table=dict(own))
    name, _, constants = name.partition("@")
    if name not in found:
        all_known = f" (known: {', '.join(found)})" if found else " (it has none)"
        raise ConfigError(f"{file}: there is no scheme {name!r}{did_you_mean(name, found)}{all_known}")
    return _with_set(found[name], constants) if constants else found[name]


def _with_set(choice: _Choice, name: str) -> _Choice:
    """A scheme of a file with the constants of a parameter set, which replace the file's constants."""
    constants = _constants(name, str(choice.scheme).partition(" ")[0])
    table = {key: value for key, value in choice.table.items() if key not in constants}
    return replace(choice, label=f"{choice.label}@{name}", scheme=f"{choice.scheme}@{name}", table=table)


def _constants(name: str, transport: str | None = None) -> set[str]:
    """Keys in the parameter set `name` of one transport, or of all transports with a set of this name."""
    sets = (each for each in registry()["parameter-sets"] if each["name"] == name)
    of_it = (each for each in sets if transport is None or each["transport"] in ("", transport))
    return {row["name"] for each in of_it for row in each["parameters"]}


def _own_setting(scheme: str, text: str) -> tuple[str, str]:
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key or not value:
        raise ConfigError(f"{scheme}: {text!r} is not KEY=VALUE, as in xdctcp+g=0.09")
    return (key if "." in key else f"transport.{key}"), value


def differing(schemes: Mapping[str, Iterable[Setting]], scenario: Iterable[Setting]) -> list[str]:
    """Sentences on parameters whose values differ between the schemes.

    `schemes` has resolved values of each scheme, which override the values of `scenario`. All constants of a parameter
    set share one sentence. A sentence names --set if --set can make the values equal. Constants of RoCE hosts' laws are
    left out, because they belong to another law even if their names are equal.
    """
    by_scheme = {scheme: {each["key"]: each for each in found} for scheme, found in schemes.items()}
    around = {each["key"]: each for each in scenario}
    of_tables = [key for own in by_scheme.values() for key, each in own.items() if each["source"] == "scheme"]
    sets = {scheme: scheme.partition("@")[2].partition("+")[0] for scheme in schemes}
    constants = {scheme: _constants(name) for scheme, name in sets.items()}
    lines, of_sets = [], dict[str, dict[str, str]]()
    for key in dict.fromkeys((*_SHARED, *of_tables)):
        having: dict[str, list[str]] = {}
        found = {
            scheme: own.get(key) or around.get(key)
            for scheme, own in by_scheme.items()
            if _OF_ROCE not in own or not key.startswith("transport.")
        }
        settings = {scheme: each for scheme, each in found.items() if each}
        for scheme, each in settings.items():
            having.setdefault(each["value"], []).append(scheme)
        own = {scheme for scheme, each in settings.items() if each["source"] == "scheme"}
        by_set = {scheme for scheme in own if key in constants[scheme]}
        usual = {each["value"] for scheme, each in settings.items() if scheme not in by_set}
        if len(usual) < 2 and by_set and len(having) > 1:
            for scheme in (each for each in settings if each in by_set and settings[each]["value"] not in usual):
                of_sets.setdefault(scheme, {})[key] = settings[scheme]["value"]
        elif len(having) > 1 and (key in _SHARED or key in around):
            described = ", ".join(f"{value} ({', '.join(names)})" for value, names in having.items())
            may_set = all(each["source"] != OWN for each in settings.values())
            value = FIFO if key == HOST_QUEUE and FIFO in having else next(iter(having))  # for packets without priority
            remedy = f"; --set {key}={value} makes them equal" if may_set else ""
            lines.append(f"{key} differs between the schemes: {described}{remedy}")
    for scheme, values in of_sets.items():
        # A list, such as the marking curves of a set, would fill a screen.
        texts = [
            f"{key} ({text.count(';') + 1} entries)" if ";" in text else f"{key}={text}" for key, text in values.items()
        ]
        where = (
            f"; `shortflow list parameter-sets {sets[scheme]}` has the entries"
            if ";" in "".join(values.values())
            else ""
        )
        described = f"its parameter set {sets[scheme]}: {', '.join(texts)}"
        lines.append(f"{scheme} differs by {described}; --set KEY=VALUE makes a key equal everywhere{where}")
    return lines


def _unaccepted(key: str, schemes: Sequence[Scheme], more: str = "") -> ConfigError:
    resolved = (parameter for scheme in schemes for parameter, _, _ in scheme.resolved())
    known = [parameter for parameter in dict.fromkeys(resolved) if parameter != SOURCE]
    names = ", ".join(scheme.name for scheme in schemes)
    all_known = f" (known: {', '.join(filter(None, [*known, more]))})" if known or more else " (there are none)"
    prefix = f"{key.partition('.')[0]}."
    alike = [each for each in known if did_you_mean(key.removeprefix(prefix), [each.removeprefix(prefix)])]
    return ConfigError(f"{key}: no parameter of {names}{did_you_mean(key, alike) or all_known}")
