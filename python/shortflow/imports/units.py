"""Units of flow sizes: bytes and their multiples, or packets."""

import re
from collections.abc import Sequence

from shortflow.errors import ConfigError
from shortflow.imports.files import File
from shortflow.quantities import parse

SEGMENT = 1460
"""Payload of a packet of 1,500 bytes, as ns-2's scripts count it."""
_PACKETS = re.compile(r"packets?|pkts?\b|segments?", re.IGNORECASE)
_BYTES = re.compile(r"byte|octets|\bB\b|size_b\b", re.IGNORECASE)
_MULTIPLES = re.compile(r"(?<![a-z])([KMG]i?)B(?:ytes)?\b", re.IGNORECASE)
_LARGEST_PACKETS = 1e6
_SMALLEST_PACKETS = 10


def bytes_per_unit(unit: str) -> float:
    """Bytes in a unit such as `B`, `KB`, `packets` or `1000B`. A `ConfigError` says what is expected."""
    if _PACKETS.fullmatch(unit):
        return SEGMENT
    found = parse(unit if unit[:1].isdigit() else f"1{unit}")
    if found is None or found.base != "B" or found.number <= 0:
        raise ConfigError(f"--unit {unit}: expected B, KB, MB, packets, or the bytes of a packet such as 1000B")
    return found.number * found.factor


def seconds_per_unit(unit: str) -> float:
    """Seconds in a unit such as `us`. A `ConfigError` says what is expected."""
    found = parse(f"1{unit}")
    if found is None or found.base != "s":
        raise ConfigError(f"--time {unit}: expected ps, ns, us, ms or s")
    return found.factor


def of_name(text: str) -> tuple[float, str] | None:
    """The unit that a header or comment names: bytes of one, and its name. None if it names none, or several."""
    packets, multiples = _PACKETS.search(text), _MULTIPLES.search(text)
    if packets and not _BYTES.search(text):
        return SEGMENT, f"packets of {SEGMENT} B"
    if packets:
        return None
    if multiples:
        unit = f"{multiples[1][0].upper()}{multiples[1][1:]}B"
        return bytes_per_unit(unit), unit
    return (1.0, "bytes") if _BYTES.search(text) else None


def unit_of(
    file: File, name: str, given: str | None, sizes: Sequence[float], *, is_ns2: bool = False
) -> tuple[float, str]:
    """Bytes per unit of sizes, and how it is known: given, by the column's name, by a comment, by the form of ns-2.

    A `ConfigError` asks for a unit that nothing tells, if the numbers may be packets.
    """
    if given:
        return bytes_per_unit(given), f"unit {given}, as given"
    if named := of_name(name):
        return named[0], f"{named[1]}, as the header says"
    if remark := next((named for line in file.remarks() if (named := of_name(line))), None):
        return remark[0], f"{remark[1]}, as a comment says"
    if is_ns2 and max(sizes) <= _LARGEST_PACKETS:
        return SEGMENT, f"packets of {SEGMENT} B, as in ns-2"
    if is_ns2 or looks_like_packets(sizes):
        raise ConfigError(
            f"{file.path}: sizes from {min(sizes):,g} to {max(sizes):,g}: bytes or packets? Give --unit B, or --unit "
            f"packets for {SEGMENT} bytes each, or --unit 1000B. In a scenario, name the columns in the file's first "
            "line: `bytes cumulative` or `packets cumulative`"
        )
    return 1, "bytes"


def looks_like_packets(sizes: Sequence[float]) -> bool:
    """True if sizes may be counted in packets: whole, from a few on, and none as large as in bytes."""
    positive = [size for size in sizes if size > 0]
    return (
        bool(positive)
        and min(positive) <= _SMALLEST_PACKETS
        and max(positive) <= _LARGEST_PACKETS
        and all(size == int(size) for size in positive)
    )
