"""Mean sizes of packets in queues, and the unit in which the queues of schemes are comparable."""

from collections.abc import Mapping

from shortflow.metrics.catalogue import QUEUE_MEAN
from shortflow.results import Results

_SAME_SIZE = 1.05
"""Factor from which on mean packet sizes of schemes differ."""


def packet_bytes(study: Results) -> Mapping[str, float]:
    """Mean packet size in bytes in the measured queues, by scheme.

    For a sweep, only the smallest and the largest.
    """
    if study.keys:
        of_points = ((point.place, *each) for point in study.points for each in packet_bytes(point).items())
        found = sorted((size, f"{scheme} at {place}") for place, scheme, size in of_points)
        return {where: size for size, where in (found[:1] + found[-1:])}
    packets, size = (QUEUE_MEAN[unit].pattern for unit in ("pkt", "B"))
    sums = {scheme: [sum(study.values(scheme, name).values()) for name in (packets, size)] for scheme in study.schemes}
    return {scheme: size / packets for scheme, (packets, size) in sums.items() if packets}


def queue_unit(study: Results) -> str:
    """Unit in which queues are comparable: `B` if mean packet sizes differ by 5 % or more, else `pkt`."""
    sizes = packet_bytes(study).values()
    return "pkt" if max(sizes, default=1.0) < _SAME_SIZE * min(sizes, default=1.0) else "B"
