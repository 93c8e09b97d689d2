"""The simulator's compiled core. Times in tables are seconds, rates bits per second."""

from collections.abc import Callable, Sequence
from typing import Protocol, final

from shortflow.records import Entry, Meta

_Settings = Sequence[tuple[str, str]]

class ConfigError(ValueError):
    """A scenario, scheme or setting is wrong; the message is complete."""

class SimulationError(RuntimeError):
    """A run broke one of the simulator's own laws, such as the conservation of packets."""

class Cancelled(Exception):
    """The run was stopped through its Control."""

class ArrowTable(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def version() -> str: ...
def registry() -> dict[str, list[Entry]]: ...

@final
class Scenario:
    @staticmethod
    def parse(text: str, name: str, base_dir: str, settings: _Settings) -> Scenario: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    def ideal_schedulers(self) -> list[str]: ...
    def resolved(self) -> list[tuple[str, str, str]]: ...
    def traffic_notes(self) -> list[str]: ...
    def with_settings(self, settings: _Settings) -> Scenario: ...

@final
class Scheme:
    @staticmethod
    def parse(name: str, settings: _Settings) -> Scheme: ...
    @staticmethod
    def accepts(name: str, key: str) -> bool: ...
    @staticmethod
    def foreign(
        base: str, name: str, summary: str, factory: Callable[[], object], resolved: Sequence[tuple[str, str, str]]
    ) -> Scheme: ...
    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    def resolved(self) -> list[tuple[str, str, str]]: ...

@final
class Window:
    cwnd: float
    ssthresh: float

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
    snd_una: int
    snd_nxt: int
    flow: Flow

@final
class Control:
    def __new__(cls) -> Control: ...
    def cancel(self) -> None: ...
    def fraction(self) -> float: ...

@final
class Result:
    def flows(self) -> ArrowTable: ...
    def tasks(self) -> ArrowTable: ...
    def samples(self) -> ArrowTable: ...
    def ports(self) -> ArrowTable: ...
    def meta(self) -> Meta: ...

def run(scenario: Scenario, scheme: Scheme, seed: int, control: Control) -> Result: ...
