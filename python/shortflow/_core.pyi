"""The simulator's compiled core. Times in tables are seconds, rates bits per second."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, final

from shortflow.records import Declared, Meta, RegistryEntry

_Settings = Sequence[tuple[str, str]]

class ConfigError(ValueError):
    """A scenario, scheme or setting is wrong; the message is complete."""

class SimulationError(RuntimeError):
    """A run broke an invariant of the simulator, such as the conservation of packets."""

class Cancelled(Exception):
    """The run was stopped through its Control."""

@final
class Table:
    """A table of a run, for whatever reads Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    @property
    def height(self) -> int: ...
    def slice(self, offset: int, length: int) -> Table: ...
    def get_column(self, name: str) -> list[Any]: ...

def version() -> str: ...
def registry() -> dict[str, list[RegistryEntry]]: ...
def schema() -> str: ...
def columns() -> list[tuple[str, list[tuple[str, str, bool, str]]]]: ...
def declared() -> list[Declared]: ...
def meant(name: str, known: list[str]) -> list[str]: ...
def read_file(path: str) -> bytes: ...
def check_table(table: str, name: str, path: str, values: Mapping[str, object]) -> None: ...

@final
class Scenario:
    @staticmethod
    def parse(text: str, name: str, base_dir: str, settings: _Settings, texts: Mapping[str, str] = ...) -> Scenario: ...
    @staticmethod
    def from_values(
        values: Mapping[str, object], name: str, base_dir: str, settings: _Settings, texts: Mapping[str, str] = ...
    ) -> Scenario: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    def ideal_schedulers(self) -> tuple[list[str], str]: ...
    def ports(self) -> list[str]: ...
    def classes(self) -> list[str]: ...
    def resolved(self, scheme: Scheme | None = None) -> list[tuple[str, str, str]]: ...
    def headrooms(self) -> list[tuple[str, str, int]]: ...
    def traffic_notes(self) -> list[str]: ...
    def expected_flows(self) -> list[tuple[float, Literal["exactly", "about", "at least"], int, str]]: ...
    def table_bytes(self) -> float: ...
    def warnings(self) -> list[str]: ...
    def with_settings(self, settings: _Settings) -> Scenario: ...

@final
class Scheme:
    @staticmethod
    def parse(name: str, settings: Sequence[tuple[str, str, str]], label: str | None = None) -> Scheme: ...
    @staticmethod
    def accepts(name: str, key: str, host_queue: str | None = None) -> bool: ...
    @staticmethod
    def keeps(base: str, key: str, host_queue: str | None = None) -> bool: ...
    @staticmethod
    def user_defined(
        base: str,
        name: str,
        summary: str,
        settings: Sequence[tuple[str, str, str]],
        factory: Callable[[], object],
        resolved: Sequence[tuple[str, str, str]],
    ) -> Scheme: ...
    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    def idle(self, scenario: Scenario, shipped: bool) -> list[tuple[str, str]]: ...
    def replaced(self, scenario: Scenario) -> list[tuple[str, str, str]]: ...
    def resolved(self) -> list[tuple[str, str, str]]: ...

def read_schemes(text: str, file: str) -> list[tuple[str, str, list[tuple[str, str]]]]: ...

@final
class Window:
    cwnd: float
    ssthresh: float
    pacing_bps: float | None

@final
class Opening:
    now_s: float
    line_bps: float
    base_rtt_s: float
    mss: int
    header: int

@final
class Flow:
    now_s: float
    srtt_s: float
    mss: int
    sent: int
    remaining: int | None
    flight: int
    deadline_s: float | None
    role: str

@final
class Ack:
    acked: int
    ece: bool
    may_grow: bool
    limited: bool
    in_recovery: bool
    snd_una: int
    snd_nxt: int
    marked: int
    rtt_s: float
    min_rtt_s: float
    in_switches_s: float
    in_hosts_s: float
    at_sender_s: float
    at_receiver_s: float
    hops: int
    delivered: int
    newly_delivered: int
    rate_bps: float | None
    app_limited: bool
    flow: Flow

@final
class Control:
    def __new__(cls) -> Control: ...
    def cancel(self) -> None: ...
    def fraction(self) -> float: ...
    def drain(self) -> tuple[int, int, float] | None: ...

@final
class Accounts:
    """Takes the accounts of one run's completion times, and the steps of the flow in row `traced`."""

    def __new__(cls, scenario: Scenario, traced: int | None = None) -> Accounts: ...
    @staticmethod
    def parts() -> list[tuple[str, str]]: ...
    def table(self) -> Table: ...
    def steps(
        self,
    ) -> list[
        tuple[int, int, str, str, str | None, tuple[str, int] | None, list[tuple[int | None, int, int, int]]]
    ]: ...

@final
class Capture:
    """What a run hands over of its packets, and to whom; an error there ends the run and is raised by it."""

    def __new__(
        cls,
        scenario: Scenario,
        *,
        flows: Sequence[tuple[int, int]] = ...,
        classes: Sequence[str] = ...,
        table: Callable[[Table], object] | None = None,
        rows: int = 100_000,
        only: Sequence[str] = ...,
        files: Sequence[tuple[str, Callable[[bytes], object]]] = ...,
        during: tuple[float, float] | None = None,
        accounts: Accounts | None = None,
    ) -> Capture: ...

@final
class Result:
    def tables(self) -> dict[str, Table]: ...
    def meta(self) -> Meta: ...

@final
class Floor:
    """The minimal loop over the topology of a scenario, for `shortflow bench`."""

    def __new__(cls, scenario: Scenario) -> Floor: ...
    def run(self, hops: int) -> int: ...

def cores(scenario: Scenario, scheme: Scheme, most: int, capture: bool) -> tuple[int, str | None]: ...
def run(
    scenario: Scenario, scheme: Scheme, seed: int, control: Control, capture: Capture | None = None, cores: int = 1
) -> Result: ...
