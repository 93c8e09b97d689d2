"""Switches of a scenario, with the other ends of their links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Neighbour:
    """The other end of a switch's link."""

    name: str
    headroom: float
    """Bytes that `switch.headroom` = auto is."""


Switches = Mapping[str, Sequence[Neighbour]]
"""Neighbours by switch, in the order of the scenario."""
