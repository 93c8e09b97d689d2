"""Where the bottleneck is: the links of a run by use, with their drops and marks."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from shortflow.quantities import scale_for
from shortflow.report.blocks import Block, Column, Section, Words
from shortflow.result import Result

_SHOWN = 5
_FULLER = 0.05
"""A link inside the network is named if its use exceeds that of each receiver's link by this share."""


class UsedLink(NamedTuple):
    """A row of the table of ports."""

    port: str
    rate_bps: float
    utilisation: float
    tx_bytes: float
    drops: int
    marks: int
    queue_mean_pkt: float
    queue_max_pkt: int


def links(result: Result) -> list[UsedLink]:
    """Links by use, then by drops and marks; none under ideal schedulers and without tables."""
    table: Any = result.tables.get("ports")
    if table is None:
        return []
    source = result.ports if isinstance(table, bytes) else table
    columns = [list(source.get_column(name)) for name in UsedLink._fields]
    found = [UsedLink(*row) for row in zip(*columns, strict=True)]
    return sorted(found, key=lambda link: (-link.utilisation, -link.drops, -link.marks))


def link_blocks(result: Result) -> Iterator[Block]:
    """The most used links of a run, and the fullest one if it does not lead to a receiver."""
    found = links(result)
    if not found:
        return
    yield _section(found[:_SHOWN])
    if text := inner_bottleneck(found):
        yield Words(text)


def inner_bottleneck(found: Sequence[UsedLink]) -> str:
    """Names the most used link if no link to a host is about as full; empty otherwise."""
    first, count = found[0], Counter(link.port.partition("->")[0] for link in found)
    hosts = {node for node, number in count.items() if number == 1}  # a host has one link
    last = max((link.utilisation for link in found if link.port.partition("->")[2] in hosts), default=0.0)
    if first.utilisation <= last + _FULLER:
        return ""
    use, most = (f"{100 * share:.0f} %" for share in (first.utilisation, last))
    return f"The most used link is {first.port} ({use}), not a link to a receiver (at most {most})."


def _section(found: Sequence[UsedLink]) -> Section:
    sent = scale_for("B", [link.tx_bytes for link in found])
    rate = scale_for("bps", [link.rate_bps for link in found])
    columns = [
        Column(f"rate\n({rate.unit})", [f"{link.rate_bps / rate.divisor:g}" for link in found]),
        Column("use\n(%)", [f"{100 * link.utilisation:.1f}" for link in found]),
        Column(f"sent\n({sent.unit})", [f"{link.tx_bytes / sent.divisor:,.4g}" for link in found]),
        Column("drops", [f"{link.drops:,}" for link in found]),
        Column("marks", [f"{link.marks:,}" for link in found]),
        Column("mean queue\n(pkt)", [f"{link.queue_mean_pkt:.3g}" for link in found]),
        Column("largest queue\n(pkt)", [f"{link.queue_max_pkt:,}" for link in found]),
    ]
    return Section("Most used links", [Column("link", [link.port for link in found])], columns)
