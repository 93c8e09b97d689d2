"""The shapes of the plain data that the core hands out."""

from typing import NotRequired, TypedDict


class Parameter(TypedDict):
    """A parameter of a transport, queue, topology, traffic or size distribution."""

    name: str
    default: str
    expected: str
    summary: str


class Entry(TypedDict):
    """Something that can be named in a scenario or on the command line."""

    name: str
    summary: str
    source: str
    """The paper or RFC; may be empty."""
    parameters: list[Parameter]
    transport: NotRequired[str]
    """Of a scheme: its transport."""
    queue: NotRequired[str]
    """Of a scheme: the queue discipline it needs in switches."""
    host_queue: NotRequired[str]
    """Of a scheme: the one it needs in hosts."""


class Key(TypedDict):
    """A key of a table of scenarios."""

    name: str
    type: str
    """Of its values in Python."""
    required: bool
    default: str
    expected: str
    summary: str


class Declared(TypedDict):
    """A table of scenarios, or a kind of one."""

    table: str
    """Empty for the keys outside any table."""
    name: str
    """Of the kind, or of the table once more."""
    summary: str
    keys: list[Key]


class Counters(TypedDict):
    """The whole run, warm-up included. Every packet sent is delivered, dropped or in flight at the end."""

    events: int
    """What it cost, in events of the simulator."""
    packet_hops: int
    packets_sent: int
    packets_delivered: int
    packets_dropped: int
    packets_in_flight: int
    drain_flows: int
    """Flows that started in the drain."""
    drain_bytes: int
    """What those with an end had to send."""


class Drop(TypedDict):
    """Packets dropped at one place for one reason."""

    place: str
    """A port such as `s0->h1`, or a node that had no route onward."""
    reason: str
    in_run: int
    """In the whole run."""
    measured: int
    """Those of them in the measured time."""


class Account(TypedDict):
    """How well the testbed kept time."""

    congestion: str
    """The kernel's congestion control."""
    verdict: str
    timing_error_s: dict[str, float]
    """By how much frames were late: `p50`, `p99` and `max`."""
    stalls: dict[str, int | float]
    """Times at which the switch was late by more than four packets take on the slowest link; see docs/testbed.md."""
    host_stalls: dict[str, int | float]
    """The same of the thread of the hosts, which takes the times of flows."""
    start_error_s: float
    """By how much the latest start of a flow with an end was late, if by more than a hundredth of its own time."""
    lost: int
    """Frames lost outside queues."""
    busy: float
    """The share of the measured time in which the switch computed."""
    real_time: bool
    attempts: int
    """How often it was tried, in all calls that have kept the run in their store."""
    late: list[str]
    """The verdicts of the attempts at which it did not keep time."""
    seed: NotRequired[int]
    rtt: NotRequired[str | None]
    """Of the propagation, on both sides: drawn by the seed, unless it is set."""


class Meta(TypedDict):
    """The core's own account of a run."""

    scenario: str
    scheme: str
    seed: int
    digest: str
    version: str
    warmup_s: float
    duration_s: float
    end_s: float
    classes: NotRequired[list[str]]
    """The classes that the scenario declares, of which some may have no flow."""
    measured_ports: list[str]
    counters: Counters
    drops: list[Drop]
    unfinished: int
    """Finite flows that had not finished at the end."""
    connections_peak: int
    bytes_per_connection: int
    remarks: NotRequired[dict[str, str]]
    """Remarks that limit what its numbers mean, by kind."""
    testbed: NotRequired[Account]
    """Of a run on the kernel's TCP."""
