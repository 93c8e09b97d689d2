"""Switches of a scenario, with the other ends of their links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Neighbour:
    """The other end of a switch's link."""

    name: str
    headroom: float
    """Headroom in bytes that `switch.headroom = auto` means."""
    rate_bps: float


@dataclass(frozen=True)
class LinkedSwitch:
    """A switch and its links."""

    tier: str
    links: Sequence[Neighbour]
    """Links in the order of the scenario."""


Switches = Mapping[str, LinkedSwitch]
"""Switches by name."""
