"""Types of the plain data from the core."""

from typing import NotRequired, TypedDict


class ParamInfo(TypedDict):
    """A parameter of a transport, queue, topology, traffic or size distribution."""

    name: str
    default: str
    expected: str
    summary: str


class RegistryEntry(TypedDict):
    """An entry of the registry, usable in a scenario or on the command line."""

    name: str
    summary: str
    source: str
    """Paper or RFC. May be empty."""
    parameters: list[ParamInfo]
    transport: NotRequired[str]
    """Transport of a scheme or of a parameter set.

    Empty for a parameter set that applies to every scheme over TCP's hosts.
    """
    queue: NotRequired[str]
    """Queue discipline that a scheme needs in switches."""
    host_queue: NotRequired[str]
    """Queue discipline that a scheme needs in hosts."""


class KeyInfo(ParamInfo):
    """A key of a scenario table."""

    type: str
    """Python type of the key's values."""
    required: bool


class Declared(TypedDict):
    """A scenario table, or one kind of a table."""

    table: str
    """Name of the table. Empty for keys outside of tables."""
    name: str
    """Name of the kind, or of the table."""
    summary: str
    keys: list[KeyInfo]


class Counters(TypedDict):
    """Counts of the whole run including warm-up. Sent packets are delivered, dropped, or in flight at the end."""

    events: int
    """Number of simulator events."""
    packet_hops: int
    packets_sent: int
    packets_delivered: int
    packets_dropped: int
    packets_in_flight: int
    marks: NotRequired[int]
    """Number of marked packets. Missing under an ideal scheduler and on the kernel's TCP."""
    trims: NotRequired[int]
    """Number of packets that lost their payload. Missing unless the queues of switches trim packets."""
    drain_flows: NotRequired[int]
    """Number of flows that started in the drain."""
    drain_bytes: NotRequired[int]
    """Total size in bytes of the finite flows that started in the drain."""


class Drop(TypedDict):
    """Packets dropped at one place for one reason."""

    place: str
    """A port such as `s0->h1`, or a node without a route to the destination."""
    reason: str
    in_run: int
    """Number of drops in the whole run."""
    measured: int
    """Number of drops in measured time."""


class Pauses(TypedDict):
    """Pauses of one priority at one port, in measured time."""

    port: str
    priority: int
    pauses: int
    """Number of pauses."""
    paused_s: float
    """Time for which the priority was paused."""


class Account(TypedDict):
    """Timing quality of a testbed run."""

    congestion: str
    """The kernel's congestion control."""
    verdict: str
    timing_error_s: dict[str, float]
    """Lateness of frames in seconds: `p50`, `p99` and `max`."""
    stalls: dict[str, int | float]
    """Delays of the switch that exceed four packet times on the slowest link (docs/testbed.md)."""
    host_stalls: dict[str, int | float]
    """Delays of the hosts' thread, which times the flows."""
    start_error_s: float
    """Latest start of a finite flow in seconds, if late by more than 1 % of the flow's own time."""
    lost: int
    """Number of frames lost outside of queues."""
    busy: float
    """Share of measured time in which the switch was busy."""
    real_time: bool
    attempts: int
    """Number of attempts, over all calls with this store."""
    late: list[str]
    """Verdicts of the attempts with bad timing."""
    seed: NotRequired[int]
    rtt: NotRequired[str | None]
    """Propagation delay in both directions. The seed determines it unless it is set."""


class Meta(TypedDict):
    """The core's metadata of a run."""

    scenario: str
    scheme: str
    seed: int
    digest: str
    version: str
    warmup_s: float
    duration_s: float
    end_s: float
    classes: NotRequired[list[str]]
    """Classes that the scenario declares. Some may have no flow."""
    fairness_windows_s: NotRequired[dict[str, float]]
    """Seconds over which shares of backlogged flows are averaged, by class."""
    measured_ports: list[str]
    counters: Counters
    drops: list[Drop]
    pauses: NotRequired[list[Pauses]]
    """Pauses of each port that can be paused, by priority. Absent unless data has several priorities."""
    unfinished: int
    """Number of finite flows that were unfinished at the end."""
    connections_peak: int
    bytes_per_connection: int
    omitted: NotRequired[list[str]]
    """Flows of the user's files that were not simulated or not counted, in words."""
    remarks: NotRequired[dict[str, str]]
    """Remarks on limits of the numbers, by kind."""
    testbed: NotRequired[Account]
    """Set for runs on the kernel's TCP."""
