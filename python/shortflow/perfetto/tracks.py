"""Tracks of a trace. Each track has a fixed number, and is described at its first event.

Each host and switch is a process. Tracks of a port (marks and drops, queue, rate) are below the node that sends on the
port. Tracks of a flow (lifetime, window) are below the flow's source host.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from shortflow.lazy import np, npt, pl
from shortflow.perfetto import packets

OF_PORT = (("", None), (" queue", "packets"), (" rate", "bit/s"))
"""Tracks of a port: ending of the name, and unit of a counter."""
OF_FLOW = (("", None), (" window", "segments"))
"""Tracks of a flow: ending of the name, and unit of a counter."""
EVENTS, QUEUE, RATE = range(3)
"""Indices in `OF_PORT`."""
LIFE, WINDOW = range(2)
"""Indices in `OF_FLOW`."""


@dataclass(frozen=True)
class Within:
    """Part of a run to write: times from `from_ns` and before `until_ns`, and ports. Without `ports`, all ports."""

    from_ns: int = 0
    until_ns: int = 2**62
    ports: Sequence[str] = ()


class Tracks:
    """Numbers of tracks, in this order: nodes, tracks of each port, tracks of each flow, other counters."""

    def __init__(self, ports: Sequence[str], write: Callable[[bytes], object]) -> None:
        """`ports` are all ports of the scenario; `write` takes encoded packets."""
        self.ports = ["", *ports]
        """Names of ports by number. Number 0 stands for no port."""
        self._nodes = list(dict.fromkeys(node for port in ports for node in port.split("->")))
        self._places = {node: at for at, node in enumerate(self._nodes, 1)}
        self._senders = np.array([0, *(self._places[port.partition("->")[0]] for port in ports)])
        self._hosts = np.zeros(0, np.int64)
        self._described = np.zeros(0, bool)
        self._others = 0
        self._write = write

    def port(self, ports: Any, which: int) -> Any:
        """Number of track `which` of each port, given by number. Takes and returns a number or an array."""
        return 1 + len(self._nodes) + len(OF_PORT) * ports + which

    def flow(self, flows: Any, which: int) -> Any:
        """Number of track `which` of each flow, given by id. Takes and returns a number or an array."""
        return self.port(len(self.ports), 0) + len(OF_FLOW) * flows + which

    def learn_hosts(self, begun: "pl.DataFrame") -> None:
        """Notes the source host of each flow: the node that sends on the port of the flow's `begun` packets."""
        if begun.height:
            flows = begun["flow"].to_numpy()
            self._hosts = grown(self._hosts, int(flows.max()) + 1)
            self._hosts[flows] = self._senders[begun["port"].to_numpy()]

    def name_hosts(self, flows: "pl.DataFrame") -> None:
        """Notes the source hosts from a flow table."""
        if flows.height:
            self._hosts = grown(self._hosts, int(flows["id"].max()) + 1)  # type: ignore[arg-type]
            self._hosts[flows["id"].to_numpy()] = [self._places[name] for name in flows["source"]]

    def describe(self, tracks: "npt.NDArray[np.int64]") -> None:
        """Describes each of the tracks that has no description yet."""
        if not len(tracks):
            return
        self._described = grown(self._described, int(tracks.max()) + 1)
        new = np.unique(tracks)
        for track in new[~self._described[new]]:
            self._write(self._description(int(track)))
        self._described[new] = True

    def _description(self, track: int) -> bytes:
        """The packet that names a track. The tracks of a node's ports and flows are below the track of the node."""
        first_of_ports, first_of_flows = self.port(0, 0), self.flow(0, 0)
        if track < first_of_ports:
            return packets.track(track, self._nodes[track - 1], process=track)
        if track < first_of_flows:
            port, which = divmod(track - first_of_ports, len(OF_PORT))
            parent, name, (ending, unit) = int(self._senders[port]), self.ports[port] or "no route", OF_PORT[which]
        else:
            flow, which = divmod(track - first_of_flows, len(OF_FLOW))
            parent = int(self._hosts[flow]) if flow < len(self._hosts) else 0
            name, (ending, unit) = f"flow {flow}", OF_FLOW[which]
        # The parent of a track is described before the track.
        self.describe(np.array([parent] if parent else [], np.int64))
        return packets.track(track, name + ending, parent, unit=unit)

    def other(self, name: str, unit: str, flows: int) -> int:
        """Describes a counter of no port or flow, and returns its number, which is above those of `flows` flows."""
        track = int(self.flow(flows, 0)) + self._others
        self._others += 1
        self._described = grown(self._described, track + 1)
        self._described[track] = True
        self._write(packets.track(track, name, unit=unit))
        return track


def grown(values: Any, length: int) -> Any:
    """The array `values`, extended by zeros to at least `length` elements."""
    if len(values) >= length:
        return values
    found = np.zeros(max(length, 2 * len(values)), values.dtype)
    found[: len(values)] = values
    return found
