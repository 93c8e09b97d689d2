"""Hosts that the user defines: a table of addresses, and hosts to add to switches."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from shortflow.errors import ConfigError
from shortflow.imports.files import File
from shortflow.imports.rates import of_label, written

_HOSTS_AT = re.compile(r"(?:(?P<of>.+)=)?(?P<count>\d+)x(?P<rate>[\d.]+ ?[A-Za-z]+)")


@dataclass(frozen=True)
class HostsAt:
    """Hosts to add to switches, such as `leaf*=8x25Gbps`."""

    of: str
    """Pattern of switch names."""
    count: int
    rate: str

    @classmethod
    def parse(cls, text: str) -> "HostsAt":
        """Parses `PATTERN=COUNTxRATE`, or `COUNTxRATE` for all switches. Raises `ConfigError` for another text."""
        found = _HOSTS_AT.fullmatch(text)
        rate = of_label(found["rate"]) if found else None
        if not found or not rate or not int(found["count"]):
            raise ConfigError(
                f'--hosts-at: "{text}"; expected COUNTxRATE or PATTERN=COUNTxRATE, such as 4x10Gbps or leaf*=8x25Gbps'
            )
        return cls(found["of"] or "*", int(found["count"]), written(rate))


def read_hosts(path: Path) -> dict[str, str]:
    """Hosts by address, from a CSV file with the header `address,host`.

    A `ConfigError` names the line of a malformed row or a repeated address.
    """
    file = File(path)
    found: dict[str, str] = {}
    is_first = True
    for number, row in enumerate(csv.reader(file.text.split("\n")), start=1):
        if not row or row[0].startswith("#"):
            continue
        fields, may_be_header, is_first = [each.strip() for each in row], is_first, False
        if may_be_header and fields == ["address", "host"]:
            continue
        if len(fields) != 2 or not all(fields):
            raise file.wrong(number, "row", ",".join(row), "address,host")
        if fields[0] in found:
            raise file.wrong(number, "address", fields[0], "each address once")
        found[fields[0]] = fields[1]
    if not found:
        raise file.wrong(0, "rows", 0, "lines address,host")
    return found
