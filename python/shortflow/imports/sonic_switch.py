"""A switch in SONiC's `config_db.json`: its ports, with the WRED and buffer profiles of one queue.

The file has profiles for each queue of a port. A port of a scenario has one queue, so one queue is imported.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shortflow.errors import ConfigError
from shortflow.imports.documents import Place
from shortflow.imports.networks import few
from shortflow.imports.sonic_pfc import FlowControl, flow_control, reference, referred
from shortflow.quantities import counted

COLOURS = ("green", "yellow", "red")

_Profiles = Mapping[tuple[str, int], Place]
"""Values that name profiles, by port and queue."""


@dataclass(frozen=True, eq=False)
class Port:
    """A port, with the profiles of its queue. None for a queue without a profile."""

    place: Place
    wred: Place | None = None
    buffer: Place | None = None

    @property
    def name(self) -> str:
        """Name of the port, such as `Ethernet0`."""
        return self.place.name

    @property
    def profiles(self) -> tuple[str, str]:
        """Names of the profiles. Empty for none."""
        return (self.wred.name if self.wred else "", self.buffer.name if self.buffer else "")

    @property
    def bps(self) -> float:
        """Rate in bit/s. 0 if the file does not give the rate."""
        speed = self.place.at("speed")
        return speed.number("a speed in Mbit/s such as 25000", 1) * 1e6 if speed else 0.0


@dataclass(frozen=True)
class Switch:
    """A switch whose ports have one queue each."""

    root: Place
    queues: Sequence[int]
    """The imported queue, and the other queues with the same profiles."""
    ports: Sequence[Port]
    paused: FlowControl
    """Flow control of the imported queue."""
    left_out: Sequence[str]
    """Sentences on ports that are not among `ports`."""

    @classmethod
    def of(cls, root: Place, queue: int | None) -> "Switch":
        """The switch with the ports of the given queue, or of the only queue.

        Raises `ConfigError` if the queue is unclear.
        """
        wred, buffer = _profiles(root, "QUEUE", "wred_profile"), _profiles(root, "BUFFER_QUEUE", "profile")
        queues = _chosen_queues(root, wred, buffer, queue)
        ports, left_out = _ports(root, wred, buffer, queues[0])
        groups = _profiles(root, "BUFFER_PG", "profile")
        paused = flow_control(root, queues[0], [port.name for port in ports], groups)
        return cls(root, queues, ports, paused, left_out)

    @property
    def queue(self) -> int:
        """The imported queue."""
        return self.queues[0]

    @property
    def usual(self) -> Port:
        """A port with the most frequent profiles. Without ports, a port with the only profile of each table."""
        counts = Counter(port.profiles for port in self.ports)
        if not counts:
            return Port(self.root, _only(self.root, "WRED_PROFILE"), _only(self.root, "BUFFER_PROFILE"))
        usual = counts.most_common(1)[0][0]
        return next(port for port in self.ports if port.profiles == usual)


def _profiles(root: Place, table: str, field: str) -> _Profiles:
    """Values of a field that names profiles. Entries have names such as `Ethernet0|3` or `Ethernet0,Ethernet4|3-4`.

    If two entries are about one port and queue, the later one counts.
    """
    found: dict[tuple[str, int], Place] = {}
    for entry in root.each(table):
        ports, _, queues = entry.name.partition("|")
        profile = entry.at(field)
        span = re.fullmatch(r"(\d{1,2})(?:-(\d{1,2}))?", queues.rpartition("|")[2])
        if profile is None or not reference(profile):
            continue
        if not span:
            raise entry.file.wrong(entry.line, table, entry.name, "PORT|QUEUE, such as Ethernet0|3 or Ethernet0|3-4")
        for port in ports.split(","):
            for queue in range(int(span[1]), int(span[2] or span[1]) + 1):
                found[port.strip(), queue] = profile
    return found


def _chosen_queues(root: Place, wred: _Profiles, buffer: _Profiles, wished: int | None) -> list[int]:
    """The given queue, or all queues with profiles if each port has the same profiles for all of them.

    Raises `ConfigError` for an unknown queue, or if queues have different profiles and none is given.
    """
    if wished is not None:
        if wished not in {queue for _, queue in (*wred, *buffer)}:
            known = sorted({queue for _, queue in (*wred, *buffer)})
            raise ConfigError(
                f"--queue: {wished}: no port has a profile for it; expected one of {', '.join(map(str, known))}"
            )
        return [wished]
    named = wred or buffer
    listed = sorted({queue for _, queue in named})
    kinds: dict[frozenset[tuple[str, str, str]], list[int]] = {}
    for queue in listed:
        room = {port: reference(place) for (port, q), place in buffer.items() if q == queue}
        kind = {(port, reference(place), room.get(port, "")) for (port, q), place in named.items() if q == queue}
        kinds.setdefault(frozenset(kind), []).append(queue)
    if len(kinds) > 1:
        names = "; ".join(
            f"queue {', '.join(map(str, queues))}: {', '.join(sorted({name for _, name, _ in kind}))}"
            for kind, queues in kinds.items()
        )
        raise ConfigError(
            f"{root.file.path}: queues have different profiles ({names}), and a port has one queue here. Choose "
            f"one, such as --queue {listed[0]}"
        )
    return listed or [0]


def _ports(root: Place, wred: _Profiles, buffer: _Profiles, queue: int) -> tuple[list[Port], list[str]]:
    """Ports with the profiles of a queue, in the order of the numbers in their names, and sentences on other ports."""
    found, down, left_out = [], [], []
    named = _named_ports(root)
    listed = list(root.each("PORT")) or [Place(root.file, {}, ("PORT", name), root.lines) for name in named]
    for place in listed:
        if place.text("admin_status") == "down":
            down.append(place.name)
            continue
        of_wred, of_buffer = wred.get((place.name, queue)), buffer.get((place.name, queue))
        found.append(
            Port(
                place,
                referred(root, "WRED_PROFILE", of_wred) if of_wred else None,
                referred(root, "BUFFER_PROFILE", of_buffer) if of_buffer else None,
            )
        )
    if down:
        left_out.append(f"{counted(len(down), 'port')} that the administrator set down: {few(down)}.")
    if strange := set(named) - {place.name for place in listed}:
        left_out.append(
            f"Queues and priority groups of {few(each for each in named if each in strange)}: PORT has no such port."
        )
    found.sort(key=lambda port: [int(part) if part.isdigit() else 0 for part in re.findall(r"\d+", port.name)])
    return found, left_out


def _named_ports(root: Place) -> list[str]:
    """Ports that queues and priority groups name."""
    entries = [each for table in ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG") for each in root.each(table)]
    return list(dict.fromkeys(port.strip() for each in entries for port in each.name.partition("|")[0].split(",")))


def _only(root: Place, table: str) -> Place | None:
    """The profile of a table with one profile. None if the table has another number of profiles."""
    found = list(root.each(table))
    return found[0] if len(found) == 1 else None
