"""Contents of a file: a network, flows, sizes, and single values, each with its origin."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from shortflow.imports.files import File
from shortflow.imports.hosts import HostsAt
from shortflow.lazy import pl

Plain: TypeAlias = "str | int | float | bool | Sequence[object] | Mapping[str, object]"
"""A value that TOML can express."""


@dataclass(frozen=True)
class Value:
    """A value of the scenario, with its origin, such as `config.txt, line 12`."""

    value: Plain
    origin: str
    is_assumed: bool = False
    """True for a value that no file gives. The summary lists the value with the option that changes it."""


@dataclass(frozen=True)
class Node:
    """A host or switch of a network."""

    name: str
    is_host: bool
    tier: str = ""
    """Tier of a switch, such as `leaf`. Empty for none."""


@dataclass(frozen=True)
class Link:
    """A link. Rate and delay are empty if the file does not give them."""

    a: str
    b: str
    rate: str = ""
    """Such as `100Gbps`."""
    delay: str = ""
    """One-way delay, such as `1us`."""
    line: int = 0
    """Line in the file. 0 for none."""
    unrated: int = 0
    """Number of merged parallel links without a rate. Each adds the scenario's default rate to `rate`."""


@dataclass(frozen=True)
class Network:
    """Nodes and links. `origin` names the place of the list of links."""

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
    """Columns `start` (seconds), `source`, `destination` (text) and `bytes` (integer).

    Optional columns are `class`, `deadline`, `line` and `after`. `after` has row numbers, counted from 1 and separated
    by blanks. A table with `after` has the order of the scenario's file. A row that waits comes after the rows that it
    names, and its start counts from their end.
    """
    origin: str
    path: str = ""
    """The file, for errors."""


@dataclass(frozen=True)
class SizeTable:
    """A distribution of flow sizes: rows of a size in bytes and the share of flows up to this size."""

    rows: Sequence[tuple[float, float]]
    origin: str
    is_steps: bool = False
    """True if only the listed sizes occur. False if sizes are uniform between two listed sizes."""

    @property
    def points(self) -> list[tuple[float, float]]:
        """The distribution as points with linear interpolation between them. A step is two points with one size."""
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
        """Size in bytes that `percent` per cent of the flows do not exceed."""
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
    """Settings by rate in bit/s. Rate 0 stands for ports without a rate in the file."""
    rack: tuple[Network, Mapping[str, Mapping[str, Value]]] | None
    """The switch with a host at each port, and the settings of each host's port. Used if no file has a network."""
    origin: str
    of_link: Callable[[float, float | None, float], Mapping[str, Value]] | None = None
    """Function from rate and delay of a port's link, and rate of the first host's link, to further settings.

    Rates are in bit/s. The delay is in seconds, or None if no file gives it.
    """
    several: Mapping[float, str] = field(default_factory=dict)
    """Sentences on rates whose ports have different settings. `by_rate` has the most frequent settings."""


@dataclass
class Part:
    """Contents of one file."""

    network: Network | None = None
    flows: Flows | None = None
    endless: Sequence[tuple[float, str, str]] = ()
    """Start in seconds, source and destination of flows that send until the end."""
    sizes: SizeTable | None = None
    ports: Ports | None = None
    values: dict[str, Value] = field(default_factory=dict)
    """Values by key of the scenario, such as `duration`, `switch.tor.up.mark_above` or `traffic.1.class`."""
    schemes: list[Value] = field(default_factory=list)
    """Schemes that correspond to the file's schemes, such as `dcqcn+g=0.004`."""
    left_out: list[str] = field(default_factory=list)
    """Sentences on contents that the scenario does not have, each with the reason."""
    notes: list[str] = field(default_factory=list)
    """Sentences on the interpretation of the file, such as units, times moved to zero, and sums."""
    more: list[str] = field(default_factory=list)
    """Further files that this file names, relative to its directory.

    They are imported too if only this file is given.
    """


@dataclass(frozen=True)
class Options:
    """Information from the user that files lack."""

    unit: str | None = None
    """Unit of sizes: `B`, `KB`, `MB`, `packets` or `1000B` for packets of 1,000 bytes."""
    time: str | None = None
    """Unit of starts: `ps`, `ns`, `us`, `ms` or `s`."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Hosts, by their names or addresses in the files."""
    host_names: Sequence[str] = ()
    """Patterns of the names of nodes that are hosts."""
    hosts_at: Sequence[HostsAt] = ()
    """Hosts to add to switches."""
    queue: int | None = None
    """Queue of a switch whose settings are imported."""


@dataclass(frozen=True)
class Format:
    """A format: its name, and functions that recognise and read files."""

    name: str
    summary: str
    """One line: the file, the tool that writes it, and the result."""
    begins: str
    """The beginning of files, for the error about a file of an unknown format."""
    is_of: Callable[[File], bool]
    """True if the head of a file has this format. Never raises for a text."""
    read: Callable[[File, Options], Part]
    """Reads a file. A `ConfigError` names file, line, field, value and the expected value."""
    read_all: Callable[[Sequence[File], Options], Part] | None = None
    """Reads several files that are incomplete alone, such as one file per device."""
    options: Sequence[str] = ()
    """Names of the fields of `Options` that apply to this format."""
