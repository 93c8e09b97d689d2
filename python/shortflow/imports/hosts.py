"""The user's table of hosts by address."""

import csv
from pathlib import Path

from shortflow.imports.files import File


def read_hosts(path: Path) -> dict[str, str]:
    """Hosts by address, from a CSV file with the header `address,host`."""
    file = File(path)
    found: dict[str, str] = {}
    for number, row in enumerate(csv.reader(file.text.split("\n")), start=1):
        if not row or row[0].startswith("#"):
            continue
        fields = [each.strip() for each in row]
        if number == 1 and fields == ["address", "host"]:
            continue
        if len(fields) != 2 or not all(fields):
            raise file.wrong(number, "row", ",".join(row), "address,host")
        if fields[0] in found:
            raise file.wrong(number, "address", fields[0], "each address once")
        found[fields[0]] = fields[1]
    if not found:
        raise file.wrong(0, "rows", 0, "lines address,host")
    return found
