"""Tracks of a trace: numbered, and described when the first event comes.

Each host and switch is a process. Below the node that sends on a port are the port's marks and drops, its queue and its
rate; below a host are its flows and their windows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from shortflow.lazy import np, npt, pl
from shortflow.perfetto import packets

OF_PORT = (("", None), (" queue", "packets"), (" rate", "bit/s"))
"""Tracks of a port, and of a flow: endings of their names, and units of counters."""
OF_FLOW = (("", None), (" window", "segments"))
EVENTS, QUEUE, RATE = range(3)
LIFE, WINDOW = range(2)


@dataclass(frozen=True)
class Within:
    """What to write: a time from and until, in ns, and ports; empty for all."""

    from_ns: int = 0
    until_ns: int = 2**62
    ports: Sequence[str] = ()


class Tracks:
    """Numbers of tracks: the nodes, then the tracks of each port, then those of each flow."""

    def __init__(self, ports: Sequence[str], write: Callable[[bytes], object]) -> None:
        """`ports` are those of the scenario."""
        self.ports = ["", *ports]
        """Names by number; the first stands for no port."""
        self._nodes = list(dict.fromkeys(node for port in ports for node in port.split("->")))
        self._places = {node: at for at, node in enumerate(self._nodes, 1)}
        self._senders = np.array([0, *(self._places[port.partition("->")[0]] for port in ports)])
        self._hosts = np.zeros(0, np.int64)
        self._described = np.zeros(0, bool)
        self._others = 0
        self._write = write

    def port(self, ports: Any, which: int) -> Any:
        """Tracks of ports by number."""
        return 1 + len(self._nodes) + len(OF_PORT) * ports + which

    def flow(self, flows: Any, which: int) -> Any:
        """Tracks of flows by row."""
        return self.port(len(self.ports), 0) + len(OF_FLOW) * flows + which

    def learn_hosts(self, begun: "pl.DataFrame") -> None:
        """Notes the hosts of flows: the nodes on whose ports they send."""
        if begun.height:
            flows = begun["flow"].to_numpy()
            self._hosts = grown(self._hosts, int(flows.max()) + 1)
            self._hosts[flows] = self._senders[begun["port"].to_numpy()]

    def name_hosts(self, flows: "pl.DataFrame") -> None:
        """Notes the hosts of flows that a flow table names."""
        if flows.height:
            self._hosts = grown(self._hosts, int(flows["id"].max()) + 1)  # type: ignore[arg-type]
            self._hosts[flows["id"].to_numpy()] = [self._places[name] for name in flows["source"]]

    def describe(self, tracks: "npt.NDArray[np.int64]") -> None:
        """Describes those of these tracks that are new."""
        if not len(tracks):
            return
        self._described = grown(self._described, int(tracks.max()) + 1)
        new = np.unique(tracks)
        for track in new[~self._described[new]]:
            self._write(self._description(int(track)))
        self._described[new] = True

    def _description(self, track: int) -> bytes:
        nodes, flows = len(self._nodes), self.flow(0, 0)
        if track <= nodes:
            return packets.track(track, self._nodes[track - 1], process=track)
        if track < flows:
            port, which = divmod(track - self.port(0, 0), len(OF_PORT))
            parent, name, (ending, unit) = int(self._senders[port]), self.ports[port] or "no route", OF_PORT[which]
        else:
            flow, which = divmod(track - flows, len(OF_FLOW))
            parent = int(self._hosts[flow]) if flow < len(self._hosts) else 0
            name, (ending, unit) = f"flow {flow}", OF_FLOW[which]
        self.describe(np.array([parent] if parent else [], np.int64))
        return packets.track(track, name + ending, parent, unit=unit)

    def other(self, name: str, unit: str, flows: int) -> int:
        """Describes a counter of its own behind the tracks of so many flows."""
        track = int(self.flow(flows, 0)) + self._others
        self._others += 1
        self._described = grown(self._described, track + 1)
        self._described[track] = True
        self._write(packets.track(track, name, unit=unit))
        return track


def grown(values: Any, length: int) -> Any:
    """An array with at least this many elements, the new ones 0."""
    if len(values) >= length:
        return values
    found = np.zeros(max(length, 2 * len(values)), values.dtype)
    found[: len(values)] = values
    return found
