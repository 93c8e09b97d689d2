"""Links of a run by use, and a bottleneck inside the network."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from shortflow.result import Result

_FULLER = 0.05
"""A link inside the network is named if its utilisation exceeds that of every link to a host by this difference."""


class UsedLink(NamedTuple):
    """A row of the table of ports, with the columns used here."""

    port: str
    rate_bps: float
    utilisation: float
    tx_bytes: float
    drops: int
    marks: int
    trims: int
    queue_mean_pkt: float
    queue_max_pkt: int


def links(result: Result) -> list[UsedLink]:
    """Links in descending order of use, drops, trims and marks. Empty under ideal schedulers and without tables."""
    table: Any = result.tables.get("ports")
    if table is None:
        return []
    source = result.ports if isinstance(table, bytes) else table
    known = getattr(source, "columns", UsedLink._fields)  # results of versions before trimming have no such column
    none = [0] * len(source.get_column("port"))
    columns = [list(source.get_column(name)) if name in known else none for name in UsedLink._fields]
    found = [UsedLink(*row) for row in zip(*columns, strict=True)]
    return sorted(found, key=lambda link: (-link.utilisation, -link.drops, -link.trims, -link.marks))


def inner_bottleneck(found: Sequence[UsedLink]) -> str:
    """Sentence that names the most used link if its use clearly exceeds that of all links to hosts; empty otherwise."""
    first, count = found[0], Counter(link.port.partition("->")[0] for link in found)
    hosts = {node for node, number in count.items() if number == 1}  # a host has one link
    last = max((link.utilisation for link in found if link.port.partition("->")[2] in hosts), default=0.0)
    if first.utilisation <= last + _FULLER:
        return ""
    use, most = (f"{100 * share:.0f} %" for share in (first.utilisation, last))
    return f"The most used link is {first.port} ({use}), not a link to a receiver (at most {most})."
