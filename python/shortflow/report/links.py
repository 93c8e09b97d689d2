"""Table of a run's most used links, with their drops and marks, which shows where the bottleneck is."""

from collections.abc import Iterator, Sequence

from shortflow.quantities import scale_for
from shortflow.report.blocks import Block, Column, Section, Words
from shortflow.report.used_links import UsedLink, inner_bottleneck, links
from shortflow.result import Result

_SHOWN = 5


def link_blocks(result: Result) -> Iterator[Block]:
    """Table of the most used links of a run, and a sentence if the most used link does not lead to a receiver."""
    found = links(result)
    if not found:
        return
    yield _section(found[:_SHOWN])
    if text := inner_bottleneck(found):
        yield Words(text)


def _section(found: Sequence[UsedLink]) -> Section:
    sent = scale_for("B", [link.tx_bytes for link in found])
    rate = scale_for("bps", [link.rate_bps for link in found])
    columns = [
        Column(f"rate\n({rate.unit})", [f"{link.rate_bps / rate.divisor:g}" for link in found]),
        Column("use\n(%)", [f"{100 * link.utilisation:.1f}" for link in found]),
        Column(f"sent\n({sent.unit})", [f"{link.tx_bytes / sent.divisor:,.4g}" for link in found]),
        Column("drops", [f"{link.drops:,}" for link in found]),
        Column("marks", [f"{link.marks:,}" for link in found]),
        *([Column("trims", [f"{link.trims:,}" for link in found])] if any(link.trims for link in found) else []),
        Column("mean queue\n(pkt)", [f"{link.queue_mean_pkt:.3g}" for link in found]),
        Column("largest queue\n(pkt)", [f"{link.queue_max_pkt:,}" for link in found]),
    ]
    return Section("Most used links", [Column("link", [link.port for link in found])], columns)
