"""An existing configuration for an export: its ports, their profiles, and the settings that an import gives them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shortflow import _core
from shortflow.exports.switches import Switches
from shortflow.imports import sonic
from shortflow.imports.documents import Place
from shortflow.imports.parts import Link, Network, Node, Options, Part
from shortflow.imports.rates import written
from shortflow.imports.scenario import draft
from shortflow.imports.sonic_pfc import reference
from shortflow.imports.sonic_switch import Switch
from shortflow.quantities import parse, rounded
from shortflow.terms import unquoted

Tables = Mapping[str, Mapping[str, str]]
"""Settings by table of a scenario, such as `switch`, `switch.leaf.up` and `switch.s0->h3`."""


@dataclass(frozen=True)
class Today:
    """An existing configuration."""

    root: Place
    options: Options
    switch: Switch

    @classmethod
    def of(cls, root: Place, queue: int | None) -> "Today":
        """The configuration in a document, for the given queue, or for the only one.

        Raises `ConfigError` as the import does.
        """
        return cls(root, Options(queue=queue), Switch.of(root, queue))

    @property
    def ports(self) -> Sequence[str]:
        """Names of the ports that are up."""
        return [port.name for port in self.switch.ports]

    @property
    def is_paused(self) -> bool:
        """True if at least one port pauses."""
        return bool(self.switch.paused.by_port)

    @property
    def profile(self) -> str:
        """The most frequent profile of priority groups. Empty if no port pauses."""
        names = list(self.switch.paused.profiles.values())
        return max(names, key=names.count, default="")

    def is_paired(self, switches: Switches) -> bool:
        """True if the scenario has one switch, with as many links as the configuration has ports, and more than one."""
        return len(switches) == 1 and all(len(each.links) == len(self.ports) > 1 for each in switches.values())

    def tables(self, switches: Switches) -> Tables:
        """Settings that an import of the configuration has for the switches of a scenario.

        A switch with as many links as ports takes the ports in order. Other switches take ports by the rates of their
        links.
        """
        file = self.root.file
        part = sonic.SONIC.read(file, self.options)
        parts = [(file, sonic.SONIC, part)]
        if part.ports and part.ports.rack and self.is_paired(switches):
            _, by_host = part.ports.rack
            hosts = [end.name for each in switches.values() for end in each.links]
            settings = dict(zip(hosts, by_host.values(), strict=True))
            part.ports = replace(part.ports, rack=(_network(switches), settings))
        elif switches:
            parts.append((file, sonic.SONIC, Part(network=_network(switches))))
        return by_table({unquoted(key): str(each.value) for key, each in draft(parts, self.options, {}).values.items()})

    def entries(self, table: str, port: str) -> Mapping[str, str]:
        """Names of the entries for a port's queues.

        The value is the name of the present entry if this names several ports, else empty. Queues with the same
        profiles get entries, so that their profiles stay equal. Of the priority groups, only the one of the first queue
        gets an entry.
        """
        queues = self.switch.queues[:1] if table == "BUFFER_PG" else self.switch.queues
        return dict(self._entry(table, port, queue) for queue in queues)

    def _entry(self, table: str, port: str, queue: int) -> tuple[str, str]:
        for entry in self.root.each(table):
            ports, _, span = entry.name.partition("|")
            first, _, last = span.partition("-")
            if (
                port in map(str.strip, ports.split(","))
                and first.isdigit()
                and int(first) <= queue <= int(last or first)
            ):
                return (entry.name, "") if ports == port else (f"{port}|{span}", entry.name)
        return f"{port}|{queue}", ""

    def named(self, table: str, name: str) -> str:
        """A reference to a profile in the configuration's form: `AZURE`, or `[WRED_PROFILE|AZURE]` in old versions."""
        tables = ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG")
        texts = [each.text() for of in tables for entry in self.root.each(of) for each in entry.each()]
        return f"[{table}|{name}]" if any(text.startswith("[") for text in texts) else name

    def has_several(self, profile: str) -> bool:
        """True if a port has several priority groups with this profile."""
        groups = Counter[str]()
        for entry in self.root.each("BUFFER_PG"):
            ports, _, span = entry.name.partition("|")
            first, _, last = span.partition("-")
            if reference(entry.at("profile")) == profile and first.isdigit():
                groups.update({port: int(last or first) - int(first) + 1 for port in ports.split(",")})
        return max(groups.values(), default=0) > 1


def by_table(settings: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Settings of switches, by table."""
    found: dict[str, dict[str, str]] = {}
    for key, value in settings.items():
        table, _, name = key.rpartition(".")
        if table.partition(".")[0] == "switch":
            found.setdefault(table, {})[name] = value
    return found


def all_settings(tables: Tables, table: str, switches: Switches) -> dict[str, str]:
    """All settings of the ports of a table: its own settings override those of its tier and of `switch`."""
    inner = table.removeprefix("switch").removeprefix(".")
    switch = inner.partition("->")[0]
    tier = switches[switch].tier if switch in switches else inner.removesuffix(".up")
    names = dict.fromkeys(("switch", f"switch.{tier}", table))
    return {key: value for name in names for key, value in tables.get(name, {}).items()}


def meanings(values: Mapping[str, str], keys: Sequence[str], full_packet: int) -> tuple[object, ...]:
    """Values of these keys: numbers in base units, or words. An absent key has its default."""
    return tuple(_meaning(values, key, full_packet) for key in keys)


def _meaning(values: Mapping[str, str], key: str, full_packet: int) -> object:
    defaults = {
        each["name"]: each["default"]
        for table in _core.declared()
        for each in table["keys"]
        if table["name"] == "switch"
    }
    if key == "memory_alpha" and values.get("memory", defaults["memory"]) == defaults["memory"]:
        return None  # each port has its own buffer
    text = values.get(key, defaults[key])
    quantity = parse(text)
    if quantity is None:
        return text
    return rounded(quantity.number * (full_packet if quantity.unit == "pkt" else quantity.factor))


def _network(switches: Switches) -> Network:
    tiers = {name: each.tier for name, each in switches.items()}
    ends = {end.name for each in switches.values() for end in each.links}
    nodes = [
        *(Node(name, False, tier) for name, tier in tiers.items()),
        *(Node(each, True) for each in sorted(ends - tiers.keys())),
    ]
    return Network(nodes, list(_links(switches)), "the scenario")


def _links(switches: Switches) -> Iterator[Link]:
    """Each link once, although the configurations of both of its switches may have it."""
    seen: set[frozenset[str]] = set()
    for name, each in switches.items():
        for end in each.links:
            if (ends := frozenset((name, end.name))) not in seen:
                seen.add(ends)
                yield Link(name, end.name, written(end.rate_bps))
