"""What a file says: a network, flows, sizes, and single values, each with its origin."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from shortflow.imports.files import File
from shortflow.imports.hosts import HostsAt
from shortflow.lazy import pl

Plain: TypeAlias = "str | int | float | bool | Sequence[object] | Mapping[str, object]"
"""A value as TOML can have it."""


@dataclass(frozen=True)
class Value:
    """A value of the scenario, and where it comes from: `config.txt, line 12`."""

    value: Plain
    origin: str
    is_assumed: bool = False
    """True for a value that no file says. The summary names it, with the option that changes it."""


@dataclass(frozen=True)
class Node:
    """A host or switch of a network."""

    name: str
    is_host: bool
    tier: str = ""
    """Word for the tier of a switch, such as `leaf`; empty for none."""


@dataclass(frozen=True)
class Link:
    """A link. Empty texts stand for a rate or delay that the file does not say."""

    a: str
    b: str
    rate: str = ""
    """Such as `100Gbps`."""
    delay: str = ""
    """One-way, such as `1us`."""
    line: int = 0
    """Line of its file; 0 for none."""
    unrated: int = 0
    """Parallel links within this one whose rate no file says. Each adds the scenario's rate of links to `rate`."""


@dataclass(frozen=True)
class Network:
    """Nodes and links; `origin` says where the links are listed."""

    nodes: Sequence[Node]
    links: Sequence[Link]
    origin: str
    path: str = ""
    """File of the links, for errors."""

    @property
    def hosts(self) -> list[str]:
        """Names of the hosts."""
        return [node.name for node in self.nodes if node.is_host]


@dataclass(frozen=True)
class Flows:
    """Flows by increasing start."""

    table: "pl.DataFrame"
    """Columns `start` (seconds), `source`, `destination` (text), `bytes` (integer); some have more.

    These are `class`, `deadline`, `line`, and `after`: numbers of rows from 1 between blanks. A table with `after` has
    the order of the scenario's file. A row that waits is below those that it names; its start is the time after them.
    """
    origin: str
    path: str = ""
    """The file, for errors."""


@dataclass(frozen=True)
class SizeTable:
    """A distribution of flow sizes in bytes: rows of size and share of flows that are not larger."""

    rows: Sequence[tuple[float, float]]
    origin: str
    is_steps: bool = False
    """True if sizes are the listed ones alone, false if they are spread evenly between two of them."""

    @property
    def points(self) -> list[tuple[float, float]]:
        """The same for a reader that is linear between points: two points of one size are a step."""
        if not self.is_steps:
            return list(self.rows)
        found, before = [], 0.0
        for size, share in self.rows:
            if share > before:
                found += [(size, before), (size, share)]
                before = share
        return found

    @property
    def mean(self) -> float:
        """Mean size in bytes."""
        points = [(self.points[0][0], 0.0), *self.points]
        return sum((b[1] - a[1]) * (a[0] + b[0]) / 2 for a, b in pairwise(points))

    def percentile(self, percent: float) -> float:
        """Size that this share of flows does not exceed, in bytes."""
        share, before = percent / 100, (self.points[0][0], 0.0)
        for point in self.points:
            if point[1] >= share:
                over = (share - before[1]) / (point[1] - before[1]) if point[1] > before[1] else 1.0
                return before[0] + (point[0] - before[0]) * over
            before = point
        return before[0]


@dataclass(frozen=True)
class Ports:
    """Settings of a switch's ports: keys of `[switch]`, such as `mark_above`."""

    by_rate: Mapping[float, Mapping[str, Value]]
    """By rate in bit/s; 0 for ports whose rate the file does not say."""
    rack: tuple[Network, Mapping[str, Mapping[str, Value]]] | None
    """The switch with a host at each port, and the settings of the port of each host; for want of another network."""
    origin: str
    of_link: Callable[[float, float | None, float], Mapping[str, Value]] | None = None
    """Further settings by rate and delay of the port's link, and by the rate of the first host's link.

    Rates are in bit/s. The delay is in seconds, and None where no file gives it.
    """
    several: Mapping[float, str] = field(default_factory=dict)
    """Sentences on rates whose ports have different settings, of which `by_rate` has those of most ports."""


@dataclass
class Part:
    """What one file says."""

    network: Network | None = None
    flows: Flows | None = None
    endless: Sequence[tuple[float, str, str]] = ()
    """Start in seconds, source and destination of flows that send until the end."""
    sizes: SizeTable | None = None
    ports: Ports | None = None
    values: dict[str, Value] = field(default_factory=dict)
    """By key of the scenario: `duration`, `topology.kind`, `switch.tor.up.mark_above`, `traffic.1.class`."""
    schemes: list[Value] = field(default_factory=list)
    """Schemes that correspond to the file's own, such as `dcqcn+g=0.004`."""
    left_out: list[str] = field(default_factory=list)
    """Sentences on contents that the scenario does not carry, each with the reason."""
    notes: list[str] = field(default_factory=list)
    """Sentences on how the file was read: units, times moved to zero, sums."""
    more: list[str] = field(default_factory=list)
    """Further files that this one names, relative to it. They are imported too if it is given alone."""


@dataclass(frozen=True)
class Options:
    """What formats do not say, given by the user."""

    unit: str | None = None
    """Unit of sizes: `B`, `KB`, `MB`, `packets` or `1000B` for packets of 1,000 bytes."""
    time: str | None = None
    """Unit of starts: `ps`, `ns`, `us`, `ms` or `s`."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Hosts by the names or addresses of the files."""
    host_names: Sequence[str] = ()
    """Patterns of names of nodes that are hosts."""
    hosts_at: Sequence[HostsAt] = ()
    """Hosts to be added at switches."""
    queue: int | None = None
    """Queue of a switch whose settings are taken."""


@dataclass(frozen=True)
class Format:
    """A format: how to recognise and read a file of it."""

    name: str
    summary: str
    """One line: the file, the tool that writes it, what it becomes."""
    begins: str
    """What its files begin with, for the error about a file of no known format."""
    is_of: Callable[[File], bool]
    """True if the head of a file has this form. Never raises for a text."""
    read: Callable[[File, Options], Part]
    """Reads a file. A `ConfigError` names file, line, field, value and what was expected."""
    read_all: Callable[[Sequence[File], Options], Part] | None = None
    """Reads several files that only together say something, such as one a device."""
    options: Sequence[str] = ()
    """Options that it takes, by their names in `Options`."""
