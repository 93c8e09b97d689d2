"""A scenario under construction, before it is written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from shortflow.imports.parts import Flows, Network, Plain, SizeTable, Value
from shortflow.imports.values import bps, toml_value


@dataclass
class Draft:
    """A scenario under construction."""

    values: dict[str, Value] = field(default_factory=dict)
    """Values by key path."""
    texts: dict[str, str] = field(default_factory=dict)
    """Contents of files that are written beside the scenario, by name."""
    places: dict[str, Callable[[int], str]] = field(default_factory=dict)
    """For each file in `texts`, a function from a row, counted from 0, to the row's origin, for errors."""
    flows: Flows | None = None
    endless: Sequence[tuple[float, str, str]] = ()
    """Start in seconds, source and destination of flows that send until the end."""
    network: Network | None = None
    sizes: SizeTable | None = None
    schemes: list[Value] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def assume(self, key: str, value: Plain, why: str) -> None:
        """Sets a value that no file gives. Keeps a value that a file gives."""
        self.values.setdefault(key, Value(value, f"assumed: {why}", is_assumed=True))

    @property
    def assumed(self) -> list[str]:
        """Sentences on assumed values."""
        why = {key: each.origin.removeprefix("assumed: ") for key, each in self.values.items() if each.is_assumed}
        return [f"{key} = {toml_value(self.values[key].value)}: {reason}." for key, reason in why.items()]


def host_rates(made: Draft) -> dict[str, float]:
    """Total rate of each host's links in bit/s, by name. A built-in network has one rate, under an empty name."""
    usual = made.values.get("topology.rate")
    default = bps(str(usual.value)) if usual else 1e10
    if made.network is None:
        return {"": default}
    hosts, found = set(made.network.hosts), dict[str, float]()
    for link in made.network.links:
        for end in (link.a, link.b):
            if end in hosts:
                found[end] = found.get(end, 0.0) + (bps(link.rate) if link.rate else default)
    return found
